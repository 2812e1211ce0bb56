"""Which clusters are near each other: a dendrogram of components, averaged over draws.

It is a summary of the draws, not a part of the model: no prior speaks of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods import ConjugateFamily
from bhmc.posterior.draws import Draws
from bhmc.posterior.merging import Floats, Merges, merge_by_loss
from bhmc.tree import Tree

# Draws that take part, evenly spaced; fewer where components or statistics are many, so that the
# work, about K^2 (K + s) numbers a draw, takes a few seconds at most.
_MOST_DRAWS, _LEAST_DRAWS, _MOST_WORK = 20, 4, 1e8

# Numbers in the paths and in the weights of a dendrogram; of a deeper one the lowest levels are put
# together.
_MOST_PATHS, _MOST_WEIGHTS = 2**24, 2**25


class OneDraw(NamedTuple):
    """A draw against the estimate: which components hold the same rows, and how near they are."""

    shared_rows: Floats
    """(G, K) rows of each component of the estimate in each component of the draw."""
    merges: Merges
    """The draw's own components, merged."""
    sums: Floats
    """(G, m) sums over the rows of each component of the estimate, where every row stands for the
    mean of its component in the draw."""
    log_maximum: Callable[[Floats], Floats]
    """The largest log likelihood of a group's rows, by the draw's shared numbers."""


def component_dendrogram(tree: Tree, draws: Draws, family: ConjugateFamily) -> Tree:
    """The components of a tree, merged two at a time, those first that lose least log likelihood.

    In draw t every row stands for the mean of its component in that draw. Two groups of rows, a and
    b, then lose l_t(a) + l_t(b) - l_t(a + b) nats when they share one parameter, l_t being the
    largest log likelihood (`ConjugateFamily.group_maximum`). A height is the mean of that over
    draws. For Gaussians with the shared variance sigma2 it is Ward's criterion in units of the
    noise,

        n_a n_b / (n_a + n_b) E |m_a - m_b|^2 / (2 sigma2),

    that is, Ward's method on the expected squared distances between the components of two rows. In
    a product of families groups have Gaussian variances of their own, never below the noise, so
    that no column outweighs all others because its noise is small.

    The support of a node is the mean over draws of max over B of |A & B| / |A | B|, where A are the
    rows of the node and B those of any node of the dendrogram of the draw's own components.

    Parameters
    ----------
    tree : Tree
        The point estimate; the tips of the dendrogram are its components that have rows.
    draws : Draws
        Draws with partitions. At most 20 of them, evenly spaced, take part.
    family : ConjugateFamily
        The likelihood bound to all rows.

    Returns
    -------
    Tree
        Over the same rows, with heights in nats and support.
    """
    used, groups = np.unique(tree.components, return_inverse=True)
    chosen = [_components(draws, which, family) for which in _chosen(draws, family)]
    # Of all draws together: one that splits a wide component in two would else weigh far more.
    every = np.vstack([one.sums for one in chosen])
    compared = [_compare(groups, one, family.at(one.shared).with_spread(every)) for one in chosen]
    merges = merge_by_loss(np.hstack([one.sums for one in compared]), _mean_maximum(compared))
    support = mean_best_match(merges.members, compared)
    return _as_tree(tree, used, groups, merges, support)


def mean_best_match(members: NDArray[np.bool_], draws: Sequence[OneDraw]) -> NDArray[np.float64]:
    """(m,) mean over draws of the best Jaccard index of each set of rows and a node of the draw.

    Parameters
    ----------
    members : (m, G) array
        Which groups of rows are in each set.
    draws : sequence of OneDraw
        The draws; rows of their `shared_rows` are the groups.
    """
    total = np.zeros(len(members))
    for one in draws:
        theirs = one.merges.members
        common = members @ one.shared_rows @ theirs.T
        ours = members @ one.shared_rows.sum(axis=1)
        others = theirs @ one.shared_rows.sum(axis=0)
        total += (common / (ours[:, None] + others - common)).max(axis=1)
    return total / len(draws)


def _chosen(draws: Draws, family: ConjugateFamily) -> list[int]:
    """Which of the kept partitions take part."""
    n_components = max(int(draws.n_components.max()), 1)
    most = int(_MOST_WORK / (n_components**2 * (n_components + family.n_statistics)))
    most = min(max(most, _LEAST_DRAWS), _MOST_DRAWS, len(draws.partitions))
    return np.unique(np.linspace(0, len(draws.partitions) - 1, most).round().astype(int)).tolist()


class _Components(NamedTuple):
    """The components of a draw that have rows."""

    labels: NDArray[np.int64]
    """(n,) component of each row, 0, 1, ..."""
    sums: Floats
    """(K, s) sums of sufficient statistics over their rows."""
    shared: Floats
    """The draw's shared numbers."""


def _components(draws: Draws, which: int, family: ConjugateFamily) -> _Components:
    """The components of a kept draw."""
    shared = draws.shared[tuple(draws.partition_index[which])]
    _, labels = np.unique(draws.partitions[which].component, return_inverse=True)
    weighed = family.at(shared).for_groups(labels)
    return _Components(labels, weighed.sums(labels, int(labels.max()) + 1), shared)


def _compare(groups: NDArray, draw: _Components, family: ConjugateFamily) -> OneDraw:
    """A draw against the estimate, whose components are `groups` 0, 1, ...; `family` is bound to
    the draw's shared numbers and has the spread within components.
    """
    shape = int(groups.max()) + 1, len(draw.sums)
    counts = np.bincount(groups * shape[1] + draw.labels, minlength=shape[0] * shape[1])
    counts = counts.reshape(shape).astype(np.float64)
    sums = family.group_sums(draw.sums)
    means = sums / counts.sum(axis=0)[:, None]
    own = merge_by_loss(sums, family.group_maximum)
    return OneDraw(counts, own, counts @ means, family.group_maximum)


def _mean_maximum(draws: Sequence[OneDraw]) -> Callable[[Floats], Floats]:
    """The mean over draws of l_t, of the draws' sums side by side."""
    ends = np.cumsum([one.sums.shape[1] for one in draws])[:-1]

    def mean(sums: Floats) -> Floats:
        parts = zip(draws, np.split(sums, ends, axis=1), strict=True)
        return np.mean([one.log_maximum(own) for one, own in parts], axis=0)

    return mean


def _as_tree(tree: Tree, used: NDArray, groups: NDArray, merges: Merges, support: NDArray) -> Tree:
    """The merges as a `Tree` over the rows, with what is known of the components."""
    n_rows, n_components = len(groups), tree.n_components
    max_levels = max(1, min(_MOST_PATHS // n_rows, _MOST_WEIGHTS // (n_components + 1) ** 2))
    bare = Tree.from_parents(merges.parents, groups, heights=merges.heights, max_levels=max_levels)
    held = _held(bare, used, groups, n_components)
    return replace(
        tree,
        locations=None,
        step_variances=None,
        concentrations=None,
        **{
            name: getattr(bare, name) for name in ("parents", "levels", "sizes", "paths", "heights")
        },
        weights=np.column_stack([held / bare.sizes[:, None], np.zeros(bare.n_nodes)]),
        support=support[_same_nodes(held[:, used] > 0, merges.members)],
        exact_support=None,
        node_names=None,
        merged=None,
    )


def _held(bare: Tree, used: NDArray, groups: NDArray, n_components: int) -> Floats:
    """(n_nodes, K) rows of each component under each node."""
    held = np.zeros((bare.n_nodes, n_components))
    _, first = np.unique(groups, return_index=True)
    for nodes in bare.paths[first].T:  # all rows of a group have the same path
        held[nodes, used] = np.bincount(groups)
    return held


def _same_nodes(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(nodes of ours,) the node of theirs with the same groups; both are nested sets of groups.

    Of nested sets with the same first member no two are equally large.
    """
    n_groups = theirs.shape[1]
    keys = [one.argmax(axis=1) * (n_groups + 1) + one.sum(axis=1) for one in (ours, theirs)]
    order = np.argsort(keys[1])
    return order[np.searchsorted(keys[1][order], keys[0])]
