"""Fits that are killed: what a child process does, and a server that makes such processes at once.

A new Python takes seconds to load compiled code. So a process that has loaded it and has no threads
makes a copy of itself for every fit.
"""

import hashlib
import multiprocessing
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from studies.same_draws import data

import bhmc
from bhmc import BHMC
from bhmc._estimator import chain_run
from bhmc._estimator.bhmc import fit_listening
from bhmc._io.atomic_write import write_atomically

_BAGS = "multinomial"


class Case(NamedTuple):
    """What is sampled, and how."""

    transition: str
    sampler: str
    family: str

    def model(self, **settings) -> BHMC:
        """The estimator."""
        return BHMC(
            n_levels=2,
            transition=self.transition,
            sampler=self.sampler,
            likelihood=data.FAMILIES[self.family],
            init="kmeans",
            n_warmup=5,
            n_draws=20,
            n_chains=2,
            random_state=3,
            **settings,
        )


_FAMILIES = ("gaussian-scalar", "shared", "bernoulli", "categorical")

_DIFFUSE = [(t, s) for t in ("diffused", "gaussian") for s in ("gibbs", "blocked")]

CASES = [
    *(Case("hdp", s, f) for s in ("gibbs", "mh", "paper", "blocked") for f in (*_FAMILIES, _BAGS)),
    *(Case(*both, f) for both in _DIFFUSE for f in _FAMILIES),
]
"""Every sampler of every transition with a fixed and a learned Gaussian, bits and categories."""


class Files(NamedTuple):
    """What a child reads and writes, in a folder of its own."""

    folder: Path

    @property
    def checkpoint(self) -> Path:
        """The beginning of the names of the chains' files."""
        return self.folder / "chains"

    @property
    def begun(self) -> Path:
        """It is there once the fit has begun."""
        return self.folder / "begun"

    @property
    def ended(self) -> Path:
        """The digest of all that was drawn."""
        return self.folder / "ended"


def fit(case: Case, files: Files, interval: float, sleep: float = 0.0) -> None:
    """Fit, and write a digest of every draw to the last bit.

    Parameters
    ----------
    case : Case
        What is sampled.
    files : Files
        Chains are there, if the fit resumes.
    interval : float
        Seconds from one save to the next; the usual limit to the share of time holds from 1 s on.
    sleep : float
        Seconds that every sweep takes longer.
    """
    if interval < 1:
        chain_run._SHARE_OF_CHECKPOINTS = np.inf
    model = case.model(checkpoint=files.checkpoint, checkpoint_interval=interval)
    files.begun.touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none may be damaged, and all can be written
        warnings.simplefilter("ignore", bhmc.posterior.advice.NotConvergedWarning)
        fit_listening(model, data.rows_of(case.family), [lambda *_: time.sleep(sleep)])
    write_atomically(files.ended, digest_of(model))


def digest_of(model: BHMC) -> str:
    """SHA-256 of the draws and of the tree."""
    found = hashlib.sha256()
    draws = model.draws_
    arrays = [*draws.numbers().values(), draws.paths, model.paths_, model.tree_.theta]
    arrays += [one.component for one in draws.partitions]
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def context() -> multiprocessing.context.BaseContext:
    """What starts processes that have this module and compiled code already."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["tests.estimator.kill_loaded"])
    return server
