"""`text_pipeline`: from texts to a small table by TF-IDF."""

from collections.abc import Iterable
from typing import Any

from bhmc.preprocessing._directions import OptimalThresholdPCA
from bhmc.preprocessing._words import WORDS, left_out_words


def text_pipeline(
    min_df: int | float = 2,
    stop_words: str | Iterable[str] | None = "english",
    boilerplate: Iterable[str] = (),
    *,
    noise: float | None = None,
    n_components: int | None = None,
) -> Any:
    """A pipeline from texts to a small table: TF-IDF, then `OptimalThresholdPCA`.

    The table is not centred: a word that a text does not have is 0.

    Parameters
    ----------
    min_df : int or float, default=2
        Words in fewer texts are left out (a share of the texts, if it is a float).
    stop_words : "english", iterable of str or None, default="english"
        Words to leave out.
    boilerplate : iterable of str, default=()
        Words or sentences that say nothing, such as "Buy online only at"; their words are left out
        too.
    noise, n_components
        As in `OptimalThresholdPCA`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With steps `tfidf` (a word is two letters or more) and `threshold`. Its `fit_transform`
        takes a list of texts.
    """
    # Slow to import, and for texts alone.
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import Pipeline

    left_out = left_out_words(stop_words, boilerplate)
    vectorizer = TfidfVectorizer(min_df=min_df, token_pattern=WORDS, stop_words=left_out)
    threshold = OptimalThresholdPCA(noise, centre=False, n_components=n_components)
    return Pipeline([("tfidf", vectorizer), ("threshold", threshold)])
