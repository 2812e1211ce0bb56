"""`Description`: what a fitted `BHMC` says of the nodes of its tree. Wiring, no mathematics."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bhmc._estimator.words import described_by_words
from bhmc._validation.parameters import check_whole
from bhmc.posterior.draws import Draws
from bhmc.posterior.membership import node_membership
from bhmc.posterior.support import path_support
from bhmc.preprocessing import word_table
from bhmc.tree import NodeDescription, Tree
from bhmc.tree.describe import describe_node
from bhmc.tree.node_features import NodeFeatures
from bhmc.tree.node_names import node_id


class Description:
    """The methods of `BHMC` that describe and name nodes."""

    # Set by `fit`.
    tree_: Tree
    dendrogram_: Any
    draws_: Draws
    node_features_: NodeFeatures

    @property
    def path_support_(self) -> NDArray[np.float64]:
        """(n, n_levels + 1) how sure each row's place in `tree_` is, level by level.

        For row i and its node A at level l: the mean over kept draws of the best Jaccard match
        |A & B| / |A | B| of A and a node B of the draw, at any level, that holds row i. Column 0,
        the root, is 1. A row with less than the support of its node is one that the draws often
        leave out of the node. At most 100 draws, evenly spaced, take part; it is computed at every
        call.
        """
        check_is_fitted(self, "draws_")
        return path_support(self.tree_.paths, self.tree_.n_nodes, self.draws_.partitions)

    def describe(
        self, node: int | str, *, n_features: int = 5, n_members: int = 5
    ) -> NodeDescription:
        """What is in a node: the features that set its rows apart, typical and borderline members.

        The rows of the node are compared with those of its siblings and with all other rows. A
        feature is a column, a category of a column of text, or a word. Features are ranked by the
        signed root of the log likelihood ratio of "the two groups differ" to "they do not", which
        is large where a difference is both large and borne out by many rows. An only child has the
        same rows as its parent, and so its parent's siblings.

        A member is typical if most draws have it in a node of these rows, and borderline if they do
        so clearly less than for other members: see `bhmc.posterior.node_membership`.

        Parameters
        ----------
        node : int or str
            Id of a node of `tree_`, or the name that it was given.
        n_features : int, default=5
            Most features of each comparison; `fit` keeps up to 20.
        n_members : int, default=5
            Most typical members, and most borderline ones.

        Returns
        -------
        NodeDescription
            Prints as text; `to_frame()` has the features as a pandas frame.
        """
        check_is_fitted(self)
        tree, node = self.tree_, node_id(self.tree_, node)
        n_features = check_whole(n_features, "n_features", 0)
        n_members = check_whole(n_members, "n_members", 0)
        if not hasattr(self, "node_features_"):
            raise ValueError(
                "nodes cannot be described: the file of this model was written by a bhmc that did "
                "not keep what sets nodes apart. Fit again."
            )
        draws = self.draws_.partitions
        membership = (
            node_membership(tree.members(node), draws)
            if draws
            else np.full(len(tree.paths), np.nan)
        )
        return describe_node(tree, node, self.node_features_, membership, n_features, n_members)

    def add_words(
        self,
        texts: Any,
        X: Any = None,
        *,
        min_df: int | float = 2,
        stop_words: str | Iterable[str] | None = "english",
        boilerplate: Iterable[str] = (),
        max_words: int = 5000,
    ) -> Self:
        """Describe nodes by the words of texts in place of the columns of the fit.

        The columns of a fit to sentence embeddings or to directions of TF-IDF say nothing to a
        person; the words of the texts do. From now on `describe`, `tree_` and `dendrogram_` with
        their texts, tables and exports name words. A word counts once a text. Words are ranked by
        the signed root of the log likelihood ratio, and their effect is the log odds ratio: of
        texts in the node against those in its siblings. Labels and draws stay as they are.

        Parameters
        ----------
        texts : list, array or frame of texts
            A text for each row of the fit, in order; several columns are joined.
        X : array or frame, optional
            Further columns to describe nodes by, such as those of the fit that are not text.
        min_df : int or float, default=2
            Words in fewer texts are left out (a share of the texts, if it is a float).
        stop_words : "english", iterable of str or None, default="english"
            Words to leave out.
        boilerplate : iterable of str, default=()
            Words or sentences that say nothing; their words are left out too.
        max_words : int, default=5000
            Of more words, those in most texts are kept.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        table = word_table(
            texts,
            min_df=min_df,
            stop_words=stop_words,
            boilerplate=boilerplate,
            max_words=max_words,
        )
        found = described_by_words(self.tree_, table, X)
        self.tree_ = replace(self.tree_, **found.profile)
        if "dendrogram_" in vars(self):  # an older bhmc saved models without one
            self.dendrogram_ = replace(self.dendrogram_, **found.profile)
        self.node_features_ = found.node_features
        return self

    def rename(self, names: Mapping[int | str, str | None]) -> Self:
        """Put names on nodes of `tree_`; they appear in text, pictures, exports and saved files.

        Parameters
        ----------
        names : dict from nodes to names
            As in `Tree.rename`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.tree_ = self.tree_.rename(names)
        return self
