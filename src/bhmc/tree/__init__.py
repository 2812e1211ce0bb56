"""`Tree`: the point estimate as arrays, and its views."""

from bhmc.tree.describe import FeatureEffect, Member, NodeDescription
from bhmc.tree.node_view import Node
from bhmc.tree.tree import Tree

__all__ = ["FeatureEffect", "Member", "Node", "NodeDescription", "Tree"]
