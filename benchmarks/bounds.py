"""Figures beside the bounds that they must keep, as one line of text each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Check(NamedTuple):
    """Figures, and the least and the most that each may be; NaN is no bound."""

    name: str
    values: Sequence[float]
    least: Sequence[float] = ()
    most: Sequence[float] = ()
    digits: int = 2

    @property
    def ok(self) -> list[bool]:
        """Whether each figure keeps its bounds. A figure that is NaN keeps none."""
        kept = np.ones(len(self.values), dtype=bool)
        for bounds, sign in ((self.least, 1), (self.most, -1)):
            if len(bounds):
                free = np.isnan(bounds)
                with np.errstate(invalid="ignore"):
                    kept &= free | (sign * (np.array(self.values) - np.array(bounds)) >= 0)
        return kept.tolist()

    def __str__(self) -> str:
        parts = [f"{self.name:42}", numbers(self.values, self.digits)]
        for sign, bounds in ((">=", self.least), ("<=", self.most)):
            if len(bounds):
                parts.append(f"{sign} {numbers(bounds, self.digits)}")
        return "  ".join([*parts, self._verdict()]).rstrip()

    def _verdict(self) -> str:
        if not len(self.least) and not len(self.most):
            return ""
        words = ["ok" if kept else "MISSED" for kept in self.ok]
        return words[0] if len(set(words)) == 1 else "/".join(words)

    def as_dict(self) -> dict:
        """The same for a file of figures."""
        return {"name": self.name, "values": list(map(float, self.values)), "ok": self.ok}


def numbers(values: Sequence[float], digits: int = 2) -> str:
    """Such as `.55/.63/-`: no zero before the point, a dash where there is no number."""
    return "/".join(_number(float(value), digits) for value in values)


def _number(value: float, digits: int) -> str:
    if np.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    sign, size = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + (size[1:] if size.startswith("0.") else size)
