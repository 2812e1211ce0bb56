"""Forward simulator of the Pitman-Yor diffusion tree: one particle after another, in plain Python.

It is a witness against the samplers, so it shares no code with them. A time is kept as its clock,
A(t) / c = -log(1 - t), for 1 - t itself may be too small for a double.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bhmc.baselines.pydt.state import DiffusionTree, Rates


@dataclass(eq=False)
class _Node:
    clock: float  # -log(1 - t), infinite at a leaf
    count: int  # particles that came through
    number: int  # of the particle, for a leaf; -1 for a branch point
    branches: list["_Node"] = field(default_factory=list)


def simulate_tree(n: int, rates: Rates, rng: np.random.Generator) -> DiffusionTree:
    """The tree of n particles with divergence rate a(t) = c / (1 - t)."""
    origin = _Node(0.0, 1, -1, [_Node(math.inf, 1, 0)])
    for particle in range(1, n):
        _send(origin, particle, rates, rng)
    return _as_arrays(origin.branches[0], n)


def _send(origin: _Node, particle: int, rates: Rates, rng: np.random.Generator) -> None:
    """One more particle: down the tree until it diverges."""
    above, which = origin, 0
    while True:
        below = above.branches[which]
        m = below.count
        # No divergence until t: exp(-A(t) Gamma(m - alpha) / Gamma(m + 1 + theta)).
        speed = math.exp(math.lgamma(m - rates.alpha) - math.lgamma(m + 1 + rates.theta))
        clock = above.clock + rng.exponential() / (rates.c * speed)
        if clock < below.clock:
            fork = _Node(clock, m + 1, -1, [below, _Node(math.inf, 1, particle)])
            above.branches[which] = fork
            return
        sizes = np.array([branch.count for branch in below.branches], dtype=float)
        new = rates.theta + rates.alpha * len(sizes)
        chances = np.append(sizes - rates.alpha, new) / (m + rates.theta)
        which = int(rng.choice(len(chances), p=chances))
        below.count += 1
        if which == len(sizes):
            below.branches.append(_Node(math.inf, 1, particle))
            return
        above = below


def _as_arrays(top: _Node, n: int) -> DiffusionTree:
    parents, clocks = [-1] * n, [math.inf] * n
    waiting = [(top, -1)]
    while waiting:
        node, parent = waiting.pop()
        if node.number >= 0:
            parents[node.number] = parent
            continue
        number = len(parents)
        parents.append(parent)
        clocks.append(node.clock)
        waiting += [(branch, number) for branch in node.branches]
    return DiffusionTree(np.array(parents, dtype=np.int64), np.array(clocks))


def simulate_data(
    tree: DiffusionTree, n: int, n_features: int, rates: Rates, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(n, d) places of the leaves, with noise: Brownian motion down the tree."""
    t = -np.expm1(-tree.clocks)
    places = np.full((len(t), n_features), np.nan)
    for leaf in range(n):
        above = [leaf]  # from the leaf up to the first node whose place is known
        while tree.parents[above[-1]] >= 0 and np.isnan(places[tree.parents[above[-1]], 0]):
            above.append(int(tree.parents[above[-1]]))
        for node in reversed(above):
            parent = tree.parents[node]
            start, at = (np.zeros(n_features), 0.0) if parent < 0 else (places[parent], t[parent])
            motion = rng.standard_normal(n_features)
            places[node] = start + math.sqrt(rates.sigma2 * max(t[node] - at, 0.0)) * motion
    return places[:n] + math.sqrt(rates.noise) * rng.standard_normal((n, n_features))
