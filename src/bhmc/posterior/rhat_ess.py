"""How well chains mix: R-hat, effective sample sizes and the Monte Carlo error of a mean.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and
localization: an improved R-hat", Bayesian Analysis 16 (2021). Every function takes an array
(chain, draw, ...) and gives an array (...), all numbers at once. Chains are cut in two halves, so
that a chain that drifts disagrees with itself; of an odd number of draws the middle one is left
out.

The figures are those of ArviZ, with three exceptions. One chain alone has an R-hat here, which
compares its halves; ArviZ gives NaN. Chains that each stay at a value of their own have R-hat
infinity, where rounding may give ArviZ a huge number. And a number is constant only where all its
values are equal; ArviZ takes values closer than 1e-15 for equal. NaN means that there is no answer:
fewer than four draws, a value that is not finite, or, for R-hat, a number that never changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

Floats = NDArray[np.float64]

# Halves of fewer draws have no variance.
_LEAST_DRAWS = 4
_TAIL = 0.05
# Numbers measured at once: Fourier transforms take several times the memory of their draws.
_BLOCK = 64


def rhat(values: ArrayLike, *, split: bool = True) -> Floats:
    """Rank-normalised R-hat: 1 where chains agree in place and in spread, more where they do not.

    Parameters
    ----------
    values : (chain, draw, ...) array
        The draws.
    split : bool, default=True
        Whether chains are cut in two. Whole chains do not show drift, and one whole chain has no
        R-hat (NaN).
    """

    def ranked(x: Floats) -> Floats:
        chains = _halves(x) if split else x
        # The second sees chains that lie in one place but spread differently.
        return np.fmax(_rhat(_normal_scores(chains)), _rhat(_normal_scores(_folded(chains))))

    return _for_each_number(values, ranked, least_chains=1 if split else 2)


def ess_bulk(values: ArrayLike) -> Floats:
    """Effective sample size of the middle of a distribution, from ranks as normal scores.

    Parameters
    ----------
    values : (chain, draw, ...) array
        The draws.
    """
    return _for_each_number(values, lambda x: _ess(_normal_scores(_halves(x))))


def ess_tail(values: ArrayLike) -> Floats:
    """Effective sample size of the 5 % and the 95 % quantile, the smaller of both.

    Parameters
    ----------
    values : (chain, draw, ...) array
        The draws.
    """

    def smaller(x: Floats) -> Floats:
        low, high = np.quantile(x, [_TAIL, 1 - _TAIL], axis=(0, 1))
        return np.minimum(
            _ess(_halves((x <= low).astype(float))), _ess(_halves((x <= high).astype(float)))
        )

    return _for_each_number(values, smaller)


def mcse_mean(values: ArrayLike) -> Floats:
    """Standard error of the mean over all draws, which counts effective draws only.

    Parameters
    ----------
    values : (chain, draw, ...) array
        The draws.
    """

    def error(x: Floats) -> Floats:
        spread = np.where(_is_constant(x, (0, 1)), 0.0, x.std(axis=(0, 1), ddof=1))
        return spread / np.sqrt(_ess(_halves(x)))

    return _for_each_number(values, error)


def _for_each_number(
    values: ArrayLike, measure: Callable[[Floats], Floats], least_chains: int = 1
) -> Floats:
    """`measure` of (chain, draw, number), for the numbers that have an answer; NaN for the rest."""
    array = np.asarray(values, dtype=float)
    n_chains, n_draws, *shape = array.shape
    array = array.reshape(n_chains, n_draws, -1)
    answers = np.full(array.shape[2], np.nan)
    sound = np.flatnonzero(np.isfinite(array).all(axis=(0, 1)))
    if n_draws >= _LEAST_DRAWS and n_chains >= least_chains:
        for start in range(0, len(sound), _BLOCK):
            numbers = sound[start : start + _BLOCK]
            answers[numbers] = measure(array[:, :, numbers])
    return answers.reshape(shape)[()]


def _halves(x: Floats) -> Floats:
    """Twice as many chains, each half as long."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _normal_scores(x: Floats) -> Floats:
    """Ranks over all chains, ties at their average, as quantiles of a standard normal.

    Those of a constant are 0, without rounding.
    """
    ranks = rankdata(x.reshape(-1, x.shape[2]), axis=0)
    return ndtri((ranks - 3 / 8) / (len(ranks) + 1 / 4)).reshape(x.shape)


def _folded(x: Floats) -> Floats:
    """Distances from the median."""
    return np.abs(x - np.median(x, axis=(0, 1)))


def _rhat(scores: Floats) -> Floats:
    """Root of the estimated variance over that within chains; NaN where all scores are 0."""
    n = scores.shape[1]
    # Rounding must not make a chain that stands still vary: only then is R-hat infinite.
    within = np.where(_is_constant(scores, 1), 0.0, scores.var(axis=1, ddof=1)).mean(axis=0)
    between = scores.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((n - 1) / n + between / within)


def _ess(x: Floats) -> Floats:
    """Number of draws over their autocorrelation time; all draws where nothing varies."""
    n_chains, n_draws, _ = x.shape
    size = n_chains * n_draws
    covariance = _autocovariance(x)
    within = covariance[0] * n_draws / (n_draws - 1)
    total = covariance[0] + x.mean(axis=1).var(axis=0, ddof=1)
    constant = _is_constant(x, (0, 1))
    correlation = 1 - (within - covariance) / np.where(constant, 1.0, total)
    correlation[0] = 1.0
    # Antithetic draws may be worth more than independent ones, but not without limit.
    time = np.maximum(_autocorrelation_time(correlation), 1 / np.log10(size))
    return np.where(constant, size, size / time)


def _autocovariance(x: Floats) -> Floats:
    """(lag, number) mean over chains of the autocovariance, by Fourier transform."""
    n = x.shape[1]
    length = next_fast_len(2 * n, real=True)
    spectrum = rfft(x - x.mean(axis=1, keepdims=True), length, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    return irfft(power, length, axis=0)[:n] / n


def _autocorrelation_time(correlation: Floats) -> Floats:
    """Sum of correlations over lags of both signs, cut off where noise begins (Geyer 1992).

    Sums of neighbours, lags 2j and 2j + 1, are positive and fall in any reversible chain. They are
    added up to the first that is not positive, none counting more than those before it; of the pair
    at which the sum ends only the even lag counts, once.
    """
    last = max((len(correlation) - 1) // 2 - 1, 0)
    even = correlation[0 : 2 * last + 1 : 2]
    pairs = even + correlation[1 : 2 * last + 2 : 2]
    is_noise = pairs <= 0
    end = np.where(is_noise.any(axis=0), is_noise.argmax(axis=0), last)
    counted = np.arange(last + 1)[:, None] < end
    before = (np.minimum.accumulate(pairs) * counted).sum(axis=0)
    even_at_end = np.take_along_axis(even, end[None], axis=0)[0]
    pair_at_end = np.take_along_axis(pairs, end[None], axis=0)[0]
    rest = np.where((even_at_end > 0) | (pair_at_end >= 0), even_at_end, 0.0)
    return 2 * before + rest - 1


def _is_constant(x: Floats, axis: int | tuple[int, ...]) -> NDArray[np.bool_]:
    # Exactly: the variance of equal numbers need not be 0 after rounding.
    return x.max(axis=axis) == x.min(axis=axis)
