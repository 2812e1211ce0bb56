"""Rows with two worker processes: the draws are those of all rows in memory, however they lie."""

import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, worker_client
from sklearn.base import clone

from bhmc import BHMC
from bhmc._estimator.bhmc import fit_listening
from bhmc.rows.dask_parts import BETWEEN_LOOKS
from tests.cluster.small import SETTINGS, assert_same_draws, chunked, fitted, kill, table

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(scope="module")
def far(client):
    """The fit of rows with workers."""
    return fitted(chunked(table()))


def test_draws_are_those_of_rows_in_memory(far, in_memory):
    assert_same_draws(in_memory, far)


def test_other_rows_have_other_draws(in_memory):
    """The test above can fail."""
    other = fitted(chunked(table(seed=1)))
    assert not np.array_equal(in_memory.draws_.log_joint, other.draws_.log_joint)


def test_the_fit_holds_no_client(far, tmp_path):
    """It is cloned, pickled and saved as any other."""
    again = pickle.loads(pickle.dumps(far))
    far.save(tmp_path / "model.bhmc")
    for one in (again, BHMC.load(tmp_path / "model.bhmc")):
        np.testing.assert_array_equal(one.labels_, far.labels_)
    assert clone(far).get_params() == far.get_params()
    assert b"distributed" not in pickle.dumps(far)


def test_workers_keep_nothing_of_a_fit_that_has_ended(far, client):
    held = client.run(lambda dask_worker: len(dask_worker.state.actors))
    assert set(held.values()) == {0}


def with_empty_partition(X):
    """A frame whose second partition has no row."""
    frame = pd.DataFrame(X, columns=list("abc"))
    parts = [frame[:400], frame[:0], frame[400:]]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame[:0])


LONG = pytest.mark.cluster_long
KINDS = ("float32", "bool")
LAYOUTS = {
    "one chunk": lambda X: chunked(X, len(X)),
    "columns in chunks": lambda X: da.from_array(X, chunks=(170, 2)),
    "unknown sizes": lambda X: da.from_array(X, chunks=(300, -1))[da.from_array(X[:, 0] < np.inf)],
    "kept by workers": lambda X: chunked(X).persist(),
    "a frame with an empty partition": with_empty_partition,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_change_no_draw(layout, in_memory):
    X = LAYOUTS[layout](table())
    shape = X.shape
    assert_same_draws(in_memory, fitted(X))
    assert str(X.shape) == str(shape)  # the user's own collection is as it was


@pytest.mark.parametrize(
    "kind",
    ["int64", *(pytest.param(k, marks=pytest.mark.cluster_long) for k in ("float32", "bool"))],
)
def test_other_numbers_are_read_as_in_memory(kind, many_of_few):
    X = (table() > 0 if kind == "bool" else table()).astype(kind)
    settings = {"likelihood": "bernoulli"} if kind == "bool" else {}
    assert_same_draws(fitted(X, **settings), fitted(chunked(X), **settings))


def test_missing_numbers_are_skipped_as_in_memory(many_of_few):
    X = table()
    X[::7, 1] = np.nan
    assert_same_draws(fitted(X), fitted(chunked(X)))


def test_two_chains_at_once(many_of_few):
    settings = {"n_chains": 2}
    assert_same_draws(fitted(table(), **settings), fitted(chunked(table()), n_jobs=2, **settings))


def test_another_client_is_there(client, in_memory):
    """Rows that workers keep are asked of the client that had them kept, not of the last one."""
    X = chunked(table()).persist()
    with Client(processes=False, n_workers=1, dashboard_address=":0"):
        assert_same_draws(in_memory, fitted(X))


def test_a_client_that_is_current_in_a_block(client, in_memory):
    with Client(processes=False, n_workers=1, dashboard_address=":0"), client.as_current():
        assert_same_draws(in_memory, fitted(chunked(table())))


def fit_there(rows, settings):
    """A fit in a task of a worker, which has one thread."""
    with worker_client():
        return fit_there_without_a_word(rows, settings)


def fit_there_without_a_word(rows, settings):
    """The same by someone who does not know that the task holds the only thread."""
    return BHMC(**settings).fit(rows()).draws_.log_joint


@pytest.mark.parametrize("task", [fit_there, pytest.param(fit_there_without_a_word, marks=LONG)])
def test_a_fit_within_a_task(task, client, in_memory):
    """The rows are loaded by workers, one of which makes the fit."""
    found = client.submit(task, lambda: chunked(table()), SETTINGS, pure=False)
    np.testing.assert_array_equal(found.result(timeout=60), in_memory.draws_.log_joint)


def test_a_killed_worker_changes_no_draw(client, cluster, in_memory):
    """The other one takes all rows at the next sweep; the one that comes back, later."""
    killed = []

    def hear(number, chain, made):
        if made == 7 and not killed:
            killed.append(kill(client))
        return False

    model = fit_listening(BHMC(**SETTINGS), chunked(table()), [hear])
    assert killed
    assert_same_draws(in_memory, model)
    client.wait_for_workers(2, timeout=60)


def test_a_slow_worker_only_delays(client, in_memory):
    """Others look twice whether it is there before it answers."""
    pid = next(iter(client.run(os.getpid).values()))

    def wake():
        time.sleep(2.5 * BETWEEN_LOOKS)
        os.kill(pid, signal.SIGCONT)

    def hear(number, chain, made):
        if made == 5:
            os.kill(pid, signal.SIGSTOP)
            pool.submit(wake)
        return False

    with ThreadPoolExecutor(1) as pool:
        model = fit_listening(BHMC(**SETTINGS), chunked(table()), [hear])
    assert_same_draws(in_memory, model)
