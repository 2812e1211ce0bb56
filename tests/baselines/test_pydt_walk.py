"""Metropolis-Hastings moves of whole subtrees: the acceptance has what the walk down lacks.

Chains show this only in long runs, for the walk is near the law. Here it is computed: for a subtree
of several leaves that is cut off, the prior of every place over its density under the walk.
"""

import numpy as np
import pytest

from bhmc.baselines.pydt.state import NONE, Work, make_work, put_tree
from tests.baselines import pydt_reference as reference
from tests.baselines.pydt_laws import SETTINGS, exact_draw
from tests.baselines.pydt_mutants import CORRECTION, build
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

N_CASES, N_WALKS = 30, 1500
settings = pytest.mark.parametrize("setting", ["weak", "weak ddt"])


def cut_off(setting, engine, rng) -> tuple[Work, reference.Sketch, int]:
    """A tree without one of its subtrees, for the engine and for the twin, and the subtree."""
    while True:
        tree, X = exact_draw(setting, rng)
        work = make_work(X, setting.rates)
        put_tree(work, tree)
        inner = np.flatnonzero((work.n_kids > 0) & (work.size > 1) & (work.size < setting.n - 2))
        if len(inner):
            break
    r = int(rng.choice(inner))
    engine.tabulate(work)
    engine.refresh(work)
    sketch = reference.Sketch(work)
    sketch.cut(r)
    engine.cut(work, r)
    return work, sketch, r


def edges_and_nodes(sketch, r):
    """(node, from, to) for every edge where r may be attached, from = to for a node itself."""
    for b in sketch.below(sketch.top):
        low, high = sketch.clock[sketch.parent(b)], min(sketch.clock[b], sketch.clock[r])
        if high > low:
            yield b, low, high
        joins = sketch.rates.theta + sketch.rates.alpha * len(sketch.children[b]) > 0
        if sketch.children[b] and sketch.clock[b] < sketch.clock[r] and joins:
            yield b, sketch.clock[b], sketch.clock[b]


def largest_error(setting, engine) -> float:
    """Of the log of any acceptance, over all pairs of places of some subtrees."""
    rng, largest, n_pairs = np.random.default_rng(0), 0.0, 0
    for _ in range(N_CASES):
        work, sketch, r = cut_off(setting, engine, rng)
        errors = []
        for b, low, high in edges_and_nodes(sketch, r):
            s = low + 0.9 * rng.random() * (high - low)
            place = reference.Place(b, s)
            prior = sketch.worth(r, place)[0]  # the density of the whole tree, by the formula
            exact = prior - reference.log_walk(sketch, r, place)
            errors.append(engine.log_correction(work, r, b, s) - exact)
        n_pairs += len(errors) - 1
        largest = max(largest, float(np.ptp(errors)))
    assert n_pairs > 100
    return largest


@settings
def test_the_correction_is_prior_over_walk(setting):
    assert largest_error(SETTINGS[setting], build(())) < 1e-9


@settings
def test_acceptance_without_the_correction_is_rejected(setting):
    wrong = build(((CORRECTION, "    return 0.0\n" + CORRECTION),))
    assert largest_error(SETTINGS[setting], wrong) > 0.5


@settings
def test_the_walk_ends_where_its_density_says(setting):
    """Edges, nodes, and nowhere (later than the subtree's own clock)."""
    engine, rng = build(()), rng_for(231)
    work, sketch, r = cut_off(SETTINGS[setting], engine, rng)
    points, weights = np.polynomial.legendre.leggauss(20)
    chances = {}
    for b, low, high in edges_and_nodes(sketch, r):
        clocks = [low] if low == high else low + 0.5 * (high - low) * (1 + points)
        logs = [reference.log_walk(sketch, r, reference.Place(b, s)) for s in clocks]
        area = [1.0] if low == high else 0.5 * (high - low) * weights
        chances[b, low == high] = float(np.exp(logs) @ area)
    chances[NONE, False] = 1 - sum(chances.values())
    assert chances[NONE, False] > -1e-9
    counts = dict.fromkeys(chances, 0)
    for _ in range(N_WALKS):
        b, s = engine.walk_down(work, r, rng)
        counts[b, b != NONE and s == work.clock[b]] += 1
    p = np.clip(np.array(list(chances.values())), 0, 1)
    share = np.array(list(counts.values())) / N_WALKS
    often = p * N_WALKS > 10
    z = z_of((share - p)[often], np.sqrt(p * (1 - p) / N_WALKS)[often])
    assert len(z) > 2
    assert np.abs(z).max() < Z_LIMIT
