"""Methods: stopped in time, gone on with after an interrupt, decided by their seed."""

import signal

import numpy as np
import pytest

from bhmc._experiments import (
    methods,
)
from bhmc._experiments.methods import METHODS, Request

FEW = {"n_levels": 2, "n_warmup": 3, "n_draws": 4, "n_chains": 2}


def test_bhmc_stops_in_time_and_says_so(blobs):
    slow = {**FEW, "n_draws": 30_000, "keep": "summary"}
    outcome = methods.run_bhmc(Request(blobs, slow, seed=0, budget=0.5))
    assert outcome.facts["stopped_early"]
    assert 0 < outcome.facts["n_draws"] < 30_000
    assert outcome.tree.paths.shape == (40, 3)
    assert outcome.facts["seconds"] < 20


def test_bhmc_without_a_draw_in_its_time_has_no_tree(blobs):
    slow = {**FEW, "n_warmup": 30_000}
    outcome = methods.run_bhmc(Request(blobs, slow, seed=0, budget=0.01))
    assert outcome.tree is None
    assert outcome.facts["stopped_early"]


def test_the_warm_up_is_noted(blobs):
    request = Request(blobs, FEW, seed=0, record_warmup=True, keep_draws=True)
    outcome = methods.run_bhmc(request)
    assert outcome.series["n_nodes"].shape == (2, 3)
    longer = methods.run_bhmc(request._replace(settings={**FEW, "n_warmup": 0, "n_draws": 3}))
    for name in ("log_likelihood", "n_components", "nodes_at[2]"):
        np.testing.assert_array_equal(outcome.series[name], longer.draws.numbers()[name])


class Ringing:
    """In the place of the time limit: Ctrl-C at the 30th sweep of the first chain."""

    is_over = False

    def __init__(self, *arguments):
        pass

    def __call__(self, number, chain, made):
        if (number, made) == (0, 30):
            signal.raise_signal(signal.SIGINT)
        return False


def test_bhmc_goes_on_after_an_interrupt(blobs, tmp_path, monkeypatch):
    """The same tree as without it, and the seconds of both parts."""
    longer = {**FEW, "n_draws": 60}
    whole = methods.run_bhmc(Request(blobs, longer, seed=3))
    request = Request(blobs, longer, seed=3, going=tmp_path / "part.going", budget=1000.0)
    with monkeypatch.context() as patch:
        patch.setattr(methods, "TimeLimit", Ringing)
        with pytest.raises(KeyboardInterrupt):
            methods.run_bhmc(request)
    assert (tmp_path / "part.going.0").exists()
    (tmp_path / "part.going.seconds").write_text("[100.0, 50.0]")
    rest = methods.run_bhmc(request)
    assert not rest.facts["stopped_early"]
    np.testing.assert_array_equal(rest.tree.paths, whole.tree.paths)
    assert 100 < rest.facts["seconds"] < 200
    assert 50 < rest.facts["cpu_seconds"] < 100


def test_a_seed_decides_and_jobs_do_not(blobs):
    one, two, other = (
        methods.run_bhmc(Request(blobs, FEW, seed=seed, n_jobs=jobs)).tree
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one.paths, two.paths)
    np.testing.assert_array_equal(one.theta, two.theta)
    assert not np.array_equal(one.theta, other.theta)  # all seeds may find the same tree


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="'wards' is no method: choose from bhmc"):
        methods.check_methods(["bhmc", "wards"])
    with pytest.raises(ValueError, match="named twice"):
        methods.check_methods(["ward", "ward"])


def test_words_of_the_command_line_are_the_methods():
    from bhmc._cli import parser

    assert list(parser.METHODS) == list(METHODS)
