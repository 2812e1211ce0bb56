"""From what a user writes as `likelihood` to an object: names, "auto", columns of frames."""

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from bhmc._validation.frames import Columns
from bhmc.likelihoods._auto import choose, choose_by_column
from bhmc.likelihoods._protocol import Likelihood
from bhmc.likelihoods._registry import AUTO, by_name, names, unscaled
from bhmc.likelihoods.categorical import Categorical
from bhmc.likelihoods.multinomial import Multinomial
from bhmc.likelihoods.product import Product


def resolve(
    likelihood: str | Likelihood,
    X: Any = None,
    columns: Columns | None = None,
    located: bool = False,
    numbers: str | None = None,
) -> Likelihood:
    """The object that a name stands for; an object stands for itself.

    Parameters
    ----------
    likelihood : str or Likelihood
        A name, "auto", or an object.
    X : (n, d) array, optional
        All rows of the data, from which a likelihood given by name takes its scales. Without data
        "gaussian" is `Gaussian(1, 0, 1)`, which has nothing to learn its scales from.
    columns : Columns, optional
        What is known of the columns of X beyond their numbers.
    located : bool, default=False
        Whether "auto" takes families that have a place on a diffusing tree.
    numbers : str, optional
        As in `choose_by_column`: the family that "auto" takes for numbers.
    """
    columns = columns or Columns()
    kind_of(likelihood)
    if X is None:
        return _without_data(likelihood, columns)
    return _with_data(likelihood, X, columns, located, numbers).counted(X)


def _without_data(likelihood: str | Likelihood, columns: Columns) -> Likelihood:
    if isinstance(likelihood, Product):
        return likelihood.named(columns.names).settled()
    if not isinstance(likelihood, str):
        return likelihood
    return by_name("gaussian" if likelihood == AUTO else likelihood)


def _with_data(
    likelihood: str | Likelihood, X, columns: Columns, located: bool, numbers: str | None
) -> Likelihood:
    if isinstance(likelihood, Product):
        return likelihood.named(columns.names).settled(X)
    if not isinstance(likelihood, str):
        return likelihood
    if likelihood != AUTO:
        return by_name(likelihood, X)
    if sparse.issparse(X):
        return by_name(choose(X, located), X)
    return choose_by_column(X, columns, located, numbers)


def kind_of(likelihood: str | Likelihood, located: bool = False) -> Likelihood:
    """What a name stands for where its scales come from data, without them; an object itself."""
    if not isinstance(likelihood, str):
        return _checked(likelihood)
    if likelihood not in names():
        raise ValueError(f"likelihood={likelihood!r} is none of {_listed(names())}.")
    numbers = "shared_gaussian" if located else "gaussian"
    return unscaled(numbers if likelihood == AUTO else likelihood)


def _listed(names: Sequence[str]) -> str:
    """The names, those of Gaussian families in short: auto, ..., {shared, free}_gaussian."""
    kinds = [name.removesuffix("_gaussian") for name in names if name.endswith("_gaussian")]
    others = [name for name in names if not name.endswith("_gaussian")]
    return f"{', '.join(others)}, {{{', '.join(kinds)}}}_gaussian"


def allows_sparse(likelihood: str | Likelihood) -> bool:
    """Whether X may be sparse; "auto" finds out whether it holds counts."""
    return likelihood == AUTO or kind_of(likelihood).allows_sparse


def categorical_columns(
    likelihood: str | Likelihood, n_features: int, names: list[str] | None
) -> Sequence[int] | None:
    """The columns of a frame whose text the likelihood takes for categories; None if of none.

    Parameters
    ----------
    likelihood : str or Likelihood
        A name, "auto", or an object.
    n_features : int
        Number of columns of the frame.
    names : list of str or None
        Names of the columns.
    """
    if isinstance(likelihood, Product):
        likelihood = likelihood.named(names)
        pairs = zip(likelihood.families, likelihood.columns(n_features), strict=True)
        own = [j for family, own in pairs if isinstance(family, Categorical) for j in own]
        return own or None
    takes_all = likelihood in (AUTO, "categorical") or isinstance(likelihood, Categorical)
    return range(n_features) if takes_all else None


def word_columns(likelihood: Likelihood, n_features: int) -> list[int]:
    """The columns of a multinomial family: counts that share a row's total, such as words.

    Parameters
    ----------
    likelihood : Likelihood
        The family of all columns.
    n_features : int
        Number of columns.
    """
    if isinstance(likelihood, Product):
        pairs = zip(likelihood.families, likelihood.columns(n_features), strict=True)
        return sorted(j for family, own in pairs if isinstance(family, Multinomial) for j in own)
    return list(range(n_features)) if isinstance(likelihood, Multinomial) else []


def _checked(likelihood) -> Likelihood:
    if not isinstance(likelihood, Likelihood):
        raise TypeError(
            f"likelihood must be a name or an object of bhmc.likelihoods, got {likelihood!r}."
        )
    return likelihood
