"""Draws as a DataTree of ArviZ, every dimension named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bhmc._extras import import_arviz_base

if TYPE_CHECKING:
    from bhmc.posterior.draws import Draws

_SCALARS = ("log_likelihood", "n_nodes", "n_components", "component_entropy")
# Dimensions of variables beyond chain and draw. No dimension may have the name of a variable,
# because xarray would take the variable for the dimension's own coordinate.
_DIMS = {
    "nodes_at": ["level"],
    "entropy_at": ["level"],
    "shared": ["number"],
    "together": ["pair"],
    "components": ["row"],
    "nodes": ["row", "level"],
    "pairs": ["pair", "member"],
}


def to_arviz(draws: Draws) -> Any:
    """Draws as a `DataTree`, for the plots and statistics of ArviZ.

    Group `posterior` has the numbers of every draw under their names in `Draws`, with `together`
    as 0 and 1. Where the partitions of all draws were kept it also has `components` (chain, draw,
    row) and `nodes` (chain, draw, row, level). Labels mean nothing from one draw to the next, so an
    average or an R-hat of labels means nothing. Group `sample_stats` has `lp`, the log joint
    density, and `constant_data` has `pairs`, the rows that `together` compares. Levels count from
    1, because at level 0 every row is at the root.

    Parameters
    ----------
    draws : Draws
        What a fit kept.

    Returns
    -------
    tree : xarray.DataTree
        With dimensions `chain`, `draw`, `level`, `number` (of `shared`), `pair` and `row`.
    """
    arviz = import_arviz_base("to_arviz")
    groups = {"posterior": _posterior(draws), "sample_stats": {"lp": draws.log_joint}}
    if len(draws.pairs):
        groups["constant_data"] = {"pairs": draws.pairs}
    levels = {"level": np.arange(1, draws.n_levels + 1)} if draws.n_levels else {}
    # The origin is given because a user's settings of ArviZ may have another.
    return arviz.from_dict(groups, dims=_DIMS, coords=levels, index_origin=0)


def _posterior(draws: Draws) -> dict[str, NDArray[Any]]:
    vectors = {name: getattr(draws, name) for name in ("nodes_at", "entropy_at", "shared")}
    # ArviZ has no quantiles of truth values.
    vectors["together"] = draws.together.astype(np.int8)
    found: dict[str, NDArray[Any]] = {name: getattr(draws, name) for name in _SCALARS}
    found |= draws.learned
    found |= {name: values for name, values in vectors.items() if values.shape[2]}
    if len(draws.partitions) == draws.n_chains * draws.n_draws:
        found |= {"components": draws.components, "nodes": draws.paths[..., 1:]}
    return found
