"""Chains that were stopped go on: from files, with the draws they had, as one chain."""

import os
import signal
import threading

import numpy as np
import pytest

from bhmc import BHMC, Tree
from bhmc._estimator import chain_run, progress
from bhmc._io.archive import FileFormatError
from bhmc.priors import Uniform

QUICK = {"n_warmup": 5, "n_draws": 6, "random_state": 0, "n_chains": 2}


def blobs(n=30):
    rng = np.random.default_rng(1)
    return rng.normal(rng.choice([-2.0, 2.0], n)[:, None], 0.3, (n, 2))


def fit(folder, X=None, **changes):
    settings = {**QUICK, "checkpoint": folder / "chains", **changes}
    return BHMC(**settings).fit(blobs() if X is None else X)


@pytest.mark.parametrize("estimate", ["vi", "map"])
def test_more_draws_go_on_from_the_first(tmp_path, estimate):
    first = fit(tmp_path, estimate=estimate)
    assert sorted(os.listdir(tmp_path)) == ["chains.0", "chains.1"]
    more = fit(tmp_path, n_draws=10, estimate=estimate)
    assert not more.interrupted_
    assert more.draws_.n_draws == 10
    for name, values in first.draws_.numbers().items():
        np.testing.assert_array_equal(more.draws_.numbers()[name][:, :6], values)
    np.testing.assert_array_equal(more.draws_.paths[:, :6], first.draws_.paths)
    assert len(np.unique(more.draws_.log_joint)) == 20


def test_a_fit_that_was_whole_is_only_read(tmp_path, monkeypatch):
    first = fit(tmp_path)
    monkeypatch.setattr(chain_run, "run", lambda *_, **settings: None)
    again = fit(tmp_path)
    np.testing.assert_array_equal(again.draws_.log_joint, first.draws_.log_joint)
    np.testing.assert_array_equal(again.paths_, first.paths_)
    fewer = fit(tmp_path, n_draws=4)
    np.testing.assert_array_equal(fewer.draws_.log_joint, first.draws_.log_joint[:, :4])


def test_the_warmup_of_the_paper_goes_on_too(tmp_path, monkeypatch):
    """Stopped in the warm-up: traces are whole in the end, and nothing is learned after it."""
    settings = {"hyper": "paper", "gamma": Uniform(0, 1.5), "n_chains": 1}
    stop_after(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, **settings)
    monkeypatch.undo()
    model = fit(tmp_path, **settings)
    assert model.warmup_traces_.alpha.shape == (1, 5)
    assert len(np.unique(model.draws_.alpha)) == 1
    more = fit(tmp_path, n_draws=9, **settings)
    assert len(np.unique(more.draws_.alpha)) == 1
    np.testing.assert_array_equal(more.warmup_traces_.alpha, model.warmup_traces_.alpha)


def stop_after(monkeypatch, sweeps):
    """Ask to stop as Ctrl-C does, after so many sweeps of the first chain."""
    run_chain = chain_run.run_chain

    def stopping(task, before, number, interrupts, listeners, saved=None):
        def listener(number, chain, made):
            if made == sweeps:
                interrupts.asked.set()

        return run_chain(task, before, number, interrupts, [*listeners, listener], saved)

    monkeypatch.setattr(chain_run, "run_chain", stopping)


def test_a_stopped_fit_keeps_its_draws_and_goes_on(tmp_path, monkeypatch):
    stop_after(monkeypatch, 8)  # three draws of the first chain, none of the second
    part = fit(tmp_path)
    assert part.interrupted_
    assert part.draws_.log_joint.shape == (1, 3)
    assert isinstance(part.tree_, Tree)
    monkeypatch.undo()
    whole = fit(tmp_path)
    assert not whole.interrupted_
    assert whole.draws_.log_joint.shape == (2, 6)
    np.testing.assert_array_equal(whole.draws_.log_joint[0, :3], part.draws_.log_joint[0])
    # The second chain never began, and is the one it would have been.
    np.testing.assert_array_equal(
        whole.draws_.log_joint[1], BHMC(**QUICK).fit(blobs()).draws_.log_joint[1]
    )


@pytest.mark.parametrize(("share", "expected"), [(np.inf, list(range(1, 12))), (1e-12, [1, 11])])
def test_chains_are_saved_now_and_then(tmp_path, monkeypatch, share, expected):
    """And less often where a file takes long to write."""
    monkeypatch.setattr(chain_run, "_SHARE_OF_CHECKPOINTS", share)
    written = []
    write = chain_run.SavedChain.write
    monkeypatch.setattr(
        chain_run.SavedChain,
        "write",
        lambda self, now: (written.append(now.made), write(self, now))[1],
    )
    fit(tmp_path, n_chains=1, checkpoint_interval=1e-9)
    assert written == expected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"alpha": 2.0}, "with alpha='auto', now alpha=2.0"),
        ({"n_levels": 2}, "with n_levels=3, now n_levels=2"),
        ({"random_state": 5}, "with random_state=0, now random_state=5"),
        ({"X": blobs() + 1}, "to other data"),
        ({"X": blobs(29)}, "to other data"),
    ],
)
def test_other_settings_and_data_are_refused(tmp_path, change, sentence):
    fit(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        fit(tmp_path, **change)


def test_more_chains(tmp_path):
    first, more = fit(tmp_path), fit(tmp_path, n_chains=3)
    np.testing.assert_array_equal(more.draws_.log_joint[:2], first.draws_.log_joint)


@pytest.mark.parametrize(
    ("bad", "error", "sentence"),
    [
        ("no/such/folder/chains", FileNotFoundError, "in a directory that does not exist"),
        (3, TypeError, "checkpoint must be a path, got 3"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    tmp_path, monkeypatch, bad, error, sentence
):
    def explode(*_, **__):
        raise AssertionError("work was done before the refusal")

    monkeypatch.setattr(chain_run, "start_state", explode)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=sentence):
        BHMC(checkpoint=bad, **QUICK).fit(blobs())
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_said(tmp_path):
    fit(tmp_path)
    whole = (tmp_path / "chains.1").read_bytes()
    (tmp_path / "chains.1").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match=r"chains\.1"):
        fit(tmp_path)


# ---- Ctrl-C ----


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_signal_stops_the_chains(n_jobs):
    model = BHMC(n_warmup=0, n_draws=1_000_000, n_chains=2, n_jobs=n_jobs, random_state=0)
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        model.fit(blobs())
    finally:
        timer.cancel()
    assert model.interrupted_
    assert model.draws_.n_draws > 1
    assert model.draws_.n_chains == (1 if n_jobs is None else 2)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_signal_breaks_off():
    interrupts = progress.Interrupts()
    with interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.asked.wait(1)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_before_the_first_draw_there_is_nothing_to_keep(monkeypatch):
    stop_after(monkeypatch, 2)
    model = BHMC(**QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs())
    assert not hasattr(model, "tree_")


def test_other_threads_do_not_listen():
    found = []
    thread = threading.Thread(target=lambda: found.append(BHMC(**QUICK).fit(blobs())))
    thread.start()
    thread.join()
    assert not found[0].interrupted_
