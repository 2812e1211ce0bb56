"""The files of a finished fit, and its tree as text that fits on a screen."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC, Tree
from bhmc._cli.blocks import TableInBlocks
from bhmc._cli.folder import ASSIGNMENTS, DRAWS, TREE, RunFolder, said_if_unwritten
from bhmc._cli.folder_size import room_for_draws, said_of_fewer, size_limit, with_fewer_draws
from bhmc._cli.output import fitted
from bhmc._estimator.warm_start import shrink_checkpoint
from bhmc._io.csv_text import csv_text
from bhmc._io.tables.read import Table
from bhmc._validation.errors import EntryError, RefusedError, refusals

ASSIGNMENT_COLUMNS = ("name", "path", "leaf", "label", "component")

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
        except (OSError, RuntimeError) as error:
            if not _is_of_rows(error, table):
                raise
            raise RefusedError(" ".join(str(error).split())) from error


def _is_of_rows(error: Exception, table: Table) -> bool:
    """Whether rows that stay elsewhere cannot be had: a damaged file, or workers that are lost."""
    if not isinstance(table, TableInBlocks):
        return False
    return isinstance(error, OSError) or table.spread is not None


def name_tree(model: BHMC, table: Table) -> None:
    """Give the trees names of rows and columns that the fit could not learn, and words."""
    model.tree_ = _named(model.tree_, table)
    model.dendrogram_ = _named(model.dendrogram_, table)
    if table.texts:
        others = [name for name in table.names if name not in table.from_texts]
        further = table.select(others).data() if others else None
        model.add_words(list(table.texts), further, boilerplate=table.boilerplate)


def _named(tree: Tree, table: Table) -> Tree:
    names = tree.names
    if names is None and table.items is not None:
        names = np.array(table.items)
    if names is None and isinstance(table, TableInBlocks) and table.stays:
        names = _numbered(table)
    columns = tree.feature_names
    if columns is None and (table.columns is not None or table.plan.columns):
        columns = np.array(table.names)
    return replace(tree, names=names, feature_names=columns)


def write_results(folder: RunFolder, model: BHMC, table: Table, *, raw: bool = False) -> str:
    """The model first: the other files can be made from it again.

    The folder of a run that is done takes at most `size_limit`: where the trees of all draws would
    take more, evenly spaced draws keep theirs. Returns a sentence that says so, or nothing. With
    `raw` names stay as they are, even if a spreadsheet would execute them.
    """
    numbers = model.draws_.numbers()
    texts = {
        TREE: tree_text(model.tree_) + "\n",
        ASSIGNMENTS: csv_text(ASSIGNMENT_COLUMNS, assignment_rows(model, table), raw=raw),
        DRAWS: csv_text(("chain", "draw", *numbers), _draw_rows(numbers)),
    }
    room = room_for_draws(model, table, sum(map(len, texts.values())))
    written = model if model.interrupted_ else with_fewer_draws(model, room // 2)
    with refusals(), said_if_unwritten(folder.model):
        written.save(folder.model)
    if not model.interrupted_:
        with said_if_unwritten(folder.checkpoint):
            shrink_checkpoint(model, room - room // 2)
    for name, text in texts.items():
        folder.write(name, text)
    if not model.interrupted_:
        folder.drop_earlier_chains(size_limit(table))
    return "" if written is model else said_of_fewer(model, written)


def tree_text(tree: Tree, *, features: int | None = None, **options) -> str:
    """The tree as text, with its names; with words of its texts, unless features are asked for."""
    if _are_numbers(tree.names):
        options["max_names"] = 0
    return tree.to_text(tree.names, features=features_shown(tree, features), **options)


def _numbered(table: TableInBlocks) -> NDArray:
    """Names of the rows that the tree holds, without which nobody could find them in the file.

    As in the explorer and in `assignments.npy` the first row is row 0.
    """
    return np.array([f"row {row}" for row in table.rows_in_tree])


def _are_numbers(names: NDArray | None) -> bool:
    """Whether names are no more than numbers of rows, which say nothing of a leaf."""
    return names is not None and all(re.fullmatch(r"row \d+", str(name)) for name in names)


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
    """Node ids are those of the tree as printed; a path is its ids from root to leaf.

    The label is the number of the leaf in Python's `labels_`: its place among the leaves.
    """
    columns = (model.paths_, model.labels_, model.component_labels_)
    for name, path, label, component in zip(table.row_names(), *columns, strict=True):
        yield name, path_text(path), path[-1], label, component


def path_text(path: Iterable) -> str:
    """Node ids from the root to a leaf."""
    return " ".join(str(node) for node in path)


def _draw_rows(numbers: dict) -> Iterable[tuple]:
    for chain, draw in np.ndindex(next(iter(numbers.values())).shape):
        yield chain, draw, *(values[chain, draw] for values in numbers.values())
