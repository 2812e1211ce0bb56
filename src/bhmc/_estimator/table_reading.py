"""How `BHMC` reads its data: the plan of columns, their numbers, names of rows. No mathematics."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._extras import import_pandas
from bhmc._validation.column_kinds import MOST_CATEGORIES
from bhmc._validation.column_plan import ColumnPlan, PlannedColumn
from bhmc._validation.data import column_names, row_names
from bhmc._validation.frames import Columns, is_frame
from bhmc._validation.planned_frames import (
    array_frame,
    frame_columns,
    item_names,
    known_frame,
    package_of,
    plan_frame,
)
from bhmc._validation.reading import read_data
from bhmc.likelihoods import Likelihood, Product, allows_sparse, categorical_columns, kind_of


class Given(NamedTuple):
    """The data of a fit."""

    X: Any
    """What the user gave; an Arrow table as a frame."""
    data: Any
    """(n, d) float64 array or sparse matrix of the fitted columns."""
    columns: Columns
    plan: ColumnPlan
    items: NDArray | None
    """Names of the rows."""


def read_for_fit(model: Any, X: Any, feature_names: Sequence[str] | None = None) -> Given:
    """X as a matrix of at least two rows, as the likelihood allows, and its plan.

    Parameters
    ----------
    model : BHMC
        Its `likelihood` and `columns` say how to read.
    X : array, sparse matrix, frame or Arrow table
        The data.
    feature_names : sequence of str, optional
        Names of the columns of an array or sparse matrix.
    """
    package, X = package_of(X), known_frame(X)
    names = _checked_names(X, feature_names)
    plan, table = _plan(model, X, names, package)
    data, columns = read_data(
        table,
        least_rows=2,
        allow_missing=kind_of(model.likelihood).allows_missing,
        allow_sparse=allows_sparse(model.likelihood),
        coded=partial(categorical_columns, model.likelihood),
        most_categories=MOST_CATEGORIES if _is_auto(model) else None,
        names=names,
        plan=plan,
    )
    if plan is None:
        plan = _plan_as_read(columns) if is_frame(X) else ColumnPlan()
    items = row_names(X) if plan.item_column is None else item_names(table, plan)
    return Given(X, data, columns, plan, items)


def _is_auto(model: Any) -> bool:
    return isinstance(model.likelihood, str) and model.likelihood == "auto"


def _checked_names(X: Any, given: Sequence[str] | None) -> list[str] | None:
    """`feature_names` as a list, if there is one for every column, and X has none of its own."""
    if given is None:
        return None
    if column_names(X) is not None:
        raise ValueError("feature_names names columns of an array; this X has names of its own.")
    names, width = list(given), np.shape(X)[1] if np.ndim(X) == 2 else X.shape[-1]
    if len(names) != width:
        raise ValueError(f"feature_names has {len(names)} names, but X has {width} columns.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"feature_names must be text, got {name!r}.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"feature_names has {twice!r} twice.")
    return [str(name) for name in names]


def _plan(
    model: Any, X: Any, names: list[str] | None, package: str
) -> tuple[ColumnPlan | None, Any]:
    """The plan, where X is a frame or `columns` is given; and X as a frame then."""
    asked = dict(model.columns or {})
    if asked and not is_frame(X):
        if sparse.issparse(X):
            raise TypeError("columns= is for frames and dense arrays; this X is sparse.")
        X, package = array_frame(X, names), "array"
    if not is_frame(X) or not (_is_auto(model) or asked):
        return None, X
    plan = plan_frame(X, asked, _is_auto(model), _text_taken(model, X, asked))
    if X.shape[1] and not plan.fitted:
        raise ValueError(
            "X has no column left to fit: all are ids, empty or dropped; columns= can say what "
            "they are."
        )
    _warn(plan)
    return plan._replace(frame=package), X


def _text_taken(model: Any, X: Any, asked: dict) -> set:
    """Names of the columns whose text the likelihood takes for categories."""
    left = [name for name in frame_columns(X) if asked.get(name) not in ("id", "drop")]
    names = None if column_names(X) is None else left
    taken = categorical_columns(model.likelihood, len(left), names) or ()
    chosen = {left[j] for j in taken}
    for name, use in asked.items():
        if use == "category" and name not in chosen:
            raise ValueError(
                f"columns has 'category' for {name!r}, which this likelihood cannot take: use "
                "likelihood='auto', or a Product with a categorical part."
            )
    return chosen


def _warn(plan: ColumnPlan) -> None:
    """Say once what may surprise: columns left out, years as categories, signs taken off."""
    surprising = [one for one in plan.columns if one.use in ("id", "drop", "category") or one.sign]
    said = ColumnPlan(tuple(surprising)).sentences()
    if said:
        text = " ".join(said)
        warnings.warn(f"X: {text}", UserWarning, stacklevel=8)


def _plan_as_read(columns: Columns) -> ColumnPlan:
    """The plan of a frame whose families a user named: types alone decide."""
    categories = columns.categories or {}
    width = len(columns.names or ())
    uses = ["category" if j in categories else "number" for j in range(width)]
    return ColumnPlan(
        tuple(
            PlannedColumn(name, use, use)
            for name, use in zip(columns.names or (), uses, strict=True)
        )
    )


def with_families(plan: ColumnPlan, likelihood: Likelihood, n_features: int) -> ColumnPlan:
    """The plan with the family that every fitted column has got.

    Parameters
    ----------
    plan : ColumnPlan
        What columns were taken for.
    likelihood : Likelihood
        What was fitted.
    n_features : int
        Columns that were fitted.
    """
    if not isinstance(likelihood, Product):
        return plan.with_families(dict.fromkeys(range(n_features), type(likelihood).__name__))
    pairs = zip(likelihood.families, likelihood.columns(n_features), strict=True)
    return plan.with_families({j: type(family).__name__ for family, own in pairs for j in own})


def categories_by_name(columns: Columns, plan: ColumnPlan) -> dict[Any, list]:
    """The categories of every column of text, by its name, or its number in X.

    Parameters
    ----------
    columns : Columns
        What is known of the fitted columns.
    plan : ColumnPlan
        What all columns were taken for.
    """
    called = plan.names or columns.names
    return {called[j] if called else j: labels for j, labels in (columns.categories or {}).items()}


def read_for_prediction(model: Any, X: Any) -> tuple[Any, bool]:
    """New rows with the columns of the fit, as a matrix; and whether X has a frame's columns.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    X : array, sparse matrix or frame
        The rows; an Arrow table must be a frame by now.
    """
    plan: ColumnPlan = getattr(model, "column_plan_", ColumnPlan())
    by_plan = bool(plan.frame)
    if by_plan and plan.frame == "array" and not is_frame(X):
        X = array_frame(X, None)
    elif by_plan and not is_frame(X) and len(plan.fitted) < len(plan.columns):
        X = np.asarray(X)[:, plan.fitted]
    matrix, _ = read_data(
        X,
        allow_missing=True,  # `Prediction` refuses it where the family does, but for empty rows
        allow_sparse=model.likelihood_.allows_sparse,
        seen=categories_by_number(model),
        names=fitted_names(model),
        plan=plan if by_plan else None,
    )
    return matrix, is_frame(X)


def categories_by_number(model: Any) -> dict[int, list]:
    """The categories that fit saw, by the number of their column in X.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    """
    plan: ColumnPlan = getattr(model, "column_plan_", ColumnPlan())
    names = [one.name for one in plan.columns] or list(getattr(model, "feature_names_in_", ()))
    return {names.index(key) if names else key: labels for key, labels in model.categories_.items()}


def fitted_names(model: Any) -> list[str] | None:
    """Names of the fitted columns, where they have some.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    """
    for name in ("feature_names_", "feature_names_in_"):
        if hasattr(model, name):
            return [str(one) for one in getattr(model, name)]
    return None


def width_of(model: Any) -> int:
    """How many columns were fitted.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    """
    plan: ColumnPlan = getattr(model, "column_plan_", ColumnPlan())
    return len(plan.fitted) if plan.columns else model.n_features_in_


def rows_with_text(model: Any, X: NDArray[np.float64]) -> Any:
    """Rows of fitted columns as a frame, categories in place of codes: of the kind that fit saw.

    Parameters
    ----------
    model : BHMC
        A fitted model.
    X : (n, d) array
        The rows.
    """
    plan: ColumnPlan = getattr(model, "column_plan_", ColumnPlan())
    fitted = plan.fitted or list(range(X.shape[1]))
    coded = {fitted.index(j): labels for j, labels in categories_by_number(model).items()}
    names = fitted_names(model) or list(fitted)
    if plan.frame in ("polars", "pyarrow", "duckdb"):
        found = _arrow_rows(plan.frame, X, coded, [str(name) for name in names])
        if found is not None:
            return found
    pandas = import_pandas("sample, where the fit saw text,")
    columns: dict[Any, Any] = dict(enumerate(X.T))
    for j, labels in coded.items():
        columns[j] = pandas.Categorical.from_codes(X[:, j].astype(int), labels)
    return pandas.DataFrame(columns).set_axis(names, axis=1)


def _arrow_rows(package: str, X: NDArray, coded: dict[int, list], names: list[str]) -> Any:
    """The rows as a frame of polars or a table of pyarrow; None where that is not installed."""
    columns = {
        name: [coded[j][int(code)] for code in X[:, j]] if j in coded else X[:, j]
        for j, name in enumerate(names)
    }
    try:
        if package == "polars":
            import polars

            return polars.DataFrame(columns)
        import pyarrow
    except ImportError:
        return None
    return pyarrow.table(columns)
