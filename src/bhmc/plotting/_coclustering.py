"""`plot_coclustering`: how often rows are together, and `coclustering_grid`: what it draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_whole
from bhmc.plotting._canvas import axes_for, size_in_points
from bhmc.plotting._colors import INK
from bhmc.plotting._given import given_draws
from bhmc.plotting._text import FONT_SIZE, PLAIN, item_names, one_line, width_of
from bhmc.posterior.draws import Draws
from bhmc.posterior.summary import check_level, coclustering, pairs_together
from bhmc.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 120  # rows for which a new figure is made large enough


@dataclass(frozen=True, eq=False)
class CoclusteringGrid:
    """Shares of draws in which rows are together, for single rows or groups of neighbours."""

    share: NDArray[np.float64]
    """(g, g) mean over the pairs of a row of one group and a row of the other. Within a group the
    pairs are those of two different rows."""
    rows: NDArray[np.int64]
    """(r,) the rows, in the order of the tree."""
    bounds: NDArray[np.int64]
    """(g + 1,) group i is `rows[bounds[i]:bounds[i + 1]]`."""
    blocks: NDArray[np.int64]
    """Places in `rows` where another node of the tree begins."""


def coclustering_grid(
    draws: Draws | ArrayLike,
    level: int | str = "component",
    *,
    tree: Tree | None = None,
    rows: ArrayLike | None = None,
    max_cells: int = 500,
) -> CoclusteringGrid:
    """What `plot_coclustering` draws; parameters as there.

    It takes memory for the cells and for one label of each row, never for rows x rows.
    """
    max_cells = check_whole(max_cells, "max_cells", 1)
    if isinstance(draws, Draws):
        check_level(draws, level)
        n_rows = draws.n_rows
    else:
        draws = _check_matrix(draws)
        n_rows = len(draws)
    if tree is not None and len(tree.paths) != n_rows:
        raise ValueError(f"tree must hold the same {n_rows} rows, got {len(tree.paths)}.")
    chosen = _in_order(_check_rows(rows, n_rows), tree)
    n_cells = min(len(chosen), max_cells)
    bounds = np.linspace(0, len(chosen), n_cells + 1).round().astype(np.int64)
    if not isinstance(draws, Draws):
        sums = _sums(draws, chosen, bounds)
    elif n_cells == len(chosen):
        sums = coclustering(draws, level, rows=chosen, columns=chosen)
    else:
        sums = pairs_together(draws, level, chosen, bounds)
    sizes = np.diff(bounds)
    pairs = np.outer(sizes, sizes).astype(float)
    # Pairs of a row with itself do not count, but where a group has one row there is no other pair.
    own = np.where(sizes > 1, sizes, 0)
    np.fill_diagonal(pairs, sizes * sizes - own)
    sums[np.diag_indices(n_cells)] -= own
    return CoclusteringGrid(sums / pairs, chosen, bounds, _blocks(tree, chosen, level))


def plot_coclustering(
    draws: Any,
    level: int | str = "component",
    *,
    tree: Tree | None = None,
    rows: ArrayLike | None = None,
    names: Iterable[Any] | None = None,
    ax: Axes | None = None,
    max_cells: int = 500,
) -> Axes:
    """Heat map of the share of the kept draws in which two rows are together.

    Rows are in the order of the tree, so that a node of the tree is a block on the diagonal. A dark
    block is a node that most draws have. Thin lines separate the tree's nodes.

    Parameters
    ----------
    draws : BHMC, Draws or (n, n) array
        A fitted model; or its `draws_`, with the `tree` beside it; or shares computed before.
    level : int or "component", default="component"
        Together at this level of the trees, or in one component.
    tree : Tree, optional
        Gives the order of the rows, their names and the lines; a fitted model brings its own.
        Without a tree rows are in their own order.
    rows : array of int, optional
        Rows to show; all if not given.
    names : iterable of length n, optional
        What to call the rows; the tree's own names if not given. Written where there is room.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    max_cells : int, default=500
        Most cells to a side. Of more rows, neighbours in the tree's order are taken together, and a
        cell is the mean over its pairs.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on.
    """
    import_matplotlib("plot_coclustering")
    if not isinstance(draws, np.ndarray | list | tuple):
        tree = getattr(draws, "tree_", None) if tree is None else tree
        draws = given_draws(draws, "plot_coclustering")
    grid = coclustering_grid(draws, level, tree=tree, rows=rows, max_cells=max_cells)
    called = _names(tree, names)
    if len(grid.bounds) <= len(grid.rows):
        called = None  # rows have no lines of their own
    few = called is not None and len(grid.rows) <= _MOST_NAMES
    side = min(max(4.5, 0.11 * len(grid.rows)), 12.0) if few else 5.5
    room = max(width_of(called[row]) for row in grid.rows) / 72 if few and called else 0.0
    margin = 0.25 + min(room, 2.0)
    size = (side + margin + 0.9, side + margin + 0.35)
    ax = axes_for(ax, size, (margin, 0.9, margin, 0.35))
    _draw_shares(ax, grid)
    _draw_names(ax, grid, called)
    what = "in one component" if level == "component" else f"in one node of level {level}"
    ax.set_title(f"share of draws with two rows {what}", fontsize=FONT_SIZE + 1)
    return ax


def _check_matrix(matrix: Any) -> NDArray[np.float64]:
    found = np.asarray(matrix, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.size == 0:
        raise ValueError(
            "draws must be a fitted model, its draws_ or a square matrix of shares, got an array "
            f"of shape {found.shape}."
        )
    return found


def _check_rows(rows: ArrayLike | None, n_rows: int) -> NDArray[np.int64]:
    if rows is None:
        return np.arange(n_rows)
    found = np.asarray(rows)
    if found.dtype.kind not in "iu" or found.ndim != 1 or len(found) == 0:
        raise ValueError("rows must be a list of row numbers, at least one.")
    if found.min() < 0 or found.max() >= n_rows:
        wrong = found[(found < 0) | (found >= n_rows)][0]
        raise ValueError(f"rows must be between 0 and {n_rows - 1}, got {wrong}.")
    return np.unique(found).astype(np.int64)


def _in_order(rows: NDArray[np.int64], tree: Tree | None) -> NDArray[np.int64]:
    """The rows in the order of the tree's leaves, in a leaf by component, then by number."""
    if tree is None:
        return rows
    keys = (rows, tree.components[rows], *tree.paths[rows, :0:-1].T)
    return rows[np.lexsort(keys)]


def _blocks(tree: Tree | None, rows: NDArray[np.int64], level: int | str) -> NDArray[np.int64]:
    """Where the tree's nodes of that level begin; for components, those of level 1."""
    if tree is None:
        return np.empty(0, dtype=np.int64)
    depth = 1 if isinstance(level, str) else level
    return np.flatnonzero(np.diff(tree.paths[rows, depth])) + 1


def _sums(matrix: Any, rows: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """(g, g) sums of the matrix over groups of rows, a group at a time."""
    starts = bounds[:-1]
    return np.array(
        [
            np.add.reduceat(matrix[np.ix_(rows[a:b], rows)].sum(axis=0), starts)
            for a, b in pairwise(bounds.tolist())
        ]
    )


def _names(tree: Tree | None, names: Iterable | None) -> list[str] | None:
    if tree is not None:
        return item_names(tree, names)
    return None if names is None else one_line(names)


def _draw_shares(ax: Axes, grid: CoclusteringGrid) -> None:
    n = len(grid.rows)
    # Groups may differ by one row, so cells are drawn between their true bounds.
    image = ax.pcolormesh(grid.bounds, grid.bounds, grid.share, cmap="Blues", vmin=0, vmax=1)
    image.set_gid("shares")
    ax.set(xlim=(0, n), ylim=(n, 0), xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="box")
    ax.hlines(grid.blocks, 0, n, color=INK, linewidth=0.4, gid="blocks")
    ax.vlines(grid.blocks, 0, n, color=INK, linewidth=0.4, gid="blocks")
    # The colour bar has a width in inches: a new figure has that margin, given Axes are not moved.
    inch = 72 / max(min(size_in_points(ax)), 1.0)
    place = ax.inset_axes((1 + 0.1 * inch, 0.0, 0.15 * inch, 1.0))
    scale: Any = ax.figure.colorbar(image, cax=place)
    scale.set_ticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
    scale.ax.tick_params(labelsize=FONT_SIZE)


def _draw_names(ax: Axes, grid: CoclusteringGrid, names: list[str] | None) -> None:
    """Names beside the rows, if each has room for a line; else what the sides are."""
    n, size = len(grid.rows), min(FONT_SIZE, min(size_in_points(ax)) / len(grid.rows) / 1.05)
    if names is not None and size >= 6.0:
        texts = [names[row] for row in grid.rows]
        ax.set_xticks(np.arange(n) + 0.5, texts, rotation=90, fontsize=size, **PLAIN)
        ax.set_yticks(np.arange(n) + 0.5, texts, fontsize=size, **PLAIN)
        ax.tick_params(length=0, pad=2)
        return
    n_cells = len(grid.bounds) - 1
    what = f"{n:,} rows" + (" in the order of the tree" if len(grid.blocks) else "")
    if n_cells < n:
        what += f", a cell is {n / n_cells:,.0f} x {n / n_cells:,.0f} of them"
    ax.set_xlabel(what, fontsize=FONT_SIZE)
