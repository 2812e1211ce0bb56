"""Small fits on a cluster: few rows that are taken for many, here and with every worker."""

import importlib
import logging
import os
import signal
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, WorkerPlugin

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
    ("bhmc.model.diffused.resolution", "_LEAST_SWEEPS"): 3,
    ("bhmc.model.diffused.resolution", "_MOST_SWEEPS"): 3,
    ("bhmc.posterior.outliers", "_MOST_DRAWS"): 3,
    ("bhmc.posterior.outliers", "_LEAST_DRAWS"): 3,
    ("bhmc.posterior.outliers", "_NEW_ROWS"): 120,
    ("bhmc.posterior.outliers", "_FEWEST_NEW_ROWS"): 120,
}
SETTINGS = {
    "likelihood": "shared_gaussian",
    "n_warmup": 8,
    "n_draws": 9,
    "n_chains": 1,
    "n_jobs": 1,
    "random_state": 3,
}


class ManyOfFew(WorkerPlugin):
    """A thousand rows are many with every worker, with those that come later, too."""

    name = "many-of-few"

    def setup(self, worker):
        """Called where a worker begins."""
        _make_many_of_few(setattr)


# Seconds that nannies have.
_PATIENCE = 20.0


def make_many_of_few(patch):
    """A thousand rows are many in this process."""
    _make_many_of_few(patch.setattr)


def _make_many_of_few(set_attribute):
    for name in BLOCKS:
        set_attribute(importlib.import_module(name), "ROWS_PER_BLOCK", ROWS_PER_BLOCK)
    for (module, name), value in SMALLER.items():
        set_attribute(importlib.import_module(module), name, value)


def local_cluster(n_workers, **settings):
    """A cluster of processes on this machine, one thread each."""
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        **settings,
    )


def client_of_cluster(cluster):
    """A client of it, whose workers have small blocks."""
    client = Client(cluster)
    client.register_plugin(ManyOfFew())
    return client


def chunked(X, height=130):
    """The rows as a Dask array, in chunks that do not end where blocks do."""
    return da.from_array(X, chunks=(height, -1))


def kill(client, n_workers=1):
    """End workers without a word to anybody."""
    for pid in list(client.run(os.getpid, on_error="ignore").values())[:n_workers]:
        os.kill(pid, signal.SIGKILL)


def wait_for_workers(client, n_workers, seconds=180):
    """Until so many workers are there; where a nanny brings none back, the cluster gets others."""
    end, patience = time.monotonic() + seconds, time.monotonic() + _PATIENCE
    while (missing := n_workers - len(client.nthreads())) > 0:
        assert time.monotonic() < end, "workers do not come"
        if client.cluster is not None and time.monotonic() > patience:
            client.cluster.scale(len(client.cluster.worker_spec) + missing)
            patience += _PATIENCE
        time.sleep(0.1)


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
