"""`describe` and `rename` of a fitted model."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bhmc import BHMC, Tree
from bhmc.datasets import load_zoo
from bhmc.metrics import dendrogram_purity
from bhmc.posterior import node_membership
from bhmc.tree.describe import describe_node
from tests.estimator.zoo_fit import zoo_fit

QUICK = {"n_levels": 2, "n_warmup": 30, "n_draws": 40, "random_state": 0}


@pytest.fixture(scope="module")
def zoo():
    """Animals by name, their classes, and a fit of the paper's model with fewer draws."""
    data = load_zoo(as_frame=True)
    animals = data.data.set_axis(data.names)
    classes = np.array(data.target_names)[np.array(data.target)]
    return classes, BHMC(transition="hdp", n_draws=100, random_state=0).fit(animals)


def holds_most(tree: Tree, rows: np.ndarray) -> int:
    """The node whose rows match best."""

    def match(node):
        members = np.isin(np.arange(len(rows)), tree.members(node))
        return (members & rows).sum() / (members | rows).sum()

    return max(range(1, tree.n_nodes), key=match)


@pytest.mark.parametrize(
    ("kind", "feature"), [("bird", "feathers"), ("mammal", "milk"), ("fish", "fins")]
)
def test_zoo(zoo, kind, feature):
    classes, model = zoo
    found = model.describe(holds_most(model.tree_, classes == kind))
    assert found.top.feature == feature
    assert found.top.effect > 2
    assert found.top.kind == "share"
    assert found.top.inside > 0.8 > 0.3 > found.top.outside
    assert feature in str(found)


@pytest.mark.parametrize(
    ("seed", "short"),
    [(0, True), *(pytest.param(seed, False, marks=pytest.mark.exact_long) for seed in range(5))],
)
def test_zoo_with_the_default_transition(seed, short):
    """The nodes of kinds are called by the right features, and near kinds are near each other."""
    data = load_zoo(as_frame=True)
    classes = np.array(data.target_names)[np.array(data.target)]
    model = zoo_fit(seed, short=short)
    kinds = {"bird": "feathers", "mammal": "milk", "fish": "fins"}
    found = {kind: model.describe(holds_most(model.tree_, classes == kind)) for kind in kinds}
    assert {kind: one.top.feature for kind, one in found.items()} == kinds
    every = [model.describe(node, n_features=20) for node in range(model.tree_.n_nodes)]
    effects = [effect for one in every for effect in (*one.rest, *one.siblings)]
    assert not [one for one in effects if any(0 < abs(value) < 1e-9 for value in one[1:4])]
    assert not [line for one in every for line in str(one).splitlines() if "e-1" in line]
    assert dendrogram_purity(model.dendrogram_, classes) >= 0.89


def test_a_description_can_be_read(zoo):
    classes, model = zoo
    node = holds_most(model.tree_, classes == "bird")
    found = model.describe(node, n_features=3, n_members=2)
    lines = str(found).splitlines()
    assert lines[0].startswith(f"Node {node}: {found.size} of 101 rows, level ")
    assert len(found.rest) == 3
    assert len(found.typical) == 2
    assert {one.name for one in found.typical} <= set(model.item_names_[classes == "bird"])
    assert all(one.membership > 0.3 for one in found.typical)
    assert lines[-1].startswith(("Typical: ", "Borderline: "))
    html = found._repr_html_()
    assert "<table>" in html
    assert "feathers" in html
    frame = found.to_frame()
    assert list(frame.columns)[:4] == ["against", "feature", "inside", "outside"]
    assert set(frame.against) <= {"siblings", "rest"}
    assert (frame.against == "rest").sum() == 3
    same = model.describe(int(model.tree_.children(node)[0])) if found.level < 3 else found
    assert found.size != same.size or found.rest == same.rest[:3]


def test_the_root_has_nothing_to_differ_from(zoo):
    _, model = zoo
    root = model.describe(0)
    assert root.siblings == root.rest == ()
    assert str(root).startswith("The root: 101 of 101 rows, level 0\nTypical: ")
    assert root.top is None


def test_refusals(zoo):
    _, model = zoo
    for node, error, words in (
        (10**6, ValueError, "node must be at most"),
        (-1, ValueError, "node must be at least 0"),
        ("griffins", ValueError, "no node of the tree is called 'griffins'"),
        (1.5, TypeError, "the id or the name of a node"),
    ):
        with pytest.raises(error, match=words):
            model.describe(node)
    with pytest.raises(ValueError, match="n_features must be at least 0"):
        model.describe(1, n_features=-1)


def planted(rng):
    """Two groups that differ in a number and a category, among columns of noise."""
    group = np.repeat([0, 1], 20)
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=["a", "b", "c", "size"])
    frame["size"] += 8 * group
    frame["colour"] = np.where(group, "red", rng.choice(["blue", "green"], 40))
    frame["flies"] = (rng.random(40) < 0.5).astype(bool)
    return group, frame


def test_planted_effects_are_found(tmp_path):
    group, frame = planted(np.random.default_rng(0))
    model = BHMC(**QUICK).fit(frame)
    found = model.describe(holds_most(model.tree_, group == 1))
    assert {one.feature for one in found.rest[:2]} == {"size", "colour=red"}
    by_name = {one.feature: one for one in found.rest}
    assert by_name["colour=red"].inside > 0.9
    assert by_name["size"].kind == "number"
    assert by_name["size"].effect > 4
    assert "flies" not in by_name
    model.rename({found.node: "large and red"}).save(tmp_path / "model")
    again = BHMC.load(tmp_path / "model")
    assert str(again.describe("large and red")) == str(model.describe(found.node))
    assert str(again.describe("large and red")).startswith(f"large and red (node {found.node}): ")
    assert "large and red [" in again.tree_.to_text()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_words(form):
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 20)
    rates = np.full((2, 30), 0.5)
    rates[0, 7] = rates[1, 21] = 5.0
    X = form(rng.poisson(rates[group]).astype(float))
    model = BHMC(likelihood="multinomial", **QUICK).fit(X)
    found = model.describe(holds_most(model.tree_, group == 1))
    assert (found.top.feature, found.top.kind) == ("x21", "word")
    assert found.top.inside > 3 * found.top.outside


def test_without_what_older_files_lack():
    _, frame = planted(np.random.default_rng(0))
    model = BHMC(**QUICK).fit(frame)
    del model.node_features_
    with pytest.raises(ValueError, match="did not keep what sets nodes apart"):
        model.describe(1)


def test_membership_against_the_definition():
    rng = np.random.default_rng(2)
    model = BHMC(**QUICK).fit(rng.normal(size=(25, 2)))
    draws, members = model.draws_.partitions, model.tree_.members(1)
    wanted = np.zeros(25)
    for draw in draws:
        paths = draw.paths(2)
        for row in range(25):
            nodes = (set(np.flatnonzero((paths == z).any(axis=1))) for z in paths[row])
            z = set(members.tolist())
            wanted[row] += max(len(z & y) / len(z | y) for y in nodes)
    np.testing.assert_allclose(node_membership(members, draws), wanted / len(draws))


def test_borderline_members_belong_clearly_less(zoo):
    _, model = zoo
    tree = model.tree_
    rows, membership = tree.members(1), np.full(len(tree.paths), 0.9)
    membership[rows[:3]] = [0.3, 0.1, 0.75]

    def chosen(n_members):
        return describe_node(tree, 1, model.node_features_, membership, 0, n_members)

    found = chosen(2)
    assert [one.row for one in found.borderline] == rows[[1, 0]].tolist()
    assert [one.row for one in found.typical] == rows[3:5].tolist()
    assert "(10 %)" in str(found)
    everyone = chosen(200)  # 0.75 is less than 0.9, and not clearly less
    assert rows[2] in {one.row for one in everyone.typical}
    assert len(everyone.typical) + len(everyone.borderline) == len(rows)
