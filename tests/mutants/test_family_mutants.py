"""Wrong likelihood families are rejected too: the joint law sees theta and f*.

The setting is that of `tests/exact/test_invariance.py`, where the true family is accepted.
"""

import numpy as np
import pytest

from bhmc.likelihoods.gaussian import GaussianFamily
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z, with_family


class _MarginalForgetsThePrior(GaussianFamily):
    def log_new(self):
        mu0 = self._centre + self._axes.leave(self._normals.mean[None, :])
        return self.log_table(mu0)[:, 0] - self.log_base()


class _NewThetaFromThePrior(GaussianFamily):
    def draw_theta(self, sums, rng):
        """Where the data are redrawn, theta is drawn for founders only."""
        return super().draw_theta(np.zeros_like(sums), rng)


class _OneDatumTooMany(GaussianFamily):
    def draw_theta(self, sums, rng):
        one = np.zeros(self.n_statistics)
        one[-1] = 1
        return super().draw_theta(sums + one, rng)


class _TableWithTwiceTheVariance(GaussianFamily):
    def fill(self, rows, statistics, natural, out):
        super().fill(rows, statistics, natural, out)
        base = self.log_base()[rows, None]
        out[:] = 0.5 * (out + base) - base


class _MarginalForgetsTheBase(GaussianFamily):
    def log_new(self):
        return super().log_new() + self.log_base()


@pytest.mark.parametrize(
    ("family", "stage", "n_draws"),
    [
        # More draws than the suite judges the true family by.
        pytest.param(_MarginalForgetsThePrior, "redraw_data", 3_000, marks=pytest.mark.exact_long),
        (_NewThetaFromThePrior, "redraw_data", 800),
        (_OneDatumTooMany, "redraw_theta", 800),
        (_TableWithTwiceTheVariance, "redraw_data", 800),
        (_MarginalForgetsTheBase, "redraw_data", 800),
    ],
)
def test_wrong_family_is_rejected(family, stage, n_draws):
    z = _largest_z(family, stage, n_draws)
    print(f"{family.__name__}: |z| {z:.1f}")
    assert z > Z_LIMIT


def _largest_z(family, stage, n_draws) -> float:
    setting = Setting(n=5, n_levels=2, sigma2=0.3)
    setting.likelihood = with_family(setting.likelihood, family)
    z = paired_z(setting, "gibbs", stage, n_draws, rng_for(61), until=Z_LIMIT)
    return float(np.abs(z).max())
