"""One page of results: text, sheets and figures in one HTML file that needs nothing else."""

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from bhmc._experiments.sheet import Sheet
from bhmc._io import html_page
from bhmc._io.atomic_write import write_atomically

PAGE = "results.html"
_DPI = 130


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
        self._blocks.append(html_page.heading(title))

    def text(self, *paragraphs: str) -> None:
        """Paragraphs of plain text."""
        self._blocks += [html_page.paragraph(one) for one in paragraphs]

    def note(self, text: str) -> None:
        """A paragraph that must not be missed."""
        self._blocks.append(html_page.note(text))

    def code(self, text: str) -> None:
        """Lines as they are: a command, a tree."""
        self._blocks.append(html_page.code(text))

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
        picture = BytesIO()
        figure.savefig(picture, format="png", dpi=_DPI)
        pyplot.close(figure)
        write_atomically(path, picture.getvalue())
        self.files.append(path)
        self._blocks.append(html_page.picture(picture.getvalue(), words))

    def settings(self, title: str, values: dict[str, Any]) -> None:
        """Names and values, in two columns."""
        self._blocks.append(html_page.settings(title, values))

    def write(self) -> Path:
        """Write the page itself, in one step."""
        path = self.folder / PAGE
        write_atomically(path, html_page.page(self.title, self.lead, self._blocks))
        self.files.append(path)
        return path
