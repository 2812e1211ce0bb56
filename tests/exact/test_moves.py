"""Block moves leave the joint law alone; wrong ones do not.

Three judges: the joint density, with which every weight of a move is compared; the law of what is
drawn beside the choice (inner nodes of a branch, tables); and exact draws of everything, which must
stay exact (`invariance`, and in `make exact` Geweke's test).
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import roots_jacobi

from bhmc.model.hdp import dishes, kernels, moves, splits
from bhmc.model.hdp.move_space import move_space
from bhmc.model.hdp.sampler import HdpSampler
from tests.exact import alarm, move_weights
from tests.exact.alarm import P_LIMIT, Z_LIMIT, rng_for, z_of, z_scores
from tests.exact.geweke import Setting, from_prior
from tests.exact.invariance import paired_z
from tests.exact.moves import SETTINGS
from tests.exact.test_visits import CASES as VISITS
from tests.exact.test_visits import _one_sweep_p, _Problem
from tests.mutants.move_mutants import MOVE_MUTANTS
from tests.mutants.mutants import build

PLAIN = build(())
ALL = moves.NAMES
# Wrong versions of these take more draws to show than those of the other moves.
SLOW = (("split",), ("relocate",))
N_DRAWS, N_SLOW, N_LONG = 500, 800, 20_000

# Names of moves, their setting, and the threshold of the auxiliary form.
CASES = [
    (("relocate",), "aimed", 256),
    (("relocate",), "aimed", 2),
    (("regraft",), "deep", 256),
    (("dishes",), "aimed", 256),
    (("split",), "one level", 256),
    (ALL, "finite", 2),
    (ALL, "full gaussian", 256),
    (ALL, "learned", 256),
]
LONG = [
    *CASES,
    *(((name,), where, 256) for name in ALL for where in ("deep", "finite")),
    (("regraft",), "aimed", 256),
    (("regraft",), "very deep", 256),
    (("relocate",), "deep", 2),
    (ALL, "aimed", 256),
    (ALL, "deep", 2),
    (ALL, "branches", 256),
    (ALL, "subtrees", 2),
    (ALL, "tables", 256),
]


# ---- Weights -----------------------------------------------------------------------------------


def largest_difference(move, engine, n_components, n_levels) -> float:
    """How far the weights of a move are from the joint density, over some states."""
    setting = Setting(n_components, n=7, n_levels=n_levels, numbers=(0.7, 1.3, 4.0))
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        state, X = setting.prior_draw(rng)

        def chain(state=state, X=X, rng=rng):
            return setting.chain(state, X, "gibbs", rng, engine=PLAIN)

        if move == "relocate":
            branches = state.sizes[state.paths[:, 1]]  # a row alone in its branch, if there is one
            found += _relocations(engine, chain, seed, rng)
            found += _relocations(engine, chain, int(branches.argmin()), rng)
        elif move == "regraft":
            for level in range(2, n_levels + 1):
                one = chain()
                nodes = np.flatnonzero(one.ws.level == level)
                y = int(nodes[seed % len(nodes)])
                found.append(move_weights.grafting(engine, one, y, level, rng))
        elif move == "split":
            found += [move_weights.splitting(engine, chain(), row) for row in range(len(X))]
        else:
            found += [
                move_weights.dishes(engine, chain(), level, seed, rng)
                for level in range(1, n_levels + 1)
            ]
    return max(found)


def _relocations(engine, chain, row, rng) -> list[float]:
    """A whole cell and a part of it, in closed form and with auxiliary chains."""
    leaf, component = chain().rows.leaf, chain().rows.component
    cell = np.flatnonzero((leaf == leaf[row]) & (component == component[row]))
    part = np.append(row, cell[cell != row][: len(cell) // 2])
    return [
        move_weights.relocation(engine, chain(), row, rows, share, source)
        for rows, share in ((cell, 1.0), (part, 0.5))
        for source in (None, rng)
    ]


@pytest.mark.parametrize("n_components", [None, 4])
@pytest.mark.parametrize("n_levels", [2, 3])
@pytest.mark.parametrize("move", ALL)
def test_weights_are_those_of_the_joint_density(move, n_levels, n_components):
    assert largest_difference(move, PLAIN, n_components, n_levels) < 1e-9


@pytest.mark.parametrize(
    "mutant", [m for m in MOVE_MUTANTS if m.where == "weights"], ids=lambda m: m.name
)
def test_wrong_weights_are_rejected(mutant):
    engine = build(mutant.edits)
    found = [largest_difference(mutant.move, engine, mutant.n_components, n) for n in (2, 3)]
    assert max(found) > 1e-3


# ---- What is drawn beside the choice -----------------------------------------------------------


def inner_nodes_z(engine) -> np.ndarray:
    """z of means of the weights of both new inner nodes above a block of five rows."""
    setting, n, n_draws = Setting(n=6, n_levels=3, numbers=(0.7, 1.3, 1.5)), 5, 1_000
    state, X = setting.prior_draw(np.random.default_rng(0))
    chain = setting.chain(state, X, "gibbs", rng_for(131), engine=PLAIN)
    ws, gamma, k, drawn = chain.ws, chain.rates.gamma, int(chain.rows.component[0]), []
    space = move_space(ws, 256)
    PLAIN.set_powers(space, gamma, n, 3)
    for _ in range(n_draws):
        last = engine.grow_block(ws, chain.rates, space, 0, k, n, chain.source)
        first = ws.parent[last]
        drawn.append([ws.beta[first, k], ws.beta[last, k], ws.beta[first, k] * ws.beta[last, k]])
        PLAIN.drop_empty_nodes(ws, last)
    b = ws.beta[0, k]
    x, w = roots_jacobi(n + 4, gamma * (1 - b) - 1, gamma * b - 1)
    u, p = (1 + x) / 2, w / w.sum()
    inside = np.array([_below(n, one, gamma) for one in u])
    total = p @ inside[:, 0]
    exact = np.array([p @ (u * inside[:, 0]), p @ inside[:, 1], p @ (u * inside[:, 1])]) / total
    drawn = np.array(drawn)
    return z_of(drawn.mean(axis=0) - exact, drawn.std(axis=0) / np.sqrt(n_draws))


def _below(n, b, gamma) -> tuple[float, float]:
    """E[p(n rows | v)] and E[v p(n rows | v)] over the weight v of a node below one of weight b."""
    x, w = roots_jacobi(n + 4, gamma * (1 - b) - 1, gamma * b - 1)
    v = (1 + x) / 2
    p = w / w.sum() * [move_weights.new_rows(n, one, gamma, 1) for one in v]
    return p.sum(), v @ p


def seating_z(engine) -> np.ndarray:
    """z of the root's customers by component, by seating against by tables."""
    setting, n_draws = Setting(n=8, n_levels=2, numbers=(0.3, 1.0, 3.0)), 800
    state, X = setting.prior_draw(np.random.default_rng(3))
    chain = setting.chain(state, X, "gibbs", rng_for(132), engine=engine)
    tables = setting.chain(state, X, "gibbs", rng_for(133))
    seated, counted = [], []
    for _ in range(n_draws):
        dishes._seat(chain)
        seated.append(chain.ws.customers[0].copy())
        tables.rows.count_cells(tables.ws.customers)
        kernels.draw_tables(tables.ws, tables.rates, False, tables.source)
        counted.append(tables.ws.customers[0].copy())
    one, other = (np.array(part, dtype=float)[:, chain.ws.alive] for part in (seated, counted))
    error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / n_draws)
    return z_of(one.mean(axis=0) - other.mean(axis=0), error)


LAWS = {"inner nodes": inner_nodes_z, "seating": seating_z}


@pytest.mark.parametrize("law", LAWS)
def test_laws(law):
    engine = PLAIN if law == "inner nodes" else kernels
    assert np.abs(LAWS[law](engine)).max() < Z_LIMIT


@pytest.mark.parametrize(
    "mutant", [m for m in MOVE_MUTANTS if m.where in LAWS], ids=lambda m: m.name
)
def test_wrong_laws_are_rejected(mutant, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    assert np.abs(LAWS[mutant.where](build(mutant.edits))).max() > Z_LIMIT


# ---- The joint law -----------------------------------------------------------------------------


@pytest.mark.parametrize(("names", "where", "threshold"), CASES)
def test_exact_draws_stay_exact(names, where, threshold, monkeypatch):
    monkeypatch.setattr(moves, "THRESHOLD", threshold)
    n_draws = N_SLOW if names in SLOW else N_DRAWS
    z = paired_z(SETTINGS[where], "gibbs", "redraw_weights", n_draws, rng_for(134), moves=names)
    print(f"{names}, {where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.parametrize(
    "mutant", [m for m in MOVE_MUTANTS if m.n_draws], ids=lambda m: f"{m.name} ({m.move})"
)
def test_wrong_moves_are_rejected(mutant, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    z = _mutant_z(mutant, mutant.n_draws)
    print(f"{mutant.name}: |z| {z:.1f}")
    assert z > Z_LIMIT


def _mutant_z(mutant, n_draws) -> float:
    z = paired_z(
        SETTINGS[mutant.setting],
        "gibbs",
        "redraw_weights",
        n_draws,
        rng_for(135),
        moves=(mutant.move,),
        engine=build(mutant.edits),
        until=Z_LIMIT,
    )
    return float(np.abs(z).max())


# ---- Wrong proposals of "split" ----------------------------------------------------------------


def _any_tables(self, row):
    _, component, n = self._cell_of(row)
    return n == self._chain.ws.held[component] and len(self._components) > 1


def _without_q(self, one, n_block, log_q):
    return _ACCEPTS(self, one, n_block, 0.0)


def _without_pairs(self, one, n_block, log_q):
    n = len(one.rows)
    return _ACCEPTS(self, one, n_block, log_q + math.log(n - 1) - math.log(n - n_block))


def _with_the_block(self, blocks, left):
    return _GAINS(self, blocks, np.zeros_like(left))


_ACCEPTS, _GAINS = splits._Proposals._accepts, splits._Proposals._gains
# Which method, what is wrong with it, where that shows, and in how many draws.
WRONG_SPLITS = {
    "rows at any number of tables join a cell": ("_may_join", _any_tables, "full leaves", 700),
    "sides that were drawn with no probability": ("_accepts", _without_q, "one level", 200),
    "pairs of rows not counted": ("_accepts", _without_pairs, "one level", 1_000),
    "a block that is still in its component": ("_gains", _with_the_block, "one level", 2_000),
}


def _wrong_splits():
    """Those that take more draws than the suite judges the true moves by: in `make exact`."""
    for name, (*_, n_draws) in WRONG_SPLITS.items():
        yield pytest.param(name, marks=pytest.mark.exact_long if n_draws > N_SLOW else ())


@pytest.mark.parametrize("name", list(_wrong_splits()))
def test_wrong_splits_are_rejected(name, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    method, wrong, where, n_draws = WRONG_SPLITS[name]
    monkeypatch.setattr(splits._Proposals, method, wrong)
    monkeypatch.setattr(moves, "PAIRS_PER_SPLIT", 8)
    how = {"moves": ("split",), "until": Z_LIMIT}
    z = paired_z(SETTINGS[where], "gibbs", "redraw_weights", n_draws, rng_for(139), **how)
    print(f"{name}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


class _WithoutWeights:
    """The compiled kernels, but inner weights stay as they were."""

    def __getattr__(self, name):
        return getattr(kernels, name)

    def draw_inner_weights(self, *_):
        """Nothing."""


@pytest.mark.exact_long
def test_weights_left_behind_are_noticed():
    """They only serve to draw tables, so it takes many draws to see."""
    engine, setting = _WithoutWeights(), SETTINGS["spread"]
    how = {"moves": ("dishes",), "engine": engine}
    z = paired_z(setting, "gibbs", "redraw_weights", N_LONG, rng_for(136), **how)
    assert np.abs(z).max() > Z_LIMIT


class _TwoRows(HdpSampler):
    """Two random rows a sweep: then moves do most of the mixing, and errors of theirs gather."""

    def _order(self, n_rows):
        return self.rng.choice(n_rows, 2, replace=False)

    def _rows_done(self, position):
        return 0


@cache
def _from_prior(where):
    return from_prior(SETTINGS[where], 2 * N_LONG, rng_for(138))


@pytest.mark.exact_long
@pytest.mark.parametrize(("names", "where", "threshold"), dict.fromkeys(LONG))
def test_geweke_long(names, where, threshold, monkeypatch):
    monkeypatch.setattr(moves, "THRESHOLD", threshold)
    setting, rng = SETTINGS[where], rng_for(137)
    state, X = setting.prior_draw(rng)
    drawn = []
    for _ in range(N_LONG):
        chain = setting.chain(state, X, "gibbs", rng, moves=names)
        chain.__class__ = _TwoRows
        chain.sweep()
        state = chain.state()
        X = setting.new_data(state, rng)
        drawn.append(setting.statistics(state, X))
    z = z_scores(_from_prior(where), np.array(drawn))
    print(f"{names} {where} {threshold}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.parametrize(("n_levels", "n_components"), [(2, None), (3, 2)])
def test_one_sweep_with_all_moves_visits_every_state(n_levels, n_components):
    p = _one_sweep_p(_Problem(3, n_levels, n_components), "gibbs", 1_000, moves=ALL)
    assert p > P_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize(("n", "n_levels", "n_components"), VISITS)
def test_one_sweep_with_all_moves_visits_every_state_long(n, n_levels, n_components):
    p = _one_sweep_p(_Problem(n, n_levels, n_components), "gibbs", 20_000, moves=ALL)
    assert p > P_LIMIT
