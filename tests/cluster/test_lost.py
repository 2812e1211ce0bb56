"""Workers, schedulers and clients that are lost: the draws stay those of rows in memory."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client

from bhmc import BHMC
from bhmc._estimator.bhmc import fit_listening
from bhmc.rows.dask import DaskHolder
from bhmc.rows.dask_parts import FarPart
from bhmc.rows.parted import RowsGoneError
from tests.cluster.small import (
    SETTINGS,
    ManyOfFew,
    assert_same_draws,
    chunked,
    client_of_cluster,
    fitted,
    kill,
    local_cluster,
    table,
    wait_for_workers,
)

pytestmark = pytest.mark.cluster_long

# Fits of more sweeps than a copy is apart.
LONGER = {"n_draws": 30}


@pytest.fixture(scope="module")
def of_four(many_of_few):
    """Four worker processes; those that are killed come back."""
    with local_cluster(4) as cluster, client_of_cluster(cluster) as client:
        yield cluster, client


@pytest.fixture(scope="module")
def longer(many_of_few):
    """The longer fit in memory."""
    return fitted(table(), **LONGER)


@contextlib.contextmanager
def killing_at(method, n_calls, do):
    """Something is done at a call of a method of a part; the list says whether it was."""
    ask, calls, done = FarPart.ask, [], []

    def counted(self, asked, *given):
        if asked == method and not done:
            calls.append(asked)
            if len(calls) == n_calls:
                done.append(do())
        return ask(self, asked, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarPart, "ask", counted)
        yield done


def test_four_workers(of_four, longer):
    assert_same_draws(longer, fitted(chunked(table()), **LONGER))


MOMENTS = [
    *(("look", 2), ("take", 3), ("bind", 2), ("fill", 2)),
    *(("redraw", 2), ("anchored", 30), ("gather", 41), ("few", 50), ("put", 60)),
    ("components_of", 90),
]


@pytest.mark.parametrize(("method", "n_calls"), MOMENTS)
def test_killed_while_it_answers(method, n_calls, of_four, longer):
    _, client = of_four
    wait_for_workers(client, 3)
    with killing_at(method, n_calls, lambda: kill(client)) as done:
        assert_same_draws(longer, fitted(chunked(table()), **LONGER))
    assert done


@pytest.mark.parametrize("n_workers", [2, 4])
def test_several_are_killed_at_once(n_workers, of_four):
    """Two chains at once; where all workers are killed, the new ones take all rows."""
    _, client = of_four
    wait_for_workers(client, 3)
    settings = {"n_chains": 2, **LONGER}
    with killing_at("redraw", 40, lambda: kill(client, n_workers)) as done:
        far = fitted(chunked(table()), n_jobs=2, **settings)
    assert done
    assert_same_draws(fitted(table(), **settings), far)


def test_killed_while_rows_are_loaded(of_four, longer, monkeypatch):
    _, client = of_four
    wait_for_workers(client, 3)
    begin, begun = DaskHolder._begin, []

    def killed(self, *given):
        begun.append(given)
        if len(begun) == 3:
            kill(client)
        return begin(self, *given)

    monkeypatch.setattr(DaskHolder, "_begin", killed)
    assert_same_draws(longer, fitted(chunked(table()), **LONGER))
    assert len(begun) > 4


def test_killed_at_any_time(of_four):
    """A chain of 300 sweeps, a worker of it killed whenever four are there."""
    _, client = of_four
    ended, kills = threading.Event(), []

    def kill_now_and_then():
        rng = np.random.default_rng(int(os.environ.get("BHMC_SOAK_SEED", "0")))
        while not ended.wait(rng.uniform(0.1, 1.0)):
            if len(client.nthreads()) >= 3:
                kills.append(kill(client))

    settings = {"n_draws": 300}
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        far = fitted(chunked(table()), **settings)
    finally:
        ended.set()
        killer.join()
    assert kills
    assert_same_draws(fitted(table(), **settings), far)


def test_a_worker_that_comes_gets_rows(longer, monkeypatch):
    hold, held = DaskHolder._hold, []

    def noted(self):
        held.append(hold(self))
        return held[-1]

    monkeypatch.setattr(DaskHolder, "_hold", noted)
    monkeypatch.setattr("bhmc.rows.dask._STAYS", 0.0)
    with local_cluster(1) as cluster, client_of_cluster(cluster) as client:

        def grow(number, chain, made):
            if made == 5:
                cluster.scale(2)
                wait_for_workers(client, 2)
            return False

        far = fit_listening(BHMC(**{**SETTINGS, **LONGER}), chunked(table()), [grow])
    assert [len(parts) for parts in held] == [1, 2]
    assert_same_draws(longer, far)


# ---- Files ---------------------------------------------------------------------------------------


def of_files(folder):
    """Rows in files that workers read."""
    X = table()
    for i in range(4):
        np.save(folder / f"{i}.npy", X[250 * i : 250 * (i + 1)])
    read = dask.delayed(np.load)
    parts = [da.from_delayed(read(folder / f"{i}.npy"), (250, 3), float) for i in range(4)]
    return da.concatenate(parts)


@pytest.mark.parametrize("what", ["gone", "others"])
def test_a_file_is_not_what_it_was(what, of_four, longer, tmp_path):
    """A worker is killed, so the file is read again; the checkpoint is kept for a later fit."""
    _, client = of_four
    wait_for_workers(client, 3)
    X, file = of_files(tmp_path), tmp_path / "2.npy"
    rows, checkpoint = np.load(file), tmp_path / "chain"

    def spoil(number, chain, made):
        if made == 15:
            file.unlink()
            if what == "others":
                np.save(file, rows + 1)
            kill(client)
        return False

    settings = {**SETTINGS, **LONGER, "checkpoint": checkpoint}
    sentence = {"gone": r"cannot be read: FileNotFoundError: .*2\.npy", "others": "are others than"}
    with pytest.raises(RuntimeError, match=sentence[what]):
        fit_listening(BHMC(**settings), X, [spoil])
    assert Path(f"{checkpoint}.0").exists()
    np.save(file, rows)
    made = []
    again = fit_listening(BHMC(**settings), X, [lambda number, chain, n: made.append(n)])
    assert made[0] == 11  # the copy is of ten sweeps
    assert_same_draws(longer, again)


# ---- Schedulers and clients ----------------------------------------------------------------------


def program(*words):
    """A program of Dask in a process of its own."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], **quiet
    )


@contextlib.contextmanager
def separate_cluster(port):
    """A scheduler and two workers, each a process that nobody restarts."""
    address = f"tcp://127.0.0.1:{port}"
    given = "--host", "127.0.0.1", "--port", str(port), "--dashboard-address", ":0"
    worker = "dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"
    programs = [program("dask_scheduler", *given), program(*worker), program(*worker)]
    try:
        yield address, programs
    finally:
        for one in programs:
            one.kill()
            one.wait()


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_scheduler_that_is_gone(many_of_few, longer, tmp_path):
    settings = {**SETTINGS, **LONGER, "checkpoint": tmp_path / "chain"}
    short = dask.config.set({"distributed.comm.timeouts.connect": "3s"})
    with short, separate_cluster(free_port()) as (address, programs), Client(address) as client:
        client.register_plugin(ManyOfFew())
        wait_for_workers(client, 2)

        def end_the_scheduler(number, chain, made):
            if made == 17:
                programs[0].kill()
            return False

        sentence = "connection to the Dask scheduler is clos.*same fit resumes from its last sweep"
        with pytest.raises(RowsGoneError, match=sentence):
            fit_listening(BHMC(**settings), chunked(table()), [end_the_scheduler])
    with local_cluster(2) as cluster, client_of_cluster(cluster):
        made = []
        listen = [lambda number, chain, n: made.append(n)]
        again = fit_listening(BHMC(**settings), chunked(table()), listen)
    assert made[0] == 11
    assert_same_draws(longer, again)


def test_a_scheduler_that_comes_back(many_of_few, longer):
    """The fit goes on by itself, with new workers."""
    port = free_port()
    with contextlib.ExitStack() as stack:
        restarted: list[int] = []
        address, programs = stack.enter_context(separate_cluster(port))
        client = stack.enter_context(Client(address))
        client.register_plugin(ManyOfFew())
        wait_for_workers(client, 2)

        def restart(number, chain, made):
            if made == 17 and not restarted:
                for one in programs:
                    one.kill()
                    one.wait()
                restarted.append(made)
                stack.enter_context(separate_cluster(port))
                time.sleep(8)
                client.register_plugin(ManyOfFew())
            return False

        far = fit_listening(BHMC(**{**SETTINGS, **LONGER}), chunked(table()), [restart])
    assert_same_draws(longer, far)


CLIENT = """
import sys
import pytest
from distributed import Client
from bhmc import BHMC
from bhmc._estimator import chain_run
from tests.cluster.small import SETTINGS, chunked, make_many_of_few, table
make_many_of_few(pytest.MonkeyPatch())
with Client(sys.argv[1]):
    model = BHMC(**SETTINGS, checkpoint=sys.argv[2], checkpoint_interval=1e-9)
    model.set_params(n_draws=3_000).fit(chunked(table()))
"""


def test_a_client_that_is_gone(of_four, longer, tmp_path):
    """Workers forget what it had them hold; another client resumes its fit."""
    scheduler, client = of_four
    wait_for_workers(client, 3)
    checkpoint = tmp_path / "chain"
    there = subprocess.Popen(
        [sys.executable, "-c", CLIENT, scheduler.scheduler_address, str(checkpoint)]
    )
    end = time.monotonic() + 90
    while not Path(f"{checkpoint}.0").exists():
        assert there.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(there.pid, signal.SIGKILL)
    there.wait()
    assert_same_draws(longer, fitted(chunked(table()), checkpoint=checkpoint, **LONGER))
    held = client.run(lambda dask_worker: len(dask_worker.state.actors))
    assert set(held.values()) == {0}
