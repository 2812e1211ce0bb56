"""Wrong likelihood families are rejected too: the joint law sees theta and f*."""

import numpy as np
import pytest

from bhmc.likelihoods import Gaussian
from bhmc.likelihoods.gaussian import GaussianFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z

SETTING = {"n": 5, "n_levels": 2, "sigma2": 0.3}


class _MarginalForgetsThePrior(GaussianFamily):
    def log_marginal(self):
        return self._log_scale - 0.5 * (self._y**2).sum(axis=1)


class _NewThetaFromThePrior(GaussianFamily):
    def draw_one_theta(self, rows, rng):
        return super().draw_one_theta([], rng)


class _OneDatumTooMany(GaussianFamily):
    def _draw(self, sizes, sums, rng):
        return super()._draw(sizes + 1, sums, rng)


class _TableWithTwiceTheVariance(GaussianFamily):
    def log_table(self, theta):
        return 0.5 * super().log_table(theta)


@pytest.mark.parametrize(
    ("family", "stage"),
    [
        (_MarginalForgetsThePrior, "redraw_data"),
        (_NewThetaFromThePrior, "redraw_data"),
        (_OneDatumTooMany, "redraw_theta"),
        (_TableWithTwiceTheVariance, "redraw_data"),
    ],
)
def test_wrong_family_is_rejected(family, stage):
    assert _largest_z(family, stage) > Z_LIMIT


@pytest.mark.parametrize("stage", ["redraw_data", "redraw_theta"])
def test_true_family_is_accepted(stage):
    assert _largest_z(GaussianFamily, stage) < Z_LIMIT


def _largest_z(family, stage) -> float:
    class Wrong(Gaussian):
        def prepare(self, X):
            return family(self, X)

    setting = Setting(**SETTING)
    setting.likelihood = Wrong(**vars(setting.likelihood))
    z = paired_z(setting, "gibbs", stage, 3_000, rng_for(61))
    return float(np.abs(z).max())
