"""Nodes described by the words of texts: wiring, no mathematics."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.profiles import feature_blocks, profiles, width
from bhmc._validation.frames import Columns
from bhmc._validation.reading import read_data
from bhmc.preprocessing import WordTable
from bhmc.tree import Tree
from bhmc.tree.node_features import NodeFeatures, node_features


class Described(NamedTuple):
    """What nodes are described by from now on."""

    profile: dict[str, Any]
    """Fields of a `Tree`."""
    node_features: NodeFeatures


def described_by_words(tree: Tree, table: WordTable, X: Any) -> Described:
    """The fields of the tree, and what sets its nodes apart, by words and the columns of X.

    Parameters
    ----------
    tree : Tree
        The point estimate.
    table : WordTable
        Which texts have which words.
    X : array, frame or None
        Further columns.
    """
    n = len(tree.paths)
    for what, rows in (("texts", table.has_word), ("X", X)):
        if rows is not None and rows.shape[0] != n:
            raise ValueError(f"{what} must have {n} rows, as the fit had, got {rows.shape[0]}.")
    data, columns, words = _joined(table, X)
    with one_blas_thread():
        looks = profiles(data, tree.components, tree.n_components, columns)
        profile = {
            "feature_names": looks.names,
            "component_means": looks.component_means,
            "feature_means": looks.means,
            "feature_scales": looks.scales,
            "is_word": words,
        }
        features = node_features(
            replace(tree, **profile), partial(feature_blocks, data, columns), np.zeros(len(words))
        )
    return Described(profile, features)


def _joined(table: WordTable, X: Any) -> tuple[Any, Columns, NDArray[np.bool_]]:
    """The columns of X and the words side by side, and which features are words."""
    words = table.words.tolist()
    if X is None:
        return table.has_word, Columns(words), np.ones(len(words), dtype=bool)
    matrix, known = read_data(
        X, allow_missing=True, allow_sparse=True, coded=lambda d, names: range(d)
    )
    names = known.names or [f"x{j}" for j in range(matrix.shape[1])]
    data = sparse.hstack([sparse.csr_array(matrix), table.has_word], format="csr")
    own = width(known, matrix.shape[1])
    is_word = np.arange(own + len(words)) >= own
    return data, Columns([*names, *words], known.categories), is_word
