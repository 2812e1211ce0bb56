"""`PYDT`, the estimator: what it returns, what it refuses, when it stops, what it finds."""

import time
from functools import cache

import numpy as np
import pytest
from benchmarks import rivals_pydt
from sklearn.base import clone

from bhmc.baselines import PYDT
from bhmc.baselines.pydt.chain import DiffusionChain, RatePriors
from bhmc.baselines.pydt.density import children_of, log_likelihood, log_tree, parents_last
from bhmc.baselines.pydt.simulate import simulate_data, simulate_tree
from bhmc.baselines.pydt.state import DiffusionTree, Rates
from bhmc.priors import Beta, Gamma, InverseGamma, Prior, Uniform

SHORT = {"n_warmup": 2, "n_draws": 4, "random_state": 0}
both = pytest.mark.parametrize("sampler", ["slice", "mh"])


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(0, 4, (3, 3)), 8, axis=0)
    return centres + rng.normal(0, 0.3, centres.shape) + 100.0


@both
def test_attributes(X, sampler):
    model = PYDT(n_clusters=3, sampler=sampler, **SHORT).fit(X)
    tree = model.tree_
    assert len(tree.paths) == 24
    assert tree.heights.max() < 1
    assert (np.diff(tree.heights[tree.paths], axis=1) <= 0).all()
    assert np.array_equal(model.labels_, tree.cut(3))
    assert model.log_joint_.shape == (4,)
    assert set(model.traces_) == set(model.hyper_) == {"alpha", "theta", "c", "sigma2", "noise"}
    best = int(model.log_joint_.argmax())
    for name, trace in model.traces_.items():
        assert trace.shape == (4,)
        assert model.hyper_[name] == trace[best]
        assert len(set(trace)) > 1, f"{name} is learned"
    assert model.n_moves_ == 6 * 24
    assert not model.stopped_early_


def test_slice_sampler_finds_groups(X):
    labels = PYDT(n_clusters=3, **SHORT).fit_predict(X)
    assert np.array_equal(labels, np.repeat(labels[::8], 8))
    assert len(set(labels)) == 3


@both
def test_the_same_seed_gives_the_same_tree(X, sampler):
    one, two, other = (
        PYDT(sampler=sampler, **{**SHORT, "random_state": seed}).fit(X) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.log_joint_, two.log_joint_)
    assert np.array_equal(one.tree_.paths, two.tree_.paths)
    assert not np.array_equal(one.log_joint_, other.log_joint_)


def test_where_the_data_are_does_not_matter(X):
    one, two = PYDT(**SHORT).fit(X), PYDT(**SHORT).fit(X - 100.0)
    np.testing.assert_allclose(one.log_joint_, two.log_joint_, rtol=1e-6)


def test_numbers_fix_rates_and_priors_learn_them(X):
    model = PYDT(alpha=0.1, c=Gamma(50, 10), sigma2=2.0, noise=0.1, **SHORT).fit(X)
    assert (model.traces_["alpha"] == 0.1).all()
    assert (model.traces_["sigma2"] == 2.0).all()
    assert (model.traces_["noise"] == 0.1).all()
    assert model.traces_["c"].min() > 2
    assert len(set(model.traces_["theta"])) > 1


def test_rates_of_a_first_run_can_be_kept(X):
    """As the paper did: learned once, then the same in all runs."""
    first = PYDT(**SHORT).fit(X)
    again = clone(first).set_params(**first.hyper_, random_state=3).fit(X)
    assert again.hyper_ == first.hyper_


@both
def test_dirichlet_diffusion_trees_are_binary(X, sampler):
    tree = PYDT(sampler=sampler, alpha=0, theta=0, **SHORT).fit(X).tree_
    n_children = np.array([len(tree.children(node)) for node in range(tree.n_nodes)])
    assert n_children.max() == 2
    bushy = PYDT(sampler=sampler, alpha=0.9, theta=5, **SHORT).fit(X).tree_
    assert max(len(bushy.children(node)) for node in range(bushy.n_nodes)) > 2


def test_equal_rows():
    X = np.repeat([[0.0, 0.0], [3.0, 1.0]], 5, axis=0)
    labels = PYDT(n_clusters=2, **SHORT).fit_predict(X)
    assert len(set(labels[:5])) == len(set(labels[5:])) == 1
    with pytest.raises(ValueError, match="noise=0 allows no two equal rows"):
        PYDT(noise=0, **SHORT).fit(X)
    assert np.isfinite(PYDT(**SHORT).fit(np.ones((4, 2))).log_joint_).all()


def test_no_noise(X):
    model = PYDT(noise=0, **SHORT).fit(X)
    assert np.isfinite(model.log_joint_).all()
    assert model.hyper_["noise"] == 0


@pytest.mark.parametrize("scale", [1e-90, 1e-8, 1e8, 1e90])
def test_units_of_the_data(X, scale):
    one, two = PYDT(**SHORT).fit(X), PYDT(**SHORT).fit(X * scale)
    assert np.array_equal(one.tree_.paths, two.tree_.paths)
    assert two.hyper_["sigma2"] == pytest.approx(one.hyper_["sigma2"] * scale**2)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"sampler": "gibbs"}, ValueError, "sampler='gibbs' is not known"),
        ({"alpha": 1.0}, ValueError, "alpha must be at least 0 and below 1, got 1.0"),
        ({"theta": -0.1}, ValueError, "theta must be finite and at least 0"),
        ({"c": 0}, ValueError, "c must be finite and above 0"),
        ({"noise": "none"}, TypeError, "noise must be a number"),
        ({"sigma2": float("inf")}, ValueError, "sigma2 must be finite and above 0"),
        ({"n_draws": 0}, ValueError, "n_draws must be at least 1"),
        ({"max_seconds": 0}, ValueError, "max_seconds must be finite and above 0"),
        ({"moves_per_draw": 0}, ValueError, "moves_per_draw must be at least 1"),
    ],
)
def test_refusals(X, settings, error, words):
    with pytest.raises(error, match=words):
        PYDT(**{**SHORT, **settings}).fit(X)


@both
def test_time_limit(X, sampler):
    PYDT(sampler=sampler, **SHORT).fit(X)  # compiled
    model = PYDT(sampler=sampler, n_warmup=10**6, max_seconds=0.2, random_state=0)
    start = time.monotonic()
    model.fit(X)
    assert time.monotonic() - start < 5
    assert model.stopped_early_
    assert len(model.log_joint_) == 1
    assert 0 < model.n_moves_ < 10**6
    long = clone(model).set_params(n_warmup=0, n_draws=10**6).fit(X)
    assert long.stopped_early_
    assert 1 < len(long.log_joint_) < 10**6


def test_stopped_in_the_warm_up(X):
    """However few draws are wanted."""
    model = PYDT(n_warmup=1000, n_draws=1, max_seconds=1e-9, random_state=0).fit(X)
    assert model.stopped_early_
    assert model.n_moves_ == 0


@both
@pytest.mark.parametrize(
    "learned",
    [
        {"c": Uniform(2, 3)},
        {"c": Beta(2, 3)},
        {"theta": Uniform(5, 6)},
        {"alpha": Uniform(0.5, 0.6)},
        {"sigma2": Uniform(0, 1)},
        {"noise": InverseGamma(2, 1e-6)},
    ],
    ids=str,
)
def test_priors_that_do_not_allow_the_usual_start(X, learned, sampler):
    model = PYDT(sampler=sampler, **learned, **SHORT).fit(X)
    assert np.isfinite(model.log_joint_).all()
    ((name, prior),) = learned.items()
    assert isinstance(prior, Prior)
    assert all(np.isfinite(prior.log_density(value)) for value in model.traces_[name])
    assert len(set(model.traces_[name])) > 1


def test_alpha_needs_a_prior_below_1(X):
    with pytest.raises(ValueError, match="the prior of alpha allows no number"):
        PYDT(alpha=Uniform(2, 3), **SHORT).fit(X)


@both
@pytest.mark.parametrize(
    "rates",
    [
        {"c": 1e-3, "alpha": 0, "theta": 0, "noise": 100.0, "sigma2": 1e-3},
        {"c": 1e-8, "alpha": 0, "theta": 0},
        {"c": 1e-8},
        {"c": 1e6},
        {"theta": 300.0, "alpha": 0},
        {"theta": 1e6},
        {"alpha": 1 - 1e-12, "theta": 0},
    ],
    ids=str,
)
def test_rates_at_the_edge(X, rates, sampler):
    """Where nodes would part later than any number can tell, they part before `LATEST`."""
    model = PYDT(sampler=sampler, **rates, n_draws=30, random_state=0).fit(X)
    assert np.isfinite(model.log_joint_).all()
    tree = model.tree_
    assert (np.diff(tree.heights[tree.paths], axis=1) <= 0).all()
    if rates.get("theta") == rates.get("alpha") == 0:
        assert max(len(tree.children(node)) for node in range(tree.n_nodes)) == 2


@both
def test_log_joint_is_the_density_of_tree_and_rates(X, sampler):
    """By the slow formulas, at the end of a run."""
    priors = RatePriors(
        Beta(2, 3), Gamma(2, 3), Gamma(6, 5), InverseGamma(5, 6), InverseGamma(5, 1)
    )
    rates, data = Rates(0.2, 0.5, 1.0, 1.0, 0.1), X - X.mean(axis=0)
    chain = DiffusionChain(data, rates, priors, sampler, np.random.default_rng(0))
    chain.start()
    for _ in range(5):
        chain.sweep()
    expected = log_tree(chain.tree, chain.rates) + log_likelihood(chain.tree, data, chain.rates)
    expected += sum(p.log_density(x) for p, x in zip(priors, chain.rates, strict=True))
    assert chain.log_joint() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (1e-150, "multiply X by a number"),
        (1e145, "multiply X by a number"),
        (1e152, "within 1e150"),
    ],
)
def test_units_that_no_density_can_bear(X, scale, words):
    with pytest.raises(ValueError, match=words):
        PYDT(**SHORT).fit(X * scale)


def clades(tree: DiffusionTree) -> dict[frozenset, float]:
    """The leaves of every inner node, with the length of the edge above it in t."""
    children, leaves, found = children_of(tree), {}, {}
    times = -np.expm1(-tree.clocks)
    for node in parents_last(children):
        kids = children[node]
        leaves[node] = frozenset().union(*(leaves[kid] for kid in kids)) if kids else {node}
        if kids:
            parent = tree.parents[node]
            above = times[parent] if parent >= 0 else 0.0
            found[frozenset(leaves[node])] = times[node] - above
    return found


@pytest.mark.parametrize("seed", range(5, 10))
def test_the_draw_found_is_as_likely_as_the_true_tree(seed):
    truth, draw, score = _best_draw(seed)
    assert draw[0] > score(truth) - 15  # of thousands


def test_clades_of_simulated_trees_are_found():
    """60 rows, 400 dimensions: clades of 4 rows or more, below edges of a twentieth of the time.

    The data are not centred here: the tree is that of particles that start at 0.
    """
    found = wanted = 0
    for seed in range(5, 10):
        truth, draw, _ = _best_draw(seed)
        mine, true = clades(draw[1]), _clear_clades(truth)
        found, wanted = found + sum(clade in mine for clade in true), wanted + len(true)
    print(f"{found} of {wanted} clades")
    assert wanted >= 40
    assert found >= 0.9 * wanted


@pytest.mark.exact_long
def test_clades_that_the_estimator_finds():
    """It centres the data and learns the rates: not as many as the sampler at its best."""
    found = wanted = 0
    for seed in range(5, 10):
        truth, X, _, _ = _simulated(seed)
        tree, true = PYDT(random_state=0).fit(X).tree_, _clear_clades(truth)
        mine = {frozenset(tree.members(node).tolist()) for node in range(tree.n_nodes)}
        print(f"{sum(clade in mine for clade in true)} of {len(true)} clades")
        found, wanted = found + sum(clade in mine for clade in true), wanted + len(true)
    assert found >= 0.6 * wanted


def _clear_clades(truth: DiffusionTree) -> list[frozenset]:
    return [clade for clade, edge in clades(truth).items() if len(clade) >= 4 and edge > 0.05]


def _simulated(seed: int):
    """Of 60 rows in 400 dimensions: the tree, its data, the rates, the generator."""
    rates, rng = Rates(0.1, 0.2, 1.0, 1.0, 0.001), np.random.default_rng(seed)
    truth = simulate_tree(60, rates, rng)
    return truth, simulate_data(truth, 60, 400, rates, rng), rates, rng


@cache
def _best_draw(seed: int):
    truth, X, rates, rng = _simulated(seed)
    chain = DiffusionChain(X, rates, RatePriors(), "slice", rng)
    chain.start()
    draws = []
    for _ in range(20):
        chain.sweep()
        draws.append((chain.log_joint(), chain.tree))

    def score(tree):
        chain.start_from(tree)
        return chain.log_joint()

    return truth, max(draws, key=lambda draw: draw[0]), score


def test_the_benchmark_runs():
    """In its smallest form; no figure is judged but that the twin is slower."""
    X, groups = rivals_pydt.hierarchy(25, 3)
    assert groups.shape == (25, 3)
    figures = {figure.name: figure for figure in (*rivals_pydt.speed(X), *rivals_pydt.settling(X))}
    assert figures["slice: a turn, of the twin's"].ok
    assert figures["slice: settled after"].ok
