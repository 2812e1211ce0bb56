"""Likelihood families: what a component looks like. One family a file, behind one protocol."""

import numpy as np

from bhmc.likelihoods._protocol import Family, Likelihood
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussian
from bhmc.likelihoods.bernoulli import Bernoulli
from bhmc.likelihoods.categorical import Categorical
from bhmc.likelihoods.free_gaussian import FreeGaussian
from bhmc.likelihoods.full_gaussian import FullGaussian
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.multinomial import Multinomial
from bhmc.likelihoods.poisson import Poisson
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
    "SharedGaussian",
    "choose",
    "kind_of",
    "resolve",
]

# What a name stands for where its scales come from data.
_BY_NAME: dict[str, type[Likelihood]] = {
    "gaussian": AdaptiveGaussian,
    "shared_gaussian": SharedGaussian,
    "free_gaussian": FreeGaussian,
    "full_gaussian": FullGaussian,
    "known_gaussian": Gaussian,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "poisson": Poisson,
    "multinomial": Multinomial,
}

NAMES = ("auto", *_BY_NAME)


def resolve(likelihood: str | Likelihood, X=None) -> Likelihood:
    """The object a name stands for, scaled to X where given; an object stands for itself.

    Without data "gaussian" is `Gaussian(1, 0, 1)`, which has nothing to learn its scales from.
    """
    if not isinstance(likelihood, str):
        return _checked(likelihood)
    kind = kind_of(likelihood)
    if X is not None:
        return (_BY_NAME[choose(X)] if likelihood == "auto" else kind).scaled_to(X)
    return Gaussian() if kind is AdaptiveGaussian else kind()


def kind_of(likelihood: str | Likelihood) -> type[Likelihood]:
    """The class that a name stands for where its scales come from data; an object's own."""
    if not isinstance(likelihood, str):
        return type(_checked(likelihood))
    if likelihood not in NAMES:
        names = ", ".join(repr(name) for name in NAMES)
        raise ValueError(f"likelihood={likelihood!r} is not known; choose one of {names}.")
    return AdaptiveGaussian if likelihood == "auto" else _BY_NAME[likelihood]


def choose(X) -> str:
    """The name of the family that "auto" takes for X, by its values alone.

    Nothing but 0 and 1 (and missing entries), and both of them: "bernoulli". Anything else:
    "gaussian".
    """
    values = X[~np.isnan(X)]
    binary = bool(((values == 0) | (values == 1)).all()) and bool(values.any())
    return "bernoulli" if binary and not bool(values.all()) else "gaussian"


def _checked(likelihood) -> Likelihood:
    if not isinstance(likelihood, Likelihood):
        raise TypeError(
            f"likelihood must be a name or an object of bhmc.likelihoods, got {likelihood!r}."
        )
    return likelihood
