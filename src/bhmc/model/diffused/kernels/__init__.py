"""Every conditional of the diffused transition that is compiled; `reference` is their slow twin.

Kernels see a `Forest`, `RowNumbers`, concentrations and a source of uniform numbers, never the
family.
"""

from bhmc._compiled.random_source import random_source
from bhmc.model.diffused.kernels.atom_splits import split_atoms, split_gathered
from bhmc.model.diffused.kernels.branch_splits import branch_gathered, split_branches, top_of_branch
from bhmc.model.diffused.kernels.locations import add_squares, list_steps, set_locations
from bhmc.model.diffused.kernels.messages import collect, find_beliefs, log_evidence
from bhmc.model.diffused.kernels.order import are_in_order, put_in_order
from bhmc.model.diffused.kernels.regroup import regroup
from bhmc.model.diffused.kernels.row_pass import pass_rows
from bhmc.model.diffused.kernels.shift import shift_logits
from bhmc.model.diffused.kernels.steps import draw_steps
from bhmc.model.diffused.kernels.tree_moves import move_atoms, move_subtrees

__all__ = [
    "add_squares",
    "are_in_order",
    "branch_gathered",
    "collect",
    "draw_steps",
    "find_beliefs",
    "list_steps",
    "log_evidence",
    "move_atoms",
    "move_subtrees",
    "pass_rows",
    "put_in_order",
    "random_source",
    "regroup",
    "set_locations",
    "shift_logits",
    "split_atoms",
    "split_branches",
    "split_gathered",
    "top_of_branch",
]
