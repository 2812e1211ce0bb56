"""The density of a diffusion tree and of its data, as the formulas have it: slow and obvious."""

import math

import numpy as np
from numpy.typing import NDArray

from bhmc.baselines.pydt.state import DiffusionTree, Rates


def children_of(tree: DiffusionTree) -> list[list[int]]:
    """The children of every node."""
    children: list[list[int]] = [[] for _ in tree.parents]
    for node, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    return children


def leaves_below(children: list[list[int]]) -> list[int]:
    """The number of leaves of every node."""
    count = [0] * len(children)
    for node in parents_last(children):
        count[node] = sum(count[kid] for kid in children[node]) or 1
    return count


def parents_last(children: list[list[int]]) -> list[int]:
    """All nodes, children before parents."""
    has_parent = {kid for kids in children for kid in kids}
    waiting = [node for node in range(len(children)) if node not in has_parent]
    order = []
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]]
    return order[::-1]


def harmonic(n: int, alpha: float, theta: float) -> float:
    """H(n) = sum over i = 1..n of Gamma(i - alpha) / Gamma(i + 1 + theta)."""
    return sum(
        math.exp(math.lgamma(i - alpha) - math.lgamma(i + 1 + theta)) for i in range(1, n + 1)
    )


def log_tree(tree: DiffusionTree, rates: Rates) -> float:
    """log p(topology, clocks): the density of all inner nodes' clocks s = -log(1 - t).

    Over inner nodes b with parent a, K branches of n_l leaves, m in all, the product of
    c exp(-c (s_b - s_a) H(m - 1)) prod_{k=3..K} (theta + (k - 1) alpha) prod_l Gamma(n_l - alpha)
    / (Gamma(m + theta) Gamma(1 - alpha)^(K - 1)). In t, a(t_b) = c / (1 - t_b) stands for c.
    """
    alpha, theta, c = rates.alpha, rates.theta, rates.c
    children = children_of(tree)
    count = leaves_below(children)
    total = 0.0
    for b, kids in enumerate(children):
        if not kids:
            continue
        a, m = tree.parents[b], count[b]
        length = tree.clocks[b] - (tree.clocks[a] if a >= 0 else 0.0)
        total += math.log(c) - c * length * harmonic(m - 1, alpha, theta)
        for k in range(3, len(kids) + 1):
            new = theta + (k - 1) * alpha
            total += math.log(new) if new > 0 else -math.inf
        total += sum(math.lgamma(count[kid] - alpha) for kid in kids)
        total -= math.lgamma(m + theta) + (len(kids) - 1) * math.lgamma(1 - alpha)
    return total


def covariance(tree: DiffusionTree, n: int, rates: Rates) -> NDArray[np.float64]:
    """(n, n) covariance of the data in one dimension: sigma2 times the time two leaves shared."""
    times = -np.expm1(-tree.clocks)
    children = children_of(tree)
    leaves: list[list[int]] = [[] for _ in children]
    order = parents_last(children)
    for node in order:
        leaves[node] = [leaf for kid in children[node] for leaf in leaves[kid]] or [node]
    shared = np.zeros((n, n))
    for node in reversed(order):  # a pair's last common node writes last
        shared[np.ix_(leaves[node], leaves[node])] = times[node]
    return rates.sigma2 * shared + rates.noise * np.eye(n)


def log_likelihood(tree: DiffusionTree, X: NDArray[np.float64], rates: Rates) -> float:
    """log p(X | tree, sigma2, noise), by the covariance matrix: no message is passed."""
    n, d = X.shape
    factor = np.linalg.cholesky(covariance(tree, n, rates))
    z = np.linalg.solve(factor, X)
    return float(
        -0.5 * (z**2).sum() - d * np.log(np.diag(factor)).sum() - 0.5 * n * d * np.log(2 * np.pi)
    )
