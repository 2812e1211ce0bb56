"""One column of a text file: from cells to numbers or text, a block of rows at a time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.spellings import EXACT, is_exact, number

# Cells that stand for a missing entry, in small letters.
MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "?"))

# Digits whose leading zeros a number would lose.
_CODE = re.compile(r"^0\d+$")


@dataclass(slots=True)
class Column:
    """What is known of a column so far.

    Numbers are kept as numbers as long as there is nothing else, because text takes ten times the
    memory. A column whose first blocks are numbers and whose later ones are mostly not is read
    again as text: see `must_be_read_again`.
    """

    name: str
    as_text: bool = False
    """Whether its cells are text even where they spell numbers."""
    as_numbers: bool = False
    """Whether a user says that it holds numbers."""
    is_written: bool = False
    """Whether numbers would lose what is written: leading zeros, digits beyond a double's."""
    n_numbers: int = 0
    n_others: int = 0
    """Cells that are neither numbers nor missing."""
    first_other: tuple[int, str] | None = None
    """Line and text of the first of these."""
    _blocks: list[NDArray] = field(default_factory=list)

    first_beyond: tuple[int, str] | None = None
    """Line and text of the first number that a double does not hold."""
    first_read_small: tuple[int, str] | None = None
    """Line and text of the first cell such as 1,200 that a decimal comma makes 1.2."""

    def add(
        self, cells: Sequence[str], lines: Sequence[int], decimal: str, thousands: str = ""
    ) -> None:
        """Take in the next cells, which were in these lines of the file."""
        if self.as_text:
            self._add_text(cells)
            return
        numbers, others = parse(cells, decimal, thousands)
        self._look_closer(cells, lines, numbers)
        if decimal == "," and self.first_read_small is None:
            small = (i for i, cell in enumerate(cells) if re.fullmatch(r"\d{1,3},\d{3}", cell))
            self.first_read_small = next(((lines[i], cells[i]) for i in small), None)
        self.n_numbers += int((~np.isnan(numbers)).sum())
        self.n_others += len(others)
        if others and self.first_other is None:
            self.first_other = lines[others[0]], cells[others[0]]
        if self.n_others or self.is_written:
            self._add_text(cells)
        else:
            self._blocks.append(numbers)

    def _look_closer(
        self, cells: Sequence[str], lines: Sequence[int], numbers: NDArray[np.float64]
    ) -> None:
        """Note cells that a number would change."""
        whole = np.flatnonzero(numbers == np.floor(numbers)).tolist()
        codes = [i for i in whole if cells[i][:1] == "0" and _CODE.match(cells[i])]
        self.is_written |= bool(codes) and not self.as_numbers
        for i in np.flatnonzero(np.abs(numbers) >= EXACT).tolist():
            if not is_exact(cells[i], numbers[i]):
                self.first_beyond = self.first_beyond or (lines[i], cells[i])
                self.is_written |= not np.isinf(numbers[i]) and not self.as_numbers

    def _add_text(self, cells: Sequence[str]) -> None:
        text = [None if cell.lower() in MISSING else cell for cell in cells]
        self._blocks.append(np.array(text, dtype=object))

    @property
    def is_text(self) -> bool:
        """Whether the column is text rather than numbers: most observed cells are no numbers."""
        return self.as_text or self.is_written or self.n_others > self.n_numbers

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
        return np.concatenate(blocks) if blocks else np.empty(0, dtype=object)


def parse(
    cells: Sequence[str], decimal: str = ".", thousands: str = ""
) -> tuple[NDArray[np.float64], list[int]]:
    """Cells as numbers, NaN for the rest; and which of the rest are not missing."""
    joined = "\n".join(cells)
    if not thousands and "_" not in joined and (decimal == "." or "." not in joined):
        try:
            numbers = np.array(joined.replace(decimal, ".").split("\n"), dtype=np.float64)
            if len(numbers) == len(cells) and not np.isnan(numbers).any():
                return numbers, []
        except ValueError:
            pass
    numbers, others = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        if cell.lower() in MISSING:
            continue
        found = number(cell, decimal, thousands)
        if found is None:
            others.append(i)
        else:
            numbers[i] = found
    return numbers, others
