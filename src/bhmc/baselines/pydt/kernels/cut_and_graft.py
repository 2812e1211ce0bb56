"""Cut a subtree off, and attach a subtree."""

import math

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform
from bhmc.baselines.pydt.kernels.messages import refresh_path
from bhmc.baselines.pydt.state import MOVES, N_FREE, NONE, TOP


@helper
def pick_subtree(ws, rng):
    """A slot, each as likely; NONE where it holds nothing that can be cut.

    A free slot counts as a wasted turn: then a subtree's chance does not depend on how many inner
    nodes the tree has, which the move may change.
    """
    ws.counts[MOVES] += 1
    r = int(uniform(rng) * ws.parent.shape[0])
    return (
        NONE if ws.parent[r] == NONE or (r > ws.parent.shape[0] // 2 and ws.n_kids[r] == 0) else r
    )


@helper
def add_size(ws, v, n):
    """n leaves more (or fewer) in v and above."""
    while v != NONE:
        ws.size[v] += n
        v = ws.parent[v]


@helper
def replace_child(ws, old, new):
    """`new` takes the place of `old` among its siblings, or at the top."""
    a = ws.parent[old]
    ws.parent[new] = a
    ws.before[new], ws.after[new] = ws.before[old], ws.after[old]
    if a == NONE:
        ws.counts[TOP] = new
    elif ws.before[old] == NONE:
        ws.first[a] = new
    if ws.before[new] != NONE:
        ws.after[ws.before[new]] = new
    if ws.after[new] != NONE:
        ws.before[ws.after[new]] = new


@helper
def take_out(ws, r):
    """Take r out of its siblings' list."""
    p = ws.parent[r]
    if ws.before[r] == NONE:
        ws.first[p] = ws.after[r]
    else:
        ws.after[ws.before[r]] = ws.after[r]
    if ws.after[r] != NONE:
        ws.before[ws.after[r]] = ws.before[r]
    ws.n_kids[p] -= 1
    ws.parent[r], ws.before[r], ws.after[r] = NONE, NONE, NONE


@helper
def put_in(ws, r, p, position):
    """Put r in the list of p's children, with `position` children before it."""
    previous, follower = NONE, ws.first[p]
    for _ in range(position):
        previous, follower = follower, ws.after[follower]
    ws.parent[r], ws.before[r], ws.after[r] = p, previous, follower
    if previous == NONE:
        ws.first[p] = r
    else:
        ws.after[previous] = r
    if follower != NONE:
        ws.before[follower] = r
    ws.n_kids[p] += 1


@helper
def cut(ws, r):
    """Cut the subtree of r off. Returns where it was: a node, and the clock on the edge above it.

    A parent left with one child goes. If the parent stays, the place is the parent itself: its own
    clock is what is returned.
    """
    p = ws.parent[r]
    take_out(ws, r)
    s = ws.clock[p]
    if ws.n_kids[p] > 1:
        add_size(ws, p, -ws.size[r])
        refresh_path(ws, p)
        return p, s
    sibling = ws.first[p]
    above = ws.parent[p]
    replace_child(ws, p, sibling)
    ws.n_kids[p], ws.first[p] = 0, NONE
    ws.free[ws.counts[N_FREE]] = p
    ws.counts[N_FREE] += 1
    add_size(ws, above, -ws.size[r])
    refresh_path(ws, above)
    return sibling, s


@helper
def graft(ws, r, b, s, rng):
    """Attach r to node b itself where s is b's clock, else to the edge above b at clock s.

    r comes at a random place among its siblings, so that the order of siblings, which the slice
    sampler uses, says nothing about the tree.
    """
    p = b
    if s < ws.clock[b]:
        ws.counts[N_FREE] -= 1
        p = ws.free[ws.counts[N_FREE]]
        replace_child(ws, b, p)
        ws.clock[p], ws.rest[p] = s, math.exp(-s)
        ws.size[p] = ws.size[b]
        ws.parent[b], ws.before[b], ws.after[b] = p, NONE, NONE
        ws.first[p], ws.n_kids[p] = b, 1
    put_in(ws, r, p, int(uniform(rng) * (ws.n_kids[p] + 1)))
    add_size(ws, p, ws.size[r])
    refresh_path(ws, p)
