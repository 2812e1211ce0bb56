"""The diffused transition and its Gaussian form leave the joint law alone.

Exact draws stay exact under every stage and move (`invariance`); sweeps and fresh data, over and
over, have the law of the simulator (Geweke, in `make exact`); a chain visits all trees of a few
rows as often as it must. Wrong versions: `tests/mutants/test_diffused_mutants.py`.
"""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from bhmc.model.diffused.prior import draw_inverse_gamma
from bhmc.model.diffused.sampler import DiffusedSampler
from bhmc.model.diffused.setting import MOVES
from bhmc.rows import local
from tests.exact import alarm
from tests.exact.alarm import (
    N_BATCHES,
    P_LIMIT,
    Z_LIMIT,
    rng_for,
    z_of,
    z_of_chain,
    z_scores,
)
from tests.exact.diffused import FLOOR, KNOWN, SETTINGS, SHAPED, TAILED, TIED
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import exact_draws, paired_z
from tests.mutants.diffused_mutants import find

N_DRAWS, N_LONG, N_GEWEKE, N_VISITS = 400, 10_000, 20_000, 2_000
STAGES = DiffusedSampler.stages
FLOOR_STAGES = ("redraw_tree", "redraw_variances", "redraw_shared")
FAMILIES = (
    "known",
    "spherical",
    "diagonal",
    "diagonal holes",
    "spherical holes",
    "tied",
    "shaped",
    "tails",
    "gaussian known",
    "gaussian spherical",
    "gaussian diagonal",
    "gaussian tied",
    "gaussian shaped",
    "gaussian tails",
    "loose, tails",
    "tied holes",
    "shaped holes",
    "gaussian tied holes",
)
# Sweeps and fresh data take hundreds of rounds to forget where they were.
SLOW = (
    *("clear", "clear, deep", "learned", "large atoms", "tied", "gaussian tied"),
    *("tied holes", "gaussian tied holes"),
)
# What `test_tree_matrix.py` leaves out: missing entries, data that say much, very few rows,
# variances that their bounds hold.
AIMED = (
    *("full leaves, holes", "deep, holes", "diagonal holes", "spherical holes"),
    "full leaves, tied holes",
    *("gaussian diagonal", "clear", "clear, deep", "large atoms", "three", "coin"),
    "floor, deep",
)

# A stage, a setting at which it has much to do, and the moves that are made; `test_tree_matrix.py`
# has each move alone.
CASES = [
    ("redraw_rows", "clear, deep", ()),
    ("redraw_rows", "gaussian spherical", ()),
    ("redraw_tree", "diagonal holes", ()),
    ("redraw_tree", "floor, deep", ("steps",)),
    ("redraw_tree", "known", ("steps",)),
    ("redraw_tree", "clear", ("steps",)),
    ("redraw_tree", "tied", ("steps",)),
    ("redraw_tree", "diagonal holes", ("steps",)),
    ("redraw_variances", "floor, deep", ()),
    ("redraw_shared", "diagonal holes", ()),
    ("redraw_shared", "tied", ()),
    ("redraw_concentrations", "learned", ()),
    ("sweep", "gaussian diagonal", MOVES),
    ("sweep", "spherical", MOVES),
]


@pytest.mark.parametrize(("stage", "where", "moves"), CASES)
def test_exact_draws_stay_exact(stage, where, moves):
    z = paired_z(SETTINGS[where].with_moves(*moves), "gibbs", stage, N_DRAWS, rng_for(201))
    assert np.abs(z).max() < Z_LIMIT


def stages_of(where: str) -> list[str]:
    """The stages that change something there: draws that stay as they are prove nothing."""
    setting = SETTINGS[where]
    likelihood, correlated = setting.likelihood, setting.likelihood in (TIED, SHAPED)
    idle = {
        "redraw_latent": not (likelihood == TAILED or (setting.holes and correlated)),
        "redraw_shared": likelihood == KNOWN,
        "redraw_concentrations": not setting.transition.learned(),
    }
    return [stage for stage in STAGES if not idle.get(stage, False)]


# Stages of one setting come together, because they share its exact draws.
@pytest.mark.exact_long
@pytest.mark.parametrize(
    ("where", "stage"), [(where, stage) for where in FAMILIES for stage in stages_of(where)]
)
def test_exact_draws_stay_exact_long(where, stage):
    z = paired_z(SETTINGS[where], "gibbs", stage, N_LONG, rng_for(202))
    print(f"{stage}, {where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("where", AIMED)
@pytest.mark.parametrize("move", [move for move in MOVES if move != "shift"])  # of logits only
def test_each_move_leaves_exact_draws_exact(move, where):
    stage = "redraw_atoms" if move in ("split", "branch") else "redraw_tree"
    z = paired_z(SETTINGS[where].with_moves(move), "gibbs", stage, N_LONG, rng_for(203))
    print(f"{move}, {where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


def test_rows_in_several_tiles(monkeypatch):
    """Atoms and nodes that begin in one tile are there in the next."""
    monkeypatch.setattr(local, "tile_height", lambda n_statistics: 2)
    z = paired_z(SETTINGS["loose"], "gibbs", "redraw_rows", N_DRAWS, rng_for(204))
    assert np.abs(z).max() < Z_LIMIT


# ---- Geweke ------------------------------------------------------------------------------------


@cache
def _from_prior(where: str, n_draws: int) -> np.ndarray:
    return from_prior(SETTINGS[where], n_draws, rng_for(205))


def geweke_z(
    where: str, moves, n_draws: int, n_prior: int, seed: int, sampler: str = "gibbs"
) -> np.ndarray:
    """z of one long chain. Its errors come from batches, which must be nearly independent."""
    chain = from_sweeps(SETTINGS[where].with_moves(*moves), sampler, n_draws, rng_for(seed))
    assert correlation_of_batches(chain) < 0.5, "batches are too short: their errors are too small"
    return z_scores(_from_prior(where, n_prior), chain)


def correlation_of_batches(chain: np.ndarray) -> float:
    """The largest correlation of a batch mean with the next one."""
    usable = len(chain) // N_BATCHES * N_BATCHES
    means = chain[:usable].reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    means = means[:, chain.std(axis=0) > 1e-9]
    means = (means - means.mean(axis=0)) / means.std(axis=0)
    return float((means[1:] * means[:-1]).mean(axis=0).max())


def rounds_z(
    where: str, moves, n_chains: int, n_rounds: int, rng, sampler: str = "gibbs"
) -> np.ndarray:
    """z of the change over some rounds of sweep and fresh data, from exact draws.

    Chains are independent, so slow ones are judged as well as fast ones.
    """
    setting, changes = SETTINGS[where].with_moves(*moves), []
    for state, X, before in exact_draws(setting, n_chains, rng):
        for _ in range(n_rounds):
            chain = setting.chain(state, X, sampler, rng)
            chain.sweep()
            state = chain.state()
            X = setting.new_data(state, rng)
        changes.append(setting.statistics(state, X) - before)
    changes = np.array(changes)
    return z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(n_chains))


@pytest.mark.exact_long
@pytest.mark.parametrize(
    ("where", "moves"),
    [
        *((where, MOVES) for where in SETTINGS if where not in SLOW),
        *((where, ("split",)) for where in ("full leaves", "gaussian diagonal")),
        *(("deep", (move,)) for move in MOVES[1:]),
    ],
)
def test_geweke_long(where, moves):
    z = geweke_z(where, moves, N_GEWEKE, 2 * N_GEWEKE, 206)
    print(f"{where}, {moves}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize(
    ("where", "moves"),
    [
        *((where, MOVES) for where in SLOW),
        *(("clear", moves) for moves in ((), *((move,) for move in MOVES))),
        *(("large atoms", (move,)) for move in MOVES[1:]),
    ],
)
def test_rounds_of_slow_settings(where, moves):
    z = rounds_z(where, moves, 1_500, 15, rng_for(213))
    print(f"{where}, {moves}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


def floor_rounds(n_rounds: int, rng) -> np.ndarray:
    """(n_rounds, statistics) where kappa is 2: every fourth round a sweep with all moves, between
    them only places, variances and noise, which x^2 hangs on; fresh data after each.
    """
    state, X = FLOOR.prior_draw(rng)
    still, rows = FLOOR.with_moves(), []
    for i in range(n_rounds):
        chain = (still if i % 4 else FLOOR).chain(state, X, "gibbs", rng)
        for stage in FLOOR_STAGES if i % 4 else ("sweep",):
            getattr(chain, stage)()
        state = chain.state()
        X = FLOOR.new_data(state, rng)
        rows.append(FLOOR.statistics(state, X))
    return np.array(rows)


def floor_z(n_rounds: int, n_prior: int, rng) -> np.ndarray:
    """z of `floor_rounds` against exact draws."""
    prior, chain = from_prior(FLOOR, n_prior, rng), floor_rounds(n_rounds, rng)
    assert correlation_of_batches(chain) < 0.5, "batches are too short: their errors are too small"
    return z_scores(prior, chain)


@pytest.mark.exact_long
def test_x_squared_above_the_floor_at_a_million_draws():
    """kappa > 0, and x^2 among the statistics."""
    z = floor_z(1_000_000, 200_000, rng_for(207))
    print(f"floor: |z| {np.abs(z).max():.1f}\n{z.round(1)}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", ["variances below kappa", "steps forgotten in the noise"])
def test_wrong_variances_above_the_floor_are_noticed(name, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    find(name).put_in(monkeypatch)
    z = floor_z(20_000, 10_000, rng_for(215))
    print(f"{name}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


def test_batches_that_are_too_short_are_noticed():
    """A slow chain and a fast one."""
    noise = rng_for(214).standard_normal((4_000, 1))
    slow = np.cumsum(noise, axis=0)
    assert correlation_of_batches(slow) > 0.5 > correlation_of_batches(noise)


# ---- Visits to all trees -----------------------------------------------------------------------


def refinements(labels: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All partitions finer than one, or as fine; labels appear in the order 0, 1, ..."""
    n = len(labels)
    return [
        fine
        for fine in product(range(n), repeat=n)
        if fine == numbered(fine)
        and all(
            labels[i] == labels[j] for i, j in product(range(n), repeat=2) if fine[i] == fine[j]
        )
    ]


def numbered(labels) -> tuple[int, ...]:
    """The same partition with labels in the order in which they appear."""
    seen: dict = {}
    return tuple(seen.setdefault(label, len(seen)) for label in labels)


def trees(n: int, steps: int) -> list[tuple[tuple[int, ...], ...]]:
    """All partitions of n rows into nodes of levels 1, 2, ..., then atoms: each is finer."""
    found: list[tuple[tuple[int, ...], ...]] = [((0,) * n,)]
    for _ in range(steps):
        found = [(*tree, fine) for tree in found for fine in refinements(tree[-1])]
    return found


def log_weight(tree, u, variances, alpha: float, g: float) -> float:
    """log p(tree) p(rows): restaurants by their sizes, rows by one dense normal density."""
    total = 0.0
    for level, (coarse, fine) in enumerate(pairwise(tree)):
        c = g if level == len(tree) - 2 else alpha
        for node in set(coarse):
            tables: dict[int, int] = {}
            for seated, row in enumerate(i for i in range(len(u)) if coarse[i] == node):
                there = tables.get(fine[row], 0)
                total += np.log((there or c) / (seated + c))
                tables[fine[row]] = there + 1
    n = len(u)
    C = np.eye(n)
    for labels, v in zip(tree, variances, strict=True):
        C += v * np.equal.outer(np.array(labels), np.array(labels))
    for column in u.T:
        total += stats.multivariate_normal(np.zeros(n), C).logpdf(column)
    return float(total)


def visits_z(where: str, moves, n_sweeps: int, engine=None, sampler: str = "gibbs") -> np.ndarray:
    """z of how often a chain is at each tree, its variances and concentrations being fixed."""
    setting, rng = SETTINGS[where].with_moves(*moves), rng_for(208)
    state, X = setting.prior_draw(np.random.default_rng(3))
    chain = setting.chain(state, X, sampler, rng, engine)
    chain.stop_learning()
    variances = chain.variances[:, 0]
    rates, n = chain.rates, len(X)
    u = chain.rows.family.whitened(slice(0, n))[0] - chain.forest.origin
    all_trees = trees(n, len(variances) - 1)
    log_w = np.array([log_weight(tree, u, variances, *rates) for tree in all_trees])
    p = np.exp(log_w - np.logaddexp.reduce(log_w))
    number = {tree: i for i, tree in enumerate(all_trees)}
    at = np.zeros((n_sweeps, len(p)))
    for sweep in range(n_sweeps):
        chain.sweep()
        groups = chain.state()
        columns = [*groups.paths.T, groups.components]
        at[sweep, number[tuple(numbered(c.tolist()) for c in columns[: len(variances)])]] = 1.0
    rare = p * n_sweeps < 30
    at = np.column_stack([at[:, ~rare], at[:, rare].sum(axis=1)])
    p = np.append(p[~rare], p[rare].sum())
    return z_of_chain(at, p, p * (1 - p))


@pytest.mark.parametrize(
    ("where", "n_sweeps"),
    [
        ("four", N_VISITS),
        ("gaussian four", N_VISITS),
        pytest.param("three", 40_000, marks=pytest.mark.exact_long),
        pytest.param("four", 40_000, marks=pytest.mark.exact_long),
        pytest.param("gaussian four", 40_000, marks=pytest.mark.exact_long),
    ],
)
def test_all_trees_are_visited_as_often_as_they_must(where, n_sweeps):
    for moves in [MOVES] if n_sweeps < 40_000 else [(), *((m,) for m in MOVES), MOVES]:
        z = visits_z(where, moves, n_sweeps)
        print(f"{where}, {moves}: |z| {np.abs(z).max():.1f} of {len(z)} states")
        assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
def test_a_wrong_split_shows_in_the_visits(monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    wrong = find("sides of an atom drawn with no probability").put_in(monkeypatch)
    z = visits_z("four", ("split",), 6_000, wrong)  # other moves would mend much of it
    print(f"|z| {np.abs(z).max():.1f} of {len(z)} states")
    assert np.abs(z).max() > Z_LIMIT


# ---- Variances ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "scale", "least", "most"),
    [
        (2.0, 1.0, 0.0, np.inf),
        (2.0, 60.0, 0.5, 1.0),
        (3.5, 2.0, 0.4, 0.9),
        (2.0, 0.1, 5.0, np.inf),
        (40.0, 3.0, 2.0, 9.0),
    ],
)
def test_inverse_gamma_between_bounds(shape, scale, least, most):
    law, rng = stats.invgamma(shape, scale=scale), rng_for(209)
    drawn = np.array([draw_inverse_gamma(shape, scale, least, most, rng) for _ in range(600)])
    tail = law.cdf if law.cdf(most) < 0.5 else law.sf  # that keeps its digits
    low, high = sorted((tail(least), tail(most)))
    assert stats.kstest((tail(drawn) - low) / (high - low), "uniform").pvalue > P_LIMIT
