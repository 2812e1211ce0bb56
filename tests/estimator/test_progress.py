"""What a person sees while chains run: on a terminal a bar, in a log nothing."""

import builtins
import io
import sys

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._estimator import progress as _progress

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
def test_a_log_stays_empty(capsys, monkeypatch, with_tqdm):
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
