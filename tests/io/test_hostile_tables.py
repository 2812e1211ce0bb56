"""Tables that are damaged or forged are refused in a sentence: no crash, no hang, no great cost."""

import gzip
import io
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from bhmc._io.tables.matrix_market import read_matrix_market
from bhmc._io.tables.read import Reading, read_table
from bhmc._validation.errors import RefusedError
from bhmc.rows import open_rows

CUT_OFF = "%%MatrixMarket matrix coordinate real general\n%\n3 2 3\n1 1 1.5\n2 2 2.5E-"


def refusal(path, **reading) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(RefusedError) as caught:
        read_table(str(path), Reading(**reading))
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text.replace(str(path), "FILE")


def error_of(call, kinds) -> str | None:
    """What a call says of such an error, in one line; None where all is well."""
    try:
        call()
    except kinds as error:
        said = str(error)
    else:
        return None
    assert "\n" not in said
    return said


# ---- Matrix Market ----


def test_a_matrix_that_is_cut_off_ends_no_process(tmp_path):
    """SciPy's quick reader reads beyond the end of its text."""
    (tmp_path / "m.mtx").write_text(CUT_OFF)
    command = [sys.executable, "-m", "bhmc", "fit", "m.mtx", "-o", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    sentence = "bhmc fit: m.mtx is no MTX file, or damaged (it holds what is no number).\n"
    assert done.stderr == sentence


MATRICES = {"real": 1.37, "integer": 1, "pattern": 1}


KINDS = [
    (layout, field, symmetry)
    for layout in ("coordinate", "array")
    for field in MATRICES
    for symmetry in ("general", "symmetric", "skew-symmetric")
    if field != "pattern" or (layout == "coordinate" and symmetry != "skew-symmetric")
]


@pytest.mark.parametrize(("layout", "field", "symmetry"), KINDS)
def test_matrices_are_those_that_scipy_writes(layout, field, symmetry, tmp_path):
    X = np.random.default_rng(0).integers(-4, 5, (5, 5)).astype(float)
    X += {"general": 0, "symmetric": X.T, "skew-symmetric": -X.T}[symmetry]
    X = (X != 0).astype(float) if field == "pattern" else X * MATRICES[field]
    X = X.astype(int) if field == "integer" else X
    written = X if layout == "array" else sparse.coo_array(X)
    scipy_io.mmwrite(tmp_path / "m.mtx", written, field=field, symmetry=symmetry)
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress((tmp_path / "m.mtx").read_bytes()))
    for name in ("m.mtx", "m.mtx.gz"):
        found = read_matrix_market(tmp_path / name)
        found = found if layout == "array" else found.toarray()
        np.testing.assert_array_equal(found, X)


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "FILE is empty"),
        ("3 2 3\n", "its first line is not that of a Matrix Market matrix"),
        (HEAD, "it ends before its first number"),
        (HEAD + "3 2\n", "the line of its sizes cannot be read"),
        (HEAD + "3 -2 1\n", "the line of its sizes cannot be read"),
        (HEAD + "9" * 20 + " 1 1\n", "its sizes are beyond all that can be"),
        (HEAD + "9" * 12 + " 1 1\n1 1 1\n", "cannot fill 999,999,999,999 rows"),
        (HEAD + "1 " + "9" * 12 + " 1\n1 1 1\n", "cannot fill 1 rows and 999,999,999,999 columns"),
        (HEAD + "3 2 2\n1 1 1\n", "it ends before its last number"),
        (HEAD + "3 2 1\n1 1 1\n2 2 2\n", "it holds more numbers than it says"),
        (HEAD + "3 2 1\n1 1 0x1\n", "it holds what is no number"),
        (HEAD + "3 2 1\n1 1 1_0\n", "it holds what is no number"),
        (HEAD + "3 2 1\n4 1 1\n", "an entry is in a row that does not exist"),
        (HEAD + "3 2 1\n1 0 1\n", "an entry is in a column that does not exist"),
        (HEAD + "3 2 1\n1 1.5 1\n", "an entry is in a column that does not exist"),
        (HEAD + "3 2 1\n1 1 1e999\n", "a double cannot hold 1e999"),
        (HEAD.replace("real", "integer") + "3 2 1\n1 1 9007199254740993\n", "a double cannot hold"),
        (HEAD.replace("real", "complex") + "3 2 1\n1 1 1 1\n", "holds no real numbers"),
    ],
)
def test_matrices_that_are_refused(text, said, tmp_path):
    (tmp_path / "m.mtx").write_text(text)
    assert said in refusal(tmp_path / "m.mtx")


# ---- Files of NumPy and SciPy ----


def npy(array, **header) -> bytes:
    """An .npy file whose header may say something else."""
    stream = io.BytesIO()
    said = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | header
    np.lib.format.write_array_header_1_0(stream, said)
    return stream.getvalue() + array.tobytes()


def npz(path, **arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            content = content if isinstance(content, bytes) else npy(content)
            archive.writestr(f"{name}.npy", content)
    return path


def test_a_header_that_asks_for_more_than_there_is(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy(np.eye(2), shape=(2**33, 2)))
    assert "it is longer or shorter than its header says" in refusal(tmp_path / "a.npy")
    npz(tmp_path / "a.npz", X=npy(np.eye(2), shape=(2**33, 2)))
    assert "it is longer or shorter than its header says" in refusal(tmp_path / "a.npz")


def test_deflated_zeros_are_counted_before_they_are_read(tmp_path, monkeypatch):
    path = npz(tmp_path / "a.npz", X=np.zeros((2**16, 129)))
    sentence = (
        f"FILE cannot be read: {path.stat().st_size:,} bytes that say they hold 67,633,280 or "
        "more are what a forged file has; if you trust it, set the environment variable "
        "BHMC_MOST_BYTES=67633280."
    )
    assert refusal(path) == sentence
    monkeypatch.setenv("BHMC_MOST_BYTES", "67633280")
    assert read_table(str(path), Reading()).shape == (2**16, 129)


CSR = {
    "format": np.array(b"csr"),
    "shape": np.array([2, 3]),
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2]),
}


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.array([0, 10**6])},  # compiled code would write there
        {"indices": np.array([0, -7])},
        {"indptr": np.array([0, 5, 2])},
        {"indptr": np.array([0, 1])},
        {"shape": np.array([2, 2**40])},
        {"indices": np.array([0.0, 1.0])},
        {"data": np.array(["a", "b"])},
        {"format": np.array(b"dia")},
        {"format": np.array(b"coo"), "row": np.array([0, 9]), "col": np.array([0, 0])},
        {"format": np.array(b"coo"), "row": np.array([0, 1]), "col": np.array([0, -1])},
    ],
)
def test_sparse_matrices_whose_places_do_not_exist(changes, tmp_path):
    assert read_table(str(npz(tmp_path / "a.npz", **CSR)), Reading()).shape == (2, 3)
    assert "is no NPZ file, or damaged (" in refusal(npz(tmp_path / "b.npz", **CSR | changes))


def test_whole_numbers_that_doubles_round(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[2**53 + 1, 1], [2, 3]]))
    assert "FILE holds 9007199254740993, and a double holds" in refusal(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.array([[2**53, 1], [2, 3]]))
    assert read_table(str(tmp_path / "b.npy"), Reading()).matrix[0, 0] == 2**53


# ---- Text ----


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x,y\n" + b" " * 10**7, "are what a forged file has"),
        (b"x,y\n1,2\n" + b"\n" * 1_100_000, "most of its first 1,000,007 lines are blank"),
        (b"x,y\n" + b" " * 2_090_000, "FILE has a header and no rows"),
        (b"," * 20_000 + b"\n1\n", "FILE has more than 16,384 columns without a name"),
    ],
    ids=["blanks", "blank lines", "one blank line", "columns"],
)
def test_compressed_text_of_large_cost(content, said, tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    assert said in refusal(tmp_path / "a.csv.gz")


def test_a_line_that_is_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr("bhmc._io.tables.text._LONGEST_LINE", 2**10)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n" + b"1" * 10**5))
    assert "FILE has a line of more than" in refusal(tmp_path / "a.csv.gz")
    (tmp_path / "a.csv").write_bytes(b"x,y\n" + b"a" * 10**5 + b",2\n")  # its size explains it
    assert read_table(str(tmp_path / "a.csv"), Reading()).shape[0] == 1


def test_a_decimal_point_hides_no_rounding(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n1,9007199254740993.0\n")
    assert read_table(str(tmp_path / "a.csv"), Reading()).columns[1][1] == "9007199254740993.0"


# ---- What is no regular file ----


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz", "a.mtx", "a.parquet", "a.xlsx"])
def test_a_pipe_is_not_waited_for(name, tmp_path):
    os.mkfifo(tmp_path / name)
    said = "FILE is a pipe, not a file: copy what it gives into a file."
    assert refusal(tmp_path / name) == said


@pytest.mark.parametrize("name", ["a.npy", "a.parquet"])
def test_a_pipe_is_no_table_in_blocks(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match=f"^{name} is a pipe, not a file or a folder: use a .npy"):
        open_rows(tmp_path / name)
    if name == "a.parquet":
        with pytest.raises(ValueError, match=r"^a\.parquet is a pipe, not a file: take it out"):
            open_rows(tmp_path)


# ---- Parquet and spreadsheets ----


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    """Bytes of a Parquet file."""
    polars = pytest.importorskip("polars")
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    frame = polars.DataFrame({"x": [1.5, 2.5, None] * 9, "t": ["a", "b", "c"] * 9})
    frame.write_parquet(path)
    return path.read_bytes()


def test_a_reader_that_panics_is_one_sentence(tmp_path, parquet, capfd):
    """A length in the first page; polars says more than a sentence, on the stream of errors."""
    for place in range(4, 40, 12):
        data = bytearray(parquet)
        data[place] ^= 255
        (tmp_path / "a.parquet").write_bytes(data)
        said = error_of(lambda: read_table(str(tmp_path / "a.parquet"), Reading()), RefusedError)
        assert said is None or "a.parquet is no Parquet file, or damaged (" in said
    assert capfd.readouterr().err == ""


def test_a_reader_that_ends_its_process(tmp_path, parquet, monkeypatch):
    monkeypatch.setattr("bhmc._io.tables.foreign._CHILD", "import os; os.abort()")
    (tmp_path / "a.parquet").write_bytes(parquet)
    said = "FILE is no Parquet file, or damaged (its reader gave up)."
    assert refusal(tmp_path / "a.parquet") == said


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_small_parquet_of_many_rows(library, tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    if library == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
    path = tmp_path / "a.parquet"
    polars.DataFrame({"x": np.zeros(10**7)}).write_parquet(path)
    assert path.stat().st_size < 10**5
    assert "say they hold 80000000 or more" in refusal(path).replace(",", "")


def test_damaged_parquet_in_blocks(tmp_path, parquet):
    pytest.importorskip("pyarrow")
    path, rng = tmp_path / "a.parquet", np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(parquet)
        data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        path.write_bytes(data[: int(rng.choice([len(data), len(data) // 2]))])

        def read():
            source = open_rows(path, columns=["x"])
            source.read(slice(0, source.shape[0]))

        said = error_of(read, (ValueError, TypeError, OSError))
        assert said is None or "a.parquet" in said


def test_a_spreadsheet_that_is_mostly_air(tmp_path):
    pytest.importorskip("python_calamine")
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(7 * 10**7))
    assert "say they hold 70,000,000 or more" in refusal(tmp_path / "a.xlsx")
