"""The move "stretch" of logits leaves exact draws exact, and wrong versions of it do not."""

import numpy as np
import pytest

from bhmc.model.diffused import stretch
from bhmc.model.diffused.locations import steps_of
from bhmc.model.diffused.prior import StepPrior
from bhmc.model.diffused.setting import Diffused
from bhmc.model.state import Hyper
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.discrete_trees import BITS, SETTINGS, TreeSetting
from tests.exact.invariance import paired_z
from tests.mutants.mutants import build_plain

SAMPLER = "bhmc.model.diffused.sampler"


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

WRONG = {
    "rows forgotten": (("log_prior(value) + float(", "log_prior(value) + 0 * float("),),
    "another prior": (("return log_prior(value) +", "return 2 * log_prior(value) +"),),
    "theta left behind": (("    forest.theta[:k] += longer * of_atoms\n", ""),),
    "steps that grow as variances do": (
        ("longer = np.sqrt(drawn / now) - 1", "longer = drawn / now - 1"),
    ),
    "beyond its neighbours": (("if not least <= value <= most:", "if value <= 0:"),),
    "nodes below left behind": (
        ("of_nodes[below] = of_nodes[forest.parent[below]]", "of_nodes[below] = 0.0"),
    ),
}


@pytest.fixture(autouse=True)
def nothing_else_changes(monkeypatch):
    """Variances given the steps, which are drawn before the move, would hide its errors."""
    monkeypatch.setattr(StepPrior, "draw", lambda self, variances, *_: variances)


def worst(setting: TreeSetting, n_draws: int, seed: int) -> float:
    """The largest |z| of what eight such moves, one after the other, change in exact draws."""
    moving = setting.with_moves("stretch")
    z = paired_z(moving, "gibbs", "redraw_variances", n_draws, rng_for(seed), times=8)
    largest = float(np.abs(z).max())
    print(f"stretch: |z| {largest:.1f} at {n_draws} draws")
    return largest


@pytest.mark.parametrize("name", ["bits, holes", "codes, leaves", "mixed"])
def test_exact_draws_stay_exact(name):
    assert worst(SETTINGS[name], 400, 421) < Z_LIMIT


def test_exact_draws_stay_exact_where_rows_say_much():
    assert worst(MANY_ROWS, 600, 425) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("name", SETTINGS)
def test_exact_draws_stay_exact_long(name):
    assert worst(SETTINGS[name], 10_000, 422) < Z_LIMIT


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_version_is_noticed(wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    edited = build_plain(stretch, WRONG[wrong])
    monkeypatch.setattr(f"{SAMPLER}.stretch_steps", edited.stretch_steps)
    assert worst(MANY_ROWS, 600, 423) > Z_LIMIT


def test_steps_to_one_level_change_and_no_others():
    """Before and after a move, by the steps of the whole tree."""
    setting = SETTINGS["bits, holes"].with_moves("stretch")
    for seed in range(5):
        chain = setting.chain(*setting.prior_draw(rng_for(seed)), "gibbs", rng_for(424))
        before, levels = steps_of(chain.forest)
        variances = chain.variances[:, 0].copy()
        stretch.stretch_steps(chain)
        after, _ = steps_of(chain.forest)
        ratio = np.sqrt(chain.variances[:, 0] / variances)
        assert (ratio != 1).sum() == 1
        np.testing.assert_allclose(after, before * ratio[levels, None], rtol=1e-9, atol=1e-12)
