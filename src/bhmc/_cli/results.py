"""The files of a finished fit, and its tree as text that fits on a screen."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from bhmc import BHMC, Tree
from bhmc._cli.folder import ASSIGNMENTS, DRAWS, TREE, RunFolder
from bhmc._cli.output import fitted
from bhmc._io.tables.read import Table
from bhmc._validation.errors import RefusedError, refusals

# The most lines of a tree that are printed unasked.
_SCREEN = 100

_PLACE = re.compile(r"column (\d+)(?: \('.*?'\)| \(\".*?\"\))?(?:, row (\d+))?")


@contextmanager
def in_file(table: Table) -> Iterator[None]:
    """Say in the words of the file where something is wrong: column by name, row by line."""
    try:
        yield
    except RefusedError as error:
        text = _PLACE.sub(lambda found: _place(found, table), str(error))
        raise RefusedError(re.sub(r"^X has", f"{table.path} has", text)) from error


def _place(found: re.Match, table: Table) -> str:
    column, row = int(found[1]), found[2]
    if column >= len(table.names):
        return found[0]
    where = f"column {table.names[column]!r}"
    return where if row is None else f"{where}, {table.place(int(row))}"


def name_tree(model: BHMC, table: Table) -> None:
    """Give the tree the names of rows and columns where the fit had no way to learn them."""
    tree = model.tree_
    names = tree.names
    if names is None and table.items is not None:
        names = np.array(table.items)
    columns = tree.feature_names
    if columns is None and table.columns is not None:
        columns = np.array(table.names)
    model.tree_ = replace(tree, names=names, feature_names=columns)


def write_results(folder: RunFolder, model: BHMC, table: Table) -> None:
    """The model first: the other files can be made from it again."""
    with refusals():
        model.save(folder.model)
    folder.write(TREE, tree_text(model.tree_) + "\n")
    folder.write(
        ASSIGNMENTS, csv_text(("name", "path", "leaf", "component"), assignment_rows(model, table))
    )
    numbers = model.draws_.numbers()
    folder.write(DRAWS, csv_text(("chain", "draw", *numbers), _draw_rows(numbers)))


def tree_text(tree: Tree, **options) -> str:
    """The tree as text, with its names."""
    return tree.to_text(tree.names, **options)


def short_text(tree: Tree, width: int | None) -> tuple[str, int]:
    """The tree in at most some hundred lines, and the size below which nodes are left out (or 0).

    Small nodes go first: there are more of them than anyone reads.
    """
    least, text = 1, tree_text(tree)
    while text.count("\n") >= _SCREEN and least <= tree.sizes[0]:
        least *= 2
        text = tree_text(tree, min_size=least)
    return fitted(text, width), least if least > 1 else 0


def assignment_rows(model: BHMC, table: Table) -> Iterable[tuple]:
    """Node ids are those of the tree as printed; a path is its ids from root to leaf."""
    rows = zip(table.row_names(), model.paths_, model.component_labels_, strict=True)
    for name, path, component in rows:
        yield name, path_text(path), path[-1], component


def path_text(path: Iterable) -> str:
    """Node ids from the root to a leaf."""
    return " ".join(str(node) for node in path)


def _draw_rows(numbers: dict) -> Iterable[tuple]:
    for chain, draw in np.ndindex(next(iter(numbers.values())).shape):
        yield chain, draw, *(values[chain, draw] for values in numbers.values())


def csv_text(columns: Sequence[str], rows: Iterable[tuple]) -> str:
    """A table as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
