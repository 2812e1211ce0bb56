"""Tables choose anew where they sit, and so which component their rows have.

First every row gets a table: in node z the customers of component k (rows at a leaf, tables of the
children above) sit down one after the other by a Chinese restaurant process of concentration
gamma beta_pa,k. With the seating the weights of all nodes are integrated out. A level is drawn, and
tables tau of that level, each with all rows S below it, leave their tables and choose anew:

a table j of the node above: size_j prod over S of f(x; theta of j's dish) / (n + gamma),
a new table there, gamma / (n + gamma), whose own table is chosen likewise one level up; at the root
dish k: n_0k prod f(x; theta_k) / (n_0. + gamma0), a new dish: gamma0 prod f(x; theta) / (n_0. +
gamma0) with theta ~ H drawn beforehand, the candidate; in the finite form n_0k + gamma0 / K.

Tables that tau leaves empty leave theirs first. If tau's component is gone with it, its own theta
takes the candidate's place: tau may keep it, and else it is the candidate from then on. If tau
takes the candidate, another is drawn from H. (State and candidate have the law posterior times H.)
"""

import math

import numpy as np

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc._compiled.random_source import uniform
from bhmc.model.hdp.kernels.births import open_column
from bhmc.model.hdp.workspace import (
    COMPONENTS_DIED,
    DEPTH,
    DONE,
    FACTOR,
    FREE_COLUMNS,
    NEEDS_ROOM,
    NONE,
    WIDTH,
)


@merged
def new_table(seats, z, k):
    """A table of node z with dish k and one customer."""
    t = seats.made[0]
    seats.made[0] = t + 1
    seats.node[t], seats.dish[t], seats.size[t] = z, k, 1
    seats.next[t] = seats.head[z, k]
    seats.head[z, k] = t
    return t


@helper
def find_table(size, following, t, target):
    """The table, from t on, where the running sum of the sizes passes `target`."""
    while target >= size[t] and following[t] != NONE:
        target -= size[t]
        t = following[t]
    return t


@merged
def sit(ws, rates, seats, z, k, rng):
    """The next customer of (z, k): a new table with weight gamma beta_pa,k, or an old one with its
    size.
    """
    a, seated, target = rates.gamma * ws.beta[ws.parent[z], k], ws.customers[z, k], -1.0
    ws.customers[z, k] = seated + 1
    if seated > 0:
        target = uniform(rng) * (a + seated) - a
    if target < 0.0:
        t = new_table(seats, z, k)
    else:
        t = find_table(seats.size, seats.next, seats.head[z, k], target)
        seats.size[t] += 1
    return t


@merged
def seat_one(ws, rates, seats, level, i, leaf, component, table_of, rng):
    """Seat row i, or table i of `level`; tables of level 1 are the root's customers."""
    is_row, table = level > ws.room[DEPTH], np.int64(NONE)
    z, k = (leaf[i], component[i]) if is_row else (ws.parent[seats.node[i]], seats.dish[i])
    if level > 1:
        table = sit(ws, rates, seats, z, k, rng)
    else:
        ws.customers[0, k] += 1
    if is_row:
        table_of[i] = table
    else:
        seats.up[i] = table


@compiled
def seat(ws, rates, seats, leaf, component, table_of, rng):
    """Seat all rows, then tables level by level; `customers` and `head` were emptied before.

    Tables of level l are first[l]..first[l - 1] - 1. progress = (level of those who sit down, L + 1
    for rows; how many of them sit). Returns whether all sit; else there is no room for another
    table, and the next call goes on.
    """
    progress, n_tables = seats.progress, seats.node.shape[0]
    while progress[0] > 0:
        level, begin, end = progress[0], np.int64(0), np.int64(leaf.shape[0])
        if level <= ws.room[DEPTH]:
            begin, end = seats.first[level], seats.first[level - 1]
        for i in range(begin + progress[1], end):
            if seats.made[0] == n_tables:
                return False
            seat_one(ws, rates, seats, level, i, leaf, component, table_of, rng)
            progress[1] += 1
        if level > 1:
            seats.first[level - 2] = seats.made[0]
        progress[0], progress[1] = level - 1, 0
    for z in range(ws.level.shape[0]):
        seats.totals[z] = 0
        for k in range(1, ws.room[WIDTH]):
            seats.totals[z] += ws.customers[z, k]
    return True


# ---- One table ---------------------------------------------------------------------------------


@merged
def count_customer(ws, seats, z, k, step):
    """n_zk <- n_zk + step."""
    ws.customers[z, k] += step
    seats.totals[z] += step


@merged
def close_table(seats, t):
    """Take a table without customers out of the list of its node and dish."""
    z, k = seats.node[t], seats.dish[t]
    before = seats.head[z, k]
    if before == t:
        seats.head[z, k] = seats.next[t]
    else:
        while seats.next[before] != t:
            before = seats.next[before]
        seats.next[before] = seats.next[t]


@merged
def leave_table(ws, seats, tau):
    """tau leaves its table, which leaves its own if nobody else sits there, and so on upwards."""
    k, t, left = seats.dish[tau], tau, True
    while left:
        count_customer(ws, seats, ws.parent[seats.node[t]], k, np.int64(-1))
        t = seats.up[t]
        left = False
        if t != NONE:
            seats.size[t] -= 1
            if seats.size[t] == 0:
                close_table(seats, t)
                left = True


@helper
def copy_component(theta, natural, log_f, old, new):
    """theta of column `old` is that of column `new` too."""
    for j in range(theta.shape[1]):
        theta[new, j] = theta[old, j]
    for j in range(natural.shape[1]):
        natural[new, j] = natural[old, j]
    for i in range(log_f.shape[0]):
        log_f[i, new] = log_f[i, old]


@merged
def lose_component(ws, k):
    """Component k is gone."""
    ws.alive[k] = False
    ws.room[FREE_COLUMNS] += 1
    ws.events[COMPONENTS_DIED] += 1


@merged
def set_factors(ws, rates, log_f, i, lone):
    """scratch[FACTOR, k] = prod over S of f(x; theta_k) in units of the largest; 0 where k is not.

    Column 0 is the candidate's, or that of the `lone` component, which is gone meanwhile; the
    finite form has neither.
    """
    top = -math.inf
    for k in range(ws.room[WIDTH]):
        value = log_f[i, lone] if k == 0 and lone != NONE else log_f[i, k]
        there = ws.alive[k] and k != lone and (k > 0 or rates.n_fixed == 0)
        ws.scratch[FACTOR, k] = value if there else -math.inf
        top = max(top, ws.scratch[FACTOR, k])
    for k in range(ws.room[WIDTH]):
        ws.scratch[FACTOR, k] = math.exp(ws.scratch[FACTOR, k] - top)


@helper
def prior_customers(n, z, k, gamma0, n_fixed):
    """Weight of dish k at z: its n customers; at the root gamma0 for a new one, gamma0 / K each."""
    if z == 0 and n_fixed > 0:
        return n + gamma0 / n_fixed if 1 <= k <= n_fixed else 0.0
    return gamma0 if z == 0 and k == 0 else float(n)


@merged
def weigh_nodes(ws, rates, seats, z):
    """kept[0, l] = the weight of all tables at the node of level l above z, kept[1, l] = the sum
    over dishes of customers times likelihood there; returns the sum of kept[0].
    """
    total, share = 0.0, 1.0
    while z > 0:
        z = ws.parent[z]
        here = 0.0
        for k in range(ws.room[WIDTH]):
            n = prior_customers(ws.customers[z, k], z, k, rates.gamma0, rates.n_fixed)
            here += n * ws.scratch[FACTOR, k]
        gamma = rates.gamma if z > 0 else rates.gamma0
        level = ws.level[z]
        ws.kept[1, level] = here
        ws.kept[0, level] = share * here / (seats.totals[z] + gamma)
        share *= gamma / (seats.totals[z] + gamma)
        total += ws.kept[0, level]
    return total


@merged
def draw_node(ws, z, total, rng):
    """The node above z at which tau, or the last of its new tables, finds a table."""
    target = uniform(rng) * total
    z = ws.parent[z]
    while z > 0 and target >= ws.kept[0, ws.level[z]]:
        target -= ws.kept[0, ws.level[z]]
        z = ws.parent[z]
    return z


@merged
def draw_dish(ws, rates, z, rng):
    """k with weight customers times likelihood at z."""
    target, chosen = uniform(rng) * ws.kept[1, ws.level[z]], 0
    for k in range(ws.room[WIDTH]):
        n = prior_customers(ws.customers[z, k], z, k, rates.gamma0, rates.n_fixed)
        weight = n * ws.scratch[FACTOR, k]
        if weight > 0.0:
            chosen = k
            if target < weight:
                break
            target -= weight
    return chosen


@merged
def take_table(ws, seats, tau, z, k, rng):
    """tau, by way of new tables in the nodes between, becomes a customer of dish k at node z."""
    seats.dish[tau] = k
    t, up = tau, ws.parent[seats.node[tau]]
    while up != z:
        count_customer(ws, seats, up, k, np.int64(1))
        seats.up[t] = new_table(seats, up, k)
        t, up = seats.up[t], ws.parent[up]
    seats.up[t] = NONE
    if z > 0:
        target = uniform(rng) * ws.customers[z, k]
        joined = find_table(seats.size, seats.next, seats.head[z, k], target)
        seats.size[joined] += 1
        seats.up[t] = joined
    count_customer(ws, seats, z, k, np.int64(1))


@merged
def redraw_table(ws, rates, seats, tau, log_f, i, theta, natural, rng):
    """One table; returns the component if it was just born, else 0."""
    old = seats.dish[tau]
    leave_table(ws, seats, tau)
    lone = old if rates.n_fixed == 0 and ws.customers[0, old] == 0 else NONE
    set_factors(ws, rates, log_f, i, lone)
    z = draw_node(ws, seats.node[tau], weigh_nodes(ws, rates, seats, seats.node[tau]), rng)
    k, born = draw_dish(ws, rates, z, rng), 0
    if k == 0 and lone != NONE:
        k = lone
    elif k == 0:
        k = born = open_column(ws)
        copy_component(theta, natural, log_f, np.int64(0), k)
    elif lone != NONE:
        copy_component(theta, natural, log_f, lone, np.int64(0))
        lose_component(ws, lone)
    take_table(ws, seats, tau, z, k, rng)
    return born


@compiled
def redraw_tables(ws, rates, seats, order, log_f, start, theta, natural, rng):
    """Tables order[start:] of one level choose anew; log_f[i, k] = sum over the rows below table
    order[i] of log f(x; theta_k).

    Returns (position to go on from, code): a component just born, whose theta was the candidate's,
    so that column 0 needs another; NEEDS_ROOM; or DONE.
    """
    for i in range(start, order.shape[0]):
        if rates.n_fixed == 0 and ws.room[FREE_COLUMNS] == 0:
            return i, NEEDS_ROOM
        born = redraw_table(ws, rates, seats, order[i], log_f, i, theta, natural, rng)
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE


@compiled
def recount(ws, seats, level, leaf, component, table_of):
    """Components of rows, and customers of all nodes, after tables of `level` have chosen anew.

    Tables below have the dish of the table that they sit at.
    """
    for k in range(ws.held.shape[0]):
        ws.held[k] = 0
        for z in range(ws.level.shape[0]):
            ws.customers[z, k] = 0
    for t in range(seats.made[0] - 1, -1, -1):  # a table's own table has a larger number
        if seats.size[t] > 0:
            if ws.level[seats.node[t]] > level:
                seats.dish[t] = seats.dish[seats.up[t]]
            ws.customers[ws.parent[seats.node[t]], seats.dish[t]] += 1
    for i in range(leaf.shape[0]):
        k = seats.dish[table_of[i]]
        component[i] = k
        ws.held[k] += 1
        ws.customers[leaf[i], k] += 1
