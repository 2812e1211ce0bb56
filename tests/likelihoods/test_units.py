"""What Gaussian families in units of the columns refuse, in words of their own."""

import numpy as np
import pytest

from bhmc.likelihoods import AdaptiveGaussian, FreeGaussian, SharedGaussian

KINDS = [AdaptiveGaussian, FreeGaussian, SharedGaussian]
X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"covariance": "tied"}, ValueError, "^covariance='tied' is not known; choose one of "),
        ({"scale": 0.0}, ValueError, r"^scale must be above 0, got 0\.$"),
        ({"scale": [1.0, -2.0]}, ValueError, r"^scale must be above 0, got -2\.$"),
        (
            {"scale": np.eye(2)},
            ValueError,
            r"^scale must be a number or hold one for each of the 2 features, got shape \(2, 2\)\.",
        ),
        (
            {"scale": [1.0, 2.0], "covariance": "spherical"},
            ValueError,
            r"^scale must be one number where covariance is 'spherical', got 1 and 2\.$",
        ),
        ({"scale": "wide"}, TypeError, "^scale must be made of real numbers, got 'wide'"),
        ({"scale": np.inf}, ValueError, r"^scale must be finite, got inf\.$"),
        ({"location": [1.0]}, ValueError, "^location must be a number or hold one for each of"),
    ],
)
def test_wrong_units_are_refused(kind, settings, error, words):
    with pytest.raises(error, match=words):
        kind(**settings).prepare(X)


@pytest.mark.parametrize("kind", KINDS)
def test_units_are_those_of_the_data(kind):
    holed = X.copy()
    holed[1, 0] = np.nan
    diagonal = kind.scaled_to(holed)
    np.testing.assert_allclose(diagonal.location, [2.0, 3.0])
    np.testing.assert_allclose(diagonal.scale, [2.0, np.sqrt(8 / 3)])
    spherical = kind.scaled_to(holed, covariance="spherical")
    assert isinstance(spherical, kind)
    assert spherical.scale == pytest.approx(np.sqrt((4 + 8 / 3) / 2))


@pytest.mark.parametrize("kind", [AdaptiveGaussian, SharedGaussian])
def test_nothing_is_sampled_before_the_shared_numbers_are_put_in(kind):
    rng = np.random.default_rng(0)
    words = f"^{kind.__name__} samples only once its shared numbers are known: call at"
    with pytest.raises(TypeError, match=words):
        kind().sample_theta(2, 2, rng)
    with pytest.raises(TypeError, match=words):
        kind().sample_data(np.zeros((2, 2)), rng)
    settled = kind().at(kind().sample_shared(2, rng))
    assert settled.sample_data(settled.sample_theta(3, 2, rng), rng).shape == (3, 2)
