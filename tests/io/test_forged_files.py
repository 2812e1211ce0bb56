"""Files that were made to do harm, checksums and digests right: each is refused in a sentence."""

import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._io.archive import FileFormatError, read, write
from bhmc._io.archive.archive import HEADER
from tests.io import saving_values as values
from tests.io.saving_values import comment_of, edited
from tests.io.test_saving_damaged import read_error


def forged(path, text, entries=(), comment=None):
    """An archive of a header and entries, pairs of names and bytes."""
    header = text if isinstance(text, str) else json.dumps(text)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(HEADER, header)
        for name, data in entries:
            archive.writestr(name, data)
        archive.comment = comment or comment_of(header, dict(entries), dict(entries))
    return path


def header_of(value, arrays=()) -> dict:
    head = {"format": "bhmc", "format_version": 3, "kind": "checkpoint", "digest": "sha256"}
    return head | {"value": value, "arrays": dict(arrays)}


def error_of(path, value, **more) -> str:
    return read_error(forged(path, header_of(value, **more)))


# ---- Cost ----


def test_deflated_zeros_are_counted_before_they_are_read(tmp_path, monkeypatch):
    """0.75 MB took 765 MB."""
    path, n = tmp_path / "x", 2**23
    described = {"dtype": "<f8", "shape": [n], "fortran_order": False}
    npy = Path(path.with_suffix(".npy"))
    np.save(npy, np.zeros(n))
    text = header_of({"$type": "array", "entry": "a.npy"}, {"a.npy": described})
    forged(path, text, [("a.npy", npy.read_bytes())])
    tracemalloc.start()
    said = read_error(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert said == (
        f"{path.stat().st_size:,} bytes that say they hold 67,108,992 or more are what a forged "
        "file has; if you trust it, set the environment variable BHMC_MOST_BYTES=67108992."
    )
    monkeypatch.setenv("BHMC_MOST_BYTES", "67108992")
    assert len(read(path)) == n


def test_what_is_written_can_be_read(tmp_path, monkeypatch):
    """Files of labels that deflate to a hundredth are no forged files."""
    for name in ("_FREE_DEFLATED", "FREE_BYTES"):
        monkeypatch.setattr(f"bhmc._io.archive.archive.{name}", 2**16)
    monkeypatch.setattr("bhmc._io.archive.archive._check_bytes.__defaults__", (2**16,))
    labels = {f"x{i}": np.repeat(np.arange(40), 1000) for i in range(20)}
    write(tmp_path / "x", "checkpoint", labels)
    assert read(tmp_path / "x").keys() == labels.keys()
    with zipfile.ZipFile(tmp_path / "x") as archive:
        kinds = {info.compress_type for info in archive.infolist()}
    assert kinds == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


LARGE = {
    "blanks": json.dumps(header_of(1)) + " " * 2**25,
    "lists": json.dumps(header_of(1)).replace('"value": 1', f'"value": [{"[]," * 2**20}[]]'),
}


@pytest.mark.parametrize("kind", LARGE)
def test_headers_of_large_cost(kind, tmp_path):
    assert "are what a forged file has" in read_error(forged(tmp_path / "x", LARGE[kind]))


def test_an_array_of_objects_is_counted_before_it_is_made(tmp_path):
    value = {"$type": "object_array", "shape": [10**9], "items": [1]}
    tracemalloc.start()
    said = error_of(tmp_path / "x", value)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert said == "an array of objects has more or fewer items than its shape."


def test_a_list_of_many_empty_arrays(tmp_path):
    write(tmp_path / "x", "checkpoint", [np.arange(3), np.arange(4)])
    many = np.zeros((260_000, 1), np.int64)
    many[:2, 0] = 3, 4
    edited(
        tmp_path / "x",
        lambda header: header["arrays"]["value_shapes.npy"].update(shape=list(many.shape)),
        {"value_shapes.npy": many},
    )
    assert read_error(tmp_path / "x") == "its lists have more arrays than its length explains."


def collide(n):
    """Keys with one hash; a dict of 40,000 took 20 s."""
    items = [[{"$type": "int", "hex": hex(i * (2**61 - 1) + 1)}, i] for i in range(n)]
    return {"$type": "dict", "items": items}


SEEDS = {"$type": "SeedSequence", "entropy": 1, "spawn_key": [], "pool_size": 4}
MT = {"bit_generator": "MT19937", "state": {"key": [1] * 624, "pos": 10**6}}
PHILOX = {"counter": [0] * 4, "key": [0] * 2}
BUFFER = {"bit_generator": "Philox", "state": PHILOX, "buffer": [0] * 4, "buffer_pos": -9}
BUFFER |= {"has_uint32": 0, "uinteger": 0}


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (collide(40), "a dict in it has a key twice, or keys that were made to collide."),
        ({"$type": "dict", "items": [[1, 2], [1, 3]]}, "a dict in it has a key twice, or keys"),
        ({"$type": "int", "hex": "1" * 10**5}, "a whole number in it has more than 65,536 digits"),
        (SEEDS | {"pool_size": 60_000}, "a seed sequence in it has more than 128 words"),
        (SEEDS | {"entropy": [1] * 10**4}, "a seed sequence in it has more than 128 words"),
        (SEEDS | {"spawn_key": [1] * 10**4}, "a seed sequence in it has more than 128 words"),
        (
            SEEDS | {"entropy": {"$type": "int", "hex": "f" * 9999}},
            "a seed sequence in it has more than 128 words",
        ),
        # NumPy reads memory beyond its buffer.
        ({"$type": "RandomState", "state": MT}, "a random generator in it is at a place that"),
        ({"$type": "Generator", "state": MT}, "a random generator in it is at a place that"),
        ({"$type": "Generator", "state": BUFFER}, "a random generator in it is at a place that"),
        ({"$type": "scalar", "dtype": "f8," * 9, "value": 1}, "a single number of type"),
        ({"$type": "scalar", "dtype": ["f8"], "value": 1}, "a single number of type"),
    ],
)
def test_values_of_large_cost_or_without_a_place(value, sentence, tmp_path):
    said = error_of(tmp_path / "x", value)
    assert said.removeprefix("its contents do not fit together: ").startswith(sentence)


# ---- Two meanings, other places ----


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (('"value": 1', '"value": 1, "value": 2'), "its header has a key twice."),
        (('"value": 1', '"value": NaN'), "its header has NaN, which is no JSON."),
        (('"value": 1', '"value": -Infinity'), "its header has -Infinity, which is no JSON."),
        (('"value": 1', '"value": 1e999'), "a number in it is beyond all doubles."),
        (('"digest": "sha256"', '"digest": "md5"'), "its digest is of kind 'md5': upgrade bhmc."),
    ],
)
def test_json_of_two_meanings(edit, sentence, tmp_path):
    text = json.dumps(header_of(1)).replace(*edit)
    assert read_error(forged(tmp_path / "x", text)) == sentence


@pytest.mark.parametrize(
    "name", ["../x.npy", "/etc/x.npy", "a/../../x.npy", "..\\x.npy", "C:x.npy", "a\\b.npy"]
)
def test_names_that_lead_elsewhere(name, tmp_path):
    path = forged(tmp_path / "x", header_of(1), [(name, b"")])
    assert read_error(path) == f"the name {name!r} in it leads out of the archive."


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name(tmp_path):
    path = forged(tmp_path / "x", header_of(1), [("a.npy", b"1"), ("a.npy", b"2")])
    assert read_error(path) == "two entries in it have one name."


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x")
    assert read_error(tmp_path / "x") == "it is a pipe, not a file."


def test_a_file_does_not_say_where_files_are_written(tmp_path):
    model = values.small_model().set_params(checkpoint=tmp_path / "chains")
    model.save(tmp_path / "m.bhmc")
    assert BHMC.load(tmp_path / "m.bhmc").checkpoint is None


@pytest.mark.parametrize("name", ["tree_", "draws_", "labels_"])
def test_attributes_of_another_kind(name, tmp_path):
    model = values.small_model()
    setattr(model, name, "text")
    model.save(tmp_path / "m.bhmc")
    with pytest.raises(FileFormatError, match=f"cannot be read: its {name} is a str\\.$"):
        BHMC.load(tmp_path / "m.bhmc")


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("levels", np.array([0, 1, 1, 9, 2, 2]), "levels of a Tree must be one more than those"),
        ("levels", np.array([1, 2, 2, 3, 3, 3]), "levels of a Tree must be one more than those"),
    ],
)
def test_levels_of_a_tree(name, array, sentence, tmp_path):
    values.full_tree().save(tmp_path / "tree.bhmc")
    edited(tmp_path / "tree.bhmc", arrays={f"{name}.npy": array})
    assert sentence in read_error(tmp_path / "tree.bhmc")


def test_labels_of_a_partition(tmp_path):
    """Compiled summaries count in arrays of so many labels."""
    values.small_draws().save(tmp_path / "draws.bhmc")
    with zipfile.ZipFile(tmp_path / "draws.bhmc") as archive:
        old = np.load(archive.open("partitions/component.npy"))
        described = json.loads(archive.read(HEADER))["arrays"]["partitions/component.npy"]
    for label in (-1, 2**30):
        labels = old.astype(np.int64)
        labels[0] = label
        described = described | {"dtype": "<i8"}
        edited(
            tmp_path / "draws.bhmc",
            lambda header, d=described: header["arrays"].update({"partitions/component.npy": d}),
            {"partitions/component.npy": labels},
        )
        assert "component of a Partition must be between 0 and" in read_error(
            tmp_path / "draws.bhmc"
        )


# ---- The digest ----


def test_a_digest_that_is_of_other_contents(tmp_path):
    path, said = tmp_path / "x", "its contents are not those that its digest was made of"
    write(path, "checkpoint", np.arange(5.0))
    assert zipfile.ZipFile(path).comment.startswith(b"sha256:")
    with zipfile.ZipFile(path) as archive:
        comment, text = archive.comment, archive.read(HEADER).decode()
    edited(path, arrays={"value.npy": np.arange(1, 6.0)})  # right checksums
    assert read(path)[0] == 1
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = comment
    assert read_error(path) == f"it is damaged: {said}."
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b""
    assert read_error(path) == f"it is damaged: {said}."
    assert '"digest": "sha256"' in text


def test_older_files_have_no_digest(tmp_path):
    write(tmp_path / "x", "checkpoint", np.arange(5.0))
    edited(tmp_path / "x", lambda header: header.pop("digest"))
    with zipfile.ZipFile(tmp_path / "x", "a") as archive:
        archive.comment = b""
    np.testing.assert_array_equal(read(tmp_path / "x"), np.arange(5.0))
