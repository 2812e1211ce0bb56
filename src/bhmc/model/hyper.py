"""Concentrations: what a user says of them, as a `Hyper` with every number checked."""

from numbers import Real
from typing import Any

import numpy as np

from bhmc._validation.parameters import check_choice, check_positive, check_whole
from bhmc.model.registry import transition_named
from bhmc.model.state import Hyper
from bhmc.priors import LEARN_BY, Prior


def check_hyper(hyper: Hyper) -> Hyper:
    """`hyper` with every number checked and made a plain float or int; priors stay."""
    if not isinstance(hyper, Hyper):
        raise TypeError(f"hyper must be a bhmc.Hyper, got {type(hyper).__name__}.")
    k = hyper.n_components
    checked = {name: _number_or_prior(value, name) for name, value in hyper.concentrations.items()}
    return Hyper(**checked, n_components=None if k is None else check_whole(k, "n_components", 1))


def concentrations(
    *, fixed_components: int | None = None, hyper: str = "exact", transition: Any = "hdp", **given
) -> Hyper:
    """The `Hyper` that a user's words ask for: numbers, priors, "learn" or "auto".

    The transition says what "learn" and "auto" stand for.

    Parameters
    ----------
    fixed_components : int, optional
        K of the finite form.
    hyper : {"exact", "paper"}
        How concentrations are learned.
    transition : str or Transition
        Says what words stand for.
    **given
        A value for each of `CONCENTRATIONS`.
    """
    check_choice(hyper, "hyper", tuple(LEARN_BY))
    named = transition_named(transition)
    if fixed_components is not None:
        check_whole(fixed_components, "fixed_components", 1)
    words = {"learn": named.usual_priors(hyper), "auto": named.usual_numbers(hyper)}
    wanted = {
        name: words[value][name] if isinstance(value, str) and value in words else value
        for name, value in given.items()
    }
    return check_hyper(Hyper(**wanted, n_components=fixed_components))


def sample_hyper(hyper: Hyper, rng: np.random.Generator) -> Hyper:
    """`hyper` with a draw in place of each prior."""
    return hyper._replace(**{name: prior.sample(rng) for name, prior in hyper.priors.items()})


def _number_or_prior(value, name: str):
    if isinstance(value, Prior):
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return check_positive(value, name)
    raise TypeError(f"{name} must be a number above 0 or one of bhmc.priors, got {value!r}.")
