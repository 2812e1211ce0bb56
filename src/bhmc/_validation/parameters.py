"""Checks of parameters. Each raises one clear sentence that names the parameter."""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Two entries of a correlation matrix that should be equal may differ by this.
_ASYMMETRY = 1e-10


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


def check_whole_or(word: str, value, name: str, least: int) -> None:
    """A whole number of at least `least`, or the one word that stands for a choice of ours."""
    if isinstance(value, str):
        if value != word:
            raise TypeError(
                f"{name} must be a whole number of at least {least} or {word!r}, got {value!r}."
            )
    else:
        check_whole(value, name, least)


def check_choice(value, name: str, choices: tuple[str, ...]) -> str:
    """`value`, if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {listed}.")
    return value


def check_n_jobs(n_jobs) -> None:
    """Refuse anything but None and a whole number other than 0."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be a whole number or None, got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one chain at a time, -1 for all cores.")


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
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise TypeError(
            "random_state must be None, a whole number or one of numpy.random's SeedSequence, "
            f"Generator and RandomState, got {random_state!r}."
        )
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


def check_positive_vector(value: ArrayLike, n_features: int, name: str) -> NDArray[np.float64]:
    """`value` as a (d,) vector of numbers above 0; a single number is repeated."""
    vector = check_vector(value, n_features, name)
    if not (vector > 0).all():
        raise ValueError(f"{name} must be above 0, got {vector.min():g}.")
    return vector


def check_covariance(value: ArrayLike, n_features: int, name: str) -> NDArray[np.float64]:
    """`value` as a (d,) vector of variances or a positive definite (d, d) matrix."""
    covariance = _numbers(value, name)
    if covariance.ndim < 2:
        return check_positive_vector(covariance, n_features, name)
    if covariance.shape != (n_features, n_features):
        raise ValueError(
            f"{name} must be a number, {n_features} variances or a {n_features} x {n_features} "
            f"matrix, got shape {covariance.shape}."
        )
    variances = np.diag(covariance)
    if not (variances > 0).all():
        raise ValueError(f"{name} must have a diagonal above 0, got {variances.min():g} there.")
    # Judged as a correlation matrix, so that the units of the columns do not matter.
    scale = np.sqrt(variances)
    correlation = covariance / scale / scale[:, None]
    uneven = np.argwhere(np.abs(correlation - correlation.T) > _ASYMMETRY)
    if len(uneven):
        i, j = uneven[0].tolist()
        raise ValueError(
            f"{name} must be a symmetric matrix, got {covariance[i, j]:g} at [{i}, {j}] "
            f"and {covariance[j, i]:g} at [{j}, {i}]."
        )
    if np.linalg.eigvalsh(correlation)[0] <= n_features * np.finfo(float).eps:
        raise ValueError(f"{name} must be a positive definite matrix, and it is not.")
    return covariance


def _numbers(value: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be made of real numbers, got {value!r}.")
    array = array.astype(np.float64)
    bad = array[~np.isfinite(array)]
    if len(bad):
        raise ValueError(f"{name} must be finite, got {bad[0]:g}.")
    return array
