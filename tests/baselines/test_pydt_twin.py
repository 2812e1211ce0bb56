"""The kernels take the steps of the slow twin: the same trees, times and rates, step by step."""

import numpy as np
import pytest

from bhmc.baselines.pydt import density, kernels
from bhmc.baselines.pydt.chain import DiffusionChain
from bhmc.baselines.pydt.simulate import simulate_data, simulate_tree
from bhmc.baselines.pydt.state import Rates, make_work, put_tree, tree_of
from tests.baselines import pydt_reference as reference
from tests.baselines.pydt_laws import PRIORS
from tests.baselines.pydt_mutants import build

CASES = {
    "pydt": (8, 2, Rates(0.3, 0.5, 1.2, 1.5, 0.1)),
    "ddt": (9, 3, Rates(0.0, 0.0, 1.0, 1.5, 0.1)),
    "bushy": (10, 1, Rates(0.7, 0.4, 0.5, 1.0, 0.01)),
}


@pytest.mark.parametrize("sampler", ["slice", "mh"])
@pytest.mark.parametrize("name", CASES)
def test_chain_equals_its_slow_twin(name, sampler):
    assert_same_chain(name, sampler, reference)


@pytest.mark.parametrize("sampler", ["slice", "mh"])
def test_uncompiled_kernels_are_the_compiled_ones(sampler):
    """So it is the edit that a mutant is told by."""
    assert_same_chain("pydt", sampler, build((), quick=()))


def assert_same_chain(name, sampler, engine):
    """Step by step, from the same random numbers."""
    n, d, rates = CASES[name]
    rng = np.random.default_rng(1)
    X = simulate_data(simulate_tree(n, rates, rng), n, d, rates, rng)
    priors = PRIORS if rates.alpha else PRIORS._replace(alpha=None, theta=None)
    fast, slow = (
        DiffusionChain(X, rates, priors, sampler, np.random.default_rng(2), engine)
        for engine in (kernels, engine)
    )
    for step in ("start", *["move"] * 12, "redraw_times", "redraw_rates", *["move"] * 12):
        for chain in (fast, slow):
            getattr(chain, step)(*([1] if step == "move" else []))
        assert np.array_equal(fast.tree.parents, slow.tree.parents), step
        np.testing.assert_allclose(fast.tree.clocks, slow.tree.clocks, rtol=1e-7)
        np.testing.assert_allclose(fast.rates, slow.rates, rtol=1e-7)
    assert fast.log_joint() == pytest.approx(slow.log_joint())


@pytest.mark.parametrize("sampler", ["slice", "mh"])
@pytest.mark.parametrize("name", CASES)
def test_messages_kept_up_to_date_are_those_made_anew(name, sampler):
    """After hundreds of cuts and grafts no message, size or link is stale."""
    n, d, rates = 60, *CASES[name][1:]
    rng = np.random.default_rng(3)
    tree = simulate_tree(n, rates, rng)
    X = simulate_data(tree, n, d, rates, rng)
    chain = DiffusionChain(X, rates, PRIORS, sampler, rng)
    chain.start_from(tree)
    for _ in range(5):
        chain.move(100)
        chain.redraw_times()
    work = chain._work
    means, variances = work.up.copy(), work.up_var.copy()
    fresh = make_work(X, rates)
    put_tree(fresh, tree_of(work))
    kernels.tabulate(fresh)
    assert kernels.refresh(work) == pytest.approx(kernels.refresh(fresh), rel=1e-12)
    used = np.flatnonzero(work.n_kids)
    np.testing.assert_allclose(work.up[used], means[used], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(work.up_var[used], variances[used], rtol=1e-12)
    assert kernels.log_tree(work) == pytest.approx(density.log_tree(chain.tree, rates))
    used_sizes = np.sort(work.size[used])
    assert np.array_equal(used_sizes, np.sort(fresh.size[np.flatnonzero(fresh.n_kids)]))
    kids, parents = np.flatnonzero(work.parent[:n] >= 0), work.parent[used]
    assert len(kids) == n
    assert (work.clock[used] >= np.where(parents >= 0, work.clock[parents], 0.0)).all()


def test_the_twin_s_likelihood_needs_no_messages():
    n, d, rates = CASES["pydt"]
    rng = np.random.default_rng(4)
    tree = simulate_tree(n, rates, rng)
    X = simulate_data(tree, n, d, rates, rng)
    work = make_work(X, rates)
    put_tree(work, tree)
    assert reference.refresh(work) == pytest.approx(density.log_likelihood(tree, X, rates))
