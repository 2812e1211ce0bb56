"""A tree with names, on which groups that have a name in words are pointed out."""

from collections.abc import Sequence
from typing import Any

from bhmc._experiments.figures import quiet_pyplot
from bhmc._experiments.groups import Found
from bhmc.plotting import plot_tree, tree_layout
from bhmc.plotting.style import FONT_SIZE, INK
from bhmc.tree import Tree

_MOST_NODES = 80


def draw_grouped_tree(tree: Tree, names: Sequence[str], groups: Sequence[Found]) -> Any:
    """The tree of `plot_tree`; above a node that is most of all a named group, its name.

    Returns
    -------
    figure : matplotlib Figure
    """
    quiet_pyplot()
    ax: Any = plot_tree(tree, names=names, max_nodes=_MOST_NODES)
    figure = ax.figure
    width, height = figure.get_size_inches()
    layout = tree_layout(tree, max_nodes=_MOST_NODES)
    # Again with room between lines for the words.
    figure.set_size_inches(width + 3.0, max(height, 0.5 * layout.n_slots + 1.0))
    ax.clear()
    plot_tree(tree, ax=ax, names=names, max_nodes=_MOST_NODES)
    place = {int(node): i for i, node in enumerate(layout.marks.node)}
    at: dict[int, list[str]] = {}
    for one in groups:
        at.setdefault(_end_of_chain(tree, one.node), []).append(one.said)
    for node, said in at.items():
        if node not in place:
            continue
        i = place[node]
        is_last = bool(layout.marks.is_last[i])
        ax.annotate(
            " / ".join(said),
            (layout.depth[i], layout.across[i]),
            # Above the line to a leaf; below a node with others under it, whose numbers are above.
            (-16, 8) if is_last else (0, -16),
            textcoords="offset points",
            fontsize=FONT_SIZE,
            fontweight="bold",
            color=INK,
            ha="right" if is_last else "center",
            va="bottom" if is_last else "top",
            bbox={"boxstyle": "round,pad=0.25", "fc": "#FBF3E2", "ec": "#E1A233", "lw": 1.0},
            zorder=1,  # never over a node
            gid=f"group {node}",
        )
    return figure


def _end_of_chain(tree: Tree, node: int) -> int:
    """The last node below with the same data: there the names are."""
    while len(below := tree.children(node)) == 1:
        node = int(below[0])
    return node
