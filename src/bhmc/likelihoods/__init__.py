"""Likelihood families: what a component looks like. One family a file, behind one protocol."""

from bhmc.likelihoods._protocol import Family, Likelihood
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.shared_gaussian import SharedGaussian

__all__ = ["Family", "Gaussian", "Likelihood", "SharedGaussian", "resolve"]

_BY_NAME = {"gaussian": Gaussian}


def resolve(likelihood: str | Likelihood, X=None) -> Likelihood:
    """The object a name stands for, scaled to X where given; an object stands for itself."""
    if isinstance(likelihood, str):
        if likelihood not in _BY_NAME:
            names = ", ".join(repr(name) for name in _BY_NAME)
            raise ValueError(f"likelihood={likelihood!r} is not known; choose one of {names}.")
        family = _BY_NAME[likelihood]
        return family() if X is None else family.scaled_to(X)
    if isinstance(likelihood, type) or not callable(getattr(likelihood, "prepare", None)):
        raise TypeError(
            f"likelihood must be a name or an object of bhmc.likelihoods, got {likelihood!r}."
        )
    return likelihood
