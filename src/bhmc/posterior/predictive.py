"""Rows not seen: which node and component of a draw they suit, their density, new rows.

What a row's place would be before it is seen is the transition's business (`Predictive`); what is
here holds for every transition.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from bhmc.likelihoods import ConjugateFamily, Likelihood
from bhmc.model.protocol import Predictive, Transition
from bhmc.model.registry import transition_of
from bhmc.model.state import State
from bhmc.posterior.draws import Mixture

Floats = NDArray[np.float64]

# Tables of at most so many numbers, and of so many rows, are in memory at a time.
_MOST_NUMBERS, _MOST_ROWS = 2**21, 4096


def mixture_of(state: State, transition: Transition | None = None) -> Mixture:
    """What a draw says of a row not seen.

    Parameters
    ----------
    state : State
        The draw.
    transition : Transition, optional
        Whose draw it is; by default the state's own, without settings.
    """
    weights = (transition or transition_of(state)).component_weights(state)
    return Mixture(weights, state.theta, state.shared)


def log_tables(
    family: ConjugateFamily, theta: Floats, width: int = 1
) -> Iterator[tuple[slice, Floats]]:
    """Some rows at a time, and their (rows, K + 1) log f(x_n; theta_k), log f*(x_n) last.

    Parameters
    ----------
    family : Family
        The likelihood bound to the rows.
    theta : (K, p) array
        Parameters of the components.
    width : int, default=1
        Columns of the widest table that the caller makes of these rows: wider tables, fewer rows.
    """
    natural, base, new = family.natural(theta), family.log_base(), family.log_new()
    widest = max(width, family.n_statistics, len(theta) + 1)
    height = min(max(1, _MOST_NUMBERS // widest), _MOST_ROWS)
    for first in range(0, family.n_rows, height):
        rows = slice(first, min(first + height, family.n_rows))
        table = np.empty((rows.stop - first, len(theta) + 1))
        family.fill(rows, family.statistics(rows), natural, table[:, :-1])
        table[:, -1] = new[rows]
        table += base[rows, None]
        yield rows, table


def node_tables(
    family: ConjugateFamily, theta: Floats, at: Predictive
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Some rows at a time, and their `node_probabilities`.

    Parameters
    ----------
    family : Family
        The likelihood bound to the rows.
    theta : (K, p) array
        Parameters of the components.
    at : Predictive
        Where the next row goes at a level before it is seen.
    """
    for rows, log_f in log_tables(family, theta, width=len(at.share)):
        yield rows, *node_probabilities(log_f, at)


def node_probabilities(log_f: Floats, at: Predictive) -> tuple[Floats, Floats]:
    """(n, m): p(z | x, z is a node of the level that exists); (n,): p(the row left before | x).

    p(z | x, joins) = sum_k p(k | x, joins) p(z | k, joins), in this order because nothing can
    underflow in it: a row may be far from everything that a node holds.

    Parameters
    ----------
    log_f : (n, K + 1) array
        log f of every row under every component, as `log_tables` gives it.
    at : Predictive
        Where the next row goes at this level before it is seen.
    """
    joins = softmax(log_f + at.log_join, axis=1) @ at.share.T
    joins /= joins.sum(axis=1, keepdims=True)
    log_leave, log_join = (
        logsumexp(log_f + log_p, axis=1) for log_p in (at.log_leave, at.log_join)
    )
    return joins, expit(log_leave - log_join)


def responsibilities(log_f: Floats, weights: Floats) -> Floats:
    """(n, K): p(k | x, k is a component that exists), proportional to w_k f(x; theta_k).

    Parameters
    ----------
    log_f : (n, K + 1) array
        log f of every row under every component, as `log_tables` gives it.
    weights : (K + 1,) array
        w, the probability of each component for the next row, a component not yet seen last.
    """
    found = softmax(log_f[:, :-1] + _log(weights[:-1]), axis=1)
    return found / found.sum(axis=1, keepdims=True)


def log_density(mixtures: Iterable[Mixture], family: ConjugateFamily) -> Floats:
    """(n,): log of the mean over mixtures of p(x_n | mixture).

    p(x | mixture) = sum_k w_k f(x; theta_k) + w* f*(x).

    Parameters
    ----------
    mixtures : iterable of Mixture
        Such as `Draws.mixtures`, at least one.
    family : Family
        The likelihood bound to the rows.
    """
    total, count = np.full(family.n_rows, -np.inf), 0
    for count, mixture in enumerate(mixtures, 1):  # noqa: B007
        log_w = _log(mixture.weights)
        for rows, log_f in log_tables(family.at(mixture.shared), mixture.theta):
            total[rows] = np.logaddexp(total[rows], logsumexp(log_f + log_w, axis=1))
    return total - np.log(count)


def log_predictive(state: State, family: ConjugateFamily) -> Floats:
    """(n,): log p(x_n | state) of rows that the state has not seen.

    Parameters
    ----------
    state : State
        A draw.
    family : Family
        The likelihood bound to the rows not seen.
    """
    return log_density([mixture_of(state)], family)


def sample_rows(
    mixtures: tuple[Mixture, ...],
    likelihood: Likelihood,
    n_samples: int,
    n_features: int,
    rng: np.random.Generator,
) -> Floats:
    """(n_samples, d): x ~ F(theta_k), k ~ w of a mixture drawn evenly; theta ~ H where k is new.

    Parameters
    ----------
    mixtures : tuple of Mixture
        Such as `Draws.mixtures`, at least one.
    likelihood : Likelihood
        F and H.
    n_samples : int
        Rows wanted.
    n_features : int
        Columns of the data.
    rng : numpy.random.Generator
        Source of randomness.
    """
    X = np.empty((n_samples, n_features))
    chosen = rng.integers(len(mixtures), size=n_samples)
    for i in np.unique(chosen):
        weights, theta, shared = mixtures[i]
        rows, settled = np.flatnonzero(chosen == i), likelihood.at(shared)
        k = rng.choice(len(weights), size=len(rows), p=weights / weights.sum())
        born = np.flatnonzero(k == len(theta))
        own = np.empty((len(rows), theta.shape[1]))
        own[k < len(theta)] = theta[k[k < len(theta)]]
        if len(born):
            own[born] = settled.sample_theta(len(born), n_features, rng)
        X[rows] = settled.sample_data(own, rng)
    return X


def _log(weights: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # a weight of 0
        return np.log(weights)
