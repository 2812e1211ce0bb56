"""Settings of the experiments, as `settings.toml` has them."""

import tomllib
from importlib import resources
from typing import Any

import numpy as np

from bhmc import likelihoods, priors

# What `quick` changes of a model; its other entries are the experiment's own.
_SWEEPS = ("n_warmup", "n_draws", "n_chains")


def read_settings(name: str, *, quick: bool = False) -> dict[str, Any]:
    """The settings of an experiment, with those of `quick` in their places where asked for."""
    text = (
        resources.files("bhmc._experiments").joinpath("settings.toml").read_text(encoding="utf-8")
    )
    settings = tomllib.loads(text)[name]
    changes = settings.pop("quick")
    if quick:
        _shorten(settings, changes)
    return settings


def _shorten(settings: dict[str, Any], changes: dict[str, Any]) -> None:
    """A model gets fewer sweeps, whatever is repeated fewer repeats; the rest is replaced."""
    own = {key: value for key, value in changes.items() if key not in (*_SWEEPS, "repeats")}
    settings.update(own)
    _shorten_parts(settings, changes)


def _shorten_parts(settings: dict[str, Any], changes: dict[str, Any]) -> None:
    for part in settings.values():
        if not isinstance(part, dict):
            continue
        if "n_levels" in part:
            part.update({key: changes[key] for key in _SWEEPS})
        elif "n_draws" in part:  # a rival has no chains
            part.update(n_warmup=changes["n_warmup"], n_draws=changes["n_draws"])
        if "repeats" in part:
            part["repeats"] = changes["repeats"]
        _shorten_parts(part, changes)


def model_parameters(settings: dict[str, Any], X: np.ndarray) -> dict[str, Any]:
    """Settings of a model as parameters of `BHMC`; a likelihood may take its scales from X."""
    parameters = dict(settings)
    if "likelihood" in parameters:
        parameters["likelihood"] = likelihood_of(parameters["likelihood"], X)
    if isinstance(parameters.get("moves"), list):
        parameters["moves"] = tuple(parameters["moves"])
    return parameters


def likelihood_of(settings: dict[str, Any] | str, X: np.ndarray) -> Any:
    """A likelihood by name, or a family with its numbers; `scaled` has it take the rest from X."""
    if isinstance(settings, str):
        return settings
    numbers = {key: _number(value) for key, value in settings.items() if key != "family"}
    family = getattr(likelihoods, settings["family"])
    if numbers.pop("scaled", False):
        return family.scaled_to(X, **numbers)
    return family(**numbers)


def _number(value: Any) -> Any:
    """A number as it is, or the prior that a table such as `{ uniform = [0, 0.1] }` names."""
    if isinstance(value, dict):
        ((name, arguments),) = value.items()
        return getattr(priors, name.capitalize())(*arguments)
    return value
