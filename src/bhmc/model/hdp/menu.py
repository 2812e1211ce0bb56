"""The menu of the hdp transition: what a row may choose when all rows choose at once.

Plain NumPy, but for the alias tables: the tree is small beside the rows.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.workspace import DEPTH, NONE, Workspace
from bhmc.model.leaf_shares import log_gamma_draws, log_products
from bhmc.rows.kernels import alias_tables
from bhmc.rows.protocol import Menu


def log_leaf_shares(ws: Workspace, alpha: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """(slots,) log w_z: at every inner node w ~ Dir(N_child1, ..., N_childm, alpha), multiplied
    along the path; the share of a new branch is dropped.

    Parameters
    ----------
    ws : Workspace
        The tree and the number of data under each node.
    alpha : float
        How readily data open new branches.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    exists = ws.level >= 0
    log_gammas = log_gamma_draws(np.where(exists, ws.n_under, 0), rng)
    log_new = log_gamma_draws(np.where(exists, alpha, 0.0), rng)
    return log_products(ws.parent, ws.level, log_gammas, log_new)


def make_menu(
    ws: Workspace,
    natural: NDArray[np.float64],
    opened: tuple[NDArray[np.int64], NDArray[np.int64]],
    alpha: float,
    anchor_rate: float,
    rng: np.random.Generator,
) -> Menu:
    """The open leaves times the open components, (leaf, k) with weight w_leaf beta_leaf,k.

    Parameters
    ----------
    ws : Workspace
        Tree and weights.
    natural : (columns, s) array
        Natural parameters of the components by column.
    opened : (leaves, components)
        Slots and columns that anchors occupy: what `Rows.anchored` returned.
    alpha : float
        How readily data open new branches.
    anchor_rate : float
        The probability with which a row is an anchor.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    leaves, columns = (np.asarray(part, dtype=np.int64) for part in opened)
    log_w = log_leaf_shares(ws, alpha, rng)[leaves]
    log_cells = log_w[:, None] + ws.log_beta[np.ix_(leaves, columns)]  # (M, A)
    log_weight = np.logaddexp.reduce(log_cells, axis=0)
    cells = np.where(np.isfinite(log_weight), log_cells - log_cells.max(axis=0), 0.0)
    accept, alias = alias_tables(np.exp(cells).T)
    return Menu(
        natural=natural[columns],
        columns=columns,
        log_weight=log_weight,
        leaves=leaves,
        accept=accept,
        alias=alias,
        anchor_rate=anchor_rate,
    )


def count_under(ws: Workspace, counts: NDArray[np.int64]) -> None:
    """N_z of every node and the size of every component, from the counts of leaves; in place.

    Parameters
    ----------
    ws : Workspace
        Whose `n_under` and `held` are written.
    counts : (slots, columns) array
        Rows at each leaf in each component: `Totals.counts`.
    """
    ws.held[:] = counts.sum(axis=0)
    ws.n_under[:] = counts.sum(axis=1)
    for level in range(int(ws.room[DEPTH]), 0, -1):
        at_level = np.flatnonzero(ws.level == level)
        assert (ws.parent[at_level] != NONE).all()
        np.add.at(ws.n_under, ws.parent[at_level], ws.n_under[at_level])
