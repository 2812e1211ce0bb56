"""Ward: SciPy's merges as a tree."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, linkage

from bhmc.baselines import Ward
from tests.tree.trees import check_tree


def same_partition(one, other):
    pairs = {tuple(pair) for pair in np.column_stack([one, other]).tolist()}
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


def test_cuts_are_those_of_scipy(X):
    for n_clusters in (1, 2, 3, 7, 20, 60):
        model = Ward(n_clusters).fit(X)
        expected = fcluster(linkage(X, "ward"), n_clusters, "maxclust")
        assert same_partition(model.labels_, expected)
        assert len(set(model.labels_.tolist())) == n_clusters


def test_linkage_comes_back_as_it_was(X):
    model = Ward().fit(X)
    check_tree(model.tree_)
    np.testing.assert_allclose(cophenet(model.tree_.to_linkage()), cophenet(model.linkage_))
    np.testing.assert_allclose(model.tree_.to_linkage()[:, 2:], model.linkage_[:, 2:])
