"""Starts of a chain: every `init` gives a valid state, chains forget it, bad ones are refused."""

import time

import numpy as np
import pytest
from benchmarks.chains import SAMPLERS, chain_of, start_state
from scipy import sparse
from sklearn.metrics import homogeneity_score

from bhmc import BHMC, Hyper
from bhmc._sampling import initial_clusters
from bhmc._sampling.initial_clusters import nested_groups
from bhmc.datasets import make_diffused_hierarchy
from bhmc.likelihoods import FullGaussian, Gaussian, resolve
from bhmc.model.checks import check_state
from bhmc.model.hdp.sampler import HdpSampler
from bhmc.model.hdp.start import prior_state
from bhmc.priors import Gamma
from tests.exact.alarm import N_BATCHES, T_LIMIT, Z_LIMIT, rng_for, z_of, z_scores
from tests.exact.geweke import statistics

INITS = ["single", "singletons", "kmeans", "ward", "labels"]
HYPER = Hyper(0.4, 1.3, 0.6)
QUICK = {"n_warmup": 3, "n_draws": 4, "n_chains": 2, "random_state": 0}


def table(n=40, d=3):
    """Four groups on a diagonal, 6 standard deviations apart, and their labels."""
    label = np.arange(n) % 4
    return 6.0 * label[:, None] + np.random.default_rng(0).normal(size=(n, d)), label


def with_gaps(X, share=0.15):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    X[3] = np.nan  # a row that says nothing
    return X


def tables() -> dict:
    X, _ = table()
    counts = np.round(np.abs(X))
    bits = (np.arange(4) < X[:, :1] / 6 + 0.5).astype(float)
    return {
        "gaussian": X,
        "gaussian with gaps": with_gaps(X),
        "shared_gaussian with gaps": with_gaps(X),
        "full_gaussian": X,
        "known_gaussian": X,
        "bernoulli": bits,
        "bernoulli with gaps": with_gaps(bits),
        "categorical with gaps": with_gaps(np.minimum(counts, 5)),
        "poisson with gaps": with_gaps(counts),
        "multinomial": counts,
        "multinomial sparse": sparse.csr_array(counts * (counts > 2)),
    }


def family_of(name, X):
    return resolve(name.split()[0], X).prepare(X)


def start(family, init, n_components=None, seed=0, n_levels=3, hyper=HYPER):
    if isinstance(init, str) and init == "labels":
        rows = np.arange(family.n_rows)
        init = np.column_stack([rows % 2, rows % 4])
    hyper = hyper._replace(n_components=n_components)
    rng = np.random.default_rng(seed)
    return start_state(family, n_levels=n_levels, hyper=hyper, rng=rng, init=init)


# ---- Valid states ----


@pytest.mark.parametrize("n_components", [None, 50])
@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("name", list(tables()))
def test_every_start_is_a_state(name, init, n_components):
    family = family_of(name, tables()[name])
    state = start(family, init, n_components)
    check_state(state)
    used, leaves = (len(np.unique(x)) for x in (state.components, state.paths[:, -1]))
    assert used == leaves
    if init in ("single", "singletons", "labels"):
        assert used == {"single": 1, "singletons": 40, "labels": 4}[init]
    else:
        assert 2 <= used <= 19  # three times the root of 40
    chain = chain_of(state, family, "gibbs", np.random.default_rng(0), learning=HYPER)
    chain.sweep()
    check_state(chain.state())


def test_labels_become_nodes_and_components():
    X, label = table()
    state = start(family_of("gaussian", X), np.column_stack([label % 2, 10 + 7 * label]))
    for level, groups in ((1, label % 2), (2, label), (3, label)):
        pairs = {*zip(state.paths[:, level].tolist(), groups.tolist(), strict=True)}
        assert len(pairs) == len(np.unique(groups)) == (state.levels == level).sum()
    np.testing.assert_array_equal(state.components, label)


@pytest.mark.parametrize("init", INITS)
def test_concentrations_with_priors_are_drawn(init):
    hyper = Hyper(Gamma(2, 2), 1.0, Gamma(3, 1))
    starts = [start(family_of("gaussian", table()[0]), init, 50, s, hyper=hyper) for s in (0, 1)]
    assert starts[0].hyper.alpha != starts[1].hyper.alpha
    assert starts[0].hyper.gamma0 == starts[1].hyper.gamma0 == 1.0


def test_few_components_bound_the_groups():
    family = family_of("gaussian", table()[0])
    for init in ("kmeans", "ward"):
        assert len(np.unique(start(family, init, 3).components)) == 3
        assert len(np.unique(start(family, init, 1).components)) == 1


# ---- The law of what is drawn ----


WEIGHT_HYPER, N_WEIGHTS = Hyper(1.1, 1.3, 1.7), 400


@pytest.fixture(scope="module")
def weights_of_the_prior():
    """Moments of the weights of prior draws with rows 0 and 1 together and row 2 apart."""
    rng, kept = rng_for(84), []
    while len(kept) < N_WEIGHTS:
        state = prior_state(3, n_levels=1, hyper=WEIGHT_HYPER, rng=rng)
        a, b = state.paths[:, 1], state.components
        if a[0] == a[1] != a[2] and b[0] == b[1] != b[2]:
            kept.append(_moments(state))
    return np.array(kept)


def _largest_weight_z(theirs: np.ndarray) -> float:
    """Weights of a start against those of the prior given that tree and those components."""
    family, rng = Gaussian().prepare(np.array([[0.0], [1.0], [2.0]])), rng_for(88)
    settings = {"n_levels": 1, "hyper": WEIGHT_HYPER, "rng": rng, "init": [0, 0, 1]}
    ours = np.array([_moments(start_state(family, **settings)) for _ in range(N_WEIGHTS)])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / N_WEIGHTS)
    return float(np.abs(z_of(ours.mean(axis=0) - theirs.mean(axis=0), error)).max())


def _moments(state) -> np.ndarray:
    """Weights and their products between nodes, rows by what they hold and not by number."""
    rows = [0, state.paths[0, 1], state.paths[2, 1]]
    columns = [state.components[0], state.components[2], -1]
    weights = state.weights[np.ix_(rows, columns)]
    products = (weights[0] * weights[1], weights[1] * weights[2])
    return np.concatenate([weights.ravel(), (weights**2).ravel(), *products])


def test_weights_given_tree_and_components(weights_of_the_prior):
    assert _largest_weight_z(weights_of_the_prior) < Z_LIMIT


def test_weights_not_redrawn_are_noticed(weights_of_the_prior, monkeypatch):
    """The alarm rings: the weights that the counts suggest are none of the model's."""
    monkeypatch.setattr(HdpSampler, "redraw_weights", lambda self: None)
    assert _largest_weight_z(weights_of_the_prior) > Z_LIMIT


N_SWEEPS, N_FORGET = 2_000, 200
SMALL = np.array([[-2.0], [-1.6], [0.1], [0.4], [1.9], [2.1]])


def _visits(init, n_components, seed) -> np.ndarray:
    """(sweeps, statistics) of a chain from `init`; all data are the same."""
    family = Gaussian(sigma2=0.5, mu0=0.3, sigma0=1.5).prepare(SMALL)
    hyper, rng = Hyper(0.6, 1.2, 0.8, n_components), rng_for(seed)
    state = start_state(family, n_levels=2, hyper=hyper, rng=rng, init=init)
    chain = chain_of(state, family, "gibbs", rng)
    rows = []
    for sweep in range(N_SWEEPS + N_FORGET):
        chain.sweep()
        if sweep >= N_FORGET:
            rows.append(statistics(chain.state(), SMALL)[3:])
    return np.array(rows)


@pytest.fixture(scope="module")
def from_the_prior():
    """Means of the batches of a chain that starts from the prior, for both forms."""
    return {k: _batches(_visits("prior", k, 85)) for k in (None, 6)}


def _batches(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(N_BATCHES, -1, rows.shape[1]).mean(axis=1)


@pytest.mark.parametrize(
    ("init", "n_components"),
    [
        ("single", None),
        ("singletons", None),
        ("kmeans", None),
        ("ward", None),
        ("singletons", 6),
        (np.arange(6) % 2, 6),
    ],
)
def test_a_long_chain_forgets_its_start(from_the_prior, init, n_components):
    z = z_scores(from_the_prior[n_components], _visits(init, n_components, 86))
    assert np.abs(z).max() < T_LIMIT


@pytest.mark.parametrize("step", ["redraw_data", "redraw_weights", "redraw_theta"])
def test_a_chain_that_keeps_its_start_is_noticed(from_the_prior, monkeypatch, step):
    """The alarm rings: labels, weights or theta stay where the start put them.

    In the finite form: in the other, births draw new ones all the time.
    """
    monkeypatch.setattr(HdpSampler, step, lambda self: None)
    z = z_scores(from_the_prior[6], _visits("singletons", 6, 87))
    assert np.abs(z).max() > T_LIMIT


# ---- Groups ----


@pytest.mark.parametrize("init", ["kmeans", "ward"])
@pytest.mark.parametrize("name", ["gaussian", "full_gaussian", "known_gaussian", "bernoulli"])
def test_groups_are_pure_and_nested(name, init):
    X, label = tables()[name], table()[1]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        family = family_of(name, X)
        groups = nested_groups(
            family.at(family.start_shared()), init, n_levels=3, most=None, rng=rng
        )
        if len(np.unique(groups[:, -1])) >= 4:
            assert homogeneity_score(label, groups[:, -1]) > 0.999
        for coarse, fine in zip(groups.T[:-1], groups.T[1:], strict=True):
            assert homogeneity_score(coarse, fine) > 0.999


@pytest.mark.parametrize("init", ["kmeans", "ward"])
def test_chains_start_apart(init):
    family = family_of("gaussian", table()[0])
    starts = [start(family, init, seed=seed).components for seed in range(6)]
    assert len({tuple(each) for each in starts}) > 3
    assert len({each.max() for each in starts}) > 1
    np.testing.assert_array_equal(starts[0], start(family, init, seed=0).components)


@pytest.mark.parametrize("init", ["kmeans", "ward"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((10, 2)),
        np.array([[1.0], [1.0]]),
        np.array([[0.0], [1e149]]),
        np.repeat(np.arange(3.0), 20)[:, None],
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.full((30, 2), np.nan),
        np.array([[0.0, 1.0], [np.nan, 2.0], [np.nan, np.nan]]),
    ],
    ids=["equal", "two equal", "two far", "three values", "like distances", "all missing", "gaps"],
)
def test_awkward_tables(init, X):
    check_state(start(family_of("gaussian", X), init))


def test_points_say_what_families_compare():
    X, _ = table()
    rows = slice(5, 9)
    full = FullGaussian.scaled_to(X)
    deviation = np.sqrt(np.diag(full.sigma0))
    expected = (X - np.asarray(full.mu0)) / deviation
    np.testing.assert_allclose(full.prepare(X).points(rows), expected[rows])
    gaps = with_gaps(X)
    scaled = (gaps - np.nanmean(gaps, axis=0)) / np.nanstd(gaps, axis=0)
    for name in ("gaussian", "shared_gaussian", "free_gaussian"):
        np.testing.assert_allclose(family_of(name, gaps).points(rows), scaled[rows])
    counts = tables()["poisson with gaps"]
    np.testing.assert_allclose(family_of("poisson", counts).points(rows), np.sqrt(counts[rows]))
    codes = np.array([[0.0, 2.0], [1.0, np.nan], [0.0, 0.0]])
    blocks = [[1, 0, 0, 0, 1], [0, 1, np.nan, np.nan, np.nan], [1, 0, 1, 0, 0]]
    np.testing.assert_array_equal(family_of("categorical", codes).points(slice(0, 3)), blocks)
    words = np.array([[4.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    roots = [[1, 0, 0], [0.5, np.sqrt(0.75), 0], [0, 0, 0]]
    for X in (words, sparse.csr_array(words)):
        points = family_of("multinomial", X).points(slice(0, 3))
        np.testing.assert_allclose(points.toarray() if sparse.issparse(points) else points, roots)


def test_units_of_columns_do_not_matter():
    X, _ = table()
    for init in ("kmeans", "ward"):
        one, other = (
            start(family_of("gaussian", data), init) for data in (X, X * [1.0, 1e6, 1e-3] - 7)
        )
        np.testing.assert_array_equal(one.components, other.components)


def test_many_rows():
    """Neither the sample nor what is held grows with the rows."""
    X = 5.0 * (np.arange(100_000) % 7)[:, None] + np.random.default_rng(0).normal(size=(100_000, 2))
    family = family_of("known_gaussian", X)
    for init in ("kmeans", "ward"):
        begin = time.process_time()
        state = start(family, init)
        assert time.process_time() - begin < 10
        assert homogeneity_score(np.arange(100_000) % 7, state.components) > 0.9


def test_wide_rows_are_taken_a_few_at_a_time(monkeypatch):
    """The same groups where memory allows for 3 rows at a time; and for a smaller sample."""
    family = family_of("gaussian", table()[0])
    whole = start(family, "kmeans")
    monkeypatch.setattr(initial_clusters, "_BLOCK", 3)
    np.testing.assert_array_equal(start(family, "kmeans").components, whole.components)
    assert initial_clusters._sample_size(10**6, "kmeans", 10**5) == 2 * initial_clusters._LIMIT
    assert initial_clusters._sample_size(10**6, "kmeans", 8) == 20_000
    assert initial_clusters._sample_size(10**6, "ward", 8) == 2_000
    assert [rows.stop for rows in initial_clusters._blocks(4, 2**21)] == [2, 4]


# ---- The estimator ----


@pytest.mark.parametrize("form", [{}, {"fixed_components": 30}])
@pytest.mark.parametrize("init", [*INITS[:-1], "prior", np.arange(24) % 3, [[0, 1], [0, 2]] * 12])
def test_a_fit_from_every_start(init, form):
    X = table(24)[0]
    model = BHMC(init=init, **QUICK, **form).fit(X)
    assert np.isfinite(model.draws_.log_likelihood).all()
    assert len(np.unique(model.draws_.log_likelihood)) == 2 * QUICK["n_draws"]
    again = BHMC(init=init, n_jobs=2, **QUICK, **form).fit(X)
    np.testing.assert_array_equal(again.draws_.log_likelihood, model.draws_.log_likelihood)


def test_given_labels_are_not_written_to():
    labels = np.arange(24) % 3
    BHMC(init=labels, **QUICK).fit(table(24)[0])
    np.testing.assert_array_equal(labels, np.arange(24) % 3)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_takes_it_from_there(sampler):
    for init in ("singletons", "kmeans"):
        BHMC(init=init, sampler=sampler, **QUICK).fit(table(24)[0])


def test_two_groups_in_one_wide_component():
    """Three groups on a line: from the prior, a chain may keep two of them together for long."""
    rng = np.random.default_rng(0)
    label = np.arange(150) % 3
    X = (8.0 * label + rng.normal(size=150))[:, None]
    family = family_of("gaussian", X)
    hyper = Hyper(Gamma(2, 10), Gamma(1, 1), Gamma(2, 10))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        state = start_state(family, n_levels=3, hyper=hyper, rng=rng, init="kmeans")
        chain = chain_of(state, family, "gibbs", rng, learning=hyper)
        for _ in range(100):
            chain.sweep()
        assert homogeneity_score(label, chain.partition().component) > 0.9


def test_a_single_component_does_not_take_all_variance_for_noise():
    """With the covariance of all rows as its noise no row would ever need another component."""
    X = make_diffused_hierarchy(n_features=2, random_state=4).data[::3]
    model = BHMC(
        n_levels=2,
        likelihood="tied_gaussian",
        transition="diffused",
        init="single",
        n_warmup=20,
        n_draws=5,
        n_chains=1,
        random_state=0,
    ).fit(X)
    assert model.draws_.n_components.min() > 10
