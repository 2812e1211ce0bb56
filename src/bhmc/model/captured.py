"""What checks of captured chains share. Chains come from files, and kernels check nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import CONCENTRATIONS, Hyper, is_positive

Invariants = Iterator[tuple[bool, str]]

# Data are within 1e150, and variances within its square. Squares of larger numbers are not finite,
# and kernels would look for draws for ever.
_LARGEST, _LARGEST_SHARED = 1e150, 1e300

_WRONG_KINDS = (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError)


def check(invariants: Invariants) -> None:
    """Raise ValueError with the first broken invariant, in words.

    Parameters
    ----------
    invariants : iterator of (bool, str)
        Whether each holds, and the sentence where it does not; later ones may rely on earlier ones.
    """
    try:
        with np.errstate(all="ignore"):
            broken = next((sentence for holds, sentence in invariants if not holds), None)
    except _WRONG_KINDS:  # something is missing, or is no array at all
        broken = "a part of it is missing or of another kind"
    if broken is not None:
        raise ValueError(f"the checkpoint is not valid: {broken}.")


def of_hyper(values: Any, asked: Hyper) -> Invariants:
    """(holds, sentence): concentrations are positive numbers, and those that are asked for.

    Parameters
    ----------
    values : mapping
        The concentrations in the file.
    asked : Hyper
        Those of the fit: numbers, or priors where they are learned.
    """
    yield isinstance(values, Mapping) and set(values) == set(Hyper._fields), "it lacks a number"
    for name in CONCENTRATIONS:
        yield is_positive(values[name]), f"{name} must be a finite number above 0"
        within_reach = 1 / _LARGEST <= values[name] <= _LARGEST
        as_given = values[name] == asked.concentrations[name]
        yield as_given or within_reach, f"{name} is beyond all that a chain can hold"
    for name, prior in asked.priors.items():
        yield prior.log_density(values[name]) > -np.inf, f"the prior of {name} excludes its number"
    n_components = values["n_components"]
    yield n_components == asked.n_components, "it has another number of components"
    yield n_components is None or type(n_components) is int, "it has no number of components"


def of_shared(shared: Any, family: Any) -> Invariants:
    """(holds, sentence): shared numbers are as many as the family has, and it can be at them.

    Parameters
    ----------
    shared : array
        In the file.
    family : ConjugateFamily
        Bound to the data.
    """
    right = is_array(shared, "f", (family.n_shared,), _LARGEST_SHARED)
    yield right, "its shared numbers are of another family"
    at = family.at(np.array(shared, dtype=np.float64))
    log_prior = np.asarray(at.log_prior_shared())
    yield not np.isnan(log_prior).any(), "its shared numbers are none of the family's"


def of_rows(component: Any, rows: Any, n_columns: int, first: int = 0) -> Invariants:
    """(holds, sentence): every row of the data has a component that there is.

    Parameters
    ----------
    component : array
        The column of every row.
    rows : Rows
        The data.
    n_columns : int
        Columns that there are.
    first : int, default=0
        The first column that rows may be in.
    """
    yield is_array(component, "iu", (rows.n_rows,)), "its rows are not those of the data"
    yield within(component, first, n_columns), "a row is nowhere"


def is_array(array: Any, kinds: str, shape: tuple[int, ...], largest: float = _LARGEST) -> bool:
    """Whether it is an array of this kind of type and this shape; of floats, none too large.

    Parameters
    ----------
    array : object
        What the file has.
    kinds : str
        Letters of NumPy's kinds.
    shape : tuple of int
        What it must be.
    largest : float, default=1e150
        No float may be larger in size.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.shape != shape:
        return False
    return array.dtype.kind != "f" or bool((np.abs(array) <= largest).all())  # NaN is not


def within(numbers: NDArray, least: int, beyond: int) -> bool:
    """Whether all are from `least` to before `beyond`.

    Parameters
    ----------
    numbers : array
        Whole numbers.
    least, beyond : int
        The range.
    """
    return bool(((numbers >= least) & (numbers < beyond)).all())
