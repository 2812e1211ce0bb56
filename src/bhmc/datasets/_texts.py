"""Texts with category paths: WordNet's, and any table of a user's own."""

import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from bhmc.datasets._files import bundled_bytes, bundled_text, read_rows, rows_of
from bhmc.datasets.category_paths import level_codes, level_names

_TEXT = ("title", "description")
_CATEGORY = "category_path"


def load_wordnet_things(*, embedded: bool = False) -> Any:
    """Load 2,775 glosses of WordNet, with the path of hypernyms of each, six levels at most.

    Parameters
    ----------
    embedded : bool, default=False
        Whether to add the sentence embeddings of the texts. They are the 40 leading principal
        components of what the model all-MiniLM-L6-v2 makes of "title. description".

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As `load_products` gives it: `data` are texts, the words of a synset and its gloss. With
        `embedded` the entry `embedding` is added, a float64 array (2775, 40).

    Examples
    --------
    >>> from bhmc.datasets import load_wordnet_things
    >>> things = load_wordnet_things()
    >>> [len(names) for names in things.level_names]
    [8, 104, 277, 466, 610, 707]
    >>> print(things.names[1], "is", things.level_names[0][things.levels[1, 0]])
    yolk, vitellus is food
    >>> load_wordnet_things(embedded=True).embedding.shape
    (2775, 40)
    """
    header, rows = rows_of(bundled_bytes("wordnet_things.csv.gz"))
    descr = bundled_text("wordnet_things.md", "wordnet-LICENSE.txt")
    bunch = _bunch(header, rows, _TEXT, _CATEGORY, " > ", descr)
    if embedded:
        with np.load(io.BytesIO(bundled_bytes("wordnet_things_minilm40.npz"))) as file:
            bunch.embedding = file["embedding"].astype(np.float64)
    return bunch


def load_products(
    path: str | os.PathLike[str],
    *,
    text: str | Sequence[str] = _TEXT,
    category: str = _CATEGORY,
    separator: str = " > ",
    where: Mapping[str, str] | None = None,
) -> Any:
    """Load a CSV table with texts and category paths, such as the products of a shop.

    Parameters
    ----------
    path : path of a CSV file, gzipped or not
        With a header.
    text : str or sequence of str, default=("title", "description")
        Columns of text, which are joined; the first names the rows.
    category : str, default="category_path"
        The column of category paths, such as "Clothing > Women > Shoes".
    separator : str, default=" > "
        What stands between the labels of a path.
    where : mapping of column to value, optional
        Rows to keep, as in `{"sample_2303": "1"}`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With the entries

        - `data`: list of n texts;
        - `names`: the first column of text;
        - `paths`: list of n tuples of labels;
        - `levels`: integer array (n, depth), the class of each text at levels 1, 2, ...; a short
          path repeats its last label;
        - `level_names`: names of the classes of each level;
        - `target`, `target_names`: those of the last level;
        - `DESCR`: where it comes from.
    """
    header, rows = read_rows(path)
    for column, value in (where or {}).items():
        at = _column(header, column)
        rows = [row for row in rows if row[at] == str(value)]
        if not rows:
            raise ValueError(f"No row has {str(value)!r} in column {column!r}: change `where`.")
    columns = (text,) if isinstance(text, str) else tuple(text)
    descr = f"{len(rows):,} texts with category paths, from {os.fspath(path)!s}."
    return _bunch(header, rows, columns, category, separator, descr)


def _bunch(
    header: list[str],
    rows: list[list[str]],
    text: tuple[str, ...],
    category: str,
    separator: str,
    descr: str,
) -> Bunch:
    at = [_column(header, column) for column in text]
    if not at:
        raise ValueError("text must name at least one column, and it is empty.")
    where = _column(header, category)
    paths = [_labels(row[where], separator) for row in rows]
    empty = [row for row, labels in enumerate(paths) if not labels]
    if empty:
        raise ValueError(
            f"{len(empty)} rows have no {category!r}, the first is {rows[empty[0]][at[0]]!r}: "
            "leave them out of the table, or name a column that `where` can choose by."
        )
    levels, classes = level_codes(paths)
    names = level_names(classes, separator)
    return Bunch(
        data=[" ".join(row[column] for column in at) for row in rows],
        names=np.array([row[at[0]] for row in rows]),
        paths=paths,
        levels=levels,
        level_names=names,
        target=levels[:, -1],
        target_names=names[-1],
        DESCR=descr,
    )


def _labels(path: str, separator: str) -> tuple[str, ...]:
    if not separator:
        raise ValueError("separator must not be empty.")
    return tuple(label.strip() for label in path.split(separator) if label.strip())


def _column(header: list[str], name: str) -> int:
    if name not in header:
        raise ValueError(f"The table has no column {name!r}; it has {', '.join(header)}.")
    return header.index(name)
