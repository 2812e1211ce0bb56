"""Figures of the experiments, in the colours and letters of `bhmc.plotting`."""

from typing import Any

from bhmc._extras import import_matplotlib


def quiet_pyplot() -> Any:
    """pyplot, drawing into files: no window, also where there is no screen."""
    import_matplotlib("figures of experiments").use("Agg")
    from matplotlib import pyplot

    return pyplot
