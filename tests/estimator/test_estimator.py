"""`BHMC` keeps scikit-learn's conventions and its own promises."""

import pickle

import numpy as np
import pandas as pd
import pytest
from benchmarks.chains import SAMPLERS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_clustering

from bhmc import BHMC, Tree, priors
from bhmc.likelihoods import Gaussian
from bhmc.model.hdp.density import log_p_tree
from bhmc.posterior import recorder

FINITE = {"fixed_components": 5, "sampler": "gibbs"}
FORMS = [{"sampler": sampler} for sampler in SAMPLERS] + [FINITE]
QUICK = {"n_warmup": 5, "n_draws": 5, "random_state": 0}


# The whole battery runs in `test_conformance`, with the sampler gibbs.
@pytest.mark.parametrize("form", [{"sampler": "paper"}, {"sampler": "mh", "fixed_components": 5}])
def test_other_samplers_find_the_blobs_of_scikit_learn(form):
    check_clustering("BHMC", BHMC(**form, n_warmup=60, n_draws=20))


def blobs(n=24, d=2, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.array([-6.0, 0.0, 6.0])[np.arange(n) % 3]
    return centres[:, None] + rng.normal(size=(n, d))


def quick(X=None, **changes):
    return BHMC(**{**QUICK, **changes}).fit(blobs() if X is None else X)


def assert_same_fit(one, other, besides=("feature_names",)):
    """Every number of two fits is the same, bit for bit; but for some fields of their trees."""
    theirs = other.draws_.numbers()
    for name, values in one.draws_.numbers().items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)
    for name in set(Tree.__dataclass_fields__) - set(besides):
        np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))
    for name in ("labels_", "paths_", "component_labels_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def same_fit(one, other):
    return np.array_equal(one.draws_.log_likelihood, other.draws_.log_likelihood)


# ---- Chains, jobs and seeds ----


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_jobs_do_not_change_the_answer(form):
    alone = quick(n_chains=3, n_jobs=1, **form)
    for n_jobs in (None, 2, -1):
        assert_same_fit(alone, quick(n_chains=3, n_jobs=n_jobs, **form))


def test_chains_differ_from_each_other():
    rows = quick(n_chains=4).draws_.log_likelihood
    assert rows.shape == (4, QUICK["n_draws"])
    assert len(np.unique(rows)) == rows.size


def test_a_chain_does_not_depend_on_how_many_there_are():
    few, many = quick(n_chains=2).draws_, quick(n_chains=4).draws_
    np.testing.assert_array_equal(few.log_likelihood, many.log_likelihood[:2])


@pytest.mark.parametrize(
    "seed",
    [
        lambda: 7,
        lambda: np.int64(7),
        lambda: 2**70,
        lambda: np.random.SeedSequence(7, spawn_key=(1, 2)),
        lambda: np.random.default_rng(7),
        lambda: np.random.Generator(np.random.MT19937(7)),
        lambda: np.random.RandomState(7),
    ],
)
def test_a_seed_repeats_the_fit(seed):
    assert_same_fit(quick(random_state=seed()), quick(random_state=seed()))


def test_seeds_differ():
    seeds = [0, 1, 2**70, np.random.SeedSequence(0, spawn_key=(1,)), np.random.default_rng(0), None]
    fits = [quick(random_state=seed) for seed in seeds]
    for i, one in enumerate(fits):
        assert not any(same_fit(one, other) for other in fits[:i])


def test_none_is_a_fresh_seed():
    assert not same_fit(quick(random_state=None), quick(random_state=None))


def test_a_seed_sequence_is_not_used_up():
    seed = np.random.SeedSequence(3)
    assert_same_fit(quick(random_state=seed), quick(random_state=seed))
    assert seed.n_children_spawned == 0


def test_a_generator_is_drawn_from():
    for rng in (np.random.default_rng(3), np.random.RandomState(3)):
        assert not same_fit(quick(random_state=rng), quick(random_state=rng))


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    quick()
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_refit_forgets_the_first_fit():
    model = quick(blobs(d=3))
    model.fit(blobs(d=2))
    assert model.n_features_in_ == 2
    assert_same_fit(model, quick(blobs(d=2)))


def test_warmup_and_thin_select_sweeps_of_one_chain():
    every = quick(n_warmup=0, n_draws=12).draws_.numbers()
    some = quick(n_warmup=3, n_draws=3, thin=3).draws_.numbers()
    for name, values in every.items():
        np.testing.assert_array_equal(some[name], values[:, 5::3], err_msg=name)


# ---- What a fit holds ----


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("n_levels", [1, 3, 6])
def test_labels_paths_and_tree_agree(form, n_levels):
    model = quick(n_levels=n_levels, **form)
    tree = model.tree_
    assert model.paths_.shape == (24, n_levels + 1)
    assert tree.n_levels == n_levels
    np.testing.assert_array_equal(model.paths_, tree.paths)
    np.testing.assert_array_equal(model.component_labels_, tree.components)
    np.testing.assert_array_equal(model.labels_, model.labels_at(n_levels))
    np.testing.assert_array_equal(model.labels_at(0), 0)
    assert len(np.unique(model.labels_)) == tree.n_leaves
    for level in range(n_levels + 1):
        labels = model.labels_at(level)
        np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
        # The same partition as the node ids of that level.
        pairs = set(zip(labels.tolist(), model.paths_[:, level].tolist(), strict=True))
        assert len(pairs) == labels.max() + 1 == (tree.levels == level).sum()
    counts = np.bincount(model.component_labels_, minlength=tree.n_components)
    assert (np.diff(counts) <= 0).all()
    if form is FINITE:
        assert tree.n_components == FINITE["fixed_components"]
    else:
        assert (counts > 0).all()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_fit_predict_is_labels(form):
    model = BHMC(**{**QUICK, **form})
    labels = model.fit_predict(blobs())
    assert labels is model.labels_
    np.testing.assert_array_equal(labels, quick(**form).labels_)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_point_estimate_is_the_maximum_draw(form):
    """log p(X, c, V | B, theta), recomputed from the tree, is the largest number in `draws_`."""
    X, likelihood = blobs(), Gaussian(sigma2=1.5, mu0=0.5, sigma0=9.0)
    settings = {"transition": "hdp", "alpha": 0.7, "n_chains": 3, "estimate": "map", **form}
    model = quick(X, likelihood=likelihood, **settings)
    tree = model.tree_
    log_f = likelihood.prepare(X).log_table(tree.theta)[np.arange(len(X)), tree.components]
    log_beta = np.log(tree.weights[tree.paths[:, -1], tree.components])
    log_v = log_p_tree(tree.sizes, tree.levels, alpha=0.7)
    expected = log_f.sum() + log_beta.sum() + log_v
    log_likelihood = model.draws_.log_likelihood
    assert log_likelihood.max() == pytest.approx(expected, rel=1e-9)
    chain, draw = np.unravel_index(log_likelihood.argmax(), log_likelihood.shape)
    assert model.draws_.n_nodes[chain, draw] == tree.n_nodes
    assert model.draws_.n_components[chain, draw] == tree.n_components


def test_far_groups_are_found():
    X = blobs(n=60)
    model = BHMC(random_state=0, n_warmup=100, n_draws=100).fit(X)
    assert adjusted_rand_score(np.arange(60) % 3, model.component_labels_) > 0.95


# ---- Units ----


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_units_do_not_matter_by_default(form):
    """The name "gaussian" takes its scales from the data."""
    X = blobs()
    plain = quick(X, **form)
    for moved in (1000 * X, X + 50, 1e-3 * X - 7, X * [1.0, 1e6]):
        other = quick(moved, **form)
        np.testing.assert_array_equal(plain.paths_, other.paths_)
        np.testing.assert_array_equal(plain.component_labels_, other.component_labels_)
        np.testing.assert_allclose(plain.tree_.weights, other.tree_.weights, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e-100, 1e100, 1e148])
def test_extreme_units(factor):
    X = blobs()
    plain, other = quick(X), quick(X * factor)
    np.testing.assert_array_equal(plain.component_labels_, other.component_labels_)


def test_units_of_an_object_are_its_own():
    X = blobs()
    assert not same_fit(quick(X), quick(X, likelihood=Gaussian()))


# ---- Awkward data ----


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(
    "X",
    [
        np.column_stack([blobs()[:, 0], np.full(24, 3.0)]),
        np.column_stack([blobs()[:, 0], np.full(24, 1e149)]),
        np.zeros((10, 3)),
        np.full((10, 2), 1e8 + 0.1),
        np.repeat(blobs(6), 4, axis=0),
        np.array([[1.0], [1.0]]),
        np.array([[0.0], [1e149]]),
        blobs(2),
        blobs(5, d=40),
    ],
    ids=[
        "constant column",
        "huge constant column",
        "all zero",
        "all rows equal",
        "duplicate rows",
        "two equal rows",
        "two far rows",
        "two rows",
        "more columns than rows",
    ],
)
def test_awkward_data_give_a_fit(X, form):
    model = quick(X, **form)
    assert len(model.labels_) == len(X)
    assert np.isfinite(model.draws_.log_likelihood).all()
    for name in ("weights", "theta"):
        assert np.isfinite(getattr(model.tree_, name)).all()
    np.testing.assert_allclose(model.tree_.weights.sum(axis=1), 1)


@pytest.mark.parametrize("n_levels", [1, 6])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_shallow_and_deep(form, n_levels):
    model = quick(n_levels=n_levels, n_draws=4, **form)
    assert model.labels_at(n_levels).max() == model.tree_.n_leaves - 1


# ---- Kinds of input ----


def test_every_container_gives_the_same_fit():
    X = np.round(blobs() * 4) / 4  # exact in float32
    plain = quick(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    strided = np.repeat(X, 2, axis=0)[::2]
    frame = pd.DataFrame(X, columns=["a", "b"])
    kinds = [
        X.tolist(),
        X.astype(np.float32),
        X.astype(np.longdouble),
        X.astype(object),
        np.asfortranarray(X),
        X[:, ::-1].copy()[:, ::-1],
        strided,
        read_only,
        frame,
        frame.set_axis([0, 1], axis=1),
        frame.astype("Float64"),
    ]
    for kind in kinds:
        assert_same_fit(plain, quick(kind))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool])
def test_whole_numbers_and_truth_values(dtype):
    X = (np.arange(40).reshape(20, 2) % 3 > 0).astype(dtype)
    assert_same_fit(quick(X), quick(X.astype(float)))
    assert_same_fit(quick(X), quick(pd.DataFrame(X)))


def test_the_input_is_not_written_to():
    X = blobs()
    before = X.copy()
    quick(X)
    np.testing.assert_array_equal(X, before)


def test_feature_names():
    X = blobs()
    model = quick(pd.DataFrame(X, columns=["height", "weight"]))
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    assert model.n_features_in_ == 2
    assert not hasattr(model.fit(X), "feature_names_in_")


# ---- Copies ----


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_pickle_keeps_the_fit(form):
    model = quick(**form)
    again = pickle.loads(pickle.dumps(model))
    assert_same_fit(model, again)
    assert str(again.tree_) == str(model.tree_)
    for name in Tree.__dataclass_fields__:
        value = getattr(again.tree_, name)
        assert not (isinstance(value, np.ndarray) and value.flags.writeable), name


def test_clone_keeps_the_parameters_and_not_the_fit():
    likelihood = Gaussian(sigma2=0.5)
    model = quick(likelihood=likelihood, n_levels=2, gamma=0.9)
    copy = clone(model)
    assert not hasattr(copy, "tree_")
    ours, theirs = model.get_params(), copy.get_params()
    # clone copies objects that are not estimators.
    assert ours.pop("likelihood").sigma2 == theirs.pop("likelihood").sigma2
    assert ours == theirs
    assert_same_fit(copy.fit(blobs()), model)


def test_fit_does_not_change_its_parameters():
    model = BHMC(**QUICK)
    before = model.get_params()
    model.fit(blobs())
    assert model.get_params() == before


def test_the_papers_way_to_learn():
    """A walk during the warm-up only, over everything that has a prior; traces are kept."""
    X = np.random.default_rng(0).normal([[-1.0, 0.0]] * 15 + [[1.0, 0.5]] * 15, 0.2)
    likelihood = Gaussian(sigma2=priors.Uniform(0, 0.1))
    settings = {"n_warmup": 40, "n_draws": 6, "random_state": 0, "likelihood": likelihood}
    model = BHMC(hyper="paper", gamma0=2.0, **settings).fit(X)
    traces = model.warmup_traces_
    assert traces.shared.shape == (2, 40, 1)
    assert (traces.shared > 0).all()
    assert (traces.shared < 0.1).all()
    assert (traces.gamma < 1.5).all()
    for name in ("alpha", "gamma"):
        trace, kept = getattr(traces, name), getattr(model.draws_, name)
        assert len(np.unique(trace[0])) > 5
        np.testing.assert_array_equal(kept, np.repeat(trace[:, -1:], 6, axis=1))
    assert (traces.gamma0 == 2.0).all()
    assert len(np.unique(BHMC(alpha="learn", **settings).fit(X).draws_.alpha[0])) == 6


def test_sigma2_stays_after_the_warmup_of_the_paper(monkeypatch):
    seen = []
    on_draw = recorder.Recorder.on_draw

    def listen(self, chain, info):
        seen.append(chain.shared[0])
        on_draw(self, chain, info)

    monkeypatch.setattr(recorder.Recorder, "on_draw", listen)
    X = np.random.default_rng(0).normal(0.0, 0.3, (12, 2))
    likelihood = Gaussian(sigma2=priors.Uniform(0, 0.1))
    settings = {"n_warmup": 5, "n_draws": 4, "n_chains": 1, "likelihood": likelihood}
    BHMC(hyper="paper", **settings).fit(X)
    assert len(set(seen)) == 1
    seen.clear()
    BHMC(**settings).fit(X)
    assert len(set(seen)) == 4


def test_bad_ways_to_learn():
    X = np.eye(3)
    with pytest.raises(ValueError, match="hyper='papers' is not known"):
        BHMC(hyper="papers").fit(X)
    with pytest.raises(ValueError, match="n_warmup must be at least 1, got 0"):
        BHMC(hyper="paper", n_warmup=0).fit(X)


# ---- Convergence ----


def test_a_fit_that_has_not_converged_says_so():
    """Two far modes that a chain cannot leave in a few sweeps: chains end in different ones."""
    X = np.random.default_rng(0).normal(size=(60, 30))
    with pytest.warns(ConvergenceWarning, match="have not converged: .* differs between chains"):
        model = BHMC(transition="hdp", n_warmup=0, n_draws=40, random_state=0).fit(X)
    assert not model.diagnostics_.converged


def test_diagnostics_need_a_fit():
    with pytest.raises(NotFittedError):
        _ = BHMC().diagnostics_
