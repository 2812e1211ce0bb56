"""Other units, and other zeros, change no group: scales come from the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bhmc import BHMC
from tests.properties.cases import FEW

NAMES = ["gaussian", "spherical_gaussian", "shared_gaussian", "full_gaussian", "shaped_gaussian"]
SETTINGS = {"n_warmup": 2, "n_draws": 3, "n_chains": 1, "random_state": 2, "estimate": "map"}


def table() -> np.ndarray:
    """32 rows of multiples of 1/64 in four groups: sums of them and of whole numbers are exact."""
    rng = np.random.default_rng(1)
    centres = rng.integers(-6, 7, (4, 2))[np.arange(32) % 4]
    return np.round(64 * (centres + 0.5 * rng.standard_normal((32, 2)))) / 64


def fitted(X, transition, likelihood):
    return BHMC(**SETTINGS, transition=transition, likelihood=likelihood).fit(X)


PAIRS = [
    *(("hdp", name) for name in NAMES[:4]),
    *(("diffused", name) for name in (*NAMES[1:3], "shaped_gaussian")),
]


@pytest.mark.parametrize(("transition", "likelihood"), PAIRS)
@given(power=st.integers(-20, 20), shift=st.integers(-40, 40))
@FEW
def test_shift_and_scale_change_no_group(transition, likelihood, power, shift):
    X = table()
    right = fitted(X, transition, likelihood)
    other = fitted((X + shift) * 2.0**power, transition, likelihood)
    np.testing.assert_array_equal(other.component_labels_, right.component_labels_)
    np.testing.assert_array_equal(other.paths_, right.paths_)
    bits = X.size * power * np.log(2.0)  # a density is per unit
    np.testing.assert_allclose(
        other.draws_.log_likelihood, right.draws_.log_likelihood - bits, rtol=1e-6
    )


@pytest.mark.parametrize(("transition", "likelihood"), PAIRS)
def test_a_scale_that_depends_on_the_row_is_another_table(transition, likelihood):
    X = table()
    right = fitted(X, transition, likelihood)
    other = fitted(X * np.linspace(0.2, 3.0, 32)[:, None], transition, likelihood)
    assert not np.array_equal(other.draws_.log_likelihood, right.draws_.log_likelihood)
