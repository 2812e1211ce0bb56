"""Pages of HTML in one file that needs nothing else: no network, no script, everything escaped."""

import base64
from html import escape
from typing import Any
from urllib.parse import quote

STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f4f3f0; color: #222; font: 16px/1.55 Georgia, "Times New Roman", serif; }
main { max-width: 60rem; margin: 2rem auto; padding: 2rem 3rem 3rem; background: #fff;
       box-shadow: 0 1px 6px rgba(0, 0, 0, .12); }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; border-bottom: 2px solid #523687; padding-bottom: .2rem; }
p, li { max-width: 44rem; }
.lead { font-size: 1.1rem; color: #444; }
figure { margin: 1.4rem 0; }
figure img { max-width: 100%; height: auto; border: 1px solid #ddd; }
figcaption, caption { color: #555; font-size: .92rem; text-align: left; padding: .3rem 0 .5rem; max-width: 44rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font: 14px/1.4 system-ui, sans-serif; margin: .6rem 0 1rem; }
table.settings { min-width: 22rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e2e2e2; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #999; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.strong td { background: #fbf3e2; }
.note { background: #fbf3e2; border-left: 4px solid #e1a233; padding: .7rem 1rem; max-width: 42rem; }
code, pre { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; background: #f4f3f0; }
pre { padding: .8rem 1rem; overflow-x: auto; }
@media (max-width: 50rem) { main { margin: 0; padding: 1rem; } }
@media print { body { background: #fff; } main { box-shadow: none; } }
"""  # noqa: E501


def heading(text: str) -> str:
    """A title of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    """A paragraph that must not be missed."""
    return f'<p class="note">{escape(text)}</p>'


def link(file: str, words: str, place: str = "") -> str:
    """A paragraph that leads to a file in the same folder, or to a place in it."""
    address = quote("./" + file) + (f"#{quote(place, safe=':')}" if place else "")
    return f'<p><a href="{escape(address)}">{escape(words)}</a></p>'


def code(text: str) -> str:
    """Lines as they are: a command, a tree."""
    return f"<pre>{escape(text)}</pre>"


def picture(png: bytes, words: str) -> str:
    """A picture within the page, with what it shows in words."""
    data = base64.b64encode(png).decode()
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{escape(words)}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )


def settings(title: str, values: dict[str, Any]) -> str:
    """Names and values, in two columns."""
    rows = "".join(
        f"<tr><td>{escape(str(key))}</td><td>{escape(_said(value))}</td></tr>"
        for key, value in (values or {"all": "defaults"}).items()
    )
    return f'<table class="settings"><caption>{escape(title)}</caption>{rows}</table>'


def page(title: str, lead: str, blocks: list[str]) -> str:
    """The whole page.

    Parameters
    ----------
    title, lead : str
        Plain text: the title, and the sentence below it.
    blocks : list of str
        HTML, such as the functions above return.
    """
    body = "\n".join(blocks)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f'<body><main><h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n'
        f"{body}\n</main></body></html>\n"
    )


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
