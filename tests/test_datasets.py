import doctest
import sys

import numpy as np
import pytest

from bhmc import datasets
from bhmc.datasets import load_zoo

FEATURES = [
    "hair", "feathers", "eggs", "milk", "airborne", "aquatic", "predator", "toothed",
    "backbone", "breathes", "venomous", "fins", "legs", "tail", "domestic", "catsize",
]  # fmt: skip

TYPE_COUNTS = {
    "mammal": 41,
    "bird": 20,
    "reptile": 5,
    "fish": 13,
    "amphibian": 4,
    "insect": 8,
    "invertebrate": 10,
}


@pytest.fixture(scope="module")
def zoo():
    return load_zoo()


def test_shapes_and_dtypes(zoo):
    assert zoo.data.shape == (101, 16)
    assert zoo.data.dtype == np.float64
    assert zoo.target.shape == (101,)
    assert zoo.target.dtype == np.int64
    assert zoo.names.shape == (101,)
    assert zoo.annotation.shape == (101,)
    assert zoo.target_names.shape == (7,)
    assert zoo.frame is None


def test_feature_names_are_those_of_the_file(zoo):
    assert zoo.feature_names == FEATURES


def test_every_feature_but_legs_is_zero_or_one(zoo):
    legs = FEATURES.index("legs")
    assert set(np.unique(np.delete(zoo.data, legs, axis=1))) == {0.0, 1.0}
    assert set(np.unique(zoo.data[:, legs])) == {0.0, 2.0, 4.0, 5.0, 6.0, 8.0}


def test_types_are_in_the_order_of_the_uci_repository(zoo):
    assert zoo.target_names.tolist() == list(TYPE_COUNTS)


def test_class_counts(zoo):
    counts = np.bincount(zoo.target, minlength=7)
    assert dict(zip(zoo.target_names.tolist(), counts.tolist(), strict=True)) == TYPE_COUNTS


def test_known_animals(zoo):
    """Single cells: a shifted row or column would pass the counts above."""

    def row(name):
        (i,) = np.flatnonzero(zoo.names == name)
        return zoo.target_names[zoo.target[i]], dict(zip(FEATURES, zoo.data[i], strict=True))

    kind, bee = row("honeybee")
    assert kind == "insect"
    assert (bee["legs"], bee["venomous"], bee["hair"], bee["milk"]) == (6, 1, 1, 0)
    kind, octopus = row("octopus")
    assert kind == "invertebrate"
    assert (octopus["legs"], octopus["aquatic"], octopus["backbone"]) == (8, 1, 0)
    kind, platypus = row("platypus")
    assert kind == "mammal"
    assert (platypus["eggs"], platypus["milk"], platypus["legs"]) == (1, 1, 4)
    assert (zoo.names[0], zoo.names[-1]) == ("aardvark", "wren")


def test_only_the_name_frog_occurs_twice(zoo):
    names, counts = np.unique(zoo.names, return_counts=True)
    assert names[counts > 1].tolist() == ["frog"]
    assert counts.max() == 2


def test_annotation_agrees_with_the_types(zoo):
    kinds = zoo.target_names[zoo.target]
    expected = np.where(np.isin(kinds, ["insect", "invertebrate"]), "invertebrate", "vertebrate")
    np.testing.assert_array_equal(zoo.annotation, expected)
    assert (zoo.annotation == "vertebrate").sum() == 83


@pytest.mark.parametrize(
    "text",
    ["Richard Forsyth", "Zoo, 1990", "UCI Machine Learning Repository", "CC BY 4.0", "orange3"],
)
def test_description_keeps_source_licence_and_attribution(zoo, text):
    assert text in zoo.DESCR


def test_description_tells_the_class_sizes(zoo):
    for name, count in TYPE_COUNTS.items():
        assert f"{name} {count}" in zoo.DESCR


def test_return_X_y(zoo):
    X, y = load_zoo(return_X_y=True)
    np.testing.assert_array_equal(X, zoo.data)
    np.testing.assert_array_equal(y, zoo.target)


def test_every_call_gives_its_own_arrays(zoo):
    load_zoo().data[:] = -1.0
    assert load_zoo().data.min() == 0.0


def test_arguments_are_keyword_only():
    with pytest.raises(TypeError):
        load_zoo(True)


def test_as_frame(zoo):
    pandas = pytest.importorskip("pandas")
    bunch = load_zoo(as_frame=True)
    assert isinstance(bunch.data, pandas.DataFrame)
    assert bunch.data.columns.tolist() == FEATURES
    np.testing.assert_array_equal(bunch.data.to_numpy(), zoo.data)
    assert isinstance(bunch.target, pandas.Series)
    np.testing.assert_array_equal(bunch.target.to_numpy(), zoo.target)
    assert bunch.frame.columns.tolist() == [*FEATURES, "target"]
    assert bunch.frame.shape == (101, 17)


def test_as_frame_with_return_X_y():
    pandas = pytest.importorskip("pandas")
    X, y = load_zoo(return_X_y=True, as_frame=True)
    assert isinstance(X, pandas.DataFrame)
    assert isinstance(y, pandas.Series)


def test_without_pandas_as_frame_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # makes `import pandas` raise ImportError
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas.*bhmc\[pandas\]"):
        load_zoo(as_frame=True)


def test_without_pandas_the_arrays_still_load(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_zoo().data.shape == (101, 16)


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(datasets)
    assert result.attempted > 0
    assert result.failed == 0
