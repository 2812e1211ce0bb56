"""PERCH in plain Python, slow and obvious: what a reader opens first and what tests compare with.

A node keeps no numbers. Its rows, its box, its mean and every distance are found anew from the data
each time they are asked for. Only the shape of the tree is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


class Node:
    """A tip with the numbers of its rows, or a node with two children."""

    def __init__(self, rows: list[int]):
        self.own = rows
        self.parent: Node | None = None
        self.children: list[Node] = []

    def walk(self) -> Iterator[Node]:
        """The node and all below."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def tips(self) -> list[Node]:
        """The tips under this node."""
        return [node for node in self.walk() if not node.children]

    def rows(self) -> list[int]:
        """The rows under this node."""
        return sorted(row for tip in self.tips() for row in tip.own)

    def sibling(self) -> Node:
        """The other child of its parent."""
        assert self.parent is not None
        one, other = self.parent.children
        return other if one is self else one

    def aunt(self) -> Node | None:
        """The sibling of its parent, if there is one."""
        if self.parent is None or self.parent.parent is None:
            return None
        return self.parent.sibling()

    def put(self, old: Node, new: Node) -> None:
        """Put a child in the place of another."""
        self.children[self.children.index(old)] = new
        new.parent = self


class SlowPerch:
    """The tree after every `insert`; the arguments are those of `bhmc.baselines.Perch`."""

    def __init__(
        self,
        masking: str = "mean",
        balance: bool = False,
        max_leaves: int | None = None,
        beam: int | None = None,
    ):
        self.masking, self.balance = masking, balance
        self.max_leaves, self.beam = max_leaves, beam
        self.X: NDArray[np.float64] = np.empty((0, 0))
        self.root: Node | None = None

    def insert(self, x: NDArray[np.float64]) -> None:
        """Put x beside its nearest neighbour and repair the tree."""
        tip = Node([len(self.X)])
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        if self.root is None:
            self.root = tip
            return
        self.add_beside(tip, self.nearest_tip(x) if self.beam is None else self.beam_tip(x))
        if self.masking != "none":
            self.unmask(tip)
        if self.balance:
            self.make_even(tip)
        if self.max_leaves is not None and len(self.root.tips()) > self.max_leaves:
            self.collapse_one()

    # ---- What a node looks like ----

    def box(self, node: Node) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest value of the rows, in every column."""
        data = self.X[node.rows()]
        return data.min(axis=0), data.max(axis=0)

    def points(self, node: Node) -> NDArray[np.float64]:
        """(tips, d) the mean of each tip's rows: the row itself until tips are collapsed."""
        return np.array([self.X[tip.own].mean(axis=0) for tip in node.tips()])

    def box_distance(self, node: Node, x: NDArray[np.float64]) -> float:
        """From x to the nearest place in the box of a node."""
        low, high = self.box(node)
        return float(((x - np.clip(x, low, high)) ** 2).sum())

    # ---- The nearest neighbour ----

    def nearest_tip(self, x: NDArray[np.float64]) -> Node:
        """By looking at all; of equals that of the earliest row."""
        assert self.root is not None
        return min(self.root.tips(), key=lambda tip: self.order(tip, x))

    def order(self, tip: Node, x: NDArray[np.float64]) -> tuple[float, int]:
        """What the best tip has least of."""
        return float(((self.X[tip.own].mean(axis=0) - x) ** 2).sum()), min(tip.own)

    def beam_tip(self, x: NDArray[np.float64]) -> Node:
        """Level by level, where only the nodes with the nearest boxes go on."""
        assert self.root is not None
        level, found = [self.root], []
        while level:
            found += [node for node in level if not node.children]
            inner = [node for node in level if node.children]
            inner = sorted(inner, key=lambda node: self.box_distance(node, x))[: self.beam]
            if found:
                best = min(self.order(tip, x)[0] for tip in found)
                inner = [node for node in inner if self.box_distance(node, x) <= best]
            level = [child for node in inner for child in node.children]
        return min(found, key=lambda tip: self.order(tip, x))

    def add_beside(self, tip: Node, neighbour: Node) -> None:
        """Make a new parent over both."""
        parent = Node([])
        if neighbour.parent is None:
            self.root = parent
        else:
            neighbour.parent.put(neighbour, parent)
        parent.children = [neighbour, tip]
        neighbour.parent = tip.parent = parent

    # ---- Rotations ----

    def unmask(self, tip: Node) -> None:
        """Rotate where nodes are masked, from the sibling of the new tip upwards."""
        node = tip.sibling()
        while node.aunt() is not None:
            if self.is_masked(node):
                self.rotate(node)
            elif self.masking != "mean":
                return
            assert node.parent is not None
            node = node.parent

    def is_masked(self, node: Node) -> bool:
        """By the test that was chosen."""
        aunt = node.aunt()
        assert aunt is not None
        if self.masking == "mean":
            to_sibling = self.distances(node, node.sibling(), rows=True).mean()
            to_aunt = self.distances(node, aunt, rows=True).mean()
            return bool(to_sibling > to_aunt * (1 + 1e-9))
        if self.masking == "boxes":
            return self.between(node, node.sibling()) > self.across(node, aunt)
        return self.masked_somewhere(node)

    def masked_somewhere(self, node: Node) -> bool:
        """Some point of the node is nearer to some of its aunt's than to some of its sibling's."""
        aunt = node.aunt()
        assert aunt is not None
        farthest = self.distances(node, node.sibling()).max(axis=1)
        return bool((farthest > self.distances(node, aunt).min(axis=1)).any())

    def distances(self, one: Node, other: Node, rows: bool = False) -> NDArray[np.float64]:
        """Squared distances of all pairs, of tips or of rows."""
        a = self.X[one.rows()] if rows else self.points(one)
        b = self.X[other.rows()] if rows else self.points(other)
        return ((a[:, None] - b[None]) ** 2).sum(axis=2)

    def between(self, one: Node, other: Node) -> float:
        """The least distance between two boxes."""
        (low, high), (low2, high2) = self.box(one), self.box(other)
        return float((np.maximum(np.maximum(low - high2, low2 - high), 0) ** 2).sum())

    def across(self, one: Node, other: Node) -> float:
        """The largest distance between two boxes."""
        (low, high), (low2, high2) = self.box(one), self.box(other)
        return float((np.maximum(high - low2, high2 - low) ** 2).sum())

    def rotate(self, node: Node) -> None:
        """Swap sibling and aunt of a node."""
        parent, sibling, aunt = node.parent, node.sibling(), node.aunt()
        assert parent is not None
        assert aunt is not None
        grandparent = parent.parent
        assert grandparent is not None
        parent.put(sibling, aunt)
        grandparent.put(aunt, sibling)

    def make_even(self, tip: Node) -> None:
        """Rotate where it makes two sides more even, from the new tip up to the root."""
        node = tip.sibling()
        while node.aunt() is not None:
            parent = node.parent
            assert parent is not None
            pair = sorted([node, node.sibling()], key=lambda one: len(one.rows()))
            for one in pair:
                if self.evens_out(one):
                    self.rotate(one)
                    break
            node = parent

    def evens_out(self, node: Node) -> bool:
        """Whether to swap sibling and aunt of `node` for balance."""
        aunt, sibling = node.aunt(), node.sibling()
        assert aunt is not None
        own, others, aunts = (len(one.rows()) for one in (node, sibling, aunt))
        if abs(own + aunts - others) >= abs(own + others - aunts):
            return False
        if not np.ptp(self.X[node.rows() + sibling.rows() + aunt.rows()], axis=0).any():
            return True
        if self.masking == "boxes":
            return self.across(node, sibling) > self.between(node, aunt)
        return self.masked_somewhere(node)

    # ---- Collapse ----

    def collapse_one(self) -> None:
        """Make a tip of the two sibling tips in the smallest box."""
        assert self.root is not None
        node = min((one for one in self.root.walk() if is_pair(one)), key=self.cost)
        node.own, node.children = node.rows(), []

    def cost(self, node: Node) -> tuple[float, int]:
        """The diagonal of the box, then the earliest row."""
        low, high = self.box(node)
        return float(((high - low) ** 2).sum()), min(node.rows())


def is_pair(node: Node) -> bool:
    """Whether a node has two tips and nothing else below."""
    return bool(node.children) and not any(child.children for child in node.children)
