"""Likelihood families: what a component looks like. One family a file, behind one protocol."""

from collections.abc import Sequence

from bhmc._validation.frames import Columns
from bhmc.likelihoods._auto import choose, choose_by_column
from bhmc.likelihoods._names import BY_NAME, by_name
from bhmc.likelihoods._protocol import Family, Likelihood
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussian
from bhmc.likelihoods.bernoulli import Bernoulli
from bhmc.likelihoods.categorical import Categorical
from bhmc.likelihoods.free_gaussian import FreeGaussian
from bhmc.likelihoods.full_gaussian import FullGaussian
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.multinomial import Multinomial
from bhmc.likelihoods.poisson import Poisson
from bhmc.likelihoods.product import Product
from bhmc.likelihoods.shared_gaussian import SharedGaussian

__all__ = [
    "AdaptiveGaussian",
    "Bernoulli",
    "Categorical",
    "Family",
    "FreeGaussian",
    "FullGaussian",
    "Gaussian",
    "Likelihood",
    "Multinomial",
    "Poisson",
    "Product",
    "SharedGaussian",
    "allows_sparse",
    "by_name",
    "categorical_columns",
    "choose",
    "kind_of",
    "resolve",
]

NAMES = ("auto", *BY_NAME)


def resolve(likelihood: str | Likelihood, X=None, columns: Columns | None = None) -> Likelihood:
    """The object a name stands for, scaled to X where given; an object stands for itself.

    Without data "gaussian" is `Gaussian(1, 0, 1)`, which has nothing to learn its scales from.
    `columns` is what is known of those of X beyond their numbers.
    """
    columns = columns or Columns()
    kind_of(likelihood)
    if X is None:
        return _without_data(likelihood, columns)
    return _with_data(likelihood, X, columns).counted(X)


def _without_data(likelihood: str | Likelihood, columns: Columns) -> Likelihood:
    if isinstance(likelihood, Product):
        return likelihood.named(columns.names).settled()
    if not isinstance(likelihood, str):
        return likelihood
    return by_name("gaussian" if likelihood == "auto" else likelihood)


def _with_data(likelihood: str | Likelihood, X, columns: Columns) -> Likelihood:
    if isinstance(likelihood, Product):
        return likelihood.named(columns.names).settled(X)
    if not isinstance(likelihood, str):
        return likelihood
    if likelihood != "auto":
        return by_name(likelihood, X)
    if columns.categories is None:
        return by_name(choose(X), X)
    return choose_by_column(X, columns)


def kind_of(likelihood: str | Likelihood) -> type[Likelihood] | Likelihood:
    """The class that a name stands for where its scales come from data; an object itself."""
    if not isinstance(likelihood, str):
        return _checked(likelihood)
    if likelihood not in NAMES:
        names = ", ".join(NAMES)
        raise ValueError(f"likelihood={likelihood!r} is not known; choose one of {names}.")
    return AdaptiveGaussian if likelihood == "auto" else BY_NAME[likelihood]


def allows_sparse(likelihood: str | Likelihood) -> bool:
    """Whether X may be sparse; "auto" finds out whether it holds counts."""
    return likelihood == "auto" or kind_of(likelihood).allows_sparse


def categorical_columns(
    likelihood: str | Likelihood, n_features: int, names: list[str] | None
) -> Sequence[int] | None:
    """The columns of a frame whose text the likelihood takes for categories; None if of none."""
    if isinstance(likelihood, Product):
        likelihood = likelihood.named(names)
        pairs = zip(likelihood.families, likelihood.columns(n_features), strict=True)
        own = [j for family, own in pairs if isinstance(family, Categorical) for j in own]
        return own or None
    takes_all = likelihood in ("auto", "categorical") or isinstance(likelihood, Categorical)
    return range(n_features) if takes_all else None


def _checked(likelihood) -> Likelihood:
    if not isinstance(likelihood, Likelihood):
        raise TypeError(
            f"likelihood must be a name or an object of bhmc.likelihoods, got {likelihood!r}."
        )
    return likelihood
