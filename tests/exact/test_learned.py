"""Learned concentrations and shared numbers: one kernel on exact draws, joint tests, mutants."""

import numpy as np
import pytest

import bhmc
from bhmc.likelihoods import AdaptiveGaussian, SharedGaussian
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussianFamily
from bhmc.likelihoods.shared_gaussian import SharedGaussianFamily
from tests.exact import alarm
from tests.exact.alarm import Z_LIMIT, rng_for, z_scores
from tests.exact.geweke import from_prior, from_sweeps
from tests.exact.invariance import paired_z, with_family
from tests.exact.learned import FAMILIES, PRIORS, Learned
from tests.mutants.mutants import build

FIXED = bhmc.Hyper(0.6, 1.2, 0.8)
N_DRAWS = 600
N_LONG = 20_000


@pytest.mark.parametrize(
    ("name", "n_components"),
    [
        ("gamma", None),
        ("beta and inverse gamma", None),
        ("gamma alone", None),
        ("uniform", 4),
        pytest.param("uniform", None, marks=pytest.mark.exact_long),
        pytest.param("gamma", 4, marks=pytest.mark.exact_long),
    ],
)
@pytest.mark.parametrize("n_draws", [N_DRAWS, pytest.param(N_LONG, marks=pytest.mark.exact_long)])
def test_concentrations(name, n_components, n_draws):
    """Every kind of prior; the finite form has another conditional of gamma0 alone."""
    setting = Learned(PRIORS[name], n_components=n_components)
    z = paired_z(setting, "gibbs", "redraw_weights", n_draws, rng_for(71))
    assert np.abs(z).max() < Z_LIMIT


def _families():
    """Each in one form, with or without missing entries; the other is left to `make exact`."""
    for name in FAMILIES:
        for holes, n_components in ((False, None), (True, 4)):
            is_short = holes == name.endswith("spherical")
            marks = () if is_short else pytest.mark.exact_long
            yield pytest.param(name, holes, n_components, marks=marks)


@pytest.mark.parametrize("stage", ["redraw_theta", "redraw_data"])
@pytest.mark.parametrize(("name", "holes", "n_components"), list(_families()))
def test_shared_numbers(name, holes, n_components, stage):
    setting = Learned(FIXED, FAMILIES[name], n_components, holes, n_features=2, n_levels=2)
    z = paired_z(setting, "gibbs", stage, N_DRAWS, rng_for(72))
    assert np.abs(z).max() < Z_LIMIT


def _all_together():
    """Concentrations, shared numbers and missing entries at once."""
    return Learned(PRIORS["gamma"], FAMILIES["shared diagonal"], holes=True, n_features=2)


def test_all_together():
    """A whole sweep; `AdaptiveGaussian` has the same test in `test_adaptive`."""
    z = paired_z(_all_together(), "gibbs", "sweep", N_DRAWS, rng_for(73))
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("sampler", ["gibbs", "mh"])
def test_all_together_long(sampler):
    """Geweke's test of the same."""
    z = z_scores(
        from_prior(_all_together(), N_LONG, rng_for(73)),
        from_sweeps(_all_together(), sampler, N_LONG, rng_for(74)),
    )
    assert np.abs(z).max() < Z_LIMIT


_TABLES_FIRST = """        rates = draw_concentrations(ws, rates, learning, rng)
"""
_WEIGHTS_LAST = """    draw_all_weights(ws, rates, rng)
    return rates
"""
WRONG_KERNELS = {
    "concentrations drawn after the weights": (
        (_TABLES_FIRST, ""),
        (
            _WEIGHTS_LAST,
            "    draw_all_weights(ws, rates, rng)\n"
            "    return draw_concentrations(ws, rates, learning, rng)\n",
        ),
    ),
    "a step in log x taken for one in x": (
        ("    value = y + log_density(prior, x)\n", "    value = log_density(prior, x)\n"),
    ),
    "tables of the root's children forgotten": (
        (
            "        if 0 <= ws.level[z] < ws.room[DEPTH]:\n",
            "        if 0 < ws.level[z] < ws.room[DEPTH]:\n",
        ),
    ),
    "leaves counted as inner nodes": (
        (
            "            if ws.level[z] < ws.room[DEPTH]:\n                total",
            "            if True:\n                total",
        ),
    ),
}


# Wrong versions must show in as many draws as the right ones are judged by, and no more.


def _wrong_kernels():
    """One takes more draws than the suite judges the true kernels by: in `make exact`."""
    for name in WRONG_KERNELS:
        is_long = name == "concentrations drawn after the weights"
        n_draws = 2_000 if is_long else N_DRAWS
        yield pytest.param(name, n_draws, marks=pytest.mark.exact_long if is_long else (), id=name)


@pytest.mark.parametrize(("name", "n_draws"), list(_wrong_kernels()))
def test_wrong_kernels_are_rejected(name, n_draws, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    engine = build(WRONG_KERNELS[name])
    setting = Learned(PRIORS["gamma"], n=5, n_levels=2)
    how = {"engine": engine, "until": Z_LIMIT}
    z = paired_z(setting, "gibbs", "redraw_weights", n_draws, rng_for(75), **how)
    print(f"{name}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT


class _NoiseOfOneDatumMore(SharedGaussianFamily):
    def draw_shared(self, theta, sums, rng):
        self._observed = self._observed + 1
        return super().draw_shared(theta, sums, rng)


class _MarginalWithoutSpread(SharedGaussianFamily):
    def log_new(self):
        self._w = self._w / 4
        return super().log_new()


class _MeansAroundTheLocation(AdaptiveGaussianFamily):
    def draw_theta(self, sums, rng):
        self._m0 = 0 * self._m0
        return super().draw_theta(sums, rng)


class _OneComponentMore(AdaptiveGaussianFamily):
    def draw_shared(self, theta, sums, rng):
        return super().draw_shared(np.vstack([theta, theta[:1]]), sums, rng)


@pytest.mark.parametrize(
    ("wrong", "stage"),
    [
        (_NoiseOfOneDatumMore, "redraw_theta"),
        (_MarginalWithoutSpread, "redraw_data"),
        (_MeansAroundTheLocation, "redraw_theta"),
        (_OneComponentMore, "redraw_theta"),
    ],
)
def test_wrong_families_are_rejected(wrong, stage, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    kind = SharedGaussian if issubclass(wrong, SharedGaussianFamily) else AdaptiveGaussian
    family = with_family(kind(location=0.3, scale=1.2), wrong)
    setting = Learned(FIXED, family, n=5, n_levels=2, n_features=2)
    z = paired_z(setting, "gibbs", stage, N_DRAWS, rng_for(76), until=Z_LIMIT)
    print(f"{wrong.__name__}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() > Z_LIMIT
