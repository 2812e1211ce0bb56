"""The same seed gives the same draws for any number of threads, processes and BLAS threads."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bhmc import BHMC
from bhmc._compiled.blas_threads import one_blas_thread

SETTINGS = {"n_levels": 2, "n_warmup": 1, "n_draws": 2, "random_state": 5}


def data() -> np.ndarray:
    """Several tiles of rows, wide enough for BLAS to want threads of its own."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(2_500, 40)) + 3.0 * rng.integers(0, 4, 2_500)[:, None]


def fingerprint(model: BHMC) -> str:
    """A hash of everything drawn, to the last bit."""
    parts = (
        *model.draws_.numbers().values(),
        model.paths_,
        model.component_labels_,
        model.tree_.theta,
    )
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in parts)).hexdigest()


@pytest.fixture(scope="module")
def alone() -> str:
    """What one thread draws."""
    return fingerprint(BHMC(n_chains=4, n_jobs=1, **SETTINGS).fit(data()))


@pytest.mark.parametrize(
    "n_jobs", [2, *(pytest.param(n, marks=pytest.mark.exact_long) for n in (4, -1))]
)
def test_chains_in_threads(alone, n_jobs):
    assert fingerprint(BHMC(n_chains=4, n_jobs=n_jobs, **SETTINGS).fit(data())) == alone


@pytest.mark.parametrize("n_jobs", [2])
def test_chains_in_processes(alone, n_jobs):
    with joblib.parallel_config("loky"):
        assert fingerprint(BHMC(n_chains=4, n_jobs=n_jobs, **SETTINGS).fit(data())) == alone


@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.exact_long), "4"])
def test_blas_threads(alone, threads):
    code = (
        "from tests.estimator.test_parallel import *\n"
        "print(fingerprint(BHMC(n_chains=4, n_jobs=2, **SETTINGS).fit(data())))"
    )
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, threads)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == alone


def small_fit(seed: int) -> str:
    """A short fit, for many of them at once."""
    settings = {**SETTINGS, "random_state": seed, "n_chains": 1}
    return fingerprint(BHMC(**settings).fit(data()[:300]))


@pytest.fixture(scope="module")
def one_by_one() -> list[str]:
    """What ten fits of different seeds have, one after the other."""
    found = [small_fit(seed) for seed in range(10)]
    assert len(set(found)) == len(found)
    return found


def test_ten_threads_that_fit_at_once(one_by_one):
    ready, found = threading.Barrier(10), [""] * 10

    def fit(seed):
        ready.wait(60)
        found[seed] = small_fit(seed)

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == one_by_one


@pytest.mark.parametrize(
    "how", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.exact_long)]
)
# Python warns of a fork where there are threads; kernels run on the thread that forks.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_of_every_kind(one_by_one, how):
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {how}")
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(small_fit, range(4), chunksize=1) == one_by_one[:4]


def test_another_seed_draws_otherwise(alone):
    """The fingerprint can differ."""
    settings = {**SETTINGS, "random_state": 6}
    assert fingerprint(BHMC(n_chains=4, **settings).fit(data())) != alone


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_is_limited_until_the_last_chain_is_out():
    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def other_chain():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=other_chain)
    with one_blas_thread():
        other.start()
        assert entered.wait(10)
        assert blas_threads() == {1}
    assert blas_threads() == {1}
    leave.set()
    other.join()
    assert blas_threads() == before
