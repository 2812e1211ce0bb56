"""Text in pictures: how large it is, what part of it fits, and which labels do not overlap.

Text is measured from its outlines, in points, so that no window and no finished picture is needed.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.tree import Tree
from bhmc.tree.checks import names_or_own

FONT_SIZE = 8.0
"""Points; small enough for many labels, large enough to be read on paper."""
LINE_HEIGHT = 1.25
"""Height of a line of text in units of its font size."""
# Names are neither mathematics nor LaTeX, whatever characters they hold.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


def width_of(text: str, size: float = FONT_SIZE) -> float:
    """Width of a line of text in points, in the font that matplotlib is set to."""
    from matplotlib import rcParams

    return size * _unit_width(text, (*rcParams["font.family"], *rcParams["font.sans-serif"]))


@lru_cache(maxsize=10_000)
def _unit_width(text: str, fonts: tuple[str, ...]) -> float:
    """Width in units of the font size; `fonts` are arguments so that the cache tells them apart."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    wide = text_to_path.get_text_width_height_descent(text, FontProperties(size=100.0), False)[0]
    # Pixels of a screen make text up to this much wider than its outlines.
    return 1.03 * wide / 100.0


def shorten(text: str, room: float, size: float = FONT_SIZE) -> str:
    """The text, cut with an ellipsis where it is wider than `room` points; maybe empty."""
    if width_of(text, size) <= room:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if width_of(text[:middle].rstrip() + "…", size) <= room:
            fits = middle
        else:
            too_long = middle
    return text[:fits].rstrip() + "…" if fits else ""


def listing(names: Sequence[str], room: float, size: float = FONT_SIZE) -> str:
    """As many whole names as fit into `room` points, and how many there are beyond them."""
    if len(names) == 1:
        return shorten(names[0], room, size)
    taken, used = 0, 0.0
    while taken < len(names) and used <= room:
        used += width_of(names[taken] + ", ", size)
        taken += 1
    for fewer in range(taken, 0, -1):
        left = len(names) - fewer
        text = ", ".join(names[:fewer]) + (f" and {left:,} more" if left else "")
        if width_of(text, size) <= room:
            return text
    return ""


def apart(boxes: NDArray[np.float64], blocked: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which boxes to keep, the first ones first, so that none touches another or a blocked one.

    Boxes are rows (left, right, bottom, top).
    """
    kept = np.zeros(len(boxes), dtype=bool)
    taken = np.empty((len(blocked) + len(boxes), 4))
    taken[: len(blocked)] = blocked
    n_taken = len(blocked)
    for i, (left, right, bottom, top) in enumerate(boxes):
        before = taken[:n_taken]
        meets = (before[:, 0] < right) & (before[:, 1] > left)
        meets &= (before[:, 2] < top) & (before[:, 3] > bottom)
        if not meets.any():
            kept[i] = True
            taken[n_taken] = boxes[i]
            n_taken += 1
    return kept


def item_names(tree: Tree, names: Iterable | None) -> list[str] | None:
    """What to call the rows, a line each: `names`, or else the tree's own; None where unknown."""
    found = names_or_own(tree, names)
    return None if found is None else one_line(found)


def one_line(names: Iterable) -> list[str]:
    """Names as text without line breaks."""
    return [" ".join(str(name).split()) for name in names]


def count(number: int, what: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def percent(share: float) -> str:
    """`82 %`; what is not all is never rounded to 100 %, nor what is not nothing to 0 %."""
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")
