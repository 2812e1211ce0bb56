"""`bhmc predict`: new rows in the tree of a run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bhmc import BHMC
from bhmc._cli.exit_codes import OK
from bhmc._cli.export import put_in_place, text_writer
from bhmc._cli.fit import reading_of
from bhmc._cli.folder import RunFolder
from bhmc._cli.output import counted, print_json, say
from bhmc._cli.results import path_text, refusals_of
from bhmc._cli.show import load_run
from bhmc._cli.texts import read_texts, saved_features, with_numbers
from bhmc._io.csv_text import csv_text
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, refusals

_COLUMNS = ("name", "leaf", "path", "component", "probability", "new_branch")


def predict(options) -> int:
    """Place the rows and write where they went."""
    folder, record, model = load_run(options.folder)
    table = _new_rows(options, record["data"], folder)
    rows = _places(model, table, as_matrix=record["data"]["is_matrix"])
    if options.output is not None:
        text = csv_text(_COLUMNS, rows)
        put_in_place(Path(options.output), text_writer(text))
        say(f"Wrote {options.output}: {counted(len(rows), 'row')}.")
    if options.json:
        print_json({"rows": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]})
    elif options.output is None:
        print(csv_text(_COLUMNS, rows), end="")
    return OK


def _places(model: BHMC, table: Table, as_matrix: bool) -> list[tuple]:
    X = table.data(as_matrix)
    with refusals_of(table):
        probability, new_branch = model.predict_proba(X, return_new=True)
        component = model.predict_component(X)
        paths = model.predict_path(X)
    best = probability.max(axis=1)
    return [
        (name, int(path[-1]), path_text(path), int(k), float(p), float(new))
        for name, path, k, p, new in zip(
            table.row_names(), np.asarray(paths), component, best, new_branch, strict=True
        )
    ]


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
    left_out = [name for name in table.names if name not in fitted["names"]]
    if left_out:
        shown = ", ".join(map(repr, left_out[:5])) + (", ..." if len(left_out) > 5 else "")
        say(f"Left out, because they were not fitted: {shown}.")
    table = table.select(fitted["names"])
    for name, kind, was in zip(table.names, table.kinds, fitted["kinds"], strict=True):
        if kind == "text" and was == "number":
            raise RefusedError(
                f"{table.path}, column {name!r} holds text, where the rows that were fitted have "
                "numbers."
            )
    return table


def _reading(options, fitted: dict[str, Any]) -> Reading:
    """As the fitted table was read, but for what is said of this one."""
    was, said = Reading.from_json(fitted["reading"]), reading_of(options)
    kinds = zip(fitted["names"], fitted["kinds"], strict=True)
    text = [name for name, kind in kinds if kind == "text"]
    texts = fitted.get("texts", {"columns": (), "numbers": ()})
    needed = [name for name in fitted["names"] if name not in texts["numbers"]]
    item_column = fitted["item_column"] if said.id is None else said.id
    return replace(
        said,
        id=item_column,
        no_id=said.no_id or (was.no_id and said.id is None),
        text=(*said.text, *text),
        only=(*needed, *texts["columns"]),
        decimal=said.decimal if said.decimal != "." else was.decimal,
        encoding=said.encoding or was.encoding,
        header=was.header if said.header is None else said.header,
    )
