"""How unusual the rows of a fit are, each seen from the others.

Given a draw (components c, weights w, parameters theta), the log density of a row x that sits in
component k, as the other rows see it, is

    D(x, k) = log( w_k f(x; theta') + sum over j other than k of w_j f(x; theta_j) + w* f*(x) ),

where theta' ~ p(theta | the other rows of k), w* is the weight of a component not yet seen, and f*
its density. (The multinomial family, which may have very many parameters, has the mean of f over
theta' in its place, in closed form.) Two kinds of rows are looked at so:

    a row n of the data, k = c_n. It leaves its component: theta' is drawn from the posterior
    given the sums of k less t(x_n). The weight w_k falls by its share 1 / N_k, and w adds up to 1
    again. A component that held this row alone is gone: the row sees the others and f*.

    a new row: k ~ w; x ~ F(theta''), theta'' ~ p(theta | the rows of k), or theta'' ~ H where k is
    new. theta' is drawn again, independently of theta'': so a new row does not see its own
    parameters, as a row of the data does not.

The score of a row is P(D(new row) > D(row)), the mean over draws: 1 minus the posterior predictive
tail probability of its density. If the row came from the model, then, given the other rows and
their components, (x_n, c_n) and the new (x, k) have the same law, and the score is uniform.

Three things are not exact. The weights are those of a Dirichlet process with the row taken out, in
the mean; weights of a tree change a little more. The components of the other rows, and the numbers
that all components share, have been drawn with the row in the data.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc.likelihoods import ColumnSummary, ConjugateFamily, Likelihood
from bhmc.likelihoods.blocks import slices
from bhmc.posterior.draws import Mixture
from bhmc.posterior.predictive import ROWS_IN_CACHE, log_sum_exp, log_tables, sample_new

Floats = NDArray[np.float64]

# Draws and new rows of each draw; fewer where rows are wide, within so many parameters.
_MOST_DRAWS, _LEAST_DRAWS, _MOST_NUMBERS = 20, 4, 2**23
_NEW_ROWS, _FEWEST_NEW_ROWS, _NUMBERS_OF_NEW = 500, 200, 2**20

# Rows of different extents are compared with so many new rows of nearly the same extent.
_ALIKE = 100

# Rows whose parameters are drawn together, and whose densities are the diagonal of one table.
_TOGETHER, _DIAGONAL = 1024, 16

# A row so much larger than the rest of a sum leaves it few digits when it is subtracted.
_HEAVY = 1e8


class SeatedDraw(NamedTuple):
    """A draw: who is in which component, and what the components are."""

    component: NDArray[np.integer]
    """(n,) component of each row."""
    mixture: Mixture


def outlier_scores(
    draws: Sequence[SeatedDraw],
    likelihood: Likelihood,
    X: Any,
    rng: np.random.Generator,
) -> Floats:
    """(n,) P(D(new row) > D(row)), the mean over draws; see this file's docstring.

    Rows may differ in how much of them there is: missing entries, lengths of texts. Then new rows
    have the missing entries and the lengths of rows of the data drawn at random, and a row is
    compared with the 100 new rows of a draw that are nearest to it in extent
    (`Likelihood.extents`). A row without any entry has the score NaN.

    Parameters
    ----------
    draws : sequence of SeatedDraw
        At least one; at most 20 of them, evenly spaced, take part.
    likelihood : Likelihood
        F and H.
    X : (n, d) array or SciPy sparse matrix
        The rows of the fit.
    rng : numpy.random.Generator
        Source of randomness.
    """
    summary = ColumnSummary.of(X)
    family, extents = likelihood.prepare(X), likelihood.extents(X)
    chosen = _evenly(draws, family.n_rows * family.n_parameters)
    n_new = int(np.clip(_NUMBERS_OF_NEW // family.n_parameters, _FEWEST_NEW_ROWS, _NEW_ROWS))
    total = np.zeros(family.n_rows)
    for component, mixture in chosen:
        bound = family.at(mixture.shared).seated(mixture.theta, component, rng)
        sums = bound.sums(component, len(mixture.theta))
        own = densities_of_rows(bound, component, mixture, rng, sums)
        like = rng.integers(family.n_rows, size=n_new)
        new, k = _new_rows(likelihood, bound, mixture, sums, X[like], rng)
        new_family = likelihood.prepare(new, summary).at(mixture.shared)
        others = densities_of_new(new_family, k, mixture, rng, sums)
        total += share_above(own, others, extents, extents[like])
    return np.where(extents == 0, np.nan, total / len(chosen))


def densities_of_rows(
    family: ConjugateFamily,
    component: NDArray[np.integer],
    mixture: Mixture,
    rng: np.random.Generator,
    sums: Floats | None = None,
) -> Floats:
    """(n,) D(x_n, c_n): the log density of every row, seen from the others.

    Parameters
    ----------
    family : Family
        The likelihood bound to the rows, at the draw's shared numbers.
    component : (n,) array
        Component of each row.
    mixture : Mixture
        The draw.
    rng : numpy.random.Generator
        Source of theta'.
    sums : (K, s) array, optional
        Sums of t over the rows of each component.
    """
    sums = family.sums(component, len(mixture.theta)) if sums is None else sums
    sizes = np.bincount(component, minlength=len(mixture.theta))
    left = 1 - 1 / sizes[component]  # 0 for a component that held this row alone: it is gone
    log_own = _log_own(family, component, sums, True, mixture, rng)
    return _log_density(family, component, log_own, left, mixture)


def densities_of_new(
    family: ConjugateFamily,
    component: NDArray[np.integer],
    mixture: Mixture,
    rng: np.random.Generator,
    sums: Floats,
) -> Floats:
    """(m,) D(x, k) of new rows.

    Parameters
    ----------
    family : Family
        The likelihood bound to the new rows, at the draw's shared numbers.
    component : (m,) array
        Component of each, K for one not yet seen.
    mixture : Mixture
        The draw.
    rng : numpy.random.Generator
        Source of theta'.
    sums : (K, s) array
        Sums of t over the rows of each component.
    """
    seen = np.where(component < len(sums), component, 0)  # of the others it is not used
    log_own = _log_own(family, seen, sums, False, mixture, rng)
    return _log_density(family, component, log_own, np.ones(family.n_rows), mixture)


def share_above(own: Floats, others: Floats, extents: Floats, other_extents: Floats) -> Floats:
    """(n,) share of the others that are above each of `own`, among those of nearly its extent.

    Parameters
    ----------
    own, others : (n,) and (m,) arrays
        Densities.
    extents, other_extents : (n,) and (m,) arrays
        How much of each row there is. Where all are the same, all others are compared with.
    """
    m = len(others)
    if (extents == extents[0]).all():
        return 1 - np.searchsorted(np.sort(others), own, side="right") / m
    order = np.argsort(other_extents, kind="stable")
    ordered, width = others[order], min(_ALIKE, m)
    place = (
        np.searchsorted(other_extents[order], extents, side="left")
        + np.searchsorted(other_extents[order], extents, side="right")
    ) // 2
    first = np.clip(place - width // 2, 0, m - width)
    share = np.empty(len(own))
    for rows in slices(len(own), _TOGETHER):
        near = ordered[first[rows, None] + np.arange(width)]
        share[rows] = (near > own[rows, None]).mean(axis=1)
    return share


def _evenly(draws: Sequence[SeatedDraw], n_numbers: int) -> list[SeatedDraw]:
    most = int(np.clip(_MOST_NUMBERS // n_numbers, _LEAST_DRAWS, _MOST_DRAWS))
    places = np.linspace(0, len(draws) - 1, min(most, len(draws))).round().astype(int)
    return [draws[i] for i in np.unique(places)]


def sums_of_others(
    family: ConjugateFamily, rows: slice, component: NDArray[Any], sums: Floats
) -> Floats:
    """(rows, s) sums of t over the other rows of each row's component.

    Parameters
    ----------
    family : Family
        The likelihood bound to all rows.
    rows : slice
        Which rows.
    component : (n,) array
        Component of every row.
    sums : (K, s) array
        Sums of t over the rows of each component.
    """
    t: Any = family.statistics(rows)
    t = t.toarray() if sparse.issparse(t) else t
    others = sums[component[rows]] - t
    if not family.subtracts_well:  # a very large row leaves by summing the others
        for i in np.flatnonzero((np.abs(t) > _HEAVY * np.abs(others)).any(axis=1)):
            others[i] = _summed(family, component, rows.start + int(i))
    return others


def _summed(family: ConjugateFamily, component: NDArray[Any], row: int) -> Floats:
    """(s,) the sum of t over the other rows of a row's component, without subtraction."""
    mates = np.flatnonzero(component == component[row])
    total = np.zeros(family.n_statistics)
    for mate in mates[mates != row].tolist():
        total += np.asarray(family.statistics(slice(mate, mate + 1)).sum(axis=0)).ravel()
    return total


def _log_own(
    family: ConjugateFamily,
    component: NDArray[np.integer],
    sums: Floats,
    without: bool,
    mixture: Mixture,
    rng: np.random.Generator,
) -> Floats:
    """(n,) log f(x_n; theta'), or log of its mean over theta' where the family has that."""
    found, base = np.empty(family.n_rows), family.log_base()
    for rows in slices(family.n_rows, _TOGETHER):
        closed = family.log_predictive(rows, component[rows], sums, without)
        if closed is None:
            given = sums[component[rows]]
            given = sums_of_others(family, rows, component, sums) if without else given
            theta = _draw_theta(family, given, mixture, component[rows], rng)
            closed = _log_f(family, rows, theta)
        found[rows] = closed + base[rows]
    return found


def _draw_theta(
    family: Any, sums: Floats, mixture: Mixture, component: NDArray[Any], rng: np.random.Generator
) -> Floats:
    """(m, p) theta of components given sums of their rows, from H or from where they began."""
    if mixture.places is None:
        return family.draw_theta(sums, rng)
    at = mixture.places.of_component[component]
    places = family.enter(mixture.places.location[at])
    variances = mixture.places.variance[at][:, family.blocks()]
    return family.leave(family.draw_theta_at(sums, places, variances, rng))


def _log_f(family: ConjugateFamily, rows: slice, theta: Floats) -> Floats:
    """(rows,) log f(x_n; theta_n) - h(x_n), a parameter for each row: diagonals of small tables."""
    natural, statistics = family.natural(theta), family.statistics(rows)
    found = np.empty(len(theta))
    for part in slices(len(theta), _DIAGONAL):
        some = slice(rows.start + part.start, rows.start + part.stop)
        table = np.empty((part.stop - part.start,) * 2)
        family.fill(some, statistics[part], natural[part], table)
        found[part] = table.diagonal()
    return found


def _log_density(
    family: ConjugateFamily,
    component: NDArray[np.integer],
    log_own: Floats,
    left: Floats,
    mixture: Mixture,
) -> Floats:
    """(n,) log of the mixture, where a row's own component has `log_own` and the share `left` of
    its weight.
    """
    with np.errstate(divide="ignore"):
        log_w, log_left = np.log(mixture.weights), np.log(left)
    taken = mixture.weights[component] * (1 - left)
    found = np.empty(family.n_rows)
    tables = log_tables(family, mixture.theta, places=mixture.places, most_rows=ROWS_IN_CACHE)
    for rows, table in tables:
        own = component[rows]
        table += log_w
        known = np.flatnonzero(own < len(mixture.theta))
        k = own[known]
        table[known, k] = log_w[k] + log_left[rows][known] + log_own[rows][known]
        found[rows] = log_sum_exp(table)
    return found - np.log1p(-np.minimum(taken, 1 - 1e-15))


def _new_rows(
    likelihood: Likelihood,
    family: ConjugateFamily,
    mixture: Mixture,
    sums: Floats,
    like,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.int64]]:
    """New rows of the draw, of the extents of the rows `like`, and their components."""
    weights, m = mixture.weights / mixture.weights.sum(), like.shape[0]
    k = rng.choice(len(weights), size=m, p=weights)
    born = k >= len(sums)
    seen = np.where(born, 0, k)
    theta = _draw_theta(family, sums[seen], mixture, seen, rng)
    if born.any():
        theta[born] = sample_new(likelihood, mixture, k[born], like.shape[1], rng)
    new = likelihood.at(mixture.shared).with_extents(like).sample_data(theta, rng)
    if not sparse.issparse(like):
        new[np.isnan(like)] = np.nan
    return new, k
