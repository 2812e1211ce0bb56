"""`bhmc compare`: from a table with classes to methods side by side."""

from dataclasses import replace
from typing import Any

import numpy as np

from bhmc._cli.errors import RefusedError, refusals
from bhmc._cli.fit import reading_of
from bhmc._cli.reproduce import make_job, run_experiment
from bhmc._cli.tables import Table, check_fittable, read_table, suggest


def compare(options) -> int:
    """Run methods on a table and measure them against its classes."""
    from bhmc._experiments import compare as experiment
    from bhmc._experiments.methods import check_methods

    with refusals():
        check_methods(options.methods)
    if bool(options.labels) == bool(options.path):
        raise RefusedError(
            "name the classes: --labels A,B (a column for each level, coarse to fine) or --path "
            "COLUMN (a category path in each cell); one of the two."
        )
    table, classes = _apart(options)
    truth = _truth(classes, options)
    X, notes = _data(table, options)
    question = experiment.Question(
        title=f"Methods compared on {table.path.name}",
        X=X,
        truth=truth,
        level_names=_level_names(options, truth.shape[1]),
        methods=options.methods,
        n_levels=options.levels,
        repeats=options.repeats,
        sizes=tuple(options.sizes),
        notes=(*table.notes, *notes),
    )
    job = make_job(options, options.output)
    return run_experiment(options, job, lambda: (question,), experiment.run)


def _apart(options) -> tuple[Table, Table]:
    """The data and the classes, which no method gets to see."""
    named = [options.path] if options.path else options.labels
    reading = reading_of(options)
    words = options.words or []
    reading = replace(reading, text=(*reading.text, *named, *words))
    table = read_table(options.data, reading)
    for name in (*named, *words):
        if name not in table.names:
            raise RefusedError(f"{name!r} is no column of {table.path}.{suggest(name, table)}")
    left = [name for name in table.names if name not in named]
    if not left:
        raise RefusedError(f"{table.path} has no column left to compare: all hold classes.")
    return table.select(left), table.select(named)


def _truth(classes: Table, options) -> np.ndarray:
    """(n, levels) codes of the classes, coarse to fine."""
    from bhmc.metrics import true_levels

    assert classes.columns is not None
    for name, column in zip(classes.names, classes.columns, strict=True):
        for row, cell in enumerate(column):
            if cell is None:
                raise RefusedError(
                    f"{classes.path}, {classes.place(row)}: there is no class in column {name!r}; "
                    "fill it in, or leave the row out."
                )
    if options.path:
        cells = classes.columns[0]
        return true_levels([str(cell).split(options.separator) for cell in cells])
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in classes.columns]
    return np.column_stack(codes).astype(np.int64)


def _data(table: Table, options) -> tuple[Any, list[str]]:
    """What methods get: words as TF-IDF, numbers as they are, or a frame for BHMC alone."""
    from bhmc._experiments import compare as experiment

    if options.words:
        return _words(table, options)
    check_fittable(table)
    alone = all(name.startswith("bhmc") or name == "random" for name in options.methods)
    if alone and not options.standardise:
        return table.data(), []
    if table.text_columns:
        raise RefusedError(
            f"{table.path}, column {table.text_columns[0]!r} holds text, which only bhmc can take: "
            "leave it out with --drop, read it as words with --words, or compare bhmc and random "
            "alone."
        )
    X = np.asarray(table.data(as_matrix=True), dtype=float)
    if np.isnan(X).any():
        row, column = np.argwhere(np.isnan(X))[0]
        raise RefusedError(
            f"{table.path}, {table.place(int(row))}: column {table.names[int(column)]!r} has no "
            "entry, which only bhmc can take: fill it in, or compare bhmc and random alone."
        )
    notes = ["Columns are as they are in the file: those of large numbers count most for rivals."]
    if options.standardise:
        X, notes = experiment.standardised(X), ["Columns were standardised for all methods."]
    return X, notes


def _words(table: Table, options) -> tuple[np.ndarray, list[str]]:
    """TF-IDF of columns of text, reduced by the optimal threshold for singular values."""
    from bhmc._experiments.texts import reduce_texts

    assert table.columns is not None
    columns = [table.columns[table.names.index(name)] for name in options.words]
    texts = [" ".join(str(cell) for cell in cells if cell) for cells in zip(*columns, strict=True)]
    with refusals():
        X, said = reduce_texts(texts, min_df=2)
    return X, [said]


def _level_names(options, n_levels: int) -> list[str]:
    if options.path:
        return [f"{options.path} {level}" for level in range(1, n_levels + 1)]
    return list(options.labels)
