"""The weights of block moves against the joint density of the states that they lead to.

For every place that a move may choose the new state is built, and its density computed from the
definition: p(V), the law of rows or tables given the weights that the move keeps, and the
probability that the move picks the same block on the way back. New inner nodes are integrated out
by quadrature, which is exact for polynomials. Functions return the largest difference, less a
constant, of log weights.
"""

import copy

import numpy as np
from scipy.special import gammaln, roots_jacobi

from bhmc.model.hdp.density import log_p_tree
from bhmc.model.hdp.dishes import _seat
from bhmc.model.hdp.move_space import more_seats, move_space
from bhmc.model.hdp.workspace import DEPTH, FACTOR, NONE, WIDTH


def difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """How far log weights are apart beyond a constant; infinite where one of them excludes."""
    possible = wanted > -np.inf
    if (possible != (found > -np.inf)).any():
        return np.inf
    return float(np.ptp(found[possible] - wanted[possible]))


def log_multinomial(n: np.ndarray, shapes: np.ndarray) -> float:
    """log of Gamma(a.) / Gamma(a. + n.) prod_k Gamma(a_k + n_k) / Gamma(a_k)."""
    some = n > 0
    total, counted = shapes.sum(), n.sum()
    terms = gammaln(shapes[some] + n[some]) - gammaln(shapes[some])
    return float(gammaln(total) - gammaln(total + counted) + terms.sum())


def new_rows(n: int, b: float, gamma: float, e: int) -> float:
    """p(n rows of one component below e new nodes | weight b of the component above them)."""
    if e == 1:
        return float(np.exp(log_multinomial(np.array([n, 0]), gamma * np.array([b, 1 - b]))))
    x, w = roots_jacobi(n + 2, gamma * (1 - b) - 1, gamma * b - 1)
    values = [new_rows(n, (1 + u) / 2, gamma, e - 1) for u in x]
    return float(w @ values / w.sum())


def tree_with(ws, alpha: float, place: int, n: int, level: int) -> float:
    """log p(V) with n further rows below `place`, by way of new nodes down to `level` - 1, and the
    block's own top at `level` if that is not a leaf of the tree that they join.
    """
    N, levels = ws.n_under.astype(float), ws.level.copy()
    z = place
    while z != NONE:
        N[z] += n
        z = ws.parent[z]
    there = (levels >= 0) & ((N > 0) | (levels == 0))
    below = np.arange(levels[place] + 1, level + 1)
    sizes = np.concatenate([N[there], np.full(len(below), float(n))])
    return log_p_tree(sizes, np.concatenate([levels[there], below]), alpha)


def relocation(engine, chain, row: int, rows: np.ndarray, share: float, rng=None) -> float:
    """A block `rows` of row's leaf and component: all leaves and all new branches, in closed form
    or, where there is an `rng`, with auxiliary chains.
    """
    ws, rates, depth = chain.ws, chain.rates, int(chain.ws.room[DEPTH])
    chain.rows.count_cells(ws.customers)
    z, k, n = int(chain.rows.leaf[row]), int(chain.rows.component[row]), len(rows)
    engine.count_path(ws, z, -n)
    ws.customers[z, k] -= n
    space = move_space(ws, 256)
    space.block[k] = n
    engine.weigh_paths(ws, rates, float(n), depth)
    engine.weigh_leaves(ws, rates, k, n, share)
    wanted = np.full(len(ws.level), -np.inf)
    if rng is None:
        engine.weigh_branches(ws, rates, space, k, n)
        for a in _open(ws, depth - 1):
            inside = new_rows(n, ws.beta[a, k], rates.gamma, int(depth - ws.level[a]))
            wanted[a] = tree_with(ws, rates.alpha, a, n, depth) + np.log(inside)
    else:
        kept = engine.weigh_new(ws, rates, space, float(n), depth, depth - 1, z, rng)
        _weigh_new(ws, rates, space, n, depth, depth - 1, z, kept, wanted)
    for leaf in _open(ws, depth):
        if ws.level[leaf] == depth:
            others = ws.customers[leaf, k]
            wanted[leaf] = tree_with(ws, rates.alpha, leaf, n, depth)
            wanted[leaf] += _log_join(ws, rates, leaf, space.block)
            if others:
                wanted[leaf] += others * np.log(1 - share) if share < 1 else -np.inf
    return difference(ws.node_scratch[1], wanted)


def splitting(engine, chain, row: int) -> float:
    """Half of row's cell, or all of it if that is its component: all places as a new component, and
    all cells.

    A new component has one table: of p(rows | its weight), the part that is linear in that weight,
    times the weight b of the remainder.
    """
    ws, rates, depth = chain.ws, chain.rates, int(chain.ws.room[DEPTH])
    chain.rows.count_cells(ws.customers)
    z, k = int(chain.rows.leaf[row]), int(chain.rows.component[row])
    n, small, gain = int(ws.customers[z, k]), 1e-12, np.zeros(len(ws.held))
    gone = k if n == ws.held[k] else NONE
    n = n if gone == k else (n + 1) // 2
    log_left = np.logaddexp(ws.log_beta[:, 0], ws.log_beta[:, k] if gone == k else -np.inf)
    engine.take_out(ws, z, k, n)
    engine.weigh_paths(ws, rates, float(n), depth)
    engine.weigh_places(ws, rates, float(n), gone)
    found, wanted = [], []
    for a in _open(ws, depth):
        is_leaf = ws.level[a] == depth
        log_b = log_left[ws.parent[a] if is_leaf else a] - np.log(small)
        rows = np.array([n, ws.n_under[a] if is_leaf else 0])
        shapes = rates.gamma * np.array([small, 1 - small])
        value = log_multinomial(rows, shapes) - log_multinomial(rows * [0, 1], shapes)
        wanted.append(tree_with(ws, rates.alpha, a, n, depth) + value + log_b)
        found.append(ws.node_scratch[1, a])
    block = np.zeros(ws.room[WIDTH], dtype=np.int64)
    for leaf, j in np.argwhere(ws.customers):
        block[:], block[j] = 0, n
        wanted.append(
            tree_with(ws, rates.alpha, leaf, n, depth) + _log_join(ws, rates, leaf, block)
        )
        found.append(engine.log_cell(ws, rates, leaf, j, n, gain))
    return difference(np.array(found), np.array(wanted))


def grafting(engine, chain, y: int, level: int, rng) -> float:
    """The subtree of y: all parents and all new ones."""
    ws, rates = chain.ws, chain.rates
    chain.rows.count_cells(ws.customers)
    space = move_space(ws, 256)
    for above in range(int(ws.room[DEPTH]), level - 1, -1):
        engine.draw_level(ws, rates, space, above, rng)
    n, old = int(ws.n_under[y]), int(ws.parent[y])
    engine.count_path(ws, old, -n)
    engine.add_tables(ws, space, y, old, -1)
    space.block[:] = space.tables[y]
    engine.weigh_paths(ws, rates, float(n), level - 1)
    engine.weigh_parents(ws, rates, space, float(n), level)
    kept = engine.weigh_new(ws, rates, space, float(n), level, level - 2, old, rng)
    wanted = np.full(len(ws.level), -np.inf)
    _weigh_new(ws, rates, space, n, level, level - 2, old, kept, wanted)
    for a in _open(ws, level - 1):
        if ws.level[a] == level - 1:
            wanted[a] = tree_with(ws, rates.alpha, a, n, level)
            wanted[a] += _log_join(ws, rates, a, space.block)
    return difference(ws.node_scratch[1], wanted)


def _open(ws, last: int) -> np.ndarray:
    """Nodes of levels up to `last` that hold rows, and the root."""
    there = (ws.level == 0) | ((ws.level > 0) & (ws.n_under > 0))
    return np.flatnonzero(there & (ws.level <= last))


def _log_join(ws, rates, a: int, block: np.ndarray) -> float:
    """log p(the block's customers at node a | those it has)."""
    width = int(ws.room[WIDTH])
    shapes = rates.gamma * ws.beta[ws.parent[a], :width]
    before = ws.customers[a, :width]
    return log_multinomial(before + block[:width], shapes) - log_multinomial(before, shapes)


def _weigh_new(ws, rates, space, n, level, last, z, kept, wanted) -> None:
    """New branches given the chain that was chosen; several chains are not told apart here."""
    width, t, own, dead = int(ws.room[WIDTH]), space.block, z, z
    while own > 0 and ws.n_under[own] == 0:
        own = ws.parent[own]
    while ws.level[dead] > last:
        dead = ws.parent[dead]
    with_chains = [a for a in _open(ws, last) if ws.level[a] < last]
    for a in _open(ws, last):
        b = ws.beta[a if ws.level[a] == last else dead, :width].copy()
        if len(with_chains) > 1 and a in with_chains:
            ws.node_scratch[1, a] = -np.inf  # one of them has the weight of all
            continue
        if a in with_chains and a != own:
            chain = np.exp(space.chain[kept + last - ws.level[a], :width])
            b = np.where(t[:width] > 0, chain, 0.0)
            b[0] = 1 - b.sum()
        wanted[a] = tree_with(ws, rates.alpha, a, n, level)
        wanted[a] += log_multinomial(t[:width], rates.gamma * b)


def seating_log_p(ws, rates, seats) -> float:
    """log p(the seating): every table gamma Gamma(size), over Gamma(gamma + n) / Gamma(gamma) at
    every node; at the root the tables of level 1 in dishes, likewise with gamma0, or its K dishes.
    """
    t = np.flatnonzero(seats.size[: seats.made[0]] > 0)
    value = len(t) * np.log(rates.gamma) + gammaln(seats.size[t]).sum()
    for z in np.flatnonzero(ws.level > 0):
        n = seats.size[t[seats.node[t] == z]].sum()
        value += gammaln(rates.gamma) - gammaln(rates.gamma + n)
    top = t[ws.level[seats.node[t]] == 1]
    n = np.bincount(seats.dish[top], minlength=int(ws.room[WIDTH]))
    value += gammaln(rates.gamma0) - gammaln(rates.gamma0 + n.sum())
    if rates.n_fixed:
        each, n = rates.gamma0 / rates.n_fixed, n[1 : rates.n_fixed + 1]
        return value + (gammaln(n + each) - gammaln(each)).sum()
    return value + (n > 0).sum() * np.log(rates.gamma0) + gammaln(n[n > 0]).sum()


def dishes(engine, chain, level: int, which: int, rng) -> float:
    """A table of `level`: every table or new table that it may sit at, and every dish."""
    ws, rates = chain.ws, chain.rates
    seats, _ = _seat(chain)
    seats = more_seats(seats, 2 * int(seats.made[0]) + 20, ws.log_beta.shape[1])
    tables = range(seats.first[level], seats.first[level - 1])
    tau = tables[which % len(tables)]
    log_f = rng.normal(size=(1, ws.log_beta.shape[1]))
    old, candidate = int(seats.dish[tau]), 0 if rates.n_fixed else int(np.argmin(ws.alive))
    engine.leave_table(ws, seats, tau)
    lone = old if not rates.n_fixed and ws.customers[0, old] == 0 else NONE
    engine.set_factors(ws, rates, log_f, 0, lone)
    engine.weigh_nodes(ws, rates, seats, int(seats.node[tau]))
    found, wanted = [], []
    z = int(seats.node[tau])
    while z > 0:
        z = int(ws.parent[z])
        at = ws.level[z]
        for k in range(ws.room[WIDTH]):
            n = engine.prior_customers(ws.customers[z, k], z, k, rates.gamma0, rates.n_fixed)
            weight = n * ws.scratch[FACTOR, k]
            if weight > 0:
                weight *= ws.kept[0, at] / ws.kept[1, at]
            dish = k if k else (lone if lone != NONE else candidate)
            choices = _tables_at(seats, z, k) if z else [NONE]
            if k == lone or (z == 0 and not (ws.alive[k] and (k or not rates.n_fixed))):
                choices = []
            assert bool(choices) == (weight > 0)
            for t in choices:
                share = seats.size[t] / ws.customers[z, k] if z else 1.0
                found.append(np.log(weight * share))
                value = seating_log_p(ws, rates, _seated(ws, seats, tau, z, dish, t))
                wanted.append(value + log_f[0, lone if k == 0 and lone != NONE else k])
    return difference(np.array(found), np.array(wanted))


def _tables_at(seats, z, k) -> list[int]:
    t = np.arange(seats.made[0])
    return t[(seats.node[t] == z) & (seats.dish[t] == k) & (seats.size[t] > 0)].tolist()


def _seated(ws, seats, tau, z, k, table):
    """A copy in which tau, by way of new tables, sits at `table` of node z, or is a dish's."""
    new = copy.deepcopy(seats)
    new.dish[tau] = k
    up = int(ws.parent[seats.node[tau]])
    while up != z:
        made = int(new.made[0])
        new.made[0] += 1
        new.node[made], new.dish[made], new.size[made] = up, k, 1
        up = int(ws.parent[up])
    if z > 0:
        new.size[table] += 1
    return new
