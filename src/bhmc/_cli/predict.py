"""`bhmc predict`: new rows in the tree of a run."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from bhmc import BHMC
from bhmc._cli.exit_codes import OK
from bhmc._cli.export import put_in_place, text_writer
from bhmc._cli.fit import reading_of
from bhmc._cli.folder import RunFolder
from bhmc._cli.output import counted, print_json, say
from bhmc._cli.results import path_text, refusals_of
from bhmc._cli.show import load_run
from bhmc._cli.texts import read_texts, saved_features, with_numbers
from bhmc._estimator.empty_rows import NOWHERE, EmptyRowsWarning
from bhmc._io.csv_text import csv_text
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, refusals

_COLUMNS = (
    *("name", "leaf", "label", "path", "component"),
    *("probability", "new_branch", "new_component"),
)


def predict(options) -> int:
    """Place the rows and write where they went."""
    folder, record, model = load_run(options.folder)
    table = _new_rows(options, record["data"], folder)
    rows = _places(model, table, record["data"]["is_matrix"], options.outliers)
    columns = (*_COLUMNS, "outlier_score") if options.outliers else _COLUMNS
    if options.output is not None:
        text = csv_text(columns, rows)
        put_in_place(Path(options.output), text_writer(text))
        say(f"Wrote {options.output}: {counted(len(rows), 'row')}.")
    if options.json:
        print_json({"rows": [dict(zip(columns, row, strict=True)) for row in rows]})
    elif options.output is None:
        print(csv_text(columns, rows), end="")
    return OK


def _places(model: BHMC, table: Table, as_matrix: bool, outliers: bool) -> list[tuple]:
    """A line for each row; one without any entry has its name alone."""
    X = table.data(as_matrix)
    with refusals_of(table), warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowsWarning)  # said below, in the words of the file
        probability, new_branch = model.predict_proba(X, return_new=True)
        component, new = model.predict_component(X), model.transform(X, return_new=True)[1]
        paths, labels = model.predict_path(X), model.predict(X)
        numbers = [probability.max(axis=1), new_branch, new]
        numbers += [model.outlier_scores(X)] if outliers else []
    names, empty = list(table.row_names()), labels == NOWHERE
    _say_what_is_empty([name for name, nowhere in zip(names, empty, strict=True) if nowhere])
    nothing = (None,) * (4 + len(numbers))
    return [
        (name, *nothing)
        if empty[i]
        else (
            *(name, int(paths[i, -1]), int(labels[i]), path_text(paths[i]), int(component[i])),
            *(float(values[i]) for values in numbers),
        )
        for i, name in enumerate(names)
    ]


def _say_what_is_empty(names: list) -> None:
    if names:
        listed = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        say(
            f"{counted(len(names), 'row')} without any entry, placed nowhere (empty cells): "
            f"{listed}."
        )


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
