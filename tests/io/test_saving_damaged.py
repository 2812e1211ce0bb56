"""Files that are damaged, foreign, older, newer or tampered with are read rightly or refused."""

import json
import os
import pickle
import re
import zipfile

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._io.archive import FileFormatError, read, write
from bhmc._version import __version__
from bhmc.posterior.draws import Draws
from tests.io import saving_values as values
from tests.io.saving_values import assert_same, edited


def round_trip(value, tmp_path, kind="checkpoint"):
    path = tmp_path / "value.bhmc"
    write(path, kind, value)
    return read(path, kind)


def read_error(path, kind=None) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(FileFormatError) as caught:
        read(path, kind)
    message = str(caught.value)
    assert message.startswith(f"{os.fspath(path)!r} cannot be read: ")
    assert message.endswith(".")
    return message.partition(" cannot be read: ")[2]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Bytes of a small file."""
    path = tmp_path_factory.mktemp("sample") / "draws.bhmc"
    values.small_draws().save(path)
    return path.read_bytes()


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no file '.*nothing'\.$"):
        read(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "it is empty."),
        (b"PK", "it is not a bhmc file."),
        (b"a,b\n1,2\n", "it is not a bhmc file."),
        (pickle.dumps(print), "it is not a bhmc file."),
        (b"PK\x03\x04 and then text", "its end is missing: it was not written or copied whole."),
    ],
)
def test_what_is_no_archive(data, sentence, tmp_path):
    (tmp_path / "x").write_bytes(data)
    assert read_error(tmp_path / "x") == sentence


def test_archives_of_others(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.arange(3))
    assert read_error(tmp_path / "x.npz") == "it is a zip archive, but not a bhmc file."
    for text, sentence in {
        "[1]": "it is a zip archive, but not a bhmc file.",
        '{"format": "other", "format_version": 1}': "it is a zip archive, but not a bhmc file.",
        "{": "it is not a bhmc file: its header is no JSON.",
        "[" * 100_000: "it is not a bhmc file: its header is no JSON.",
    }.items():
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            archive.writestr("header.json", text)
        assert read_error(tmp_path / "x.zip") == sentence


def test_a_file_cut_off_anywhere(sample, tmp_path):
    path = tmp_path / "cut"
    lengths = sorted({*(len(sample) * i // 50 for i in range(50)), len(sample) - 1})
    for length in lengths:
        path.write_bytes(sample[:length])
        read_error(path)


def test_a_file_with_a_wrong_byte_anywhere(sample, tmp_path):
    """A sentence, or the very same value where the byte means nothing: never another value."""
    rng, path, wanted = np.random.default_rng(0), tmp_path / "flipped", values.small_draws()
    harmless = 0
    directory = sample.index(b"PK\x01\x02")  # at the end; no checksum covers it
    places = [*rng.integers(len(sample), size=240), *rng.integers(directory, len(sample), size=160)]
    for place in places:
        data = bytearray(sample)
        data[place] ^= int(rng.choice([1, 2, 4, 8, 16, 32, 64, 128, 255]))
        path.write_bytes(data)
        try:
            found = read(path)
        except FileFormatError:
            continue
        assert_same(found, wanted)
        harmless += 1
    assert harmless < len(places) / 2


def test_an_archive_compressed_in_another_way(sample, tmp_path):
    """Fewer ways to decompress are fewer ways to go wrong."""
    (tmp_path / "x").write_bytes(sample)
    with zipfile.ZipFile(tmp_path / "x") as old, zipfile.ZipFile(tmp_path / "y", "w", 12) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    sentence = "'header.json' in it is compressed in a way that bhmc does not use."
    assert read_error(tmp_path / "y") == sentence


@pytest.mark.parametrize(
    "value", [{"$type": "float", "text": "x" * 9999}, {"$type": "x" * 9999}], ids=["value", "class"]
)
def test_sentences_are_no_essays(value, tmp_path):
    write(tmp_path / "x", "checkpoint", 1)
    edited(tmp_path / "x", lambda header: header.update(value=value))
    assert len(read_error(tmp_path / "x")) < 350


def test_damages_are_said_in_words(sample, tmp_path):
    path = tmp_path / "x"
    data = bytearray(sample)
    data[data.index(b"NUMPY") + 140] ^= 1
    path.write_bytes(data)
    assert re.fullmatch(r"it is damaged: Bad CRC-32 for file '.*\.npy'\.", read_error(path))


@pytest.fixture
def tree_file(tmp_path):
    path = tmp_path / "tree.bhmc"
    values.full_tree().save(path)
    return path


def test_another_kind(tree_file):
    assert read_error(tree_file, "draws") == "it holds a tree, not draws."
    with pytest.raises(FileFormatError, match="it holds a tree, not a model"):
        BHMC.load(tree_file)
    with pytest.raises(FileFormatError, match="it holds a tree, not draws"):
        Draws.load(tree_file)


def test_a_kind_that_is_not_what_it_says(tree_file):
    edited(tree_file, lambda header: header.update(kind="draws"))
    assert read_error(tree_file) == "it says that it holds draws, and it does not."


@pytest.mark.parametrize("name", ["format_version", "kind", "value", "arrays"])
def test_a_header_that_lacks_something(name, tree_file):
    edited(tree_file, lambda header: header.pop(name))
    assert read_error(tree_file).startswith("its header ")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"sizes.npy": None}, "the array 'sizes.npy' is missing."),
        (
            {"sizes.npy": np.arange(7)},
            "the array 'sizes.npy' should be int64 of shape (6,), but is",
        ),
        (
            {"sizes.npy": np.empty(0)},
            "the array 'sizes.npy' should be int64 of shape (6,), but its",
        ),
        ({"sizes.npy": np.arange(6.0)}, "the array 'sizes.npy' should be int64 of shape (6,), but"),
        ({"sizes.npy": np.arange(6).reshape(2, 3)}, "the array 'sizes.npy' should be int64 of sh"),
        ({"sizes.npy": np.array([print] * 6)}, "the array 'sizes.npy' should "),
        ({"parents.npy": np.array([-1, 0, 0, 1, 5, 2])}, "its contents do not fit together: pare"),
        ({"parents.npy": np.array([-1, 0, 0, 1, -2, 2])}, "its contents do not fit together: par"),
        (
            {"components.npy": np.array([0, 0, 0, 1, 2], dtype=np.int32)},
            "its contents do not fit together: components of a Tree must be between 0 and 1.",
        ),
        (
            {"paths.npy": np.full((5, 3), 6, dtype=np.int32)},
            "its contents do not fit together: paths of a Tree must be between 0 and 5.",
        ),
    ],
)
def test_arrays_that_do_not_fit(arrays, sentence, tree_file):
    edited(tree_file, arrays=arrays)
    assert read_error(tree_file).startswith(sentence)


def set_value(**fields):
    return lambda header: header["value"].update(fields)


def point_at(field, entry):
    return lambda header: header["value"][field].update(entry=entry)


def describe(**words):
    return lambda header: header["arrays"]["theta.npy"].update(words)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda header: header["value"].pop("theta"), "a Tree in it has no theta."),
        (set_value(later=1), f"a Tree in it has a later, which bhmc {__version__} does not know: "),
        (set_value(alpha={"$type": "os.system"}), "it holds a 'os.system', which bhmc "),
        (set_value(alpha={"$type": ["Tree"]}), "its contents do not fit together: "),
        (set_value(alpha={"$type": "int", "hex": "x"}), "its contents do not fit together: "),
        (set_value(alpha={"$type": "float", "text": "1e5"}), "its contents do not fit together: "),
        (set_value(alpha={"$type": "priors.Gamma", "shape": -1}), "its contents do not fit tog"),
        (set_value(alpha={"$type": "scalar", "dtype": "O", "value": 1}), "a single number of "),
        (set_value(theta=1), "its contents do not fit together: theta of a Tree must be an array"),
        (set_value(theta={"$type": "array", "entry": "x"}), "the array 'x' is missing."),
        (
            set_value(alpha={"$type": "object_array", "shape": [2], "items": [1]}),
            "an array of objects has more or fewer items than its shape.",
        ),
        (point_at("support", "theta.npy"), "its contents do not fit together: support of a Tree "),
        (point_at("weights", "theta.npy"), "its contents do not fit together: weights of a Tree "),
        (point_at("feature_means", "support.npy"), "its contents do not fit together: feature_"),
        (describe(dtype="|O8"), "the array 'theta.npy' has a description that cannot be read: "),
        (describe(dtype=8), "the array 'theta.npy' has a description that cannot be read: "),
        (describe(shape="ab"), "the array 'theta.npy' has a description that cannot be read: "),
        (describe(shape=[-1, 4]), "the array 'theta.npy' has a description that cannot be read: "),
        (describe(fortran_order=True), "the array 'theta.npy' should be float64 of shape (2, 2) b"),
        (describe(shape=[2**40, 2**40]), "the array 'theta.npy' should be float64 of shape (10"),
        (
            lambda header: header["value"].update(alpha=nested(50_000)),
            "it is not a bhmc file: its header is no JSON.",
        ),
    ],
)
def test_values_that_do_not_fit(edit, sentence, tree_file, monkeypatch):
    monkeypatch.setattr(json, "dumps", written_deep)
    edited(tree_file, edit)
    assert read_error(tree_file).startswith(sentence)


def nested(depth):
    return f"{'[' * depth}{']' * depth}"


def written_deep(value, dumps=json.dumps, **settings):
    """JSON in which text that looks like nested lists is such lists; Python cannot write them."""
    return re.sub(r'"(\[+\]+)"', r"\1", dumps(value, **settings))


def test_a_small_file_cannot_ask_for_much_memory(tree_file):
    """An entry that says it is a million times as long as what holds it."""
    data = tree_file.read_bytes()
    at = data.rindex(b"theta.npy") - 46  # its line of the directory
    assert data[at : at + 4] == b"PK\x01\x02"
    size = int.from_bytes(data[at + 24 : at + 28], "little") + 2**31
    tree_file.write_bytes(data[: at + 24] + size.to_bytes(4, "little") + data[at + 28 :])
    edited_size = "it is damaged: 'theta.npy' in it cannot be as long as it says."
    assert read_error(tree_file) == edited_size


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"partitions/leaf.npy": np.full(9, 9, np.uint8)}, "leaf of a Partition must be between"),
        ({"partitions/leaf_shapes.npy": np.full((4, 1), 4)}, "a list of arrays is longer than"),
        ({"partitions/leaf_shapes.npy": np.full((4, 1), 2)}, "a list of arrays is shorter than"),
        ({"partitions/leaf_shapes.npy": np.full((4, 1), -1)}, "a list of arrays is longer than"),
        (
            {"partitions/leaf_member_of.npy": np.full(4, 7, np.uint8)},
            "a list of arrays names an entry",
        ),
        (
            {"partitions/component_shapes.npy": np.array([[2], [4], [3], [3]])},
            "component of a Partition must have a label for each row",
        ),
        ({"partition_index.npy": np.full((4, 2), 3)}, "chains of partitions must be between 0"),
        ({"mixtures/weights_shapes.npy": np.array([[4], [2]])}, "a Mixture of 1 components has 4"),
    ],
)
def test_draws_that_do_not_fit(arrays, sentence, tmp_path):
    path = tmp_path / "draws.bhmc"
    values.small_draws().save(path)
    edited(path, arrays=arrays)
    assert read_error(path).startswith(f"its contents do not fit together: {sentence}")


@pytest.mark.parametrize(
    ("learned", "sentence"),
    [
        ([], "learned of Draws must be a dict of arrays"),
        ({"alpha": 1.0}, "alpha of Draws must be an array of real entries"),
        ({"alpha": "n_nodes"}, "alpha of Draws must be an array of real entries"),
        ({"alpha": "mixtures/weights"}, "alpha of Draws has the shape (6,), not (2, 3)"),
    ],
)
def test_hyperparameters_that_do_not_fit(learned, sentence, tmp_path):
    def edit(header):
        if isinstance(learned, dict):
            for name, value in learned.items():
                if isinstance(value, str):
                    value = {"$type": "array", "entry": f"{value}.npy"}
                header["value"]["learned"][name] = value
        else:
            header["value"]["learned"] = learned

    path = tmp_path / "draws.bhmc"
    values.small_draws().save(path)
    edited(path, edit)
    assert read_error(path).startswith(f"its contents do not fit together: {sentence}")


def test_a_state_with_a_wrong_index_is_refused(tmp_path):
    """Compiled code would read memory that is not its own."""
    path = tmp_path / "state.bhmc"
    write(path, "checkpoint", values.small_state())
    edited(path, arrays={"components.npy": np.array([0, 1, 2], dtype=np.int32)})
    assert read_error(path) == (
        "its contents do not fit together: state is not valid: a component label is outside 0..K-1."
    )
