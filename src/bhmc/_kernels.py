"""All compiled sampler code, a section per conditional.

One file on purpose: Numba's disk cache does not notice edits to a helper in another file.
The same conditionals in plain NumPy, easier to read, are in `_reference`; both give the same draws.
Symbols are those of the paper: beta_z weights of node z, beta*_z its remainder, N_z its data,
f and f* the likelihoods under a component and under one not yet born. Every weight is a logarithm.

Kernels never see the likelihood family. When a datum founds a component a pass stops and returns,
so that the caller can draw the new theta and fill its column of `log_f`; then the pass goes on.
"""

import math

import numpy as np

from bhmc._compile import compiled
from bhmc._workspace import (
    COMPONENTS_BORN,
    COMPONENTS_DIED,
    DONE,
    NEEDS_ROOM,
    NODES_BORN,
    NODES_DIED,
    PATHS_ACCEPTED,
)

_NONE = -1


# ------------------------------------------------------------------------------------------------
# Draws from named distributions, in log space
# ------------------------------------------------------------------------------------------------


@compiled
def draw_index(log_weights, rng):
    """P(i) proportional to exp(log_weights[i])."""
    top = log_weights.max()
    total = 0.0
    for i in range(log_weights.shape[0]):
        total += math.exp(log_weights[i] - top)
    target = rng.random() * total
    running = 0.0
    last = 0
    for i in range(log_weights.shape[0]):
        weight = math.exp(log_weights[i] - top)
        if weight > 0.0:
            running += weight
            last = i
            if running > target:
                break
    return last


@compiled
def log_gamma_draw(log_shape, rng):
    """log G with G ~ Gamma(a), a = exp(log_shape); exact where G itself underflows.

    Below shape 1: log G(a) = log G(a + 1) + log(U) / a, and -log U is an exponential.
    """
    shape = math.exp(log_shape)
    if shape == 0.0:
        return -math.inf
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@compiled
def log_dirichlet_draw(log_shapes, rng):
    """log w with w ~ Dir(exp(log_shapes)), in place.

    Where every gamma draw underflows the limit is taken: all weight on entry i with probability
    proportional to its shape. Where every shape is 0 every weight is 0 (a zero remainder split).
    """
    log_w = np.empty_like(log_shapes)
    top = -math.inf
    for i in range(log_shapes.shape[0]):
        log_w[i] = log_gamma_draw(log_shapes[i], rng)
        top = max(top, log_w[i])
    if top > -math.inf:
        total = 0.0
        for i in range(log_w.shape[0]):
            total += math.exp(log_w[i] - top)
        log_shapes[:] = log_w - (top + math.log(total))
    elif log_shapes.max() > -math.inf:
        chosen = draw_index(log_shapes, rng)
        log_shapes[:] = -math.inf
        log_shapes[chosen] = 0.0


@compiled
def tables_draw(customers, concentration, rng):
    """CRT(n, a) = sum over i = 0..n-1 of Bernoulli(a / (a + i)); CRT(n >= 1, 0) = 1."""
    if customers == 0:
        return 0
    tables = 1
    for i in range(1, customers):
        if rng.random() * (concentration + i) < concentration:
            tables += 1
    return tables


@compiled
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    top = max(a, b)
    if top == -math.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


# ------------------------------------------------------------------------------------------------
# Tree and component bookkeeping
# ------------------------------------------------------------------------------------------------


@compiled
def has_room(ws, rates):
    """Whether one more datum can be redrawn: L free slots; a free column in the infinite form."""
    free = 0
    for z in range(ws.level.shape[0]):
        if ws.level[z] < 0:
            free += 1
    return free >= ws.path.shape[1] - 1 and (rates.n_fixed > 0 or not ws.alive.all())


@compiled
def open_node(ws, parent):
    """Take the first free slot for a child of `parent`; its weights are still to be drawn."""
    z = 0
    while ws.level[z] >= 0:
        z += 1
    ws.parent[z] = parent
    ws.level[z] = ws.level[parent] + 1
    ws.n_under[z] = 0
    ws.events[NODES_BORN] += 1
    return z


@compiled
def drop_empty_nodes(ws, leaf):
    """Delete the nodes without data between `leaf` and the root, with their weights."""
    z = leaf
    while ws.level[z] > 0 and ws.n_under[z] == 0:
        parent = ws.parent[z]
        ws.level[z] = -1
        ws.parent[z] = -1
        ws.log_beta[z, :] = -math.inf
        ws.log_rest[z] = -math.inf
        ws.events[NODES_DIED] += 1
        z = parent


@compiled
def subtract(ws, n):
    """Take datum n out of the counts of its path and component."""
    ws.held[ws.component[n]] -= 1
    for level in range(ws.path.shape[1]):
        ws.n_under[ws.path[n, level]] -= 1


@compiled
def add(ws, n, leaf, k):
    """Put datum n at `leaf` with component k."""
    ws.component[n] = k
    ws.held[k] += 1
    z = leaf
    for level in range(ws.path.shape[1] - 1, -1, -1):
        ws.path[n, level] = z
        ws.n_under[z] += 1
        z = ws.parent[z]


@compiled
def release_component(ws, k):
    """beta*_z <- beta*_z + beta_zk at every node: component k is unborn again."""
    for z in range(ws.level.shape[0]):
        if ws.level[z] >= 0:
            ws.log_rest[z] = log_add(ws.log_rest[z], ws.log_beta[z, k])
            ws.log_beta[z, k] = -math.inf
    ws.alive[k] = False
    ws.events[COMPONENTS_DIED] += 1


@compiled
def release_if_lone(ws, k, rates):
    """A component nobody holds returns to the remainder BEFORE its last datum is redrawn."""
    if rates.n_fixed == 0 and ws.held[k] == 0:
        release_component(ws, k)


@compiled
def release_empty(ws):
    """Return every component without data to the remainder (the end of the published sweep)."""
    for k in range(ws.alive.shape[0]):
        if ws.alive[k] and ws.held[k] == 0:
            release_component(ws, k)


# ------------------------------------------------------------------------------------------------
# Likelihood of a datum at a node, and its component there
# ------------------------------------------------------------------------------------------------


@compiled
def log_likelihood_at(ws, z, n):
    """log S_z = log( sum_k beta_zk f(x_n; theta_k) + beta*_z f*(x_n) )."""
    top = ws.log_rest[z] + ws.log_f_new[n]
    for k in range(ws.held.shape[0]):
        if ws.alive[k]:
            top = max(top, ws.log_beta[z, k] + ws.log_f[n, k])
    if top == -math.inf:
        return top
    total = math.exp(ws.log_rest[z] + ws.log_f_new[n] - top)
    for k in range(ws.held.shape[0]):
        if ws.alive[k]:
            total += math.exp(ws.log_beta[z, k] + ws.log_f[n, k] - top)
    return top + math.log(total)


@compiled
def draw_component(ws, z, n, rng):
    """P(c_n = k | z) proportional to beta_zk f(x_n; theta_k); new: beta*_z f*(x_n) (returns -1)."""
    columns = ws.held.shape[0]
    log_w = np.empty(columns + 1)
    for k in range(columns):
        log_w[k] = ws.log_beta[z, k] + ws.log_f[n, k]
    log_w[columns] = ws.log_rest[z] + ws.log_f_new[n]
    k = draw_index(log_w, rng)
    return k if k < columns else _NONE


# ------------------------------------------------------------------------------------------------
# A new component, and the weights of new nodes
# ------------------------------------------------------------------------------------------------


@compiled
def break_component(ws, rates, chosen_at, rng):
    """Split every remainder top-down: beta_z,new = u_z beta*_z and beta*_z <- (1 - u_z) beta*_z.

    Root: u ~ Beta(1, gamma0). Nodes on the path root..chosen_at:
    u ~ Beta(gamma beta_pa,new + 1, gamma beta*_pa), for the datum there has just chosen it.
    All others: u ~ Beta(gamma beta_pa,new, gamma beta*_pa). `chosen_at` -1: nobody chose it.
    Returns the column of the new component.
    """
    k = 0
    while ws.alive[k]:
        k += 1
    ws.alive[k] = True
    ws.events[COMPONENTS_BORN] += 1
    on_path = np.zeros(ws.level.shape[0], dtype=np.bool_)
    z = chosen_at
    while z >= 0:
        on_path[z] = True
        z = ws.parent[z]
    log_gamma = math.log(rates.gamma)
    pair = np.empty(2)
    for level in range(ws.path.shape[1]):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                pair[0] = 0.0
                pair[1] = math.log(rates.gamma0)
            else:
                pair[0] = log_gamma + ws.log_beta[ws.parent[z], k]
                pair[1] = log_gamma + ws.log_rest[ws.parent[z]]
                if on_path[z]:
                    pair[0] = log_add(pair[0], 0.0)
            log_dirichlet_draw(pair, rng)
            ws.log_beta[z, k] = ws.log_rest[z] + pair[0]
            ws.log_rest[z] += pair[1]
    return k


@compiled
def draw_child_weights(ws, rates, z, k, rng):
    """beta_z ~ Dir(gamma beta_pa + e_k): the node's only datum chose k; k = -1: no datum yet."""
    columns = ws.held.shape[0]
    parent = ws.parent[z]
    log_gamma = math.log(rates.gamma)
    log_w = np.empty(columns + 1)
    for j in range(columns):
        log_w[j] = log_gamma + ws.log_beta[parent, j]
    log_w[columns] = log_gamma + ws.log_rest[parent]
    if k >= 0:
        log_w[k] = log_add(log_w[k], 0.0)
    log_dirichlet_draw(log_w, rng)
    ws.log_beta[z, :] = log_w[:columns]
    ws.log_rest[z] = log_w[columns]


@compiled
def grow_branch(ws, rates, z, k, rng):
    """New nodes from below z down to a leaf, their weights drawn top-down; returns the leaf."""
    while ws.level[z] < ws.path.shape[1] - 1:
        z = open_node(ws, z)
        draw_child_weights(ws, rates, z, k, rng)
    return z


# ------------------------------------------------------------------------------------------------
# One datum by path Gibbs
# ------------------------------------------------------------------------------------------------


@compiled
def draw_place(ws, rates, n, rng):
    """Where datum n (taken out) goes: one option per node, c_n and unseen weights summed out.

    A leaf z: P proportional to prod along its path of N_child / (N_parent + alpha), times S_z.
    An inner z, "a new branch below z": the product along the path to z, times
    alpha / (N_z + alpha), times S_z, because E[beta_new] = beta_z at every new level.
    """
    slots = ws.level.shape[0]
    depth = ws.path.shape[1] - 1
    log_path = np.empty(slots)
    log_option = np.full(slots, -math.inf)
    for level in range(depth + 1):
        for z in range(slots):
            if ws.level[z] != level:
                continue
            if level == 0:
                log_path[z] = 0.0
            else:
                up = ws.parent[z]
                log_path[z] = log_path[up] + math.log(
                    ws.n_under[z] / (ws.n_under[up] + rates.alpha)
                )
            log_option[z] = log_path[z] + log_likelihood_at(ws, z, n)
            if level < depth:
                log_option[z] += math.log(rates.alpha / (ws.n_under[z] + rates.alpha))
    return draw_index(log_option, rng)


@compiled
def gibbs_pass(ws, rates, order, start, rng):
    """(v_n, c_n) from their exact joint conditional, for each datum of `order` from `start` on.

    Returns (position to go on from, code): a component just born, NEEDS_ROOM or DONE.
    """
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        n = order[i]
        subtract(ws, n)
        drop_empty_nodes(ws, ws.path[n, -1])
        release_if_lone(ws, ws.component[n], rates)
        z = draw_place(ws, rates, n, rng)
        k = draw_component(ws, z, n, rng)
        born = k == _NONE
        if born:
            k = break_component(ws, rates, z, rng)
        add(ws, n, grow_branch(ws, rates, z, k, rng), k)
        ws.events[PATHS_ACCEPTED] += 1
        if born:
            return i + 1, k
    return order.shape[0], DONE


# ------------------------------------------------------------------------------------------------
# One datum by Metropolis-Hastings from the nested Chinese restaurant process
# ------------------------------------------------------------------------------------------------


@compiled
def propose_leaf(ws, rates, rng):
    """A path from the nCRP given the other data: child y with N_y, a new child with alpha.

    New nodes draw their weights from the prior, Dir(gamma beta_pa). Returns the leaf.
    """
    z = 0
    while ws.level[z] < ws.path.shape[1] - 1:
        target = rng.random() * (ws.n_under[z] + rates.alpha)
        child = _NONE
        for y in range(ws.level.shape[0]):
            if ws.parent[y] == z:
                target -= ws.n_under[y]
                if target < 0.0:
                    child = y
                    break
        if child == _NONE:
            return grow_branch(ws, rates, z, _NONE, rng)
        z = child
    return z


@compiled
def mh_pass(ws, rates, order, start, literal, rng):
    """v_n by Metropolis-Hastings with c_n summed out, then c_n, for each datum from `start` on.

    Accept the proposed leaf with min(1, S_new / S_old): the proposal is the prior conditional, so
    all nCRP terms cancel. `literal` keeps two inexact steps of the published algorithm: a lone
    component is not released, and a new component is broken as if nobody had chosen it.
    Returns as `gibbs_pass` does.
    """
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        n = order[i]
        old = ws.path[n, -1]
        subtract(ws, n)
        if not literal:
            release_if_lone(ws, ws.component[n], rates)
        new = propose_leaf(ws, rates, rng)
        log_ratio = log_likelihood_at(ws, new, n) - log_likelihood_at(ws, old, n)
        if math.log1p(-rng.random()) < log_ratio:
            leaf, loser = new, old
            ws.events[PATHS_ACCEPTED] += 1
        else:
            leaf, loser = old, new
        drop_empty_nodes(ws, loser)
        k = draw_component(ws, leaf, n, rng)
        born = k == _NONE
        if born:
            k = break_component(ws, rates, _NONE if literal else leaf, rng)
        add(ws, n, leaf, k)
        if born:
            return i + 1, k
    return order.shape[0], DONE


# ------------------------------------------------------------------------------------------------
# Weights of all nodes, jointly
# ------------------------------------------------------------------------------------------------


@compiled
def count_customers(ws, rates, literal, rng):
    """n_zk, bottom-up: data at a leaf; at an inner node the sum of its children's tables.

    m_zk ~ CRT(n_zk, gamma beta_pa,k) with the current parent weights. `literal` passes the raw
    numbers of data upwards instead, as the published algorithm does.
    """
    customers = np.zeros(ws.log_beta.shape, dtype=np.int64)
    for n in range(ws.path.shape[0]):
        customers[ws.path[n, -1], ws.component[n]] += 1
    for level in range(ws.path.shape[1] - 1, 0, -1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            up = ws.parent[z]
            for k in range(ws.held.shape[0]):
                tables = customers[z, k]
                if not literal:
                    tables = tables_draw(tables, rates.gamma * math.exp(ws.log_beta[up, k]), rng)
                customers[up, k] += tables
    return customers


@compiled
def draw_weights(ws, rates, literal, rng):
    """B given V and c: tables bottom-up, then weights top-down.

    beta_root ~ Dir(n_root,1, ..., n_root,K, gamma0), in the finite form Dir(n_root,k + gamma0 / K);
    beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa).
    """
    customers = count_customers(ws, rates, literal, rng)
    columns = ws.held.shape[0]
    log_gamma = math.log(rates.gamma)
    log_w = np.empty(columns + 1)
    for level in range(ws.path.shape[1]):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                set_root_shapes(ws, rates, log_w)
            else:
                log_w[:columns] = log_gamma + ws.log_beta[ws.parent[z]]
                log_w[columns] = log_gamma + ws.log_rest[ws.parent[z]]
            for k in range(columns):
                if customers[z, k] > 0:
                    log_w[k] = log_add(log_w[k], math.log(customers[z, k]))
            log_dirichlet_draw(log_w, rng)
            ws.log_beta[z, :] = log_w[:columns]
            ws.log_rest[z] = log_w[columns]


@compiled
def set_root_shapes(ws, rates, log_shapes):
    """Log shapes of the root before any customer: (0, ..., 0, gamma0), or gamma0 / K each."""
    if rates.n_fixed == 0:
        log_shapes[:-1] = -math.inf
        log_shapes[-1] = math.log(rates.gamma0)
    else:
        log_shapes[:-1] = math.log(rates.gamma0) - math.log(rates.n_fixed)
        log_shapes[-1] = -math.inf
