"""`AdaptiveGaussian`, the default: what its components share, concentrations and holes, at once.

One kernel on exact draws: mu0 moves slowly, and a short chain would take a slow drift for an error.
"""

import numpy as np
import pytest

from bhmc.likelihoods import AdaptiveGaussian, adaptive_gaussian
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussianFamily
from tests.exact import alarm
from tests.exact.alarm import N_BATCHES, T_LIMIT, Z_LIMIT, rng_for, z_of, z_scores
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import paired_z
from tests.exact.learned import PRIORS, Learned
from tests.mutants.mutants import build_plain

COVARIANCES = ("diagonal", "spherical")
LIKELIHOODS = {
    covariance: AdaptiveGaussian(covariance, location=[0.3, -0.2], scale=1.2)
    for covariance in COVARIANCES
}
N_DRAWS, N_SHARED = 500, 1_000


# ---- Whole sweeps ----


def setting(covariance, n_components=None):
    """Two columns, entries missing, concentrations learned."""
    likelihood = LIKELIHOODS[covariance]
    return Learned(
        PRIORS["gamma"], likelihood, n_components, holes=True, n_features=2, n=5, n_levels=2
    )


@pytest.mark.parametrize(("covariance", "sampler"), [("diagonal", "gibbs"), ("spherical", "mh")])
def test_one_sweep_leaves_the_joint_law_alone(covariance, sampler):
    z = paired_z(setting(covariance), sampler, "sweep", N_DRAWS, rng_for(101))
    print(f"AdaptiveGaussian {covariance}, {sampler}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("n_components", [None, 3])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_joint_law_long(covariance, n_components):
    """Geweke's test; a chain starts from the prior for every batch: batches are independent."""
    own, rng, n_draws = setting(covariance, n_components), rng_for(104), 40_000
    prior = from_prior(own, n_draws, rng)
    batches = [from_sweeps(own, "gibbs", n_draws // N_BATCHES, rng) for _ in range(N_BATCHES)]
    z = z_scores(prior, np.concatenate(batches))
    print(f"AdaptiveGaussian {covariance}, K {n_components}: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < T_LIMIT


# ---- The shared numbers given theta ----


def shared_z(covariance, family, n_components, seed) -> np.ndarray:
    """z of what `draw_shared` changes in exact draws of (shared numbers, theta)."""
    likelihood, rng = LIKELIHOODS[covariance], rng_for(seed)
    bound = family(likelihood, np.zeros((1, 2)))
    sums = np.zeros((n_components, bound.n_statistics))
    changes = []
    for _ in range(N_SHARED):
        shared = likelihood.sample_shared(2, rng)
        theta = likelihood.at(shared).sample_theta(n_components, 2, rng)
        new = bound.at(shared).draw_shared(theta, sums, rng)
        changes.append(statistics(new, theta) - statistics(shared, theta))
    changes = np.array(changes)
    return z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(N_SHARED))


def statistics(shared, theta) -> np.ndarray:
    """The shared numbers, their squares, and both joined with means and variances of theta."""
    numbers = np.concatenate([np.tanh(shared[:2]), np.log(shared[2:])])
    log_v = theta[:, 2:]
    apart = np.tanh((theta[:, :2] - shared[:2]) / np.exp(log_v / 2))
    of_theta = np.array([log_v.mean(), np.tanh(theta[:, :2]).mean()])
    return np.concatenate(
        [
            numbers,
            numbers**2,
            np.outer(of_theta, numbers).ravel(),
            apart.mean(axis=0),
            (apart**2).mean(axis=0),
            (apart**2).mean() * numbers[2:],
        ]
    )


@pytest.mark.parametrize("n_components", [1, 4])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_shared_numbers_given_theta(covariance, n_components):
    z = shared_z(covariance, AdaptiveGaussianFamily, n_components, 103)
    print(f"{covariance}, {n_components} components: largest |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


WRONG = {
    "mu0 without its prior": (("precision = 1 + (", "precision = 1e-9 + ("),),
    "mu0 as if all variances were 1": (
        ("m0 = (self._strength * inverse * m)", "m0 = (self._strength * m)"),
    ),
    "strength of twice the components": (("_STRENGTH[0] + count / 2,", "_STRENGTH[0] + count,"),),
    "typical as if shape were 1": (
        ("_TYPICAL[0] + len(theta) * self._shape,", "_TYPICAL[0] + len(theta),"),
    ),
    "typical without its prior": (("_TYPICAL[1] + self._shape * total", "self._shape * total"),),
    "shape without the power of its prior": ((" + (_SHAPE[0] - 1) * math.log(shape)", ""),),
    "shape: a step in log x taken for one in x": (
        (
            "slice_draw(log_density, self._shape, rng)",
            "slice_draw(lambda s: log_density(s) - math.log(s), self._shape, rng)",
        ),
    ),
}
WRONG_SPHERICAL = {
    "mu0 of twice the strength": (
        (
            "precision = 1 + (self._strength * inverse)",
            "precision = 1 + (2 * self._strength * inverse)",
        ),
    ),
    "strength of one column": (
        ("count = len(theta) * self._d / self._each", "count = len(theta)"),
    ),
}


@pytest.mark.parametrize(
    ("name", "covariance"),
    [(name, "diagonal") for name in WRONG] + [(name, "spherical") for name in WRONG_SPHERICAL],
)
def test_wrong_conditionals_are_rejected(name, covariance, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    edits = {**WRONG, **WRONG_SPHERICAL}[name]
    family = build_plain(adaptive_gaussian, edits).AdaptiveGaussianFamily
    z = shared_z(covariance, family, 4, 102)
    print(f"{name}, {covariance}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT
