"""The explorer as a widget of a notebook. Needs anywidget, so it is imported late."""

from __future__ import annotations

import secrets
from typing import Any

import anywidget
import traitlets

from bhmc._explorer.container import whole
from bhmc._explorer.page import program


class Explorer(anywidget.AnyWidget):
    """A tree to look at in a notebook.

    The top of the tree stands above the view as a list until the view is drawn, so a notebook that
    is printed or turned into a page by nbconvert shows it.
    """

    _esm = program()
    data = traitlets.Bytes(help="The block of data.").tag(sync=True)
    selected = traitlets.Dict(
        help='What is chosen: `tree` ("tree" or "dendrogram"), `node` (its id) and `item` (a row '
        "number, or None). Set it to choose from Python."
    ).tag(sync=True)
    instead = traitlets.Unicode(help="Id of the list, which the view takes away.").tag(sync=True)

    def __init__(self, data: bytes, inside: str, **options: Any):
        options.setdefault("selected", {"tree": "tree", "node": 0, "item": None})
        super().__init__(data=data, instead=f"bhmc-{secrets.token_hex(8)}", **options)
        self._inside = whole(inside)

    def _repr_html_(self) -> str:
        return f'<div id="{self.instead}">{self._inside}</div>'

    def _ipython_display_(self, **options: Any) -> None:
        """Show the list, then the view: of one output with both, nbconvert shows neither."""
        from IPython.display import display

        display({"text/html": self._repr_html_()}, raw=True)
        found = self._repr_mimebundle_(**options)
        bundle, metadata = found if isinstance(found, tuple) else (found, {})
        display(bundle, metadata=metadata, raw=True)
