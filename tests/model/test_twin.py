"""The compiled kernels equal their slow twin, draw for draw, from the same random numbers."""

import numpy as np
import pytest
from benchmarks.chains import chain_of, start_state

import bhmc
from bhmc.model.hdp import kernels as _kernels
from bhmc.model.hdp import reference, reference_moves, reference_parts
from bhmc.model.hdp import workspace as _workspace
from bhmc.model.hdp.kernels import weights
from bhmc.model.hdp.params import hdp_state
from bhmc.model.hdp.sampler import HdpSampler
from bhmc.rows import local
from tests.exact.geweke import Setting
from tests.exact.learned import PRIORS, Learned
from tests.mutants.mutants import build

CASES = [("gibbs", None), ("mh", None), ("paper", None), ("gibbs", 4), ("mh", 4)]
ENGINES = [_kernels, reference]


def _run(setting, state, X, sampler, engine, seed, n_sweeps):
    chain = setting.chain(state, X, sampler, np.random.default_rng(seed), engine=engine)
    infos = [chain.sweep() for _ in range(n_sweeps)]
    return chain, infos


def _check_same_draws(setting, state, X, sampler, seed, n_sweeps):
    """Run both engines; returns the fast one's infos."""
    fast, fast_infos = _run(setting, state, X, sampler, _kernels, seed, n_sweeps)
    slow, slow_infos = _run(setting, state, X, sampler, reference, seed, n_sweeps)
    assert fast_infos == slow_infos  # every birth, death and acceptance
    _check_same_state(fast.state(), slow.state())
    np.testing.assert_allclose(fast.log_likelihood(), slow.log_likelihood(), rtol=1e-9)
    for chain in (fast, slow):
        _check_bookkeeping(chain)
    return fast_infos


def _check_same_state(fast, slow):
    for name in ("paths", "components", "parents"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
    np.testing.assert_allclose(fast.log_weights, slow.log_weights, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fast.theta, slow.theta, rtol=1e-9, atol=1e-12)


def _check_bookkeeping(chain):
    """Everything that nodes and rows say twice, they say alike."""
    ws, tile = chain.ws, chain.rows.tile
    nodes = np.flatnonzero(ws.level >= 0)
    n_free, n_free_columns, width, depth, _ = ws.room
    assert set(ws.free[:n_free]) == set(np.flatnonzero(ws.level < 0))
    assert len(set(ws.free[:n_free])) == n_free == len(ws.level) - len(nodes)
    assert n_free_columns == (~ws.alive).sum()
    assert ws.alive[0]
    assert width % _workspace.BLOCK == 0
    assert not ws.alive[width:].any()
    for array in (tile.log_f, ws.log_beta, ws.beta, ws.mass, ws.scratch):
        assert array.ctypes.data % 64 == 0  # else blocks of 8 lie across cache lines: half as fast
    np.testing.assert_array_equal(
        ws.held, np.bincount(chain.rows.component, minlength=len(ws.held)), err_msg="held"
    )
    n_under, children = np.zeros_like(ws.n_under), 0
    for leaf in chain.rows.leaf:
        assert ws.level[leaf] == depth
        z = leaf
        while z != _workspace.NONE:
            n_under[z] += 1
            z = ws.parent[z]
    for z in nodes:
        y = ws.first_child[z]
        while y != _workspace.NONE:
            assert ws.parent[y] == z
            assert ws.level[y] == ws.level[z] + 1
            children += 1
            y = ws.next_sibling[y]
    assert children == len(nodes) - 1
    np.testing.assert_array_equal(ws.n_under[nodes], n_under[nodes])
    log_beta, beta = ws.log_beta[nodes], ws.beta[nodes]
    assert (log_beta[:, ~ws.alive] == -np.inf).all()
    np.testing.assert_allclose(beta, np.exp(log_beta), rtol=1e-12, atol=1e-280)
    np.testing.assert_allclose(beta.sum(axis=1), 1, rtol=1e-12)


def test_same_numbers_by_name():
    fast = build(())
    for name in ("TOO_SMALL", "TOO_LARGE"):
        assert getattr(reference, f"_{name}") == getattr(fast, name)
    for module, names in (
        (reference_parts, ("MANY_CUSTOMERS", "HUGE")),
        (reference_moves, ("PART", "LARGEST_GAMMA")),
    ):
        for name in names:
            assert getattr(module, name) == getattr(fast, name)
    assert reference_parts.SMALLEST == 2.0**fast.SMALLEST_EXPONENT
    assert reference_parts.LARGEST == 2.0**fast.LARGEST_EXPONENT


@pytest.mark.parametrize(("sampler", "n_components"), CASES)
@pytest.mark.parametrize(("n", "n_levels"), [(1, 1), (2, 2), (8, 3), (40, 2)])
def test_same_draws(sampler, n_components, n, n_levels):
    setting = Setting(n_components, n=n, n_levels=n_levels)
    for seed in range(6):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        _check_same_draws(setting, state, X, sampler, seed, 8)


@pytest.mark.parametrize("numbers", [(0.05, 0.2, 5.0), (5.0, 4.0, 0.05), (20.0, 30.0, 2.0)])
@pytest.mark.parametrize(("sampler", "n_components"), CASES)
def test_same_draws_in_the_corners(sampler, n_components, numbers):
    setting = Setting(n_components, n=12, n_levels=2, numbers=numbers)
    for seed in range(3):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        _check_same_draws(setting, state, X, sampler, seed, 4)


@pytest.mark.parametrize(("sampler", "n_components"), CASES)
def test_same_draws_over_several_tiles(sampler, n_components, monkeypatch):
    """Five tiles: components die in one and their columns are used again in the next."""
    monkeypatch.setattr(local, "tile_height", lambda n_statistics: 8)
    setting = Setting(n_components, n=40, n_levels=2, numbers=(1.5, 3.0, 3.0), sigma2=0.05)
    for seed in range(3):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        infos = _check_same_draws(setting, state, X, sampler, seed, 4)
        if sampler == "gibbs" and n_components is None:
            assert min(sum(i.components_born for i in infos), infos[0].components_died) > 0


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize(("sampler", "n_components"), CASES)
def test_same_draws_of_concentrations(sampler, n_components, priors):
    """Every kind of prior, some numbers fixed."""
    setting = Learned(priors, n_components=n_components, n=12, n_levels=2)
    for seed in range(2):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        ends = []
        for engine in ENGINES:
            chain = setting.chain(state, X, sampler, np.random.default_rng(seed), engine=engine)
            for _ in range(5):
                chain.sweep()
            ends.append(chain.state())
        _check_same_state(*ends)
        np.testing.assert_allclose(ends[0].hyper[:3], ends[1].hyper[:3], rtol=1e-9)
        for name in ("alpha", "gamma0", "gamma"):
            moved = getattr(ends[0].hyper, name) != getattr(state.hyper, name)
            assert moved == (name in priors.priors)


@pytest.mark.parametrize("n_components", [None, 4])
@pytest.mark.parametrize("n_levels", [1, 2, 4])
def test_masses_brought_up_to_date_equal_masses_summed_anew(n_components, n_levels):
    """Paths that part at the root, half way down and just above the leaf; births and deaths."""
    setting = Setting(n_components, n=60, n_levels=n_levels, numbers=(0.8, 2.0, 2.0))
    for seed in range(3):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        chain = setting.chain(state, X, "gibbs", np.random.default_rng(seed))
        for _ in range(3):
            chain.redraw_data()
            ws = chain.ws
            nodes, width = ws.level >= 0, ws.room[_workspace.WIDTH]
            U, share = reference._masses(ws, chain.rates)
            np.testing.assert_allclose(ws.mass[nodes, :width], U[nodes], rtol=1e-11)
            inner = nodes & (ws.level > 0)  # the root has no share in anything
            np.testing.assert_allclose(ws.share[inner], share[inner], rtol=1e-14)
            chain.redraw_weights()


@pytest.mark.parametrize(("sampler", "n_components"), CASES)
def test_room_runs_out_and_is_made(sampler, n_components, monkeypatch):
    """A growing tree outgrows the workspace in mid-tile; the draws do not depend on its size."""
    calm = Setting(n_components, n=30, n_levels=4, numbers=(0.3, 0.5, 0.8))
    setting = Setting(n_components, n=30, n_levels=4, numbers=(20.0, 20.0, 0.8))
    state, X = calm.prior_draw(np.random.default_rng(0))
    state = state.with_params(hyper=setting.hyper)
    roomy = _run(setting, state, X, sampler, _kernels, 1, 3)[0].state()
    load, make_room, in_mid_tile = _workspace.load, HdpSampler.make_room, []

    def note(chain):
        same = chain.rows.leaf == state.paths[:, -1]
        in_mid_tile.append(same.any() and not same.all())
        make_room(chain)

    monkeypatch.setattr(_workspace, "load", lambda state: load(state, spare=5))
    monkeypatch.setattr(HdpSampler, "make_room", note)
    _check_same_draws(setting, state, X, sampler, 1, 3)
    assert any(in_mid_tile) or sampler == "paper"  # which makes its room when it breaks the root
    tight = _run(setting, state, X, sampler, _kernels, 1, 3)[0].state()
    for name in ("paths", "components", "log_weights"):
        np.testing.assert_array_equal(getattr(roomy, name), getattr(tight, name))


@pytest.mark.parametrize("n_components", [None, 4])
def test_same_draws_far_from_everything(n_components, monkeypatch):
    """Data so far away, and a remainder so small, that only logarithms are left.

    A new component alone explains them, and with gamma0 = 0.001 its weight is 0 in a double.
    """
    draw_far, gibbs_pass, tiles, leaf_died = reference._draw_far, reference.gibbs_pass, [], []

    def note_tile(ws, rates, tile, *others):
        tiles.append(tile)
        return gibbs_pass(ws, rates, tile, *others)

    def note(ws, *others):
        leaf_died.append((ws.level[tiles[-1].leaf] < 0).any())
        return draw_far(ws, *others)

    monkeypatch.setattr(reference, "gibbs_pass", note_tile)
    monkeypatch.setattr(reference, "_draw_far", note)
    setting = Setting(n_components, n=12, n_levels=2, numbers=(0.6, 1e-3, 0.8), sigma2=0.01)
    for seed in range(12):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        X[-4:] += [[300.0], [301.0], [-500.0], [1e4]]
        _check_same_draws(setting, state, X, "gibbs", seed, 20)
        _check_same_draws(setting, state, X, "mh", seed, 20)
    if n_components is None:
        assert min(leaf_died.count(True), leaf_died.count(False)) > 10


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("log_own", [-1e-9, -200.0])
@pytest.mark.parametrize("log_rest", [-300.0, -600.0, -744.0, -746.0, -800.0])
def test_a_remainder_of_0_in_a_double_still_counts(log_rest, log_own, engine):
    """Log odds of a new component for x: log beta* - log beta_own + x^2 / 2 - 5, at least 100."""
    x = np.sqrt(2 * 707) if log_own == -200 else 100.0
    state = hdp_state(
        paths=np.array([[0, 1]] * 4),
        components=np.array([1, 1, 0, 0]),
        parents=np.array([-1, 0]),
        log_weights=np.array([[log_own, np.log(-np.expm1(log_own)), log_rest]] * 2),
        theta=np.array([[0.0], [-1000.0]]),
        hyper=bhmc.Hyper(1e-6, 1.0, 1.0),
    )
    X = np.array([[-1000.0], [-1000.0], [x], [x]])
    family = bhmc.likelihoods.Gaussian(1.0, 0.0, 1000.0).prepare(X)
    rng = np.random.default_rng(0)
    chain = chain_of(state, family, "gibbs", rng, engine=engine)
    assert chain.sweep().components_born > 0


@pytest.mark.parametrize("gamma", [1e-3, 0.5, 4.0])
@pytest.mark.parametrize("n_components", [None, 2])
def test_same_weights_with_many_customers(n_components, gamma):
    """3,000 data in one component: tables by waiting times, not customer by customer."""
    n = 3_000
    assert n - 20 > weights.MANY_CUSTOMERS * (1 + gamma * np.log(n))
    hyper = bhmc.Hyper(0.6, 1.2, gamma, n_components)
    leaf = np.where(np.arange(n) < 10, 4, 3)
    log_weights = np.log([[0.7, 0.2, 0.1], [0.8, 0.1, 0.1], [0.3, 0.3, 0.4]])[[0, 1, 2, 1, 2]]
    if n_components:
        log_weights[:, -1] = -np.inf
        log_weights -= np.logaddexp.reduce(log_weights, axis=1, keepdims=True)
    state = hdp_state(
        paths=np.column_stack([np.zeros(n, dtype=int), leaf - 2, leaf]),
        components=(np.arange(n) % 300 == 0).astype(int),
        parents=np.array([-1, 0, 0, 1, 2]),
        log_weights=log_weights,
        theta=np.zeros((2, 1)),
        hyper=hyper,
    )
    family = bhmc.likelihoods.Gaussian().prepare(np.zeros((n, 1)))
    for seed in range(10):
        drawn = []
        for engine in ENGINES:
            rng = np.random.default_rng(seed)
            chain = chain_of(state, family, "gibbs", rng, engine=engine)
            for _ in range(3):
                chain.redraw_weights()
            drawn.append((chain.state().log_weights, rng.random()))
        np.testing.assert_allclose(drawn[0][0], drawn[1][0], rtol=1e-7, atol=1e-9)
        assert drawn[0][1] == drawn[1][1]  # as many random numbers were used


@pytest.mark.parametrize("n_components", [None, 4])
def test_tidy_renumbers_and_changes_nothing(n_components):
    setting = Setting(n_components, n=40, n_levels=3, numbers=(1.5, 3.0, 3.0), sigma2=0.05)
    moved_nodes = moved_columns = 0
    for seed in range(4):
        state, X = setting.prior_draw(np.random.default_rng(seed))
        chains = [_run(setting, state, X, "gibbs", engine, seed, 3)[0] for engine in ENGINES]
        for chain in chains:
            before, alive = chain.state(), chain.ws.alive.copy()
            chain.passes = 1  # the one before a pass that tidies
            chain._begin_pass()
            _check_bookkeeping(chain)
            after = chain.state()
            np.testing.assert_array_equal(before.components, after.components)
            np.testing.assert_array_equal(before.theta, after.theta)
            pairs = np.unique(np.stack([before.paths.ravel(), after.paths.ravel()]), axis=1)
            assert pairs.shape[1] == len(before.parents) == len(after.parents)  # one to one
            old, new = pairs
            np.testing.assert_array_equal(before.log_weights[old], after.log_weights[new])
            moved_nodes += (old != new).sum()
            moved_columns += (alive != chain.ws.alive).sum()
        for name in ("leaf", "component"):
            np.testing.assert_array_equal(*(getattr(chain.rows, name) for chain in chains))
        fast, slow = (chain.ws for chain in chains)
        for name in ("parent", "level", "held", "alive"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
        np.testing.assert_array_equal(fast.room[: _workspace.STALE], slow.room[: _workspace.STALE])
    assert moved_nodes > 0
    assert moved_columns > 0 or n_components


def test_room_for_nodes_is_not_room_for_components():
    """A tree that grows to thousands of nodes over a few components stays narrow in memory."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    family = bhmc.likelihoods.Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0).prepare(X)
    hyper = bhmc.Hyper(alpha=50.0, gamma0=0.5, gamma=1.0)
    rng = np.random.default_rng(1)
    state = start_state(family, n_levels=5, hyper=hyper, rng=rng, init="single")
    chain = chain_of(state, family, "gibbs", rng)
    columns, most = chain.ws.log_beta.shape[1], 0
    for _ in range(5):
        chain.sweep()
        most = max(most, chain.n_components)
    assert chain.n_nodes > 1_000
    assert chain.ws.log_beta.shape[1] <= max(columns, _workspace.whole_blocks(2 * (most + 1)))
