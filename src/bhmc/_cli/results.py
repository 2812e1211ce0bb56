"""The files of a finished fit, and its tree as text that fits on a screen."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from bhmc import BHMC, Tree
from bhmc._cli.folder import ASSIGNMENTS, DRAWS, TREE, RunFolder
from bhmc._cli.output import fitted
from bhmc._io.csv_text import csv_text
from bhmc._io.tables.read import Table
from bhmc._validation.errors import EntryError, RefusedError, refusals

# The most lines of a tree that are printed unasked.
_SCREEN = 100

# Words of texts that are shown of a node unasked.
_WORDS = 3


@contextmanager
def refusals_of(table: Table) -> Iterator[None]:
    """As `refusals`, and in the words of the file: a column by its name, a row by its line."""
    with refusals():
        try:
            yield
        except EntryError as error:
            where = table.where(error.row, error.column)
            raise RefusedError(error.sentence(str(table.path), where)) from error


def name_tree(model: BHMC, table: Table) -> None:
    """Give the tree names of rows and columns where the fit had no way to learn them, and words."""
    tree = model.tree_
    names = tree.names
    if names is None and table.items is not None:
        names = np.array(table.items)
    columns = tree.feature_names
    if columns is None and table.columns is not None:
        columns = np.array(table.names)
    model.tree_ = replace(tree, names=names, feature_names=columns)
    if table.texts:
        others = [name for name in table.names if name not in table.from_texts]
        model.add_words(list(table.texts), table.select(others).data() if others else None)


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


def tree_text(tree: Tree, *, features: int | None = None, **options) -> str:
    """The tree as text, with its names; with words of its texts, unless features are asked for."""
    return tree.to_text(tree.names, features=features_shown(tree, features), **options)


def features_shown(tree: Tree, asked: int | None) -> int:
    """How many features a node has: as many as asked for, else words where there are some."""
    has_words = tree.is_word is not None and bool(tree.is_word.any())
    return asked if asked is not None else _WORDS * has_words


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
