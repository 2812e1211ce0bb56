"""Words of texts: what a word is, which are left out, and which texts have which words."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bhmc._validation.data import is_missing
from bhmc._validation.parameters import check_whole

# A word is two letters or more: sizes, prices and article numbers are no words.
WORDS = r"(?u)\b[^\W\d_]{2,}\b"

# Between the texts of one row.
_BETWEEN = ". "


class WordTable(NamedTuple):
    """Which texts have which words."""

    words: NDArray[np.str_]
    """(w,) the words, in alphabetical order."""
    has_word: sparse.csr_array
    """(n, w) 1 where a text has a word, however often."""


def word_table(
    texts: Any,
    *,
    min_df: int | float = 2,
    stop_words: str | Iterable[str] | None = "english",
    boilerplate: Iterable[str] = (),
    max_words: int = 5000,
) -> WordTable:
    """Which texts have which words.

    Parameters
    ----------
    texts : list, array or frame
        As in `TextFeatures.fit`.
    min_df : int or float, default=2
        Words in fewer texts are left out (a share of the texts, if it is a float).
    stop_words : "english", iterable of str or None, default="english"
        Words to leave out.
    boilerplate : iterable of str, default=()
        Words or sentences that say nothing; their words are left out too.
    max_words : int, default=5000
        Of more words, those in most texts are kept.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    vectorizer = CountVectorizer(
        min_df=min_df,
        token_pattern=WORDS,
        stop_words=left_out_words(stop_words, boilerplate),
        binary=True,  # so that max_features keeps words by the number of their texts
        max_features=check_whole(max_words, "max_words", 1),
        dtype=np.int32,
    )
    found = counted_words(vectorizer, joined_texts(texts))
    return WordTable(
        np.array(vectorizer.get_feature_names_out(), dtype=str), sparse.csr_array(found)
    )


def joined_texts(texts: Any) -> list[str]:
    """One text a row: the cells of several columns joined, those without text left out.

    Parameters
    ----------
    texts : list, array or frame
        As in `TextFeatures.fit`.
    """
    if isinstance(texts, str | bytes):
        raise TypeError(
            "texts must be a list of texts or a frame of columns of text, got one text."
        )
    if hasattr(texts, "iter_rows"):  # polars
        rows: Any = texts.iter_rows()
    elif hasattr(texts, "itertuples"):  # a frame of pandas
        rows = texts.itertuples(index=False, name=None)
    else:
        rows = list(texts)
    found = [_joined(row, number) for number, row in enumerate(rows)]
    if not found:
        raise ValueError("there are no texts: the list is empty.")
    return found


def _joined(row: Any, number: int) -> str:
    cells = row if isinstance(row, tuple | list | np.ndarray) else (row,)
    kept = []
    for cell in cells:
        if isinstance(cell, str):
            kept += [cell.strip()] if cell.strip() else []
        elif not is_missing(cell):
            raise TypeError(f"row {number} of the texts has {cell!r}, which is not text.")
    return _BETWEEN.join(kept)


def left_out_words(
    stop_words: str | Iterable[str] | None, boilerplate: Iterable[str]
) -> list[str] | None:
    """The words that no table has; None where there are none.

    Parameters
    ----------
    stop_words, boilerplate
        As in `word_table`.
    """
    # Slow to import, and for texts alone.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    if isinstance(boilerplate, str):
        raise TypeError(f"boilerplate must be a list of texts, got the text {boilerplate!r}.")
    if isinstance(stop_words, str) and stop_words != "english":
        raise ValueError(f"stop_words must be 'english', a list of words or None: {stop_words!r}.")
    words = CountVectorizer(token_pattern=WORDS).build_analyzer()
    listed = ENGLISH_STOP_WORDS if stop_words == "english" else (stop_words or ())
    return sorted({word for text in (*listed, *boilerplate) for word in words(text)}) or None


def counted_words(vectorizer: Any, texts: Sequence[str]) -> Any:
    """What a vectorizer of scikit-learn makes of texts; one sentence where no word is left.

    Parameters
    ----------
    vectorizer : CountVectorizer or TfidfVectorizer
        It is fitted.
    texts : sequence of str
        A text for each row.
    """
    try:
        return vectorizer.fit_transform(texts)
    except ValueError as error:
        if not any(said in str(error) for said in ("empty vocabulary", "no terms remain")):
            raise
        raise ValueError(
            f"no word is left: none of {len(texts):,} texts shares a word of two letters or more "
            "with another text, once common words are left out. Texts need words in common; or "
            "lower min_df."
        ) from None
