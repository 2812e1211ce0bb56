"""Where a chain starts: tree, components and weights, from the prior or from labels of the rows.

From the prior: the same law as `sample_prior`, by sticks instead of guest after guest: the children
that data choose by a Chinese restaurant process are those of a stick GEM(alpha), so all data of a
node choose at once.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.params import hdp_state
from bhmc.model.hdp.simulate import check_gamma0, log_dirichlet, log_sticks
from bhmc.model.state import Hyper, Partition, State


def prior_state(n: int, *, n_levels: int, hyper: Hyper, rng: np.random.Generator) -> State:
    """(V, c, B) from the prior; theta is left empty."""
    check_gamma0(hyper)
    paths, parents = _tree(n, n_levels, hyper.alpha, rng)
    log_beta = _weights(parents, hyper, rng)
    dishes = np.empty(n, dtype=np.int32)
    for leaf, rows in _groups(paths[:, -1]):
        running = np.cumsum(np.exp(log_beta[leaf]))
        dishes[rows] = np.searchsorted(running, rng.random(len(rows)) * running[-1], side="right")
    kept = np.unique(dishes) if hyper.n_components is None else np.arange(hyper.n_components)
    unborn = np.delete(log_beta, kept, axis=1)
    log_rest = np.logaddexp.reduce(unborn, axis=1, initial=-np.inf)
    return hdp_state(
        paths=paths,
        components=np.searchsorted(kept, dishes).astype(np.int32),
        parents=parents,
        log_weights=np.column_stack([log_beta[:, kept], log_rest]),
        theta=np.empty((len(kept), 0)),
        hyper=hyper,
    )


def labelled_state(labels: NDArray[np.integer], *, n_levels: int, hyper: Hyper) -> State:
    """The state whose nodes at level j + 1 are the groups of column j of `labels` (n, m).

    Deeper levels repeat the last column, and its groups are the components. Weights are those that
    the counts alone suggest, for the sampler to redraw; theta is left empty.
    """
    paths = np.zeros((len(labels), n_levels + 1), dtype=np.int32)
    parents, n_nodes = [np.array([-1], dtype=np.int32)], 1
    components = paths[:, 0]
    for level in range(1, n_levels + 1):
        column = labels[:, min(level, labels.shape[1]) - 1]
        groups = np.unique(column)
        components = np.searchsorted(groups, column).astype(np.int32)
        paths[:, level] = components
        paths[:, level] += n_nodes
        parents.append(np.zeros(len(groups), dtype=np.int32))
        parents[-1][components] = paths[:, level - 1]  # the same for all rows of a group
        n_nodes += len(groups)
    k = int(components.max()) + 1 if hyper.n_components is None else hyper.n_components
    all_parents = np.concatenate(parents)
    return hdp_state(
        paths=paths,
        components=components,
        parents=all_parents,
        log_weights=_weights_by_counts(paths, components, all_parents, k, hyper),
        theta=np.empty((k, 0)),
        hyper=hyper,
    )


def placed_state(partition: Partition, like: State) -> State:
    """The state of a partition at the concentrations and shared numbers of a draw.

    Weights are those that the counts alone suggest, for the sampler to redraw; theta is left empty.
    """
    paths, components = partition.paths(like.n_levels), partition.component.astype(np.int32)
    k = like.hyper.n_components or int(components.max()) + 1
    log_weights = _weights_by_counts(paths, components, partition.parents, k, like.hyper)
    theta = np.empty((k, 0))
    return hdp_state(
        paths, components, partition.parents, log_weights, theta, like.hyper, like.shared
    )


def _weights_by_counts(paths, components, parents, k: int, hyper: Hyper) -> NDArray[np.float64]:
    """(nodes, K + 1) log of (n_zk + gamma beta_pa,k; gamma beta*_pa) over its sum."""
    counts = np.zeros((len(parents), k + 1))
    for nodes in paths.T:
        np.add.at(counts, (nodes, components), 1.0)
    if hyper.n_components is None:
        counts[0, -1] = hyper.gamma0
    else:
        counts[0, :-1] += hyper.gamma0 / k
    weights = counts
    weights[0] /= weights[0].sum()
    for z in range(1, len(parents)):
        weights[z] += hyper.gamma * weights[parents[z]]
        weights[z] /= weights[z].sum()
    with np.errstate(divide="ignore"):  # no remainder in the finite form
        return np.log(weights)


def _tree(n: int, n_levels: int, alpha: float, rng) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(paths, parents) of the nested Chinese restaurant process, level by level."""
    paths = np.zeros((n, n_levels + 1), dtype=np.int32)
    parents = [-1]
    for level in range(n_levels):
        for node, rows in _groups(paths[:, level]):
            pieces = _stick_choices(len(rows), alpha, rng)
            chosen = np.bincount(pieces) > 0
            first = len(parents)
            paths[rows, level + 1] = (first - 1 + np.cumsum(chosen, dtype=np.int32))[pieces]
            parents += [node] * int(chosen.sum())
    return paths, np.array(parents, dtype=np.int32)


def _stick_choices(size: int, concentration: float, rng) -> NDArray[np.int64]:
    """i_1, ..., i_size ~ pi, pi ~ GEM(concentration).

    The pieces after j breaks are shorter than exp(-(E_1 + ... + E_j) / concentration) in all, with
    E exponential; so the piece that holds U is the number of breaks it takes to fall below U.
    """
    depth = rng.standard_exponential(size)
    breaks = np.empty(0)
    while not len(breaks) or breaks[-1] <= depth.max():
        more = rng.standard_exponential(16 + int(concentration)) / concentration
        breaks = np.append(breaks, (breaks[-1] if len(breaks) else 0.0) + np.cumsum(more))
    return np.searchsorted(breaks, depth, side="right")


def _weights(parents: NDArray[np.int32], hyper: Hyper, rng) -> NDArray[np.float64]:
    """(nodes, sticks) log beta: the root's sticks or Dir(gamma0 / K), then Dir(gamma beta_pa)."""
    k = hyper.n_components
    if k is None:
        root = log_sticks(hyper.gamma0, rng)
    else:
        root = log_dirichlet(np.full(k, np.log(hyper.gamma0) - np.log(k)), rng)
    log_beta = np.empty((len(parents), len(root)))
    log_beta[0] = root
    for z in range(1, len(parents)):
        log_beta[z] = log_dirichlet(np.log(hyper.gamma) + log_beta[parents[z]], rng)
    return log_beta


def prior_partition(
    n: int, *, n_levels: int, hyper: Hyper, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(paths, components) from the prior, the weights B integrated out.

    A Chinese restaurant franchise: a leaf's data sit down at tables by CRP(gamma), the tables of a
    node's children do so at that node, and at the root what sits there chooses components by
    CRP(gamma0), or by beta ~ Dir(gamma0 / K) in the finite form. Its cost does not grow with
    nodes times components, as that of `prior_state` does. Components are numbered from 0.
    """
    paths, parents = _tree(n, n_levels, hyper.alpha, rng)
    guest_of, nodes = np.arange(n), paths[:, -1]
    for _ in range(n_levels):
        table_of, nodes = _seat(nodes, hyper.gamma, rng)
        guest_of, nodes = table_of[guest_of], parents[nodes]
    k = hyper.n_components
    if k is None:
        dishes = _stick_choices(len(nodes), hyper.gamma0, rng)
    else:
        beta = np.exp(log_dirichlet(np.full(k, np.log(hyper.gamma0) - np.log(k)), rng))
        dishes = rng.choice(k, len(nodes), p=beta / beta.sum())
    return paths, np.unique(dishes[guest_of], return_inverse=True)[1]


def _seat(nodes: NDArray, gamma: float, rng) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(table of each guest, node of each table): CRP(gamma) within every node."""
    tables, node_of = np.empty(len(nodes), dtype=np.int64), []
    for node, guests in _groups(nodes):
        if len(guests) == 1:  # most nodes of a bushy tree
            tables[guests] = len(node_of)
            node_of.append(node)
            continue
        found, at = np.unique(_stick_choices(len(guests), gamma, rng), return_inverse=True)
        tables[guests] = len(node_of) + at
        node_of += [node] * len(found)
    return tables, np.array(node_of)


def _groups(labels: NDArray) -> list[tuple[int, NDArray[np.int64]]]:
    """(label, its rows) for every label, in order."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    parts = np.split(order, starts[1:])
    return [(int(labels[part[0]]), part) for part in parts]
