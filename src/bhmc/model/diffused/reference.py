"""Slow twin of the diffused transition: plain NumPy, dense normal distributions, no messages.

One number stands behind every weight of the moves: the collapsed log joint

    log p(tree, atoms) + log of the integral of all evidence over (m, theta).

A move's weights are its values at the trees that the move chooses from, so they are right up to one
constant. Forests that come in are left as they are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused.forest import Forest, grown

Floats = NDArray[np.float64]


# ---- The collapsed joint -----------------------------------------------------------------------


def log_joint(forest: Forest, alpha: float, g: float) -> float:
    """log p(tree, atoms) + log p(evidence | tree, atoms).

    Parameters
    ----------
    forest : Forest
        Tree, atoms and their evidence.
    alpha, g : float
        Concentrations of inner nodes and of leaves.
    """
    return log_prior(forest, alpha, g) + log_evidence(forest)


def log_prior(forest: Forest, alpha: float, g: float) -> float:
    """Every node seats its rows at its children or atoms, one row after the other.

    Parameters
    ----------
    forest, alpha, g
        As in `log_joint`.
    """
    total = 0.0
    for z in _nodes(forest):
        if forest.level[z] == forest.depth:
            tables, c = forest.count[_atoms_of(forest, z)], g
        else:
            tables, c = [_rows_under(forest, y) for y in _children(forest, z)], alpha
        total += log_seating(tables, c)
    return total


def log_seating(tables, c: float) -> float:
    """log of CRP(c) for tables of these sizes: the next row joins n at n / (N + c), or opens one
    at c / (N + c).

    Parameters
    ----------
    tables : sequence of int
        Rows of each.
    c : float
        The concentration.
    """
    total, seated = 0.0, 0
    for size in tables:
        for there in range(size):
            total += np.log(there if there else c) - np.log(seated + c)
            seated += 1
    return float(total)


def log_evidence(forest: Forest) -> float:
    """log of the integral of prod_k exp(-p_k theta_k^2 / 2 + h_k theta_k) over theta ~ N(a 1, C).

    In every coordinate, with R = h - a p: a sum h - a^2 sum p / 2 + R'(1 + C P)^-1 C R / 2
    - log det(1 + C P) / 2.

    Parameters
    ----------
    forest : Forest
        Tree, atoms and their evidence.
    """
    atoms, total = _atoms(forest), 0.0
    for d, column in enumerate(forest.column):
        C = _covariance(forest, atoms, atoms, column)
        p, h, a = forest.precision[atoms, column], forest.linear[atoms, d], forest.origin[d]
        total += log_gaussian_integral(np.full(len(atoms), a), C, p, h)
    return total


def log_gaussian_integral(mean: Floats, C: Floats, p: Floats, h: Floats) -> float:
    """log of the integral of exp(-theta' diag(p) theta / 2 + h' theta) over N(mean, C).

    Parameters
    ----------
    mean, p, h : (K,) array
        Mean of theta; precisions and linear terms of the evidence.
    C : (K, K) array
        Covariance of theta.
    """
    A, rest = np.eye(len(p)) + C * p, h - p * mean
    quadratic = mean @ h - 0.5 * (p * mean) @ mean + 0.5 * rest @ np.linalg.solve(A, C @ rest)
    return float(quadratic - 0.5 * np.linalg.slogdet(A)[1])


def posterior(forest: Forest, d: int) -> tuple[Floats, Floats]:
    """Mean and covariance of all (m, theta) given all evidence, in coordinate d: nodes, then atoms,
    in order of their slots.

    Parameters
    ----------
    forest : Forest
        Tree, atoms and their evidence.
    d : int
        The coordinate.
    """
    nodes, atoms, column = _nodes(forest), _atoms(forest), forest.column[d]
    m = len(nodes)
    leaf_or_node = np.concatenate([nodes, forest.leaf[atoms]])
    C = np.array([[_shared(forest, y, z, column) for y in leaf_or_node] for z in leaf_or_node])
    C[m:, m:] += np.diag(np.full(len(atoms), forest.variance[-1, column]))
    p = np.concatenate([np.zeros(m), forest.precision[atoms, column]])
    h = np.concatenate([np.zeros(m), forest.linear[atoms, d]])
    wide: Floats = np.linalg.solve(np.eye(len(p)) + C * p, C).astype(np.float64)
    return forest.origin[d] + wide @ (h - p * forest.origin[d]), wide


def message(forest: Forest, z: int, d: int) -> tuple[float, float]:
    """(p, h): the evidence of the atoms below z is exp(-p m_z^2 / 2 + h m_z), in coordinate d.

    Parameters
    ----------
    forest : Forest
        Tree, atoms and their evidence.
    z : int
        A node.
    d : int
        The coordinate.
    """
    column = forest.column[d]
    atoms = np.array([k for k in _atoms(forest) if z in _path(forest, forest.leaf[k])])
    C = _covariance(forest, atoms, atoms, column) - _shared(forest, z, z, column)
    p, h = forest.precision[atoms, column], forest.linear[atoms, d]
    inverse = np.linalg.inv(np.eye(len(p)) + C * p)  # of 1 + C P
    return float(p @ inverse.sum(axis=1)), float(inverse.sum(axis=1) @ h)


# ---- Weights of the options of a move ----------------------------------------------------------


def row_options(forest: Forest, x: Floats, seen: NDArray[np.bool_], alpha: float, g: float):
    """({k: log weight of atom k}, {z: log weight of a new atom that begins at z}) of one row more.

    Parameters
    ----------
    forest : Forest
        Without the row; its locations and theta are known.
    x : (D,) array
        The row, in coordinates.
    seen : (D,) array of bool
        Which entries are not missing.
    alpha, g : float
        As in `log_joint`.
    """
    atoms = {
        k: log_prior(_with_row(forest, k), alpha, g) + _log_normal(x, forest.theta[k], 1.0, seen)
        for k in _atoms(forest)
    }
    new = {}
    for z in _nodes(forest):
        below = forest.variance[forest.level[z] + 1 :].sum(axis=0)[forest.column]
        log_f = _log_normal(x, forest.location[z], 1.0 + below, seen)
        new[z] = log_prior(_with_new_atom(forest, z, 1), alpha, g) + log_f
    return atoms, new


def atom_places(forest: Forest, k: int, alpha: float, g: float) -> dict[int, float]:
    """{z: log joint with atom k at leaf z, or on a new branch below z}.

    Parameters
    ----------
    forest : Forest
        With the atom.
    k : int
        The atom.
    alpha, g : float
        As in `log_joint`.
    """
    without = _copy(forest, forest.depth)
    without.leaf[k] = -1
    _prune(without)
    found = {}
    for z in _nodes(without):
        made = _copy(without)
        made.leaf[k] = _chain_below(made, z, made.depth)
        found[z] = log_joint(made, alpha, g)
    return found


def subtree_places(forest: Forest, z: int, alpha: float, g: float) -> dict[int, float]:
    """{y: log joint with z and all below it under y, or under a chain of new nodes below y}.

    Parameters
    ----------
    forest : Forest
        With the subtree.
    z : int
        Its uppermost node.
    alpha, g : float
        As in `log_joint`.
    """
    without = _copy(forest, forest.depth)
    level = int(without.level[z])
    below = [y for y in _nodes(without) if z in _path(without, y)]
    cut_atoms = [k for k in _atoms(without) if without.leaf[k] in below]
    leaves, levels = without.leaf[cut_atoms].copy(), without.level[below].copy()
    without.leaf[cut_atoms], without.level[below] = -1, -1
    _prune(without)
    found = {}
    for y in _nodes(without):
        if without.level[y] >= level:
            continue
        made = _copy(without)
        made.level[below] = levels  # first, so that the chain does not take their slots
        made.parent[z] = _chain_below(made, y, level - 1)
        made.leaf[cut_atoms] = leaves
        found[y] = log_joint(made, alpha, g)
    return found


def log_split_of_node(forest: Forest, z: int, items: NDArray, alpha: float, g: float) -> float:
    """log joint with some items of z under a new sibling of z, less that of the forest.

    Parameters
    ----------
    forest : Forest
        Where all are under z.
    z : int
        A node, not the root.
    items : array of int
        Atoms of a leaf, children of an inner node: those that leave.
    alpha, g : float
        As in `log_joint`.
    """
    made = _copy(forest, 1)
    y = _chain_below(made, int(made.parent[z]), int(made.level[z]))
    hangs = made.leaf if made.level[z] == made.depth else made.parent
    hangs[items] = y
    return log_joint(made, alpha, g) - log_joint(forest, alpha, g)


def log_split_of_atom(x: Floats, seen: NDArray, sides: NDArray, at: Floats, v: Floats, g: float):
    """log p(two atoms, rows) / p(one atom, rows) at a leaf whose location is known.

    Parameters
    ----------
    x : (n, D) array
        Rows of both atoms, in coordinates.
    seen : (n, D) array of bool
        Which entries are not missing.
    sides : (n,) array of bool
        Rows of the first atom.
    at : (D,) array
        The location.
    v : (D,) array
        Variance of theta around it.
    g : float
        Concentration of the leaf.
    """
    n, n_1 = len(sides), int(sides.sum())
    log_m = [_log_rows(x[of], seen[of], at, v) for of in (sides, ~sides, np.full(n, True))]
    return log_m[0] + log_m[1] - log_m[2] + log_seating([n_1, n - n_1], g) - log_seating([n], g)


def _log_rows(x: Floats, seen: NDArray, at: Floats, v: Floats) -> float:
    """log p(rows | one theta ~ N(at, v)): in every coordinate N(at, 1 + v 1 1')."""
    total = 0.0
    for d in range(x.shape[1]):
        u = x[seen[:, d], d] - at[d]
        C = np.eye(len(u)) + v[d]
        total -= 0.5 * (u @ np.linalg.solve(C, u) + np.linalg.slogdet(2 * np.pi * C)[1])
    return total


# ---- Trees -------------------------------------------------------------------------------------


def _nodes(forest: Forest) -> NDArray:
    return np.flatnonzero(forest.level >= 0)


def _atoms(forest: Forest) -> NDArray:
    return np.flatnonzero(forest.leaf >= 0)


def _atoms_of(forest: Forest, z: int) -> NDArray:
    return np.flatnonzero(forest.leaf == z)


def _children(forest: Forest, z: int) -> NDArray:
    return np.flatnonzero((forest.level >= 0) & (forest.parent == z))


def _path(forest: Forest, z: Any) -> list[int]:
    """z and all above it."""
    return [int(z)] if forest.level[z] == 0 else [int(z), *_path(forest, forest.parent[z])]


def _rows_under(forest: Forest, z: int) -> int:
    """Counted at the atoms."""
    return sum(int(forest.count[k]) for k in _atoms(forest) if z in _path(forest, forest.leaf[k]))


def _shared(forest: Forest, y: Any, z: Any, column: int) -> float:
    """Covariance of m_y and m_z: the variances of the steps that lead to both."""
    common = set(_path(forest, y)) & set(_path(forest, z))
    return float(sum(forest.variance[forest.level[node], column] for node in common))


def _covariance(forest: Forest, some: NDArray, others: NDArray, column: int) -> Floats:
    """Covariances of theta."""
    leaf = forest.leaf
    C = np.array([[_shared(forest, leaf[k], leaf[i], column) for i in others] for k in some])
    return C + forest.variance[-1, column] * (some[:, None] == others)


def _copy(forest: Forest, spare: int = 0, spare_atoms: int = 0) -> Forest:
    """With so many more free slots."""
    same = {name: np.array(part) for name, part in forest._asdict().items()}
    return grown(forest._replace(**same), spare, spare_atoms)


def _prune(forest: Forest) -> None:
    """Nodes go that have no atom below them; the root stays."""
    used = {z for k in _atoms(forest) for z in _path(forest, forest.leaf[k])} | {0}
    for z in _nodes(forest):
        if z not in used:
            forest.level[z] = -1


def _chain_below(forest: Forest, z: int, level: int) -> int:
    """New nodes from z down to a level; the last, or z."""
    while forest.level[z] < level:
        y = int(np.flatnonzero(forest.level < 0)[0])
        forest.parent[y], forest.level[y] = z, forest.level[z] + 1
        z = y
    return z


def _with_row(forest: Forest, k: int) -> Forest:
    made = _copy(forest)
    made.count[k] += 1
    return made


def _with_new_atom(forest: Forest, z: int, rows: int) -> Forest:
    made = _copy(forest, forest.depth, 1)
    made.count[-1], made.leaf[-1] = rows, _chain_below(made, z, made.depth)
    return made


def _log_normal(x: Floats, mean: Floats, variance, seen: NDArray[np.bool_]) -> float:
    """Of the entries that are seen."""
    each = -0.5 * ((x - mean) ** 2 / variance + np.log(2 * np.pi * variance))
    return float(np.where(seen, each, 0.0).sum())
