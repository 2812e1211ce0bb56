"""`Tree`: the point estimate as arrays, and its views."""

from bhmc.tree.tree import Tree

__all__ = ["Tree"]
