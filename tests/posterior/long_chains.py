"""Chains long enough to be judged."""

import functools

import numpy as np
from scipy.signal import lfilter

from bhmc.posterior.rhat_ess import ess_bulk, ess_tail, mcse_mean, rhat
from tests.posterior.draws_factory import make_draws, with_numbers


def autoregression(strength, shape, seed):
    """AR(1) chains (chain, draw, ...) in equilibrium, each number standard normal."""
    rng = np.random.default_rng(seed)
    n_chains, n_draws, *rest = shape
    noise = rng.normal(size=(n_chains, n_draws + 500, *rest)) * np.sqrt(1 - strength**2)
    return lfilter([1], [1, -strength], noise, axis=1)[:, 500:]


@functools.cache
def _base(n_chains):
    return make_draws(n_chains=n_chains, n_draws=300)


def long_draws(n_chains=2, **replaced):
    """300 independent draws of each chain, with some arrays put in place of others."""
    return with_numbers(_base(n_chains), **replaced)


def row_of(found, name):
    """One number's entries in the table."""
    i = list(found.table["name"]).index(name)
    return {column: values[i] for column, values in found.table.items()}


def figures(values):
    """R-hat, effective sample sizes and the error of the mean."""
    return [float(measure(values)) for measure in (rhat, ess_bulk, ess_tail, mcse_mean)]
