"""Every conditional of the Pitman-Yor diffusion tree, compiled; arrays in, arrays out.

The same steps in plain Python, which recompute every message and the whole density, are in
`tests/baselines/pydt_reference.py`; from the same random numbers both take the same steps. Symbols
are the paper's: alpha, theta, c, H; the clock is s = -log(1 - t), on which divergence has a
constant rate.

Places of nodes are integrated out. A message is a Gaussian about a node's place: `up` from the data
below it, `down` (kept at the child) from all other data. Every dimension has the same variances, so
a variance is one number. With both messages at hand an attachment anywhere costs a few flops: on an
edge only three squared distances matter, whatever the dimension.

An attachment is a point of an edge, or an inner node (an atom: the subtree becomes one more child).
A subtree with n leaves and clock s_r is attached with prior weight

    on an edge with m leaves, at s:  c Gamma(m - alpha) Gamma(n - alpha)
                                     / (Gamma(m + n + theta) Gamma(1 - alpha)) ds
    at a node with m leaves:         (theta + alpha K) Gamma(n - alpha) Gamma(m + theta)
                                     / (Gamma(1 - alpha) Gamma(m + n + theta))

times what changes on the way there from the origin: exp(-c ds (H(m + n - 1) - H(m - 1))) for each
edge, Gamma(n_l + n - alpha) Gamma(m + theta) / (Gamma(n_l - alpha) Gamma(m + n + theta)) for each
node, and exp(-c (s_r - s) H(n - 1)) for the edge of the subtree itself. For n = 1 these are the
probabilities of one more particle; for n > 1 they do not add up to 1.
"""

from bhmc._compiled.random_source import random_source
from bhmc.baselines.pydt.kernels.messages import refresh
from bhmc.baselines.pydt.kernels.node_times import redraw_times
from bhmc.baselines.pydt.kernels.prior_places import mh_moves
from bhmc.baselines.pydt.kernels.slice_places import insert_leaves, slice_moves
from bhmc.baselines.pydt.kernels.tree_density import log_tree, tabulate

__all__ = [
    "insert_leaves",
    "log_tree",
    "mh_moves",
    "random_source",
    "redraw_times",
    "refresh",
    "slice_moves",
    "tabulate",
]
