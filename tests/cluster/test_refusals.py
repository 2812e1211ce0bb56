"""What cannot be fitted on a cluster, one clear sentence each."""

import sys
import threading

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from bhmc.rows import dask_cluster
from bhmc.rows.parted import PartLost
from tests.cluster.small import chunked, fitted, table


def refused(X, error, sentence, **settings):
    with pytest.raises(error, match=sentence):
        fitted(X, **settings)


def test_without_a_client(many_of_few, monkeypatch):
    def nobody():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", nobody)  # other tests have one
    refused(chunked(table()), ValueError, "there is no Dask client: make one first")


def test_without_distributed(many_of_few, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused(
        chunked(table()), ImportError, r"needs Dask: install it with `pip install bhmc\[dask\]`"
    )


def test_few_rows_need_no_cluster(many_of_few, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    X = table(60)
    np.testing.assert_array_equal(fitted(chunked(X)).labels_, fitted(X).labels_)


@pytest.mark.parametrize(
    ("X", "error", "sentence"),
    [
        (da.ones((900, 3), dtype=complex), TypeError, "must hold numbers, got a Dask array of com"),
        (da.ones(900), ValueError, "must have two dimensions, rows and columns, got 1"),
        (dask.delayed(np.ones)((900, 3)), TypeError, "array or a Dask frame, got Delayed"),
        (dask.bag.range(900, 2), TypeError, "array or a Dask frame, got Bag"),
        (dd.from_pandas(pd.Series(np.ones(900)), 2), TypeError, "must have rows and columns"),
        (
            dd.from_pandas(pd.DataFrame({"a": [1.0], "b": ["x"]}), 1),
            TypeError,
            "column 'b' of the Dask frame has type",
        ),
    ],
)
def test_other_collections(X, error, sentence, many_of_few):
    refused(X, error, sentence)


def test_settings_that_need_all_rows(client):
    refused(chunked(table()), ValueError, "init='ward' needs all rows in memory", init="ward")


def test_an_infinite_number_is_named_by_its_row(client):
    X = table()
    X[700, 2] = np.inf
    refused(chunked(X), ValueError, "row 700, column 2 of a Dask array of 1,000 rows")
    assert_nothing_is_held(client)


def assert_nothing_is_held(client):
    assert sum(client.run(lambda dask_worker: len(dask_worker.state.actors)).values()) == 0


def test_a_chunk_that_cannot_be_read(client):
    def read(i):
        if i == 2:
            raise FileNotFoundError("part-2.npy is not there")
        return table()[250 * i : 250 * (i + 1)]

    parts = [da.from_delayed(dask.delayed(read)(i), (250, 3), float) for i in range(4)]
    sentence = "A chunk of a Dask array of 1,000 rows .* cannot be read: .*part-2.npy is not there"
    refused(da.concatenate(parts), RuntimeError, sentence)


def test_kept_rows_that_are_gone(client):
    X = chunked(table()).persist()
    client.cancel(X)
    refused(X, RuntimeError, r"kept \(by persist or scatter\) are lost: make the collection anew")


def set_version(version):
    import bhmc._version

    bhmc._version.__version__ = version


def test_a_worker_with_another_version(client):
    worker = sorted(client.nthreads())[1]
    before = client.run(lambda: __import__("bhmc").__version__, workers=[worker])[worker]
    client.run(set_version, "0.0.1", workers=[worker])
    try:
        sentence = f"worker {worker} has bhmc 0.0.1, and this process has {before}: install the"
        refused(chunked(table()), RuntimeError, sentence)
    finally:
        client.run(set_version, before, workers=[worker])


def hide(module):
    sys.modules[module] = None


def show(module):
    del sys.modules[module]


@pytest.mark.parametrize("module", ["bhmc.rows.dask_cluster", "bhmc.rows.dask_parts"])
def test_a_worker_without_bhmc_or_what_it_needs(module, client):
    worker = sorted(client.nthreads())[0]
    client.run(hide, module, workers=[worker])
    try:
        name = module.partition(".")[0]
        refused(
            chunked(table()),
            RuntimeError,
            f"worker {worker} (has no {name} |cannot run bhmc: install)",
        )
    finally:
        client.run(show, module, workers=[worker])


class NeverAnswers:
    """A client whose worker was lost as it was asked: `Client.run` waits for ever."""

    status = "running"

    def __init__(self):
        self.ended = threading.Event()

    def nthreads(self):
        return {}

    def run(self, *asked, **given):
        self.ended.wait()


def test_a_worker_that_is_lost_while_it_is_asked(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_BETWEEN_LOOKS", 0.05)
    client = NeverAnswers()
    with pytest.raises(PartLost, match="worker tcp://one is lost"):
        dask_cluster.check_versions(client, ["tcp://one"])
    client.ended.set()
