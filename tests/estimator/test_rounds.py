"""Run until it is good: rounds that end at fixed sweeps, time limits, chains that go on."""

import hashlib
import pickle
import sys
import threading
from dataclasses import replace
from functools import cache

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bhmc import BHMC
from bhmc._estimator import chain_run, progress, rounds
from bhmc._estimator.chain_run import Task
from bhmc._estimator.rounds import most_sweeps, next_round
from bhmc.likelihoods import Gaussian
from bhmc.posterior.diagnostics import diagnose
from bhmc.posterior.retention import Plan
from tests.estimator.test_progress import Terminal

# Rows that say so little that chains agree at once, and two groups whose tree mixes slowly.
EASY = {"n_levels": 1, "alpha": 0.5, "gamma0": 0.5, "gamma": 0.5, "random_state": 2}
EASY |= {"transition": "hdp", "moves": ()}  # where rounds end does not depend on moves
EASY["likelihood"] = Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0)
HARD = {"transition": "hdp", "moves": (), "n_levels": 2, "random_state": 0, "n_warmup": 20}


def easy_rows():
    return np.random.default_rng(0).normal(size=(6, 1))


def hard_rows():
    rng = np.random.default_rng(1)
    return rng.normal(np.repeat([-6.0, 6.0], 8)[:, None], 0.5, (16, 2))


@pytest.fixture
def short(monkeypatch):
    """Rounds of 30 draws, the last of which ends at sweep 20 + 30 + 30 + 60 + 120 of `HARD`."""
    monkeypatch.setattr(rounds, "AUTO_DRAWS", 30)
    monkeypatch.setattr(rounds, "_MOST_SWEEPS", 300)
    monkeypatch.setattr("bhmc._estimator.sizes.AUTO_DRAWS", 30)


@cache
def whole() -> BHMC:
    """`HARD` in rounds of 30 draws, for tests that do not change it."""
    return BHMC(**HARD).fit(hard_rows())


def fingerprint(model) -> str:
    """A hash of all that was kept, to the last bit."""
    parts = [*model.draws_.numbers().values(), model.paths_, model.tree_.theta, model.tree_.support]
    parts += [one.leaf for one in model.draws_.partitions]
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in parts)).hexdigest()


# ---- Where decisions are made ----


def test_every_round_has_the_draws_of_two_stretches():
    """The numbers that the docstring of `n_draws` states."""
    task = Task(None, n_warmup=200, n_draws=300, plan=Plan(), begun=200)
    found = []
    while task.n_sweeps <= 10_000:
        assert task.n_draws == 300
        found.append((task.n_sweeps, task.n_warmup, task.thin))
        before, task = task, next_round(task)
        assert task.begun == before.n_sweeps
    ends = [500, 800, 1_400, 2_600, 5_000, 9_800]
    assert found == list(zip(ends, [200, 200, *ends], [1, 2, 3, 6, 12, 24], strict=False))
    assert all(f"{end:,}" in BHMC.__doc__ for end in ends)


def test_a_round_after_draws_of_one_distance_discards_half_of_the_chain():
    task = next_round(Task(None, n_warmup=20, n_draws=30, plan=Plan()))
    assert (task.n_warmup, task.n_draws, task.thin, task.n_sweeps) == (50, 300, 1, 350)


def test_the_maximum_falls_with_the_rows():
    assert most_sweeps(2) == most_sweeps(200) == 10_400
    assert most_sweeps(1_000) == 3_000
    assert most_sweeps(100_000) == 30
    assert most_sweeps(2, cost=8.0) == 1_300


def test_the_maximum_grows_where_components_are_few():
    few = [most_sweeps(1_000, n_components=number) for number in (640, 64, 32, 16, 1)]
    assert few == [3_000, 3_000, 6_000, 10_400, 10_400]
    assert most_sweeps(10_000, n_components=1) == 1_200


def test_an_easy_set_ends_at_the_first_decision():
    """And its draws are those of a fit that names their number."""
    model = BHMC(**EASY).fit(easy_rows())
    assert model.diagnostics_.converged
    assert (model.ended_by_, model.n_sweeps_) == ("converged", 500)
    assert not model.interrupted_
    assert fingerprint(model) == fingerprint(BHMC(n_draws=300, **EASY).fit(easy_rows()))


def test_the_answer_is_that_of_the_settings_it_names(short):
    """A fixed number of draws after the same warm-up, at the same distance, to the last bit."""
    model = whole()
    assert (model.n_sweeps_, model.n_warmup_, model.thin_) == (260, 80, 6)
    named = {**HARD, "n_warmup": model.n_warmup_, "thin": model.thin_, "n_draws": 30}
    fixed = BHMC(**named).fit(hard_rows())
    assert (fixed.ended_by_, fixed.n_sweeps_) == ("n_draws", 260)
    assert fingerprint(fixed) == fingerprint(model)


def test_rounds_end_where_chains_agree(short, monkeypatch):
    """The decision sees the draws of all chains in the last round, and nothing else."""
    seen, right = [], rounds.diagnose

    def second_passes(draws):
        found = right(draws)
        seen.append(draws.log_joint)
        return found if len(seen) < 2 else replace(found, findings=())

    monkeypatch.setattr(rounds, "diagnose", second_passes)
    model = BHMC(**HARD).fit(hard_rows())
    assert (model.ended_by_, model.n_sweeps_) == ("converged", 80)
    assert [one.shape for one in seen] == [(2, 30), (2, 30)]
    np.testing.assert_array_equal(seen[1], model.draws_.log_joint)
    np.testing.assert_array_equal(seen[1][:, :15], seen[0][:, 1::2])  # the same chains


def test_the_warning_names_what_has_settled_and_what_to_do(short):
    with pytest.warns(ConvergenceWarning) as caught:
        model = BHMC(**HARD).fit(hard_rows())
    assert model.ended_by_ == "max_sweeps"
    (warning,) = (one for one in caught if one.category.__name__ == "NotConvergedWarning")
    assert warning.filename == __file__
    text = str(warning.message)
    assert "settled" in text
    assert "What to do: BHMC(n_warmup=" in text
    assert ", about " in text
    assert "warm_start=True" in text
    options = warning.message.in_options
    assert "What to do: --warmup " in options
    assert "n_warmup" not in options


def test_the_paper_learns_in_the_warmup_only(short):
    """There more rounds would not help: chains that learned different numbers keep them."""
    model = BHMC(hyper="paper", **HARD).fit(hard_rows())
    assert (model.ended_by_, model.draws_.n_draws) == ("n_draws", 30)
    assert model.warmup_traces_.alpha.shape == (2, 20)


# ---- What the answer does not depend on ----


def test_threads_and_processes(short):
    """Decisions are made where all draws are: other processes only run chains."""
    alone = fingerprint(whole())
    assert fingerprint(BHMC(n_jobs=2, **HARD).fit(hard_rows())) == alone
    with joblib.parallel_config("loky"):
        assert fingerprint(BHMC(n_jobs=2, **HARD).fit(hard_rows())) == alone
    assert fingerprint(BHMC(**{**HARD, "random_state": 1}).fit(hard_rows())) != alone


# ---- Files ----


@pytest.mark.parametrize("stop", [15, 35, 50, 200])
def test_a_checkpoint_resumes_bit_for_bit(short, tmp_path, monkeypatch, stop):
    """Stopped in the warm-up, in the first stretch, at a decision, in later rounds."""
    settings = {**HARD, "checkpoint": tmp_path / "chains"}
    with monkeypatch.context() as patched:
        _stop_after(patched, stop)
        _fit_or_interrupt(BHMC(**settings))
    resumed = BHMC(**settings).fit(hard_rows())
    assert (resumed.ended_by_, resumed.n_sweeps_) == ("max_sweeps", 260)
    assert fingerprint(resumed) == fingerprint(whole())
    with monkeypatch.context() as patched:  # a whole run is only read
        patched.setattr(chain_run, "run", lambda *_, **settings: None)
        assert fingerprint(BHMC(**settings).fit(hard_rows())) == fingerprint(whole())


def _stop_after(monkeypatch, sweep):
    """Ask to stop as Ctrl-C does, after so many sweeps of the second chain."""
    run_chain = chain_run.run_chain

    def stopping(task, before, number, interrupts, listeners, saved=None):
        def listener(number, chain, made):
            if made == sweep and number == 1:
                interrupts.asked.set()

        return run_chain(task, before, number, interrupts, [*listeners, listener], saved)

    monkeypatch.setattr(chain_run, "run_chain", stopping)


def _fit_or_interrupt(model):
    try:
        model.fit(hard_rows())
    except KeyboardInterrupt:
        return None
    assert model.interrupted_
    return model


def test_an_interrupt_leaves_the_last_whole_round(short, monkeypatch):
    first = BHMC(**{**HARD, "n_draws": 30}).fit(hard_rows())
    _stop_after(monkeypatch, 70)
    model = _fit_or_interrupt(BHMC(**HARD))
    assert model.ended_by_ == "interrupt"
    assert (model.n_warmup_, model.thin_, model.n_sweeps_) == (20, 1, 80)
    assert fingerprint(model) == fingerprint(first)


# ---- Time ----


def test_a_time_limit_ends_at_a_decision(short, monkeypatch):
    """A round that would take longer than is left is not begun."""
    clock = _Clock(monkeypatch, seconds_a_sweep=1.0)
    model = BHMC(max_seconds=150.0, **HARD).fit(hard_rows())
    assert (model.ended_by_, model.n_sweeps_) == ("max_seconds", 50)
    assert clock.now < 150
    assert not model.interrupted_
    first = BHMC(n_draws=30, **HARD).fit(hard_rows())
    assert fingerprint(model) == fingerprint(first)


def test_a_time_limit_divides_the_time_between_chains(short, monkeypatch):
    """One after the other: each has half of the time, and keeps the draws that it made."""
    _Clock(monkeypatch, seconds_a_sweep=1.0)
    for draws in ("auto", 30):
        model = BHMC(max_seconds=60.0, n_draws=draws, **HARD).fit(hard_rows())
        assert model.ended_by_ == "max_seconds"
        assert model.draws_.log_joint.shape == (2, 10)


class _Clock:
    """A clock that goes on by a fixed time a sweep."""

    def __init__(self, monkeypatch, seconds_a_sweep):
        self.now, self._step = 0.0, seconds_a_sweep
        for module in (rounds, chain_run):
            monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        stop_after = chain_run._Watch.stop_after

        def ticking(watch, chain, made):
            self.now += self._step
            return stop_after(watch, chain, made)

        monkeypatch.setattr(chain_run._Watch, "stop_after", ticking)


def test_a_time_that_is_no_time_is_refused():
    for wrong in (0.0, -1.0, "1"):
        with pytest.raises((TypeError, ValueError), match="max_seconds must be"):
            BHMC(max_seconds=wrong).fit(hard_rows())
    with pytest.raises(
        TypeError, match="n_draws must be a whole number of at least 1 or 'auto', got 'all'"
    ):
        BHMC(n_draws="all").fit(hard_rows())


# ---- More draws of the same chains ----


def test_more_draws_are_those_of_one_long_run():
    settings = {**HARD, "n_draws": 20}
    model = BHMC(warm_start=True, **settings).fit(hard_rows())
    first = fingerprint(model)
    model.fit(hard_rows())
    assert model.draws_.n_draws == 40
    assert fingerprint(model) == fingerprint(BHMC(**{**HARD, "n_draws": 40}).fit(hard_rows()))
    assert fingerprint(model) != first
    model.set_params(warm_start=False).fit(hard_rows())
    assert fingerprint(model) == first


def test_more_rounds_are_those_of_one_long_run(short, monkeypatch):
    """A fit that may not go on has noted nothing for the next round: all of it is warm-up."""
    model = BHMC(**HARD).fit(hard_rows())
    model.set_params(warm_start=True).fit(hard_rows())
    assert (model.n_warmup_, model.n_sweeps_, model.ended_by_) == (260, 530, "max_sweeps")
    named = {**HARD, "n_warmup": 260, "thin": model.thin_, "n_draws": 30}
    assert fingerprint(BHMC(**named).fit(hard_rows())) == fingerprint(model)


def test_rounds_that_go_on_after_an_interrupt_are_those_of_one_long_run(short, monkeypatch):
    """What a chain has noted for the next round goes on, too."""
    with monkeypatch.context() as patched:
        _stop_after(patched, 70)
        model = _fit_or_interrupt(BHMC(**HARD))
    model.set_params(warm_start=True).fit(hard_rows())
    assert (model.n_sweeps_, model.ended_by_) == (260, "max_sweeps")
    assert fingerprint(model) == fingerprint(whole())


def test_a_fixed_number_of_draws_goes_on_at_the_distance_reached(short):
    model = BHMC(**HARD).fit(hard_rows())
    before = model.draws_.log_joint
    model.set_params(warm_start=True, n_draws=10).fit(hard_rows())
    assert (model.thin_, model.n_sweeps_) == (6, 320)
    np.testing.assert_array_equal(model.draws_.log_joint[:, :30], before)


def test_draws_added_by_number_are_not_noted_for_a_next_round(short, monkeypatch):
    """After them the next round begins anew, and has all of its draws."""
    monkeypatch.setattr(rounds, "diagnose", lambda draws: replace(diagnose(draws), findings=()))
    model = BHMC(**HARD).fit(hard_rows())
    assert (model.ended_by_, model.n_sweeps_) == ("converged", 50)
    model.set_params(warm_start=True, n_draws=5).fit(hard_rows())
    model.set_params(n_draws="auto").fit(hard_rows())
    assert (model.n_warmup_, model.draws_.n_draws) == (55, 30)


def test_a_fit_that_fails_leaves_the_chains_as_they_were(monkeypatch):
    settings = {**HARD, "n_draws": 20}
    model = BHMC(warm_start=True, **settings).fit(hard_rows())
    with monkeypatch.context() as patched:
        patched.setattr("bhmc._estimator.bhmc.common_draws", lambda *_: [])
        with pytest.raises(KeyboardInterrupt):
            model.fit(hard_rows())
    model.fit(hard_rows())
    assert fingerprint(model) == fingerprint(BHMC(**{**HARD, "n_draws": 40}).fit(hard_rows()))


def test_other_chains_than_those_of_the_last_fit_are_refused():
    settings = {**HARD, "n_draws": 5, "n_warmup": 2, "warm_start": True}
    model = BHMC(**settings).fit(hard_rows())
    with pytest.raises(ValueError, match=r"warm_start=True goes on .* which was to other data"):
        model.fit(hard_rows() + 1.0)
    with pytest.raises(ValueError, match="which was with n_levels=2, now n_levels=3"):
        model.set_params(n_levels=3).fit(hard_rows())
    with pytest.raises(ValueError, match="which had n_chains=2, now n_chains=3"):
        model.set_params(n_levels=2, n_chains=3).fit(hard_rows())
    copied = pickle.loads(pickle.dumps(model.set_params(n_chains=2)))
    with pytest.raises(ValueError, match="a model that was saved, copied or pickled has none"):
        copied.fit(hard_rows())
    assert clone(model).fit(hard_rows()).draws_.n_draws == 5


# ---- What a person sees ----


def test_the_bar_shows_the_worst_r_hat(short, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_BETWEEN_LOOKS", 0.0)
    model = BHMC(progress=True, **HARD).fit(hard_rows())
    shown = screen.getvalue()
    assert f"worst R-hat {model.diagnostics_.worst_rhat:.2f}" in shown
    assert "/100 " in shown.replace("/100,", "/100 ")
    assert "520/520" in shown


def test_chains_outside_the_main_thread(short):
    """Nobody hears Ctrl-C there; rounds follow all the same."""
    fitted = []
    worker = threading.Thread(target=lambda: fitted.append(BHMC(**HARD).fit(hard_rows())))
    worker.start()
    worker.join()
    assert fitted[0].n_sweeps_ == 260
