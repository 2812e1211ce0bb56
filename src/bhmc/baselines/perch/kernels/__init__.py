"""PERCH, compiled: search, insertion, rotations, collapse.

The same steps in plain Python, easier to read, are in `tests/baselines/perch_reference.py`; both
make the same tree.

A node is a row of every array of `Nodes`. Distances are squared everywhere. A tip (a node without
children) stands for its data by their mean, which is the datum itself until tips are collapsed.
Nothing recurses: a tree may be as deep as it has data.
"""

from bhmc.baselines.perch.kernels.insertion import fill_tips, insert

__all__ = ["fill_tips", "insert"]
