"""PERCH: the same tree as its slow twin, true invariants, pure trees of separated data."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

from bhmc.baselines import Perch
from bhmc.baselines.perch.state import (
    BY_BOXES,
    BY_MEAN,
    DATA,
    EXACT,
    NONE,
    ROOT,
    empty_nodes,
    with_room,
)
from tests.baselines import perch_tools as tools
from tests.baselines.perch_reference import SlowPerch
from tests.tree.trees import check_tree

MASKINGS = ("mean", "boxes", "exact", "none")


def table(kind, n=40):
    """Data that are hard in different ways."""
    rng = np.random.default_rng(5)
    if kind == "ties":
        return rng.integers(0, 4, (n, 2)).astype(float)
    if kind == "duplicates":
        return np.repeat(rng.normal(size=(n // 4, 3)), 4, axis=0)[rng.permutation(n // 4 * 4)]
    if kind == "equal":
        return np.ones((n, 2))
    if kind == "line":
        return 1.3 ** np.arange(n)[:, None]
    return 4.0 * rng.normal(size=(5, 3))[rng.integers(5, size=n)] + rng.normal(size=(n, 3))


SETTINGS = [{"masking": m, "balance": b} for m in MASKINGS for b in (False, True)]
SETTINGS += [
    {"masking": m, "balance": b, "max_leaves": 7} for m in ("mean", "boxes") for b in (False, True)
]
SETTINGS += [{"beam": 2}, {"beam": 3, "masking": "exact", "max_leaves": 12}]


# ---- The twin ----


def _twins():
    """Every setting with clusters and with one hard table; the others are left to `make exact`."""
    hard = ["ties", "duplicates", "equal", "line"]
    for i, setting in enumerate(SETTINGS):
        for kind in ("clusters", *hard):
            is_short = kind in ("clusters", hard[i % 4])
            marks = () if is_short else pytest.mark.exact_long
            yield pytest.param(setting, kind, marks=marks, id=f"{setting}-{kind}")


@pytest.mark.parametrize(("setting", "kind"), list(_twins()))
def test_equals_the_twin_after_every_row(kind, setting):
    X = table(kind)
    twin = SlowPerch(**setting)

    def compare(nodes):
        twin.insert(X[len(twin.X)])
        assert tools.same(tools.clades(nodes), tools.clades_of_twin(twin)), len(twin.X)

    tools.grown(X, **setting, steps=compare)


MUTANTS = {
    "the mask test looks at the wrong side": (
        ("    return to_sibling > to_aunt * (1.0 + _EQUAL)", "    return to_sibling < to_aunt"),
        {},
    ),
    "the mask test forgets spreads": (
        ("distance(nodes, node, aunt) + nodes.spread[aunt]", "distance(nodes, node, aunt)"),
        {},
    ),
    "the mask test looks at the nearest of the sibling's": (
        ("largest = max(largest, distance", "largest = min(largest, distance"),
        {"masking": "exact", "balance": True},
    ),
    "boxes do not grow downwards": (
        (
            "        nodes.box[node, 0, j] = min(nodes.box[node, 0, j], x)\n",
            "",
        ),
        {"masking": "none"},
    ),
    "the box of a rotated node stays": (
        (
            "    nodes.parent[sibling] = grandparent\n    refresh(nodes, parent)\n",
            "    nodes.parent[sibling] = grandparent\n",
        ),
        {"masking": "boxes"},
    ),
    "the search goes down one branch": (
        ("if far_bound <= best_distance:", "if False:"),
        {"masking": "none"},
    ),
    "of equal tips the later is taken": (
        ("nodes.first[tip] < nodes.first[best]", "nodes.first[tip] > nodes.first[best]"),
        {"masking": "none"},
    ),
    "balance masks": (
        ("return after < before and may_be_swapped", "return after < before or may_be_swapped"),
        {"masking": "boxes", "balance": True},
    ),
    "the dearest tips are put together": (
        ("diagonal(nodes, node), best, least)", "-diagonal(nodes, node), best, least)"),
        {"max_leaves": 7},
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_version_is_not_the_twin(name, monkeypatch):
    edit, setting = MUTANTS[name]
    wrong = tools.mutant((edit,))
    monkeypatch.setattr(tools.kernels, "insert", wrong.insert)
    assert any(is_another_tree(table(kind), setting) for kind in ("clusters", "ties"))


def test_uncompiled_and_without_edits_it_is_the_twin(monkeypatch):
    """So it is the edit that a mutant is told by."""
    monkeypatch.setattr(tools.kernels, "insert", tools.mutant(()).insert)
    for setting in {str(setting): setting for _, setting in MUTANTS.values()}.values():
        assert not any(is_another_tree(table(kind), setting) for kind in ("clusters", "ties"))


def is_another_tree(X, setting):
    twin = SlowPerch(**setting)
    for x in X:
        twin.insert(x)
    return not tools.same(tools.clades(tools.grown(X, **setting)), tools.clades_of_twin(twin))


# ---- Invariants ----


@pytest.mark.parametrize("kind", ["clusters", "ties"])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_nodes_say_what_they_hold_after_every_row(kind, setting):
    X = table(kind, 50)
    tools.grown(X, **setting, steps=lambda nodes: tools.check_nodes(nodes, X))


def test_wrong_nodes_are_found():
    X = table("clusters")
    for name in ("size", "box", "center", "spread"):
        nodes = tools.grown(X)
        getattr(nodes, name)[int(nodes.room[ROOT])] += 1
        with pytest.raises(AssertionError):
            tools.check_nodes(nodes, X)


@pytest.mark.parametrize("masking", ["boxes", "exact"])
def test_the_sibling_of_a_new_row_is_not_masked(masking):
    """The promise of the repair, by brute force, where it ends at the first that is not masked."""
    X = table("clusters", 60)
    twin = SlowPerch(masking)
    n_checked = 0

    def check(nodes):
        nonlocal n_checked
        twin.insert(X[len(twin.X)])
        tip = next(one for one in twin.root.tips() if one.own == [len(twin.X) - 1])
        if tip.parent is None or tip.sibling().aunt() is None:
            return
        n_checked += 1
        v, v2, a = tip.sibling().rows(), tip.rows(), tip.sibling().aunt().rows()
        names = {tuple(rows.tolist()) for rows in tools.rows_of(nodes).values()}
        assert {tuple(v), tuple(v2), tuple(a)} <= names
        far = np.linalg.norm(X[v][:, None] - X[v2], axis=2)
        near = np.linalg.norm(X[v][:, None] - X[a], axis=2)
        if masking == "exact":
            assert (far.max(axis=1) <= near.min(axis=1)).all()
        else:
            assert not twin.is_masked(tip.sibling())

    tools.grown(X, masking, steps=check)
    assert n_checked > 10


def test_deep_trees():
    """12,000 rows on a line, each beside the one before: the tree is as deep as it has rows."""
    X = np.arange(12_000, dtype=float)[:, None]
    nodes = tools.grown(X, "none")
    assert tools.depth(nodes) == 11_999
    assert tools.depth(tools.grown(X, "none", balance=True)) < 40


# ---- Separated data ----


def clusters(gap, n_clusters=10, size=100, d=4, seed=0):
    """Balls of diameter 1, the nearest of them `gap` apart."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_clusters), size)
    places = np.array(np.unravel_index(np.arange(n_clusters) * 5, (3, 3, 3, 3))).T
    places = places * (1 + gap) / pdist(places).min()
    inside = rng.normal(size=(len(labels), d))
    inside *= 0.5 * rng.random((len(labels), 1)) ** 0.25 / np.linalg.norm(inside, axis=1)[:, None]
    return places[labels] + inside, labels


def orders(X, labels):
    """Insertion orders, some of them as unkind as can be."""
    n, rng = len(X), np.random.default_rng(1)
    yield "sorted", np.arange(n)
    yield "interleaved", np.argsort(np.arange(n) % np.bincount(labels)[0], kind="stable")
    far = np.argsort(-np.linalg.norm(X - X.mean(axis=0), axis=1))
    yield "far first", far
    yield "near first", far[::-1]
    yield "far and near in turn", np.column_stack([far[: n // 2], far[::-1][: n // 2]]).ravel()
    yield "along the first column", np.argsort(X[:, 0])
    for i in range(8):
        yield f"random {i}", rng.permutation(n)


@pytest.mark.parametrize("masking", ["mean", "boxes", "exact", "none"])
def test_equal_rows_are_balanced(masking):
    """They are no chain, which would be as deep as there are rows."""
    X = np.repeat([[0.0, 1.0], [5.0, 1.0]], 200, axis=0)
    assert tools.depth(tools.grown(X, masking, balance=True)) < 20


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("masking", ["mean", "boxes", "exact"])
def test_trees_of_separated_data_are_pure(masking, balance):
    """Exact and mean tests need no more than separation; boxes are larger than their data."""
    X, labels = clusters(gap=4.0 if masking == "boxes" else 1.0)
    assert 1 < tools.separation(X, labels) < (5 if masking == "boxes" else 1.25)
    for name, order in orders(X, labels):
        nodes = tools.grown(X[order], masking, balance)
        assert tools.purity(nodes, labels[order]) == pytest.approx(1, abs=1e-12), name


def test_trees_of_few_leaves_are_pure_too():
    X, labels = clusters(gap=4.0)
    for name, order in orders(X, labels):
        nodes = tools.grown(X[order], max_leaves=40)
        assert tools.purity(nodes, labels[order]) == pytest.approx(1, abs=1e-12), name


def test_without_rotations_separated_data_are_not_pure():
    """The test above can fail: plain insertion fails it."""
    X, labels = clusters(gap=4.0)
    found = [tools.purity(tools.grown(X[o], "none"), labels[o]) for _, o in orders(X, labels)]
    assert min(found) < 0.9


def test_purity_by_brute_force():
    """The measure used here, over all pairs."""
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    for max_leaves in (None, 9):
        nodes = tools.grown(X, max_leaves=max_leaves)
        members = sorted(tools.rows_of(nodes).values(), key=len)
        shares = []
        for i, j in zip(*np.triu_indices(30, 1), strict=True):
            if labels[i] == labels[j]:
                smallest = next(rows for rows in members if i in rows and j in rows)
                shares.append((labels[smallest] == labels[i]).mean())
        assert tools.purity(nodes, labels) == pytest.approx(np.mean(shares))


def test_rotations_make_digits_purer():
    """By 0.05 and more, over the same orders; `benchmarks/rivals_perch.py` has the figures."""
    X, labels = load_digits(return_X_y=True)
    gains = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(X))
        plain, rotated = (tools.grown(X[order], masking) for masking in ("none", "mean"))
        gains.append(tools.purity(rotated, labels[order]) - tools.purity(plain, labels[order]))
    assert np.mean(gains) > 0.05


# ---- The estimator ----


def test_more_rows_make_the_same_tree():
    """`partial_fit` in pieces of any size is `fit` without shuffling."""
    X = table("clusters", 80)
    for max_leaves in (None, 11):
        whole = Perch(3, shuffle=False, max_leaves=max_leaves).fit(X)
        pieces = Perch(3, max_leaves=max_leaves)
        for piece in np.split(X, [1, 2, 5, 40]):
            pieces.partial_fit(piece)
        assert np.array_equal(whole.tree_.paths, pieces.tree_.paths)
        assert np.array_equal(whole.labels_, pieces.labels_)
        check_tree(whole.tree_)
        pieces.fit(X[:20])  # begins anew
        assert len(pieces.labels_) == 20


def test_room_grows_without_a_change():
    X = table("ties", 70)
    nodes = empty_nodes(0, 2)
    for x in X:
        nodes = with_room(nodes, 1)
        tools.kernels.insert(nodes, x[None], BY_MEAN, False, NONE, NONE)
    assert tools.same(tools.clades(nodes), tools.clades(tools.grown(X)))
    tools.check_nodes(nodes, X)


def test_collapsed_leaves_need_no_more_room():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    model = Perch(max_leaves=20, random_state=0)
    for block in np.split(X, 30):
        model.partial_fit(block)
    assert model.tree_.n_leaves == 20
    assert len(model._nodes.parent) < 1_000


def test_heights_are_diagonals():
    X = table("clusters", 60)
    tree = Perch(random_state=0).fit(X).tree_
    for node in range(tree.n_nodes):
        rows = X[tree.members(node)]
        assert tree.heights[node] == pytest.approx(np.linalg.norm(np.ptp(rows, axis=0)))


def test_rows_keep_their_places_when_shuffled():
    X, labels = clusters(gap=4.0, size=12)
    model = Perch(10, random_state=3).fit(X)
    assert len({*zip(labels.tolist(), model.labels_.tolist(), strict=True)}) == 10
    again = Perch(10, random_state=3).fit(X)
    assert np.array_equal(model.tree_.paths, again.tree_.paths)
    other = Perch(10, random_state=4).fit(X)
    assert not np.array_equal(model.tree_.parents, other.tree_.parents)


def test_more_rows_come_after_those_that_were_shuffled():
    X, labels = clusters(gap=4.0, size=12)
    order = np.random.default_rng(0).permutation(len(X))
    X, labels = X[order], labels[order]
    model = Perch(10, random_state=3).fit(X[:70]).partial_fit(X[70:90]).partial_fit(X[90:])
    assert len({*zip(labels.tolist(), model.labels_.tolist(), strict=True)}) == 10


def test_a_beam_as_wide_as_the_tree_is_exact():
    X = table("clusters", 60)
    assert tools.same(tools.clades(tools.grown(X, beam=60)), tools.clades(tools.grown(X)))
    assert not tools.same(tools.clades(tools.grown(X, beam=1)), tools.clades(tools.grown(X)))


def test_levels_can_be_left_out():
    X = table("line", 60)
    assert Perch(masking="none", shuffle=False).fit(X).tree_.n_levels == 59
    assert Perch(masking="none", shuffle=False, max_levels=5).fit(X).tree_.n_levels == 5


@pytest.mark.parametrize(
    ("setting", "error", "words"),
    [
        ({"masking": "all"}, ValueError, "masking='all' is not known; choose one of 'mean'"),
        ({"balance": "yes"}, TypeError, "balance must be True or False, got 'yes'"),
        ({"max_leaves": 1}, ValueError, "max_leaves must be at least 2, got 1"),
        ({"max_leaves": 2.5}, TypeError, "max_leaves must be None or a whole number, got 2.5"),
        ({"beam": 0}, ValueError, "beam must be at least 1, got 0"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"random_state": "a"}, TypeError, "random_state must be None"),
    ],
)
def test_wrong_settings_are_named(setting, error, words):
    with pytest.raises(error, match=words):
        Perch(**setting).fit(table("clusters"))


def test_numbers_too_large_to_be_squared_are_refused():
    with pytest.raises(
        ValueError, match=r"X has 1e\+200 in column 0, row 0; values must be within 1e150"
    ):
        Perch().fit([[1e200], [0.0]])
    assert Perch(2).fit([[1e149], [-1e149], [0.0]]).tree_.n_leaves == 3


def test_an_interrupt_leaves_a_whole_tree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(2_500, 2))
    model, insert = Perch(), tools.kernels.insert

    def interrupted(nodes, block, *rest):
        if nodes.room[DATA] == 2_000:
            raise KeyboardInterrupt
        insert(nodes, block, *rest)

    monkeypatch.setattr(tools.kernels, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    monkeypatch.undo()
    model.partial_fit(X[2_000:])
    whole = Perch(shuffle=False).fit(X)
    assert np.array_equal(model.tree_.paths, whole.tree_.paths)


def test_names_of_tests_are_those_of_the_kernels():
    from bhmc.baselines.perch.estimator import MASKING

    assert set(MASKINGS) == set(MASKING)
    assert [MASKING[name] for name in MASKINGS[:3]] == [BY_MEAN, BY_BOXES, EXACT]
