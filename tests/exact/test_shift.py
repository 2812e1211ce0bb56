"""The move "shift" of logits leaves exact draws exact, and wrong versions of it do not."""

import numpy as np
import pytest

from bhmc.model.diffused.setting import Diffused
from bhmc.model.state import Hyper
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.discrete_trees import BITS, SETTINGS, TreeSetting
from tests.exact.invariance import worst_of_four
from tests.mutants.diffused_parts import plain


class WithLengths(TreeSetting):
    """Beside the usual statistics: how rows fit theta, and lengths of steps in units of v."""

    def statistics(self, state, X):
        theta, m = state.theta[state.components], state.params.locations[state.paths]
        log_f = X * theta - np.logaddexp(0, theta)
        steps = np.concatenate([np.diff(m, axis=1), (theta - m[:, -1])[:, None]], axis=1)
        lengths = steps**2 / state.params.variances[1:, 0][:, None]
        return np.concatenate(
            [
                super().statistics(state, X),
                log_f.mean(axis=0),
                np.tanh(lengths).mean(axis=(0, 2)),
                np.tanh(steps[:, 1:] * steps[:, :-1]).mean(axis=(0, 2)),
            ]
        )


# Rows that say more of theta than the prior does: few nodes, many rows.
MANY_ROWS = WithLengths(Diffused(Hyper(0.7, 1.0, 0.3), 0.3, ()), BITS, 40, 2, 2)

NEXT_LEVEL = "variance[forest.level[z] + 1, forest.column[d]]\n        law"
WRONG = {
    "rows of 0 forgotten": (("counts[1, k, d] * (max", "counts[0, k, d] * (max"),),
    "the step forgotten": (("-0.5 * (step + shift) ** 2 / v", "-0.5 * shift**2 / v"),),
    "nodes below left behind": (("            if inside[y]:\n", "            if y == z:\n"),),
    "theta left behind": (
        ("forest.theta[member[i], d] += shift", "forest.theta[member[i], d] += 0"),
    ),
    "the variance of the next level": (
        ("variance[forest.level[z], forest.column[d]]\n        law", NEXT_LEVEL),
    ),
}


@pytest.fixture(autouse=True)
def nothing_else_changes(monkeypatch):
    """Draws of m and theta given their evidence, which come before the move, would hide errors."""
    monkeypatch.setattr("bhmc.model.diffused.sampler.redraw_tree", lambda chain, moves: None)


def worst(setting: TreeSetting, n_draws: int, seed: int, **engine) -> float:
    return worst_of_four(setting.with_moves("shift"), "redraw_tree", n_draws, seed, **engine)


@pytest.mark.parametrize("name", ["bits, holes", "codes, leaves", "mixed"])
def test_exact_draws_stay_exact(name):
    assert worst(SETTINGS[name], 250, 421) < Z_LIMIT


def test_exact_draws_stay_exact_where_rows_say_much():
    assert worst(MANY_ROWS, 400, 425) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", SETTINGS)
def test_exact_draws_stay_exact_long(name):
    assert worst(SETTINGS[name], 10_000, 422) < Z_LIMIT


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_version_is_noticed(wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    assert worst(MANY_ROWS, 200, 423, engine=plain(WRONG[wrong]), until=Z_LIMIT) > Z_LIMIT


def test_the_density_of_a_shift_is_that_of_rows_and_step():
    """By the log density of the whole state, before and after."""
    setting, rng = MANY_ROWS, rng_for(424)
    state, X = setting.prior_draw(rng)
    chain = setting.chain(state, X, "gibbs", rng)
    forest, d = chain.forest, 1
    counts = np.stack(chain.family.logit_counts(chain.sums()))
    member, inside = np.empty(counts.shape[1], dtype=np.int64), np.empty(forest.used[0], bool)
    kernels = plain()
    for z in range(1, int(forest.used[0])):
        n = kernels.find_below(forest, z, member, inside)
        step = forest.location[z, d] - forest.location[forest.parent[z], d]
        law = step, forest.variance[forest.level[z], forest.column[d]]
        given = forest.theta, counts, member, n, d, law
        before = chain.log_likelihood() + chain.log_prior()
        at = [kernels.log_density_of_shift(*given, shift) for shift in (0.7, 0.0)]
        forest.location[: len(inside)][inside, d] += 0.7
        forest.theta[member[:n], d] += 0.7
        np.testing.assert_allclose(
            chain.log_likelihood() + chain.log_prior() - before, at[0] - at[1], rtol=1e-9, atol=1e-9
        )
