"""`describe_prior` tells the truth: closed forms, the forward simulator, and alarms that ring."""

import numpy as np
import pytest
from scipy.special import gammaln

import bhmc
from bhmc.model import describe_prior as _describe
from bhmc.model.describe_prior import _numbers_of, describe_prior, expected_tables
from bhmc.model.hdp import start
from bhmc.priors import LEARN_BY, Gamma
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

N_DRAWS = 500


def expected_nodes(n: int, alpha: float, n_levels: int) -> np.ndarray:
    """Nodes at levels 1, ..., L: the sum over sizes k of E[tables of k guests] T(k) below them."""

    def tables_of_size(guests):
        k = np.arange(1, guests + 1)
        log = gammaln(guests + 1) + gammaln(guests - k + alpha)
        return alpha / k * np.exp(log - gammaln(guests - k + 1) - gammaln(guests + alpha))

    below, expected = np.ones(n), []
    for _ in range(n_levels):
        below = np.array([tables_of_size(m) @ below[:m] for m in range(1, n + 1)])
        expected.append(below[-1])
    return np.array(expected)


def largest_z_of_levels() -> float:
    prior = describe_prior(40, alpha=0.7, n_samples=N_DRAWS, random_state=rng_for(301))
    lines = [prior[f"nodes at level {level}"] for level in (2, 3)]
    means, errors = np.array([(line.mean, line.error) for line in lines]).T
    return float(np.abs(z_of(means - expected_nodes(40, 0.7, 3)[1:], errors)).max())


def test_levels_against_the_closed_form():
    assert largest_z_of_levels() < Z_LIMIT


def test_a_wrong_tree_is_noticed(monkeypatch):
    right = start._stick_choices
    monkeypatch.setattr(start, "_stick_choices", lambda n, a, rng: right(n, 1.3 * a, rng))
    assert largest_z_of_levels() > Z_LIMIT


def test_the_first_level_is_exact():
    prior = describe_prior(40, n_levels=1, alpha=0.7, n_samples=2)
    line = prior["nodes at level 1"]
    assert line.exact
    assert line.error == 0
    np.testing.assert_allclose(line.mean, expected_nodes(40, 0.7, 1)[0])
    learned = describe_prior(40, n_levels=1, n_samples=50, random_state=0)["nodes at level 1"]
    assert not learned.exact
    assert learned.error > 0


def largest_z_against_the_simulator(hyper: bhmc.Hyper) -> float:
    """Every line of the table against states of `sample_prior`, which shares no code with it."""
    rng = rng_for(302)
    prior = describe_prior(
        9,
        n_levels=2,
        alpha=hyper.alpha,
        gamma0=hyper.gamma0,
        gamma=hyper.gamma,
        fixed_components=hyper.n_components,
        n_samples=N_DRAWS,
        random_state=rng,
    )
    theirs = []
    for _ in range(N_DRAWS):
        state, _ = bhmc.sample_prior(9, n_levels=2, hyper=hyper, likelihood="gaussian", rng=rng)
        components = np.unique(state.components, return_inverse=True)[1]
        theirs.append(list(_numbers_of(state.paths, components).values()))
    theirs = np.array(theirs)
    means, errors = np.array([(line.mean, line.error) for line in prior.lines]).T
    error = np.hypot(errors, theirs.std(axis=0, ddof=1) / np.sqrt(N_DRAWS))
    return float(np.abs(z_of(means - theirs.mean(axis=0), error)).max())


SETTINGS = {
    "infinite": bhmc.Hyper(0.8, 2.0, 1.5),
    "finite": bhmc.Hyper(0.8, 2.0, 1.5, 3),
    "learned": bhmc.Hyper(Gamma(2, 2), Gamma(2, 1), Gamma(2, 2)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_law_of_the_forward_simulator(name):
    assert largest_z_against_the_simulator(SETTINGS[name]) < Z_LIMIT


def _twice_gamma(monkeypatch):
    right = start._seat
    monkeypatch.setattr(start, "_seat", lambda nodes, gamma, rng: right(nodes, 2 * gamma, rng))


def _tables_not_passed_up(monkeypatch):
    """Data themselves, not their tables, go to the parent: the error of the published sampler."""

    def seat(nodes, gamma, rng):
        return np.arange(len(nodes)), nodes

    monkeypatch.setattr(start, "_seat", seat)


def _priors_at_their_means(monkeypatch):
    def at_means(hyper, rng):
        return hyper._replace(**{k: p.shape / p.rate for k, p in hyper.priors.items()})

    monkeypatch.setattr(_describe, "sample_hyper", at_means)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("infinite", _twice_gamma),
        ("finite", _tables_not_passed_up),
        ("learned", _priors_at_their_means),
    ],
)
def test_a_wrong_prior_is_noticed(monkeypatch, name, broken):
    broken(monkeypatch)
    assert largest_z_against_the_simulator(SETTINGS[name]) > Z_LIMIT


def test_learn_means_what_it_means_in_the_estimator():
    given = describe_prior(30, n_samples=20, random_state=1)
    spelled = describe_prior(30, n_samples=20, random_state=1, **LEARN_BY["exact"])
    assert given.lines == spelled.lines


def test_table_and_frame():
    prior = describe_prior(2_000, n_levels=2, alpha=0.5, n_samples=10, random_state=0)
    text = repr(prior)
    assert text.splitlines()[0] == "The prior for 2,000 data, from 10 trees drawn from it"
    row = next(line for line in text.splitlines() if "nodes at level 1" in line)
    assert f"{expected_tables(2_000, 0.5):.3g}" in row
    assert "exact" in row
    frame = prior.to_frame()
    assert list(frame.index) == [line.what for line in prior.lines]
    assert frame.loc["components", "mean"] == prior["components"].mean
    with pytest.raises(KeyError, match="'nodes at level 1'"):
        prior["nodes"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"n_levels": 0}, "n_levels must be at least 1"),
        ({"alpha": -1.0}, "alpha must be finite and above 0"),
        ({"gamma": "much"}, "gamma must be a number above 0"),
        ({"fixed_components": 0}, "fixed_components must be at least 1"),
        ({"n_samples": 1}, "n_samples must be at least 2"),
    ],
)
def test_bad_settings(settings, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        describe_prior(**{"n": 5, **settings})
