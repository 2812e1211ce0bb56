"""Which family of numbers `likelihood="auto"` takes: the one that held-out rows prefer.

A component of d columns has a covariance of d (d + 1) / 2 numbers. Where a table has at least ten
whole rows for each, the components of a tree share one that the chain learns: "tied_gaussian".
Short pilot chains try other covariances beside it, and one of them is taken if rows that the chain
has not seen are clearly denser: "shaped_gaussian", whose shape k-means finds and 30 % of equal
variances shrink; "shared_gaussian", without correlations; and "full_gaussian", with a covariance of
every component's own. Clearly is by more than two standard errors of the difference.

"full_gaussian" has no place on a diffusing tree. So it comes with "hdp", whose tree does not say
which components are near each other, and must gain more than 0.05 nats a row besides. It takes no
missing entries.

Where rows are fewer, nothing is tried and "shaped_gaussian" is taken: in a learned covariance,
directions in which rows hardly vary would count without bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._estimator.chain_run import transition_chain
from bhmc._validation.frames import Columns
from bhmc.likelihoods import by_name, numbers_on_a_tree, rows_that_lack_numbers
from bhmc.model.protocol import Transition
from bhmc.model.registry import AUTO
from bhmc.posterior.family_evidence import FamilyEvidence, judged
from bhmc.posterior.predictive import log_density, mixture_of

Floats = NDArray[np.float64]

# What is tried: families with a place on the tree, the usual one first, and the one without.
ON_A_TREE = ("tied_gaussian", "shaped_gaussian", "shared_gaussian")
WITHOUT_A_PLACE = "full_gaussian"

# Rows for each number of a covariance.
_ROWS_A_NUMBER = 10

# At most so many rows, evenly spaced, stand for all. Every fifth is held out; of few rows several
# such fifths, so that about as many rows are judged.
_MOST_ROWS, _FOLDS, _ROWS_JUDGED = 800, 5, 90

# Sweeps of a pilot chain, those that are discarded, and sweeps from one judged to the next.
_SWEEPS, _DISCARDED, _THIN = 80, 40, 4

# The same whatever the seed of a fit is, so that fits with two seeds differ by chance alone.
_PILOT_SEED = 0


def family_evidence(
    model: Any,
    transition: Transition,
    without_a_place: Callable[[], Transition] | None,
    X: Any,
    columns: Columns,
) -> FamilyEvidence | None:
    """The family of numbers that held-out rows prefer; None where only one is considered.

    Parameters
    ----------
    model : BHMC
        The estimator.
    transition : Transition
        Bound to its concentrations; that of families with a place on the tree.
    without_a_place : function, optional
        Gives the transition of families without one, if it may be taken.
    X : (n, d) array or sparse matrix
        The data.
    columns : Columns
        What is known of the columns of X beyond their numbers.
    """
    if not (isinstance(model.likelihood, str) and model.likelihood == AUTO and transition.located):
        return None
    own = numbers_on_a_tree(X, columns)
    whole = ~np.isnan(X[:, own]).any(axis=1) if own else np.zeros(0, dtype=bool)
    if not _are_enough(int(whole.sum()), len(own)):
        return None
    pairs = [(name, transition) for name in ON_A_TREE]
    if without_a_place is not None and len(own) == X.shape[1] and whole.all():
        pairs.append((WITHOUT_A_PLACE, without_a_place()))
    rows = X[:: -(-len(X) // _MOST_ROWS), own]
    rows = rows[~np.isnan(rows).all(axis=1)]  # the others say nothing
    if _spread(rows).min() <= 0:  # a constant column has no covariance to learn
        return None
    found = [_held_out(name, pair, rows, model.n_levels) for name, pair in pairs]
    return judged([(name, pair.name, name in ON_A_TREE) for name, pair in pairs], found)


def _spread(rows: Floats) -> Floats:
    """(d,) the range of each column; gaps left out."""
    return np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)


def _are_enough(n_rows: int, d: int) -> bool:
    """Whether so many whole rows can show a covariance of d columns."""
    return d >= 2 and n_rows >= _ROWS_A_NUMBER * d * (d + 1) // 2


def note_on_gaps(model: Any, transition: Transition, X: Any, columns: Columns) -> str:
    """What rows with missing numbers cost, in a sentence; "" where they cost nothing.

    Families with correlations need whole rows: half of all.

    Parameters
    ----------
    model, transition, X, columns
        As in `family_evidence`.
    """
    if not (isinstance(model.likelihood, str) and model.likelihood == AUTO and transition.located):
        return ""
    lacking, d = rows_that_lack_numbers(X, columns)
    if d < 2 or not lacking or numbers_on_a_tree(X, columns):
        return ""
    return (
        f"{lacking:,} of {X.shape[0]:,} rows lack a number, so numbers are taken as uncorrelated "
        "within a component, which often makes more components: leave out columns that many rows "
        "lack, and correlations are learned where half of the rows are whole."
    )


def _held_out(name: str, transition: Transition, rows: Floats, n_levels: int) -> Floats:
    """(m,) log densities of the rows of some folds, each given the rows of all other folds."""
    if getattr(transition, "kappa", None) == AUTO:
        transition = replace(transition, kappa=1.0)  # type: ignore[type-var]
    n_folds = int(np.clip(-(-_ROWS_JUDGED * _FOLDS // len(rows)), 1, _FOLDS))
    fold_of = np.arange(len(rows)) % _FOLDS
    return np.concatenate(
        [
            _log_densities(name, transition, rows[fold_of != k], rows[fold_of == k], n_levels)
            for k in range(n_folds)
        ]
    )


def _log_densities(
    name: str, transition: Transition, train: Floats, test: Floats, n_levels: int
) -> Floats:
    """(m,) log of the mean of p(x | draw) over the later draws of a chain that has seen `train`."""
    likelihood = by_name(name, train)
    chain = transition_chain(
        np.random.default_rng(_PILOT_SEED),
        None,
        lambda: False,
        family=likelihood.prepare(train),
        transition=transition,
        n_levels=n_levels,
        sampler=transition.samplers[0],
        init="kmeans",
        precision="float64",
    )
    mixtures = []
    for sweep in range(1, _SWEEPS + 1):
        chain.sweep()
        if sweep > _DISCARDED and sweep % _THIN == 0:
            mixtures.append(mixture_of(chain.state(), transition))
    return log_density(mixtures, likelihood.prepare(test))
