"""Whether the truth is anywhere among the draws of a posterior: simulation-based calibration.

    python -m studies.rank_calibration [--tables 500] [--only diffused] [--seed 0] [--jobs 2]

A table is simulated from the prior and fitted by a chain that begins elsewhere (k-means). Of every
number that does not depend on labels the truth's rank among the draws is noted: over many tables
ranks are uniform if the prior, the likelihood, the sampler and the length of the warm-up are right
(Talts, Betancourt, Simpson, Vehtari and Gelman 2018). Ties are broken at random. A chi-squared test
over ten bins judges each number; the least probability that passes is that of the exact tests, so
that some 330 numbers of 13 models fail together by chance in about two runs of a thousand.
"""

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

import bhmc
from bhmc._sampling.run import run
from bhmc._sampling.start import start_state
from bhmc.likelihoods import Bernoulli, Categorical, Gaussian, ShapedGaussian, SharedGaussian
from bhmc.model.registry import transition_named, with_moves
from bhmc.posterior.recorder import Recorder, collect_numbers
from bhmc.posterior.retention import Plan
from bhmc.priors import Gamma
from bhmc.rows.local import LocalRows

N_DRAWS, N_BINS = 49, 10

# As in `tests/exact/alarm.py`: two tails of a normal beyond 4.5.
LEAST_P = 2 * stats.norm.sf(4.5)

_FIXED = bhmc.Hyper(0.8, 1.2, 1.3)
_LEARNED = bhmc.Hyper(Gamma(4, 5), Gamma(5, 4), Gamma(4, 3))
_KNOWN = Gaussian(sigma2=0.7, mu0=0.3, sigma0=3.0)
_SPHERICAL = SharedGaussian("spherical", location=0.2, noise_shape=4.0, noise_scale=0.5)
_DIAGONAL = SharedGaussian("diagonal", location=0.2, noise_shape=4.0, noise_scale=0.5)
_TIED = SharedGaussian("full", location=0.2, noise_scale=0.5)
_SHAPED = ShapedGaussian([[1.0, 0.6], [0.6, 0.9]], 0.2, noise_shape=4.0, noise_scale=0.5)


class Setting(NamedTuple):
    """A model, and how its posterior is sampled."""

    transition: str
    likelihood: Any
    hyper: bhmc.Hyper = _LEARNED
    sampler: str = "gibbs"
    n_rows: int = 8
    n_columns: int = 2
    n_levels: int = 2
    n_warmup: int = 100
    thin: int = 6
    moves: Any = "auto"


SETTINGS = {
    "hdp": Setting("hdp", _KNOWN),
    "hdp, learned noise": Setting("hdp", _DIAGONAL),
    "hdp, mh": Setting("hdp", _KNOWN, _FIXED, sampler="mh"),
    "hdp, bits": Setting("hdp", Bernoulli(0.8, 1.1), n_columns=4),
    "diffused": Setting("diffused", _KNOWN),
    "diffused, learned noise": Setting("diffused", _SPHERICAL),
    "diffused, covariance": Setting("diffused", _TIED),
    "diffused, shaped": Setting("diffused", _SHAPED, _FIXED),
    "diffused, blocked": Setting("diffused", _DIAGONAL, sampler="blocked", thin=12),
    "diffused, bits": Setting("diffused", Bernoulli(), n_columns=4),
    "diffused, categories": Setting("diffused", Categorical(n_categories=3), n_columns=3),
    "gaussian": Setting("gaussian", _KNOWN),
    "gaussian, learned noise": Setting("gaussian", _DIAGONAL, _FIXED, n_levels=3),
}


class Truth(NamedTuple):
    """A simulated table, and what made it."""

    state: bhmc.State
    X: NDArray[np.float64]


def transition_of(setting: Setting) -> Any:
    """The transition, bound to its concentrations.

    Parameters
    ----------
    setting : Setting
        One of `SETTINGS`.
    """
    bound = transition_named(setting.transition).bind(setting.hyper, setting.sampler)
    return with_moves(bound, setting.moves)


def simulated(setting: Setting, rng: np.random.Generator) -> Truth:
    """A table from the prior.

    Parameters
    ----------
    setting : Setting
        One of `SETTINGS`.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    n, d = setting.n_rows, setting.n_columns
    given = {"n_levels": setting.n_levels, "likelihood": setting.likelihood}
    return Truth(*transition_of(setting).simulate(n, **given, n_features=d, rng=rng))


def numbers_of_truth(setting: Setting, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    """Every number of the truth, as of a draw.

    Parameters
    ----------
    setting : Setting
        What made the table.
    truth : Truth
        The table.
    rng : numpy.random.Generator
        Of the chain that holds the truth; it makes no sweep.
    """
    rows = LocalRows(setting.likelihood.prepare(truth.X))
    chain = transition_of(setting).sampler(truth.state, rows, setting.sampler, rng)
    recorder = Recorder(Plan(state_step=0, partition_step=0, best=False))
    recorder.on_draw(chain)
    return {name: one[0] for name, one in collect_numbers([recorder]).numbers().items()}


def numbers_of_draws(setting: Setting, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    """Every number of the draws of a chain that begins at k-means.

    Parameters
    ----------
    setting : Setting
        How the posterior is sampled: a wrong one has other ranks.
    truth : Truth
        The table; its state is not looked at.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    rows, transition = LocalRows(setting.likelihood.prepare(truth.X)), transition_of(setting)
    n_levels = setting.n_levels
    state = start_state(transition, rows, n_levels=n_levels, rng=rng, init="kmeans")
    chain = transition.sampler(state, rows, setting.sampler, rng)
    recorder = Recorder(Plan(state_step=0, partition_step=0, best=False))
    given = {"n_warmup": setting.n_warmup, "n_draws": N_DRAWS, "thin": setting.thin}
    run(chain, **given, on_draw=recorder.on_draw)
    return {name: one[0] for name, one in collect_numbers([recorder]).numbers().items()}


def ranks_of(
    made_by: Setting, fitted_by: Setting, seed: np.random.SeedSequence
) -> dict[str, float]:
    """The rank of the truth among the draws, 0 to N_DRAWS, for every number of one table.

    Parameters
    ----------
    made_by, fitted_by : Setting
        Equal where the posterior is to be right.
    seed : numpy.random.SeedSequence
        Of this table.
    """
    rng = np.random.default_rng(seed)
    truth = simulated(made_by, rng)
    true = numbers_of_truth(fitted_by, truth, rng)
    draws = numbers_of_draws(fitted_by, truth, rng)
    found = {}
    for name, value in true.items():
        values, at = draws[name].astype(float), float(value[0])
        below, same = int((values < at).sum()), int((values == at).sum())
        found[name] = below + int(rng.integers(same + 1))
    return found


def probabilities(ranks: dict[str, NDArray[np.int64]]) -> dict[str, float]:
    """The probability of such ranks or less even ones, for every number, if they are uniform.

    Parameters
    ----------
    ranks : dict of (tables,) arrays
        The ranks of every number.
    """
    found = {}
    for name, own in ranks.items():
        counts = np.bincount(own * N_BINS // (N_DRAWS + 1), minlength=N_BINS)
        found[name] = float(stats.chisquare(counts).pvalue)
    return found


def all_ranks(
    made_by: Setting, n_tables: int, seed: int, jobs: int = 1, fitted_by: Setting | None = None
) -> dict[str, NDArray[np.int64]]:
    """The ranks of many tables.

    Parameters
    ----------
    made_by : Setting
        What makes the tables.
    n_tables : int
        How many.
    seed : int
        Of all of them.
    jobs : int, default=1
        Processes.
    fitted_by : Setting, optional
        What fits them; by default what made them.
    """
    seeds = np.random.SeedSequence(seed).spawn(n_tables)
    work = (delayed(ranks_of)(made_by, fitted_by or made_by, one) for one in seeds)
    each: Any = list(Parallel(n_jobs=jobs)(work))
    return {name: np.array([one[name] for one in each]) for name in each[0]}


def _wanted(only: str) -> list[str]:
    return [only] if only in SETTINGS else [name for name in SETTINGS if only in name]


def main() -> int:
    """Print a line for every setting; 1 if the ranks of one are not uniform."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--only", default="", help="a setting, or a part of its name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.tables} tables each; p below {LEAST_P:.1e} is not chance")
    print(f"{'':26}numbers  least p  of                       mean rank (0 to 1)")
    is_right = True
    for name in _wanted(given.only):
        ranks = all_ranks(SETTINGS[name], given.tables, given.seed, given.jobs)
        found = probabilities(ranks)
        worst = min(found, key=lambda one: found[one])
        means = [own.mean() / N_DRAWS for own in ranks.values()]
        print(
            f"{name:26}{len(found):7}  {found[worst]:7.4f}  {worst:24} "
            f"{min(means):.3f} to {max(means):.3f}",
            flush=True,
        )
        is_right &= found[worst] >= LEAST_P
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
