"""The slow twin of `kernels`: the same conditionals in plain NumPy. Read this file first.

Same entry points, same arguments, same order of random numbers: from equal workspaces and equal
generators both give the same draws (tests/model/test_twin.py). Nothing here is compiled or tuned:
each datum is really taken out, and all that its draw needs is computed from scratch.
Column 0 of every array over components is the remainder: beta_z0 is beta*_z, f(x; theta_0) is f*.
"""

import numpy as np

from bhmc.likelihoods.slice_sampler import slice_step
from bhmc.model.hdp.density import log_concentrations
from bhmc.model.hdp.reference_dishes import recount, redraw_tables, seat
from bhmc.model.hdp.reference_moves import regraft, relocate
from bhmc.model.hdp.reference_parts import (
    break_component,
    children_of,
    draw_index,
    draw_node_weights,
    drop_empty_nodes,
    exp_within,
    grow_branch,
    nodes_of,
    path_to,
    pick,
    release_component,
    tables_draw,
)
from bhmc.model.hdp.reference_splits import join_cell, split_off, weigh_block
from bhmc.model.hdp.workspace import (
    DEPTH,
    DONE,
    FREE_COLUMNS,
    FREE_SLOTS,
    NEEDS_ROOM,
    NONE,
    PATHS_ACCEPTED,
    WIDTH,
)
from bhmc.priors import FIXED, prior_of

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

# A sum of products below the first may have lost terms that matter, above the second its unit is
# too small: another unit is tried, then logarithms decide.
_TOO_SMALL, _TOO_LARGE = 2.0**-400, 2.0**400
# A concentration beyond these counts as impossible.
_SMALLEST_RATE, _LARGEST_RATE = 1e-100, 1e100


def random_source(rng):
    """What the conditionals here take their random numbers from: the generator itself."""
    return rng


# ---- Path and component of each datum ----------------------------------------------------------


def gibbs_pass(ws, rates, tile, order, start, rng):
    """(v_n, c_n) from their exact joint conditional, of the tile's rows order[start:] in turn.

    Returns (position to go on from, code): a component just born, NEEDS_ROOM or DONE.
    """
    for i in range(start, len(order)):
        if not _has_room(ws, rates):
            return i, NEEDS_ROOM
        n, log_f = order[i], tile.log_f[order[i], : ws.room[WIDTH]]
        leaf, component = tile.leaf[n], tile.component[n]
        units = log_f[component], log_f.max()
        lone = ws.n_under[leaf] == 1 or (not rates.n_fixed and ws.held[component] == 1)
        proposal = None if lone else _masses(ws, rates)[0][0]
        ws.n_under[path_to(ws, leaf)] -= 1
        drop_empty_nodes(ws, leaf)
        _leave_component(ws, rates, component)
        z, k = _draw_place_and_component(ws, rates, log_f, units, proposal, rng)
        ws.events[PATHS_ACCEPTED] += 1
        born = _put_in(ws, rates, tile, n, z, k, z, rng)
        if born:
            return i + 1, born
    return len(order), DONE


def mh_pass(ws, rates, tile, order, start, literal, rng):
    """v_n by Metropolis-Hastings from the nCRP with c_n summed out, then c_n given v_n.

    The proposal is the prior of v_n given the others: accept it with min(1, S_new / S_old).
    `literal` keeps two inexact steps of the published algorithm. Returns what `gibbs_pass` does.
    """
    for i in range(start, len(order)):
        if not _has_room(ws, rates):
            return i, NEEDS_ROOM
        n, log_f = order[i], tile.log_f[order[i], : ws.room[WIDTH]]
        leaf, component = tile.leaf[n], tile.component[n]
        ws.n_under[path_to(ws, leaf)] -= 1
        _leave_component(ws, rates, component, keep=literal)
        new = _propose_leaf(ws, rates, rng)
        log_s = _log_sums(ws, log_f)
        accepted = np.log1p(-rng.random()) < log_s[new] - log_s[leaf]
        leaf, loser = (new, leaf) if accepted else (leaf, new)
        ws.events[PATHS_ACCEPTED] += accepted
        drop_empty_nodes(ws, loser)
        k = draw_index(ws.log_beta[leaf, : ws.room[WIDTH]] + log_f, rng)
        born = _put_in(ws, rates, tile, n, leaf, k, NONE if literal else leaf, rng)
        if born:
            return i + 1, born
    return len(order), DONE


def _draw_place_and_component(ws, rates, log_f, units, proposal, rng):
    """P(c_n = k) ~ f(x_n; theta_k) U_root[k]; then from the root down, at z: child y with
    probability share_y U_y[k] / U_z[k], a new branch below z with alpha beta_zk / U_z[k].

    Returns the leaf, or the inner z with a new branch below it, and k. One random number serves all
    choices: what it leaves over in the entry it falls into is uniform below that entry.
    f is measured in the first of the log `units` in which no product that matters is lost.
    k is proposed with U_root as it was with the datum counted (`proposal`; None: as it is), which
    is larger everywhere, and drawn again where the number lies beyond the true U_root[k].
    """
    U, share = _masses(ws, rates)
    limit = U[0] if proposal is not None else np.full(len(U[0]), np.inf)
    proposal = U[0] if proposal is None else proposal
    for unit in units:
        f = exp_within(log_f - unit)
        with np.errstate(invalid="ignore"):  # inf * 0: too large a unit as well
            total = f @ proposal
        if _TOO_SMALL < total < _TOO_LARGE:
            break
    else:
        return _draw_far(ws, rates, log_f, rng)
    weights = f * proposal
    while True:
        k, left = pick(weights, rng.random() * weights.sum())
        target = left / f[k]
        if target <= limit[k]:
            break
    z = 0
    while ws.level[z] < ws.room[DEPTH]:
        children = children_of(ws, z)
        options = [share[y] * U[y, k] for y in children] + [rates.alpha * ws.beta[z, k]]
        chosen, left = pick(options, target)
        if chosen == len(children):
            break
        z = children[chosen]
        target = left / share[z]
    return z, k


def _masses(ws, rates):
    """U_z = alpha beta_z + sum over children y of share_y U_y, with share_y = N_y / (N_y + alpha);
    at a leaf U_z = beta_z and share_z = N_z.

    U_z[k] / (N_z + alpha) is the probability that a datum at an inner z ends with component k.
    """
    U, share = ws.beta[:, : ws.room[WIDTH]].copy(), ws.n_under.astype(float)
    for z in nodes_of(ws)[::-1]:
        if ws.level[z] < ws.room[DEPTH]:
            U[z] = rates.alpha * U[z] + sum(share[y] * U[y] for y in children_of(ws, z))
            share[z] = ws.n_under[z] / (ws.n_under[z] + rates.alpha)
    return U, share


def _draw_far(ws, rates, log_f, rng):
    """P(z) ~ prod along its path of N_child / (N_parent + alpha), times alpha / (N_z + alpha) where
    z is inner ("a new branch below z"), times S_z; then P(c_n = k | z) ~ beta_zk f(x_n; theta_k).

    The same law as above by logarithms, for a datum so far away that every product underflows.
    """
    log_option = np.where(ws.level >= 0, _log_sums(ws, log_f), -np.inf)
    for z in nodes_of(ws):
        path = path_to(ws, z)
        steps = ws.n_under[path[1:]] / (ws.n_under[path[:-1]] + rates.alpha)
        log_option[z] += np.log(steps).sum()
        if ws.level[z] < ws.room[DEPTH]:
            log_option[z] += np.log(rates.alpha / (ws.n_under[z] + rates.alpha))
    z = draw_index(log_option, rng)
    return z, draw_index(ws.log_beta[z, : ws.room[WIDTH]] + log_f, rng)


def _log_sums(ws, log_f):
    """log S_z of every slot, S_z = sum_k beta_zk f(x_n; theta_k), with beta*_z f*(x_n) in it."""
    return np.logaddexp.reduce(ws.log_beta[:, : ws.room[WIDTH]] + log_f, axis=1)


def _propose_leaf(ws, rates, rng):
    """nCRP: child y with probability N_y / (N_z + alpha), else a new branch from the prior."""
    z = 0
    while ws.level[z] < ws.room[DEPTH]:
        children = children_of(ws, z)
        options = [*ws.n_under[children], rates.alpha]
        chosen, _ = pick(options, rng.random() * (ws.n_under[z] + rates.alpha))
        if chosen == len(children):
            return grow_branch(ws, rates, z, NONE, rng)
        z = children[chosen]
    return z


def _put_in(ws, rates, tile, n, z, k, chosen_at, rng):
    """v_n <- the path to leaf z, or to a new one below inner z; c_n <- k, 0: a new component.

    Returns the component if it was just born, else 0.
    """
    born = k == 0
    if born:
        k = break_component(ws, rates, chosen_at, rng)
    leaf = grow_branch(ws, rates, z, k, rng)
    ws.n_under[path_to(ws, leaf)] += 1
    tile.leaf[n], tile.component[n] = leaf, k
    ws.held[k] += 1
    return k if born else 0


# ---- Weights -----------------------------------------------------------------------------------


def draw_weights(ws, rates, learning, literal, rng):
    """B given V and c: tables m_zk ~ CRT(n_zk, gamma beta_pa,k) bottom-up, then top-down
    beta_root ~ Dir(n_root,1, ..., n_root,K, gamma0), finite form Dir(n_root,k + gamma0 / K), and
    beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa).

    Between the two, what is learned of the concentrations, which are returned: they are drawn given
    the tables, with B integrated out. `literal` draws the weights from raw numbers of data instead
    of tables, as the published algorithm does.
    """
    learned = any(prior[0] != FIXED for prior in learning)
    if learned:
        draw_tables(ws, rates, False, rng)
        rates = _draw_concentrations(ws, rates, learning, rng)
    if literal or not learned:
        draw_tables(ws, rates, literal, rng)
    draw_weights_given_tables(ws, rates, rng)
    return rates


def draw_weights_given_tables(ws, rates, rng):
    """beta_root ~ Dir(n_root,1, ..., n_root,K, gamma0), finite form Dir(n_root,k + gamma0 / K), and
    beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa), top-down.
    """
    _draw_weights_to(ws, rates, ws.room[DEPTH], rng)


def draw_inner_weights(ws, rates, rng):
    """The same of inner nodes only."""
    _draw_weights_to(ws, rates, ws.room[DEPTH] - 1, rng)


def _draw_weights_to(ws, rates, last, rng):
    width = ws.room[WIDTH]
    for z in nodes_of(ws):
        if z > 0:
            prior = rates.gamma * ws.beta[ws.parent[z], :width]
        else:
            prior = np.zeros(width)
            prior[0] = 0.0 if rates.n_fixed else rates.gamma0
            prior[1 : rates.n_fixed + 1] = rates.gamma0 / max(rates.n_fixed, 1)
        if ws.level[z] <= last:
            draw_node_weights(ws, z, prior + ws.customers[z, :width], rng)


def draw_tables(ws, rates, literal, rng):
    """n_zk of inner nodes from those of the leaves: the children's tables, or all their data if
    `literal`.
    """
    customers = ws.customers[:, : ws.room[WIDTH]]
    customers[ws.level < ws.room[DEPTH]] = 0
    for level in range(ws.room[DEPTH], 0, -1):
        for z in np.flatnonzero(ws.level == level):
            up = ws.parent[z]
            for k, n in enumerate(customers[z]):
                a = rates.gamma * ws.beta[up, k]
                customers[up, k] += n if literal else tables_draw(n, a, rng)


def _draw_concentrations(ws, rates, learning, rng):
    """p(alpha | V), p(gamma0 | the root's customers), p(gamma | tables), each times its prior."""
    targets = log_concentrations(
        ws.level, ws.n_under, ws.customers[:, : ws.room[WIDTH]], rates.n_fixed
    )
    for name, target in targets.items():
        prior, x = getattr(learning, name), getattr(rates, name)
        if prior[0] != FIXED:
            rates = rates._replace(**{name: _redraw_rate(target, prior, x, rng)})
    return rates


def _redraw_rate(target, prior, x, rng):
    """x ~ prior(x) exp(target(x)) by a slice of log x (Neal 2003)."""

    def log_p(y):
        if not np.log(_SMALLEST_RATE) < y < np.log(_LARGEST_RATE):
            return -np.inf
        log_density = prior_of(prior).log_density(np.exp(y))
        return -np.inf if log_density == -np.inf else y + log_density + target(np.exp(y))

    return np.exp(slice_step(log_p, np.log(x), -np.log1p(-rng.random()), rng))


# ---- Nodes and components ----------------------------------------------------------------------


def release_empty(ws):
    """Return every component without data to the remainder."""
    for k in np.flatnonzero(ws.alive & (ws.held == 0))[1:]:
        release_component(ws, k)


def _has_room(ws, rates):
    """Whether one more datum can be redrawn."""
    return ws.room[FREE_SLOTS] >= ws.room[DEPTH] and (rates.n_fixed or ws.room[FREE_COLUMNS])


def _leave_component(ws, rates, k, keep=False):
    """A datum leaves component k, which is unborn again if nobody holds it (unless kept)."""
    ws.held[k] -= 1
    if ws.held[k] == 0 and not rates.n_fixed and not keep:
        release_component(ws, k)
