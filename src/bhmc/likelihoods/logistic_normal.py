"""Columns of 0 and 1 whose logits have a normal law: x = 1 with probability sigmoid(theta)."""

import numpy as np
from numpy.typing import ArrayLike

from bhmc._compiled.logistic_normal import (
    fill_log_evidence,
    fill_log_probabilities,
    fill_logits,
)
from bhmc._compiled.random_source import random_source
from bhmc.likelihoods.blocks import Floats

# So many different numbers of rows of one column have their integrals remembered.
_REMEMBERED = 8


def log_bernoulli_at(location: ArrayLike, variance: ArrayLike) -> tuple[Floats, Floats]:
    """log p(x = 1) and log p(x = 0), where theta ~ N(location, variance) is integrated out.

    p(x = 1) is the integral of sigmoid(theta) N(theta; location, variance). Both logarithms are
    right to 1e-11. The cost grows with the square root of variances above 1.

    Parameters
    ----------
    location : array-like of float
        The means of the logits.
    variance : array-like of float, at least 0
        Their variances; `location` and `variance` broadcast against each other.

    Returns
    -------
    log_one, log_zero : arrays of float
        In the shape that `location` and `variance` broadcast to.
    """
    location, variance = _same_shape(location, variance)
    log_one, log_zero = np.empty(location.shape), np.empty(location.shape)
    fill_log_probabilities(
        location.ravel(), variance.ravel(), log_one.reshape(-1), log_zero.reshape(-1)
    )
    return log_one, log_zero


def log_logit_evidence(ones: Floats, seen: Floats, location: Floats, variance: Floats) -> Floats:
    """(K,): log p(rows of group k), where theta_d ~ N(m_d, v_d) is integrated out.

    The sum over columns of the logarithms of the integrals of sigmoid^ones (1 - sigmoid)^(seen -
    ones) N(theta; m_d, v_d). Each is right to 1e-12 of its value.

    Parameters
    ----------
    ones, seen : (K, D) array
        How many rows of a group have a 1 in a column, and how many have a 1 or a 0.
    location, variance : (D,) array
        The mean of the logits of a column, and their variance.
    """
    ones, seen = (np.ascontiguousarray(array) for array in _same_shape(ones, seen))
    log_evidence, known = np.empty(len(ones)), np.empty((_REMEMBERED, 3))
    fill_log_evidence(ones, seen, location, variance, known, log_evidence)
    return log_evidence


def draw_logits_at(
    ones: ArrayLike,
    seen: ArrayLike,
    location: ArrayLike,
    variance: ArrayLike,
    rng: np.random.Generator,
) -> Floats:
    """theta with density proportional to sigmoid^ones (1 - sigmoid)^(seen - ones) N(theta; m, v).

    Draws are exact and independent, by rejection from a hat over this log-concave density.

    Parameters
    ----------
    ones, seen : array-like of float
        How many rows have a 1, and how many have a 1 or a 0; where `seen` is 0, theta ~ N(m, v).
    location, variance : array-like of float
        m and v, the mean and the variance (above 0) of theta before any row is seen.
    rng : numpy.random.Generator
        Where all randomness comes from.

    Returns
    -------
    array of float
        In the shape that the four arrays broadcast to.
    """
    given = _same_shape(ones, seen, location, variance)
    theta = np.empty(given[0].shape)
    y, n, m, v = (array.flatten() for array in given)  # copies: views may be read-only
    fill_logits(y, n, m, v, theta.reshape(-1), random_source(rng))
    return theta


def _same_shape(*arrays: ArrayLike) -> tuple[Floats, ...]:
    """The arrays of float that `arrays` broadcast to."""
    each = tuple(np.asarray(array, dtype=np.float64) for array in arrays)
    if all(array.shape == each[0].shape for array in each):
        return each
    return np.broadcast_arrays(*each)
