"""How many groups each level of a start has."""

import numpy as np
from numpy.typing import NDArray

# Half the square of four standard deviations of the noise: means that are nearer to each other are
# of one component, as kappa's rule has it.
_FAR = 8.0

# Steps below this share of the widest are rounding.
_ROUNDING = 1e-12


def even_counts(n_groups: int, n_levels: int) -> list[int]:
    """Level j of L has the j / L-th power of the number of groups: as many children everywhere.

    Parameters
    ----------
    n_groups : int
        Groups of the last level.
    n_levels : int
        L, the number of levels.
    """
    return [max(1, round(n_groups ** (j / n_levels))) for j in range(1, n_levels + 1)]


def counts_by_steps(
    tree: NDArray, sizes: NDArray, noise: float, width: int, n_groups: int, n_levels: int
) -> list[int] | None:
    """As many groups at each level as make the steps of a level equally long.

    From the root down, each split of Ward's tree is a step of half the squared distance between
    its two means, less what the noise of these means adds to it. If n_l of the steps belong to
    level l, all with the variance v_l a coordinate, their largest log likelihood is

        sum over l of -(D n_l / 2) log v_l,    v_l the mean of the steps of level l, over D.

    The counts that make it largest are found by dynamic programming; the steps of a level follow
    each other in Ward's order. Splits of means that are nearer than four standard deviations of the
    noise play no part. So the levels of a tree whose levels have steps of other lengths are found
    at the start: no move of the sampler shifts a whole tree by a level.

    Parameters
    ----------
    tree : (m - 1, 4) array
        Ward's tree of m items, as SciPy returns it.
    sizes : (m,) array
        Rows of each item.
    noise : float
        Mean squared distance of rows from the mean of their group: the sum over coordinates.
    width : int
        D, the number of coordinates.
    n_groups : int
        Groups of the last level, which are components, if there are as many items.
    n_levels : int
        Levels, that of the components included.

    Returns
    -------
    list of int, or None
        Groups at each level; None where fewer splits are wide than there are levels.
    """
    steps = _steps(tree, sizes, noise, min(n_groups, len(sizes)))
    # Rows that are all alike have no noise, and rounding must not stand for it.
    far = max(_FAR * noise / width, _ROUNDING * steps.max(initial=0.0))
    n_wide = int((steps > far).sum())
    if n_wide < n_levels:
        return None
    ends = _segments(np.maximum(steps[:n_wide], far), n_levels)
    return [*(end + 1 for end in ends[:-1]), n_groups]


def _steps(tree: NDArray, sizes: NDArray, noise: float, n_groups: int) -> NDArray[np.float64]:
    """(n_groups - 1,) half the squared distance of the means of each split, without the noise's
    share, from the root down.
    """
    n_items = len(sizes)
    items, rows = np.ones(2 * n_items - 1), np.zeros(2 * n_items - 1)
    rows[:n_items], items[n_items:] = sizes, tree[:, 3]
    for node, (left, right) in enumerate(tree[:, :2].astype(int), start=n_items):
        rows[node] = rows[left] + rows[right]
    top = tree[n_items - n_groups :][::-1]  # the splits into 2, 3, ..., n_groups groups
    left, right = top[:, 0].astype(int), top[:, 1].astype(int)
    # SciPy's heights are sqrt(2 a b / (a + b)) times the distance of the means of a and b items.
    squares = top[:, 2] ** 2 * (1 / items[left] + 1 / items[right]) / 2
    return (squares - noise * (1 / rows[left] + 1 / rows[right])) / 2


def _segments(steps: NDArray[np.float64], n_segments: int) -> list[int]:
    """Where each of the segments ends whose log likelihood is largest; D plays no part in that."""
    total = np.concatenate([[0.0], np.cumsum(steps)])
    n = len(steps)
    best = np.full(n + 1, -np.inf)
    best[0], cuts = 0.0, []
    for _ in range(n_segments):
        further, cut = np.full(n + 1, -np.inf), np.zeros(n + 1, dtype=int)
        for end in range(1, n + 1):
            numbers = end - np.arange(end)
            scores = best[:end] - numbers * np.log((total[end] - total[:end]) / numbers)
            cut[end] = int(scores.argmax())
            further[end] = scores[cut[end]]
        best = further
        cuts.append(cut)
    ends = [n]
    for cut in cuts[:0:-1]:
        ends.append(int(cut[ends[-1]]))
    return ends[::-1]
