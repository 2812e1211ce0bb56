"""Every conditional of the hdp transition, compiled; `reference` has the same in plain NumPy.

Symbols are those of the paper: beta_z weights of node z, beta*_z its remainder, N_z its data,
f and f* the likelihoods under a component and under one not yet born. Column 0 of every array over
components is the remainder: beta_z0 is beta*_z, theta_0 is unborn, and f(x; theta_0) is f*(x).

The truth about a weight is its logarithm; `ws.beta` mirrors it for the loops over data, where
additions and products of plain numbers are all there is. Where those run out (every product
underflows) the logarithms are used instead.

(A constant handed to a helper is wrapped as `np.int64(...)`: Numba would compile the helper anew
for each value of it.)

Kernels never see the likelihood family. When a datum founds a component a pass stops and returns,
so that the caller can draw the new theta and fill its column of the tile's `log_f`; then the pass
goes on.
"""

from bhmc._compiled.random_source import random_source
from bhmc.model.hdp.kernels.births import break_component
from bhmc.model.hdp.kernels.dishes import recount, redraw_tables, seat
from bhmc.model.hdp.kernels.gibbs import gibbs_pass
from bhmc.model.hdp.kernels.nodes import release_empty
from bhmc.model.hdp.kernels.proposal import mh_pass
from bhmc.model.hdp.kernels.regraft import regraft
from bhmc.model.hdp.kernels.relocate import relocate
from bhmc.model.hdp.kernels.splits import join_cell, split_off, weigh_block
from bhmc.model.hdp.kernels.weights import (
    draw_inner_weights,
    draw_tables,
    draw_weights,
    draw_weights_given_tables,
)

__all__ = [
    "break_component",
    "draw_inner_weights",
    "draw_tables",
    "draw_weights",
    "draw_weights_given_tables",
    "gibbs_pass",
    "join_cell",
    "mh_pass",
    "random_source",
    "recount",
    "redraw_tables",
    "regraft",
    "release_empty",
    "relocate",
    "seat",
    "split_off",
    "weigh_block",
]
