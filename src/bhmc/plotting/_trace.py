"""`plot_trace`: numbers of the draws, chain by chain, and `trace_data`: what it draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_choice, check_whole
from bhmc.plotting._canvas import grid_for
from bhmc.plotting._colors import INK, PALETTE
from bhmc.plotting._given import given_draws
from bhmc.plotting._text import FONT_SIZE
from bhmc.posterior.draws import Draws

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Trace(NamedTuple):
    """One number of the draws."""

    name: str
    """Its name, as in `Draws.numbers()`."""
    values: NDArray[Any]
    """(chain, draw) its values; the warm-up is not among them."""
    ranks: NDArray[np.float64]
    """(chain, bin) how many of each chain's values have a rank in each of equal bins. Where chains
    agree these counts are alike."""
    shares: NDArray[np.float64]
    """(chain, bin) density of the histogram of each chain."""
    edges: NDArray[np.float64]
    """(bin + 1,) its edges, the same for all chains."""


def trace_data(draws: Any, names: Sequence[str] | None = None, *, n_bins: int = 20) -> list[Trace]:
    """What `plot_trace` draws; parameters as there."""
    draws = given_draws(draws, "plot_trace")
    n_bins = check_whole(n_bins, "n_bins", 1)
    numbers = draws.numbers()
    chosen = _usual(draws, numbers) if names is None else _known(numbers, names)
    return [_trace(name, numbers[name], n_bins) for name in chosen]


def plot_trace(
    draws: Any,
    names: Sequence[str] | None = None,
    *,
    ax: Sequence[Axes] | NDArray[Any] | None = None,
    panel: str = "rank",
    n_bins: int = 20,
) -> NDArray[Any]:
    """Numbers of the draws in the order in which they were drawn, a row for each number.

    Only numbers that do not depend on labels are shown. To the right, by chain: how ranks among all
    draws are distributed, or histograms. Where chains agree, the lines of ranks are flat and near
    the dashed line.

    Parameters
    ----------
    draws : BHMC or Draws
        A fitted model, or its `draws_`.
    names : sequence of str, optional
        Names of `draws.numbers()`. If not given: log joint, components, nodes of each level, and
        the hyperparameters that are learned.
    ax : array of Axes, optional
        Two for each number; a new figure if not given.
    panel : {"rank", "histogram"}, default="rank"
        What is to the right.
    n_bins : int, default=20
        Bins there.

    Returns
    -------
    axes : (numbers, 2) array of Axes
        What was drawn on; `axes[0, 0].figure` is the figure.
    """
    import_matplotlib("plot_trace")
    draws = given_draws(draws, "plot_trace")
    check_choice(panel, "panel", ("rank", "histogram"))
    traces = trace_data(draws, names, n_bins=n_bins)
    axes = grid_for(ax, (len(traces), 2), (9.0, 1.3 * len(traces) + 0.6))
    for (left, right), trace in zip(axes, traces, strict=True):
        _draw_trace(left, trace)
        if panel == "rank":
            _draw_ranks(right, trace)
        else:
            _draw_histogram(right, trace)
        for one in (left, right):
            one.tick_params(labelsize=FONT_SIZE)
            one.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_title("draws, chain by chain", fontsize=FONT_SIZE + 1)
    what = "ranks by chain" if panel == "rank" else "histograms by chain"
    axes[0, 1].set_title(what, fontsize=FONT_SIZE + 1)
    axes[-1, 0].set_xlabel("draw", fontsize=FONT_SIZE)
    low = "rank among all draws" if panel == "rank" else "value"
    axes[-1, 1].set_xlabel(low, fontsize=FONT_SIZE)
    if draws.n_chains > 1:
        _name_chains(axes[0, 1], draws.n_chains)
    return axes


def _known(numbers: dict[str, NDArray], names: str | Sequence[str]) -> list[str]:
    """The names asked for, if there are such numbers."""
    names = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in names if name not in numbers]
    if unknown or not names:
        asked = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"names must be of {', '.join(numbers)}; got {asked}.")
    return names


def _usual(draws: Draws, numbers: dict[str, NDArray]) -> list[str]:
    """The numbers shown if none is asked for; a hyperparameter that is fixed has no trace."""
    series = {name: name.partition("[")[0] for name in numbers}
    learned = [
        name for name in numbers if series[name] in draws.learned and np.ptp(numbers[name]) > 0
    ]
    first = [name for name in ("log_joint", "n_components") if name in numbers]
    return [*first, *(name for name in numbers if series[name] == "nodes_at"), *learned]


def _trace(name: str, values: NDArray, n_bins: int) -> Trace:
    if values.dtype.kind == "b":
        values = values.astype(np.int64)  # 0 and 1: truth cannot be drawn
    edges = histogram_edges(values, n_bins)
    shares = np.array([np.histogram(chain, edges, density=True)[0] for chain in values])
    return Trace(name, values, rank_counts(values, n_bins), shares, edges)


def rank_counts(values: NDArray, n_bins: int) -> NDArray[np.float64]:
    """(chain, bin) values of each chain with a rank in each of `n_bins` equal ranges of ranks.

    Equal values share their ranks: each is spread evenly over the ranks of all of them, which is
    what ties broken at random give on average. So counts need not be whole numbers.
    """
    every, kind, size = np.unique(values, return_inverse=True, return_counts=True)
    kind = kind.reshape(values.shape)
    borders = np.concatenate([[0], np.cumsum(size)])
    edges = np.linspace(0, values.size, n_bins + 1)
    held = np.array([np.bincount(chain, minlength=len(every)) for chain in kind])
    below = np.concatenate([np.zeros((len(values), 1)), np.cumsum(held, axis=1)], axis=1)
    return np.diff([np.interp(edges, borders, chain) for chain in below], axis=1)


def histogram_edges(values: NDArray, n_bins: int) -> NDArray[np.float64]:
    """Edges for a histogram over all values, around whole numbers where values are such."""
    low, high = float(values.min()), float(values.max())
    if values.dtype.kind in "iu":
        step = max(1, int(np.ceil((high - low + 1) / n_bins)))
        return np.arange(low - 0.5, high + step, step)
    if low == high:
        wide = max(abs(low), 1.0) * 0.05
        return np.array([low - wide, low + wide])
    return np.linspace(low, high, n_bins + 1)


def _color(chain: int) -> str:
    return PALETTE[chain % len(PALETTE)]


def _draw_trace(ax: Axes, trace: Trace) -> None:
    for chain, values in enumerate(trace.values):
        ax.plot(values, color=_color(chain), linewidth=0.8, alpha=0.85, gid=f"chain {chain}")
    ax.set_ylabel(trace.name, fontsize=FONT_SIZE + 1)
    if trace.values.dtype.kind in "iu":
        ax.locator_params(axis="y", integer=True, nbins=4)
    ax.margins(x=0.01)


def _draw_ranks(ax: Axes, trace: Trace) -> None:
    n_bins = trace.ranks.shape[1]
    edges = np.linspace(0, trace.values.size, n_bins + 1)
    expected = trace.values.shape[1] / n_bins
    for chain, counts in enumerate(trace.ranks):
        ax.stairs(counts, edges, baseline=None, color=_color(chain), linewidth=1.3)
    ax.axhline(expected, color=INK, linewidth=0.8, linestyle="--", zorder=0)
    ax.set_ylim(0, max(2 * expected, 1.05 * float(trace.ranks.max())))
    ax.set_yticks([])
    ax.margins(x=0.01)


def _draw_histogram(ax: Axes, trace: Trace) -> None:
    for chain, shares in enumerate(trace.shares):
        ax.stairs(shares, trace.edges, color=_color(chain), linewidth=1.3)
    if trace.values.dtype.kind in "iu":
        ax.locator_params(axis="x", integer=True)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])


def _name_chains(ax: Axes, n_chains: int) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_color(chain), label=f"chain {chain}") for chain in range(n_chains)
    ]
    ax.legend(
        handles=handles[: len(PALETTE)],
        fontsize=FONT_SIZE,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.05),
        handlelength=1.0,
    )
