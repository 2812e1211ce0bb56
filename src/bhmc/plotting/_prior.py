"""`plot_prior_posterior`: priors against draws, and `prior_posterior_data`: what it draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_matplotlib
from bhmc._validation.parameters import check_whole
from bhmc.model.describe_prior import describe_prior
from bhmc.model.hyper import concentrations
from bhmc.model.registry import transition_named
from bhmc.model.state import CONCENTRATIONS
from bhmc.plotting._canvas import grid_for
from bhmc.plotting._colors import INK, PALETTE
from bhmc.plotting._given import given_model
from bhmc.plotting._text import FONT_SIZE
from bhmc.plotting._trace import histogram_edges
from bhmc.priors import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SEED = 0  # of the samples of priors: a picture of the same fit is always the same
_COLUMNS = 3


class PriorPosterior(NamedTuple):
    """One number under the prior and in the draws."""

    name: str
    """Its name, as in `Draws.numbers()`."""
    draws: NDArray[Any]
    """(chain, draw) its values in the draws."""
    x: NDArray[np.float64] | None
    """Where the prior's density is given; None for a number of nodes or components."""
    density: NDArray[np.float64] | None
    """The prior's density at `x`."""
    prior_mean: float | None
    """For nodes and components: the expectation under the prior."""
    prior_interval: tuple[float, float] | None
    """For nodes and components: the range that holds nine in ten of the prior's trees."""


def prior_posterior_data(
    model: Any, *, n_samples: int = 100, max_rows: int = 20_000
) -> list[PriorPosterior]:
    """What `plot_prior_posterior` draws; parameters as there."""
    given_model(model, "plot_prior_posterior")
    check_whole(n_samples, "n_samples", 2)
    check_whole(max_rows, "max_rows", 0)
    draws = model.draws_
    transition = getattr(model, "transition_", "hdp")
    given = {name: getattr(model, name) for name in CONCENTRATIONS}
    settings = {"fixed_components": model.fixed_components, "hyper": model.hyper}
    hyper = concentrations(**given, **settings, transition=transition)
    learned = transition_named(transition).bind(hyper, model.hyper).learned()
    found = [_concentration(name, draws.learned[name], prior) for name, prior in learned.items()]
    n = len(model.tree_.paths)
    if n > max_rows:
        return found
    prior = describe_prior(
        n,
        n_levels=draws.n_levels,
        **{name: getattr(hyper, name) for name in given},
        fixed_components=hyper.n_components,
        n_samples=n_samples,
        random_state=_SEED,
    )
    counts = [("n_components", "components", draws.n_components)]
    for level in range(1, draws.n_levels + 1):
        values = draws.nodes_at[:, :, level - 1]
        counts.append((f"nodes_at[{level}]", f"nodes at level {level}", values))
    if hyper.n_components is not None or transition_named(transition).located:
        counts = counts[1:]  # all components always exist, or have another law than with "hdp"
    for name, what, values in counts:
        line = prior[what]
        found.append(PriorPosterior(name, values, None, None, line.mean, (line.low, line.high)))
    return found


def plot_prior_posterior(
    model: Any,
    *,
    ax: Sequence[Axes] | NDArray[Any] | None = None,
    n_samples: int = 100,
    max_rows: int = 20_000,
) -> NDArray[Any]:
    """Priors against draws.

    For every hyperparameter that is learned: the density of its prior and a histogram of the draws.
    Where the two are alike, the data said little about it. For components and the nodes of each
    level: the histogram, and the range that holds nine in ten trees of the prior.

    Parameters
    ----------
    model : BHMC
        Fitted.
    ax : array of Axes, optional
        One for each number; a new figure if not given.
    n_samples : int, default=100
        Trees drawn from the prior.
    max_rows : int, default=20000
        Above this number only hyperparameters are shown, because drawing trees would take long.

    Returns
    -------
    axes : array of Axes
        One for each number; `axes[0].figure` is the figure.
    """
    import_matplotlib("plot_prior_posterior")
    panels = prior_posterior_data(model, n_samples=n_samples, max_rows=max_rows)
    if not panels:
        raise ValueError(
            "there is nothing to compare: no hyperparameter is learned, and there are more than "
            f"max_rows={max_rows} rows."
        )
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    if ax is None:
        grid = grid_for(None, (rows, columns), (9.0, 2.1 * rows + 0.5))
        for spare in grid.ravel()[len(panels) :]:
            spare.set_visible(False)
        axes = grid.ravel()[: len(panels)]
    else:
        axes = grid_for(ax, (1, len(panels)), (0, 0)).ravel()
    for one, panel in zip(axes, panels, strict=True):
        _draw(one, panel)
    _add_legend(axes[0], panels, apart=ax is None)
    return axes


def _concentration(name: str, draws: NDArray[np.float64], prior: Prior) -> PriorPosterior:
    rng = np.random.default_rng(_SEED)
    samples = np.array([prior.sample(rng) for _ in range(1_000)])
    high = max(np.quantile(samples, 0.975), draws.max())
    x = np.linspace(high / 300, high, 300)  # not at 0, where a density may have a pole
    density = np.exp([prior.log_density(float(value)) for value in x])
    return PriorPosterior(name, draws, x, density, None, None)


def _draw(ax: Axes, panel: PriorPosterior) -> None:
    edges = histogram_edges(panel.draws, 30)
    shares, _ = np.histogram(panel.draws, edges, density=True)
    ax.stairs(shares, edges, fill=True, color=PALETTE[1], alpha=0.8, gid="posterior")
    if panel.x is not None and panel.density is not None:
        ax.plot(panel.x, panel.density, color=PALETTE[0], linewidth=1.6, gid="prior")
        ax.set_xlim(0, panel.x[-1])
    elif panel.prior_interval is not None and panel.prior_mean is not None:
        low, high = panel.prior_interval
        ax.axvspan(low, high, color=PALETTE[0], alpha=0.15, zorder=0, gid="prior interval")
        ax.axvline(panel.prior_mean, color=PALETTE[0], linewidth=1.6, gid="prior mean")
        ax.locator_params(axis="x", integer=True)
    ax.set_title(panel.name, fontsize=FONT_SIZE + 1, color=INK)
    ax.set_yticks([])
    ax.set_ylim(bottom=0)
    ax.tick_params(labelsize=FONT_SIZE)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _add_legend(ax: Axes, panels: list[PriorPosterior], *, apart: bool) -> None:
    """Above a figure of our own, else within the first of the given Axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=PALETTE[1], alpha=0.8, label="draws")]
    said = "prior" if panels[-1].x is not None else "prior (for counts its mean)"
    handles.append(Line2D([], [], color=PALETTE[0], linewidth=1.6, label=said))
    if any(panel.prior_interval for panel in panels):
        label = "9 in 10 of the prior's trees"
        handles.append(Patch(color=PALETTE[0], alpha=0.15, label=label))
    style: dict[str, Any] = {"handles": handles, "frameon": False, "fontsize": FONT_SIZE}
    if apart:
        figure: Any = ax.figure
        figure.legend(loc="outside upper left", ncols=len(handles), **style)
    else:
        ax.legend(**style)
