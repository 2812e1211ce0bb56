"""How draws and diagnostics show themselves in notebooks: static HTML, escaped and small."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.parameters import check_choice
from bhmc.tree.html import count, table

if TYPE_CHECKING:
    from bhmc.posterior.diagnostics import Diagnostics
    from bhmc.posterior.draws import Draws

KINDS = ("trace", "coclustering")
# Lines of a table, points of a small curve, and its size in pixels.
_MOST_LINES, _MOST_POINTS, _WIDE, _HIGH = 16, 200, 360, 56
# Those of bhmc.plotting: the first two chains in the colours of the pictures.
_CHAINS = ("#523687", "#E1A233", "#52AA61", "#9D3F01")


class DrawsDisplay:
    """The methods of `Draws` for pictures and notebooks."""

    def plot(self, kind: str = "trace", **options: Any) -> Any:
        """A picture of the draws, with matplotlib (`pip install bhmc[plot]`).

        Parameters
        ----------
        kind : {"trace", "coclustering"}, default="trace"
            "trace" draws numbers in the order in which they were drawn, chain by chain;
            "coclustering" how often two rows are together.
        **options
            Those of `bhmc.plotting.plot_trace` or `plot_coclustering`, such as `ax`, `names` or
            `level`.

        Returns
        -------
        matplotlib Axes, or an array of them
            What was drawn on.
        """
        from bhmc import plotting

        check_choice(kind, "kind", KINDS)
        return getattr(plotting, f"plot_{kind}")(self, **options)

    def _repr_html_(self) -> str:
        return draws_html(self)  # type: ignore[arg-type]


def draws_html(draws: Draws) -> str:
    """Size, the log joint as a small curve, and the numbers that people ask for first.

    Parameters
    ----------
    draws : Draws
        What was kept.
    """
    numbers = draws.numbers()
    wanted = ("log_joint", "n_components", "n_nodes", "nodes_at", *draws.learned)
    chosen = [
        name
        for name, values in numbers.items()
        if name.partition("[")[0] in wanted and values.size and values.min() < values.max()
    ][:_MOST_LINES]
    rows = [[escape(name), *_moments(numbers[name])] for name in chosen]
    left = len(numbers) - len(chosen)
    more = f"<p>{count(left, 'more number')}: draws.numbers().</p>" if left else ""
    curve = _curve(draws.log_joint) if draws.log_joint.size else ""
    head = ["number", "mean", "sd", "least", "greatest"]
    return f"<div><p>{escape(repr(draws))}</p>{curve}{table(head, rows)}{more}</div>"


def diagnostics_html(found: Diagnostics) -> str:
    """The verdict, the worst numbers and what to do.

    Parameters
    ----------
    found : Diagnostics
        What `diagnose` found.
    """
    columns = found.table
    verdict = "Nothing speaks against convergence" if found.converged else "NOT converged"
    size = f"{count(found.n_chains, 'chain')} of {count(found.n_draws, 'draw')}"
    order = np.lexsort((-np.nan_to_num(columns["rhat"], nan=0.0), columns["ok"]))
    rows = [_judged(columns, i) for i in order[:_MOST_LINES].tolist() if not columns["constant"][i]]
    left = len(order) - len(rows)
    more = [f"{count(left, 'more number')}: diagnostics_.table."] if left else []
    notes = [*found.problems[:3], *found.remarks, *more]
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = ["number", "mean", "sd", "R-hat", "effective draws", "passes"]
    return f"<div><p><b>{verdict}</b>, {size}.</p>{table(head, rows)}<ul>{items}</ul></div>"


def _judged(columns: dict[str, NDArray[Any]], i: int) -> list[str]:
    ess = min(columns["ess_bulk"][i], columns["ess_tail"][i])
    figures = (f"{columns['mean'][i]:.4g}", f"{columns['sd'][i]:.3g}", f"{columns['rhat'][i]:.3f}")
    passes = "yes" if columns["ok"][i] else "<b>no</b>"
    return [escape(str(columns["name"][i])), *figures, f"{ess:.0f}", passes]


def _moments(values: NDArray[Any]) -> list[str]:
    numbers = np.asarray(values, dtype=float)
    found = (numbers.mean(), numbers.std(), numbers.min(), numbers.max())
    return [f"{value:.4g}" for value in found]


def _curve(values: NDArray[np.float64]) -> str:
    """The draws of every chain as a line of an SVG."""
    finite = values[np.isfinite(values)]
    if not len(finite) or values.shape[1] < 2:
        return ""
    low, high = float(finite.min()), float(finite.max())
    at = np.linspace(0, values.shape[1] - 1, min(_MOST_POINTS, values.shape[1])).astype(int)
    x = 1 + (_WIDE - 2) * at / (values.shape[1] - 1)
    lines = []
    for chain, drawn in enumerate(values[: len(_CHAINS)]):
        y = 1 + (_HIGH - 2) * (high - np.nan_to_num(drawn[at], nan=low)) / max(high - low, 1e-12)
        points = " ".join(f"{a:.0f},{b:.1f}" for a, b in zip(x, np.clip(y, 0, _HIGH), strict=True))
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="{_CHAINS[chain]}" stroke-width="1"/>'
        )
    title = "log joint of every draw, a line a chain"
    return (
        f'<svg width="{_WIDE}" height="{_HIGH}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(lines)}</svg>"
    )
