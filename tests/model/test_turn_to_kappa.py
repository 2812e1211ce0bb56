"""A chain that goes on under another kappa: its variances, and the law it has from then on."""

from dataclasses import replace

import numpy as np
import pytest

from tests.exact import alarm, discrete_trees
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.diffused import SETTINGS, DiffusedSetting
from tests.exact.invariance import paired_z

OTHER = 5.0


def chain_at(setting, seed):
    rng = rng_for(seed)
    return setting.chain(*setting.prior_draw(rng), "gibbs", rng)


@pytest.mark.parametrize("setting", [SETTINGS["diagonal"], discrete_trees.SETTINGS["mixed"]])
def test_steps_that_are_too_short_are_made_longer(setting):
    for seed in range(5):
        chain = chain_at(setting, seed)
        before, tree = chain.variances.copy(), chain.partition()
        chain.turn_to_kappa(1e-3)
        np.testing.assert_allclose(chain.variances, before, rtol=0.04)  # neighbours part by 1 %
        chain.turn_to_kappa(OTHER)
        assert (chain.variances[0] == before[0]).all()
        assert (chain.variances[1:] >= before[1:]).all()
        for _ in range(3):
            assert (np.diff(chain.variances[1:], axis=0) < 0).all()
            assert (chain.variances[-1] > OTHER).all()
            chain.redraw_tree()
            chain.redraw_variances()
        np.testing.assert_array_equal(chain.partition().component, tree.component)


class _Turned(DiffusedSetting):
    """Chains begin under another kappa, and turn to that of the exact draws, or to `kappa`."""

    kappa: float | None = None

    def chain(self, state, X, sampler, rng, engine=None):
        there = replace(self.transition, kappa=OTHER)
        begun = replace_transition(self, there)
        chain = DiffusedSetting.chain(begun, state, X, sampler, rng, engine)
        chain.turn_to_kappa(self.transition.kappa if self.kappa is None else self.kappa)
        return chain


class _TurnedTooFar(_Turned):
    kappa = 0.3


def replace_transition(setting, transition):
    """The same setting with another transition."""
    given = setting.likelihood, setting.n, setting.n_levels, setting.n_features, setting.holes
    return DiffusedSetting(transition, *given)


def turned(kind, name, moves):
    one = SETTINGS[name].with_moves(*moves)
    return kind(one.transition, one.likelihood, one.n, one.n_levels, one.n_features, one.holes)


CASES = [("redraw_tree", ("steps",)), ("redraw_variances", ())]


@pytest.mark.parametrize(("stage", "moves"), CASES)
def test_the_law_is_that_of_the_new_kappa(stage, moves):
    setting = turned(_Turned, "floor, deep", moves)
    assert np.abs(paired_z(setting, "gibbs", stage, 400, rng_for(231))).max() < Z_LIMIT


@pytest.mark.parametrize(("stage", "moves"), CASES)
def test_a_kappa_that_is_too_large_is_noticed(stage, moves, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    setting = turned(_TurnedTooFar, "floor, deep", moves)
    z = paired_z(setting, "gibbs", stage, 400, rng_for(231), until=Z_LIMIT)
    assert np.abs(z).max() > Z_LIMIT
