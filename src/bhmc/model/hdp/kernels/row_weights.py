"""beta_zk f(x_n; theta_k) of one row at one node, as plain numbers and as logarithms."""

import math

import numpy as np

from bhmc._compiled.decorators import helper, merged
from bhmc._compiled.exponential import exp_within
from bhmc.model.hdp.kernels.numbers import largest
from bhmc.model.hdp.workspace import BLOCK, FACTOR, WEIGHT, WIDTH


@merged
def weigh(ws, log_f, table, z, row, top):
    """weight[k] = U[k] f(x_n; theta_k) / exp(top), U a row of `table`; their sums, the total."""
    for k in range(ws.room[WIDTH]):
        f = exp_within(log_f[row, k] - top)
        ws.scratch[FACTOR, k] = f
        ws.scratch[WEIGHT, k] = f * table[z, k]
    total = 0.0
    for b in range(ws.room[WIDTH] // BLOCK):  # short chains of additions, not one long one
        part = 0.0
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            part += ws.scratch[WEIGHT, k]
        ws.block_sums[b] = part
        total += part
    return total


@helper
def log_products(ws, log_f, z, row):
    """weight[k] = log beta_zk f(x_n; theta_k); returns the largest."""
    for k in range(ws.room[WIDTH]):
        ws.scratch[WEIGHT, k] = ws.log_beta[z, k] + log_f[row, k]
    return largest(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH])


@helper
def log_sum_at(ws, log_f, z, row):
    """log S_z = log( sum_k beta_zk f(x_n; theta_k) ), the remainder with f* among them."""
    top = log_products(ws, log_f, z, row)
    if top == -math.inf:
        return top
    total = 0.0
    for k in range(ws.room[WIDTH]):
        total += math.exp(ws.scratch[WEIGHT, k] - top)
    return top + math.log(total)


@helper
def weigh_at(ws, log_f, z, row):
    """weight[k] = beta_zk f(x_n; theta_k), less the row's own factor; returns S_z, their total."""
    return weigh(ws, log_f, ws.beta, z, row, largest(log_f, row, ws.room[WIDTH]))
