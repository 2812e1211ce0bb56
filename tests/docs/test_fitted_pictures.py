"""Pictures and tables that documents draw from fits: what they compute, without the fits."""

import dataclasses

import numpy as np
import pytest

from bhmc import BHMC, Tree, datasets
from tests.tree.tree_factory import small_tree

pytest.importorskip("matplotlib")
pytest.importorskip("PIL")

from docs import cached_fits, make_branch_pictures, make_transition_pictures, sketch

FEW = {"n_levels": 2, "n_warmup": 5, "n_draws": 5, "n_chains": 1, "random_state": 0}


@pytest.fixture(scope="module")
def gaussian():
    """A short fit of the table of the picture; tests must not change it."""
    X = make_transition_pictures.table()
    return X, BHMC(transition="gaussian", likelihood="known_gaussian", **FEW).fit(X).tree_


def test_a_fit_is_found_again_by_data_and_settings(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    few = {**FEW, "transition": "hdp"}  # which has no pilot chain
    first = cached_fits.cached_fit("a", X, tmp_path, **few)
    files = list(tmp_path.iterdir())
    again = cached_fits.cached_fit("a", X, tmp_path, **few)
    assert list(tmp_path.iterdir()) == files
    np.testing.assert_array_equal(first.paths_, again.paths_)
    cached_fits.cached_fit("a", X + 1, tmp_path, **few)
    cached_fits.cached_fit("a", X, tmp_path, **{**few, "random_state": 1})
    assert len(list(tmp_path.iterdir())) == 3


def test_expected_locations_balance_the_steps(gaussian):
    """E[m | leaves] is where the sum of squared steps over their variances is least."""
    X, tree = gaussian
    steps = tree.step_variances[:, 0]
    found = make_transition_pictures.expected_locations(tree, X)
    leaves = tree.levels == tree.n_levels
    np.testing.assert_array_equal(found[leaves], tree.locations[leaves])

    def energy(m):
        below = m[1:] - m[tree.parents[1:]]
        first = ((m[0] - X.mean()) ** 2).sum() / steps[0]
        return first + ((below**2).sum(axis=1) / steps[tree.levels[1:]]).sum()

    least = energy(found)
    for node in np.flatnonzero(~leaves):
        for move in ([0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]):
            moved = found.copy()
            moved[node] += move
            assert energy(moved) > least


def test_a_gaussian_node_is_as_wide_as_all_steps_below(gaussian):
    X, tree = gaussian
    steps, noise = tree.step_variances[:, 0], make_transition_pictures.NOISE**2
    laws = make_transition_pictures.one_gaussian(tree, X)
    assert laws[0][2] == pytest.approx(noise * (1 + steps[1] + steps[2]))
    assert laws[tree.n_nodes - 1][2] == pytest.approx(noise)


def test_a_mixture_node_has_the_components_below():
    tree = small_tree()
    for node, (weights, means, _) in enumerate(make_transition_pictures.mixture(tree, None)):
        assert weights.sum() == pytest.approx(1.0)
        assert len(means) == (tree.weights[node, :-1] > 0).sum()


def test_shaded_parts_have_their_share_of_the_mass():
    """Of a standard Gaussian in two columns the height with mass s above is (1 - s) / 2 pi."""
    law = ([1.0], [np.zeros(2)], 1.0)
    heights = make_transition_pictures.heights(law)
    wanted = [(1 - share) / (2 * np.pi) for share in make_transition_pictures.SHARES]
    np.testing.assert_allclose(heights, wanted, rtol=0.15)


def test_the_picture_is_drawn(gaussian, tmp_path, monkeypatch):
    _, tree = gaussian
    monkeypatch.setattr(sketch, "FOLDER", tmp_path)
    fit = type("Fit", (), {"tree_": tree})
    monkeypatch.setattr(make_transition_pictures, "fitted", lambda X, transition: fit)
    make_transition_pictures.main()
    assert (tmp_path / "gaussian-and-mixture-nodes.png").stat().st_size > 10_000


def test_top_branches_are_the_first_that_part_the_rows():
    parents = np.array([-1, 0, 1, 1, 1])
    tree = Tree.from_parents(parents, tips=np.array([2, 3, 3, 3, 4, 4]))
    found = make_branch_pictures.top_branches(tree)
    assert tree.sizes[found].tolist() == [3, 2, 1]
    assert tree.levels[found].tolist() == [2, 2, 2]


def test_a_branch_is_described_before_its_class(tmp_path, monkeypatch, capsys):
    """In what is printed no class comes before the line that announces them."""
    monkeypatch.setattr(sketch, "FOLDER", tmp_path)
    zoo = make_branch_pictures.zoo()
    hidden = dataclasses.replace(zoo, classes=[f"class-{one}" for one in zoo.classes])
    monkeypatch.setitem(make_branch_pictures.TABLES, "zoo", lambda: hidden)
    monkeypatch.setattr(
        make_branch_pictures,
        "cached_fit",
        lambda name, X, **settings: BHMC(**{**settings, **FEW}).fit(X),
    )
    make_branch_pictures.main(["zoo"])
    before, after = capsys.readouterr().out.split("The known classes of these branches")
    assert "class-" not in before
    assert "Against" in before
    assert "class-" in after
    assert (tmp_path / "diffused-zoo.png").exists()


def test_words_describe_branches_of_texts():
    """Two kinds of texts with words of their own: the words of a node are those of its texts."""
    texts = ["red apple fruit sweet"] * 8 + ["steel hammer tool heavy"] * 8
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 8, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    labels = np.repeat([0, 1], 8)
    model = BHMC(1, transition="diffused", init=labels, n_warmup=0, n_draws=2, n_chains=1)
    model.set_params(random_state=0).fit(X)
    described = make_branch_pictures.by_words(model, texts)
    for node in make_branch_pictures.top_branches(model.tree_):
        row = model.tree_.members(node)[0]
        has = [effect.feature for effect in described(node).rest if effect.statistic > 0]
        assert has
        assert set(has) <= set(texts[row].split())


def test_the_main_class_and_its_share():
    assert make_branch_pictures.main_class(["a", "b", "b", "c"], [0, 1, 2]) == ("b", 2 / 3)


def test_tables_have_a_class_for_every_row():
    table = make_branch_pictures.fashion()
    assert len(table.X) == len(table.classes) == len(table.images) == 1000
    assert set(table.classes) == set(datasets.load_fashion_mnist_sample().level_names[-1])
