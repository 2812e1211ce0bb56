"""The real tables of the benchmarks, with their classes: each prepared in one way for all of them.

A function returns (X, classes), classes (n, levels) from coarse to fine, or None where a table is
not part of this repository and absent. Classes are read to print figures and nowhere else.
"""

import numpy as np
from sklearn import datasets as sklearn_datasets

from benchmarks import real_data
from bhmc.datasets import (
    load_digits,
    load_fashion_mnist_sample,
    load_products,
    load_wordnet_things,
    load_zoo,
)
from bhmc.preprocessing import text_pipeline

_PRODUCTS = "flipkart_fashion/flipkart_fashion.csv.gz"
# Deeper classes have so few rows each that no figure means much.
_MOST_LEVELS = 5


def zoo():
    """101 animals: 15 features of 0 and 1, and legs; 2 kinds and 7 types."""
    table = load_zoo(as_frame=True)
    return table.data, table.levels


def iris():
    """150 flowers, 4 lengths; 3 species."""
    return _flat(sklearn_datasets.load_iris(return_X_y=True))


def wine():
    """178 wines, 13 measurements in different units; 3 growers."""
    return _flat(sklearn_datasets.load_wine(return_X_y=True))


def breast_cancer():
    """569 tumours, 30 measurements in different units; 2 diagnoses."""
    return _flat(sklearn_datasets.load_breast_cancer(return_X_y=True))


def digits():
    """1,797 images of 64 pixels; 10 digits."""
    table = load_digits()
    return table.data, table.levels


def fashion():
    """1,000 images in their 22 leading singular directions; 3, 5 and 10 classes."""
    table = load_fashion_mnist_sample()
    left, values, _ = np.linalg.svd(table.data - table.data.mean(axis=0), full_matrices=False)
    return left[:, :22] * values[:22], table.levels


def products():
    """2,303 products in 209 singular directions of their words; classes of five levels."""
    X = real_data.flipkart()
    if X is None:
        return None
    table = load_products(real_data.FOLDER / _PRODUCTS, where={"sample_2303": "1"})
    return X, table.levels[:, :_MOST_LEVELS]


def wordnet():
    """2,775 glosses in 40 singular directions of their words; classes of five levels."""
    table = load_wordnet_things()
    X = text_pipeline(min_df=10, n_components=40).fit_transform(table.data)
    return X, table.levels[:, :_MOST_LEVELS]


def embedded_wordnet():
    """The same glosses as sentence embeddings, in 40 principal components."""
    table = load_wordnet_things(embedded=True)
    return table.embedding, table.levels[:, :_MOST_LEVELS]


def different_units(name: str) -> bool:
    """Whether the columns of a table are in different units."""
    return name in ("wine", "breast_cancer")


def same_units(name: str, X) -> np.ndarray:
    """The numbers as methods see them that compare columns as they are.

    Columns in different units are divided by their standard deviations; others stay as they are.
    """
    numbers = np.asarray(X, dtype=float)
    if not different_units(name):
        return numbers
    return (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)


def _flat(table):
    X, classes = table
    return X, classes[:, None]


_ALL = (zoo, iris, wine, breast_cancer, digits, fashion, products, wordnet, embedded_wordnet)
TABLES = {one.__name__: one for one in _ALL}
