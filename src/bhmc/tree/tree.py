"""`Tree`: a hierarchy as immutable arrays in one id space, with thin views of it.

The work behind a view is in the file of its name beside this one.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._extras import import_pandas
from bhmc._validation.parameters import check_choice, check_whole
from bhmc.model.state import State
from bhmc.tree.checks import check_node, names_or_own
from bhmc.tree.consensus import consensus_fields
from bhmc.tree.cuts import cut_into, cut_supported, pruned_fields, warn_of_few_leaves
from bhmc.tree.display import TreeDisplay
from bhmc.tree.from_parents import check_rooted, fields_of, from_linkage
from bhmc.tree.from_state import fields_of_state
from bhmc.tree.graph import graph
from bhmc.tree.index import (
    Counts,
    Index,
    build_index,
    count_components,
)
from bhmc.tree.json import fields_from_json, to_json
from bhmc.tree.linkage import linkage
from bhmc.tree.newick import newick
from bhmc.tree.node_names import node_id, renamed
from bhmc.tree.node_view import Node
from bhmc.tree.table import named_features, node_table
from bhmc.tree.text import tree_text


@dataclass(frozen=True, eq=False)
class Tree(TreeDisplay):
    """A hierarchy of nodes over n data, every node a mixture over shared components.

    Node ids are 0..n_nodes-1, level by level: the root is 0, the leaves come last. Siblings are in
    order of size, largest first. Components are numbered by size too. Arrays cannot be written to.
    """

    parents: NDArray[np.int64]
    """(n_nodes,) id of the parent, -1 for the root."""
    levels: NDArray[np.int64]
    """(n_nodes,) level of each node, 0 for the root."""
    sizes: NDArray[np.int64]
    """(n_nodes,) number of data under each node."""
    weights: NDArray[np.float64]
    """(n_nodes, K + 1) mixing weights over components, the unborn remainder last."""
    paths: NDArray[np.int32]
    """(n, n_levels + 1) node ids of each datum's path, root first."""
    components: NDArray[np.int32]
    """(n,) component of each datum."""
    theta: NDArray[np.float64]
    """(K, p) component parameters."""
    alpha: float = 1.0
    """How readily data open new branches, in the draw that is the estimate."""
    shared: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """(q,) numbers that all components share."""
    support: NDArray[np.float64] | None = None
    """(n_nodes,) mean over kept draws of the best Jaccard match |A & B| / |A | B| of the data A of
    the node and the data B of any node of the draw; None: not known."""
    exact_support: NDArray[np.float64] | None = None
    """(n_nodes,) share of the kept draws with a node of exactly these data; None: not known."""
    names: NDArray[Any] | None = None
    """(n,) what to call each datum; None: its number."""
    feature_names: NDArray[Any] | None = None
    """(d,) names of the columns; None: their numbers."""
    component_means: NDArray[np.float64] | None = None
    """(K, d) mean of the data of each component, column by column; None: not known."""
    feature_means: NDArray[np.float64] | None = None
    """(d,) mean of all data."""
    feature_scales: NDArray[np.float64] | None = None
    """(d,) standard deviation of all data, 1 where a column is constant."""
    is_word: NDArray[np.bool_] | None = None
    """(d,) which columns are words, their means shares of texts; None: no column is."""
    merged: NDArray[np.int64] | None = None
    """(n_nodes,) how many nodes `prune` or `consensus` has put together in each; None: neither."""
    heights: NDArray[np.float64] | None = None
    """(n_nodes,) how far apart data of the node are, never more than in its parent: the height of a
    merge, the time back to a branching. None: only levels are known."""
    node_names: NDArray[Any] | None = None
    """(n_nodes,) what a person calls each node, "" for a node without a name; None: no node has
    one. See `rename`."""
    locations: NDArray[np.float64] | None = None
    """(n_nodes, p) where each node is, in the units of theta; None: nodes have no place."""
    step_variances: NDArray[np.float64] | None = None
    """(steps, blocks) variances of the steps from node to node and to components."""
    concentrations: NDArray[np.float64] | None = None
    """(2,) how readily rows open new branches, and new components within a leaf."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        # What was looked up already can be looked up again.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # NumPy forgets the flag when it pickles or copies an array.
        self.__dict__.update(state)
        self.__post_init__()

    @classmethod
    def from_state(cls, state: State) -> "Tree":
        """The tree of a draw, with ids and component numbers put in order of size.

        Parameters
        ----------
        state : State
            The draw.
        """
        return cls(**fields_of_state(state))

    @classmethod
    def from_parents(
        cls,
        parents: ArrayLike,
        tips: ArrayLike,
        *,
        heights: ArrayLike | None = None,
        names: Iterable[Any] | None = None,
        max_levels: int | None = None,
    ) -> "Tree":
        """Any rooted tree over data; branches that end early go on as only children.

        Such a tree has no mixtures: one component stands for all data.

        Parameters
        ----------
        parents : array-like of shape (m,)
            Number of each node's parent, -1 for the root, in any order. Branches without data are
            left out.
        tips : array-like of shape (n,)
            The node that holds each datum, one without children. Several data may share it.
        heights : array-like of shape (m,), optional
            How far apart the data of a node are, never more than in its parent.
        names : iterable of length n, optional
            What to call each datum.
        max_levels : int, optional
            Levels kept below the root; what is deeper is put together.
        """
        rooted = check_rooted(parents, tips, heights)
        limit = None if max_levels is None else check_whole(max_levels, "max_levels", 0)
        tree = cls(**fields_of(rooted, limit))
        return tree if names is None else replace(tree, names=_names(tree, names))

    @classmethod
    def from_linkage(cls, Z: ArrayLike, names: Iterable[Any] | None = None) -> "Tree":
        """The tree of a linkage matrix of `scipy.cluster.hierarchy`, heights kept.

        Parameters
        ----------
        Z : array-like of shape (n - 1, 4)
            The linkage matrix.
        names : iterable of length n, optional
            What to call each datum.
        """
        rooted = from_linkage(Z)
        return cls.from_parents(rooted.parents, rooted.tips, heights=rooted.heights, names=names)

    @property
    def has_mixtures(self) -> bool:
        """Whether components mean something: not so in a tree of merges or of another program."""
        return bool(self.theta.shape[1])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @property
    def n_levels(self) -> int:
        """Steps from the root to a leaf."""
        return self.paths.shape[1] - 1

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.theta)

    @property
    def leaves(self) -> NDArray[np.int64]:
        """(n_leaves,) ids of the leaves; `leaves[labels_at(n_levels)]` are those of the data."""
        return np.flatnonzero(self.levels == self.n_levels)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    def labels_at(self, level: int) -> NDArray[np.int32]:
        """(n,) node of each datum at a level, numbered from 0 within the level.

        The id of the node is `paths[:, level]`; the column `label` of `nodes` has these numbers
        beside the ids.

        Parameters
        ----------
        level : int
            0 is the root, `n_levels` the leaves.
        """
        level = check_whole(level, "level", 0)
        if level > self.n_levels:
            raise ValueError(f"level must be at most {self.n_levels}, got {level}.")
        first = np.searchsorted(self.levels, level)
        return self.paths[:, level] - np.int32(first)

    # ---- Looking up ----

    @cached_property
    def _index(self) -> Index:
        return build_index(self)

    @cached_property
    def _counts(self) -> Counts:
        return count_components(self)

    def __getitem__(self, node: int | str) -> Node:
        """A view of the node with this id, or of the node with this name.

        `tree[3].rows`, `tree[3].children`, `tree["birds"].features`; see `Node`.
        """
        try:
            return Node(self, node_id(self, node))
        except ValueError as error:  # a loop over the nodes ends at an IndexError
            raise (KeyError if isinstance(node, str) else IndexError)(*error.args) from None

    def children(self, node: int) -> NDArray[np.int64]:
        """Ids of the children of the node with id `node`, largest first; none for a leaf."""
        return self._index.children_of(check_node(self, node)).copy()

    def ancestors(self, node: int) -> NDArray[np.int64]:
        """Ids of the nodes above `node`, from the root down to the parent; none for the root."""
        above = [check_node(self, node)]
        while above[-1]:
            above.append(int(self.parents[above[-1]]))
        return np.array(above[:0:-1], dtype=np.int64)

    def members(self, node: int) -> NDArray[np.int64]:
        """Rows of the data under the node with id `node`, in order."""
        start = self._index.first_row[check_node(self, node)]
        return np.sort(self._index.rows[start : start + self.sizes[node]])

    def top_features(self, node: int, n: int = 3) -> list[tuple[str, float]]:
        """The features in which a node differs most from all data, with the differences.

        A difference is the node's mean minus the mean of all data, in standard deviations of all
        data. The node's mean is the mean of its components, weighted by how many of the node's data
        each component holds. So two nodes with the same components have the same features. Features
        without a name are x0, x1, ...

        Words of texts (`BHMC.add_words`) are those that the node has more of than its siblings, and
        a difference is the log odds ratio. Beside other columns words fill half of the places.

        Parameters
        ----------
        node : int
            Id of the node.
        n : int, default=3
            Features wanted.
        """
        return named_features(self, check_node(self, node), check_whole(n, "n", 1))

    def rename(self, names: Mapping[int | str, str | None]) -> "Tree":
        """A tree in which some nodes have other names; this tree stays as it is.

        Names appear in text, pictures, tables, exports and files.

        Parameters
        ----------
        names : dict from nodes to names
            A node is given by its id or by its present name. A name is one line of text; None or ""
            takes the name away. Other nodes keep theirs.

        Returns
        -------
        Tree
        """
        return replace(self, node_names=renamed(self, names))

    # ---- Tables ----

    def nodes(self, n_features: int = 3) -> dict[str, NDArray[Any]]:
        """The nodes as columns of a table, in order of id; `to_frame` gives the same as a frame.

        Parameters
        ----------
        n_features : int, default=3
            Features named in the column `features`, see `top_features`.

        Returns
        -------
        dict of arrays of length n_nodes
            `id`, `name` (where some node has one), `parent` (-1 for the root), `level`, `label`
            (the number of the node within its level, as in `labels_at`), `size`, `support` and
            `exact_support` (NaN where not known), `n_components` (of its members),
            `main_component` (that of most members), `main_share` (its share of them), `features`
            (such as "feathers +2.1, eggs +1.0"; empty where the tree does not carry means), for a
            smaller tree `merged`, and
            `height` where heights are known.
        """
        return node_table(self, check_whole(n_features, "n_features", 0))

    def to_frame(self, n_features: int = 3) -> Any:
        """`nodes` as a pandas DataFrame, a row for each node; `n_features` as there."""
        pandas = import_pandas("to_frame")
        return pandas.DataFrame(self.nodes(n_features))

    # ---- Cuts and smaller trees ----

    def cut(
        self, n_clusters: int | None = None, *, min_support: float | None = None
    ) -> NDArray[np.int32]:
        """A flat clustering, cut from the tree by a number of clusters or by support.

        Parameters
        ----------
        n_clusters : int, optional
            Clusters wanted, and given wherever the tree has so many leaves; a tree of fewer leaves
            gives its leaves, with a warning. From the root down nodes are split into their
            children: nodes of an upper level before those below, of one level the largest first, of
            equals the first. (An only child is stepped through, so a level is that of the node that
            branches.) Where heights are known the highest node is split first, as in SciPy's
            `fcluster`. The last node to be split may have too many children: then its largest ones
            become clusters, and the others stay together as one.
        min_support : float, optional
            A datum belongs to the deepest node of its path that has at least this support, whatever
            its ancestors have; see `consensus`. Data of no such child stay behind in a cluster of
            the node above.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0, 1, ... in the order of the tree: clusters of one branch are neighbours. They
            number the clusters of this cut, and are no node ids.
        """
        if (n_clusters is None) == (min_support is None):
            raise ValueError("cut takes n_clusters or min_support: give one of them.")
        if min_support is None:
            n_clusters = check_whole(n_clusters, "n_clusters", 1)
            warn_of_few_leaves(self, n_clusters, stacklevel=2)
            return cut_into(self, n_clusters)
        return cut_supported(self, min_support)

    def prune(self, min_size: int) -> "Tree":
        """A smaller tree, in which small siblings are put together as one rest node.

        All children of a node that hold fewer than `min_size` data become one child, the rest, and
        what was below them one chain down to the leaves. (A small child without small siblings
        keeps its data, and becomes a chain.) So every datum keeps a path of `n_levels` steps, and
        nodes of at least `min_size` data keep theirs, with their names. A rest may hold fewer.
        Nodes are numbered anew, in order of size.

        A rest has the mean of its nodes' weights, by their sizes; its support is not known (NaN).
        `merged` of the new tree counts the nodes of this tree in each node.

        Parameters
        ----------
        min_size : int
            Data that a node must hold to stay as it is.
        """
        return replace(self, **pruned_fields(self, check_whole(min_size, "min_size", 1)))

    def consensus(self, min_support: float = 0.5) -> "Tree":
        """What draws agree on: a tree of the nodes of at least this support.

        A node with less support is left out, and its children go to the nearest node above that is
        left: the best groups may well sit below a parent that only this tree has. Nodes with the
        same data as the node above them are left out too, so a chain becomes one node. Data of a
        node that are in none of its children become one child, the rest, as in `prune`: its support
        is not known (NaN) unless it is a single node of this tree. Levels and node numbers are new.

        Parameters
        ----------
        min_support : float, default=0.5
            Least support, from 0 to 1, of a node that stays.
        """
        return replace(self, **consensus_fields(self, min_support))

    # ---- Text and exchange ----

    def to_text(
        self,
        names: Iterable[Any] | None = None,
        *,
        max_names: int = 8,
        max_depth: int | None = None,
        min_size: int = 1,
        min_support: float | None = None,
        features: int = 0,
    ) -> str:
        """The tree as lines of text, a node a line.

        `[5 > 14] 58, 82 % (c0: 43, c4: 15)` is node 5 with its only child 14: 58 data, 43 of them
        in component 0 and 15 in component 4; its support is 82 % (said where it is known). Where
        heights are known, a line says that of the node, as in `58, height 120`. A node with a name
        begins with it: `birds [8] 20`. Node numbers are those of `paths`; lines with more than five
        components end in `...`. Children that are not shown are counted, as in
        `… 12 smaller nodes, 40 data`.

        Parameters
        ----------
        names : iterable of length n, optional
            What to call each datum, by default `self.names`; given, every leaf lists its members,
            and so does a node none of whose children are shown.
        max_names : int, default=8
            Members listed in a line before the rest are counted.
        max_depth : int, optional
            The last level shown.
        min_size : int, default=1
            Nodes with fewer data are not shown.
        min_support : float, optional
            Nodes with less support are not shown. Nodes below them that have it are, under the
            nearest node above that is shown; see `consensus`.
        features : int, default=0
            Features named in a line, as in `{feathers +2.1, eggs +1.0}`; see `top_features`.
        """
        return tree_text(
            self,
            names_or_own(self, names),
            max_names=max_names,
            max_depth=max_depth,
            min_size=min_size,
            min_support=min_support,
            features=features,
        )

    def to_newick(
        self,
        names: Iterable[Any] | None = None,
        *,
        lengths: bool = True,
        labels: str = "id",
        items: bool = True,
    ) -> str:
        """The tree in the Newick format, for programs that draw or compare phylogenies.

        Parameters
        ----------
        names : iterable of length n, optional
            What to call each datum, by default `self.names`, else the row's number. Names are
            quoted where the format wants it.
        lengths : bool, default=True
            Whether to write the length of a branch: 1 from one level to the next, or the
            difference of heights where they are known (only children are then left out).
        labels : {"id", "support", "none"}, default="id"
            What nodes are called: their names, and `n5` for node 5 without a name (a bare number
            would be read as a support); or their support from 0 to 1.
        items : bool, default=True
            Whether the data are tips below their leaves; otherwise the leaves are the tips.
        """
        labels = check_choice(labels, "labels", ("id", "support", "none"))
        names = names_or_own(self, names)
        return newick(self, names, lengths=lengths, labels=labels, items=items)

    def to_linkage(self) -> NDArray[np.float64]:
        """(n - 1, 4) linkage matrix for `scipy.cluster.hierarchy`, over the data.

        Data of one leaf merge at height 1, leaves of one parent at height 2, and so on: nodes of
        level l at height `n_levels + 1 - l`. A split into several is a run of merges at one height.
        So `fcluster(Z, n_levels + 1.5 - l, "distance")` gives the clusters of `labels_at(l)`, and
        `dendrogram(Z)` draws the data in the order of the tree. Where heights are known, data merge
        at those instead.
        """
        return linkage(self)

    def to_networkx(self, *, items: bool = False, n_features: int = 3) -> Any:
        """A `networkx.DiGraph` with an edge from every parent to its child.

        Nodes are the ids, with the columns of `nodes` as attributes; names, support and features
        are left out where they are not known. The attribute `kind` is "node" or "item".

        Parameters
        ----------
        items : bool, default=False
            Whether every datum i is a node "item i" under its leaf, with attributes `row`, `name`
            and `component`.
        n_features : int, default=3
            Features named in the attribute `features`.
        """
        n_features = check_whole(n_features, "n_features", 0)
        return graph(self, items=items, n_features=n_features)

    def to_json(self) -> str:
        """All of the tree as JSON: an object with a list for every array; see `from_json`.

        NaN and infinite numbers are the texts "NaN", "Infinity" and "-Infinity", as JSON has none.
        Names that are neither text nor numbers become text.
        """
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Tree":
        """The tree of a `text` that `to_json` wrote."""
        return cls(**fields_from_json(cls, text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save in the file `path`, whole or not at all (docs/file-format.md)."""
        from bhmc._io.archive import write

        write(path, "tree", self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Tree":
        """The tree of the file `path`, which `save` wrote."""
        from bhmc._io.archive import read

        return read(path, "tree")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        kind = f"{self.n_components} components" if self.has_mixtures else "no mixtures"
        return (
            f"Tree({len(self.paths)} data, {self.n_nodes} nodes, {self.n_leaves} leaves, "
            f"{self.n_levels} levels, {kind})"
        )


def _names(tree: Tree, names: Iterable) -> NDArray[Any]:
    return np.array(names_or_own(tree, names))
