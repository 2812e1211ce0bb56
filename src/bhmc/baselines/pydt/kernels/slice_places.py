"""Subtrees find their places by a slice sampler over attachment points."""

import math

from bhmc._compiled.decorators import compiled, helper
from bhmc._compiled.random_source import uniform
from bhmc.baselines.pydt.kernels.cut_and_graft import cut, graft, pick_subtree
from bhmc.baselines.pydt.kernels.pieces import (
    list_pieces,
    piece_at,
    piece_holding,
    place_at,
    position_of,
    surplus,
)
from bhmc.baselines.pydt.state import MOVED, NONE, SHRUNK, TOP


@helper
def slice_place(ws, r, b, s, rng):
    """(b, s) ~ a slice sampler's step on p(place of r | rest of the tree, data), from (b, s).

    Pieces put all places on a line, a piece as long as its weight and neighbours in the tree side
    by side. What is left of the density there is exp(surplus). A level is drawn under it, and
    positions from the whole line, which shrinks towards the present one until one is above.
    """
    n = list_pieces(ws, r)
    here = piece_holding(ws, n, b, s)
    position = position_of(ws, here, r, s, rng)
    level = surplus(ws, here, r, s) + math.log(1.0 - uniform(rng))
    low, high = 0.0, ws.piece_sum[n - 1]
    least = SHRUNK * high
    while high - low > least:
        u = low + (high - low) * uniform(rng)
        i = piece_at(ws, n, u)
        new = place_at(ws, i, r, u)
        if surplus(ws, i, r, new) >= level:
            return ws.piece_node[i], new
        if u < position:
            low = u
        else:
            high = u
    return b, s


@compiled
def slice_moves(ws, n_moves, rng):
    """n_moves times: cut a random subtree off and attach it again by `slice_place`."""
    for _ in range(n_moves):
        r = pick_subtree(ws, rng)
        if r != NONE:
            b, s = cut(ws, r)
            new_b, new_s = slice_place(ws, r, b, s, rng)
            ws.counts[MOVED] += new_b != b or new_s != s
            graft(ws, r, new_b, new_s, rng)


@compiled
def insert_leaves(ws, leaves, rng):
    """Attach the leaves one after another, each at random by the weights of the pieces: a start."""
    for leaf in leaves:
        if ws.counts[TOP] == NONE:
            ws.counts[TOP] = leaf
        else:
            n = list_pieces(ws, leaf)
            u = uniform(rng) * ws.piece_sum[n - 1]
            i = piece_at(ws, n, u)
            graft(ws, leaf, ws.piece_node[i], place_at(ws, i, leaf, u), rng)
