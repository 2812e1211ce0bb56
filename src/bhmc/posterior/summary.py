"""From draws to one answer: the draw nearest to all others, and which rows are together.

Distances are variations of information (Meila 2007): VI(a, b) = 2 H(a, b) - H(a) - H(b) in nats,
H being the entropy of the shares of the rows. They do not depend on labels.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from bhmc._validation.parameters import check_whole
from bhmc.posterior.draws import Draws, Partition
from bhmc.posterior.kernels.joint import add_joint_terms

# Draws that are compared with each other; more hardly change which is nearest to all.
_MOST_COMPARED, _MOST_COMPARED_ROWS = 64, 2**21

# Pairs of labels are counted in a table of at most so many cells a row.
_MOST_CELLS = 16

# Clusters up to so many are counted in a full matrix, which is quicker.
_FEW_CLUSTERS = 500

# Shares of co-clustering given at once; labels and shares worked on at once.
_MOST_ENTRIES = 2**26
_BLOCK_ENTRIES = 2**19


def nearest_draw(
    candidates: Sequence[Partition], draws: Sequence[Partition], n_levels: int
) -> tuple[int, NDArray[np.float64]]:
    """The candidate of the least expected variation of information, and all those expectations.

    The loss is the mean over draws of VI of the components + (1 / L) sum over levels of VI, so that
    components count as much as the tree. The candidate with the least loss is the Bayes estimate
    among the candidates. At most 64 draws, evenly spaced, take part; fewer where rows are many.

    Parameters
    ----------
    candidates : sequence of Partition
        The draws to choose from.
    draws : sequence of Partition
        The draws to be near to, at least one.
    n_levels : int
        Level of the leaves.

    Returns
    -------
    chosen, losses : int, (candidates,) array
        Index of the candidate with the least loss, and the losses of all.
    """
    losses = expected_losses(candidates, draws, n_levels).sum(axis=1)
    return int(losses.argmin()), losses


def expected_losses(
    candidates: Sequence[Partition], draws: Sequence[Partition], n_levels: int
) -> NDArray[np.float64]:
    """(candidates, 2) mean over draws of VI of the components, and of (1 / L) sum of VI of levels.

    Parameters
    ----------
    candidates, draws, n_levels
        As in `nearest_draw`.
    """
    others, levels = compared(draws), range(1, n_levels + 1)
    found = np.zeros((len(candidates), 2))
    for level in (None, *levels):
        theirs = [labels_of(one, level, n_levels) for one in others]
        ours = (labels_of(one, level, n_levels) for one in candidates)  # one at a time: n is large
        of_level = expected_vi(ours, theirs)
        found[:, 0 if level is None else 1] += of_level if level is None else of_level / n_levels
    return found


def compared(draws: Sequence[Partition]) -> list[Partition]:
    """The draws that a point estimate is to be near to: at most 64, fewer where rows are many.

    Parameters
    ----------
    draws : sequence of Partition
        All draws, at least one.
    """
    most = int(np.clip(_MOST_COMPARED_ROWS // len(draws[0].leaf), 4, _MOST_COMPARED))
    return [draws[i] for i in evenly_spaced(len(draws), most)]


def expected_vi(
    candidates: Iterable[NDArray[Any]], draws: Sequence[NDArray[Any]]
) -> NDArray[np.float64]:
    """(candidates,) mean variation of information from each candidate to the draws.

    Parameters
    ----------
    candidates : iterable of (n,) arrays
        Labels of the same rows: whole numbers, none below 0.
    draws : sequence of (n,) arrays
        Likewise.
    """
    n, others = len(draws[0]), np.array(draws, dtype=np.int64)
    widths = others.max(axis=1) + 1
    entropies = np.array([_entropy(np.bincount(one), n) for one in draws])
    found = []
    for labels in candidates:
        joint = _joint_entropies(labels.astype(np.int64), others, widths)
        own = _entropy(np.bincount(labels), n)
        found.append(np.mean(2 * joint - own - entropies))
    return np.maximum(found, 0.0)


def _joint_entropies(
    labels: NDArray[np.int64], others: NDArray[np.int64], widths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(draws,) entropy of the shares of rows with the same pair of labels.

    `widths` is one more than the largest label of each draw.
    """
    n, n_cells = len(labels), (int(labels.max()) + 1) * int(widths.max())
    terms = np.empty(len(others))
    if n_cells <= _MOST_CELLS * n:
        counts = np.zeros(n_cells, dtype=np.int64)
        add_joint_terms(labels, others, widths, counts, terms)
    else:  # far more cells than rows: count those that occur
        for t, (one, width) in enumerate(zip(others, widths, strict=True)):
            counts = np.unique(labels * width + one, return_counts=True)[1]
            terms[t] = xlogy(counts, counts).sum()
    return np.log(n) - terms / n


def coclustering(
    draws: Draws,
    level: int | str = "component",
    *,
    rows: NDArray[Any] | Sequence[int] | None = None,
    columns: NDArray[Any] | Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Share of the kept draws in which two rows are in one node of a level, or one component.

    Parameters
    ----------
    draws : Draws
        The draws; where `keep="summary"`, those whose partitions were kept.
    level : int or "component", default="component"
        A level from 1 to L, or the components.
    rows, columns : indices, optional
        Which rows of the data to compare with which; all of them by default, which is refused where
        that would be more than 64 million numbers: ask for parts, or use `coclustering_blocks`.

    Returns
    -------
    share : (rows, columns) array
    """
    at = check_level(draws, level)
    everyone = np.arange(draws.n_rows)
    rows = everyone if rows is None else everyone[rows]
    columns = everyone if columns is None else everyone[columns]
    if len(rows) * len(columns) > _MOST_ENTRIES:
        raise ValueError(
            f"{len(rows)} x {len(columns)} shares take too much memory: name fewer rows or "
            f"columns, or use coclustering_blocks."
        )
    found = np.zeros((len(rows), len(columns)))
    for draw in draws.partitions:
        labels = labels_of(draw, at, draws.n_levels)
        found += labels[rows][:, None] == labels[columns][None, :]
    return found / len(draws.partitions)


def coclustering_blocks(
    draws: Draws, level: int | str = "component"
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """`coclustering` of all rows with all, some rows at a time: yields (rows, their shares).

    Parameters
    ----------
    draws : Draws
        The draws.
    level : int or "component", default="component"
        A level from 1 to L, or the components.
    """
    n = draws.n_rows
    height = max(1, _BLOCK_ENTRIES // n)
    for first in range(0, n, height):
        rows = slice(first, min(first + height, n))
        yield rows, coclustering(draws, level, rows=np.arange(n)[rows])


def pairs_together(
    draws: Draws, level: int | str, rows: NDArray[np.int64], bounds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(g, g) number of pairs of rows of two groups that are together, the mean over draws.

    In a draw the number of pairs is the product of how many rows of each group a cluster holds,
    summed over clusters.

    Parameters
    ----------
    draws : Draws
        The draws.
    level : int or "component"
        A level from 1 to L, or the components.
    rows : array of int
        Row numbers, group by group.
    bounds : (g + 1,) array
        Group i is `rows[bounds[i]:bounds[i + 1]]`.
    """
    at, n_groups = check_level(draws, level), len(bounds) - 1
    group = np.repeat(np.arange(n_groups), np.diff(bounds))
    total = np.zeros((n_groups, n_groups))
    for draw in draws.partitions:
        labels, n_labels = _renumbered(labels_of(draw, at, draws.n_levels)[rows].astype(np.int64))
        if n_labels <= _FEW_CLUSTERS:
            held = np.bincount(group * n_labels + labels, minlength=n_groups * n_labels)
            held = held.reshape(n_groups, n_labels).astype(np.float64)
            total += held @ held.T
        else:  # most groups have no row in most clusters
            shape = (n_groups, n_labels)
            some = sparse.csr_array((np.ones(len(rows)), (group, labels)), shape=shape)
            total += (some @ some.T).toarray()
    return total / len(draws.partitions)


def _renumbered(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The labels as 0, 1, ... without gaps, and how many there are."""
    used = np.zeros(int(labels.max()) + 1, dtype=bool)
    used[labels] = True
    return (np.cumsum(used) - 1)[labels], int(used.sum())


def check_level(draws: Draws, level: int | str) -> int | None:
    """`level` as an int, or None for the components; refuses draws without partitions.

    Parameters
    ----------
    draws : Draws
        The draws.
    level : int or "component"
        A level from 1 to L, or the components.
    """
    if not draws.partitions:
        raise ValueError("no partitions were kept in these draws: fit with keep='paths'.")
    if isinstance(level, str):
        if level != "component":
            raise ValueError(f"level must be 'component' or a whole number, got {level!r}.")
        return None
    level = check_whole(level, "level", 1)
    if level > draws.n_levels:
        raise ValueError(f"level must be at most {draws.n_levels}, got {level}.")
    return level


def labels_of(partition: Partition, level: int | None, n_levels: int) -> NDArray:
    """(n,) components, or nodes of a level.

    Parameters
    ----------
    partition : Partition
        A draw.
    level : int, optional
        The level; without it, the components.
    n_levels : int
        Level of the leaves.
    """
    if level is None:
        return partition.component
    return partition.nodes_at(level, n_levels)


def evenly_spaced(n: int, most: int) -> NDArray[np.int64]:
    """At most so many of 0..n-1, evenly spaced, the first and the last among them.

    Parameters
    ----------
    n, most : int
        How many there are, and how many are wanted.
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _entropy(counts: NDArray, n: int) -> float:
    return float(np.log(n) - xlogy(counts, counts).sum() / n)
