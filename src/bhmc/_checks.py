"""Input checks. Each raises one clear sentence that names the parameter or the column."""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bhmc._state import Hyper

# Squares of larger numbers are not finite in double precision.
LARGEST_VALUE = 1e150


def check_positive(value, name: str) -> float:
    """`value` as a float, if it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number above 0, got {value!r}.")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be finite and above 0, got {value!r}.")
    return number


def check_whole(value, name: str, least: int) -> int:
    """`value` as an int, if it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")
    return int(value)


def check_choice(value, name: str, choices: tuple[str, ...]) -> str:
    """`value`, if it is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {listed}.")
    return value


def check_hyper(hyper: Hyper) -> Hyper:
    """`hyper` with every number checked and made a plain float or int."""
    if not isinstance(hyper, Hyper):
        raise TypeError(f"hyper must be a bhmc.Hyper, got {type(hyper).__name__}.")
    k = hyper.n_components
    return Hyper(
        check_positive(hyper.alpha, "alpha"),
        check_positive(hyper.gamma0, "gamma0"),
        check_positive(hyper.gamma, "gamma"),
        None if k is None else check_whole(k, "n_components", 1),
    )


def check_rng(rng) -> np.random.Generator:
    """`rng`, if it is a NumPy Generator."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy.random.Generator (see numpy.random.default_rng), got {rng!r}."
        )
    return rng


def seed_sequence(random_state) -> np.random.SeedSequence:
    """One SeedSequence from None, an int, a SeedSequence, a Generator or a RandomState.

    A Generator or RandomState is drawn from, so two fits with the same object differ.
    """
    if isinstance(random_state, np.random.SeedSequence):
        # A copy: spawning from the caller's own would make a second fit differ from the first.
        return np.random.SeedSequence(
            random_state.entropy, spawn_key=random_state.spawn_key, pool_size=random_state.pool_size
        )
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**31 - 1, size=4).tolist())
    if random_state is None:
        return np.random.SeedSequence()
    return np.random.SeedSequence(check_whole(random_state, "random_state", 0))


def check_vector(value: ArrayLike, n_features: int, name: str) -> NDArray[np.float64]:
    """`value` as a (d,) vector; a single number is repeated."""
    vector = _numbers(value, name)
    if vector.ndim == 0:
        return np.full(n_features, float(vector))
    if vector.shape != (n_features,):
        raise ValueError(
            f"{name} must be a number or hold one for each of the {n_features} features, "
            f"got shape {vector.shape}."
        )
    return vector


def check_covariance(value: ArrayLike, n_features: int, name: str) -> NDArray[np.float64]:
    """`value` as a (d,) vector of variances or a positive definite (d, d) matrix."""
    covariance = _numbers(value, name)
    if covariance.ndim < 2:
        variances = check_vector(covariance, n_features, name)
        if not (variances > 0).all():
            raise ValueError(f"{name} must be above 0, got {variances.min()!r}.")
        return variances
    if covariance.shape != (n_features, n_features):
        raise ValueError(
            f"{name} must be a number, {n_features} variances or a {n_features} x {n_features} "
            f"matrix, got shape {covariance.shape}."
        )
    if not np.allclose(covariance, covariance.T, rtol=1e-10, atol=0):
        raise ValueError(f"{name} must be a symmetric matrix.")
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise ValueError(f"{name} must be positive definite, and it is not.") from None
    return covariance


def check_functional_data(X, n: int | None = None) -> NDArray[np.float64]:
    """X of the functional layer as a finite float64 matrix, with n rows where n is given."""
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(f"X must be a matrix with rows and columns, got shape {X.shape}.")
    if n is not None and len(X) != n:
        raise ValueError(f"X has {len(X)} rows but the state holds {n} data.")
    if not (np.issubdtype(X.dtype, np.number) or X.dtype == bool) or np.iscomplexobj(X):
        raise TypeError(f"X must hold real numbers, got dtype {X.dtype}.")
    X = np.ascontiguousarray(X, dtype=np.float64)
    check_values(X, None)
    return X


def check_values(X: NDArray[np.float64], feature_names) -> None:
    """Refuse NaN, infinity and values whose squares overflow, naming the first bad column."""
    column_worst = np.abs(X).max(axis=0)  # NaN wins a maximum, so one pass finds all three
    bad = np.flatnonzero(~(column_worst <= LARGEST_VALUE))
    if not len(bad):
        return
    j = int(bad[0])
    name = f"column {j}" if feature_names is None else f"column {j} ({feature_names[j]!r})"
    row = int(np.flatnonzero(~(np.abs(X[:, j]) <= LARGEST_VALUE))[0])
    value = X[row, j]
    what = "NaN" if np.isnan(value) else ("inf" if np.isinf(value) else f"{value:g}")
    rule = "values must be finite" if not np.isfinite(value) else "values must be within 1e150"
    raise ValueError(f"X has {what} in {name}, row {row}; {rule}.")


def _numbers(value: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be made of real numbers, got {value!r}.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return array
