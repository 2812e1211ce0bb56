"""Other makers of trees, to compare with: each is an estimator whose `tree_` is a `bhmc.Tree`."""

from bhmc.baselines._perch import Perch
from bhmc.baselines._pydt import PYDT
from bhmc.baselines._random import RandomTree
from bhmc.baselines._ward import Ward

__all__ = ["PYDT", "Perch", "RandomTree", "Ward"]
