"""Gamma variables below or above a bound, exactly, however far the bound lies in a tail."""

from collections.abc import Callable

import numpy as np

from bhmc.likelihoods.blocks import Floats

# With the bound fewer standard deviations than this beyond the mean, one plain draw in fifteen or
# more is kept; with more, one in two of those made at the bound.
_DEVIATIONS = 1.5


def gamma_below(shape: Floats, most: Floats, rng: np.random.Generator) -> Floats:
    """g ~ Gamma(shape), given g <= most.

    Where that is rare: g = most exp(-s), whose density in s is proportional to
    exp(-shape s - most exp(-s)). So s ~ Exp(shape - most) is kept with probability
    exp(-most (s - 1 + exp(-s))).
    """

    def at_the_bound(shape: Floats, most: Floats) -> tuple[Floats, Floats]:
        s = rng.standard_exponential(len(shape)) / (shape - most)
        return most * np.exp(-s), -most * (s + np.expm1(-s))

    def allowed(g: Floats, most: Floats) -> np.ndarray:
        return g <= most

    rare = shape - most > _DEVIATIONS * np.sqrt(shape)
    return _given(shape, most, rare, at_the_bound, allowed, rng)


def gamma_above(shape: Floats, least: Floats, rng: np.random.Generator) -> Floats:
    """g ~ Gamma(shape), shape at least 1, given g >= least.

    Where that is rare: g = least + e, whose density in e is proportional to
    (1 + e / least)^(shape - 1) exp(-e). So e ~ Exp(1 - r), r = (shape - 1) / least, is kept with
    probability (1 + e / least)^(shape - 1) exp(-r e).
    """

    def at_the_bound(shape: Floats, least: Floats) -> tuple[Floats, Floats]:
        r = (shape - 1) / least
        e = rng.standard_exponential(len(shape)) / (1 - r)
        return least + e, (shape - 1) * np.log1p(e / least) - r * e

    def allowed(g: Floats, least: Floats) -> np.ndarray:
        return g >= least

    rare = least - shape > _DEVIATIONS * np.sqrt(shape)
    return _given(shape, least, rare, at_the_bound, allowed, rng)


def _given(
    shape: Floats,
    bound: Floats,
    rare: np.ndarray,
    at_the_bound: Callable,
    allowed: Callable,
    rng: np.random.Generator,
) -> Floats:
    """Plain draws until they are allowed; where that is rare, draws at the bound until kept."""
    shape, bound = _filled(rare.shape, shape), _filled(rare.shape, bound)
    if not rare.any():
        return _plain(shape, bound, allowed, rng)
    g = np.empty(rare.shape)
    plain, special = (~rare).nonzero()[0], rare.nonzero()[0]
    g[plain] = _plain(shape[plain], bound[plain], allowed, rng)
    while len(special):
        g[special], log_kept = at_the_bound(shape[special], bound[special])
        special = special[np.log1p(-rng.random(len(special))) > log_kept]
    return g


def _plain(shape: Floats, bound: Floats, allowed: Callable, rng: np.random.Generator) -> Floats:
    """Draws of Gamma(shape) until they are allowed."""
    g = rng.standard_gamma(shape)
    rest = (~allowed(g, bound)).nonzero()[0]
    while len(rest):
        g[rest] = rng.standard_gamma(shape[rest])
        rest = rest[~allowed(g[rest], bound[rest])]
    return g


def _filled(size: tuple[int, ...], values: Floats) -> Floats:
    """`values` in an array of that size; for few numbers `np.broadcast_to` takes far longer."""
    array = np.empty(size)
    array[...] = values
    return array
