"""The families that "auto" takes."""

import numpy as np

from bhmc._frames import Columns
from bhmc.likelihoods._kinds import of_one_kind
from bhmc.likelihoods._names import by_name
from bhmc.likelihoods._protocol import Floats, Likelihood
from bhmc.likelihoods.product import Product


def choose(X) -> str:
    """The name of the family that "auto" takes for X, by its values alone.

    Nothing but 0 and 1 (and missing entries), and both of them: "bernoulli". Other numbers:
    "spherical_gaussian" where they are all of one kind, "gaussian" where not.
    """
    values = X[~np.isnan(X)]
    binary = bool(((values == 0) | (values == 1)).all()) and bool(values.any())
    if binary and not bool(values.all()):
        return "bernoulli"
    return "spherical_gaussian" if of_one_kind(X) else "gaussian"


def choose_by_column(X: Floats, columns: Columns) -> Likelihood:
    """The likelihood that "auto" takes for a frame, scaled to its numbers X.

    Categories: "categorical". True and false: "bernoulli". Numbers of one kind: what `choose` says
    of them all. Else columns of nothing but 0 and 1: what it says of them together; all others:
    "gaussian", whole numbers too, for counts cannot be told from ranks, years or measurements. One
    family for all columns stands alone.
    """
    categorical = sorted(columns.categories or {})
    numbers = [j for j in range(X.shape[1]) if j not in categorical]
    binary = [j for j in numbers if _only_0_and_1(X[:, j])]
    numeric = choose(X[:, [j for j in numbers if j not in columns.truths]])
    if numeric == "spherical_gaussian" or choose(X[:, binary]) != "bernoulli":
        binary = [j for j in binary if j in columns.truths]
    rest = [j for j in numbers if j not in binary]
    if numeric == "bernoulli":  # what is left has none of 0, or none of 1
        numeric = "gaussian"
    parts = [(numeric, rest), ("bernoulli", binary), ("categorical", categorical)]
    parts = [(name, own) for name, own in parts if own]
    if len(parts) == 1:
        return by_name(parts[0][0], X)
    return Product(parts, columns.names).settled(X)


def _only_0_and_1(column: Floats) -> bool:
    """Whether nothing else is there; missing entries aside."""
    return bool(((column == 0) | (column == 1) | np.isnan(column)).all())
