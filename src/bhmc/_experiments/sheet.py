"""Sheets: rows of results that are written as CSV and shown on a page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from bhmc._io.csv_text import csv_text


@dataclass
class Sheet:
    """Named columns, rows of plain values, and a caption."""

    columns: Sequence[str]
    rows: list[Sequence[Any]] = field(default_factory=list)
    caption: str = ""
    digits: int = 3
    """Digits behind the point of numbers that are not whole, on a page."""
    strong: Any = None
    """Whether a row stands out: a function of the row."""

    def to_csv(self) -> str:
        """All of it, numbers in full."""
        return csv_text(self.columns, self.rows)

    def to_html(self) -> str:
        """HTML for a page; columns of numbers are flush right."""
        numeric = [
            all(isinstance(row[j], int | float | None) for row in self.rows)
            for j in range(len(self.columns))
        ]

        def cell(tag: str, value: Any, j: int) -> str:
            style = ' class="number"' if numeric[j] else ""
            return f"<{tag}{style}>{escape(self.said(value))}</{tag}>"

        head = "".join(cell("th", name, j) for j, name in enumerate(self.columns))
        lines = []
        for row in self.rows:
            style = ' class="strong"' if self.strong is not None and self.strong(row) else ""
            cells = "".join(cell("td", value, j) for j, value in enumerate(row))
            lines.append(f"<tr{style}>{cells}</tr>")
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return (
            f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>"
        )

    def to_text(self) -> str:
        """Lines for a terminal."""
        cells = [list(self.columns), *([self.said(value) for value in row] for row in self.rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = []
        for row in cells:
            first = f"{row[0]:<{widths[0]}}"
            rest = (f"{value:>{w}}" for value, w in zip(row[1:], widths[1:], strict=True))
            lines.append("  ".join([first, *rest]).rstrip())
        return "\n".join(lines)

    def said(self, value: Any) -> str:
        """A value as a person reads it."""
        if value is None or value != value:
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, float):
            return f"{value:z,.{self.digits}f}"  # z: no "-0.000"
        return str(value)


def seconds_text(seconds: float) -> str:
    """`0.4 s`, `41 s`, `12 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
