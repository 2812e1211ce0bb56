"""Words for what a tree has found: which of its nodes a named group is most like.

The tree knows nothing of the names. They are compared with it after the fit.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.tree import Tree


class Found(NamedTuple):
    """A named group and what of the tree is most like it."""

    name: str
    node: int
    """The node with the highest F, the uppermost of equals."""
    size: int
    """Data of that node."""
    held: int
    """Of these, members of the group."""
    asked: int
    """Members of the group."""
    support: float
    """Share of draws with a node of exactly these data; NaN where it is not known."""
    component: int
    """The component most like it."""
    component_size: int
    component_held: int

    @property
    def said(self) -> str:
        """`birds 5 of 5`: the name, and how many of the node's data it is right for."""
        return f"{self.name}: {self.held} of {self.size}"

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall of the node."""
        return 2 * self.held / (self.size + self.asked)


def find_groups(
    tree: Tree, names: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> list[Found]:
    """Each group's node and component of the highest F, the harmonic mean of precision and recall.

    Members that no datum is called are left out; a group without any is not looked for.
    """
    found = []
    for name, members in groups.items():
        inside = np.isin(np.asarray(names), list(members))
        if not inside.any():
            continue
        held = _held(tree, inside)
        f = 2 * held / (tree.sizes + inside.sum())
        node = int(np.argmax(f))  # ids go level by level: the first of equals is the uppermost
        sizes = np.bincount(tree.components, minlength=tree.n_components)
        inner = np.bincount(tree.components[inside], minlength=tree.n_components)
        component = int(np.argmax(2 * inner / (sizes + inside.sum())))
        found.append(
            Found(
                name=name,
                node=node,
                size=int(tree.sizes[node]),
                held=int(held[node]),
                asked=int(inside.sum()),
                support=float("nan")
                if tree.exact_support is None
                else float(tree.exact_support[node]),
                component=component,
                component_size=int(sizes[component]),
                component_held=int(inner[component]),
            )
        )
    return found


def _held(tree: Tree, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n_nodes,) how many of the rows that are `inside` each node holds."""
    return np.bincount(tree.paths[inside].ravel(), minlength=tree.n_nodes)
