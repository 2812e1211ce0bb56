"""Joint tests of every sampler in both forms; the published algorithm must fail them."""

import numpy as np
import pytest

import bhmc
from tests.exact.alarm import Z_LIMIT, rng_for, z_scores
from tests.exact.geweke import STATISTICS, Setting, from_prior, from_sweeps
from tests.mutants.mutants import build, find

FORMS = {"infinite": None, "finite": 4}
EXACT = [("gibbs", "infinite"), ("mh", "infinite"), ("gibbs", "finite"), ("mh", "finite")]
SHORT, LONG = 2_000, 40_000
# Mutants run uncompiled, and those here show in a fraction of the draws.
N_MUTANT = 1_000
LONG_SEEDS = (11, 12, 13)
# How far the published algorithm is off at 40,000 draws; fewer draws see a smaller z.
PAPER_Z_LONG, PAPER_Z_SHORT = 10.0, 5.0


@pytest.fixture(scope="module")
def prior_draws():
    """Statistics of independent prior draws, simulated once per form and length."""
    known = {}

    def get(form: str, n_draws: int) -> np.ndarray:
        if (form, n_draws) not in known:
            known[form, n_draws] = from_prior(Setting(FORMS[form]), n_draws, rng_for(1))
        return known[form, n_draws]

    return get


def test_there_are_enough_statistics():
    assert len(STATISTICS) >= 15


# Proposals (mh) are left to `make exact`: `test_invariance` and `test_visits` judge them.
@pytest.mark.parametrize(("sampler", "form"), [one for one in EXACT if one[0] == "gibbs"])
def test_exact_samplers_pass(sampler, form, prior_draws):
    chain = from_sweeps(Setting(FORMS[form]), sampler, SHORT, rng_for(2))
    z = z_scores(prior_draws(form, SHORT), chain)
    assert np.abs(z).max() < Z_LIMIT, _table(z)


def test_the_published_sampler_fails(prior_draws):
    chain = from_sweeps(Setting(), "paper", SHORT, rng_for(3))
    z = z_scores(prior_draws("infinite", SHORT), chain)
    assert np.abs(z).max() > PAPER_Z_SHORT, _table(z)


@pytest.mark.parametrize(
    "name",
    [
        "raw counts in inner weights",
        pytest.param("a Hastings term that does not cancel", marks=pytest.mark.exact_long),
    ],
)
def test_mutants_fail(name, prior_draws):
    mutant = find(name)
    engine = build(mutant.edits)
    chain = from_sweeps(Setting(), mutant.sampler, N_MUTANT, rng_for(5), engine=engine)
    z = z_scores(prior_draws("infinite", SHORT), chain)
    assert np.abs(z).max() > Z_LIMIT, _table(z)


def test_the_published_sampler_has_no_finite_form():
    setting = Setting(FORMS["finite"])
    state, X = setting.prior_draw(rng_for(4))
    with pytest.raises(ValueError, match="infinite form only"):
        bhmc.sweep(
            state,
            X,
            hyper=setting.hyper,
            likelihood=setting.likelihood,
            sampler="paper",
            rng=rng_for(4),
        )


@pytest.mark.exact_long
@pytest.mark.parametrize(("sampler", "form"), EXACT)
def test_exact_samplers_pass_long(sampler, form, prior_draws):
    scores = _long_scores(sampler, form, prior_draws)
    assert np.abs(scores).max() < Z_LIMIT


@pytest.mark.exact_long
def test_the_published_sampler_fails_long(prior_draws):
    scores = _long_scores("paper", "infinite", prior_draws)
    assert (np.abs(scores).max(axis=1) > PAPER_Z_LONG).all()


def _long_scores(sampler, form, prior_draws) -> np.ndarray:
    """(seeds, statistics) z scores at 40,000 draws, printed as a table."""
    prior = prior_draws(form, LONG)
    scores = np.array(
        [
            z_scores(prior, from_sweeps(Setting(FORMS[form]), sampler, LONG, rng_for(seed)))
            for seed in LONG_SEEDS
        ]
    )
    print(f"\n{sampler}, {form} form, {LONG} draws: z for each seed, and the largest")
    largest = np.take_along_axis(scores, np.abs(scores).argmax(axis=0)[None], axis=0)
    print(f"{_table(*scores, *largest)}\nlargest |z| {np.abs(scores).max():.1f}")
    return scores


def _table(*scores: np.ndarray) -> str:
    """One line per statistic, a column for each row of scores."""
    rows = zip(STATISTICS, np.transpose(scores), strict=True)
    return "\n".join(f"{name:<46}" + " ".join(f"{z:7.1f}" for z in row) for name, row in rows)
