"""Rows not seen: where in a tree they would go, which component they look like, their density.

A new row x walks from the root as the data did: at node z to child y with probability
N_y / (N_z + alpha), to a new branch with alpha / (N_z + alpha). A branch not seen has the mixture
of the node it springs from as its mean. So a row that has reached z has component k with

    V_z = beta_z  at a leaf,
    V_z = (alpha beta_z + sum over children y of N_y V_y) / (N_z + alpha)  at an inner node,

and p(x, reaches z, k) = p(reaches z) V_zk f(x; theta_k), with f* for the component not yet seen.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from bhmc.likelihoods import ConjugateFamily, Likelihood
from bhmc.model.state import State
from bhmc.posterior.draws import Mixture
from bhmc.tree import Tree

Floats = NDArray[np.float64]

# Tables of at most so many numbers, and of so many rows, are in memory at a time.
_MOST_NUMBERS, _MOST_ROWS = 2**21, 4096


class Level(NamedTuple):
    """Where the next row goes at one level of m nodes before it is seen, by its component k."""

    share: Floats
    """(m, K + 1) p(it passes through this node | it joins a node that exists, k)."""
    log_known: Floats
    """(K + 1,) log p(it joins a node that exists, k), the component not yet seen last."""
    log_new: Floats
    """(K + 1,) log p(it has left for a new branch at a level above, k)."""


def component_weights(of: State | Tree) -> Floats:
    """(K + 1,): probability of each component for the next datum, the remainder last: V_root."""
    return _mixtures(of)[0]


def at_level(tree: Tree, level: int) -> Level:
    """p(z, k) = p(reaches z) V_zk for the nodes z of the level, in the parts that `Level` names."""
    mixtures = _mixtures(tree)
    reached = np.ones(tree.n_nodes)
    for below in range(1, tree.n_levels + 1):
        z = np.flatnonzero(tree.levels == below)
        y = tree.parents[z]
        reached[z] = reached[y] * tree.sizes[z] / (tree.sizes[y] + tree.alpha)
    left = np.where(tree.levels < level, reached * tree.alpha / (tree.sizes + tree.alpha), 0.0)
    own = tree.levels == level
    joint = reached[own, None] * mixtures[own]
    known = joint.sum(axis=0)
    joint /= np.where(known > 0, known, 1.0)
    return Level(joint, _log(known), _log(left @ tree.weights))


def _mixtures(of: State | Tree) -> Floats:
    """(n_nodes, K + 1): V_z."""
    alpha = of.alpha if isinstance(of, Tree) else of.hyper.alpha
    sizes, levels, mixtures = of.sizes.astype(np.float64), of.levels, of.weights.copy()
    for level in range(of.n_levels, 0, -1):
        children = np.flatnonzero(levels == level)
        children = children[np.argsort(of.parents[children], kind="stable")]
        z, first = np.unique(of.parents[children], return_index=True)
        pull = np.add.reduceat(sizes[children, None] * mixtures[children], first)
        mixtures[z] = (alpha * mixtures[z] + pull) / (sizes[z, None] + alpha)
    return mixtures


def log_tables(
    family: ConjugateFamily, theta: Floats, width: int = 1
) -> Iterator[tuple[slice, Floats]]:
    """Some rows at a time, and their (rows, K + 1) log f(x_n; theta_k), log f*(x_n) last.

    Rows are few enough for the caller to make a table of them `width` numbers wide.
    """
    natural, base, new = family.natural(theta), family.log_base(), family.log_new()
    widest = max(width, family.n_statistics, len(theta) + 1)
    height = min(max(1, _MOST_NUMBERS // widest), _MOST_ROWS)
    for first in range(0, family.n_rows, height):
        rows = slice(first, min(first + height, family.n_rows))
        table = np.empty((rows.stop - first, len(theta) + 1))
        family.fill(rows, family.statistics(rows), natural, table[:, :-1])
        table[:, -1] = new[rows]
        table += base[rows, None]
        yield rows, table


def node_probabilities(log_f: Floats, level: Level) -> tuple[Floats, Floats]:
    """(n, m): p(z | x, z is a node of the level that exists); (n,): p(the row left before | x).

    p(z | x, known) = sum_k p(k | x, known) p(z | k, known), in this order because nothing can
    underflow in it: a row may be far from everything that a node holds.
    """
    known = softmax(log_f + level.log_known, axis=1) @ level.share.T
    known /= known.sum(axis=1, keepdims=True)
    log_new, log_known = (
        logsumexp(log_f + log_p, axis=1) for log_p in (level.log_new, level.log_known)
    )
    return known, expit(log_new - log_known)


def responsibilities(log_f: Floats, weights: Floats) -> Floats:
    """(n, K): p(k | x, k is a component that exists), proportional to w_k f(x; theta_k)."""
    found = softmax(log_f[:, :-1] + _log(weights[:-1]), axis=1)
    return found / found.sum(axis=1, keepdims=True)


def log_density(mixtures: Iterable[Mixture], family: ConjugateFamily) -> Floats:
    """(n,): log of the mean over mixtures of p(x_n | mixture), for the rows of `family`.

    p(x | mixture) = sum_k w_k f(x; theta_k) + w* f*(x).
    """
    total, count = np.full(family.n_rows, -np.inf), 0
    for count, mixture in enumerate(mixtures, 1):  # noqa: B007
        log_w = _log(mixture.weights)
        for rows, log_f in log_tables(family.at(mixture.shared), mixture.theta):
            total[rows] = np.logaddexp(total[rows], logsumexp(log_f + log_w, axis=1))
    return total - np.log(count)


def log_predictive(state: State, family: ConjugateFamily) -> Floats:
    """(n,): log p(x_n | state) of the rows `family` is bound to, which the state has not seen."""
    return log_density([Mixture(component_weights(state), state.theta, state.shared)], family)


def sample_rows(
    mixtures: tuple[Mixture, ...],
    likelihood: Likelihood,
    n_samples: int,
    n_features: int,
    rng: np.random.Generator,
) -> Floats:
    """(n_samples, d): x ~ F(theta_k), k ~ w of a mixture drawn evenly; theta ~ H where k is new."""
    X = np.empty((n_samples, n_features))
    chosen = rng.integers(len(mixtures), size=n_samples)
    for i in np.unique(chosen):
        weights, theta, shared = mixtures[i]
        rows, settled = np.flatnonzero(chosen == i), likelihood.at(shared)
        k = rng.choice(len(weights), size=len(rows), p=weights / weights.sum())
        born = np.flatnonzero(k == len(theta))
        own = np.empty((len(rows), theta.shape[1]))
        own[k < len(theta)] = theta[k[k < len(theta)]]
        if len(born):
            own[born] = settled.sample_theta(len(born), n_features, rng)
        X[rows] = settled.sample_data(own, rng)
    return X


def _log(weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # a weight of 0
        return np.log(weights)
