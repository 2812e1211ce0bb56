"""A stand-in for a sampler of another model: uneven trees, no components."""

import numpy as np

from bhmc.model.state import Partition

# A tree of five rows whose leaves are at levels 1, 2 and 3.
UNEVEN = Partition(
    leaf=np.array([1, 3, 5, 6, 6], dtype=np.int32),
    component=np.empty(0, dtype=np.int32),
    parents=np.array([-1, 0, 0, 2, 2, 4, 4], dtype=np.int32),
)
# The same rows in a tree whose leaves happen to be at one level.
EVEN = Partition(
    leaf=np.array([1, 1, 2, 3, 3], dtype=np.int32),
    component=np.empty(0, dtype=np.int32),
    parents=np.array([-1, 0, 0, 0], dtype=np.int32),
)


class UnevenSampler:
    """Draws one of the two trees; learns a number `c` and a vector `rate`."""

    n_components = 0
    shared = np.empty(0)

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.sweep()

    def sweep(self):
        self._c, self._rate = self._rng.gamma(2.0), self._rng.gamma(2.0, size=2)
        self._tree = (UNEVEN, EVEN)[int(self._rng.integers(2))]

    def state(self):
        return self._tree

    def partition(self):
        return self._tree

    def sizes(self):
        return self._tree.sizes()

    def components_of(self, rows):
        return self._tree.component[rows]

    def log_likelihood(self):
        return -5.0 - self._c

    def log_prior(self):
        return -1.0

    def learned(self):
        return {"c": self._c, "rate": self._rate}
