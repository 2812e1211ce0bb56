"""Every stage of every exact sampler leaves exact draws exact."""

import numpy as np
import pytest

from bhmc.model.hdp import published
from tests.exact.alarm import Z_LIMIT, rng_for
from tests.exact.geweke import Setting
from tests.exact.invariance import paired_z


@pytest.mark.parametrize("n_draws", [800, pytest.param(10_000, marks=pytest.mark.exact_long)])
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
def test_stage_leaves_the_joint_law_alone(sampler, stage, n_components, n_draws):
    setting = Setting(n_components, n=5, n_levels=2, sigma2=0.3)
    z = paired_z(setting, sampler, stage, n_draws, rng_for(21))
    assert np.abs(z).max() < Z_LIMIT


def test_the_published_weights_do_not():
    """Raw counts in the weights of inner nodes: the error that does most of the harm."""
    assert _published_z("redraw_weights") > Z_LIMIT


def test_the_published_pass_hides_its_errors():
    """The root is broken until 0.001 is left, so a component is rarely born: nothing shows."""
    assert _published_z("redraw_data") < Z_LIMIT


def test_the_published_pass_shows_them_where_a_remainder_is_left(monkeypatch):
    """With the root left unbroken, the kept lone component and the missing +1 show."""
    monkeypatch.setattr(published, "EPSILON", 2.0)
    assert _published_z("redraw_data") > Z_LIMIT


def _published_z(stage) -> float:
    z = paired_z(Setting(n=5, n_levels=2), "paper", stage, 1_000, rng_for(22))
    largest = float(np.abs(z).max())
    print(f"published {stage}, epsilon {published.EPSILON}: largest |z| {largest:.1f}")
    return largest
