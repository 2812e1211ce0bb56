"""PYDT's chains run as BHMC's: stopped, resumed bit for bit, side by side, and diagnosed."""

import os
import pickle
import signal
from itertools import count

import numpy as np
import pytest
from sklearn.base import clone

from bhmc._io.archive import read, write
from bhmc._sampling.run import Stopped
from bhmc.baselines import PYDT
from bhmc.baselines.pydt import chain as diffusion
from bhmc.baselines.pydt.chain import DiffusionChain, RatePriors
from bhmc.baselines.pydt.density import children_of
from bhmc.baselines.pydt.state import DiffusionTree, Rates
from bhmc.plotting import trace_data
from bhmc.posterior.draws import Draws
from bhmc.priors import Gamma, InverseGamma
from tests.baselines.pydt_laws import PRIORS

N_WARMUP, N_DRAWS = 3, 5
RATES = Rates(0.2, 0.5, 1.0, 2.0, 0.1)
NUMBERS = ["log_joint", "log_likelihood", "n_nodes", *Rates._fields]
both = pytest.mark.parametrize("sampler", ["slice", "mh"])


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(0, 4, (3, 3)), 7, axis=0)
    return centres + rng.normal(0, 0.3, centres.shape)


@pytest.fixture(autouse=True)
def few_turns_at_a_time(monkeypatch):
    """So that a sweep of 21 turns can be stopped within."""
    for sampler in diffusion.TURNS_AT_A_TIME:
        monkeypatch.setitem(diffusion.TURNS_AT_A_TIME, sampler, 5)


def model(**settings):
    return PYDT(n_warmup=N_WARMUP, n_draws=N_DRAWS, **{"random_state": 0, **settings})


def assert_same_fit(one, other):
    for name, values in one.draws_.numbers().items():
        np.testing.assert_array_equal(other.draws_.numbers()[name], values, err_msg=name)
    np.testing.assert_array_equal(one.log_joint_, other.log_joint_)
    np.testing.assert_array_equal(one.tree_.paths, other.tree_.paths)
    np.testing.assert_array_equal(one.tree_.heights, other.tree_.heights)
    assert one.hyper_ == other.hyper_
    assert one.n_moves_ == other.n_moves_


def press_ctrl_c(monkeypatch, method, calls):
    """After so many calls of one of the chain's methods."""
    original, number = getattr(DiffusionChain, method), count(1)

    def interrupted(chain, *arguments):
        found = original(chain, *arguments)
        if next(number) == calls:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(DiffusionChain, method, interrupted)


PLACES = [("sweep", 2), ("sweep", N_WARMUP), ("sweep", 6), ("move", 3), ("move", 22)]


@both
@pytest.mark.parametrize(("method", "calls"), PLACES)
def test_a_stopped_chain_resumes_from_its_file_bit_for_bit(
    method, calls, sampler, X, tmp_path, monkeypatch
):
    """Stopped in the warm-up, at its end, between draws, and in the middle of a sweep."""
    saved = model(sampler=sampler, checkpoint=tmp_path / "chain")
    press_ctrl_c(monkeypatch, method, calls)
    n_draws = calls - N_WARMUP if method == "sweep" else (calls - 1) // 5 - N_WARMUP
    if n_draws > 0:
        saved.fit(X)
        assert saved.interrupted_
        assert not saved.stopped_early_
        assert saved.log_joint_.shape == (n_draws,)
    else:
        with pytest.raises(KeyboardInterrupt):
            saved.fit(X)
        assert not hasattr(saved, "draws_")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["chain.0"]
    assert not saved.fit(X).interrupted_
    assert_same_fit(saved, model(sampler=sampler).fit(X))


@both
def test_a_chain_out_of_time_resumes(X, sampler, tmp_path):
    """Wherever the clock stopped the chain; the tree that is kept then is no draw of the chain."""
    saved = model(sampler=sampler, checkpoint=tmp_path / "chain", max_seconds=1e-9)
    assert saved.fit(X).stopped_early_
    assert not saved.interrupted_
    assert saved.draws_.n_draws == 1
    for seconds in (0.002, 0.002, None):
        saved.set_params(max_seconds=seconds).fit(X)
    assert not saved.stopped_early_
    assert_same_fit(saved, model(sampler=sampler).fit(X))


def test_more_draws_go_on_from_the_first(X, tmp_path):
    saved = model(checkpoint=tmp_path / "chain").fit(X)
    more = clone(saved).set_params(n_draws=9, n_chains=2, n_clusters=2).fit(X)
    assert_same_fit(more, model(n_chains=2).set_params(n_draws=9).fit(X))
    with pytest.raises(ValueError, match="was saved by a fit with sampler='slice'"):
        clone(saved).set_params(sampler="mh").fit(X)
    with pytest.raises(ValueError, match="to other data"):
        clone(saved).fit(X + 1)


def test_a_checkpoint_that_cannot_be_written(X, tmp_path):
    with pytest.raises(FileNotFoundError, match="a directory that does not exist"):
        model(checkpoint=tmp_path / "none" / "chain").fit(X)


def test_chains(X):
    """The first is the same however many there are; results have chain after chain."""
    one, two = model().fit(X), model(n_chains=2, n_jobs=2).fit(X)
    assert two.draws_.log_joint.shape == (2, N_DRAWS)
    np.testing.assert_array_equal(two.draws_.log_joint[0], one.draws_.log_joint[0])
    assert not np.array_equal(two.draws_.log_joint[0], two.draws_.log_joint[1])
    assert_same_fit(two, model(n_chains=2).fit(X))
    np.testing.assert_allclose(two.log_joint_, two.draws_.log_joint.ravel(), rtol=1e-12)
    best = int(two.log_joint_.argmax())
    assert two.hyper_ == {name: trace[best] for name, trace in two.traces_.items()}
    assert two.n_moves_ == 2 * one.n_moves_
    with pytest.raises(ValueError, match="n_chains must be at least 1"):
        model(n_chains=0).fit(X)


def test_the_tree_is_the_draw_of_the_highest_log_joint(X):
    """The priors of the rates have their say: here the most likely draw is another."""
    fitted = model(c=Gamma(200, 1000), sigma2=InverseGamma(50, 5)).fit(X)
    best = int(fitted.log_joint_.argmax())
    assert best != int(fitted.draws_.log_likelihood.argmax())
    assert fitted.hyper_ == {name: trace[best] for name, trace in fitted.traces_.items()}


def test_the_first_chain_has_the_seed_itself(X):
    """As it had when there was one chain only."""
    settings = {"alpha": 0.1, "theta": 0.2, "c": 1.0, "sigma2": 4.0, "noise": 0.1}
    fitted = model(n_chains=2, **settings).fit(X)
    data, rng = X - X.mean(axis=0), np.random.default_rng(0)
    chain = DiffusionChain(data, Rates(**settings), RatePriors(), "slice", rng)
    chain.start()
    for _ in range(N_WARMUP + 1):
        chain.sweep()
    assert fitted.draws_.log_joint[0, 0] == chain.log_joint()


def test_chains_may_go_to_other_processes(X):
    task = pickle.loads(pickle.dumps(model()._task(X, RATES, PRIORS)))
    chain = task.make_chain(np.random.default_rng(0), None, lambda: False)
    chain.sweep()
    assert task.result(chain) == len(X)


def test_progress_changes_no_draw(X):
    assert_same_fit(model(progress=True).fit(X), model().fit(X))


def test_numbers_of_draws(X):
    fitted = model().fit(X)
    draws = fitted.draws_
    assert list(draws.numbers()) == NUMBERS
    for name, trace in fitted.traces_.items():
        np.testing.assert_array_equal(draws.learned[name][0], trace)
        trace[:] = 0.0  # a copy
    best, tree = int(fitted.log_joint_.argmax()), fitted.tree_
    found = {frozenset(tree.members(node).tolist()) for node in range(tree.n_nodes)}
    assert draws.n_nodes[0, best] == len(found)
    assert len(draws.partitions) == len(draws.mixtures) == len(draws.pairs) == 0


def test_diagnostics_traces_and_files(X, tmp_path):
    fitted = model(n_chains=2, alpha=0.1).set_params(n_draws=30).fit(X)
    table = fitted.diagnostics_.table
    assert table["name"].tolist() == NUMBERS
    assert table["name"][table["constant"]].tolist() == ["alpha"]
    assert np.isfinite(table["rhat"][~table["constant"]]).all()
    assert "log_joint" in str(fitted.diagnostics_)
    assert "c" in [trace.name for trace in trace_data(fitted.draws_)]
    fitted.draws_.save(tmp_path / "draws")
    again = Draws.load(tmp_path / "draws")
    np.testing.assert_array_equal(again.learned["c"], fitted.draws_.learned["c"])


def test_arviz(X):
    pytest.importorskip("arviz_base")
    posterior = model(n_chains=2).fit(X).draws_.to_arviz()["posterior"]
    assert posterior["sigma2"].shape == (2, N_DRAWS)
    assert not {"nodes_at", "together", "shared", "components"} & set(posterior)


# ---- The chain itself --------------------------------------------------------------------------


def chain_at(X, sampler, seed=1, **settings):
    chain = DiffusionChain(X, RATES, PRIORS, sampler, np.random.default_rng(seed), **settings)
    chain.start()
    return chain


@both
def test_a_chain_needs_all_that_is_captured(X, sampler, tmp_path):
    """Also while it learns no more."""
    chain = chain_at(X, sampler)
    chain.sweep()
    chain.stop_learning()
    write(tmp_path / "chain", "checkpoint", {"chain": chain.capture(), "rng": chain._rng})
    values = read(tmp_path / "chain", "checkpoint")
    again = DiffusionChain.resume(values["chain"], X, PRIORS, sampler, values["rng"])
    for _ in range(3):
        chain.sweep()
        again.sweep()
    assert again.rates == chain.rates
    np.testing.assert_array_equal(again.tree.parents, chain.tree.parents)
    np.testing.assert_array_equal(again.tree.clocks, chain.tree.clocks)
    assert again.log_prior() == chain.log_prior() == 0.0
    assert again.n_moves == chain.n_moves == 4 * len(X)


def test_a_sweep_broken_off_goes_on_where_it_was(X):
    asked = count(1)
    whole, broken = chain_at(X, "slice"), chain_at(X, "slice", stop=lambda: next(asked) == 4)
    with pytest.raises(Stopped):
        broken.sweep()
    assert broken.n_moves == 15
    for chain in (whole, broken):
        chain.sweep()
    assert broken.n_moves == whole.n_moves == len(X)
    assert broken.log_joint() == whole.log_joint()


def test_to_ask_changes_nothing(X):
    """Not even messages that are off by a little, as rounding may leave them."""
    chain = chain_at(X, "slice")
    chain._work.up[len(X) :] *= 1.0 + 1e-9
    before = chain.capture()["work"]
    assert np.isfinite(chain.log_likelihood() + chain.log_prior())
    for name, values in chain.capture()["work"].items():
        np.testing.assert_array_equal(values, before[name], err_msg=name)


@both
def test_what_a_chain_says_of_itself(X, sampler):
    chain = chain_at(X, sampler)
    info = chain.sweep()
    assert 0 <= info.paths_accepted <= len(X)
    assert chain.learned() == chain.rates._asdict()
    assert chain.log_joint() == pytest.approx(chain.log_likelihood() + chain.log_prior())
    state = chain.state()
    assert np.array_equal(state["parents"], chain.tree.parents)
    assert chain.n_nodes == len(state["parents"])
    fixed = DiffusionChain(X, RATES, RatePriors(), sampler, np.random.default_rng(0))
    fixed.start()
    fixed.sweep()
    assert fixed.rates == RATES


def test_partition_is_the_tree(X):
    """The same clades; parents before children, the root first."""
    chain = chain_at(X, "slice")
    chain.sweep()
    found = chain.partition()
    assert found.parents[0] == -1
    assert (found.parents[1:] < np.arange(1, len(found.parents))).all()
    assert len(found.component) == 0
    assert clades(found.parents, found.leaf) == clades(chain.tree.parents, np.arange(len(X)))


def clades(parents, leaf):
    children = children_of(DiffusionTree(parents, parents))
    row_of = {int(node): row for row, node in enumerate(leaf)}

    def rows(node):
        if not children[node]:
            return frozenset([row_of[node]])
        return frozenset().union(*map(rows, children[node]))

    return sorted(map(sorted, map(rows, range(len(parents)))))
