"""One column of a text file: from cells to numbers or text, a block of rows at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# Cells that stand for a missing entry, in small letters.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "?"))

_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass
class Column:
    """What is known of a column so far.

    Numbers are kept as numbers as long as there is nothing else, because text takes ten times the
    memory. A column whose first blocks are numbers and whose later ones are mostly not is read
    again as text: see `must_be_read_again`.
    """

    name: str
    as_text: bool = False
    """Whether its cells are text even where they spell numbers."""
    n_numbers: int = 0
    n_others: int = 0
    """Cells that are neither numbers nor missing."""
    first_other: tuple[int, str] | None = None
    """Line and text of the first of these."""
    _blocks: list[NDArray] = field(default_factory=list)

    def add(self, cells: Sequence[str], lines: Sequence[int], decimal: str) -> None:
        """Take in the next cells, which were in these lines of the file."""
        if self.as_text:
            self._add_text(cells)
            return
        numbers, others = parse(cells, decimal)
        self.n_numbers += int((~np.isnan(numbers)).sum())
        self.n_others += len(others)
        if others and self.first_other is None:
            self.first_other = lines[others[0]], cells[others[0]]
        if self.n_others:
            self._add_text(cells)
        else:
            self._blocks.append(numbers)

    def _add_text(self, cells: Sequence[str]) -> None:
        text = [None if cell.lower() in MISSING else cell for cell in cells]
        self._blocks.append(np.array(text, dtype=object))

    @property
    def is_text(self) -> bool:
        """Whether the column is text rather than numbers: most observed cells are no numbers."""
        return self.as_text or self.n_others > self.n_numbers

    @property
    def must_be_read_again(self) -> bool:
        """Whether the spelling of some cells was lost that now counts."""
        spelled = all(block.dtype == object for block in self._blocks)
        return self.is_text and self.n_numbers > 0 and not spelled

    def values(self) -> NDArray:
        """(n,) float64 with NaN for missing entries, or objects: text, None for missing entries."""
        if not self.is_text:
            return np.concatenate(self._blocks) if self._blocks else np.empty(0)
        blocks = [
            block if block.dtype == object else np.full(len(block), None) for block in self._blocks
        ]
        text = np.concatenate(blocks) if blocks else np.empty(0, dtype=object)
        return text if self.as_text else _truths(text)


def parse(cells: Sequence[str], decimal: str = ".") -> tuple[NDArray[np.float64], list[int]]:
    """Cells as numbers, NaN for the rest; and which of the rest are not missing."""
    if decimal != ".":
        cells = [cell.replace(decimal, ".") for cell in cells]
    try:
        numbers = np.array(cells, dtype=np.float64)
        if not np.isnan(numbers).any() and not any("_" in cell for cell in cells):
            return numbers, []
    except ValueError:
        pass
    numbers, others = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        if cell.lower() in MISSING:
            continue
        number = _number(cell)
        if number is None:
            others.append(i)
        else:
            numbers[i] = number
    return numbers, others


def _number(cell: str) -> float | None:
    """The number that a cell spells; 1_000, which Python would take, is none."""
    if "_" in cell:
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _truths(text: NDArray) -> NDArray:
    """Text that says true or false throughout as 1 and 0; other text as it is."""
    said = {cell.lower() for cell in text if cell is not None}
    if not said or not said <= set(_TRUTH):
        return text
    return np.array([np.nan if cell is None else _TRUTH[cell.lower()] for cell in text])
