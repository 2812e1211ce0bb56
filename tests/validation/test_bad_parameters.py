"""Bad parameters: one clear sentence that names the parameter, before any work."""

import numpy as np
import pytest

import bhmc
from bhmc._validation.parameters import check_covariance
from bhmc.likelihoods import Gaussian
from tests.validation.tools import (
    FINITE_STATE,
    GOOD,
    HYPER,
    ON_DATA,
    STATE,
    fit,
    log_joint,
    no_work,
    refused,
    sample_prior,
    sweep,
)

__all__ = ["no_work"]  # a fixture of every test here


ON_HYPER = [
    lambda **hyper: fit(**hyper),
    lambda **hyper: sweep(hyper=HYPER._replace(**hyper)),
    lambda **hyper: log_joint(hyper=HYPER._replace(**hyper)),
    lambda **hyper: sample_prior(hyper=HYPER._replace(**hyper)),
]


HYPER_IDS = ["fit", "sweep", "log_joint", "sample_prior"]


@pytest.mark.parametrize("entry", ON_HYPER, ids=HYPER_IDS)
@pytest.mark.parametrize("name", ["alpha", "gamma0", "gamma"])
def test_concentrations(entry, name):
    for value in (0, 0.0, -0.5, -3, np.nan, np.inf, -np.inf, np.float32(-1)):
        refused(entry(**{name: value}), ValueError, f"{name} must be", f"got {value!r}")
    for value in ("1", None, True, np.True_, [1.0], np.array(1.0), np.array([1.0, 2.0]), 1j):
        refused(entry(**{name: value}), TypeError, f"{name} must be", f"got {value!r}")


@pytest.mark.parametrize("entry", ON_HYPER, ids=HYPER_IDS)
def test_number_of_components(entry):
    name = "fixed_components" if entry is ON_HYPER[0] else "n_components"
    for value in (0, -2):
        refused(entry(**{name: value}), ValueError, name, f"got {value!r}")
    for value in (2.0, "3", True, np.nan):
        refused(entry(**{name: value}), TypeError, name, f"got {value!r}")


LEAST = {"n_levels": 1, "n_warmup": 0, "n_draws": 1, "thin": 1, "n_chains": 1}


@pytest.mark.parametrize("name", LEAST)
def test_counts_of_the_estimator(name):
    least = LEAST[name]
    for value in (least - 1, -5):
        refused(fit(**{name: value}), ValueError, name, f"at least {least}", f"got {value!r}")
    for value in (1.0, 2.5, np.nan, np.inf, "3", None, True, [2], np.array([2])):
        refused(fit(**{name: value}), TypeError, name, f"at least {least}", f"got {value!r}")


@pytest.mark.parametrize("name", ["n", "n_levels", "n_features"])
def test_counts_of_the_prior(name):
    for value in (0, -1):
        refused(sample_prior(**{name: value}), ValueError, f"{name} must be", f"got {value!r}")
    for value in (1.0, "3", None, True):
        refused(sample_prior(**{name: value}), TypeError, f"{name} must be", f"got {value!r}")


def test_number_of_components_of_the_prior():
    refused(sample_prior(n_components=0), ValueError, "n_components", "got 0")
    refused(sample_prior(n_components=2.0), TypeError, "n_components", "got 2.0")
    finite = HYPER._replace(n_components=3)
    refused(
        sample_prior(hyper=finite, n_components=4),
        ValueError,
        "n_components=4",
        "hyper.n_components=3",
    )


def test_jobs():
    refused(fit(n_jobs=0), ValueError, "n_jobs must not be 0")
    for value in (1.5, "two", True, [1]):
        refused(fit(n_jobs=value), TypeError, "n_jobs must be a whole number", f"got {value!r}")


def test_seeds():
    refused(fit(random_state=-1), ValueError, "random_state", "got -1")
    for value in ("0", 1.5, True, [1, 2], np.nan):
        refused(fit(random_state=value), TypeError, "random_state must be", f"got {value!r}")


@pytest.mark.parametrize("entry", [sweep, sample_prior])
@pytest.mark.parametrize("rng", [0, None, np.random, np.random.RandomState(0)], ids=str)
def test_wrong_rng(entry, rng):
    refused(entry(rng=rng), TypeError, "rng must be a numpy.random.Generator", "default_rng")


def test_wrong_rng_of_sample_data():
    refused(
        lambda: bhmc.sample_data(STATE, likelihood="gaussian", rng=0),
        TypeError,
        "rng must be a numpy.random.Generator",
        "got 0",
    )


@pytest.mark.parametrize("entry", [sweep, log_joint, sample_prior])
def test_hyper_of_another_type(entry):
    for value in ((1.0, 1.0, 1.0), None, {"alpha": 1.0}):
        refused(entry(hyper=value), TypeError, "hyper must be a bhmc.Hyper", type(value).__name__)


@pytest.mark.parametrize("entry", [fit, sweep])
def test_unknown_sampler(entry):
    for value in ("Gibbs", "", None, 3, ["gibbs"], np.array(["gibbs", "mh"])):
        refused(entry(sampler=value), ValueError, f"sampler={value!r} is not known", "'gibbs'")


def test_the_published_sampler_has_no_finite_form():
    refused(fit(sampler="paper", fixed_components=3), ValueError, "sampler='paper'", "components")
    for hyper in (HYPER, FINITE_STATE.hyper):  # without n_components the state's own form counts
        entry = sweep(GOOD, FINITE_STATE, sampler="paper", hyper=hyper)
        refused(entry, ValueError, "sampler='paper'", "components")


@pytest.mark.parametrize("entry", [*ON_DATA, sample_prior])
def test_unknown_likelihood(entry):
    refused(entry(likelihood="normal"), ValueError, "likelihood='normal'", "gaussian,")
    for value in (None, 3, ["gaussian"], object):
        refused(entry(likelihood=value), TypeError, "likelihood must be", f"got {value!r}")


@pytest.mark.parametrize("entry", [*ON_DATA, sample_prior])
def test_the_class_of_a_likelihood_is_not_one(entry):
    refused(entry(likelihood=Gaussian), TypeError, "likelihood must be", "Gaussian")


ON_LIKELIHOOD = [*ON_DATA, sample_prior]


NOT_POSITIVE_DEFINITE = [
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 1.0], [1.0, 1.0]],
    [[1.0, 1 - 1e-17], [1 - 1e-17, 1.0]],
    [[1.0, 1e3], [1e3, 1e6]],
]


@pytest.mark.parametrize("entry", ON_LIKELIHOOD)
@pytest.mark.parametrize("name", ["sigma2", "sigma0"])
class TestCovariance:
    def refused(self, entry, name, value, *rest):
        refused(entry(likelihood=Gaussian(**{name: value})), *rest)

    def test_not_above_zero(self, entry, name):
        for value, shown in ((0, "0"), (-1.5, "-1.5"), ([1.0, -2.0], "-2"), (np.zeros(2), "0")):
            self.refused(entry, name, value, ValueError, f"{name} must be above 0, got {shown}.")
        for value in ([[-1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2))):
            self.refused(entry, name, value, ValueError, f"{name} must have a diagonal above 0")

    def test_not_finite(self, entry, name):
        for value in (np.nan, np.inf, [1.0, np.nan], [[1.0, np.inf], [np.inf, 1.0]]):
            shown = "nan" if np.isnan(value).any() else "inf"
            self.refused(entry, name, value, ValueError, f"{name} must be finite, got {shown}.")

    def test_not_numbers(self, entry, name):
        for value in ("1.0", None, True, 1j, ["a", "b"], [1.0, None], [[1.0, 2.0], [3.0]]):
            rest = (TypeError, f"{name} must be made of real numbers", f"got {value!r}")
            self.refused(entry, name, value, *rest)

    def test_wrong_shape(self, entry, name):
        for value in ([1.0, 1.0, 1.0], [], np.eye(3), np.ones((2, 1)), np.ones((2, 2, 2))):
            shape = str(np.shape(value))
            self.refused(entry, name, value, ValueError, f"{name} must be", "2", f"shape {shape}")

    def test_not_symmetric(self, entry, name):
        value = [[1.0, 0.5], [0.4, 1.0]]
        rest = (ValueError, f"{name} must be a symmetric matrix", "0.5 at [0, 1]", "0.4 at [1, 0]")
        self.refused(entry, name, value, *rest)

    def test_not_positive_definite(self, entry, name):
        for value in NOT_POSITIVE_DEFINITE:
            self.refused(entry, name, value, ValueError, f"{name} must be a positive definite")


def test_rank_deficient_matrices_are_never_taken():
    """Cholesky would let some of these through, by rounding."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        half = rng.normal(size=(4, 3)) * 10.0 ** rng.uniform(-6, 6, size=(4, 1))
        with pytest.raises(ValueError, match="positive definite"):
            check_covariance(half @ half.T, 4, "sigma2")


def test_sound_matrices_are_taken():
    rng = np.random.default_rng(0)
    for _ in range(200):
        half = rng.normal(size=(4, 8)) * 10.0 ** rng.uniform(-6, 6, size=(4, 1))
        covariance = half @ half.T
        np.testing.assert_array_equal(check_covariance(covariance, 4, "sigma2"), covariance)
    # Rounding noise where a zero should be is not asymmetry.
    check_covariance([[1.0, 1e-17], [-2e-17, 1.0]], 2, "sigma2")


@pytest.mark.parametrize("entry", ON_LIKELIHOOD)
def test_mu0(entry):
    for value in ([1.0, 2.0, 3.0], [], np.zeros((2, 2)), np.zeros((1, 2))):
        shape = str(np.shape(value))
        refused(entry(likelihood=Gaussian(mu0=value)), ValueError, "mu0 must be", f"shape {shape}")
    for value in (np.nan, [0.0, -np.inf]):
        refused(entry(likelihood=Gaussian(mu0=value)), ValueError, "mu0 must be finite")
    for value in ("0", None, True, 1j):
        refused(entry(likelihood=Gaussian(mu0=value)), TypeError, "mu0 must be made of real")
