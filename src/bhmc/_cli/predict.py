"""`bhmc predict`: new rows in the tree of a run."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC
from bhmc._cli.blocks import TableInBlocks, table_to_place
from bhmc._cli.exit_codes import OK
from bhmc._cli.export import check_place, put_in_place, text_writer
from bhmc._cli.folder import RunFolder
from bhmc._cli.output import counted, print_json, say
from bhmc._cli.placing import FIELDS, nodes_of, write_places
from bhmc._cli.results import path_text, refusals_of
from bhmc._cli.show import load_run
from bhmc._cli.tables import reading_of
from bhmc._cli.texts import read_texts, saved_features, with_numbers
from bhmc._estimator.empty_rows import NOWHERE, EmptyRowsWarning
from bhmc._io.csv_text import csv_text
from bhmc._io.npy_file import write_npy
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, refusals
from bhmc.model.state import paths_to

_COLUMNS = (
    *("name", "leaf", "label", "path", "component"),
    *("probability", "new_branch", "new_component"),
)
_NUMBERS = ("probability", "new_branch", "new_component")
_NPY = ".npy"


def predict(options) -> int:
    """Place the rows and write where they went."""
    folder, record, model = load_run(options.folder)
    table = _rows_in_blocks(options, record["data"])
    if table is not None:
        return _predict_in_blocks(options, model, table, not record["data"]["is_matrix"])
    table = _new_rows(options, record["data"], folder)
    found = _places_of_table(model, table, record["data"]["is_matrix"], options.outliers)
    if options.output is not None and Path(options.output).suffix == _NPY:
        put_in_place(Path(options.output), _records_writer(found, options.outliers))
        said_of_rows(options, len(found["label"]))
        return OK
    rows = _lines(model, table, found)
    columns = (*_COLUMNS, "outlier_score") if options.outliers else _COLUMNS
    text = csv_text(columns, rows, raw=options.raw)
    if options.output is not None:
        put_in_place(Path(options.output), text_writer(text))
        say(f"Wrote {options.output}: {counted(len(rows), 'row')}.")
    if options.json:
        print_json({"rows": [dict(zip(columns, row, strict=True)) for row in rows]})
    elif options.output is None:
        print(text, end="")
    return OK


def said_of_rows(options, n_rows: int) -> None:
    """Say how many rows are written, as text or as JSON."""
    if options.json:
        print_json({"written": options.output, "rows": n_rows})
    else:
        say(f"Wrote {options.output}: {counted(n_rows, 'row')}.")


def _predict_in_blocks(options, model: BHMC, table: TableInBlocks, framed: bool) -> int:
    """The same where rows stay in the file: what is said of them goes to a file, too."""
    if options.output is None or Path(options.output).suffix != _NPY:
        raise RefusedError(
            f"rows of {table.path} are read in blocks, and where they belong is written as records "
            f"of a .npy file: name it, as in -o places.npy."
        )
    check_place(Path(options.output))
    say(f"{table.said()} Placing {counted(table.shape[0], 'row')}.")
    places = partial(_places, outliers=options.outliers)
    n_empty = write_places(
        Path(options.output), model, table, _fields(options.outliers), places, framed
    )
    if n_empty:
        say(f"{counted(n_empty, 'row')} without any entry, placed nowhere (-1 and NaN).")
    said_of_rows(options, table.shape[0])
    return OK


def _fields(outliers: bool) -> dict[str, Any]:
    """The fields of a record."""
    numbers = (*_NUMBERS, "outlier_score") if outliers else _NUMBERS
    return FIELDS | dict.fromkeys(numbers, np.float64)


def _places(model: BHMC, X: Any, outliers: bool) -> dict[str, NDArray]:
    """The fields of some rows."""
    probability, new_branch = model.predict_proba(X, return_new=True)
    new_component = model.transform(X, return_new=True)[1]
    numbers = (probability.max(axis=1), new_branch, new_component)
    found = nodes_of(model, X) | dict(zip(_NUMBERS, numbers, strict=True))
    return found | ({"outlier_score": model.outlier_scores(X)} if outliers else {})


def _places_of_table(
    model: BHMC, table: Table, as_matrix: bool, outliers: bool
) -> dict[str, NDArray]:
    """The fields of all rows of a table in memory; those without any entry are said."""
    with refusals_of(table), warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowsWarning)  # said below, in the words of the file
        found = _places(model, table.data(as_matrix), outliers)
    names = zip(table.row_names(), found["label"], strict=True)
    _say_what_is_empty([name for name, label in names if label == NOWHERE])
    return found


def _records_writer(found: Mapping[str, NDArray], outliers: bool) -> Callable[[Path], Any]:
    fields = _fields(outliers)
    records = np.empty(len(found["label"]), dtype=list(fields.items()))
    for name in fields:
        records[name] = found[name]
    return lambda path: write_npy(path, records)


def _lines(model: BHMC, table: Table, found: Mapping[str, NDArray]) -> list[tuple]:
    """A line for each row; one without any entry has its name alone."""
    leaf, label, component = (found[name].tolist() for name in FIELDS)
    numbers = [values.tolist() for name, values in found.items() if name not in FIELDS]
    at = np.where(found["label"] == NOWHERE, model.tree_.leaves[0], found["leaf"])
    paths = paths_to(at, model.tree_.parents, model.tree_.n_levels)
    nothing = (None,) * (4 + len(numbers))
    return [
        (name, *nothing)
        if label[i] == NOWHERE
        else (
            *(name, leaf[i], label[i], path_text(paths[i]), component[i]),
            *(values[i] for values in numbers),
        )
        for i, name in enumerate(table.row_names())
    ]


def _say_what_is_empty(names: list) -> None:
    if names:
        listed = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        say(
            f"{counted(len(names), 'row')} without any entry, placed nowhere (empty cells): "
            f"{listed}."
        )


def _rows_in_blocks(options, fitted: dict[str, Any]) -> TableInBlocks | None:
    """The table if its rows stay in the file: the columns that were fitted, all of them numbers."""
    others = _more_than_numbers(fitted)
    if others:
        if options.blocks:
            raise RefusedError(
                f"--blocks: column {others[0]!r} of the run holds more than numbers, and rows that "
                f"are read in blocks must hold numbers alone: leave out --blocks."
            )
        return None
    return table_to_place(options, reading_of(options), fitted["names"])


def _more_than_numbers(fitted: dict[str, Any]) -> list[str]:
    """Fitted columns of text, categories, truths or dates."""
    kinds = _kinds(fitted)
    texts = fitted.get("texts", {"columns": ()})["columns"]
    return [*texts, *(name for name, use in kinds.items() if use != "number")]


def _new_rows(options, fitted: dict[str, Any], folder: RunFolder) -> Table:
    """The columns that were fitted, in their order and of their kinds."""
    reading = _reading(options, fitted)
    columns = fitted.get("texts", {}).get("columns", [])
    table, texts = read_texts(options.data, reading, columns, lenient=True)
    if columns:
        with refusals():
            table = with_numbers(table, texts, saved_features(folder))
    missing = [name for name in fitted["names"] if name not in table.names]
    if missing:
        listed = ", ".join(repr(name) for name in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise RefusedError(f"{table.path} lacks columns that were fitted: {listed}{more}.")
    known = (*fitted["names"], *columns, fitted["item_column"], table.item_column)
    left_out = [one.name for one in table.plan.columns if one.name not in known]
    if left_out:
        shown = ", ".join(map(repr, left_out[:5])) + (", ..." if len(left_out) > 5 else "")
        say(f"Left out, because they were not fitted: {shown}.")
    return table.select(fitted["names"])


def _reading(options, fitted: dict[str, Any]) -> Reading:
    """As the fitted table was read, but for what is said of this one."""
    was, said = Reading.from_json(fitted["reading"]), reading_of(options)
    kinds = {**_kinds(fitted), **dict(said.kinds)}
    texts = fitted.get("texts", {"columns": (), "numbers": ()})
    needed = [name for name in fitted["names"] if name not in texts["numbers"]]
    item_column = fitted["item_column"] if said.id is None else said.id
    return replace(
        said,
        id=item_column,
        no_id=said.no_id or (was.no_id and said.id is None),
        kinds=tuple(kinds.items()),
        thousands=said.thousands or was.thousands,
        only=(*needed, *texts["columns"]),
        decimal=said.decimal if said.decimal != "." else was.decimal,
        encoding=said.encoding or was.encoding,
        header=was.header if said.header is None else said.header,
    )


def _kinds(fitted: dict[str, Any]) -> dict[str, str]:
    """What the fitted columns were taken for; a run of an older bhmc says number or text."""
    if fitted.get("plan"):
        uses = {column["name"]: column["use"] for column in fitted["plan"]}
        return {name: uses[name] for name in fitted["names"] if name in uses}
    if fitted["is_matrix"]:
        return {}
    as_use = {"number": "number", "text": "category"}
    return {name: as_use[kind] for name, kind in zip(fitted["names"], fitted["kinds"], strict=True)}
