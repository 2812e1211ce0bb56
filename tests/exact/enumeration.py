"""Exact enumeration of the BHMC model on a handful of data, from the model's definition alone.

It judges the samplers, so it shares no code with them: standard library, numpy and scipy only.

A labelled state is the key ``(tree, c)``. ``tree`` holds one tuple per level 1..L, the partition of
the data among the nodes of that level as restricted-growth labels (the root, level 0, is implicit).
``c`` is the partition of the data into components as restricted-growth labels (infinite form) or
the component labels 0..K-1 themselves (finite form, ``n_components=K``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import multivariate_normal

Labels = tuple[int, ...]
Tree = tuple[Labels, ...]
Key = tuple[Tree, Labels]
Counts = tuple[Labels, ...]  # customers n_zk, one row per node, one column per component


class ExactState(NamedTuple):
    """(V, c, B, theta) with compact node ids: root 0, parents before children."""

    paths: NDArray[np.int64]  # (n, L + 1), node ids, root first
    parents: NDArray[np.int64]  # (M,), root -1
    components: NDArray[np.int64]  # (n,), labels 0..K-1
    log_weights: NDArray[np.float64]  # (M, K + 1), remainder last (-inf in the finite form)
    theta: NDArray[np.float64]  # (K, D)


# ---------------------------------------------------------------------------------------------
# Partitions and trees
# ---------------------------------------------------------------------------------------------


def restricted_growth(labels: Iterable[Hashable]) -> Labels:
    """a_1 = 0 and a_i <= 1 + max(a_1..a_{i-1}): number the labels in order of appearance."""
    seen: dict[Hashable, int] = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


def partitions(n: int) -> list[Labels]:
    """{a : a_1 = 0, a_i <= 1 + max(a_1..a_{i-1})}: all partitions of n data (Bell number)."""
    if n == 0:
        return [()]
    return [(*a, k) for a in partitions(n - 1) for k in range(max(a, default=-1) + 2)]


def refines(fine: Labels, coarse: Labels) -> bool:
    """fine_i = fine_j implies coarse_i = coarse_j."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def trees(n: int, n_levels: int) -> list[Tree]:
    """{(P_1, ..., P_L) : P_l refines P_(l-1)}: all nested partitions of n data."""
    if n_levels == 0:
        return [()]
    return [
        (*above, level)
        for above in trees(n, n_levels - 1)
        for level in partitions(n)
        if not above or refines(level, above[-1])
    ]


def component_labels(n: int, n_components: int | None = None) -> list[Labels]:
    """Partitions of n data (infinite form) or {0..K-1}^n (finite form): all values of c."""
    if n_components is None:
        return partitions(n)
    return list(itertools.product(range(n_components), repeat=n))


def nodes_of(tree: Tree, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """id(level l, label a) = 1 + (number of nodes at levels 1..l-1) + a: paths and parents."""
    paths = np.zeros((n, len(tree) + 1), dtype=np.int64)
    parents = [-1]
    for level, labels in enumerate(tree, start=1):
        paths[:, level] = len(parents) + np.array(labels, dtype=np.int64)
        first_datum = [labels.index(a) for a in range(max(labels) + 1)]
        parents += [int(paths[i, level - 1]) for i in first_datum]
    return paths, np.array(parents, dtype=np.int64)


def key_of(paths: ArrayLike, components: ArrayLike, finite: bool = False) -> Key:
    """(tree, c) = restricted growth labels of the columns 1..L of paths, and of c (finite: c kept).

    Node ids are arbitrary, but one id must not hang below two parents.
    """
    columns = np.asarray(paths).T.tolist()
    tree = tuple(restricted_growth(column) for column in columns[1:])
    for above, level in zip([restricted_growth(columns[0]), *tree], tree, strict=False):
        if not refines(level, above):
            raise ValueError("paths are not a tree: a node has two parents")
    if len(set(columns[0])) != 1:
        raise ValueError("paths are not a tree: there are several roots")
    labels = np.asarray(components).tolist()
    return tree, tuple(labels) if finite else restricted_growth(labels)


# ---------------------------------------------------------------------------------------------
# p(V | alpha)
# ---------------------------------------------------------------------------------------------


def log_p_tree(tree: Tree, alpha: float) -> float:
    """sum_internal [m_z log a + lgamma(a) - lgamma(N_z + a)] + sum_non-root lgamma(N_z)."""
    n = len(tree[0])
    paths, parents = nodes_of(tree, n)
    sizes = np.bincount(paths.ravel()).tolist()  # N_z
    n_children = np.bincount(parents[1:], minlength=len(parents)).tolist()  # m_z
    total = 0.0
    for z, (size, m) in enumerate(zip(sizes, n_children, strict=True)):
        if m > 0:
            total += m * math.log(alpha) + math.lgamma(alpha) - math.lgamma(size + alpha)
        if z > 0:
            total += math.lgamma(size)
    return total


# ---------------------------------------------------------------------------------------------
# p(c | V), table counts
# ---------------------------------------------------------------------------------------------


@cache
def stirling(n: int, m: int) -> int:
    """|s(n, m)| = |s(n-1, m-1)| + (n-1) |s(n-1, m)|: unsigned Stirling numbers, first kind."""
    if n == 0 or m == 0:
        return int(n == m)
    return stirling(n - 1, m - 1) + (n - 1) * stirling(n - 1, m)


def _log_node_term(customers: Labels, tables: Labels, gamma: float) -> float:
    """log [ Gamma(g) / Gamma(g + n_z.) prod_k |s(n_zk, m_zk)| g^m_zk ]."""
    term = math.lgamma(gamma) - math.lgamma(gamma + sum(customers)) + sum(tables) * math.log(gamma)
    return term + sum(math.log(stirling(n, m)) for n, m in zip(customers, tables, strict=True))


def _log_root_term(customers: Labels, gamma0: float, n_components: int | None) -> float:
    """log [ g0^K Gamma(g0) / Gamma(g0 + n.) prod_k Gamma(n_k) ].

    Finite form: log [ Gamma(g0) / Gamma(g0 + n.) prod_k Gamma(g0/K + n_k) / Gamma(g0/K) ].
    """
    term = math.lgamma(gamma0) - math.lgamma(gamma0 + sum(customers))
    if n_components is None:
        return term + sum(math.log(gamma0) + math.lgamma(n) for n in customers)
    share = gamma0 / n_components
    return term + sum(math.lgamma(share + n) - math.lgamma(share) for n in customers)


def _data_counts(tree: Tree, c: Labels, n_components: int | None) -> tuple[Counts, list[int]]:
    """n_zk = #{n : leaf(n) = z, c_n = k}, 0 at inner nodes; and the parents of all nodes."""
    if n_components is None and c != restricted_growth(c):
        raise ValueError("in the infinite form c must be a restricted growth string")
    n_columns = max(c) + 1 if n_components is None else n_components
    paths, parents = nodes_of(tree, len(c))
    counts = np.zeros((len(parents), n_columns), dtype=np.int64)
    np.add.at(counts, (paths[:, -1], np.array(c)), 1)
    return tuple(map(tuple, counts.tolist())), parents.tolist()


def table_counts(
    tree: Tree, c: Labels, gamma0: float, gamma: float, n_components: int | None = None
) -> Iterator[tuple[float, Counts]]:
    """log p(c, m | V) = sum_non-root log node term + log root term: one pair for every m.

    A pair is (log p(c, m | V), customers n_zk of every node), with n_pa,k the sum of the tables
    m_zk of the children. Every n_zk >= 1 has 1..n_zk tables, n_zk = 0 has none.
    """
    counts, parents = _data_counts(tree, c, n_components)

    def visit(z: int, customers: Counts, log_p: float) -> Iterator[tuple[float, Counts]]:
        """Nodes from last to first: the customers of z are complete when z is visited."""
        if z == 0:
            yield log_p + _log_root_term(customers[0], gamma0, n_components), customers
            return
        for tables in itertools.product(*(range(min(1, n), n + 1) for n in customers[z])):
            rows = list(customers)
            up = parents[z]
            rows[up] = tuple(a + b for a, b in zip(rows[up], tables, strict=True))
            term = _log_node_term(customers[z], tables, gamma)
            yield from visit(z - 1, tuple(rows), log_p + term)

    yield from visit(len(parents) - 1, counts, 0.0)


def log_p_components(
    tree: Tree, c: Labels, gamma0: float, gamma: float, n_components: int | None = None
) -> float:
    """log p(c | V) = log sum_m p(c, m | V), B integrated out."""
    terms = [log_p for log_p, _ in table_counts(tree, c, gamma0, gamma, n_components)]
    return float(np.logaddexp.reduce(terms))


# ---------------------------------------------------------------------------------------------
# p(X | c) and the posterior
# ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=100_000)
def _log_p_column(x: tuple[float, ...], sigma2: float, mu0: float, sigma0: float) -> float:
    """log N(x; mu0 1, sigma2 I + sigma0 1 1^T): one coordinate of the data of one component."""
    n = len(x)
    cov = sigma2 * np.eye(n) + sigma0 * np.ones((n, n))
    return float(multivariate_normal(mean=np.full(n, mu0), cov=cov).logpdf(np.array(x)))


def log_p_data(X: ArrayLike, c: Labels, sigma2: float, mu0: float, sigma0: float) -> float:
    """log p(X | c) = sum_k sum_d log N(X_(k, d); mu0 1, sigma2 I + sigma0 1 1^T).

    theta_k ~ N(mu0, sigma0 I) is integrated out; sigma2 and sigma0 are variances.
    """
    X = np.asarray(X, dtype=float)
    members = [[i for i, label in enumerate(c) if label == k] for k in sorted(set(c))]
    return sum(
        _log_p_column(tuple(column), sigma2, mu0, sigma0)
        for rows in members
        for column in X[rows].T.tolist()
    )


def posterior(
    X: ArrayLike | None,
    n_levels: int,
    alpha: float,
    gamma0: float,
    gamma: float,
    sigma2: float = 1.0,
    mu0: float = 0.0,
    sigma0: float = 1.0,
    n_components: int | None = None,
    n: int | None = None,
) -> dict[Key, float]:
    """p(V, c | X) = p(V) p(c | V) p(X | c) / sum of the same over all (V, c).

    X has shape (n, D). X=None with n given: the prior p(V, c). The prior is asserted to sum to 1.
    """
    n = _number_of_data(X, n)
    all_c = component_labels(n, n_components)
    log_data = {c: 0.0 if X is None else log_p_data(X, c, sigma2, mu0, sigma0) for c in all_c}
    log_prior: dict[Key, float] = {}
    for tree in trees(n, n_levels):
        log_tree = log_p_tree(tree, alpha)
        for c in all_c:
            log_c = log_p_components(tree, c, gamma0, gamma, n_components)
            log_prior[tree, c] = log_tree + log_c
    total = math.fsum(map(math.exp, log_prior.values()))
    assert abs(total - 1.0) < 1e-9, f"the prior sums to {total}"
    log_joint = np.array([value + log_data[key[1]] for key, value in log_prior.items()])
    probability = np.exp(log_joint - np.logaddexp.reduce(log_joint))
    return dict(zip(log_prior, (probability / probability.sum()).tolist(), strict=True))


def _number_of_data(X: ArrayLike | None, n: int | None) -> int:
    """n = number of rows of X, or the given n if X is None."""
    if X is None:
        if n is None:
            raise ValueError("give X or n")
        return n
    shape = np.shape(X)
    if len(shape) != 2 or n not in (None, shape[0]):
        raise ValueError("X must have shape (n, D)")
    return shape[0]


# ---------------------------------------------------------------------------------------------
# Exact draws
# ---------------------------------------------------------------------------------------------


def draw_key(posterior: dict[Key, float], rng: np.random.Generator, size: int) -> list[Key]:
    """(V, c)_1..size i.i.d. from the table of probabilities."""
    keys = list(posterior)
    probability = np.array([posterior[key] for key in keys])
    return [keys[i] for i in rng.choice(len(keys), size=size, p=probability / probability.sum())]


def log_gamma_draw(shape: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """log G(a) = log G(a + 1) + log(U) / a, -inf at a = 0: no underflow at small shapes."""
    with np.errstate(divide="ignore", over="ignore"):
        log_u = -rng.standard_exponential(shape.shape)  # log(U) without the risk of U = 0
        return np.log(rng.standard_gamma(shape + 1.0)) + log_u / shape


def log_dirichlet_draw(shape: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """log Dir(a) = log G(a_k) - log sum_j G(a_j)."""
    log_g = log_gamma_draw(shape, rng)
    return log_g - np.logaddexp.reduce(log_g)


@lru_cache(maxsize=10_000)
def table_posterior(
    tree: Tree, c: Labels, gamma0: float, gamma: float, n_components: int | None = None
) -> tuple[NDArray[np.float64], list[Counts]]:
    """p(m | V, c) = p(c, m | V) / p(c | V): cumulated probabilities, and customers of every m."""
    log_p, customers = zip(*table_counts(tree, c, gamma0, gamma, n_components), strict=True)
    p = np.exp(np.array(log_p) - np.logaddexp.reduce(log_p))
    return np.cumsum(p) / p.sum(), list(customers)


def draw_log_weights(
    customers: Counts,
    parents: NDArray[np.int64],
    rng: np.random.Generator,
    gamma0: float,
    gamma: float,
    n_components: int | None = None,
) -> NDArray[np.float64]:
    """beta_root ~ Dir(n_root,1..K, gamma0), beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa).

    Finite form: beta_root ~ Dir(n_root,k + gamma0/K) and no remainder (its logarithm is -inf).
    """
    counts = np.array([(*row, 0) for row in customers], dtype=float)  # none in the remainder
    log_weights = np.empty(counts.shape)
    if n_components is None:
        root = np.append(np.zeros(counts.shape[1] - 1), gamma0)
    else:
        root = np.append(np.full(n_components, gamma0 / n_components), 0.0)
    log_weights[0] = log_dirichlet_draw(counts[0] + root, rng)
    for z in range(1, len(counts)):
        shape = counts[z] + gamma * np.exp(log_weights[parents[z]])
        log_weights[z] = log_dirichlet_draw(shape, rng)
    return log_weights


def draw_theta(
    X: ArrayLike | None,
    c: Labels,
    n_columns: int,
    rng: np.random.Generator,
    sigma2: float,
    mu0: float,
    sigma0: float,
    n_features: int = 1,
) -> NDArray[np.float64]:
    """theta_k ~ N(v (mu0 / sigma0 + sum x / sigma2), v I), 1 / v = 1 / sigma0 + N_k / sigma2.

    An empty component, and every component if X is None, draws from H = N(mu0, sigma0 I).
    """
    data = np.empty((0, n_features)) if X is None else np.asarray(X, dtype=float)
    theta = np.empty((n_columns, data.shape[1]))
    for k in range(n_columns):
        members = data[[i for i, label in enumerate(c) if label == k]] if X is not None else data
        variance = 1.0 / (1.0 / sigma0 + len(members) / sigma2)
        mean = variance * (mu0 / sigma0 + members.sum(axis=0) / sigma2)
        theta[k] = rng.normal(mean, math.sqrt(variance))
    return theta


def draw_exact_state(
    key: Key,
    X: ArrayLike | None,
    rng: np.random.Generator,
    n_levels: int,
    alpha: float,
    gamma0: float,
    gamma: float,
    sigma2: float = 1.0,
    mu0: float = 0.0,
    sigma0: float = 1.0,
    n_components: int | None = None,
    n: int | None = None,
    n_features: int = 1,
) -> ExactState:
    """p(B, theta | V, c, X) = sum_m p(m | V, c) p(B | m, V, c) p(theta | c, X): one exact draw.

    The settings are those of `posterior` (alpha does not enter: V is given). With X=None theta is
    drawn from H in n_features dimensions.
    """
    tree, c = key
    if len(tree) != n_levels or _number_of_data(X, len(c) if n is None else n) != len(c):
        raise ValueError("the key does not fit n_levels or the number of data")
    paths, parents = nodes_of(tree, len(c))
    cumulated, all_customers = table_posterior(tree, c, gamma0, gamma, n_components)
    chosen = min(int(np.searchsorted(cumulated, rng.random(), "right")), len(all_customers) - 1)
    customers = all_customers[chosen]
    return ExactState(
        paths=paths,
        parents=parents,
        components=np.array(c, dtype=np.int64),
        log_weights=draw_log_weights(customers, parents, rng, gamma0, gamma, n_components),
        theta=draw_theta(X, c, len(customers[0]), rng, sigma2, mu0, sigma0, n_features),
    )
