"""What tests of PERCH look at: the clades of a tree that grows, and how pure they are."""

from importlib import import_module
from types import ModuleType

import numpy as np
from scipy.spatial.distance import pdist, squareform

from bhmc.baselines.perch import kernels
from bhmc.baselines.perch.estimator import MASKING, tips_of, tree_of
from bhmc.baselines.perch.state import DATA, FREE, NONE, ROOT, TIPS, empty_nodes
from bhmc.metrics import dendrogram_purity
from tests.mutants import mutants
from tests.mutants.mutants import Edits

# The files of the kernels, in an order in which each takes names only from those before it.
_FILES = tuple(
    import_module(f"bhmc.baselines.perch.kernels.{name}")
    for name in (
        "distances",
        "relatives",
        "search",
        "masking",
        "summaries",
        "rotations",
        "collapse",
        "insertion",
    )
)


def grown(X, masking="mean", balance=False, max_leaves=None, beam=None, steps=None):
    """The nodes after all rows of X; with `steps`, that is called with them after every row."""
    nodes = empty_nodes(len(X), X.shape[1])
    rest = (MASKING[masking], balance, NONE if beam is None else beam)
    rest = (*rest, NONE if max_leaves is None else max_leaves)
    for block in [X] if steps is None else X[:, None]:
        kernels.insert(nodes, np.ascontiguousarray(block), *rest)
        if steps is not None:
            steps(nodes)
    return nodes


def mutant(edits: Edits) -> ModuleType:
    """The kernels with `edits` made, run uncompiled."""
    return mutants.build(edits, _FILES)


def upwards(nodes):
    """Nodes of the tree, children before their parents."""
    found, waiting = [], [int(nodes.room[ROOT])]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if nodes.left[node] != NONE:
            waiting += [int(nodes.left[node]), int(nodes.right[node])]
    return found[::-1]


def rows_of(nodes):
    """The rows under each node, by node."""
    tips, rows = tips_of(nodes), {}
    for node in upwards(nodes):
        if nodes.left[node] == NONE:
            rows[node] = np.flatnonzero(tips == node)
        else:
            both = [rows[int(nodes.left[node])], rows[int(nodes.right[node])]]
            rows[node] = np.sort(np.concatenate(both))
    return rows


def clades(nodes):
    """Rows and box of every node; tips say that they are."""
    return {
        (tuple(rows.tolist()), bool(nodes.left[node] == NONE)): nodes.box[node].copy()
        for node, rows in rows_of(nodes).items()
    }


def clades_of_twin(twin):
    """The same of a `SlowPerch`."""
    return {(tuple(n.rows()), not n.children): np.array(twin.box(n)) for n in twin.root.walk()}


def same(some, others):
    """Whether two trees have the same nodes with the same boxes."""
    return some.keys() == others.keys() and all(np.array_equal(some[k], others[k]) for k in some)


def check_nodes(nodes, X):
    """What must hold of a tree after every insertion."""
    order, rows, X = upwards(nodes), rows_of(nodes), X[: nodes.room[DATA]]
    root = int(nodes.room[ROOT])
    assert nodes.parent[root] == NONE
    assert np.array_equal(rows[root], np.arange(len(X)))
    n_tips = sum(nodes.left[node] == NONE for node in order)
    assert nodes.room[TIPS] == n_tips
    assert len(order) == 2 * n_tips - 1
    assert nodes.room[FREE] == len(nodes.parent) - len(order)
    assert set(order).isdisjoint(nodes.free[: nodes.room[FREE]].tolist())
    for node in order:
        data = X[rows[node]]
        assert nodes.size[node] == len(data)
        assert np.array_equal(nodes.box[node], [data.min(axis=0), data.max(axis=0)])
        mean = data.sum(axis=0) / len(data)
        assert np.abs(nodes.center[node] - mean).max() < 1e-9
        assert abs(nodes.spread[node] - ((data - mean) ** 2).sum() / len(data)) < 1e-9
        for child in (int(nodes.left[node]), int(nodes.right[node])):
            assert child == NONE or nodes.parent[child] == node


def purity(nodes, labels):
    """Dendrogram purity."""
    return dendrogram_purity(tree_of(nodes, tips_of(nodes)), labels)


def depth(nodes):
    """Steps from the root to the deepest tip."""
    steps = np.zeros(len(nodes.parent), dtype=int)
    for node in upwards(nodes)[::-1][1:]:
        steps[node] = steps[nodes.parent[node]] + 1
    return int(steps.max())


def separation(X, labels):
    """The least distance between clusters over the largest within one."""
    apart = squareform(pdist(X))
    together = labels[:, None] == labels
    return apart[~together].min() / apart[together].max()
