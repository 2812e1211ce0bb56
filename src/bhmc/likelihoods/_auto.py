"""The families that "auto" takes."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bhmc._validation.data import DENSE
from bhmc._validation.frames import Columns
from bhmc.likelihoods._kinds import of_one_kind
from bhmc.likelihoods._missing import has_missing
from bhmc.likelihoods._protocol import Likelihood
from bhmc.likelihoods._registry import by_name
from bhmc.likelihoods.blocks import Floats, slices
from bhmc.likelihoods.product import Product

# Counts of words: so many columns at least, more than this share of zeros, and more than this share
# of columns with a larger number than 1.
_LEAST_WORDS, _ZEROS, _MORE_THAN_FLAGS = 10, 2 / 3, 1 / 3


def choose(X: Any, located: bool = False) -> str:
    """The name of the family that "auto" takes for X, by its values alone.

    Nothing but 0 and 1 (and missing entries), and both of them: "bernoulli". Counts of words or the
    like, and sparse X always: "multinomial". Other numbers: "spherical_gaussian" where they are all
    of one kind, "gaussian" where not.

    Parameters
    ----------
    X : (n, d) array or SciPy sparse matrix
        The numbers.
    located : bool, default=False
        Whether the family must have a place on a diffusing tree: then dense counts of words are
        numbers like others. Two columns and more have "shaped_gaussian" where at least half of the
        rows lack no entry, and "shared_gaussian" takes the place of "gaussian" otherwise.
    """
    if sparse.issparse(X):
        if not bool(((X.data >= 0) & (X.data == np.floor(X.data))).all()):
            raise TypeError(DENSE)
        return "multinomial"
    if _is_binary(X):
        return "bernoulli"
    if not located and _are_word_counts(X):
        return "multinomial"
    if located:
        return _on_a_tree(X)
    return "spherical_gaussian" if of_one_kind(X) else "gaussian"


def _on_a_tree(X: Floats) -> str:
    """The family of numbers whose components have a place on a tree."""
    if X.shape[1] > 1 and _are_mostly_whole(X):
        return "shaped_gaussian"
    return "spherical_gaussian" if of_one_kind(X) else "shared_gaussian"


def _are_mostly_whole(X: Floats) -> bool:
    """Whether at least half of the rows that have an entry lack none: those show covariances."""
    if not has_missing(X):
        return True
    missing = np.isnan(X)
    whole, some = int((~missing.any(axis=1)).sum()), int((~missing.all(axis=1)).sum())
    return whole >= 2 and 2 * whole >= some


def _is_binary(X: Floats) -> bool:
    """Whether both 0 and 1 are there and nothing else; missing entries aside."""
    some = {0: False, 1: False}
    for part in (X[rows] for rows in slices(len(X))):
        for value in some:
            some[value] |= bool((part == value).any())
        if not _only_0_and_1(part):
            return False
    return all(some.values())


def _are_word_counts(X: Floats) -> bool:
    """Whether X holds whole numbers from 0 on, most of them 0, and is no table of flags.

    Nothing but counts of rare things looks like this in ten columns or more.
    """
    if X.shape[1] < _LEAST_WORDS:
        return False
    zeros, largest = 0, np.zeros(X.shape[1])
    for part in (X[rows] for rows in slices(len(X))):
        if not bool(((part >= 0) & (part == np.floor(part))).all()):
            return False
        zeros += int((part == 0).sum())
        largest = np.maximum(largest, part.max(axis=0))
    return zeros > _ZEROS * X.size and bool(np.mean(largest > 1) > _MORE_THAN_FLAGS)


def choose_by_column(
    X: Floats, columns: Columns, located: bool = False, numbers: str | None = None
) -> Likelihood:
    """The likelihood that "auto" takes for a table, scaled to its numbers X.

    Categories: "categorical". True and false: "bernoulli". Numbers of one kind and counts of words:
    what `choose` says of them all. Else columns of nothing but 0 and 1: what it says of them
    together; all others: "gaussian". So are whole numbers, because counts look like ranks, years or
    measurements. One family for all columns stands alone.

    Parameters
    ----------
    X : (n, d) array
        The numbers.
    columns : Columns
        What is known of the columns beyond their numbers.
    located : bool, default=False
        As in `choose`.
    numbers : str, optional
        The family of the columns that `numbers_on_a_tree` names, where another was chosen.
    """
    kinds = _kinds_of_columns(X, columns, located or numbers is not None)
    numeric = numbers or kinds.numeric
    parts = [
        (numeric, kinds.numbers),
        ("bernoulli", kinds.binary),
        ("categorical", kinds.categorical),
    ]
    parts = [(name, own) for name, own in parts if own]
    if len(parts) == 1:
        return by_name(parts[0][0], X)
    return Product(parts, columns.names).settled(X)


def numbers_on_a_tree(X, columns: Columns) -> list[int]:
    """The columns that get "shaped_gaussian" where components have a place on the tree.

    Parameters
    ----------
    X : (n, d) array or SciPy sparse matrix
        The numbers.
    columns : Columns
        What is known of the columns beyond their numbers.
    """
    if sparse.issparse(X):
        return []
    kinds = _kinds_of_columns(X, columns, located=True)
    return kinds.numbers if kinds.numeric == "shaped_gaussian" else []


def rows_that_lack_numbers(X, columns: Columns) -> tuple[int, int]:
    """(rows with a number of which another is missing, columns of numbers) of a table.

    Parameters
    ----------
    X : (n, d) array or SciPy sparse matrix
        The numbers.
    columns : Columns
        What is known of the columns beyond their numbers.
    """
    if sparse.issparse(X):
        return 0, 0
    numbers = _kinds_of_columns(X, columns, located=True).numbers
    missing = np.isnan(X[:, numbers])
    return int((missing.any(axis=1) & ~missing.all(axis=1)).sum()), len(numbers)


class _Kinds(NamedTuple):
    """Which columns of a table are of which kind."""

    numeric: str
    """The family of the numbers."""
    numbers: list[int]
    binary: list[int]
    categorical: list[int]


def _kinds_of_columns(X: Floats, columns: Columns, located: bool) -> _Kinds:
    """What `choose_by_column` takes each column for."""
    categorical = sorted(columns.categories or {})
    numbers = [j for j in range(X.shape[1]) if j not in categorical]
    binary = [j for j in numbers if _only_0_and_1(X[:, j])]
    others = X[:, [j for j in numbers if j not in columns.truths]]
    numeric = choose(others, located)
    of_all = numeric == "multinomial" or (numeric != "bernoulli" and of_one_kind(others))
    if of_all or choose(X[:, binary]) != "bernoulli":
        binary = [j for j in binary if j in columns.truths]
    rest = [j for j in numbers if j not in binary]
    if located and rest:
        numeric = _on_a_tree(X[:, rest])
    elif numeric == "bernoulli":  # what is left has none of 0, or none of 1
        numeric = "gaussian"
    return _Kinds(numeric, rest, binary, categorical)


def _only_0_and_1(entries: Floats) -> bool:
    """Whether nothing else is there; missing entries aside."""
    return bool(((entries == 0) | (entries == 1) | np.isnan(entries)).all())
