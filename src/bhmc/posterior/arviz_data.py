"""Draws beside their data as a DataTree of ArviZ, for `loo` and posterior predictive checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._extras import import_arviz_base
from bhmc.likelihoods import Likelihood
from bhmc.posterior.arviz import to_arviz
from bhmc.posterior.draws import Draws, Mixture
from bhmc.posterior.predictive import log_density, sample_mixture

# Numbers of the group `posterior_predictive`: 256 MB.
_MOST_NUMBERS = 2**25


def to_arviz_with_data(
    draws: Draws,
    likelihood: Likelihood,
    X: Any,
    rng: np.random.Generator,
    *,
    row_names: Sequence | None = None,
    column_names: Sequence | None = None,
) -> Any:
    """The draws that were kept whole, with what they say of the data, as a `DataTree`.

    Group `posterior` has the numbers of these draws, as `to_arviz` has, without labels.
    `log_likelihood` has `X` (chain, draw, row): log p(x | draw) of a row before its component is
    known, that is log of the sum over components, a new one included, of weight times density.
    `posterior_predictive` has `X` (chain, draw, row, column): new tables of each draw, whose rows
    have the missing entries and the totals of the rows of X. `observed_data` has `X` (row, column).

    Parameters
    ----------
    draws : Draws
        What a fit kept.
    likelihood : Likelihood
        F and H.
    X : (n, d) array or SciPy sparse matrix
        The rows of the fit.
    rng : numpy.random.Generator
        Source of the new tables.
    row_names, column_names : sequence, optional
        Coordinates of `row` and `column`; numbers where not given.

    Returns
    -------
    tree : xarray.DataTree
    """
    arviz = import_arviz_base("to_arviz")
    n, d = X.shape
    if n * d > _MOST_NUMBERS:
        raise ValueError(
            f"to_arviz would hold {n * d:,} entries of X: give at most {_MOST_NUMBERS:,}, such as "
            "a sample of the rows."
        )
    whole, mixtures = _kept_whole(draws)
    tree = to_arviz(whole)
    names = {"row": row_names, "column": column_names}
    coords = {dim: list(values) for dim, values in names.items() if values is not None}

    def add(group: str, values: NDArray[Any], dims: list[str], **more: Any) -> None:
        made = arviz.dict_to_dataset(
            {"X": values},
            dims={"X": dims},
            coords=coords | more,
            index_origin=0,
            **_no_draws(group),
        )
        tree[group] = type(tree)(dataset=made)

    family = likelihood.prepare(X)
    densities = np.array([log_density([one], family) for one in mixtures.ravel()])
    add("log_likelihood", densities.reshape(*mixtures.shape, n), ["row"])
    some = _evenly(mixtures.shape[1], _MOST_NUMBERS // (n * d * mixtures.shape[0]))
    new = np.array([_new_table(one, likelihood, X, rng) for one in mixtures[:, some].ravel()])
    new = new.reshape(len(mixtures), len(some), n, d)
    add("posterior_predictive", new, ["row", "column"], draw=some)
    add("observed_data", X.toarray() if sparse.issparse(X) else X, ["row", "column"])
    return tree


def _no_draws(group: str) -> dict[str, Any]:
    return {"sample_dims": []} if group == "observed_data" else {}


def _kept_whole(draws: Draws) -> tuple[Draws, NDArray[Any]]:
    """The draws whose mixtures were kept in all chains, and (chain, draw) those mixtures."""
    if not draws.mixtures:
        raise ValueError("to_arviz with data needs the mixtures of draws, and none was kept.")
    of_draw = dict(zip(map(tuple, draws.mixture_index.tolist()), draws.mixtures, strict=True))
    every = [{draw for chain, draw in of_draw if chain == one} for one in range(draws.n_chains)]
    common = sorted(set.intersection(*every))
    if not common:
        raise ValueError(
            "to_arviz with data needs draws whose mixtures were kept in all chains, and these "
            "chains have none in common."
        )
    mixtures = np.empty((draws.n_chains, len(common)), dtype=object)
    for chain, i in np.ndindex(mixtures.shape):
        mixtures[chain, i] = of_draw[chain, common[i]]
    whole = draws._select(slice(None), np.array(common))
    nothing = np.empty((0, 2), dtype=np.int64)
    return replace(whole, partitions=(), partition_index=nothing), mixtures


def _evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most so many of n draws, at least one."""
    places = np.linspace(0, n - 1, min(max(1, most), n))
    return np.unique(places.round().astype(np.int64))


def _new_table(
    mixture: Mixture, likelihood: Likelihood, X: Any, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(n, d) new rows of a draw with the missing entries and totals of the rows of X."""
    settled = likelihood.at(mixture.shared).with_extents(X)
    new = sample_mixture(mixture, likelihood, settled, X.shape, rng)
    if not sparse.issparse(X):
        new[np.isnan(X)] = np.nan
    return new
