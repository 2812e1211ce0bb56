"""One page of HTML with the explorer and its data, which needs no network and no server."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from bhmc._explorer.container import whole
from bhmc._explorer.contents import contents
from bhmc._explorer.fallback import fallback
from bhmc._explorer.sources import Extras, Source
from bhmc._io.atomic_write import write_atomically

_WITHOUT = (
    "<noscript><p>This page needs JavaScript to show the tree. Below are its top branches.</p>"
    "</noscript>"
)
_ENDINGS = (".html", ".htm")
_STYLE = (
    ":root{color-scheme:light dark}"
    "html,body{margin:0;min-height:100%}"
    "#bhmc-explorer{font:16px/1.5 system-ui,sans-serif;padding:1rem}"
)


def write_page(source: Source, path: str | os.PathLike, extras: Extras) -> Path:
    """Write the page, whole or not at all, and return where it is.

    Parameters
    ----------
    source : Source
        What the page is made of.
    path : path
        The file to write; an existing file is replaced.
    extras : Extras
        What a person gave beside.
    """
    path = check_ending(path)
    info, data = contents(source, extras)
    write_atomically(path, page(info["title"], fallback(source), data))
    return path


def check_ending(path: str | os.PathLike) -> Path:
    """The path of a page; refuses one that a browser would not open.

    Parameters
    ----------
    path : path
        Where the page is to be.
    """
    found = Path(path)
    if found.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{str(path)!r} should end in .html: the explorer is a page.")
    return found


def page(title: str, inside: str, data: bytes) -> str:
    """The text of the page.

    Parameters
    ----------
    title : str
        Plain text.
    inside : str
        HTML that is shown until the program runs.
    data : bytes
        The block of data.
    """
    script = program()
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hashed(script)}",
            f"style-src {_hashed(_STYLE)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(whole(title))}</title><style>{_STYLE}</style></head>\n"
        f'<body><div id="bhmc-explorer">{_WITHOUT}{whole(inside)}</div>\n'
        '<script type="application/octet-stream" id="bhmc-data">'
        f"{base64.b64encode(data).decode()}</script>\n"
        f'<script type="module">{script}</script>\n</body></html>\n'
    )


@cache
def program() -> str:
    """The text of `static/explorer.js`, which must not be able to end its own element."""
    text = (files("bhmc._explorer") / "static" / "explorer.js").read_text("utf-8")
    text = text.replace("\r\n", "\n")  # as browsers read it: the hash is of that
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("static/explorer.js ends its own script element: build it again.")
    return text


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def widget_parts(source: Source, extras: Extras) -> tuple[dict[str, Any], bytes, str]:
    """What a widget needs: what it says of itself, its data, and what stands in its place.

    Parameters
    ----------
    source : Source
        What it is made of.
    extras : Extras
        What a person gave beside.
    """
    return *contents(source, extras), fallback(source)
