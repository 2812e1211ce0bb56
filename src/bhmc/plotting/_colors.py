"""Colours that can be told apart by colour-blind people and in grey print.

The eight colours are steps of lightness, eight or more apart, and of hues that stay apart for all
three kinds of colour blindness (tests/plotting/test_colors_and_text.py measures both). A tree is
split from the root down into at most eight groups of branches. Each group has one of the eight
hues, and groups that are neighbours in the tree have neighbouring hues. Components of one group are
shades of its hue, steps of lightness. Marks also say in words which component they show, so that
nothing depends on colour alone.
"""

from __future__ import annotations

from colorsys import rgb_to_hsv

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
"""Components beyond those that have a slice of their own, and whatever is unknown."""
REST = "#DDDDDD"
"""Marks that stand for several nodes; they are hatched too."""
INK = "#222222"
LINE = "#9A9A9A"
SUPPORT_MAP = "cividis"

# Components with a slice of their own: more slices of a pie cannot be seen.
_MOST_SLICES = 256
# The lightness of shades: darker ones look black, lighter ones white.
_DARKEST, _LIGHTEST, _REACH = 0.2, 0.88, 0.34


def shown_components(tree: Tree) -> NDArray[np.int64]:
    """The largest components, as many as have a slice of their own, in order of number."""
    sizes = np.bincount(tree.components, minlength=tree.n_components)
    largest = np.argsort(-sizes, kind="stable")[:_MOST_SLICES]
    return np.sort(largest[sizes[largest] > 0])


def component_colors(tree: Tree) -> list[str]:
    """A colour for each component: the hue is that of its branch, the lightness its own."""
    branch = _branch_of_component(tree)
    used = [one for one in np.unique(branch).tolist() if one >= 0]  # in the order of the tree
    hues = dict(zip(used, sorted(PALETTE[: len(used)], key=hue), strict=True))
    sizes = np.bincount(tree.components, minlength=tree.n_components)
    colors = [OTHER] * tree.n_components
    for one in used:
        held = np.flatnonzero(branch == one)
        held = held[np.argsort(-sizes[held], kind="stable")].tolist()
        for component, color in zip(held, shades(hues[one], len(held)), strict=True):
            colors[component] = color
    return colors


def color_branches(tree: Tree) -> list[list[int]]:
    """At most eight groups of siblings, in the order of the tree, that hold every row once.

    The group of most rows that holds several components is split until there are eight: a single
    node becomes its children, and of several siblings the largest becomes a group of its own.
    """
    n_held, groups = np.diff(tree._counts.first), [[0]]
    while True:
        can = [i for i, group in enumerate(groups) if len(group) > 1 or _branches(tree, group[0])]
        can = [i for i in can if int(n_held[groups[i]].sum()) > 1]
        if not can:
            return groups
        i = max(can, key=lambda one: int(tree.sizes[groups[one]].sum()))
        if len(groups[i]) == 1:
            groups[i] = _branches(tree, groups[i][0])
        elif len(groups) < len(PALETTE):
            groups[i : i + 1] = [groups[i][:1], groups[i][1:]]
        else:
            return groups


def _branches(tree: Tree, node: int) -> list[int]:
    """The children of the first node here or below that branches, largest first."""
    children = tree.children(node)
    while len(children) == 1:
        children = tree.children(int(children[0]))
    return children[np.argsort(-tree.sizes[children], kind="stable")].tolist()


def _branch_of_component(tree: Tree) -> NDArray[np.int64]:
    """(K,) the branch in which each component is most at home; -1 for one without rows.

    That is the branch with most of its rows, in units of the root of the branch's size: else the
    largest branch would get all components that are everywhere.
    """
    branches = color_branches(tree)
    held = np.zeros((tree.n_components, len(branches)), dtype=np.int64)
    of_node = np.full(tree.n_nodes, -1)
    for i, nodes in enumerate(branches):
        of_node[nodes] = i
    of_row = of_node[tree.paths].max(axis=1)  # of a path only one node is in a group
    np.add.at(held, (tree.components, of_row), 1)
    at_home = held / np.sqrt(np.maximum(held.sum(axis=0), 1))
    return np.where(held.any(axis=1), at_home.argmax(axis=1), -1)


def shades(color: str, n: int) -> list[str]:
    """n colours of one hue in steps of lightness: the colour itself, then the farthest steps."""
    own = _lightness(color)
    low, high = max(_DARKEST, own - _REACH), min(_LIGHTEST, own + _REACH)
    steps = np.linspace(min(low, own), max(high, own), 16 * n)
    taken, far = [own], np.abs(steps - own)
    while len(taken) < n:  # each as far as can be from those before
        taken.append(float(steps[far.argmax()]))
        far = np.minimum(far, np.abs(steps - taken[-1]))
    return [color, *(_at_lightness(color, step) for step in taken[1:])]


def _rgb(color: str) -> NDArray[np.float64]:
    return np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def base_of(color: str) -> str:
    """The one of the eight colours that a colour is a shade of."""
    return min(PALETTE, key=lambda one: abs(hue(one) - hue(color)))


def hue(color: str) -> float:
    """The hue of a colour, from 0 to 1; its shades have the same."""
    return rgb_to_hsv(*_rgb(color))[0]


def _lightness(color: str) -> float:
    return float(_rgb(color) @ [0.299, 0.587, 0.114])


def _at_lightness(color: str, wanted: float) -> str:
    """The colour mixed with white or black, which keeps its hue."""
    rgb, own = _rgb(color), _lightness(color)
    mixed = rgb * wanted / own if wanted < own else 1 - (1 - rgb) * (1 - wanted) / (1 - own)
    return "#" + "".join(f"{round(255 * part):02X}" for part in mixed.tolist())


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
