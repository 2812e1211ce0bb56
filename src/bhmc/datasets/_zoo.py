"""The Zoo data."""

from typing import Any

import numpy as np

from bhmc.datasets._files import bundled_bytes, bundled_text, numbers_bunch, rows_of

# The order of the UCI repository, which numbers the types from 1.
_TYPES = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")
_KINDS = ("vertebrate", "invertebrate")


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
        - `levels`: integer array (101, 2), the annotation and the type;
        - `level_names`: names of the classes of each level;
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
    header, rows = rows_of(bundled_bytes("zoo.csv"))
    target = np.array([_TYPES.index(row[-2]) for row in rows], dtype=np.int64)
    kinds = np.array([_KINDS.index(row[-1]) for row in rows], dtype=np.int64)
    return numbers_bunch(
        np.array([row[1:-2] for row in rows], dtype=np.float64),
        target,
        header[1:-2],  # name | features | type, level1_annotation
        return_X_y=return_X_y,
        as_frame=as_frame,
        target_names=np.array(_TYPES),
        names=np.array([row[0] for row in rows]),
        annotation=np.array([row[-1] for row in rows]),
        levels=np.column_stack([kinds, target]),
        level_names=[np.array(_KINDS), np.array(_TYPES)],
        DESCR=bundled_text("README.md"),
    )
