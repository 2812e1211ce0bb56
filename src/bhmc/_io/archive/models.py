"""Estimators in files: constructor parameters and what `fit` set."""

import os
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from bhmc._io.archive.errors import FileFormatError
from bhmc._io.archive.files import read, write
from bhmc._version import __version__
from bhmc.posterior.draws import Draws
from bhmc.tree import Tree

# What methods of a model hand to compiled code.
_ATTRIBUTES: dict[str, Any] = {
    "tree_": Tree,
    "dendrogram_": Tree | None,
    "draws_": Draws,
    "labels_": np.ndarray,
    "paths_": np.ndarray,
    "component_labels_": np.ndarray,
}

Model = TypeVar("Model", bound=BaseEstimator)


def save_model(model: BaseEstimator, path: str | os.PathLike) -> None:
    """Save an estimator, fitted or not: its parameters and all attributes that end in "_"."""
    fitted = {name: value for name, value in vars(model).items() if _is_fitted_name(name)}
    value = {
        "class": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "fitted": fitted,
    }
    write(path, "model", value)


def load_model(path: str | os.PathLike, cls: type[Model]) -> Model:
    """The estimator of class `cls` in a file. Parameters that it lacks have their defaults.

    So has `checkpoint`: a later fit would write where a file says.
    """
    value = read(path, "model")
    where = f"{os.fspath(path)!r} cannot be read:"
    parameters, fitted = _dict(value, "parameters", where), _dict(value, "fitted", where)
    if value.get("class") != cls.__name__:
        raise FileFormatError(f"{where} it holds a {value.get('class')}, not a {cls.__name__}.")
    parameters = {name: one for name, one in parameters.items() if name != "checkpoint"}
    known = cls._get_param_names()
    for name in parameters:
        if name not in known:
            raise FileFormatError(
                f"{where} it has the parameter {name!r}, which {cls.__name__} of bhmc "
                f"{__version__} does not know: upgrade bhmc, if a newer one wrote the file."
            )
    model = cls(**parameters)
    for name, attribute in fitted.items():
        if not _is_fitted_name(name):
            raise FileFormatError(f"{where} {name!r} is no name of a fitted attribute.")
        if not isinstance(attribute, _ATTRIBUTES.get(name, object)):
            raise FileFormatError(f"{where} its {name} is a {type(attribute).__name__}.")
        setattr(model, name, attribute)
    return model


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _dict(value: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    found = value.get(name)
    if not isinstance(found, dict):
        raise FileFormatError(f"{where} it holds no {name} of a model.")
    return found
