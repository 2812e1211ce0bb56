"""Which settings a search tries: drawn from priors, those of the paper's supplement by default."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np

from bhmc.likelihoods import AdaptiveGaussian, FullGaussian, Likelihood, SharedGaussian
from bhmc.priors import LEARN_BY, Beta, Gamma, Prior, Uniform

Draw = Callable[[np.random.Generator], Any]

# What `BHMC` itself takes; other names are numbers of the likelihood.
OF_THE_MODEL = ("n_levels", *LEARN_BY["exact"])

_KINDS = "a prior, a list of choices, a function of a generator, a number, 'learn' or None"


def supplement_levels(rng: np.random.Generator) -> int:
    """L = ceil(G + 1), G ~ Gamma(shape 4, scale 2)."""
    return math.ceil(rng.gamma(4.0, 2.0) + 1.0)


def supplement_freedom(n_features: int) -> Draw:
    """nu = 1 / U + d, U ~ Uniform(0, 1)."""
    return lambda rng: 1.0 / (1.0 - rng.random()) + n_features


def supplement(kind: type[Likelihood], n_features: int) -> dict[str, Any]:
    """The supplement's priors; those of nu and lam for the family that has them.

    The families that have a least variance, which the supplement does not know, search that.
    """
    priors: dict[str, Any] = {
        "n_levels": supplement_levels,
        "alpha": Gamma(2, 1),
        "gamma0": Gamma(5, 1),
        "gamma": Uniform(0, 1),
    }
    if issubclass(kind, FullGaussian):
        priors |= {"nu": supplement_freedom(n_features), "lam": Beta(5, 5)}
    if issubclass(kind, AdaptiveGaussian | SharedGaussian):
        priors["least_variance"] = Beta(1, 3)
    return priors


def check_priors(
    given: Mapping[str, Any] | None, kind: type[Likelihood], n_features: int
) -> dict[str, Any]:
    """The supplement's priors with those the user gave in their place; None takes one out."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"priors must be a dict from names to priors, got {given!r}.")
    known = [*OF_THE_MODEL, *(field.name for field in fields(kind))]  # type: ignore[arg-type]
    for name, value in (given or {}).items():
        if name not in known:
            listed = ", ".join(repr(one) for one in known)
            raise ValueError(f"priors has {name!r}, which is not one of {listed}.")
        if not (value is None or _is_drawable(value)):
            raise TypeError(f"priors[{name!r}] must be {_KINDS}, got {value!r}.")
    merged = supplement(kind, n_features) | dict(given or {})
    wanted = {name: value for name, value in merged.items() if value is not None}
    if not wanted:
        raise ValueError("priors leaves nothing to search: give at least one name a prior.")
    return wanted


def draw_settings(priors: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One draw of every setting, as plain numbers and words, in the order of the priors."""
    return {name: _plain(_draw(prior, rng), name) for name, prior in priors.items()}


def _is_drawable(value) -> bool:
    if isinstance(value, list | tuple):
        return len(value) > 0
    return isinstance(value, Prior | Real | str) or callable(value)


def _draw(prior, rng: np.random.Generator):
    if isinstance(prior, Prior):
        return prior.sample(rng)
    if isinstance(prior, list | tuple):
        return prior[int(rng.integers(len(prior)))]
    return prior(rng) if callable(prior) else prior


def _plain(value, name: str):
    """A number or word that JSON gives back unchanged."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or not isinstance(value, bool | int | float | str):
        raise TypeError(f"priors[{name!r}] must draw a number or a word, and drew {value!r}.")
    return value
