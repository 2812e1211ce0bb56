"""The slow twin of the move "dishes": the same draws as `kernels` from the same random numbers.

Customers are counted anew from the tables for every draw; g is gamma.
"""

import numpy as np

from bhmc.model.hdp.workspace import (
    COMPONENTS_BORN,
    COMPONENTS_DIED,
    DEPTH,
    DONE,
    FREE_COLUMNS,
    NEEDS_ROOM,
    NONE,
    WIDTH,
    whole_blocks,
)


def seat(ws, rates, seats, leaf, component, table_of, rng):
    """Customers of (z, k) sit down one after the other: at a new table with weight g beta_pa,k, at
    a table with its size. Rows first, then the tables of level L, and so on.
    """
    depth, progress = ws.room[DEPTH], seats.progress
    while progress[0] > 0:
        level = progress[0]
        rows = level > depth
        begin, end = (0, len(leaf)) if rows else (seats.first[level], seats.first[level - 1])
        for i in range(begin + progress[1], end):
            if seats.made[0] == len(seats.node):
                return False
            if rows:
                table_of[i] = _sit(ws, rates, seats, leaf[i], component[i], rng)
            elif level > 1:
                up = ws.parent[seats.node[i]]
                seats.up[i] = _sit(ws, rates, seats, up, seats.dish[i], rng)
            else:
                ws.customers[0, seats.dish[i]] += 1
                seats.up[i] = NONE
            progress[1] += 1
        if level > 1:
            seats.first[level - 2] = seats.made[0]
        progress[:] = level - 1, 0
    return True


def _sit(ws, rates, seats, z, k, rng):
    """The table of the next customer of (z, k)."""
    a, tables = rates.gamma * ws.beta[ws.parent[z], k], _tables_at(seats, z, k)
    seated = sum(seats.size[t] for t in tables)
    ws.customers[z, k] += 1
    target = rng.random() * (a + seated) - a if seated else -1.0
    if target < 0:
        return _new_table(seats, z, k)
    t = _find_table(seats, tables, target)
    seats.size[t] += 1
    return t


def _tables_at(seats, z, k):
    """Tables of (z, k) that have customers, the newest first."""
    t = np.arange(seats.made[0])
    here = (seats.node[t] == z) & (seats.dish[t] == k) & (seats.size[t] > 0)
    return t[here][::-1]


def _find_table(seats, tables, target):
    """The table where the running sum of the sizes passes the target."""
    passed = np.searchsorted(np.cumsum(seats.size[tables]), target, side="right")
    return tables[min(passed, len(tables) - 1)]


def _new_table(seats, z, k):
    t = int(seats.made[0])
    seats.made[0] += 1
    seats.node[t], seats.dish[t], seats.size[t] = z, k, 1
    return t


def redraw_tables(ws, rates, seats, order, log_f, start, theta, natural, rng):
    """Tables order[start:] choose where they sit; see `_redraw_table`.

    Returns (position to go on from, code): a component just born, NEEDS_ROOM or DONE.
    """
    for i in range(start, len(order)):
        if not rates.n_fixed and not ws.room[FREE_COLUMNS]:
            return i, NEEDS_ROOM
        born = _redraw_table(ws, rates, seats, order[i], log_f, i, theta, natural, rng)
        if born:
            return i + 1, born
    return len(order), DONE


def _redraw_table(ws, rates, seats, tau, log_f, i, theta, natural, rng):
    """P(a table j of the node above) ~ size_j prod f(x; theta_k) / (n + g), k its dish; P(a new
    one) ~ g / (n + g) times the same one level up; P(dish k at the root) ~ (n_0k + gamma0 / K)
    prod f / (n_0. + gamma0), in the infinite form n_0k, and gamma0 for the candidate, whose place
    a lone component's own theta takes.
    """
    old = seats.dish[tau]
    _leave(seats, tau)
    level = ws.level[seats.node[tau]]
    customers = {z: _customers(ws, seats, tau, z) for z in _above(ws, seats.node[tau])}
    lone = old if not rates.n_fixed and not customers[0][old] else NONE
    log_factor = np.where(ws.alive, log_f[i], -np.inf)[: ws.room[WIDTH]]
    if lone != NONE:
        log_factor[[0, lone]] = log_factor[lone], -np.inf
    if rates.n_fixed:
        log_factor[0] = -np.inf
    factor, share, nodes, sums = np.exp(log_factor - log_factor.max()), 1.0, [], []
    for z in _above(ws, seats.node[tau]):
        n, g = customers[z].sum(), rates.gamma if z else rates.gamma0
        if z == 0:
            customers[z] = customers[z].astype(float)
            customers[z][1 : rates.n_fixed + 1] += rates.gamma0 / max(rates.n_fixed, 1)
            customers[z][0] = 0.0 if rates.n_fixed else rates.gamma0
        nodes.append((z, customers[z] * factor))
        sums.append(share * nodes[-1][1].sum() / (n + g))
        share *= g / (n + g)
    z, weights = nodes[_pick(sums, rng)]
    k, born = _pick(weights, rng), 0
    if k == 0 and lone != NONE:
        k = lone
    elif k == 0:
        k = born = _open_column(ws)
        _copy(theta, natural, log_f, 0, k)
    elif lone != NONE:
        _copy(theta, natural, log_f, lone, 0)
        ws.alive[lone] = False
        ws.room[FREE_COLUMNS] += 1
        ws.events[COMPONENTS_DIED] += 1
    seats.dish[tau] = k
    t, up = tau, ws.parent[seats.node[tau]]
    for _ in range(ws.level[z] + 1, level):
        seats.up[t] = _new_table(seats, up, k)
        t, up = seats.up[t], ws.parent[up]
    seats.up[t] = NONE
    if z > 0:
        tables = _tables_at(seats, z, k)
        seats.up[t] = _find_table(seats, tables, rng.random() * seats.size[tables].sum())
        seats.size[seats.up[t]] += 1
    return born


def _leave(seats, t):
    """A table leaves its own, which leaves in turn if it was the last customer."""
    t = seats.up[t]
    while t != NONE:
        seats.size[t] -= 1
        t = NONE if seats.size[t] else seats.up[t]


def _above(ws, z):
    """The nodes above z, the root last."""
    found = []
    while z > 0:
        z = ws.parent[z]
        found.append(int(z))
    return found


def _customers(ws, seats, tau, z):
    """(width,) tables of z's children, by dish, without tau and those that have been left."""
    t = np.arange(seats.made[0])
    here = (ws.parent[seats.node[t]] == z) & (seats.size[t] > 0) & (t != tau)
    return np.bincount(seats.dish[t[here]], minlength=ws.room[WIDTH])


def _pick(weights, rng):
    """i with probability proportional to weights[i]."""
    i = int(np.searchsorted(np.cumsum(weights), rng.random() * np.sum(weights), side="right"))
    return min(i, int(np.flatnonzero(weights)[-1]))


def _open_column(ws):
    """A free column for a component."""
    k = int(np.flatnonzero(~ws.alive)[0])
    ws.alive[k] = True
    ws.room[FREE_COLUMNS] -= 1
    ws.room[WIDTH] = max(ws.room[WIDTH], whole_blocks(k + 1))
    ws.events[COMPONENTS_BORN] += 1
    return k


def _copy(theta, natural, log_f, old, new):
    """theta of column `old` is that of column `new` too."""
    theta[new], natural[new], log_f[:, new] = theta[old], natural[old], log_f[:, old]


def recount(ws, seats, level, leaf, component, table_of):
    """Dishes of tables below `level` and of rows are those of the tables above; all is counted."""
    ws.customers[:] = 0
    for t in np.arange(seats.made[0])[::-1]:
        z, up = seats.node[t], seats.up[t]
        if seats.size[t]:
            seats.dish[t] = seats.dish[up] if ws.level[z] > level else seats.dish[t]
            ws.customers[ws.parent[z], seats.dish[t]] += 1
    component[:] = seats.dish[table_of]
    ws.held[:] = np.bincount(component, minlength=len(ws.held))
    np.add.at(ws.customers, (leaf, component), 1)
