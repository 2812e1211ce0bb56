"""The slow twin of `_kernels`: the same conditionals in plain NumPy. Read this file first.

Same entry points, same arguments, same order of random numbers: from equal workspaces and equal
generators both give the same draws (tests/test_twin.py). Nothing here is compiled or tuned.
"""

import numpy as np

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


def gibbs_pass(ws, rates, order, start, rng):
    """(v_n, c_n) from their exact joint conditional, one datum after the other."""
    for i, n in enumerate(order[start:], start):
        if not _has_room(ws, rates):
            return i, NEEDS_ROOM
        _subtract(ws, n)
        _drop_empty_nodes(ws, ws.path[n])
        _release_if_lone(ws, ws.component[n], rates)
        z = _draw_index(_log_options(ws, rates, n), rng)
        k = _draw_index(_log_joint_with_component(ws, n)[z], rng)
        born = k == len(ws.held)
        if born:
            k = break_component(ws, rates, z, rng)
        _add(ws, n, _grow_branch(ws, rates, z, k, rng), k)
        ws.events[PATHS_ACCEPTED] += 1
        if born:
            return i + 1, k
    return len(order), DONE


def mh_pass(ws, rates, order, start, literal, rng):
    """v_n by Metropolis-Hastings from the nCRP with c_n summed out, then c_n given v_n."""
    for i, n in enumerate(order[start:], start):
        if not _has_room(ws, rates):
            return i, NEEDS_ROOM
        old_path = ws.path[n].copy()
        _subtract(ws, n)
        if not literal:
            _release_if_lone(ws, ws.component[n], rates)
        new_path = _path_to(ws, _propose_leaf(ws, rates, rng))
        log_s = np.logaddexp.reduce(_log_joint_with_component(ws, n), axis=1)
        if np.log1p(-rng.random()) < log_s[new_path[-1]] - log_s[old_path[-1]]:
            kept, dropped = new_path, old_path
            ws.events[PATHS_ACCEPTED] += 1
        else:
            kept, dropped = old_path, new_path
        _drop_empty_nodes(ws, dropped)
        k = _draw_index(_log_joint_with_component(ws, n)[kept[-1]], rng)
        born = k == len(ws.held)
        if born:
            k = break_component(ws, rates, _NONE if literal else kept[-1], rng)
        _add(ws, n, kept[-1], k)
        if born:
            return i + 1, k
    return len(order), DONE


def draw_weights(ws, rates, literal, rng):
    """B given V and c: tables m_zk ~ CRT(n_zk, gamma beta_pa,k) bottom-up, Dirichlets top-down."""
    customers = np.zeros(ws.log_beta.shape)
    np.add.at(customers, (ws.path[:, -1], ws.component), 1)
    for z in _nodes_by_level(ws, bottom_up=True)[:-1]:
        up = ws.parent[z]
        prior = rates.gamma * np.exp(ws.log_beta[up])
        for k, seated in enumerate(customers[z]):
            customers[up, k] += seated if literal else _draw_tables(int(seated), prior[k], rng)
    for z in _nodes_by_level(ws):
        with np.errstate(divide="ignore"):  # log 0 = -inf is what an empty seat adds
            log_customers = np.log(np.append(customers[z], 0))
        log_shapes = np.logaddexp(_log_prior_shapes(ws, rates, z), log_customers)
        log_w = _draw_log_dirichlet(log_shapes, rng)
        ws.log_beta[z], ws.log_rest[z] = log_w[:-1], log_w[-1]


def break_component(ws, rates, chosen_at, rng):
    """Split every remainder top-down; +1 on the path of the datum that has just chosen it."""
    k = int(np.flatnonzero(~ws.alive)[0])
    ws.alive[k] = True
    ws.events[COMPONENTS_BORN] += 1
    on_path = _path_to(ws, chosen_at) if chosen_at >= 0 else []
    for z in _nodes_by_level(ws):
        if z == 0:
            log_shapes = np.log([1.0, rates.gamma0])
        else:
            up = ws.parent[z]
            log_shapes = np.log(rates.gamma) + np.array([ws.log_beta[up, k], ws.log_rest[up]])
            if z in on_path:
                log_shapes[0] = np.logaddexp(log_shapes[0], 0.0)
        log_u = _draw_log_dirichlet(log_shapes, rng)
        ws.log_beta[z, k] = ws.log_rest[z] + log_u[0]
        ws.log_rest[z] += log_u[1]
    return k


def release_empty(ws):
    """Return every component without data to the remainder."""
    for k in np.flatnonzero(ws.alive & (ws.held == 0)):
        _release_component(ws, k)


def _log_joint_with_component(ws, n):
    """(slots, K + 1): log beta_zk f(x_n; theta_k), and last log beta*_z f*(x_n)."""
    log_f = np.append(ws.log_f[n], ws.log_f_new[n])
    return np.column_stack([ws.log_beta, ws.log_rest]) + log_f


def _log_options(ws, rates, n):
    """(slots,): a leaf with its path's probability, an inner node with "new branch below it"."""
    log_s = np.logaddexp.reduce(_log_joint_with_component(ws, n), axis=1)
    log_option = np.full(len(ws.level), -np.inf)
    for z in np.flatnonzero(ws.level >= 0):
        path = _path_to(ws, z)
        steps = ws.n_under[path[1:]] / (ws.n_under[path[:-1]] + rates.alpha)
        log_option[z] = np.log(steps).sum() + log_s[z]
        if ws.level[z] < ws.path.shape[1] - 1:
            log_option[z] += np.log(rates.alpha / (ws.n_under[z] + rates.alpha))
    return log_option


def _propose_leaf(ws, rates, rng):
    """Walk down: child y with probability N_y / (N_z + alpha), else a new branch from the prior."""
    z = 0
    while ws.level[z] < ws.path.shape[1] - 1:
        children = np.flatnonzero(ws.parent == z)
        edges = np.cumsum(ws.n_under[children])
        target = rng.random() * (ws.n_under[z] + rates.alpha)
        chosen = np.searchsorted(edges, target, side="right")
        if chosen == len(children):
            return _grow_branch(ws, rates, z, _NONE, rng)
        z = children[chosen]
    return z


def _grow_branch(ws, rates, z, k, rng):
    """New nodes below z down to a leaf: beta ~ Dir(gamma beta_pa + e_k), k = -1 for no datum."""
    while ws.level[z] < ws.path.shape[1] - 1:
        child = int(np.flatnonzero(ws.level < 0)[0])
        ws.parent[child], ws.level[child], ws.n_under[child] = z, ws.level[z] + 1, 0
        ws.events[NODES_BORN] += 1
        log_shapes = _log_prior_shapes(ws, rates, child)
        if k >= 0:
            log_shapes[k] = np.logaddexp(log_shapes[k], 0.0)
        log_w = _draw_log_dirichlet(log_shapes, rng)
        ws.log_beta[child], ws.log_rest[child] = log_w[:-1], log_w[-1]
        z = child
    return z


def _log_prior_shapes(ws, rates, z):
    """Log shapes of beta_z before any customer, the remainder last."""
    columns = len(ws.held)
    if z > 0:
        up = ws.parent[z]
        return np.log(rates.gamma) + np.append(ws.log_beta[up], ws.log_rest[up])
    if rates.n_fixed:
        return np.append(np.full(columns, np.log(rates.gamma0) - np.log(rates.n_fixed)), -np.inf)
    return np.append(np.full(columns, -np.inf), np.log(rates.gamma0))


def _nodes_by_level(ws, bottom_up=False):
    """Slots in use, parents before children (or after), slots of one level in order."""
    slots = np.flatnonzero(ws.level >= 0)
    key = -ws.level[slots] if bottom_up else ws.level[slots]
    return slots[np.argsort(key, kind="stable")]


def _path_to(ws, z):
    path = [z]
    while ws.parent[path[-1]] >= 0:
        path.append(ws.parent[path[-1]])
    return np.array(path[::-1])


def _has_room(ws, rates):
    enough_slots = (ws.level < 0).sum() >= ws.path.shape[1] - 1
    return enough_slots and (rates.n_fixed > 0 or not ws.alive.all())


def _subtract(ws, n):
    ws.held[ws.component[n]] -= 1
    ws.n_under[ws.path[n]] -= 1


def _add(ws, n, leaf, k):
    ws.component[n] = k
    ws.held[k] += 1
    ws.path[n] = _path_to(ws, leaf)
    ws.n_under[ws.path[n]] += 1


def _drop_empty_nodes(ws, path):
    empty = [z for z in path[1:] if ws.n_under[z] == 0]
    ws.level[empty] = -1
    ws.parent[empty] = -1
    ws.log_beta[empty] = -np.inf
    ws.log_rest[empty] = -np.inf
    ws.events[NODES_DIED] += len(empty)


def _release_if_lone(ws, k, rates):
    if not rates.n_fixed and ws.held[k] == 0:
        _release_component(ws, k)


def _release_component(ws, k):
    ws.log_rest[:] = np.logaddexp(ws.log_rest, ws.log_beta[:, k])
    ws.log_beta[:, k] = -np.inf
    ws.alive[k] = False
    ws.events[COMPONENTS_DIED] += 1


def _draw_index(log_weights, rng):
    """P(i) proportional to exp(log_weights[i])."""
    cumulative = np.cumsum(np.exp(log_weights - log_weights.max()))
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def _draw_tables(customers, concentration, rng):
    """CRT(n, a): the first customer opens a table, customer i + 1 with probability a / (a + i)."""
    if customers == 0:
        return 0
    i = np.arange(1, customers)
    return 1 + int((rng.random(customers - 1) * (concentration + i) < concentration).sum())


def _draw_log_gamma(log_shape, rng):
    """log G(a) = log G(a + 1) + log(U) / a below shape 1."""
    shape = np.exp(log_shape)
    if shape == 0:
        return -np.inf
    if shape >= 1:
        return np.log(rng.standard_gamma(shape))
    with np.errstate(over="ignore"):  # a shape of 1e-310 gives weight 0
        return np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential() / shape


def _draw_log_dirichlet(log_shapes, rng):
    """log Dir(exp(log_shapes)), with the limits of vanishing shapes."""
    log_g = np.array([_draw_log_gamma(a, rng) for a in log_shapes])
    if log_g.max() > -np.inf:
        return log_g - np.logaddexp.reduce(log_g)
    result = np.full(len(log_shapes), -np.inf)
    if log_shapes.max() > -np.inf:
        result[_draw_index(log_shapes, rng)] = 0.0
    return result
