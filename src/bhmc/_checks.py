"""Input checks. Each raises one clear sentence that names the parameter or the column."""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bhmc._state import Hyper, State

# Squares of larger numbers are not finite in double precision.
LARGEST_VALUE = 1e150

# Two entries of a correlation matrix that should be equal may differ by this.
_ASYMMETRY = 1e-10

_TEXT = "X has the text {!r} in {}; values must be numbers."


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
    if not isinstance(value, str) or value not in choices:
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


def check_covariance(value: ArrayLike, n_features: int, name: str) -> NDArray[np.float64]:
    """`value` as a (d,) vector of variances or a positive definite (d, d) matrix."""
    covariance = _numbers(value, name)
    if covariance.ndim < 2:
        variances = check_vector(covariance, n_features, name)
        if not (variances > 0).all():
            raise ValueError(f"{name} must be above 0, got {variances.min():g}.")
        return variances
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


def check_functional_data(X, state: State) -> NDArray[np.float64]:
    """X of the functional layer as a finite float64 matrix, a row for each datum of `state`."""
    if not isinstance(state, State):
        raise TypeError(f"state must be a bhmc.State, got {type(state).__name__}.")
    X = check_matrix(X)
    if len(X) != len(state.paths):
        raise ValueError(f"X has {len(X)} rows but the state holds {len(state.paths)} data.")
    return X


def check_parameters(state: State, X: NDArray[np.float64], n_parameters: int) -> None:
    """Refuse a state whose theta was made for other data or another family."""
    if state.theta.shape[1] != n_parameters:
        raise ValueError(
            f"X has {X.shape[1]} columns, so theta needs {n_parameters} numbers a component, but "
            f"in the state it has {state.theta.shape[1]}."
        )


def check_matrix(X, *, least_rows: int = 1) -> NDArray[np.float64]:
    """X as a finite float64 matrix with at least `least_rows` rows and one column."""
    if sparse.issparse(X):
        raise TypeError("X is sparse, and the model needs a dense array: pass X.toarray().")
    names = column_names(X)
    cells = _cells(X)
    if cells.ndim != 2:
        raise ValueError(
            f"X must be a matrix of rows and columns, got shape {cells.shape}: Reshape your data, "
            "for example with X.reshape(-1, 1) for a single column."
        )
    # The words that scikit-learn's common checks look for.
    for count, what, least in zip(cells.shape, ("sample", "feature"), (least_rows, 1), strict=True):
        if count < least:
            raise ValueError(
                f"X has {count} {what}(s) (shape={cells.shape}) while a minimum of {least} is "
                "required."
            )
    if cells.dtype.kind == "c":
        row, j = divmod(int((np.imag(cells) != 0).argmax()), cells.shape[1])
        where = _place(row, j, names)
        raise ValueError(f"Complex data not supported: X has {cells[row, j]:g} in {where}.")
    if cells.dtype.kind in "mM":
        raise TypeError(f"X must hold numbers, got dates or times of dtype {cells.dtype}.")
    if cells.dtype.kind not in "fiub":
        cells = _parsed(cells, names)
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes inf
        matrix = np.ascontiguousarray(cells, dtype=np.float64)
    check_values(matrix, names)
    return matrix


def column_names(X) -> list[str] | None:
    """The names of X's columns where it is a frame and they are strings, else None."""
    columns = list(getattr(X, "columns", []))
    kinds = sorted({type(column).__name__ for column in columns})
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            f"X has column names of types {' and '.join(kinds)}; make them all strings, "
            "for example with X.columns = X.columns.astype(str)."
        )
    return columns if kinds == ["str"] else None


def check_values(X: NDArray[np.float64], names: list[str] | None) -> None:
    """Refuse NaN, infinity and values whose squares overflow, naming the first bad column."""
    column_worst = np.abs(X).max(axis=0)  # NaN wins a maximum, so one pass finds all three
    bad = np.flatnonzero(~(column_worst <= LARGEST_VALUE))
    if not len(bad):
        return
    j = int(bad[0])
    row = int(np.flatnonzero(~(np.abs(X[:, j]) <= LARGEST_VALUE))[0])
    value = X[row, j]
    what = "NaN (a missing value)" if np.isnan(value) else f"{value:g}"
    rule = "within 1e150" if np.isfinite(value) else "finite numbers"
    raise ValueError(f"X has {what} in {_place(row, j, names)}; values must be {rule}.")


def _place(row: int, column: int, names: list[str] | None) -> str:
    return f"column {column}{'' if names is None else f' ({names[column]!r})'}, row {row}"


def _cells(X) -> NDArray:
    """X as an array; of objects where it is not made of numbers, so that each can be named."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        cells = np.asarray(X)
    except ValueError:
        raise ValueError("X must be a matrix, got rows of different lengths.") from None
    return cells if cells.dtype.kind in "fiubcmM" else np.asarray(X, dtype=object)


def _parsed(cells: NDArray, names: list[str] | None) -> NDArray[np.float64]:
    """Objects as numbers, missing ones as NaN; text is refused even where it spells a number."""
    numbers = np.empty(cells.shape)
    spelled = None
    for (row, j), cell in np.ndenumerate(cells):
        text = isinstance(cell, str | bytes)
        try:
            missing = type(cell).__name__ in ("NoneType", "NAType", "NaTType")
            numbers[row, j] = math.nan if missing else float(cell)
        except OverflowError:  # a whole number beyond the doubles
            numbers[row, j] = math.inf
        except (TypeError, ValueError):
            where = _place(row, j, names)
            if text:
                raise ValueError(_TEXT.format(cell, where)) from None
            raise TypeError(
                f"X has a {type(cell).__name__} in {where}; this argument must be free of strings "
                "and other objects that are not numbers."
            ) from None
        if text and spelled is None:
            spelled = _TEXT.format(cell, _place(row, j, names))
    if spelled is not None:
        raise ValueError(spelled)
    return numbers


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
