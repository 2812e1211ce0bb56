"""`bhmc compare`: from a table with classes to methods side by side."""

from typing import Any

import numpy as np

from bhmc._cli.reproduce import make_job, run_experiment
from bhmc._cli.tables import reading_of, say_columns
from bhmc._io.tables.plan import columns_for_model
from bhmc._io.tables.read import Table, check_fittable, read_table
from bhmc._validation.errors import RefusedError, refusals
from bhmc._validation.frames import is_frame

# Squares of larger numbers, and sums of these, are no longer finite.
_LARGEST = 1e100

# Methods that have a family for every kind of column.
_ALL_KINDS = ("bhmc", "bhmc-diffused", "bhmc-hdp")


def compare(options) -> int:
    """Run methods on a table and measure them against its classes."""
    from bhmc._experiments import compare as experiment
    from bhmc._experiments.methods import check_methods

    with refusals():
        check_methods(options.methods)
    if options.words is not None:
        raise RefusedError(f"--words is called --text now: write --text {options.words}.")
    if bool(options.labels) == bool(options.path):
        raise RefusedError(
            "name the classes: --labels A,B (a column for each level, coarse to fine) or --path "
            "COLUMN (a category path in each cell); one of the two."
        )
    table, classes = _apart(options)
    truth = _truth(classes, options)
    names = _level_names(options, truth.shape[1])
    say_columns(table, quiet=options.quiet)
    X, notes = _data(table, options)
    notes += _judged(truth, names)
    question = experiment.Question(
        title=f"Methods compared on {table.path.name}",
        X=X,
        truth=truth,
        level_names=names,
        methods=options.methods,
        n_levels=options.levels,
        repeats=options.repeats,
        sizes=tuple(options.sizes),
        notes=(*table.notes, *notes),
        columns=columns_for_model(X, table.plan) if is_frame(X) else None,
    )
    job = make_job(options, options.output)
    return run_experiment(options, job, lambda: (question,), experiment.run)


def _apart(options) -> tuple[Table, Table]:
    """The data and the classes, which no method gets to see."""
    named = [options.path] if options.path else options.labels
    words = options.text or []
    asked = {"--path" if options.path else "--labels": named, "--text": words}
    for option, columns in asked.items():
        for twice in {name for name in columns if columns.count(name) > 1}:
            raise RefusedError(f"{option} names the column {twice!r} twice.")
    for name in set(named) & set(words):
        raise RefusedError(f"column {name!r} holds classes, which no method may see as --text.")
    table = read_table(options.data, reading_of(options), also_text=asked)
    for option, columns in asked.items():
        for name in columns:
            if name not in table.names:
                raise RefusedError(
                    f"{option} {name!r}: this column is left out by --drop or names the rows by "
                    "--id, and cannot be both."
                )
    if table.columns is None:
        raise RefusedError(
            f"{table.path} is a matrix of numbers: classes are read from a table with columns of "
            "text, such as a CSV file."
        )
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
        return true_levels(_paths(classes, options.separator))
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in classes.columns]
    return np.column_stack(codes).astype(np.int64)


def _paths(classes: Table, separator: str) -> list[list[str]]:
    """Category paths, cut into their labels."""
    assert classes.columns is not None
    name, cells = classes.names[0], classes.columns[0]
    if not separator:
        raise RefusedError("--separator is empty: say what is between the labels of a path.")
    if not any(separator in cell for cell in cells):
        raise RefusedError(
            f"no path in column {name!r}, such as {cells[0]!r}, has the separator {separator!r}: "
            f"say the right one with --separator, or take --labels {name} for classes of one level."
        )
    return [cell.split(separator) for cell in cells]


def _judged(truth: np.ndarray, names: list[str]) -> list[str]:
    """Notes on levels that say nothing of groups; where no level does, a refusal."""
    n, notes = len(truth), []
    for column, name in zip(truth.T, names, strict=True):
        number = len(np.unique(column))
        if number == 1:
            notes.append(f"{name!r} has one class for all rows, so nothing can be measured by it")
        elif number == n:
            notes.append(f"{name!r} has a class of its own for every row, so no two go together")
    if len(notes) == len(names):
        raise RefusedError(f"{notes[-1]}: name other classes.")
    return [f"{note}." for note in notes]


def _data(table: Table, options) -> tuple[Any, list[str]]:
    """What methods get: words as TF-IDF, or the table, of which rivals take the numbers.

    BHMC gets the same data whatever it is compared with.
    """
    from bhmc._experiments import compare as experiment

    if options.text:
        return _words(table, options)
    check_fittable(table)
    _check_sizes(table)
    alone = set(options.methods) <= {*_ALL_KINDS, "random"}
    if options.standardise:
        _check_numbers(table, "leave out --standardise" if alone else "compare bhmc alone")
        X = np.asarray(table.data(as_matrix=True), dtype=float)
        return experiment.standardised(X), ["Columns were standardised for all methods."]
    notes = ["BHMC has a family for every column, as `bhmc fit` has."]
    if not alone:
        _check_numbers(table, "compare bhmc and random alone")
        notes.append("Rivals get columns as they are: those of large numbers count most.")
    return table.data(), notes


def _check_numbers(table: Table, remedy: str) -> None:
    """Refuse what only BHMC can take."""
    if table.text_columns:
        raise RefusedError(
            f"{table.path}, column {table.text_columns[0]!r} holds text, which only bhmc can take: "
            f"leave it out with --drop, read it as words with --text, or {remedy}."
        )
    X = np.asarray(table.data(as_matrix=True), dtype=float)
    if np.isnan(X).any():
        row, column = np.argwhere(np.isnan(X))[0]
        raise RefusedError(
            f"{table.path}, {table.place(int(row))}: column {table.names[int(column)]!r} has no "
            f"entry, which only bhmc can take: fill it in, or {remedy}."
        )


def _check_sizes(table: Table) -> None:
    """Refuse here, with its line, what one method or another would refuse in the middle."""
    assert table.columns is not None
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype == object:
            continue
        for row in np.flatnonzero(np.abs(column) > _LARGEST):
            raise RefusedError(
                f"{table.path}, {table.place(int(row))}: column {name!r} has {column[row]:g}; "
                f"numbers must be within {_LARGEST:g}, because methods square them."
            )


def _words(table: Table, options) -> tuple[np.ndarray, list[str]]:
    """TF-IDF of columns of text, reduced by the optimal threshold for singular values."""
    from bhmc._experiments.texts import reduce_texts

    assert table.columns is not None
    columns = [table.columns[table.names.index(name)] for name in options.text]
    texts = [" ".join(str(cell) for cell in cells if cell) for cells in zip(*columns, strict=True)]
    try:
        X, said = reduce_texts(texts, min_df=2)
    except ValueError as error:
        raise RefusedError(
            f"the words of {', '.join(map(repr, options.text))} give no numbers: {error}"
        ) from None
    return X, [said]


def _level_names(options, n_levels: int) -> list[str]:
    if options.path:
        return [f"{options.path} {level}" for level in range(1, n_levels + 1)]
    return list(options.labels)
