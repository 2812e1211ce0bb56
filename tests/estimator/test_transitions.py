"""The estimator with transitions whose components have a place on the tree."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_iris

from bhmc import BHMC, Tree
from bhmc.model.registry import transition_named

QUICK = {"n_warmup": 20, "n_draws": 10, "n_chains": 2, "n_levels": 2, "random_state": 0}
NAMES = ("diffused", "gaussian")
X = load_iris().data

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", params=NAMES)
def model(request):
    return BHMC(transition=request.param, **QUICK).fit(X)


def test_a_density_has_a_term_for_every_component_and_every_place(model):
    likelihood, rows, each = model.likelihood_, X[::15], []
    for mixture in model.draws_.mixtures:
        k, places = len(mixture.theta), mixture.places
        sigma2 = likelihood.noise_on_tree(mixture.shared, X.shape[1])
        means = np.vstack([mixture.theta, places.location])
        wide = np.concatenate([np.ones(k), 1 + places.variance[:, 0]])
        normals = [
            stats.multivariate_normal(mean, width * sigma2)
            for mean, width in zip(means, wide, strict=True)
        ]
        log_f = np.column_stack([normal.logpdf(rows) for normal in normals])
        assert len(mixture.weights) == len(means)
        each.append(logsumexp(log_f, axis=1, b=mixture.weights))
    expected = logsumexp(each, axis=0) - np.log(len(each))
    np.testing.assert_allclose(model.score_samples(rows), expected, rtol=1e-8)


def test_weights_of_options_add_up_to_one(model):
    for mixture in model.draws_.mixtures:
        assert mixture.weights.sum() == pytest.approx(1)


def test_rows_of_the_fit_are_predicted_where_they_are(model):
    for level in range(3):
        known, new = model.predict_proba(X, level=level, return_new=True)
        np.testing.assert_allclose(known.sum(axis=1), 1)
        assert (known.argmax(axis=1) == model.labels_at(level)).mean() > 0.9
        assert (new < 0.5).mean() > 0.95  # an outlier may well begin a branch
    far = X[:1] + 100.0
    assert model.predict_proba(far, level=1, return_new=True)[1] > 0.99


def test_a_level_leads_to_one_node_or_out_of_the_tree(model):
    tree, transition = model.tree_, transition_named(model.transition)
    weights = transition.component_weights(tree)
    for level in range(3):
        at = transition.predictive(tree, level)
        total = np.exp(at.log_join) @ at.share.sum(axis=0) + np.exp(at.log_leave).sum()
        assert total == pytest.approx(1)
        np.testing.assert_allclose(np.exp(at.log_join) + np.exp(at.log_leave), weights)


def test_a_leaf_is_a_component_where_it_must_be(model):
    if model.transition == "gaussian":
        pairs = set(zip(model.labels_, model.component_labels_, strict=True))
        assert len(pairs) == model.tree_.n_components == len(set(model.labels_))
        leaves = model.tree_.locations[model.tree_.paths[:, -1]]
        np.testing.assert_allclose(leaves, model.tree_.theta[model.tree_.components])


def test_files_and_json_keep_places(model, tmp_path):
    model.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    back = Tree.from_json(model.tree_.to_json())
    np.testing.assert_array_equal(back.locations, model.tree_.locations)
    pruned = model.tree_.prune(min_size=20)
    assert len(pruned.locations) == pruned.n_nodes


def test_families_without_a_place_are_refused():
    sentence = r"transition='diffused' needs a family whose components have a place on the tree"
    with pytest.raises(ValueError, match=sentence):
        BHMC(transition="diffused", likelihood="poisson", **QUICK).fit(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"moves must be 'auto' or a tuple of names, of 'split'"):
        BHMC(transition="diffused", moves=("dishes",), **QUICK).fit(X)


def test_a_searched_estimate_is_completed_with_places():
    """The estimate is no draw here: its places are drawn given its partition."""
    model = BHMC(transition="diffused", **QUICK).fit(X)
    assert np.isfinite(model.tree_.locations).all()
    assert len(model.tree_.locations) == model.tree_.n_nodes
