"""What is kept of chains: every number recomputed from the partitions; thinning; memory."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.chains import chain_of
from scipy import stats

import bhmc
from bhmc import BHMC
from bhmc._sampling.run import run
from bhmc.model.hdp.density import log_p_weights
from bhmc.model.hdp.predictive import component_weights
from bhmc.posterior import retention
from bhmc.posterior.draws import concat
from bhmc.posterior.predictive import mixture_of
from bhmc.posterior.recorder import Recorder
from bhmc.posterior.retention import Thinned, draws_within, memory_of_partitions, plan
from tests.posterior.draws_factory import make_draws

QUICK = {"n_warmup": 5, "n_draws": 12, "random_state": 0, "n_chains": 2}


def blobs(n=40):
    rng = np.random.default_rng(1)
    return rng.normal(rng.choice([-2.0, 0.0, 2.0], n)[:, None], 0.3, (n, 2))


@pytest.fixture(scope="module")
def draws():
    return BHMC(keep="paths", **QUICK).fit(blobs()).draws_


def entropy(labels) -> float:
    return float(stats.entropy(np.unique(labels, return_counts=True)[1]))


def test_numbers_are_those_of_the_partitions(draws):
    paths, components = draws.paths, draws.components
    assert paths.shape == (2, 12, 40, 4)
    assert paths.dtype == components.dtype == np.int32
    for c, t in np.ndindex(2, 12):
        assert draws.n_components[c, t] == len(np.unique(components[c, t]))
        assert draws.n_nodes[c, t] == len(np.unique(paths[c, t]))
        assert draws.component_entropy[c, t] == pytest.approx(entropy(components[c, t]))
        for level in (1, 2, 3):
            nodes = paths[c, t, :, level]
            assert draws.nodes_at[c, t, level - 1] == len(np.unique(nodes))
            assert draws.entropy_at[c, t, level - 1] == pytest.approx(entropy(nodes), abs=1e-12)
        one, other = components[c, t][draws.pairs.T]
        np.testing.assert_array_equal(draws.together[c, t], one == other)
    assert len(np.unique(draws.log_joint)) == 24
    assert (draws.pairs[:, 0] != draws.pairs[:, 1]).all()


def test_a_mixture_is_that_of_its_draw():
    X, rng = blobs(), np.random.default_rng(0)
    hyper = bhmc.Hyper(0.5, 1.0, 0.5)
    state, _ = bhmc.sample_prior(
        40, n_levels=2, hyper=hyper, likelihood="gaussian", rng=rng, n_features=2
    )
    chain = chain_of(state, bhmc.likelihoods.Gaussian().prepare(X), "gibbs", rng)
    recorder = Recorder(plan("paths", n_rows=40, n_draws=3, n_chains=1, best=True))
    states = []

    def on_draw(chain, info):
        recorder.on_draw(chain, info)
        states.append(chain.state())

    run(chain, n_warmup=0, n_draws=3, on_draw=on_draw)
    assert recorder.wholes.draws == [0, 1, 2]
    for whole, state in zip(recorder.wholes.things, states, strict=True):
        for ours, theirs in zip(whole.state(2)[:5], state[:5], strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert whole.nbytes == whole.partition.nbytes + state.weights.nbytes + state.theta.nbytes
        mixture = mixture_of(whole.state(2))
        np.testing.assert_array_equal(mixture.weights, component_weights(state))
        np.testing.assert_array_equal(mixture.theta, state.theta)


# ---- The log joint ----


@pytest.mark.parametrize("n_components", [None, 4])
def test_log_joint_of_a_draw(n_components):
    """log_joint of the functional layer, but for the density of the weights."""
    rng = np.random.default_rng(3)
    hyper = bhmc.Hyper(0.7, 4.0, bhmc.priors.Gamma(40, 2), n_components)
    likelihood = bhmc.likelihoods.Gaussian(sigma2=0.5)
    state, X = bhmc.sample_prior(
        30, n_levels=2, hyper=hyper, likelihood=likelihood, rng=rng, n_components=n_components
    )
    chain = chain_of(state, likelihood.prepare(X), "gibbs", rng, learning=hyper)
    joint = bhmc.log_joint(state, X, hyper=hyper, likelihood=likelihood)
    ours = chain.log_likelihood() + chain.log_prior()
    assert ours == pytest.approx(joint - log_p_weights(state))


# ---- How much is kept ----


def test_thinned_keeps_draws_evenly_spaced_within_its_bytes():
    kept = Thinned(1, 80)
    for draw in range(40):
        if kept.wants(draw):
            kept.add(draw, np.zeros(2))  # 16 bytes
    assert kept.draws == [0, 8, 16, 24, 32]
    assert [thing.nbytes for thing in kept.things] == [16] * 5
    assert kept.first(20).draws == [0, 8, 16]


def test_a_summary_is_a_part_of_all(draws, monkeypatch):
    monkeypatch.setattr(retention, "_PARTITION_BYTES", 2_000)
    some = BHMC(keep="summary", **QUICK).fit(blobs()).draws_
    np.testing.assert_array_equal(some.log_joint, draws.log_joint)
    assert 2 <= len(some.partitions) < 24
    assert sum(one.nbytes for one in some.partitions) <= 2_000
    for (c, t), partition in zip(some.partition_index, some.partitions, strict=True):
        np.testing.assert_array_equal(partition.paths(3), draws.paths[c, t])
    with pytest.raises(ValueError, match="paths of all draws were not kept"):
        _ = some.paths


def test_auto_keeps_all_that_is_small(monkeypatch):
    assert plan("auto", n_rows=100, n_draws=300, n_chains=2, best=False).every_partition
    assert not plan("auto", n_rows=10**6, n_draws=300, n_chains=2, best=False).every_partition


def test_memory_is_checked_before_anything_is_allocated(monkeypatch):
    assert memory_of_partitions(10**6, 300, 2) == 2_400_000_000
    monkeypatch.setattr(retention, "_free_memory", lambda: 2e9)
    with pytest.raises(ValueError, match=r"would take 2,289 MB \(2 chains x 300 draws x 1000000"):
        plan("paths", n_rows=10**6, n_draws=300, n_chains=2, best=False)
    plan("summary", n_rows=10**6, n_draws=300, n_chains=2, best=False)


def test_the_formula_is_what_partitions_take(draws):
    """Labels of these few nodes and components need one byte, not two; parents are few."""
    taken = sum(one.leaf.nbytes + one.component.nbytes for one in draws.partitions)
    assert taken == memory_of_partitions(40, 12, 2) // 2


# ---- Draws as a table ----


def test_thin_and_chain(draws):
    some = draws.thin(5)
    np.testing.assert_array_equal(some.log_joint, draws.log_joint[:, 1::5])
    np.testing.assert_array_equal(some.paths, draws.paths[:, 1::5])
    one = draws.chain(1)
    assert one.n_chains == 1
    np.testing.assert_array_equal(one.paths[0], draws.paths[1])
    assert one.mixture_index[:, 0].max() == 0
    with pytest.raises(ValueError, match="read-only"):
        one.alpha[0, 0] = 3.0


def test_concat_gives_more_chains(draws):
    both = concat([draws, draws.chain(0)])
    assert both.n_chains == 3
    np.testing.assert_array_equal(both.paths[2], draws.paths[0])
    np.testing.assert_array_equal(both.log_joint[2], draws.log_joint[0])
    np.testing.assert_array_equal(np.unique(both.mixture_index[:, 0]), [0, 1, 2])
    with pytest.raises(ValueError, match="concat needs fits of the same data with equal n_draws"):
        concat([draws, make_draws()])


@pytest.mark.parametrize(("bad", "sentence"), [(2, "at most 1"), (-1, "at least 0")])
def test_bad_chains(draws, bad, sentence):
    with pytest.raises(ValueError, match=f"chain must be {sentence}, got {bad}"):
        draws.chain(bad)


def test_nothing_to_put_together():
    with pytest.raises(ValueError, match="at least one Draws"):
        concat([])


@pytest.mark.parametrize("bad", [0, -1, 1.5])
def test_bad_steps(draws, bad):
    with pytest.raises((ValueError, TypeError), match="step must be"):
        draws.thin(bad)


def test_draws_within_a_number_of_bytes(draws):
    """Evenly spaced in every chain; numbers stay; partitions go before mixtures."""
    n_bytes = sum(one.nbytes for one in draws.partitions)
    wanted = n_bytes * 0.3 + 2**20
    assert draws_within(draws, 2**30).partitions == draws.partitions
    many = replace(draws, mixtures=(), mixture_index=draws.mixture_index[:0])
    fewer = draws_within(many, int(wanted - 2**20))
    assert sum(one.nbytes for one in fewer.partitions) <= wanted - 2**20
    assert fewer.partition_index.tolist() == [[c, t] for c in (0, 1) for t in (0, 4, 8)]
    for one, (chain, draw) in zip(fewer.partitions, fewer.partition_index, strict=True):
        assert one is draws.partitions[12 * chain + draw]
    np.testing.assert_array_equal(fewer.log_joint, draws.log_joint)
    none = draws_within(draws, 0)  # the first of each chain stay
    assert none.partition_index.tolist() == none.mixture_index.tolist() == [[0, 0], [1, 0]]


def test_a_recorder_within_a_number_of_bytes_goes_on_evenly():
    """What is kept of a run that ended, and of the same run with more draws."""
    rng, likelihood = np.random.default_rng(0), bhmc.likelihoods.Gaussian()
    hyper = bhmc.Hyper(1.0, 1.0, 1.0)
    state, X = bhmc.sample_prior(20, n_levels=2, hyper=hyper, likelihood=likelihood, rng=rng)
    chain = chain_of(state, likelihood.prepare(X), "gibbs", rng)
    whole = Recorder(plan("paths", n_rows=20, n_draws=8, n_chains=1, best=False))
    run(chain, n_warmup=0, n_draws=8, on_draw=whole.on_draw)
    least = 4 * max(one.nbytes for one in whole.wholes.things)
    fewer = whole.within(least)
    assert fewer.wholes.nbytes + fewer.partitions.nbytes <= least
    assert len(fewer.rows) == len(whole.partitions.draws) == 8
    again = Recorder.from_contents(fewer.contents(), whole.plan)
    run(chain, n_warmup=0, n_draws=8, on_draw=again.on_draw)
    assert again.wholes.step > whole.wholes.step
    for kept in (again.wholes, again.partitions):
        assert kept.draws == list(range(0, 16, kept.step))
    half = whole.partitions.within(whole.partitions.nbytes // 2)
    assert (half.step, half.draws) == (2, [0, 2, 4, 6])
