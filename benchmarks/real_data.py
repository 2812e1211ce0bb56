"""Real tables for the benchmarks: read from beside the checkout, skipped loudly where absent."""

import os
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Bunch

from benchmarks.chains import chain_of, start_state
from benchmarks.states import Shape, tree_for
from benchmarks.timing import ROOT
from bhmc.datasets import load_animals, load_products
from bhmc.likelihoods import Gaussian
from bhmc.model.hdp.params import hdp_state
from bhmc.model.state import Hyper
from bhmc.preprocessing import text_pipeline

# Sweeps before anything is timed.
SETTLE = 50

FOLDER = Path(os.environ.get("BHMC_SHARED_DATA", ROOT.parent / "shared" / "data"))

# The threshold's count when singular values of 0 still weighed in its median; figures in the docs
# were measured with as many columns.
FLIPKART_COLUMNS = 209

# Words as scikit-learn splits them, numbers included: 874 of them, for the same reason.
FLIPKART_WORDS = r"(?u)\b\w\w+\b"


def animals() -> np.ndarray | None:
    """33 animals in the 7 leading principal components of their 102 features."""
    table = _animals()
    return None if table is None else PCA(7, svd_solver="full").fit_transform(table.data)


def animals_start(X: np.ndarray):
    """(state, family): the paper's settings, a start from the prior."""
    family = Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0).prepare(X)
    hyper = Hyper(alpha=0.4, gamma0=1.0, gamma=0.5)
    rng = np.random.default_rng(0)
    return start_state(family, n_levels=4, hyper=hyper, rng=rng), family


def animals_as_zeros_and_ones(level: int) -> tuple[np.ndarray, list[str]] | None:
    """33 animals and their 102 features of 0 and 1; the 5 classes or 10 groups of an annotation."""
    table = _animals()
    if table is None or table.levels is None:
        return None
    return table.data, table.level_names[level - 1][table.levels[:, level - 1]].tolist()


def flipkart() -> np.ndarray | None:
    """2,303 products: TF-IDF of title and description, in its leading singular directions."""
    products = _products()
    if products is None:
        return None
    pipeline = text_pipeline(min_df=10, n_components=FLIPKART_COLUMNS)
    pipeline.set_params(tfidf__token_pattern=FLIPKART_WORDS, tfidf__stop_words="english")
    return pipeline.fit_transform(products.data)


def flipkart_counts():
    """2,303 products: how often each word is in title and description, sparse."""
    products = _products()
    if products is None:
        return None
    return CountVectorizer(stop_words="english", min_df=10).fit_transform(products.data)


def flipkart_classes(levels: int = 2) -> list[str]:
    """The first levels of each product's category path."""
    products = _products()
    return [] if products is None else [" > ".join(path[:levels]) for path in products.paths]


def flipkart_state(X: np.ndarray, k: int = 40, n_nodes: int = 80):
    """(state, likelihood): exactly k components (the finite form), begun by k-means."""
    labels = KMeans(k, n_init=1, random_state=0).fit(X).labels_.astype(np.int32)
    means = np.array([X[labels == j].mean(axis=0) for j in range(k)])
    noise = (X - means[labels]).var(axis=0)
    likelihood = Gaussian(sigma2=noise, mu0=X.mean(axis=0), sigma0=X.var(axis=0))
    shape = Shape(len(X), X.shape[1], k, n_nodes)
    paths, parents = tree_for(shape, np.random.default_rng(0))
    counts = np.zeros((len(parents), k + 1))
    for level in range(paths.shape[1]):
        np.add.at(counts, (paths[:, level], labels), 1)
    weights = counts + 0.01
    weights[:, -1] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):  # no remainder in the finite form
        log_weights = np.log(weights)
    hyper = Hyper(alpha=0.3, gamma0=5.0, gamma=1.0, n_components=k)
    state = hdp_state(paths, labels, parents, log_weights, means, hyper)
    chain = chain_of(state, likelihood.prepare(X), "gibbs", np.random.default_rng(0))
    for _ in range(SETTLE):
        chain.sweep()
    return chain.state(), likelihood


def _animals() -> Bunch | None:
    file = _found("animals/animals_33x102.csv")
    return None if file is None else load_animals(file)


def _products() -> Bunch | None:
    file = _found("flipkart_fashion/flipkart_fashion.csv.gz")
    return None if file is None else load_products(file, where={"sample_2303": "1"})


def _found(name: str) -> Path | None:
    file = FOLDER / name
    if file.exists():
        return file
    print(f"NOT MEASURED: {name} is not here; set BHMC_SHARED_DATA to the folder with it.")
    return None
