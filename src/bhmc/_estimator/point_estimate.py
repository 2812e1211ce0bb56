"""From what chains have kept to the tree that a user sees, and to the scores of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._estimator.profiles import profiles
from bhmc._validation.frames import Columns
from bhmc.likelihoods import ConjugateFamily
from bhmc.model.protocol import Transition
from bhmc.model.state import Partition
from bhmc.posterior.outliers import SeatedDraw, outlier_scores
from bhmc.posterior.recorder import Recorder, best_state, kept_of
from bhmc.posterior.support import node_support, soft_support
from bhmc.posterior.vi_search import nearest_partition
from bhmc.rows.local import LocalRows
from bhmc.tree import Tree


def point_estimate(
    model: Any,
    recorders: list[Recorder],
    family: ConjugateFamily,
    transition: Transition,
    rng: np.random.Generator,
) -> Tree:
    """The point estimate: a draw, or one whose partition is nearer to all draws.

    Parameters
    ----------
    model : BHMC
        The estimator; it has its `draws_`.
    recorders : list of Recorder
        What each chain has kept.
    family : ConjugateFamily
        The likelihood bound to the data.
    transition : Transition
        Bound to its concentrations.
    rng : numpy.random.Generator
        Orders the search, and draws what a searched partition lacks.
    """
    if model.estimate == "map":
        return Tree.from_state(best_state(recorders))
    wholes, _ = kept_of([one.wholes for one in recorders])
    candidates = [one.partition for one in wholes]
    found = nearest_partition(candidates, model.draws_.partitions, model.n_levels, rng)
    state = wholes[found.draw].state(model.n_levels)
    if not found.is_draw:
        rows = LocalRows(family, model.precision)
        state = transition.complete(rows, found.partition, state, rng)
    return Tree.from_state(state)


def described(
    tree: Tree, partitions: Sequence[Partition], X: Any, columns: Columns, names: Any
) -> Tree:
    """The tree with its support, and with what its components look like.

    Parameters
    ----------
    tree : Tree
        The point estimate.
    partitions : sequence of Partition
        The draws.
    X : array or sparse matrix
        The data.
    columns : Columns
        What is known of its columns.
    names : (n,) array, optional
        Names of the rows.
    """
    looks = profiles(X, tree.components, tree.n_components, columns)
    return replace(
        tree,
        support=soft_support(tree.paths, tree.n_nodes, partitions),
        exact_support=node_support(tree.paths, partitions, tree.n_nodes),
        names=names,
        feature_names=looks.names,
        component_means=looks.component_means,
        feature_means=looks.means,
        feature_scales=looks.scales,
    )


def scores_of_rows(
    model: Any, recorders: list[Recorder], X: Any, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(n,) how unusual each row is, by the draws that were kept whole.

    Parameters
    ----------
    model : BHMC
        The estimator; it has its `draws_` and `likelihood_`.
    recorders : list of Recorder
        What each chain has kept.
    X : array or sparse matrix
        The data.
    rng : numpy.random.Generator
        Draws the rows that they are compared with.
    """
    wholes, _ = kept_of([one.wholes for one in recorders])
    pairs = zip(wholes, model.draws_.mixtures, strict=True)
    draws = [SeatedDraw(whole.partition.component, mixture) for whole, mixture in pairs]
    return outlier_scores(draws, model.likelihood_, X, rng)
