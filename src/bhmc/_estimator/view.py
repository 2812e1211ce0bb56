"""What a model opens with: its tree, or the dendrogram of its components. The rule is here only."""

from typing import Any

from bhmc.model.registry import AUTO
from bhmc.tree import Tree

TREE, DENDROGRAM = "tree", "dendrogram"

WHY_DENDROGRAM = (
    "The dendrogram of components comes first: components of this fit have no place on the tree, "
    "so its branches do not say which components are near each other."
)


def opens_with(model: Any) -> str:
    """What plot, summary, show and report open with: "tree" or "dendrogram".

    It is the dendrogram where `transition="auto"` came to "hdp" on numbers: components with
    variances of their own have no place on the tree.

    Parameters
    ----------
    model : BHMC
        Fitted.
    """
    asked = not (isinstance(model.transition, str) and model.transition == AUTO)
    if asked or model.transition_.name != "hdp" or not _of_numbers(model.likelihood_):
        return TREE
    # A model that an older bhmc saved has no dendrogram.
    return DENDROGRAM if hasattr(model, "dendrogram_") else TREE


def opened_tree(model: Any) -> Tree:
    """The tree that a model opens with; parameters as in `opens_with`."""
    return model.dendrogram_ if opens_with(model) == DENDROGRAM else model.tree_


def _of_numbers(likelihood: Any) -> bool:
    """Whether all columns have one of the Gaussian families."""
    families = getattr(likelihood, "families", [likelihood])
    return all(type(one).__name__.endswith("Gaussian") for one in families)
