import gzip
import sys

import numpy as np
import pytest
import sklearn.datasets
from scipy.stats import norm

from bhmc.datasets import (
    load_animals,
    load_digits,
    load_fashion_mnist_sample,
    load_products,
    load_wordnet_things,
    load_zoo,
    make_diffused_hierarchy,
    make_hierarchy,
)
from tests.shared_data import FOLDER

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


def test_the_levels_of_the_zoo_are_annotation_and_type(zoo):
    np.testing.assert_array_equal(zoo.level_names[0][zoo.levels[:, 0]], zoo.annotation)
    np.testing.assert_array_equal(zoo.levels[:, 1], zoo.target)


# ---- Every loader ----

BUNDLED = {
    "zoo": load_zoo,
    "digits": load_digits,
    "fashion": load_fashion_mnist_sample,
    "wordnet": load_wordnet_things,
    "made": lambda: make_hierarchy((3, 2, 2), random_state=0),
    "diffused": lambda: make_diffused_hierarchy((3, 2, 2), random_state=0),
}


@pytest.mark.parametrize("load", BUNDLED.values(), ids=BUNDLED)
def test_levels_are_nested_and_named(load):
    """Who shares a class shares all coarser ones; every class has a name and a member."""
    bunch = load()
    n, depth = bunch.levels.shape
    assert len(bunch.data) == n
    assert bunch.levels.dtype == np.int64
    assert len(bunch.level_names) == depth
    for level, names in enumerate(bunch.level_names):
        assert np.unique(bunch.levels[:, level]).tolist() == list(range(len(names)))
        assert len(set(names.tolist())) == len(names)
        if level:
            pairs = np.unique(bunch.levels[:, level - 1 : level + 1], axis=0)
            assert len(pairs) == len(names)
    np.testing.assert_array_equal(bunch.levels[:, -1], bunch.target)
    assert len(bunch.target_names) == len(bunch.level_names[-1])
    assert len(bunch.DESCR) > 20


def test_digits_are_those_of_scikit_learn():
    ours, theirs = load_digits(), sklearn.datasets.load_digits()
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.levels[:, 0], theirs.target)
    X, y = load_digits(return_X_y=True)
    assert X.shape == (1797, 64)
    np.testing.assert_array_equal(y, theirs.target)
    assert load_digits(as_frame=True).levels.shape == (1797, 1)


# ---- Fashion-MNIST ----


def test_fashion():
    fashion = load_fashion_mnist_sample()
    assert fashion.images.shape == (1000, 28, 28)
    assert fashion.images.dtype == np.uint8
    np.testing.assert_array_equal(fashion.data, fashion.images.reshape(1000, -1))
    np.testing.assert_array_equal(np.bincount(fashion.target), np.full(10, 100))
    assert [len(names) for names in fashion.level_names] == [3, 5, 10]
    boot = np.flatnonzero(fashion.target_names == "Ankle boot")[0]
    kinds, parts, _ = fashion.levels[fashion.target == boot].T
    assert set(fashion.level_names[0][kinds]) == {"footwear"}
    assert set(fashion.level_names[1][parts]) == {"footwear"}
    assert fashion.feature_names[29] == "pixel_1_1"
    assert "Zalando SE" in fashion.DESCR
    assert "The above copyright notice and this permission notice" in fashion.DESCR


def test_fashion_is_the_evaluation_file():
    file = FOLDER / "fashion_mnist" / "fashion_mnist_1000.npz"
    if not file.exists():
        pytest.skip("NOT TESTED: fashion_mnist_1000.npz is not here; set BHMC_SHARED_DATA.")
    with np.load(file) as stored:
        fashion = load_fashion_mnist_sample()
        np.testing.assert_array_equal(fashion.images, stored["images"])
        for level in range(3):
            named = fashion.level_names[level][fashion.levels[:, level]]
            np.testing.assert_array_equal(named, stored[f"level{level + 1}"])


def test_fashion_as_numbers_and_classes():
    X, y = load_fashion_mnist_sample(return_X_y=True)
    assert (X.shape, X.max(), y.shape) == ((1000, 784), 255.0, (1000,))


# ---- Texts ----


def test_wordnet():
    things = load_wordnet_things()
    assert len(things.data) == len(things.paths) == len(things.names) == 2775
    assert [len(names) for names in things.level_names] == [8, 104, 277, 466, 610, 707]
    assert np.bincount(list(map(len, things.paths)))[1:].tolist() == [93, 377, 768, 678, 530, 329]
    row = things.names.tolist().index("aba")
    assert things.data[row].startswith("aba a loose sleeveless outer garment")
    assert things.paths[row] == ("clothing", "garment", "overgarment")
    assert things.target_names[things.target[row]] == "clothing > garment > overgarment"
    assert "Copyright 2011 by Princeton University" in things.DESCR
    assert "shall at all times remain with" in things.DESCR


TABLE = """name,words,kind,set
pen,"blue ink, thin",office / pens,a
cap,wool,clothes,a
ink,blue,office / pens / ink,b
"""


@pytest.fixture
def table(tmp_path):
    def write(text=TABLE, name="t.csv"):
        file = tmp_path / name
        content = text.encode("utf-8")
        file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        return file

    return write


SLASHES = {"text": ["name", "words"], "category": "kind", "separator": " / "}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_products_of_any_table(table, name):
    bunch = load_products(table(name=name), **SLASHES)
    assert bunch.data == ["pen blue ink, thin", "cap wool", "ink blue"]
    assert bunch.names.tolist() == ["pen", "cap", "ink"]
    assert bunch.paths == [("office", "pens"), ("clothes",), ("office", "pens", "ink")]
    assert bunch.levels.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 2]]
    assert bunch.level_names[2].tolist() == ["office / pens", "clothes", "office / pens / ink"]
    np.testing.assert_array_equal(bunch.target, bunch.levels[:, 2])


def test_products_where(table):
    bunch = load_products(table(), **SLASHES, where={"set": "a"})
    assert bunch.names.tolist() == ["pen", "cap"]
    assert bunch.levels.shape == (2, 2)
    one = load_products(table(), text="words", category="kind", where={"set": "b"})
    assert one.data == ["blue"]
    assert one.paths == [("office / pens / ink",)]


def test_products_beyond_ascii(table):
    """As spreadsheets write it: a mark before the first name, a line break in a cell."""
    text = "\ufeff" + TABLE.replace("wool", '"laine\npeignée"')
    bunch = load_products(table(text), **SLASHES)
    assert bunch.data[1] == "cap laine\npeignée"


def test_products_say_what_is_wrong(table):
    with pytest.raises(FileNotFoundError, match=r"There is no file 'nowhere\.csv'"):
        load_products("nowhere.csv")
    with pytest.raises(ValueError, match="no column 'title'; it has name, words, kind, set"):
        load_products(table())
    with pytest.raises(ValueError, match="No row has 'z' in column 'set'"):
        load_products(table(), **SLASHES, where={"set": "z"})
    with pytest.raises(ValueError, match="1 rows have no 'kind', the first is 'cap'"):
        load_products(table(TABLE.replace("clothes", "")), **SLASHES)
    with pytest.raises(ValueError, match="Row 2 of the table has 3 cells and the header 4"):
        load_products(table(TABLE.replace("cap,wool", "cap")), **SLASHES)
    with pytest.raises(ValueError, match="no rows below its header"):
        load_products(table(TABLE.splitlines()[0]), **SLASHES)
    with pytest.raises(ValueError, match="separator must not be empty"):
        load_products(table(), **{**SLASHES, "separator": ""})


def test_flipkart():
    file = FOLDER / "flipkart_fashion" / "flipkart_fashion.csv.gz"
    if not file.exists():
        pytest.skip("NOT TESTED: flipkart_fashion.csv.gz is not here; set BHMC_SHARED_DATA.")
    products = load_products(file, where={"sample_2303": "1"})
    assert len(products.data) == 2303
    assert [len(names) for names in products.level_names] == [5, 22, 68, 167, 208, 208]


# ---- Animals ----

ANIMALS = "animal,flies,legs\nbat,1,2\nant,0,6\n"


def test_animals_of_any_table(table):
    bunch = load_animals(table(ANIMALS))
    assert bunch.data.tolist() == [[1, 2], [0, 6]]
    assert (bunch.names.tolist(), bunch.feature_names) == (["bat", "ant"], ["flies", "legs"])
    assert bunch.target is bunch.levels is bunch.level_names is None


def test_animals_with_labels(table):
    labels = table("animal,a,b\nant,insect,small\nbat,mammal,small\n", "labels_annotation.csv")
    for bunch in (load_animals(table(ANIMALS)), load_animals(table(ANIMALS), labels=labels)):
        assert bunch.levels.tolist() == [[0, 0], [1, 1]]
        assert bunch.level_names[1].tolist() == ["mammal > small", "insect > small"]
        assert bunch.target.tolist() == [0, 1]
    X, y = load_animals(table(ANIMALS), return_X_y=True)
    assert (X.shape, y.tolist()) == ((2, 2), [0, 1])


def test_animals_say_what_is_wrong(table):
    with pytest.raises(ValueError, match="'ant' has 'six' in column 'legs', which is not a number"):
        load_animals(table(ANIMALS.replace("6", "six")))
    with pytest.raises(ValueError, match="has no row for 'ant'"):
        load_animals(table(ANIMALS), labels=table("animal,a\nbat,mammal\n", "labels.csv"))


def test_the_animals_of_the_paper():
    file = FOLDER / "animals" / "animals_33x102.csv"
    if not file.exists():
        pytest.skip("NOT TESTED: animals_33x102.csv is not here; set BHMC_SHARED_DATA.")
    animals = load_animals(file, as_frame=True)
    assert animals.data.shape == (33, 102)
    assert [len(names) for names in animals.level_names] == [5, 10]
    assert animals.frame.columns[-1] == "target"


# ---- Made-up hierarchies ----


def test_a_hierarchy_has_the_wanted_sizes():
    made = make_hierarchy((4, 3, 3), n_per_leaf=7, n_features=5, random_state=0)
    assert made.data.shape == (252, 5)
    assert [len(names) for names in made.level_names] == [4, 12, 36]
    for level, size in enumerate((63, 21, 7)):
        assert set(np.bincount(made.levels[:, level])) == {size}
    assert made.level_names[2][made.levels[0, 2]].startswith(made.level_names[0][made.levels[0, 0]])
    total = make_hierarchy((4, 3), n_samples=31, random_state=0)
    assert sorted(np.bincount(total.target)) == [2] * 5 + [3] * 7


def test_a_seed_gives_one_hierarchy():
    one, same, other = (make_hierarchy(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.data, same.data)
    assert not np.array_equal(one.data, other.data)


def test_centres_are_as_far_apart_as_the_levels_say():
    """Siblings at right angles around their parent; steps of 1, 1/2, 1/4."""
    centres = make_hierarchy((3, 2, 2), n_features=6, random_state=0).centres
    leaves = np.linalg.norm(centres[0::2] - centres[1::2], axis=1)
    np.testing.assert_allclose(leaves, 0.25 * np.sqrt(2), rtol=1e-12)
    lengths = np.linalg.norm(centres, axis=1)  # 1 + 1/2 + 1/4 at most, 1 - 1/2 - 1/4 at least
    assert (np.abs(lengths - 1) <= 0.75).all()
    one_level = make_hierarchy((3,), n_features=6, random_state=0).centres
    np.testing.assert_allclose(one_level @ one_level.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("overlap", [0.5, 1.0])
def test_overlap_is_the_share_that_is_mistaken(overlap):
    """Two leaves: the nearer centre is the wrong one for a share Phi(-1 / overlap)."""
    made = make_hierarchy((2,), n_per_leaf=20_000, overlap=overlap, random_state=0)
    distances = np.linalg.norm(made.data[:, None] - made.centres, axis=2)
    share, expected = np.mean(distances.argmin(axis=1) != made.target), norm.cdf(-1 / overlap)
    assert abs(share - expected) < 4 * np.sqrt(expected / len(made.data))


def test_noise_goes_with_the_distance_of_leaves():
    """Half of sqrt 2 times 1/4, the step of the third level, times the overlap."""
    made = make_hierarchy((2, 2, 2), n_per_leaf=2_000, overlap=0.5, random_state=0)
    noise = (made.data - made.centres[made.components]).std()
    assert noise == pytest.approx(0.5 * 0.25 / np.sqrt(2), rel=0.02)


def test_leaves_may_be_mixtures():
    made = make_hierarchy((3, 2), components_per_leaf=2, n_per_leaf=50, random_state=0)
    assert made.centres.shape == (12, 8)
    np.testing.assert_array_equal(made.components // 2, made.target)
    assert len(np.unique(made.components)) == 12
    spread = np.linalg.norm(made.data - made.centres[made.components], axis=1).mean()
    assert spread < np.linalg.norm(made.centres[0] - made.centres[1])


def test_more_children_than_dimensions():
    made = make_hierarchy((5, 7), n_features=2, random_state=0)
    assert len(np.unique(made.centres.round(9), axis=0)) == 35


def test_bad_hierarchies_are_refused():
    with pytest.raises(ValueError, match="branching must hold"):
        make_hierarchy(())
    with pytest.raises(ValueError, match="n_samples must be at least 36"):
        make_hierarchy(n_samples=20)
    with pytest.raises(ValueError, match="overlap must be finite and above 0"):
        make_hierarchy(overlap=0)


# ---- Hierarchies whose locations diffuse ----


def test_a_diffused_hierarchy_has_the_wanted_sizes():
    made = make_diffused_hierarchy((4, 3, 3), n_per_leaf=7, n_features=5, random_state=0)
    assert made.data.shape == (252, 5)
    assert made.centres.shape == (36, 5)
    np.testing.assert_array_equal(made.components, made.target)
    for level, size in enumerate((63, 21, 7)):
        assert set(np.bincount(made.levels[:, level])) == {size}


def test_a_seed_gives_one_diffused_hierarchy():
    one, same, other = (make_diffused_hierarchy(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.data, same.data)
    assert not np.array_equal(one.data, other.data)


@pytest.mark.parametrize("n_features", [2, 16])
def test_steps_are_mean_square_distances_in_any_number_of_columns(n_features):
    """Cousins of level l have sqrt(2 sum of the steps below) between them; siblings are next."""
    made = make_diffused_hierarchy(
        (200, 2, 2), steps=(9, 4, 2), n_features=n_features, n_per_leaf=1, random_state=0
    )
    leaf = made.centres.reshape(200, 2, 2, n_features)
    siblings = ((leaf[:, :, 0] - leaf[:, :, 1]) ** 2).sum(axis=-1).mean()
    cousins = ((leaf[:, 0, 0] - leaf[:, 1, 0]) ** 2).sum(axis=-1).mean()
    from_root = (leaf**2).sum(axis=-1).mean()
    found = np.array([siblings, cousins, from_root])
    np.testing.assert_allclose(found, [2 * 4, 2 * (16 + 4), 81 + 16 + 4], rtol=0.25)


def test_noise_is_that_of_every_column():
    made = make_diffused_hierarchy((2, 2), steps=(9, 4), noise=0.9, n_per_leaf=500, random_state=0)
    spread = (made.data - made.centres[made.components]).std(axis=0)
    np.testing.assert_allclose(spread, 0.9, rtol=0.07)


def test_the_two_gaussians_of_a_leaf_are_as_far_apart_as_asked():
    made = make_diffused_hierarchy((2, 2), steps=(9, 4), noise=0.5, pair_distance=5, random_state=0)
    one = make_diffused_hierarchy((2, 2), steps=(9, 4), noise=0.5, random_state=0)
    apart = np.linalg.norm(made.centres[0::2] - made.centres[1::2], axis=1)
    np.testing.assert_allclose(apart, 5 * 0.5, rtol=1e-12)
    np.testing.assert_allclose((made.centres[0::2] + made.centres[1::2]) / 2, one.centres)
    np.testing.assert_array_equal(made.components // 2, made.target)
    assert len(np.unique(made.components)) == 8


def test_bad_diffused_hierarchies_are_refused():
    with pytest.raises(ValueError, match="steps must hold 2 numbers, one a level, got 3"):
        make_diffused_hierarchy((4, 3))
    with pytest.raises(ValueError, match="pair_distance must be finite and above 0"):
        make_diffused_hierarchy(pair_distance=0)
    with pytest.raises(ValueError, match="branching must hold"):
        make_diffused_hierarchy((), steps=())
