"""Real tables for the benchmarks: read from beside the checkout, skipped loudly where absent."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from benchmarks.states import Shape, tree_for
from benchmarks.timing import ROOT
from bhmc._state import Hyper, State
from bhmc.likelihoods import Gaussian
from bhmc.sampling import Chain, start_state

# Sweeps before anything is timed.
SETTLE = 50

FOLDER = Path(os.environ.get("BHMC_SHARED_DATA", ROOT.parent / "shared" / "data"))


def animals() -> np.ndarray | None:
    """33 animals in the 7 leading principal components of their 102 features."""
    rows = _rows("animals/animals_33x102.csv")
    if rows is None:
        return None
    features = np.array([row[1:] for row in rows[1:]], dtype=float)
    return PCA(7, svd_solver="full").fit_transform(features)


def animal_names() -> list[tuple[str, str]]:
    """(name, class) of the 33 animals; the classes are an annotation, not part of the source."""
    rows = _rows("animals/labels_annotation.csv")
    return [(name, label) for name, label, _ in rows[1:]] if rows else []


def fashion() -> tuple[np.ndarray, list[str], int] | None:
    """(X, classes, columns above noise): 1,000 images by their singular directions, all of them."""
    file = FOLDER / "fashion_mnist" / "fashion_mnist_1000.npz"
    if not file.exists():
        print(f"NOT MEASURED: {file.name} is not here; set BHMC_SHARED_DATA to its folder.")
        return None
    with np.load(file) as data:
        X = data["images"].reshape(len(data["images"]), -1) / 255.0
        classes = [str(name) for name in data["level3"]]
    X = X - X.mean(axis=0)
    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    return left * singular, classes, _above_noise(X).shape[1]


def animals_start(X: np.ndarray):
    """(state, family): the paper's settings, a start from the prior."""
    family = Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0).prepare(X)
    hyper = Hyper(alpha=0.4, gamma0=1.0, gamma=0.5)
    rng = np.random.default_rng(0)
    return start_state(family, n_levels=4, hyper=hyper, rng=rng), family


def animals_as_zeros_and_ones(level: int) -> tuple[np.ndarray, list[str]] | None:
    """33 animals and their 102 features of 0 and 1; the 5 classes or 10 groups of an annotation."""
    rows, notes = _rows("animals/animals_33x102.csv"), _rows("animals/labels_annotation.csv")
    if rows is None or notes is None:
        return None
    classes = {row[0]: row[level] for row in notes[1:]}
    return np.array([row[1:] for row in rows[1:]], float), [classes[row[0]] for row in rows[1:]]


def flipkart() -> np.ndarray | None:
    """2,303 products: TF-IDF of title and description, reduced by `_above_noise`."""
    products = _products()
    if products is None:
        return None
    texts = [f"{row['title']} {row['description']}" for row in products]
    table = TfidfVectorizer(stop_words="english", min_df=10).fit_transform(texts)
    return _above_noise(table.toarray())


def flipkart_counts():
    """2,303 products: how often each word is in title and description, sparse."""
    products = _products()
    if products is None:
        return None
    texts = [f"{row['title']} {row['description']}" for row in products]
    return CountVectorizer(stop_words="english", min_df=10).fit_transform(texts)


def flipkart_classes(levels: int = 2) -> list[str]:
    """The first levels of each product's category path."""
    return [" > ".join(row["category_path"].split(" > ")[:levels]) for row in _products() or []]


def _products() -> list[dict[str, str]] | None:
    """The 2,303 products, by column name."""
    rows = _rows("flipkart_fashion/flipkart_fashion.csv.gz")
    if rows is None:
        return None
    products = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return [row for row in products if row["sample_2303"] == "1"]


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
    state = State(paths, labels, parents, log_weights, means, hyper)
    chain = Chain(state, likelihood.prepare(X), "gibbs", np.random.default_rng(0))
    for _ in range(SETTLE):
        chain.sweep()
    return chain.state(), likelihood


def _above_noise(table: np.ndarray) -> np.ndarray:
    """The table's singular directions above the optimal hard threshold (Gavish and Donoho 2014).

    For noise of unknown size the threshold is omega(b) times the median singular value, b the ratio
    of the sides; omega by their cubic, 0.56 b^3 - 0.95 b^2 + 1.82 b + 1.43.
    """
    left, singular, _ = np.linalg.svd(table, full_matrices=False)
    b = min(table.shape) / max(table.shape)
    omega = 0.56 * b**3 - 0.95 * b**2 + 1.82 * b + 1.43
    kept = singular > omega * np.median(singular)
    return np.ascontiguousarray(left[:, kept] * singular[kept])


def _rows(name: str) -> list[list[str]] | None:
    file = FOLDER / name
    if not file.exists():
        print(f"NOT MEASURED: {name} is not here; set BHMC_SHARED_DATA to the folder with it.")
        return None
    opener = gzip.open if name.endswith(".gz") else open
    with opener(file, "rt", newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))
