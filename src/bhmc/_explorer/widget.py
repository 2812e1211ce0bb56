"""The explorer as a widget of a notebook. Needs anywidget, so it is imported late."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from bhmc._explorer.container import whole
from bhmc._explorer.page import program


class Explorer(anywidget.AnyWidget):
    """A tree to look at in a notebook.

    `selected` is a dict with `tree`, `node` (its id) and `item` (a row number or None): what is
    chosen in the view. Set it to choose from Python.
    """

    _esm = program()
    data = traitlets.Bytes().tag(sync=True)
    selected = traitlets.Dict().tag(sync=True)

    def __init__(self, data: bytes, instead: str, **options: Any):
        super().__init__(data=data, **options)
        self._instead = f"<div>{whole(instead)}</div>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The view, and beside it the top of the tree for pages where no program runs."""
        found = super()._repr_mimebundle_(**options)
        bundle = found[0] if isinstance(found, tuple) else found
        if bundle is None:
            return found
        bundle = {**bundle, "text/html": self._instead}
        return (bundle, found[1]) if isinstance(found, tuple) else bundle
