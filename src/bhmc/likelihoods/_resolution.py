"""How fine a table of n rows can be resolved: the least variance of a component's columns.

In many columns a mixture of Gaussians falls apart: small differences between rows become certain
evidence, and nearly every row ends with a component of its own (Chandra, Canale and Dunson, 2023).
What n rows cannot show need not be modelled. Three bounds, each computed from the table alone:

- Rounding. Numbers recorded in steps have a variance of step^2 / 12 at least.
- Words. n components can tell log n nats about a row. By the theory of rates and distortions, a
  Gaussian row with the covariance of the table cannot be described in log n nats but for an error
  of a certain size: next to nothing in one or two columns, most of the variance in hundreds.
- Neighbours. Where rows lie closer together than that, because they are in clusters, the distance
  to the sqrt(n)-th neighbour counts instead: the usual resolution of a density by neighbours.
"""

import numpy as np

from bhmc._validation.parameters import check_vector
from bhmc.likelihoods._units import InUnits
from bhmc.likelihoods.blocks import Floats

# So many rows, evenly spaced, stand for all.
_MOST_ROWS = 1500

# With a full covariance the bound is never 0, or the posterior would be improper where columns are
# collinear. Held-out densities of real tables with this bound are those without (docs/families.md).
_LEAST_OF_FULL = 1e-3


def least_variance(X: Floats, units: InUnits) -> float | Floats:
    """A number, or with diagonal covariance (d,): the least variance, in units of scale squared.

    X must hold all rows.
    """
    location, scale = units.checked(X.shape[1])
    rows = (X[:: -(-len(X) // _MOST_ROWS)] - location) / scale
    rounding = np.array([_smallest_gap(column) for column in rows.T]) ** 2 / 12
    least = np.maximum(rounding, spacing(rows, len(X)))
    return float(least.mean()) if units.covariance == "spherical" else least


def spacing(rows: Floats, n: int) -> float:
    """The smaller of the bounds by words and by neighbours, as a share of the variance.

    `rows` are centred and stand for n rows; a missing entry counts as one in the middle.
    """
    rows = np.where(np.isnan(rows), 0.0, rows)
    total = float(np.einsum("nd,nd->", rows, rows)) / len(rows)
    if total == 0.0:
        return 0.0
    error = min(error_of_words(_spectrum(rows), np.log(n)), _error_of_neighbours(rows, n))
    return min(error / total, 1.0)


def checked_least(likelihood, n_features: int) -> Floats:
    """`least_variance` of a likelihood as (d,), or (1,) where its covariance is spherical.

    With a full covariance it is at least 0.001.
    """
    least = check_vector(likelihood.least_variance, n_features, "least_variance")
    if not (least >= 0).all():
        raise ValueError(f"least_variance must not be below 0, got {least.min():g}.")
    if likelihood.covariance == "full":
        return np.maximum(least, _LEAST_OF_FULL)
    if likelihood.covariance == "diagonal":
        return least
    if np.ptp(least) > 0:
        raise ValueError("least_variance must be one number where covariance is 'spherical'.")
    return least[:1]


def error_of_words(spectrum: Floats, nats: float) -> float:
    """The least mean squared error with which Gaussian rows are described in so many nats.

    The distortion at that rate (Cover and Thomas, "Elements of Information Theory", 10.3.3): with
    variances lambda_j in the principal directions, sum_j min(lambda_j, t), where t solves
    sum_j log(max(lambda_j / t, 1)) / 2 = nats.
    """
    spectrum = np.sort(spectrum[spectrum > 1e-12 * spectrum.max()])[::-1]
    logs = np.log(spectrum)
    used = np.arange(1, len(spectrum) + 1)
    levels = np.cumsum(logs) / used - 2 * nats / used  # log t, were the first 1, 2, ... in use
    below = np.flatnonzero(levels[:-1] >= logs[1:])
    level = levels[below[0] if len(below) else -1]
    return float(np.minimum(spectrum, np.exp(level)).sum())


def _spectrum(rows: Floats) -> Floats:
    """Variances in the principal directions that are not 0, from the smaller product of the two."""
    wide = rows.shape[1] > len(rows)
    product = rows @ rows.T if wide else rows.T @ rows
    return np.maximum(np.linalg.eigvalsh(product), 0.0) / len(rows)


def _error_of_neighbours(rows: Floats, n: int) -> float:
    """Half the median squared distance to the neighbour behind a share 1 / sqrt(n) of all rows.

    Two rows of a component are twice its variance apart, in the mean of their squared distance.
    """
    squares = np.einsum("nd,nd->n", rows, rows)
    distances = squares[:, None] + squares - 2 * (rows @ rows.T)
    np.fill_diagonal(distances, np.inf)
    k = min(max(1, round(len(rows) / np.sqrt(n))), len(rows) - 1)
    distances.partition(k - 1, axis=1)
    return float(np.median(np.maximum(distances[:, k - 1], 0.0))) / 2


def _smallest_gap(column: Floats) -> float:
    """The least distance between two different numbers of a column; 0 where all are equal."""
    gaps = np.diff(np.unique(column[~np.isnan(column)]))
    return float(gaps.min()) if len(gaps) else 0.0
