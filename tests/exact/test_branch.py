"""The move "branch" has the model's density and leaves exact draws exact; wrong versions do not."""

import math

import numpy as np
import pytest

from bhmc.model.diffused.row_numbers import row_numbers, split_room
from bhmc.model.diffused.setting import Diffused
from bhmc.model.state import Hyper
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.diffused import DIAGONAL, DiffusedSetting
from tests.exact.diffused import SETTINGS as GAUSSIAN
from tests.exact.discrete_trees import SETTINGS as DISCRETE
from tests.exact.invariance import worst_of_four
from tests.mutants.diffused_parts import plain

SETTINGS = GAUSSIAN | DISCRETE
DEEP = GAUSSIAN["clear, deep"]


def log_normal(x, mean, variance) -> float:
    return float((-0.5 * ((x - mean) ** 2 / variance + np.log(2 * np.pi * variance))).sum())


def log_places(forest, numbers, rows, k, top) -> float:
    """log density of theta_k and of all nodes between it and `top`, given m_top and its rows.

    From the laws of the model, one coordinate after the other having the same variance: theta given
    its rows, then each node given the one above and theta.
    """
    v = forest.variance[:, 0]
    level, path, z = forest.level[top], [], forest.leaf[k]
    while z != top:
        path.insert(0, z)
        z = forest.parent[z]
    m, theta, below = forest.location[top], forest.theta[k], v[level + 1 :].sum()
    precision = len(rows) + 1 / below
    found = log_normal(
        theta, (numbers.value[rows].sum(axis=0) + m / below) / precision, 1 / precision
    )
    for y in path:
        own, below = v[forest.level[y]], v[forest.level[y] + 1 :].sum()
        precision = 1 / own + 1 / below
        found += log_normal(
            forest.location[y], (m / own + theta / below) / precision, 1 / precision
        )
        m = forest.location[y]
    return found


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_ratio_is_that_of_the_joint_density(level):
    """By the log density of the whole state before and after, less that of what was drawn."""
    rng, kernels, seen = rng_for(430 + level), plain(), 0
    while seen < 5:
        state, X = DEEP.prior_draw(rng)
        chain = DEEP.chain(state, X, "gibbs", rng)
        chain.tidy(n_nodes=40, n_atoms=20)
        forest, component = chain.forest, chain.rows.component
        first = int(np.bincount(component).argmax())
        if forest.count[first] < 3:
            continue
        seen += 1
        numbers, room = row_numbers(chain.family, slice(0, len(component))), split_room(len(X), 20)
        kernels.list_rows(room, component)
        kernels.set_rates(forest, *chain.rates)
        n, z = kernels.add_members(room, first, 0), forest.leaf[first]
        room.side[:n] = np.arange(n) % 2
        top = kernels.ancestor_at(forest, z, level)
        ratio = kernels.log_ratio_of_branch(forest, numbers, room, n, first, first, top)
        before = chain.log_likelihood() + chain.log_prior()
        before -= log_places(forest, numbers, np.flatnonzero(component == first), first, z)
        kernels.open_branch(forest, numbers, room, component, n, first, top, rng)
        second, both = int(forest.used[1]) - 1, (first, int(forest.used[1]) - 1)
        kept = [np.flatnonzero(component == k) for k in both]
        after = -log_places(forest, numbers, kept[0], first, z)
        after -= log_places(forest, numbers, kept[1], second, top)
        chain.forget_sums()
        after += chain.log_likelihood() + chain.log_prior()
        assert after - before == pytest.approx(ratio - math.log(forest.depth), rel=1e-9)


# What is wrong: the code and what it becomes.
WRONG = {
    "the place of the branch forgotten": (
        ("gain += log_of_place(numbers, d, other, other_seen, m)", "pass"),
    ),
    "the steps down the branch forgotten": (
        (
            "m, v = forest.location[top, d], variance_below(forest, top, d)\n        gain",
            "m, v = forest.location[top, d], forest.variance[-1, forest.column[d]]\n        gain",
        ),
    ),
    "the draw of the level not counted": ((" + prior + math.log(depth)", " + prior"),),
    "nodes that are passed not counted": (
        ("there += log_joining(forest, forest.rows[z], block)", "pass"),
    ),
    "a branch with other atoms taken back": (
        (" if forest.rows[child] == forest.count[second] else np.int64(-1)", ""),
    ),
    "nodes of the branch drawn without theta": (
        ("m += (theta - m) * step / (step + w) + ", "m += "),
    ),
    "new nodes of the branch not counted": (
        ("return log_new_below(forest, top, depth,", "return log_new_below(forest, top, 0,"),
    ),
}

# These take more draws; the density of the whole state, above, notices both.
SUBTLE = ("the steps down the branch forgotten", "new nodes of the branch not counted")

# Atoms of several rows, and nodes of several levels that hold one of them.
SEVERAL = DiffusedSetting(Diffused(Hyper(1.2, 1.0, 0.5), 0.3, ()), DIAGONAL, 12, 3, 1)


def worst(setting: DiffusedSetting, n_draws: int, seed: int, **engine) -> float:
    return worst_of_four(setting.with_moves("branch"), "redraw_atoms", n_draws, seed, **engine)


def test_exact_draws_stay_exact_where_much_is_accepted():
    assert worst(SEVERAL, 500, 434) < Z_LIMIT


@pytest.mark.parametrize("name", ["clear, deep", "gaussian four", "tails", "mixed", "bits, holes"])
def test_exact_draws_stay_exact(name):
    assert worst(SETTINGS[name], 250, 431) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", SETTINGS)
def test_exact_draws_stay_exact_long(name):
    assert worst(SETTINGS[name], 4_000, 432) < Z_LIMIT


@pytest.mark.parametrize(
    "wrong",
    [
        one if one not in SUBTLE else pytest.param(one, marks=pytest.mark.exact_long)
        for one in WRONG
    ],
)
def test_a_wrong_version_is_noticed(wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    n_draws = 1_200 if wrong in SUBTLE else 200
    assert worst(SEVERAL, n_draws, 433, engine=plain(WRONG[wrong]), until=Z_LIMIT) > Z_LIMIT
