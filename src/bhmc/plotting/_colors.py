"""Colours that can be told apart by colour-blind people and in grey print.

The eight colours are steps of lightness, eight or more apart, and of hues that stay apart for all
three kinds of colour blindness (tests/plotting/test_colors_and_text.py measures both). The largest
components get a colour, all others are grey. Marks also say in words which component they show, so
that nothing depends on colour alone.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.tree import Tree

# Neighbours in this order differ much in lightness: most trees need only the first few.
PALETTE = (
    "#523687",
    "#E1A233",
    "#52AA61",
    "#9D3F01",
    "#21D8FE",
    "#9C5A85",
    "#ABEF8B",
    "#8075E3",
)
OTHER = "#B8B8B8"
"""Components beyond the colours, and whatever is unknown."""
REST = "#DDDDDD"
"""Marks that stand for several nodes; they are hatched too."""
INK = "#222222"
LINE = "#9A9A9A"
SUPPORT_MAP = "cividis"


def shown_components(tree: Tree) -> NDArray[np.int64]:
    """The largest components, as many as there are colours, in order of number."""
    sizes = np.bincount(tree.components, minlength=tree.n_components)
    largest = np.argsort(-sizes, kind="stable")[: len(PALETTE)]
    return np.sort(largest[sizes[largest] > 0])


def component_colors(components: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[str]:
    """A colour for each component, the first for the largest; at the end grey for all others."""
    rank = np.empty(len(components), dtype=np.int64)
    rank[np.argsort(-sizes[: len(components)], kind="stable")] = np.arange(len(components))
    return [*(PALETTE[i] for i in rank), OTHER]


def rgba(colors: list[str], alpha: NDArray | float = 1.0) -> NDArray[np.float64]:
    """(len(colors), 4) the colours as numbers, with transparency."""
    from matplotlib.colors import to_rgba_array

    found = to_rgba_array(colors)
    found[:, 3] = alpha
    return found


def tint(colors: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """The colours mixed with white: the share `strength` of the colour, opaque."""
    mixed = np.ones_like(colors)
    mixed[:, :3] = 1 - strength * (1 - colors[:, :3])
    return mixed


def ink_on(color: NDArray[np.float64]) -> str:
    """Black or white, whichever can be read on the colour."""
    linear = np.where(color[:3] <= 0.04045, color[:3] / 12.92, ((color[:3] + 0.055) / 1.055) ** 2.4)
    return INK if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.18 else "white"


def support_colors(support: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, 4) colours of supports between 0 and 1; grey where it is not known."""
    import matplotlib

    colors = np.array(matplotlib.colormaps[SUPPORT_MAP](np.nan_to_num(support)))
    colors[np.isnan(support)] = rgba([OTHER])[0]
    return colors
