"""`explore`: a page where a path is given, else a widget."""

from __future__ import annotations

import os
from typing import Any

from bhmc._explorer.page import widget_parts, write_page
from bhmc._explorer.sources import Extras, Source
from bhmc._extras import import_anywidget


def explore(source: Source, path: str | os.PathLike | None, extras: Extras) -> Any:
    """The path of the page that was written; without a path, a widget for a notebook.

    Parameters
    ----------
    source : Source
        What it is made of.
    path : path, optional
        The file to write.
    extras : Extras
        What a person gave beside.
    """
    if path is not None:
        return write_page(source, path, extras)
    import_anywidget("explore without a path")
    from bhmc._explorer.widget import Explorer

    _, data, instead = widget_parts(source, extras)
    return Explorer(data, instead)
