"""Bundled data, in the style of `sklearn.datasets`."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = ["load_zoo"]

# The order of the UCI repository, which numbers the types from 1.
_ZOO_TYPES = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")


def load_zoo(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Zoo data: 101 animals, 16 features, 7 types.

    Fifteen features are 0 or 1; `legs` counts legs (0 to 8). Nothing is scaled.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=False
        Return `data` as a pandas DataFrame and `target` as a Series. Needs pandas.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With the entries

        - `data`: float64 array (101, 16), or a DataFrame;
        - `target`: integer array (101,), the type as an index into `target_names`, or a Series;
        - `frame`: DataFrame of features and target if `as_frame`, else None;
        - `target_names`: the 7 types, in the order of the UCI repository;
        - `names`: the animals' names; "frog" occurs twice, as in the original;
        - `annotation`: "vertebrate" or "invertebrate" for each animal;
        - `feature_names`: list of 16 names;
        - `DESCR`: description, source, licence and attribution.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from bhmc.datasets import load_zoo
    >>> zoo = load_zoo()
    >>> zoo.data.shape
    (101, 16)
    >>> print(zoo.names[0], "is a", zoo.target_names[zoo.target[0]])
    aardvark is a mammal
    """
    pandas = _import_pandas() if as_frame else None

    folder = resources.files(__name__) / "data"
    header, *rows = csv.reader((folder / "zoo.csv").read_text(encoding="utf-8").splitlines())
    feature_names = header[1:-2]  # name | features | type, level1_annotation

    data: Any = np.array([row[1:-2] for row in rows], dtype=np.float64)
    target: Any = np.array([_ZOO_TYPES.index(row[-2]) for row in rows], dtype=np.int64)
    frame = None
    if pandas is not None:
        data = pandas.DataFrame(data, columns=feature_names)
        target = pandas.Series(target, name="target")
        frame = pandas.concat([data, target], axis=1)

    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        target_names=np.array(_ZOO_TYPES),
        names=np.array([row[0] for row in rows]),
        annotation=np.array([row[-1] for row in rows]),
        feature_names=feature_names,
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )


def _import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas: install it with `pip install bhmc[pandas]`."
        ) from error
    return pandas
