"""The menu of the hdp transition: what a row may choose when all rows choose at once.

Plain NumPy: this is the slow reference; the tree is small beside the rows.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.workspace import DEPTH, NONE, Workspace
from bhmc.rows.protocol import Menu
from bhmc.rows.reference import alias_table


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
    log_w = np.full(len(ws.level), -np.inf)
    log_w[0] = 0.0
    for level in range(int(ws.room[DEPTH])):
        for z in np.flatnonzero(ws.level == level):
            children = np.flatnonzero(ws.parent == z)
            shares = rng.dirichlet([*ws.n_under[children], alpha])
            with np.errstate(divide="ignore"):
                log_w[children] = log_w[z] + np.log(shares[:-1])
    return log_w


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
    tables = [
        alias_table(np.exp(cells - cells.max()))
        for cells in np.where(np.isfinite(log_weight), log_cells, 0.0).T
    ]
    return Menu(
        natural=natural[columns],
        columns=columns,
        log_weight=log_weight,
        leaves=leaves,
        accept=np.array([accept for accept, _ in tables]).reshape(len(columns), len(leaves)),
        alias=np.array([alias for _, alias in tables], dtype=np.int64).reshape(
            len(columns), len(leaves)
        ),
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
