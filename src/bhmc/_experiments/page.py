"""One page of results: text, sheets and figures in one HTML file that needs nothing else."""

import base64
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from bhmc._experiments.sheet import Sheet
from bhmc._io.atomic_write import atomic_file, write_atomically

PAGE = "results.html"
_DPI = 130

_STYLE = """
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


@dataclass
class Page:
    """Blocks in the order they were added; sheets and figures are also files beside the page."""

    title: str
    lead: str
    folder: Path
    _blocks: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """Everything written so far."""

    def section(self, title: str) -> None:
        """A heading."""
        self._blocks.append(f"<h2>{escape(title)}</h2>")

    def text(self, *paragraphs: str) -> None:
        """Paragraphs of plain text."""
        self._blocks += [f"<p>{escape(one)}</p>" for one in paragraphs]

    def note(self, text: str) -> None:
        """A paragraph that must not be missed."""
        self._blocks.append(f'<p class="note">{escape(text)}</p>')

    def code(self, text: str) -> None:
        """Lines as they are: a command, a tree."""
        self._blocks.append(f"<pre>{escape(text)}</pre>")

    def sheet(self, name: str, sheet: Sheet, *, shown: Sheet | None = None) -> None:
        """A sheet on the page and as NAME.csv; `shown` is its shorter form for the page."""
        path = self.folder / f"{name}.csv"
        write_atomically(path, sheet.to_csv())
        self.files.append(path)
        self._blocks.append((shown or sheet).to_html())

    def figure(self, name: str, figure: Any, words: str) -> None:
        """A figure of matplotlib on the page and as NAME.png, with what it shows in words."""
        from matplotlib import pyplot

        path = self.folder / f"{name}.png"
        with atomic_file(path) as file:
            figure.savefig(file, format="png", dpi=_DPI)
        pyplot.close(figure)
        self.files.append(path)
        data = base64.b64encode(path.read_bytes()).decode()
        self._blocks.append(
            f'<figure><img src="data:image/png;base64,{data}" alt="{escape(words)}">'
            f"<figcaption>{escape(words)}</figcaption></figure>"
        )

    def settings(self, title: str, values: dict[str, Any]) -> None:
        """Names and values, in two columns."""
        rows = "".join(
            f"<tr><td>{escape(str(key))}</td><td>{escape(_said(value))}</td></tr>"
            for key, value in (values or {"all": "defaults"}).items()
        )
        self._blocks.append(
            f'<table class="settings"><caption>{escape(title)}</caption>{rows}</table>'
        )

    def write(self) -> Path:
        """Write the page itself, in one step."""
        path = self.folder / PAGE
        body = "\n".join(self._blocks)
        write_atomically(
            path,
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n"
            f'<body><main><h1>{escape(self.title)}</h1>\n<p class="lead">{escape(self.lead)}</p>\n'
            f"{body}\n</main></body></html>\n",
        )
        self.files.append(path)
        return path


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
