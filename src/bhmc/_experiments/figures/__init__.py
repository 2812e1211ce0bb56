"""Figures of the experiments, in the colours and letters of `bhmc.plotting`."""

from typing import Any

from bhmc._extras import import_matplotlib
from bhmc.plotting.style import PALETTE

# One more than there are colours: colour and marker together repeat after 72 methods.
_MARKERS = "osD^vPX*h"

CONTROL_STYLE = {"color": "black", "linestyle": "--", "marker": "x", "zorder": 4}
"""The control is black and dashed in every figure."""


def quiet_pyplot() -> Any:
    """pyplot, drawing into files: no window, also where there is no screen."""
    import_matplotlib("figures of experiments").use("Agg")
    from matplotlib import pyplot

    return pyplot


def style_of(i: int) -> dict[str, str]:
    """Colour and marker of the method that is number i of a figure, the control left out."""
    return {"color": PALETTE[i % len(PALETTE)], "marker": _MARKERS[i % len(_MARKERS)]}
