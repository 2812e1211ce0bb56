"""`plot_trace`: the numbers of the draws, ranks and histograms."""

import numpy as np
import pytest
from scipy import stats

from bhmc import plotting
from tests.plotting.pictures import new_axes, part
from tests.posterior.draws_factory import make_draws


def test_traces_are_the_numbers_of_the_draws():
    draws = make_draws(n_chains=3, n_draws=12, gamma=np.full((3, 12), 0.5))
    traces = plotting.trace_data(draws)
    names = [trace.name for trace in traces]
    assert names == ["log_joint", "n_components", "nodes_at[1]", "nodes_at[2]", "alpha", "gamma0"]
    axes = plotting.plot_trace(draws)
    assert axes.shape == (6, 2)
    for (left, right), trace in zip(axes, traces, strict=True):
        np.testing.assert_array_equal(trace.values, draws.numbers()[trace.name])
        for chain in range(3):
            line = part(left, f"chain {chain}")
            np.testing.assert_array_equal(line.get_ydata(), trace.values[chain])
            np.testing.assert_array_equal(
                right.patches[chain].get_data().values, trace.ranks[chain]
            )


def test_traces_that_are_asked_for():
    draws = make_draws()
    axes = plotting.plot_trace(draws, ["together[1]", "gamma"], panel="histogram", n_bins=4)
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["together[1]", "gamma"]
    trace = plotting.trace_data(draws, ["gamma"], n_bins=4)[0]
    for chain in range(2):
        counts, edges, _ = axes[1, 1].patches[chain].get_data()
        held, _ = np.histogram(draws.gamma[chain], edges)
        np.testing.assert_allclose(counts * np.diff(edges), held / held.sum())
        np.testing.assert_allclose(counts, trace.shares[chain])
    with pytest.raises(ValueError, match=r"names must be of log_joint, .*; got 'gama'"):
        plotting.plot_trace(draws, ["gama"])
    with pytest.raises(ValueError, match="ax must hold 2 x 2 Axes, got 1"):
        plotting.plot_trace(draws, ["alpha", "gamma"], ax=new_axes())


def test_ranks_without_ties_are_counts_of_ranks():
    values = np.random.default_rng(0).normal(size=(3, 40))
    ranks = stats.rankdata(values).reshape(values.shape)  # 1 to 120
    expected = [np.histogram(chain - 0.5, np.linspace(0, 120, 7))[0] for chain in ranks]
    np.testing.assert_allclose(plotting._trace.rank_counts(values, 6), expected, atol=1e-9)


def test_ranks_with_ties_are_those_of_ties_broken_at_random():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, size=(2, 30))
    total = np.zeros((2, 7))
    for _ in range(4_000):
        order = np.lexsort((rng.random(60), values.ravel()))
        ranks = np.argsort(order).reshape(2, 30)
        # A rank r takes the whole range from r to r + 1, bins share it.
        for chain in range(2):
            edges = np.linspace(0, 60, 8)
            low = np.clip(edges[None, 1:] - ranks[chain][:, None], 0, 1)
            total[chain] += (low - np.clip(edges[None, :-1] - ranks[chain][:, None], 0, 1)).sum(0)
    np.testing.assert_allclose(plotting._trace.rank_counts(values, 7), total / 4_000, atol=0.15)
