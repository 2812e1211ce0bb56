"""States of a given size, drawn as the model draws them, with the data they explain."""

from typing import NamedTuple

import numpy as np

from bhmc.likelihoods import Gaussian
from bhmc.model.hdp.params import hdp_state
from bhmc.model.state import Hyper, State

DEPTH = 4
N_LONE, LEAST = 2, 8
HYPER = Hyper(alpha=0.1, gamma0=5.0, gamma=20.0)
# Means spread as widely as the noise: components overlap, yet a datum mostly knows its own.
LIKELIHOOD = Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0)


class Shape(NamedTuple):
    """Rows, columns, components, nodes; `depth` is L."""

    n: int
    d: int
    k: int
    nodes: int
    depth: int = DEPTH

    def __str__(self) -> str:
        return f"({self.n:g},{self.d},{self.k},{self.nodes})".replace("e+0", "e")


def make(shape: Shape, seed: int = 0) -> tuple[State, np.ndarray]:
    """A state of that shape and its data.

    Weights fall from parent to child as in the model, Dir(gamma beta_pa); so do the sizes of the
    nodes. The last few components hold one datum each, as some always do: each sweep they die and
    are born again. The others hold at least `LEAST`.
    """
    rng = np.random.default_rng(seed)
    paths, parents = tree_for(shape, rng)
    weights = _weights(shape, parents, rng)
    lone = min(N_LONE, shape.k - 1)
    components = _draw_rows(weights[:, : shape.k - lone], paths[:, -1], rng)
    shared = np.arange(shape.k - lone)
    components[lone : lone + LEAST * len(shared)] = np.repeat(shared, LEAST)
    components[:lone] = np.arange(len(shared), shape.k)
    theta = rng.standard_normal((shape.k, shape.d))
    theta[len(shared) :] *= 2.0
    X = np.empty((shape.n, shape.d))
    for rows in np.array_split(np.arange(shape.n), max(1, shape.n // 50_000)):
        X[rows] = theta[components[rows]] + rng.standard_normal((len(rows), shape.d))
    return hdp_state(paths, components, parents, np.log(weights), theta, HYPER), X


def tree_for(shape: Shape, rng) -> tuple[np.ndarray, np.ndarray]:
    """(paths, parents): a tree of that many nodes, and a path of it for every row."""
    parents, levels = _tree(shape)
    paths = np.empty((shape.n, shape.depth + 1), dtype=np.int32)
    paths[:, -1] = _leaves(shape, parents, np.flatnonzero(levels == shape.depth), rng)
    for level in range(shape.depth, 0, -1):
        paths[:, level - 1] = parents[paths[:, level]]
    return paths, parents


def _tree(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Parents and levels of a tree with that many nodes, each level wider by the same factor."""
    low, high = 1.0, float(shape.nodes)
    for _ in range(60):
        ratio = (low + high) / 2
        total = sum(ratio**level for level in range(shape.depth + 1))
        low, high = (ratio, high) if total < shape.nodes else (low, ratio)
    widths = [max(1, round(low**level)) for level in range(shape.depth)]
    widths.append(max(widths[-1], shape.nodes - sum(widths)))
    parents, levels, begin = [-1], [0], 0
    for level in range(1, shape.depth + 1):
        above = widths[level - 1]
        parents += [begin + i % above for i in range(widths[level])]
        levels += [level] * widths[level]
        begin += above
    return np.array(parents), np.array(levels)


def _weights(shape: Shape, parents: np.ndarray, rng) -> np.ndarray:
    """(nodes, K + 1): Dir(gamma beta_pa) down the tree, a hundredth left over at the root."""
    weights = np.empty((len(parents), shape.k + 1))
    weights[0] = rng.dirichlet(np.full(shape.k + 1, 3.0))
    weights[0, -1] = 0.01
    weights[0] /= weights[0].sum()
    for z in range(1, len(parents)):
        drawn = rng.gamma(HYPER.gamma * weights[parents[z]]) + 1e-12
        weights[z] = drawn / drawn.sum()
    return weights


def _leaves(shape: Shape, parents: np.ndarray, leaves: np.ndarray, rng) -> np.ndarray:
    """(n,) leaf of each datum: shares of siblings are Dir(3), and every leaf holds a datum."""
    share = np.ones(len(parents))
    for z in range(len(parents)):
        children = np.flatnonzero(parents == z)
        if len(children):
            share[children] = share[z] * rng.dirichlet(np.full(len(children), 3.0))
    leaf = rng.choice(leaves, size=shape.n, p=share[leaves] / share[leaves].sum())
    leaf[-len(leaves) :] = leaves
    return leaf


def _draw_rows(weights: np.ndarray, leaf: np.ndarray, rng) -> np.ndarray:
    """A column for every leaf of `leaf`, in proportion to its weights."""
    drawn = np.empty(len(leaf), dtype=np.int32)
    running = weights.cumsum(axis=1)
    for z in np.unique(leaf):
        rows = np.flatnonzero(leaf == z)
        drawn[rows] = np.searchsorted(running[z], rng.random(len(rows)) * running[z, -1])
    return drawn
