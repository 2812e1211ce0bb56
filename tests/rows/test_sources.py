"""Tables that stay in files: what is read is what was written, in bounded memory, or a sentence."""

import itertools
import sys

import numpy as np
import pytest

from bhmc.rows import open_rows
from bhmc.rows.sources import ArraySource, Pieces, is_source
from bhmc.rows.sources.pieces import KeptPieces
from bhmc.rows.sources.zarr_arrays import chunked_source, is_chunked

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr")

N, D = 53, 3


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, D)).round(2)


def saved(X, folder, kind):
    """The path of a file, or a folder, that holds X."""
    path = folder / f"{kind}.{kind.split()[0]}"
    if kind.startswith("npy"):
        np.save(path, np.asfortranarray(X) if kind.endswith("fortran") else X)
    elif kind.startswith("parquet"):
        path = folder / kind.replace(" ", "_")
        path.mkdir()
        cuts = [0, 20, 20, 41, len(X)]  # the second file has no rows
        for i, (first, last) in enumerate(itertools.pairwise(cuts)):
            part = frame(X[first:last])
            pq.write_table(part, path / f"{i}.parquet", row_group_size=7)
    else:
        form = {"zarr_format": 2 if kind.endswith("2") else 3, "overwrite": True}
        array = zarr.create_array(str(path), shape=X.shape, chunks=(11, 2), dtype=X.dtype, **form)
        array[:] = X
    return path


def frame(X):
    """An Arrow table with the columns a, b, c."""
    return pa.table({name: column for name, column in zip("abc", X.T, strict=True)})


KINDS = ["npy", "npy fortran", "parquet", "zarr 2", "zarr 3"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?", ">f8"])
def test_what_is_read_is_what_was_written(X, kind, dtype, tmp_path):
    X = (10 * np.abs(X)).astype(dtype)
    if kind == "parquet" and dtype == ">f8":
        pytest.skip("Arrow has one byte order")
    source, wanted = open_rows(saved(X, tmp_path, kind)), X.astype(np.float64)
    assert is_source(source)
    assert source.shape == (N, D)
    assert source.names == (["a", "b", "c"] if kind == "parquet" else None)
    assert f"({N} rows, {D} columns)" in source.describe()
    for first, last in ((0, N), (0, 0), (5, 6), (6, 7), (19, 43), (N - 1, N)):
        found = source.read(slice(first, last))
        np.testing.assert_array_equal(found, wanted[first:last])
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert type(found) is np.ndarray
    for rows in ([], [0], [6, 7, 20, 40, 41, N - 1], list(range(N))):
        rows = np.array(rows, dtype=np.int64)
        np.testing.assert_array_equal(source.take(rows), wanted[rows])


def test_columns_of_parquet_in_another_order_and_missing_numbers(tmp_path):
    table = pa.table(
        {"a": [1.5, None], "b": pa.array([1, None]), "t": ["x", "y"], "f": [True, None]}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    source = open_rows(tmp_path / "rows.parquet", columns=["f", "b", "a"])
    assert source.names == ["f", "b", "a"]
    np.testing.assert_array_equal(source.read(slice(0, 2)), [[1, 1, 1.5], [np.nan] * 3])


def test_files_may_have_their_columns_in_another_order(X, tmp_path):
    pq.write_table(frame(X), tmp_path / "1.parquet")
    pq.write_table(frame(X).select(["c", "a", "b"]), tmp_path / "2.parquet")
    both = open_rows(tmp_path).read(slice(0, 2 * N))
    np.testing.assert_array_equal(both, np.concatenate([X, X]))


def test_a_memory_map_is_read_without_a_copy(X, tmp_path):
    source = open_rows(saved(X, tmp_path, "npy"))
    found = source.read(slice(3, 9))
    assert not found.flags.owndata
    assert not found.flags.writeable
    assert "npy.npy" in ArraySource(np.load(tmp_path / "npy.npy", mmap_mode="r")).describe()


def test_arrays_in_chunks_of_h5py_are_tables(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        data = file.create_dataset("X", data=X, chunks=(10, 2))
        assert is_chunked(data)
        np.testing.assert_array_equal(chunked_source(data).read(slice(9, 31)), X[9:31])
    assert not is_chunked(X)


# ---- Memory --------------------------------------------------------------------------------------


class Loads:
    """Pieces of ten rows of one number, each 80 bytes; notes which are loaded."""

    def __init__(self):
        self.made = []

    def __call__(self, i):
        self.made.append(i)
        return np.arange(10.0 * i, 10.0 * (i + 1))[:, None]


@pytest.mark.parametrize(("pieces", "loads"), [(6, 6), (5, 14), (3, 16), (1, 18)])
def test_pieces_that_fit_are_loaded_once(pieces, loads):
    """Three sweeps of six pieces; of those that do not stay each is loaded once a sweep."""
    load = Loads()
    source = Pieces([10] * 6, 1, load, "a table", memory=80 * pieces)
    for _ in range(3):
        for first in range(0, 60, 4):
            rows = slice(first, min(first + 4, 60))
            np.testing.assert_array_equal(source.read(rows)[:, 0], np.arange(60.0)[rows])
    assert len(load.made) == loads
    assert set(load.made) == set(range(6))


@pytest.mark.parametrize("memory", [80, 100, 161, 240, 400, 480, 10**6])
def test_pieces_in_memory_take_no_more_than_they_may(memory):
    load, rng = Loads(), np.random.default_rng(0)
    kept = KeptPieces([80] * 6, load, memory)
    for i in rng.integers(6, size=200).tolist():
        np.testing.assert_array_equal(kept.piece(i), load(i))
        held = list(kept._stay.values()) + list(kept._last.values())
        assert sum(piece.nbytes for piece in held) <= memory


def test_pieces_that_somebody_holds_are_handed_out_and_not_kept():
    load = Loads()
    source = Pieces([10] * 2, 1, load, "a table")
    source.read(slice(0, 20))
    source.read(slice(0, 20))
    assert load.made == [0, 1, 0, 1]


def test_low_chunks_are_read_together(tmp_path):
    X = np.arange(600.0).reshape(300, 2)
    reads = []

    class Chunked:
        chunks, shape, dtype = (7, 2), X.shape, X.dtype

        def __getitem__(self, rows):
            reads.append((rows.start, rows.stop))
            return X[rows]

    np.testing.assert_array_equal(chunked_source(Chunked()).read(slice(0, 300)), X)
    assert reads == [(0, 300)]
    reads.clear()
    source = chunked_source(Chunked(), memory=16 * 30)  # room for 30 rows
    np.testing.assert_array_equal(source.read(slice(0, 300)), X)
    assert max(last - first for first, last in reads) == 28


# ---- Refusals ------------------------------------------------------------------------------------


def refused(error, path, sentence, **given):
    with pytest.raises(error) as caught:
        open_rows(path, **given)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_path_that_is_no_table(tmp_path):
    refused(FileNotFoundError, tmp_path / "none.npy", "none.npy does not exist.")
    (tmp_path / "rows.csv").write_text("1,2\n")
    refused(ValueError, tmp_path / "rows.csv", "rows.csv is no table that can be read in blocks")
    (tmp_path / "empty").mkdir()
    refused(ValueError, tmp_path / "empty", "empty is a folder without .parquet files")


@pytest.mark.parametrize(
    ("array", "error", "sentence"),
    [
        (np.zeros(4), ValueError, "must have two dimensions, rows and columns, got 1."),
        (np.zeros((0, 3)), ValueError, "rows.npy has no rows."),
        (np.zeros((3, 0)), ValueError, "rows.npy has no columns."),
        (np.array([["a", "b"]]), TypeError, "rows.npy must hold numbers, got <U1."),
        (np.array([[1j]]), TypeError, "rows.npy must hold numbers, got complex128."),
        (np.array([[1, "a"]], dtype=object), ValueError, "Python objects in dtype"),
    ],
)
def test_arrays_that_are_no_tables_of_numbers(array, error, sentence, tmp_path):
    np.save(tmp_path / "rows.npy", array)
    refused(error, tmp_path / "rows.npy", sentence)


def test_damaged_npy_files(X, tmp_path):
    whole, path = saved(X, tmp_path, "npy").read_bytes(), tmp_path / "rows.npy"
    for part in (whole[:-9], whole[:40], b"", b"something else " * 9):
        path.write_bytes(part)
        refused(ValueError, path, "rows.npy is no whole .npy file of numbers: ")
    path.write_bytes(whole)
    refused(ValueError, path, "rows.npy has no names of columns", columns=["a"])


def test_damaged_parquet_files(X, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(frame(X), path)
    whole = path.read_bytes()
    for part in (whole[:-20], b"", b"something else " * 9):
        path.write_bytes(part)
        refused(ValueError, path, "rows.parquet is no whole Parquet file: ")
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    with pytest.raises(OSError, match=r"row group 0 of rows.parquet cannot be read: "):
        open_rows(path).read(slice(0, N))


def test_parquet_files_with_other_columns(X, tmp_path):
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(frame(X), first)
    pq.write_table(frame(X).select(["a", "c"]), second)
    refused(ValueError, tmp_path, "1.parquet and 2.parquet have different columns: 'b' is in one")
    refused(ValueError, tmp_path, "2.parquet has no column 'b'.", columns=["a", "b"])
    assert open_rows(tmp_path, columns=["a", "c"]).shape == (2 * N, 2)
    refused(ValueError, first, "columns names no column.", columns=[])
    refused(ValueError, first, "columns names column 'a' twice.", columns=["a", "a"])
    refused(TypeError, first, "columns must be a list of names, got 'ab'.", columns="ab")
    pq.write_table(frame(X).append_column("t", [["x"] * N]), second)
    refused(TypeError, second, "column 't' of 2.parquet has type string: ")
    pq.write_table(frame(X[:0]), second)
    refused(ValueError, second, "2.parquet has no rows.")


def test_damaged_zarr_arrays(X, tmp_path):
    path = saved(X, tmp_path, "zarr 3")
    refused(ValueError, path, "zarr 3.zarr has no names of columns", columns=["a"])
    (chunk,) = [file for file in path.rglob("*") if str(file).endswith("c/0/0")]
    chunk.write_bytes(b"something else")
    with pytest.raises(OSError, match=r"rows 0 to 10 of zarr 3.zarr cannot be read: "):
        open_rows(path, memory=11 * 24).read(slice(0, 3))
    (tmp_path / "empty.zarr").mkdir()
    refused(ValueError, tmp_path / "empty.zarr", "empty.zarr is no Zarr array that can be read: ")
    zarr.create_group(str(tmp_path / "group.zarr"))
    refused(ValueError, tmp_path / "group.zarr", "group.zarr is no Zarr array that can be read: ")
    zarr.create_array(str(tmp_path / "line.zarr"), shape=(9,), dtype="f8")
    refused(ValueError, tmp_path / "line.zarr", "line.zarr must have two dimensions")


def test_pieces_larger_than_the_memory(X, tmp_path):
    kinds = {"zarr 3": "chunk of 11 rows", "parquet": "row group of 7 rows"}
    for kind, sentence in kinds.items():
        path = saved(X, tmp_path, kind)
        refused(ValueError, path, f"has a {sentence}, which is read as a whole", memory=160)
        assert open_rows(path, memory=264).shape == (N, D)
    refused(TypeError, path, "memory must be a whole number of at least 0", memory="1 GB")


@pytest.mark.parametrize(
    ("package", "name", "kind"),
    [("pyarrow.parquet", "pyarrow", "parquet"), ("zarr", "zarr", "zarr 3")],
)
def test_packages_that_are_not_installed(X, package, name, kind, tmp_path, monkeypatch):
    path = saved(X, tmp_path, kind)
    monkeypatch.setitem(sys.modules, package, None)
    sentence = f"needs {name}: install it with `pip install bhmc[blocks]`."
    refused(ImportError, path, sentence)
    np.save(tmp_path / "rows.npy", X)
    assert open_rows(tmp_path / "rows.npy").shape == (N, D)
