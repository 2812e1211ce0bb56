"""The slow twin of the block moves: the same draws as `kernels` from the same random numbers.

Nothing is kept up to date here: every weight is computed from its definition. g is gamma.
"""

import math
from functools import cache

import numpy as np
from scipy.special import gammaln

from bhmc.model.hdp.reference_parts import (
    children_of,
    draw_index,
    draw_node_weights,
    drop_empty_nodes,
    link,
    log_dirichlet_draw,
    open_node,
    path_to,
    tables_draw,
)
from bhmc.model.hdp.workspace import DEPTH, FREE_SLOTS, MOST_LEVELS, WIDTH

# Half of the blocks are whole cells, of the others each row is taken with this probability.
PART = 0.5

# With a larger gamma new branches of a block are never in closed form.
LARGEST_GAMMA = 50.0


# ---- Relocate ----------------------------------------------------------------------------------


def relocate(ws, rates, space, leaf, component, threshold, start, n_moves, rng):
    """A block of rows of one leaf and component: a leaf or a new branch, by `_relocate_block`."""
    for move in range(start, n_moves):
        if ws.room[FREE_SLOTS] < ws.room[DEPTH]:
            return move
        _relocate_block(ws, rates, leaf, component, threshold, rng)
    return n_moves


def _relocate_block(ws, rates, leaf, component, threshold, rng):
    """P(leaf z') ~ path(z') (1 - p)^n_k Gamma(g + N) / Gamma(g + N + n) Gamma(g b + n_k + n) /
    Gamma(g b + n_k), b its parent's weight of k; P(branch below a) ~ hang(a, L) E_e(n, beta_ak).
    """
    share = 1.0 if rng.random() < 0.5 else PART
    row, depth = int(rng.random() * len(leaf)), ws.room[DEPTH]
    z, k = int(leaf[row]), int(component[row])
    others = np.flatnonzero((leaf == z) & (component == k) & (np.arange(len(leaf)) != row))
    n = 1 + (len(others) if share == 1 else int((rng.random(len(others)) < share).sum()))
    ws.n_under[path_to(ws, z)] -= n
    ws.customers[z, k] -= n
    block = np.zeros(ws.room[WIDTH], dtype=np.int64)
    block[k] = n
    log_weights, chains = np.full(len(ws.level), -np.inf), {}
    for leaf_node in open_nodes(ws, depth, depth):
        log_weights[leaf_node] = _log_join_leaf(ws, rates, leaf_node, k, n, share)
    closed = n < threshold and rates.gamma <= LARGEST_GAMMA
    if closed:
        for a in open_nodes(ws, 0, depth - 1):
            e, hang = depth - ws.level[a], log_hang(ws, rates, a, n, depth)
            log_weights[a] = hang + _log_branch(rates.gamma, ws.log_beta[a, k], n, e)
    else:
        chains = _weigh_new(ws, rates, block, n, depth, depth - 1, z, log_weights, rng)
    place, own = draw_index(log_weights, rng), open_above(ws, z)
    new = z
    if place != own or (closed and ws.level[place] < depth - 1):
        drop_empty_nodes(ws, z)
        new = place
        if ws.level[place] < depth:
            if closed:
                new = _grow_block(ws, rates, place, k, n, rng)
            else:
                new = _grow_chain(ws, rates, block, place, chains.get(place, ()), rng)
            new = open_node(ws, new)
        if new != z:
            leaf[_drawn_rows(others, n - 1, rng)] = new
            leaf[row] = new
    ws.n_under[path_to(ws, new)] += n
    ws.customers[new, k] += n


def _log_join_leaf(ws, rates, z, k, n, share):
    """The weight of an existing leaf."""
    there, b = ws.customers[z, k], rates.gamma * ws.beta[ws.parent[z], k]
    if there and share == 1:
        return -np.inf
    value = log_path(ws, rates, z, n) + (there * math.log1p(-share) if there else 0.0)
    total = rates.gamma + ws.n_under[z]
    value += gammaln(total) - gammaln(total + n)
    return value + log_rising(b, math.log(rates.gamma) + ws.log_beta[ws.parent[z], k], there, n)


@cache
def _log_stirling(n):
    """(n + 1,) log |s(n, t)|, unsigned Stirling numbers of the first kind."""
    row = [1]
    for m in range(n):
        row = [a + m * b for a, b in zip([0, *row], [*row, 0], strict=True)]
    return np.array([math.log(s) if s else -np.inf for s in row])


def _law(gamma, n):
    """A[m, t] = |s(m, t)| g^t Gamma(g) / Gamma(g + m) for m, t up to n."""
    A = np.zeros((n + 1, n + 1))
    for m in range(1, n + 1):
        t = np.arange(m + 1)
        log_p = _log_stirling(m) + t * math.log(gamma) + gammaln(gamma) - gammaln(gamma + m)
        A[m, : m + 1] = np.exp(log_p)
    return A


def _log_new_customers(gamma, log_b, n):
    """(n,) log E_1(t, b), t = 1..n, less log b."""
    steps = np.arange(1, n)
    ratios = np.log((gamma * np.exp(log_b) + steps) / (gamma + steps))
    return np.append(0.0, np.cumsum(ratios))


def _weights_of_customers(gamma, log_b, n, e):
    """(n,) (A^(e-1))[n, t] E_1(t, b) / b, t = 1..n."""
    power = np.linalg.matrix_power(_law(gamma, n), e - 1)[n, 1:]
    return power * np.exp(_log_new_customers(gamma, log_b, n))


def _log_branch(gamma, log_b, n, e):
    """log E_e(n, b) = log of the sum over t of (A^(e-1))[n, t] E_1(t, b)."""
    return log_b + math.log(_weights_of_customers(gamma, log_b, n, e).sum())


def _grow_block(ws, rates, z, k, n, rng):
    """Inner nodes below z: m ~ (A^(e-1))[n, m] E_1(m, b); then beta ~ Dir(g beta_pa + m e_k)."""
    while ws.level[z] < ws.room[DEPTH] - 1:
        up, e = z, ws.room[DEPTH] - ws.level[z]
        weights = _weights_of_customers(rates.gamma, ws.log_beta[up, k], n, e)
        m = 1 + np.searchsorted(np.cumsum(weights)[:-1], rng.random() * weights.sum(), "right")
        z = open_node(ws, up)
        shapes = rates.gamma * ws.beta[up, : ws.room[WIDTH]]
        shapes[k] += m
        draw_node_weights(ws, z, shapes, rng)
    return z


def _drawn_rows(others, wanted, rng):
    """`wanted` of the other rows, evenly, one after the other."""
    taken = []
    for i, row in enumerate(others):
        left, missing = len(others) - i, wanted - len(taken)
        if missing == left or rng.random() * left < missing:
            taken.append(row)
    return taken


# ---- Regraft -----------------------------------------------------------------------------------


def regraft(ws, rates, space, most, rng):
    """Tables of all nodes bottom-up; at every level l > 1 subtrees choose a parent given them.

    Of a tree with more than MOST_LEVELS levels, so many take part on average.

    P(existing a below b) ~ hang(a, l) Gamma(g + n_a.) / Gamma(g + n_a. + t.) prod over k of
    Gamma(g beta_bk + n_ak + t_k) / Gamma(g beta_bk + n_ak); P(a new a) by `_weigh_new`.
    """
    progress = space.progress
    while progress[0] > 1:
        level = progress[0]
        if progress[2] < 0:
            _draw_level(ws, rates, space, level, rng)
            order = np.flatnonzero(ws.level == level)
            depth = int(ws.room[DEPTH])
            takes_part = depth <= MOST_LEVELS or rng.random() * depth < MOST_LEVELS
            progress[2] = min(len(order), most // len(order) + 1) if takes_part else 0
            for i in range(progress[2]):
                j = i + int(rng.random() * (len(order) - i))
                order[[i, j]] = order[[j, i]]
            space.order[: len(order)] = order
        for i in range(progress[1], progress[2]):
            if ws.room[FREE_SLOTS] < ws.room[DEPTH]:
                return False
            _regraft_subtree(ws, rates, space, int(space.order[i]), level, rng)
            progress[1] += 1
        progress[:] = level - 1, 0, -1
    _draw_level(ws, rates, space, 1, rng)
    return True


def _draw_level(ws, rates, space, level, rng):
    """t_zk ~ CRT(n_zk, g beta_pa,k) of the nodes of a level; customers of the level above."""
    width = ws.room[WIDTH]
    ws.customers[ws.level == level - 1] = 0
    for z in np.flatnonzero(ws.level == level):
        up = ws.parent[z]
        for k in range(1, width):
            tables = tables_draw(ws.customers[z, k], rates.gamma * ws.beta[up, k], rng)
            space.tables[z, k] = tables
            ws.customers[up, k] += tables


def _regraft_subtree(ws, rates, space, y, level, rng):
    """The parent of y given its tables."""
    n, old, t = ws.n_under[y], int(ws.parent[y]), space.tables[y, : ws.room[WIDTH]].copy()
    ws.n_under[path_to(ws, old)] -= n
    ws.customers[old, : len(t)] -= t
    log_weights = np.full(len(ws.level), -np.inf)
    for a in open_nodes(ws, level - 1, level - 1):
        log_weights[a] = log_hang(ws, rates, a, n, level)
        log_weights[a] += _log_customers(ws, rates, ws.parent[a], ws.customers[a, : len(t)], t)
    chains = _weigh_new(ws, rates, t, n, level, level - 2, old, log_weights, rng)
    place, a = draw_index(log_weights, rng), old
    if place != open_above(ws, old):
        link(ws, old, [x for x in children_of(ws, old) if x != y])
        drop_empty_nodes(ws, old)
        a = place
        if ws.level[place] < level - 1:
            a = open_node(ws, _grow_chain(ws, rates, t, place, chains.get(place, ()), rng))
            ws.customers[a] = 0
        link(ws, a, [*children_of(ws, a), y])
        ws.parent[y] = a
    ws.n_under[path_to(ws, a)] += n
    ws.customers[a, : len(t)] += t


def _log_customers(ws, rates, b, before, t):
    """log p(t further customers of a node below b | `before`), its weights integrated out."""
    total, some = rates.gamma + before.sum(), np.flatnonzero(t)
    terms = [
        log_rising(
            rates.gamma * ws.beta[b, k], math.log(rates.gamma) + ws.log_beta[b, k], before[k], t[k]
        )
        for k in some
    ]
    return gammaln(total) - gammaln(total + t.sum()) + sum(terms)


# ---- Places in the tree ------------------------------------------------------------------------


def open_nodes(ws, first, last):
    """Nodes of these levels that hold rows, and the root, in the order of their slots."""
    there = (ws.n_under > 0) | (ws.level == 0)
    return [int(z) for z in np.flatnonzero((ws.level >= first) & (ws.level <= last) & there)]


def open_above(ws, z):
    """The last node on the path to z that holds rows, or the root."""
    return max((y for y in path_to(ws, z) if y == 0 or ws.n_under[y]), key=lambda y: ws.level[y])


def log_rising(a, log_a, m, n):
    """log Gamma(a + m + n) / Gamma(a + m)."""
    if m == 0:
        return log_a + gammaln(a + n) - gammaln(a + 1)
    return gammaln(a + m + n) - gammaln(a + m)


def log_path(ws, rates, z, n):
    """log of prod over b other than the root of Gamma(N_b + n) / Gamma(N_b) * prod over inner b of
    Gamma(N_b + alpha) / Gamma(N_b + n + alpha), b from the root to z.
    """
    N = ws.n_under[path_to(ws, z)].astype(float)
    inner = N[: ws.room[DEPTH]] + rates.alpha
    return (gammaln(N[1:] + n) - gammaln(N[1:])).sum() - (gammaln(inner + n) - gammaln(inner)).sum()


def log_hang(ws, rates, a, n, level):
    """log of path(a) alpha Gamma(n) [Gamma(alpha + 1) Gamma(n) / Gamma(n + alpha)]^d."""
    alpha = rates.alpha
    log_node = gammaln(alpha + 1) + gammaln(n) - gammaln(n + alpha)
    d = level - 1 - ws.level[a]
    return log_path(ws, rates, a, n) + math.log(alpha) + gammaln(n) + d * log_node


def _weigh_new(ws, rates, t, n, level, last, z, log_weights, rng):
    """P(new branch below a) ~ hang(a, level) p(t | the weights of level `last`), with an auxiliary
    chain of inner nodes down to that level, or the chain that died with the block.

    One of the places with chains gets the weight of them all. Returns the chains of new nodes by
    place: log weights of "all others" and of the components of t.
    """
    own, some = open_above(ws, z), np.flatnonzero(t)
    chains, log_total, chosen = {}, -np.inf, None
    for a in open_nodes(ws, 0, last):
        value = log_hang(ws, rates, a, n, level)
        if ws.level[a] == last:
            log_weights[a] = value + _log_new(rates, ws.log_beta[a, some], t[some])
            continue
        if a == own:
            dead = next(y for y in path_to(ws, z) if ws.level[y] == last)
            value += _log_new(rates, ws.log_beta[dead, some], t[some])
        else:
            chains[a] = _draw_chain(ws, rates, a, some, last - ws.level[a], rng)
            value += _log_new(rates, chains[a][-1][1:], t[some])
        value, log_total = float(value), float(np.logaddexp(log_total, value))
        if rng.random() < math.exp(value - log_total):
            chosen = a
    if chosen is not None:
        log_weights[chosen] = log_total
    return chains


def _log_new(rates, log_b, t):
    """log p(t customers of a new node | its parent's weights b), the node integrated out."""
    g = rates.gamma
    terms = [
        log_rising(g * math.exp(x), math.log(g) + x, 0, c) for x, c in zip(log_b, t, strict=True)
    ]
    return gammaln(g) - gammaln(g + t.sum()) + sum(terms)


def _draw_chain(ws, rates, a, some, n_new, rng):
    """beta ~ DP(g, beta_pa), n_new times below a: log weights of "all others" and of `some`."""
    others = np.setdiff1d(np.arange(ws.room[WIDTH]), some)
    with np.errstate(divide="ignore"):
        row = np.append(np.log(ws.beta[a, others].sum()), ws.log_beta[a, some])
    rows = []
    for _ in range(n_new):
        row = log_dirichlet_draw(rates.gamma * np.exp(row), row, rng)
        rows.append(row)
    return rows


def _grow_chain(ws, rates, t, z, rows, rng):
    """Open the nodes of a chain below z; the other weights are Dir(g beta_pa) among themselves."""
    width, some = ws.room[WIDTH], np.flatnonzero(t)
    others = np.setdiff1d(np.arange(width), some)
    for row in rows:
        up, z = z, open_node(ws, z)
        ws.log_beta[z, some] = row[1:]
        shapes, limit = rates.gamma * ws.beta[up, others], ws.log_beta[up, others]
        ws.log_beta[z, others] = row[0] + log_dirichlet_draw(shapes, limit, rng)
        if limit.max() == -np.inf:
            rng.random()  # the kernel draws which of them has all weight, though none has any
        ws.beta[z, :width] = np.exp(ws.log_beta[z, :width])
    return z
