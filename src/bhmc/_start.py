"""Where a chain starts: tree, components and weights from the prior, for any number of data.

The same law as `sample_prior`, by sticks instead of guest after guest: the children that data
choose by a Chinese restaurant process are those of a stick GEM(alpha), so all data of a node choose
at once.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc._prior import check_gamma0, log_dirichlet, log_sticks
from bhmc._state import Hyper, State


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
    return State(
        paths=paths,
        components=np.searchsorted(kept, dishes).astype(np.int32),
        parents=parents,
        log_weights=np.column_stack([log_beta[:, kept], log_rest]),
        theta=np.empty((len(kept), 0)),
        hyper=hyper,
    )


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


def _groups(labels: NDArray) -> list[tuple[int, NDArray[np.int64]]]:
    """(label, its rows) for every label, in order."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    parts = np.split(order, starts[1:])
    return [(int(labels[part[0]]), part) for part in parts]
