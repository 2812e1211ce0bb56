"""The table of a run: how options have it read, and how it is read again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bhmc._cli.blocks import check_varies, decide, opened
from bhmc._cli.folder import RunFolder
from bhmc._cli.output import say
from bhmc._cli.scheduler import spread_out
from bhmc._cli.texts import fitted_texts, read_texts, saved_features, with_numbers
from bhmc._io.tables.plan import columns_for_model
from bhmc._io.tables.read import Reading, Table, check_fittable
from bhmc._validation.column_plan import in_options
from bhmc._validation.errors import RefusedError
from bhmc.preprocessing import TextFeatures


def table_of(options, reading: Reading) -> tuple[Table, TextFeatures | None]:
    """The table of `bhmc fit`, and what has made numbers of its texts."""
    for name in ("text_model", "boilerplate"):
        if not options.text and getattr(options, name):
            raise RefusedError(
                f"--{name.replace('_', '-')} needs --text: name the columns of free text."
            )
    in_blocks, why = decide(options, reading)
    if in_blocks is not None:
        check_varies(in_blocks)
        return (spread_out(in_blocks) if options.scheduler else in_blocks), None
    table, texts = read_texts(options.data, reading, options.text)
    table, features = fitted_texts(
        table, texts, options.text, options.text_model or "auto", options.boilerplate
    )
    check_fittable(table)
    check_text_columns(table, options.likelihood)
    return (replace(table, notes=(*table.notes, why)) if why else table), features


def read_again(options, record: dict[str, Any], folder: RunFolder) -> Table:
    """The table of a run, its texts as the same numbers as before."""
    columns = record["data"].get("texts", {}).get("columns", [])
    name = options.data or record["data"]["path"]
    if record["data"].get("in_blocks"):
        table = opened(Path(name), _reading_from(record))
        return spread_out(table) if options.scheduler else table
    if options.scheduler:
        raise RefusedError(
            f"--scheduler: the run in {folder.path} has its rows in memory; begin another run."
        )
    table, texts = read_texts(name, _reading_from(record), columns)
    return with_numbers(table, texts, saved_features(folder)) if columns else table


def reading_of(options) -> Reading:
    """What the options say of a table."""
    return Reading(
        id=options.id,
        no_id=options.no_id,
        drop=tuple(options.drop),
        kinds=_kinds_of(options),
        format=options.format,
        delimiter=options.delimiter,
        decimal=options.decimal,
        encoding=options.encoding,
        header=options.header,
        thousands=options.thousands,
    )


def _kinds_of(options) -> tuple[tuple[str, str], ...]:
    """What --as says."""
    kinds = dict(options.kinds)
    for name in kinds:
        if [one for one, _ in options.kinds].count(name) > 1:
            raise RefusedError(f"--as names the column {name!r} twice.")
    return tuple(kinds.items())


def say_columns(table: Table, quiet: bool) -> None:
    """What was found out of the table, and a line for each kind of column."""
    for note in table.notes:
        say(note, quiet=quiet)
    lines = table.plan.lines()
    if lines:
        say(f"Columns of {table.path.name}:", quiet=quiet)
    for line in lines:
        say(f"  {line}", quiet=quiet)
    for column in table.plan.columns:
        sentence = column.sentence(in_options)
        if sentence and column.name != table.item_column:
            say(f"  Note: {sentence}", quiet=quiet)


def columns_of_model(table: Table, record: dict[str, Any]) -> dict[str, str] | None:
    """`columns` of the model: the table was read, and the model's own rules must not differ."""
    if table.columns is None or record["settings"].get("likelihood") != "auto":
        return None
    return columns_for_model(table.data(), table.plan)


def _reading_from(record: dict[str, Any]) -> Reading:
    """How the table was read; a run of an older bhmc had no rules, so its kinds are named."""
    data = record["data"]
    reading = Reading.from_json(data["reading"])
    if "plan" in data:
        return reading
    uses = {"number": "number", "text": "category"}
    kinds = {name: uses[kind] for name, kind in zip(data["names"], data["kinds"], strict=True)}
    item = data["item_column"]
    return replace(
        reading,
        kinds=() if data["is_matrix"] else tuple(kinds.items()),
        id=item,
        no_id=item is None,
    )


def check_text_columns(table: Table, likelihood: str | None) -> None:
    """Refuse text where the family cannot take it, in the words of the command line."""
    if likelihood in (None, "auto", "categorical") or not table.text_columns:
        return
    name = table.text_columns[0]
    assert table.columns is not None
    column = table.columns[table.names.index(name)]
    row, cell = next((row, cell) for row, cell in enumerate(column) if cell is not None)
    raise RefusedError(
        f"{table.path}, column {name!r} holds text, such as {cell!r} in {table.place(row)}, which "
        f"--likelihood {likelihood} cannot take: leave it out with --drop {name!r}, name the rows "
        f"by it with --id {name!r}, or use --likelihood auto."
    )
