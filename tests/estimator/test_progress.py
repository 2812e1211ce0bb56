"""What a person sees while chains run: on a terminal a bar, in a log a line now and then."""

import builtins
import io
import sys
import threading
import time

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._estimator import progress as _progress
from bhmc._estimator import progress_log

QUICK = {"n_warmup": 4, "n_draws": 6, "random_state": 0, "n_chains": 2}
X = np.random.default_rng(0).normal(size=(20, 2))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """Called in the test itself: pytest puts its own streams there after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def without_tqdm(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_a_bar_on_a_terminal(monkeypatch, with_tqdm):
    screen = terminal(monkeypatch)
    monkeypatch.setattr(_progress, "_BETWEEN_LOOKS", 0.0)
    if not with_tqdm:
        without_tqdm(monkeypatch)
    model = BHMC(progress=True, **QUICK).fit(X)
    shown = screen.getvalue()
    assert "takes up to 1 kB (2 x 6 draws x 20 rows x 4 bytes)" in shown
    assert "20/20" in shown
    assert "log joint/nodes/components" in shown
    # The last numbers shown are those of the last draws.
    draws = model.draws_
    last = f"{draws.log_joint[1, -1]:.5g}/{draws.n_nodes[1, -1]}/{draws.n_components[1, -1]}"
    assert last in shown


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_the_log_of_a_short_fit_stays_empty(capsys, monkeypatch, with_tqdm):
    if not with_tqdm:
        without_tqdm(monkeypatch)
    BHMC(progress=True, **QUICK).fit(X)
    assert capsys.readouterr() == ("", "")


def test_no_bar_unless_asked(monkeypatch):
    screen = terminal(monkeypatch)
    BHMC(**QUICK).fit(X)
    assert screen.getvalue() == ""


def test_a_bar_changes_no_draw(monkeypatch):
    terminal(monkeypatch)
    plain, shown = BHMC(**QUICK).fit(X), BHMC(progress=True, **QUICK).fit(X)
    np.testing.assert_array_equal(plain.draws_.log_joint, shown.draws_.log_joint)


class Counter:
    """A callback of scikit-learn 1.9: counts the tasks, and stops chains after some."""

    def __init__(self, stop_after=None):
        self.ended, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.ended.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        sweeps = len(context.parent._children_map) if context.task_name == "sweep" else 0
        return self.stop_after is not None and sweeps >= self.stop_after

    def teardown(self, estimator, context):
        self.ended.append("teardown")


def test_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    counter = Counter()
    model = BHMC(**QUICK).set_callbacks(counter).fit(X)
    names = counter.ended
    assert names.count("sweep") == 20
    assert names.count("chain") == 2
    assert [names[0], *names[-2:]] == ["setup", "fit", "teardown"]
    np.testing.assert_array_equal(model.draws_.log_joint, BHMC(**QUICK).fit(X).draws_.log_joint)


def test_a_callback_may_stop_the_chains():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    model = BHMC(**QUICK).set_callbacks(Counter(stop_after=7)).fit(X)
    assert model.interrupted_
    assert model.draws_.log_joint.shape == (2, 3)


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self):
        self.seconds = 1000.0

    def monotonic(self):
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress_log, "time", made)
    monkeypatch.setattr(progress_log, "_BETWEEN_TICKS", 1e6)  # no thread writes of its own accord
    return made


class Chain:
    n_nodes, n_components = 1_047, 36


def lines_of(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_log_gets_a_line_every_twenty_seconds(capsys, clock):
    log = progress_log.ProgressLog("choosing")
    log.samples(2, 50)
    for made in range(1, 51):
        clock.seconds += 3.0
        log.update(0, Chain(), made)
    lines = lines_of(capsys)
    assert lines[0] == (
        "bhmc 0:00:21: 7 of 100 sweeps, 0:04:39 left, no R-hat yet, "
        "chain 1: 1,047 nodes, 36 components"
    )
    assert [line[5:12] for line in lines] == [
        f"0:{seconds // 60:02}:{seconds % 60:02}" for seconds in range(21, 151, 21)
    ]


def test_a_log_says_when_more_sweeps_may_follow(capsys, clock):
    log = progress_log.ProgressLog("choosing")
    log.samples(1, 10)
    log.planned(40, may_go_on=True)
    clock.seconds += 20
    log.update(0, Chain(), 10)
    log.planned(40, may_go_on=False)
    clock.seconds += 20
    log.update(0, Chain(), 20)
    first, second = lines_of(capsys)
    assert "10 of at least 40 sweeps, at least 0:01:00 left" in first
    assert "20 of 40 sweeps, 0:00:40 left" in second


def test_sweeps_made_before_do_not_shorten_the_time_left(capsys, clock):
    log = progress_log.ProgressLog("choosing")
    log.samples(2, 100)
    log.runs([], [80, 80])
    clock.seconds += 20
    log.update(0, Chain(), 90)
    assert "170 of 200 sweeps, 0:01:00 left" in lines_of(capsys)[0]


def test_a_log_is_never_silent_for_long(capsys, clock):
    log = progress_log.ProgressLog("choosing what to sample")
    seen = []
    for second in range(120):
        clock.seconds += 1
        if second == 60:
            log.samples(1, 10)
        if second == 90:
            log.does("summarising the draws")
        log.tick()
        seen += lines_of(capsys)
    assert seen == [
        "bhmc 0:00:27: still at work, choosing what to sample",
        "bhmc 0:00:54: still at work, choosing what to sample",
        "bhmc 0:01:21: 0 of 10 sweeps, a long sweep is under way",
        "bhmc 0:01:48: still at work, summarising the draws",
    ]


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_a_fit_writes_a_log_where_no_bar_can_be_seen(capsys, monkeypatch, with_tqdm):
    monkeypatch.setattr(progress_log, "_BETWEEN_LINES", 0.0)
    if not with_tqdm:
        without_tqdm(monkeypatch)
    shown = BHMC(progress=True, **{**QUICK, "n_draws": 20}).fit(X)
    lines = lines_of(capsys)
    assert len(lines) == 49  # one a sweep, and the last
    assert "1 of 48 sweeps, time left not known yet" in lines[0]
    assert "no R-hat yet" in lines[0]
    draws = shown.draws_
    last = f"chain 2: {draws.n_nodes[1, -1]} nodes, {draws.n_components[1, -1]} components"
    assert lines[-2].endswith(last)
    assert f"worst R-hat {shown.diagnostics_.worst_rhat:.2f}" in lines[-2]
    assert lines[-1].endswith("48 sweeps made; the fit has ended")
    assert not any("\x1b" in line or "\r" in line for line in lines)  # no colours, no control
    plain = BHMC(**{**QUICK, "n_draws": 20}).fit(X)
    np.testing.assert_array_equal(plain.draws_.log_joint, shown.draws_.log_joint)


def test_the_thread_of_a_log_ends_a_silence_and_ends_itself(capsys, monkeypatch):
    monkeypatch.setattr(progress_log, "_MOST_SILENCE", 0.0)
    monkeypatch.setattr(progress_log, "_BETWEEN_TICKS", 0.001)
    before = threading.active_count()
    with progress_log.logging_progress(True, "reading"):
        while "still at work, reading" not in capsys.readouterr().err:
            time.sleep(0.001)
    assert threading.active_count() == before
    assert progress_log.current_log() is None


def test_a_log_that_cannot_be_written_ends_no_fit(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "no space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    monkeypatch.setattr(progress_log, "_BETWEEN_LINES", 0.0)
    assert len(BHMC(progress=True, **QUICK).fit(X).labels_) == 20


def test_no_log_in_a_notebook(monkeypatch):
    from tqdm import auto
    from tqdm.notebook import tqdm_notebook

    assert not progress_log.shows_bars()
    monkeypatch.setattr(auto, "tqdm", tqdm_notebook)
    assert progress_log.shows_bars()
