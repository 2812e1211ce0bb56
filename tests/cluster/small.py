"""Small fits on a cluster: few rows that are taken for many, here and with every worker."""

import importlib

import numpy as np
from distributed import WorkerPlugin

from bhmc import BHMC

# Modules that know how many rows a block has, and what small tests make of the numbers of others.
ROWS_PER_BLOCK = 64
BLOCKS = (
    "bhmc.rows.part",
    "bhmc.rows.local",
    "bhmc.rows.dask",
    "bhmc.likelihoods._learned_means",
    "bhmc.likelihoods.shaped_gaussian",
)
SMALLER = {
    ("bhmc._estimator.rows_elsewhere", "ROWS_FOR_A_SAMPLE"): 500,
    ("bhmc._estimator.rows_of_fit", "ROWS_FOR_A_SAMPLE"): 500,
    ("bhmc._estimator.sizes", "ROWS_FOR_A_SAMPLE"): 500,
    ("bhmc._estimator.sizes", "_MANY_ROWS"): 500,
    ("bhmc._estimator.rows_of_fit", "PILOT_ROWS"): 2_000,
    ("bhmc._estimator.running", "PILOT_ROWS"): 2_000,
    ("bhmc._sampling.sample_start", "_FIRST_SAMPLE"): 150,
    ("bhmc._sampling.sample_start", "_ROWS_A_COMPONENT"): 10,
    ("bhmc._sampling.sample_start", "_SETTLING"): 5,
    ("bhmc._sampling.sample_start", "_SWEEPS"): 5,
}
SETTINGS = {
    "likelihood": "shared_gaussian",
    "n_warmup": 5,
    "n_draws": 20,
    "n_chains": 1,
    "n_jobs": 1,
    "random_state": 3,
}


class SmallBlocks(WorkerPlugin):
    """Blocks of rows are small with every worker, with those that come later, too."""

    name = "small-blocks"

    def setup(self, worker):
        """Called where a worker begins."""
        make_blocks_small(setattr)


def make_blocks_small(set_attribute):
    """Blocks of `ROWS_PER_BLOCK` rows in this process."""
    for name in BLOCKS:
        set_attribute(importlib.import_module(name), "ROWS_PER_BLOCK", ROWS_PER_BLOCK)


def make_many_of_few(patch):
    """A thousand rows are many in this process."""
    make_blocks_small(patch.setattr)
    for (module, name), value in SMALLER.items():
        patch.setattr(importlib.import_module(module), name, value)


def table(n=1_000, d=3, seed=0):
    """Rows of six groups."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 8, (6, d))[rng.integers(6, size=n)] + rng.standard_normal((n, d))


def fitted(X, **settings):
    """A short fit."""
    return BHMC(**{**SETTINGS, **settings}).fit(X)


def assert_same_draws(one, other):
    """Every number of every draw, and the place of every row that both have noted."""
    ours, theirs = one.draws_, other.draws_
    np.testing.assert_array_equal(ours.log_joint, theirs.log_joint)
    for a, b in zip(ours.partitions, theirs.partitions, strict=True):
        np.testing.assert_array_equal(a.component, b.component)
        np.testing.assert_array_equal(a.leaf, b.leaf)
    np.testing.assert_array_equal(one.labels_, other.labels_)
