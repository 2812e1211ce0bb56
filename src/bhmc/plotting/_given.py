"""What a picture is given: a fitted model, or the tree or draws of one; anything else is refused in
one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError

from bhmc.plotting._colors import component_colors
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree
from bhmc.tree.describe import node_phrase
from bhmc.tree.node_features import NodeFeatures


class Given(NamedTuple):
    """A tree to draw, and what its model knows beside it."""

    tree: Tree
    colors: list[str] | None = None
    """A colour for each component, the same in all pictures of a model; None: the tree's own."""
    features: NodeFeatures | None = None
    """What sets its nodes apart."""

    def phrase(self, n_features: int) -> Callable[[int], str]:
        """A function of a node's id: what sets it apart, in a few words.

        Columns without names say nothing in a picture.
        """
        named = n_features if self.tree.feature_names is not None else 0
        return lambda node: node_phrase(self.tree, node, named, self.features)


def given_tree(thing: Any, what: str, attribute: str = "tree_") -> Given:
    """The tree of a model, or the tree itself.

    Parameters
    ----------
    thing : BHMC, another estimator with a `tree_`, or Tree
        What the picture was given.
    what : str
        Name of the function, for the message.
    attribute : {"tree_", "dendrogram_"}, default="tree_"
        Which tree of a model.
    """
    if isinstance(thing, Tree):
        return Given(thing)
    if not _is_fitted(thing, "tree_"):
        raise _refusal(thing, f"{what} takes a fitted model or a Tree", "tree_")
    tree = getattr(thing, attribute)
    first = thing.dendrogram_ if getattr(thing, "view_", "tree") == "dendrogram" else thing.tree_
    features = getattr(thing, "node_features_", None) if attribute == "tree_" else None
    return Given(tree, component_colors(first) if first is not tree else None, features)


def given_draws(thing: Any, what: str) -> Draws:
    """The draws of a model, or the draws themselves; parameters as in `given_tree`."""
    if isinstance(thing, Draws):
        return thing
    if not _is_fitted(thing, "draws_"):
        raise _refusal(thing, f"{what} takes a fitted BHMC or its draws_", "draws_")
    return thing.draws_


def given_model(thing: Any, what: str) -> Any:
    """The model itself, if it is fitted and has draws; parameters as in `given_tree`."""
    if not _is_fitted(thing, "draws_"):
        raise _refusal(thing, f"{what} takes a fitted BHMC", "draws_")
    return thing


def _is_fitted(thing: Any, attribute: str) -> bool:
    return not isinstance(thing, type) and hasattr(thing, attribute)


def _refusal(thing: Any, takes: str, attribute: str) -> Exception:
    """One sentence: what the picture takes, and what it got."""
    kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
    if isinstance(thing, type):
        return TypeError(f"{takes}, got the class {kind} itself.")
    if hasattr(thing, "fit") and hasattr(thing, "get_params"):
        if hasattr(thing, "tree_") or hasattr(thing, "labels_"):
            return TypeError(f"{takes}, got a {kind} without {attribute}.")
        return NotFittedError(f"{takes}: this {kind} is not fitted yet, call fit first.")
    return TypeError(f"{takes}, got {with_article(kind)}.")


def with_article(kind: str) -> str:
    """`a Draws`, `an int`, `None`."""
    if kind == "NoneType":
        return "None"
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
