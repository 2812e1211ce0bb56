"""The tables of `same_draws`, by NumPy alone, and the families that are fitted to them."""

import numpy as np
from scipy import sparse

from bhmc import likelihoods as lik
from bhmc import priors

N_ROWS = 26

_FULL = np.array([[0.5, 0.1, 0.0], [0.1, 0.4, 0.05], [0.0, 0.05, 0.6]])

_ADAPTIVE = {"location": 0.1, "scale": 2.0, "least_variance": 0.03}
_SHARED = {
    "location": 0.1,
    "scale": 2.0,
    "noise_shape": 1.0,
    "noise_scale": 0.2,
    "spread_shape": 1.0,
    "spread_scale": 0.2,
    "least_variance": 0.02,
}
_FREE = {"location": 0.1, "scale": 2.0, "shape": 2.0, "noise": 0.2, "strength": 0.2}

MEASURED = {
    "gaussian-scalar": lik.Gaussian(sigma2=0.5, mu0=0.2, sigma0=4.0),
    "gaussian-diagonal": lik.Gaussian(sigma2=[0.5, 0.4, 0.6], mu0=[0.0, 0.1, 0.2], sigma0=4.0),
    "gaussian-full": lik.Gaussian(sigma2=_FULL, mu0=0.0, sigma0=8 * _FULL[::-1, ::-1]),
    "gaussian-uniform": lik.Gaussian(sigma2=priors.Uniform(0, 1.5), mu0=0.0, sigma0=4.0),
    "gaussian-inverse": lik.Gaussian(sigma2=priors.InverseGamma(2, 1), mu0=0.0, sigma0=_FULL),
    "gaussian-slice": lik.Gaussian(sigma2=priors.Gamma(2, 4), mu0=0.0, sigma0=[3.0, 4.0, 5.0]),
    "adaptive": lik.AdaptiveGaussian(covariance="diagonal", **_ADAPTIVE),
    "adaptive-spherical": lik.AdaptiveGaussian(covariance="spherical", **_ADAPTIVE),
    "shared": lik.SharedGaussian(covariance="diagonal", **_SHARED),
    "shared-spherical": lik.SharedGaussian(covariance="spherical", **_SHARED),
    "free": lik.FreeGaussian(covariance="diagonal", **_FREE),
    "free-spherical": lik.FreeGaussian(covariance="spherical", **_FREE),
    "full": lik.FullGaussian(nu=5.5, lam=0.2, mu0=0.0, sigma0=_FULL),
}

_COUNTED = {
    "bernoulli": lik.Bernoulli(a=0.6, b=[0.5, 0.8, 1.2]),
    "categorical": lik.Categorical(concentration=0.7, n_categories=[3, 4, 2]),
    "poisson": lik.Poisson(shape=[1.0, 1.5, 2.0], rate=0.5),
    "multinomial": lik.Multinomial(concentration=0.8, n_trials=9),
}

_MIXED = lik.Product(
    [
        (lik.SharedGaussian(covariance="diagonal", **_SHARED), [0, 4]),
        (lik.Bernoulli(a=0.6, b=0.9), [1]),
        (lik.Categorical(concentration=0.7, n_categories=3), [2]),
        (lik.Poisson(shape=1.0, rate=0.5), [3]),
        (lik.AdaptiveGaussian(covariance="diagonal", **_ADAPTIVE), [5]),
    ]
)

FAMILIES = {**MEASURED, **_COUNTED, "multinomial-sparse": _COUNTED["multinomial"], "mixed": _MIXED}

ALLOW_MISSING = [name for name, family in FAMILIES.items() if family.allows_missing]


def rows_of(family: str, n: int = N_ROWS):
    """Return n rows that the family can hold, in a few clear groups."""
    if family == "mixed":
        parts = [_measured(n)[:, :1], _bits(n)[:, :1], _codes(n)[:, :1], _counts(n)[:, :1]]
        return np.hstack([*parts, _measured(n)[:, 1:]])
    makers = {
        "bernoulli": _bits,
        "categorical": _codes,
        "poisson": _counts,
        "multinomial": _words,
        "multinomial-sparse": lambda n: sparse.csr_matrix(_words(n)),
    }
    return makers.get(family, _measured)(n)


def with_gaps(X):
    """Return the rows with some entries missing, and one row without any."""
    X = X.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.15] = np.nan
    X[3] = np.nan
    return X


def far_rows(family: str):
    """Return rows with two of them so far away that sums of statistics do not subtract well."""
    X, far = _measured(N_ROWS), 5e3 if family == "full" else 1e7
    X[4] += far
    X[9] -= 0.3 * far
    return X


def frame_columns() -> dict[str, list]:
    """Return the columns of a frame of numbers, truth values and text with gaps."""
    rng, which = np.random.default_rng(9), np.arange(N_ROWS) % 3
    weight = (4.0 + 9.0 * which + rng.standard_normal(N_ROWS)).tolist()
    coat = [str(word) for word in np.array(["short", "long", "curly"])[which]]
    weight[5], coat[7] = None, None
    coat[8] = "long"
    return {
        "weight": weight,
        "coat": coat,
        "barks": (which > 0).tolist(),
        "litters": rng.poisson(1.0 + 2.0 * which).tolist(),
    }


def frame_family() -> lik.Product:
    """Return a family for the frame, by the names of its columns."""
    return lik.Product(
        [
            (lik.FreeGaussian(covariance="diagonal", **_FREE), ["weight"]),
            (lik.Poisson(shape=1.0, rate=0.5), ["litters"]),
            (lik.Bernoulli(a=0.5, b=0.5), ["barks"]),
            ("categorical", ["coat"]),
        ]
    )


def _measured(n: int):
    """Return n rows of three numbers around four middles."""
    rng = np.random.default_rng(1)
    middles = np.array([[-3.0, -2.0, 0.0], [-3.0, 2.0, 0.5], [3.0, 2.5, -1.0], [2.0, -3.0, 1.0]])
    return middles[np.arange(n) % 4] + 0.7 * rng.standard_normal((n, 3))


def _bits(n: int):
    """Return n rows of three zeros or ones."""
    share = np.array([[0.9, 0.1, 0.2], [0.1, 0.8, 0.9], [0.5, 0.9, 0.1]])
    return (np.random.default_rng(2).random((n, 3)) < share[np.arange(n) % 3]).astype(float)


def _codes(n: int):
    """Return n rows of three codes, below 3, 4 and 2."""
    codes = np.random.default_rng(3).integers([3, 4, 2], size=(n, 3))
    codes[::2, 0], codes[1::3, 1] = 1, 3
    return codes.astype(float)


def _counts(n: int):
    """Return n rows of three counts."""
    rate = np.array([[1.0, 8.0, 3.0], [9.0, 1.0, 0.5]])
    return np.random.default_rng(4).poisson(rate[np.arange(n) % 2]).astype(float)


def _words(n: int):
    """Return n rows of counts of six words."""
    share = np.array([[5, 3, 1, 0.5, 0.3, 0.2], [0.2, 0.3, 0.5, 1, 3, 5]]) / 10
    rng = np.random.default_rng(6)
    return np.array([rng.multinomial(9 + i % 4, share[i % 2]) for i in range(n)]).astype(float)
