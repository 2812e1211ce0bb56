"""Texts as numbers: which way is taken, that new texts and saved files give the same numbers."""

import pickle
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bhmc.preprocessing import TextFeatures, joined_texts, text_pipeline, word_table
from bhmc.preprocessing import _encoders as encoders

TEXTS = [
    "Buy the red shoe 42",
    "A red shoe, red lace",
    "Buy a black watch",
    "black watch strap",
] * 5


class LetterCounts:
    """A sentence model: how often each of five letters is in a text."""

    def encode(self, texts):
        return np.array([[1 + text.count(letter) for letter in "aehks"] for text in texts])


@pytest.fixture
def fake_package(monkeypatch):
    """sentence-transformers with one model, in the cache under its usual name; what was asked."""
    asked = []

    class SentenceTransformer(LetterCounts):
        def __init__(self, name, local_files_only):
            asked.append((name, local_files_only))
            if local_files_only and name not in ("sentence-transformers/all-MiniLM-L6-v2", "here"):
                raise OSError("not in the cache")

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    module.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(encoders, "_PACKAGE", "no_such_package_of_weights")
    return asked


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(encoders.importlib.util, "find_spec", lambda name: None)


def test_tfidf_is_the_pipeline_of_texts(no_package):
    features = TextFeatures(n_components=3).fit(TEXTS)
    assert features.method_ == "tfidf"
    assert features.said_ == "Texts became numbers by TF-IDF of 7 words, in 3 directions."
    wanted = text_pipeline(n_components=3).fit_transform(TEXTS)
    np.testing.assert_allclose(features.transform(TEXTS), wanted, atol=1e-12)
    np.testing.assert_array_equal(features.fit_transform(TEXTS), features.transform(TEXTS))
    assert list(features.get_feature_names_out()) == [f"textfeatures{j}" for j in range(3)]


def test_a_model_on_this_machine_is_taken_and_nothing_is_downloaded(fake_package):
    features = TextFeatures(n_components=2).fit(TEXTS)
    assert features.method_ == "embeddings"
    assert features.model_ == encoders._USUAL
    assert "sentence embeddings of the model" in features.said_
    assert fake_package == [(encoders._USUAL, True)]
    assert TextFeatures("tfidf").fit(TEXTS).method_ == "tfidf"


def test_without_a_model_on_this_machine_words_are_taken(fake_package, monkeypatch):
    monkeypatch.setattr(encoders, "_USUAL", "elsewhere")
    assert TextFeatures().fit(TEXTS).method_ == "tfidf"
    assert fake_package == [("elsewhere", True)]


def test_a_download_happens_only_when_it_is_asked_for(fake_package):
    with pytest.raises(ValueError, match="no sentence model 'elsewhere' on this machine"):
        TextFeatures("elsewhere").fit(TEXTS)
    assert TextFeatures("elsewhere", download=True).fit(TEXTS).method_ == "embeddings"
    assert fake_package == [("elsewhere", True), ("elsewhere", False)]


def test_a_package_that_carries_weights_is_found(fake_package, monkeypatch, tmp_path):
    folder = tmp_path / "weights"
    (folder / "model").mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(encoders, "_PACKAGE", "weights")
    with pytest.raises(OSError, match="not in the cache"):  # the fake has two models only
        TextFeatures().fit(TEXTS)
    assert fake_package == [(str(folder / "model"), True)]


def test_a_named_model_without_the_package_is_one_sentence(no_package):
    with pytest.raises(ImportError, match=r"needs sentence-transformers: install it with `pip"):
        TextFeatures("here").fit(TEXTS)


def test_embeddings_have_unit_length_and_are_centred():
    features = TextFeatures(LetterCounts(), n_components=5).fit(TEXTS)
    rows = LetterCounts().encode(TEXTS).astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    numbers = features.transform(TEXTS)
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-12)
    gaps = np.linalg.norm(rows[0] - rows[1]), np.linalg.norm(numbers[0] - numbers[1])
    assert gaps[0] == pytest.approx(gaps[1])
    assert TextFeatures(LetterCounts()).fit(TEXTS).components_.shape == (5, 5)


@pytest.mark.parametrize("model", ["tfidf", "here"])
def test_saved_pickled_and_cloned_features_give_the_same_numbers(model, fake_package, tmp_path):
    features = TextFeatures(model, n_components=2).fit(TEXTS)
    wanted = features.transform(["a new red watch"])
    features.save(tmp_path / "text.bhmc")
    for twin in (
        TextFeatures.load(tmp_path / "text.bhmc"),
        pickle.loads(pickle.dumps(features)),
        clone(features).fit(TEXTS),
    ):
        np.testing.assert_array_equal(twin.transform(["a new red watch"]), wanted)


def test_a_model_of_ones_own_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="a file holds no code"):
        TextFeatures(LetterCounts(), n_components=2).fit(TEXTS).save(tmp_path / "text.bhmc")


def test_another_model_is_refused_by_its_columns():
    features = TextFeatures(LetterCounts(), n_components=2).fit(TEXTS)
    features._encoder = features._encoder._replace(encode=lambda texts: np.ones((len(texts), 3)))
    with pytest.raises(ValueError, match="it is another model"):
        features.transform(TEXTS)
    features._encoder = features._encoder._replace(encode=lambda texts: np.ones(3))
    with pytest.raises(ValueError, match="a row of finite numbers for each"):
        features.transform(TEXTS)


def test_columns_of_text_are_joined_and_cells_without_text_left_out():
    frame = pd.DataFrame({"title": ["a", None, " "], "body": ["b", "c", float("nan")]})
    assert joined_texts(frame) == ["a. b", "c", ""]
    assert joined_texts(pl.DataFrame({"title": ["a", None], "body": ["b", "c"]})) == ["a. b", "c"]
    assert joined_texts(frame["title"]) == ["a", "", ""]
    assert joined_texts(np.array([["a", "b"], ["c", "d"]])) == ["a. b", "c. d"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("one text", "got one text"),
        ([1.5, "a"], "row 0 of the texts has 1.5"),
        ([], "there are no texts"),
        (["alone"], "at least two texts"),
        (["one two", "three four"], "no word is left"),
    ],
)
def test_what_is_no_list_of_texts_is_refused_in_a_sentence(texts, said):
    with pytest.raises((TypeError, ValueError), match=said):
        TextFeatures("tfidf").fit(texts)


def test_wrong_parameters_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="n_components must be at most 7"):
        TextFeatures("tfidf", n_components=8).fit(TEXTS)
    with pytest.raises(TypeError, match="model must be 'auto', 'tfidf', a folder"):
        TextFeatures(3).fit(TEXTS)


def test_texts_without_a_known_word_are_told():
    features = TextFeatures("tfidf", n_components=2).fit(TEXTS)
    with pytest.warns(UserWarning, match="1 of 2 texts have no known word, the first in row 2"):
        numbers = features.transform(["red shoe", "xyz"])
    np.testing.assert_array_equal(numbers[1], 0)


def test_a_large_table_finds_its_directions_in_a_sample(monkeypatch):
    monkeypatch.setattr("bhmc.preprocessing._text_features._MOST_TEXTS", 10)
    features = TextFeatures("tfidf", n_components=2).fit(TEXTS)
    wanted = text_pipeline(min_df=2, n_components=2)
    numbers = wanted["tfidf"].fit_transform(TEXTS)[::2]
    np.testing.assert_allclose(
        features.components_, wanted["threshold"].fit(numbers).components_, atol=1e-12
    )


def test_features_are_a_step_of_a_pipeline():
    numbers = make_pipeline(TextFeatures("tfidf", n_components=2), StandardScaler())
    assert numbers.fit_transform(TEXTS).shape == (20, 2)


def test_words_of_texts():
    table = word_table(["red red shoe", "Schuh über red", "über the shoe"])
    assert table.words.tolist() == ["red", "shoe", "über"]
    assert table.has_word.toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    few = word_table(["red shoe blue", "red shoe", "red blue blue"], max_words=1)
    assert few.words.tolist() == ["red"]
