"""Every stage of every exact sampler leaves exact draws exact."""

import numpy as np
import pytest

from bhmc import sampling
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z


@pytest.mark.parametrize("n_components", [None, 3])
@pytest.mark.parametrize(
    ("sampler", "stage"),
    [
        ("gibbs", "redraw_data"),
        ("mh", "redraw_data"),
        ("gibbs", "redraw_weights"),
        ("gibbs", "redraw_theta"),
    ],
)
def test_stage_leaves_the_joint_law_alone(sampler, stage, n_components):
    setting = Setting(n_components, n=5, n_levels=2)
    z = paired_z(setting, sampler, stage, 2_000, rng_for(21))
    assert np.abs(z).max() < Z_LIMIT


def test_the_published_weights_do_not():
    """Its pass over the data hides its two errors: the broken root leaves almost no remainder."""
    setting = Setting(n=5, n_levels=2)
    z = paired_z(setting, "paper", "redraw_weights", 2_000, rng_for(22))
    assert np.abs(z).max() > Z_LIMIT


def test_the_published_pass_does_not_where_a_remainder_is_left(monkeypatch):
    """With the root left unbroken, the kept lone component and the missing +1 show."""
    monkeypatch.setattr(sampling, "PAPER_EPSILON", 2.0)
    setting = Setting(n=5, n_levels=2)
    z = paired_z(setting, "paper", "redraw_data", 2_000, rng_for(23))
    assert np.abs(z).max() > Z_LIMIT
