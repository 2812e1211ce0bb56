"""Must show: `cut(k)` gives k clusters on every data set of the suite, for both trees of a fit."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer

from bhmc import BHMC
from bhmc.datasets import (
    load_digits,
    load_fashion_mnist_sample,
    load_wordnet_things,
    load_zoo,
    make_diffused_hierarchy,
    make_hierarchy,
)

QUICK = {"n_levels": 3, "n_warmup": 3, "n_draws": 3, "n_chains": 1, "random_state": 0}


def some(X, n=120):
    """Evenly spaced rows: fits of whole tables would take minutes."""
    return X[np.linspace(0, X.shape[0] - 1, min(n, X.shape[0])).astype(int)]


def counts_of_words(texts):
    return CountVectorizer(max_features=50).fit_transform(texts)


DATA = {
    "zoo": lambda: load_zoo().data,
    "iris": lambda: load_iris().data,
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: some(load_breast_cancer().data),
    "digits": lambda: some(load_digits().data[:, ::4]),
    "fashion": lambda: some(load_fashion_mnist_sample().data[:, ::49]),
    "wordnet": lambda: some(counts_of_words(load_wordnet_things().data)),
    "hierarchy": lambda: make_hierarchy(n_samples=100, random_state=0).data,
    "diffused hierarchy": lambda: some(make_diffused_hierarchy(random_state=0).data),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("transition", ["auto", "hdp"])
def test_as_many_clusters_as_asked(name, transition):
    model = BHMC(transition=transition, **QUICK).fit(DATA[name]())
    cut_somewhere = 0
    for tree in (model.tree_, model.dendrogram_):
        for k in range(2, 11):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                labels = tree.cut(k)
            assert len(np.unique(labels)) == min(k, tree.n_leaves)
            assert len(said) == (k > tree.n_leaves)
            cut_somewhere += k <= tree.n_leaves
    assert cut_somewhere
