"""The prior of the diffused transition: tree and atoms, and the variances of the steps."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

# Of single numbers, which take a third of the time that arrays of one number take.
from scipy.special.cython_special import gammainc, gammaincc, gammainccinv, gammaincinv

from bhmc.likelihoods._truncated import gamma_above, gamma_below

Floats = NDArray[np.float64]

# v_l ~ InverseGamma(_SHAPE, spread / 2^l): its mean halves from level to level, and all of them
# together have about the spread of the components.
_SHAPE = 2.0

# Below this the difference of two values of a distribution function has few digits.
_LEAST_PROBABILITY = 1e-9


@dataclass(frozen=True, eq=False)
class StepPrior:
    """v_1, ..., v_(L+1) ~ the product of InverseGamma(2, spread 2^-l), restricted to
    v_1 > ... > v_(L+1) > least; v_0 = spread. Every block of coordinates has its own.
    """

    spread: Floats
    """(B,) how far components spread before any row is seen."""
    least: Floats
    """(B,) the variance of steps to components is above this."""
    depth: int
    """L, the level of the leaves."""

    @property
    def shape(self) -> float:
        """Of the inverse gammas."""
        return _SHAPE

    @cached_property
    def scales(self) -> Floats:
        """(L + 1, B) of the inverse gammas of levels 1 to L + 1."""
        return self.spread / 2.0 ** np.arange(1, self.depth + 2)[:, None]

    def draw(self, variances: Floats, counts: Floats, squares: Floats, rng) -> Floats:
        """(L + 2, B): v_l ~ IG(2 + n_l / 2, scale_l + squares_l / 2) between its neighbours.

        One level after the other, each given the others.

        Parameters
        ----------
        variances : (L + 2, B) array
            The current ones, v_0 first.
        counts : (L + 2, B) array
            Numbers of coordinates of the steps to each level.
        squares : (L + 2, B) array
            Sums of squares of these steps.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        v, shapes = variances.copy(), _SHAPE + counts / 2
        scales = self.scales + squares[1:] / 2
        # Lists: an array hands out single numbers that are slow to work with.
        given = list(zip(shapes[1:].T.tolist(), scales.T.tolist(), strict=True))
        for block, (shape, scale) in enumerate(given):
            for level in range(1, len(v)):
                least, most = self.bounds(v, level, block)
                law = shape[level - 1], scale[level - 1], float(least), float(most)
                v[level, block] = draw_inverse_gamma(*law, rng)
        return v

    def bounds(self, variances: Floats, level: int, block: int) -> tuple[float, float]:
        """(least, most) that v_level may be, given its neighbours.

        Parameters
        ----------
        variances : (L + 2, B) array
            v_0 to v_(L+1).
        level, block : int
            Which of them.
        """
        last = len(variances) - 1
        below = variances[level + 1, block] if level < last else self.least[block]
        return below, (variances[level - 1, block] if level > 1 else np.inf)

    def log_density(self, variances: Floats) -> float:
        """log of the product of inverse gammas; the probability of the order is left out.

        Parameters
        ----------
        variances : (L + 2, B) array
            v_0 to v_(L+1).
        """
        v, scales = variances[1:], self.scales
        each = _SHAPE * np.log(scales) - gammaln(_SHAPE) - (_SHAPE + 1) * np.log(v) - scales / v
        return float(each.sum())


def draw_inverse_gamma(shape: float, scale: float, least: float, most: float, rng) -> float:
    """v ~ InverseGamma(shape, scale) given least < v < most.

    scale / v ~ Gamma(shape) between scale / most and scale / least.

    Parameters
    ----------
    shape, scale : float
        Of the inverse gamma.
    least, most : float
        Bounds, least < most.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    low, high = scale / most, (scale / least if least > 0 else np.inf)
    drawn = gamma_between(shape, low, high, rng)
    return float(min(max(scale / drawn, least), most))


def gamma_between(shape: float, low: float, high: float, rng) -> float:
    """g ~ Gamma(shape) given low < g < high, by the distribution function, or where both ends are
    in a tail by rejection from the end nearest to the mode.

    Parameters
    ----------
    shape : float
        At least 1.
    low, high : float
        Bounds.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    upper = low > shape
    p, inverse = (gammaincc, gammainccinv) if upper else (gammainc, gammaincinv)
    first, last = p(shape, low), p(shape, high)
    if abs(last - first) > _LEAST_PROBABILITY:
        drawn = inverse(shape, first + (last - first) * rng.random())
        return float(min(max(drawn, low), high))
    one = np.array([shape])
    while True:  # far in a tail: nearly all mass is at the end that is nearer to the mode
        if upper:
            g = float(gamma_above(one, np.array([low]), rng)[0])
        else:
            g = float(gamma_below(one, np.array([high]), rng)[0])
        if low <= g <= high:
            return g


def log_tree(
    rows: NDArray, counts: NDArray, n_children: NDArray, inner: NDArray, alpha, g
) -> float:
    """log p(tree, atoms): CRP(alpha) at every inner node, CRP(g) at every leaf.

    A node of N rows with J children or atoms has the factor
    c^J Gamma(c) / Gamma(c + N) times Gamma(n) of every child or atom.

    Parameters
    ----------
    rows : (nodes,) array
        Rows of each node, the root first.
    counts : (K,) array
        Rows of each atom.
    n_children : (nodes,) array
        Children of each inner node, atoms of each leaf.
    inner : (nodes,) array of bool
        Whether a node is above the leaves.
    alpha, g : float
        The concentrations.
    """
    c = np.where(inner, alpha, g)
    each = n_children * np.log(c) + gammaln(c) - gammaln(c + rows)
    return float(each.sum() + gammaln(rows[1:]).sum() + gammaln(counts).sum())
