"""The alarm itself: it rings where it must, and only there."""

import numpy as np
import pytest

from tests.exact import alarm


@pytest.fixture(autouse=True)
def _not_counted(monkeypatch):
    """These checks are not checks of the samplers."""
    monkeypatch.setattr(alarm, "checks_made", 0)


def test_a_certain_difference_is_infinitely_significant():
    z = alarm.z_scores(np.full((2, 2), 0.05), np.tile([0.0, 0.05], (1_000, 1)))
    assert z[0] == -np.inf
    assert z[1] == 0


def test_z_of_correlated_draws_is_standard():
    """Means of 200 autoregressive chains: their z have variance near 1, and notice a shift."""
    rng = alarm.rng_for(81)
    noise = rng.standard_normal((20_000, 200))
    chain = np.empty_like(noise)
    chain[0] = noise[0]
    for t in range(1, len(noise)):
        chain[t] = 0.8 * chain[t - 1] + noise[t]
    z = alarm.z_scores(np.zeros((2, 200)), chain)
    assert 0.7 < z.std() < 1.4
    assert np.abs(z).max() < alarm.T_LIMIT
    assert (alarm.z_scores(np.zeros((2, 200)), chain + 1) > alarm.Z_LIMIT).all()


def test_chi_square_p_is_uniform_and_notices_a_missing_state():
    rng = alarm.rng_for(82)
    probabilities = rng.dirichlet(np.full(300, 0.5))
    values = [
        alarm.chi_square_p(rng.multinomial(3_000, probabilities).astype(float), probabilities)
        for _ in range(400)
    ]
    assert 0.42 < np.mean(values) < 0.58
    without = probabilities.copy()
    without[without.argmax()] = 0
    visits = rng.multinomial(20_000, without / without.sum()).astype(float)
    assert alarm.chi_square_p(visits, probabilities) < alarm.P_LIMIT


def test_too_many_checks_are_noticed():
    assert not alarm.over(alarm.SUITE_CHECKS)
    assert alarm.over(alarm.SUITE_CHECKS + 1)
