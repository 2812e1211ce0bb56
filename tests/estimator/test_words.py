"""Nodes described by words: against counts by hand, in every place that names features."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bhmc import BHMC, Tree
from bhmc.preprocessing import TextFeatures

TEXTS = [
    *(f"a {colour} running shoe with laces" for colour in ("red", "blue", "white", "black")),
    *(f"a {colour} leather shoe for men" for colour in ("red", "blue", "white", "black")),
    *(f"a {colour} steel watch with a strap" for colour in ("red", "blue", "white", "black")),
    *(f"an old {colour} watch with a strap" for colour in ("red", "blue", "white", "black")),
]
PRICE = np.array([10.0] * 8 + [90.0] * 8)


@pytest.fixture(scope="module")
def fitted():
    X = TextFeatures("tfidf", n_components=3).fit_transform(TEXTS)
    settings = {"n_warmup": 20, "n_draws": 20, "n_chains": 1, "random_state": 0}
    return BHMC(2, init=np.repeat([0, 1], 8), **settings).fit(X)


@pytest.fixture
def model(fitted):
    """A copy with two branches, shoes and watches, whatever was drawn."""
    parents, leaf = [-1, 0, 0, 1, 1, 2, 2], np.repeat([3, 4, 5, 6], 4)
    tree = Tree.from_parents(parents, leaf)
    tree = replace(tree, components=np.repeat(np.arange(4, dtype=np.int32), 4))
    tree = replace(tree, theta=np.zeros((4, 1)), weights=np.full((tree.n_nodes, 5), 0.2))
    twin = BHMC().set_params(**fitted.get_params())
    twin.__dict__.update({**vars(fitted), "tree_": tree, "dendrogram_": tree})
    return twin


def node_of(tree, row, level):
    return int(tree.paths[row, level])


def test_words_are_log_odds_against_siblings(model):
    model.add_words(TEXTS)
    tree = model.tree_
    shoes, running = node_of(tree, 0, 1), node_of(tree, 0, 2)
    [(word, value)] = tree.top_features(shoes, 1)
    assert word == "shoe"
    assert value == pytest.approx(np.log((8.5 * 8.5) / (0.5 * 0.5)))
    found = dict(tree.top_features(running, 5))
    assert set(found) == {"running", "laces"}  # not "shoe", which its sibling has too
    assert found["laces"] == pytest.approx(np.log((4.5 * 4.5) / (0.5 * 0.5)))
    assert tree.top_features(0, 3) == []  # the root has no sibling


def test_every_place_that_names_features_names_words(model):
    model.add_words(TEXTS)
    shoes = node_of(model.tree_, 0, 1)
    assert "{shoe +5.7}" in model.tree_.to_text(features=1)
    assert model.tree_.nodes(1)["features"][shoes] == "shoe +5.7"
    assert "shoe +5.7" in model.dendrogram_.to_text(features=1)
    description = model.describe(shoes)
    assert description.siblings[0].feature == "shoe"
    assert description.siblings[0].inside == 1
    assert description.siblings[0].kind == "share"
    assert model.describe(node_of(model.tree_, 0, 2)).siblings[0].feature in ("laces", "running")


def test_words_and_other_columns_share_the_places(model):
    frame = pd.DataFrame({"price": PRICE, "kind": ["shoe"] * 8 + [None] * 4 + ["clock"] * 4})
    model.add_words(TEXTS, frame)
    tree, shoes = model.tree_, node_of(model.tree_, 0, 1)
    assert tree.feature_names[:3].tolist() == ["price", "kind=clock", "kind=shoe"]
    assert tree.is_word.sum() == len(tree.feature_names) - 3
    first, *others = [name for name, _ in tree.top_features(shoes, 6)]
    assert first == "shoe"
    assert set(others[-3:]) == {"price", "kind=clock", "kind=shoe"}
    assert {"shoe", "price"} <= {one.feature for one in model.describe(shoes).siblings}
    model.add_words(TEXTS, PRICE[:, None])
    assert model.tree_.feature_names[0] == "x0"


def test_words_survive_a_file_and_json(model, tmp_path):
    model.add_words(TEXTS)
    model.tree_.save(tmp_path / "tree.bhmc")
    for twin in (Tree.load(tmp_path / "tree.bhmc"), Tree.from_json(model.tree_.to_json())):
        assert twin.is_word.dtype == bool
        assert twin.to_text(features=2) == model.tree_.to_text(features=2)


def test_as_many_texts_as_rows(model):
    with pytest.raises(ValueError, match="texts must have 16 rows, as the fit had, got 15"):
        model.add_words(TEXTS[1:])
    with pytest.raises(ValueError, match="X must have 16 rows, as the fit had, got 15"):
        model.add_words(TEXTS, PRICE[1:, None])
    assert model.tree_.is_word is None  # nothing was changed


def test_words_change_no_label(fitted):
    before = fitted.tree_
    fitted.add_words(TEXTS)
    np.testing.assert_array_equal(fitted.tree_.paths, before.paths)
    np.testing.assert_array_equal(fitted.labels_, before.labels_at(2))
