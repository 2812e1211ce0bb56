"""Tables from files: what is read is what is there, and what cannot be read is said plainly."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
from scipy import io, sparse

from bhmc._io.tables.columns import parse
from bhmc._io.tables.read import Reading, Table, check_fittable, read_table
from bhmc._validation.errors import RefusedError


@pytest.fixture
def written(tmp_path):
    """Write a file and give its path."""

    def write(content, name: str = "data.csv") -> str:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    return write


def columns_of(table: Table) -> dict[str, list]:
    assert table.columns is not None
    return {name: column.tolist() for name, column in zip(table.names, table.columns, strict=True)}


def refusal(path: str, **reading) -> str:
    with pytest.raises(RefusedError) as caught:
        check_fittable(read_table(path, Reading(**reading)))
    text = str(caught.value)
    assert text.endswith((".", "?")), text
    return text.replace(path, "FILE")


# ------------------------------------------------------------------------------------------------
# What is read
# ------------------------------------------------------------------------------------------------

ANIMALS = "animal,legs,flies,colour\nAnt,6,0,red\nBee,6,1,\nCow,4,0,brown\n"


def test_numbers_text_names_and_missing_entries(written):
    table = read_table(written(ANIMALS), Reading())
    assert table.items == ["Ant", "Bee", "Cow"]
    assert table.item_column == "animal"
    assert columns_of(table) == {
        "legs": [6, 6, 4],
        "flies": [0, 1, 0],
        "colour": ["red", None, "brown"],
    }
    assert table.kinds == ["number", "number", "text"]
    assert table.shape == (3, 3)
    assert "named by 'animal'" in table.notes[0]
    assert table.place(2) == "line 4"


def test_a_name_column_that_is_named_or_refused(written):
    path = written("legs,animal\n6,Ant\n6,Bee\n")
    assert read_table(path, Reading()).items is None
    table = read_table(path, Reading(id="animal"))
    assert (table.items, table.names, table.notes) == (["Ant", "Bee"], ["legs"], ())
    table = read_table(written(ANIMALS), Reading(no_id=True))
    assert (table.items, table.names[0]) == (None, "animal")
    assert table.row_names() == ["1", "2", "3"]


def test_names_keep_their_spelling(written):
    table = read_table(written("code,x\n007,1\n010,2\n"), Reading(id="code"))
    assert table.items == ["007", "010"]


def test_an_index_without_a_name_names_the_rows(written):
    table = read_table(written(",x,y\n0,1.5,2\n1,2.5,3\n"), Reading())
    assert (table.items, table.names) == (["0", "1"], ["x", "y"])


@pytest.mark.parametrize("cell", ["", "NA", "na", "NaN", "?", "N/A", "null", "  "])
def test_missing_entries(written, cell):
    table = read_table(written(f"x,y\n1,2\n3,{cell}\n"), Reading())
    assert np.isnan(columns_of(table)["y"][1])


def test_truths_are_numbers(written):
    table = read_table(written("x,y\nTRUE,1\nfalse,2\n?,3\n"), Reading())
    np.testing.assert_array_equal(columns_of(table)["x"], [1, 0, np.nan])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a;b\n1;x, y\n2;z\n", "data.csv"),
        ("a\tb\n1\tx, y\n2\tz\n", "data.tsv"),
        ("a\tb\n1\tx, y\n2\tz\n", "data.txt"),
        ("a|b\n1|x, y\n2|z\n", "data.csv"),
        ('a,b\r\n1,"x, y"\r\n\r\n2,z\r\n', "data.csv"),
        ('\ufeffa,b\n1,"x, y"\n2,z', "data.csv"),
    ],
)
def test_delimiters_line_ends_and_a_mark_at_the_start(written, text, name):
    table = read_table(written(text, name), Reading())
    assert columns_of(table) == {"a": [1, 2], "b": ["x, y", "z"]}


def test_blank_lines_and_cells_of_several_lines_do_not_shift_lines(written):
    table = read_table(written('a,b\n\n1,"x\ny"\n\n2,z\n'), Reading())
    assert table.lines is not None
    assert table.lines.tolist() == [3, 6]


def test_decimal_commas(written):
    table = read_table(written("a;b\n1,5;2\n-3;1e3\n"), Reading(decimal=","))
    assert columns_of(table) == {"a": [1.5, -3], "b": [2, 1000]}


def test_compressed_and_other_encodings(written):
    packed = read_table(written(gzip.compress(ANIMALS.encode()), "a.csv.gz"), Reading())
    assert columns_of(packed)["legs"] == [6, 6, 4]
    latin = written("a,b\nÄpfel,1\nBirnen,2\n".encode("latin-1"))
    assert read_table(latin, Reading(encoding="latin-1")).items == ["Äpfel", "Birnen"]


def test_a_first_line_of_numbers_is_data_unless_said(written):
    path = written("1,2\n3,4\n")
    table = read_table(path, Reading())
    assert columns_of(table) == {"x1": [1, 3], "x2": [2, 4]}
    assert "it is data" in table.notes[0]
    assert table.lines is not None
    assert table.lines.tolist() == [1, 2]
    assert columns_of(read_table(path, Reading(header=True))) == {"1": [3], "2": [4]}
    assert read_table(written("a,b\nc,d\n"), Reading(header=False)).shape[0] == 2


def test_drop_and_text(written):
    table = read_table(written(ANIMALS), Reading(drop=("colour",), kinds=(("legs", "category"),)))
    assert columns_of(table) == {"legs": ["6", "6", "4"], "flies": [0, 1, 0]}


def test_dropped_columns_and_names_may_hold_anything(written):
    path = written("id,x,y\n1,2,3\n2,oops,4\nx,3,5\n")
    table = read_table(path, Reading(id="id", drop=("x",)))
    assert (table.items, columns_of(table)) == (["1", "2", "x"], {"y": [3, 4, 5]})


def test_a_column_that_turns_to_text_late_keeps_its_spelling(written):
    """The first blocks are numbers only; the column is read again."""
    cells = ["01"] * 3000 + ["B7"] * 3001
    table = read_table(written("x,code\n" + "".join(f"1,{c}\n" for c in cells)), Reading())
    assert columns_of(table)["code"] == cells


def test_a_text_column_that_begins_with_missing_entries(written):
    cells = [""] * 3000 + ["red"] * 2
    table = read_table(written("x,c\n" + "".join(f"1,{c}\n" for c in cells)), Reading())
    assert columns_of(table)["c"] == [None] * 3000 + ["red"] * 2


def test_many_numbers_are_read_exactly(written):
    X = np.random.default_rng(0).normal(size=(4500, 3))
    rows = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    table = read_table(written(f"a,b,c\n{rows}\n"), Reading())
    assert table.columns is not None
    np.testing.assert_array_equal(np.column_stack(table.columns), X)


def test_what_is_a_number():
    numbers, others = parse(["1", " 2.5", "1e3", "-inf", "1_000", "0x1f", "", "nan", "1,5"])
    np.testing.assert_array_equal(numbers[:4], [1, 2.5, 1000, -np.inf])
    assert np.isnan(numbers[4:]).all()
    assert others == [4, 5, 8]


def test_matrices(tmp_path):
    X = np.arange(6).reshape(3, 2)
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "one.npz", anything=X)
    np.savez(tmp_path / "two.npz", X=X, y=np.arange(3))
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X))
    io.mmwrite(tmp_path / "m.mtx", sparse.coo_array(X))
    io.mmwrite(tmp_path / "d.mtx", X.astype(float))
    for name in ("a.npy", "one.npz", "two.npz", "s.npz", "m.mtx", "d.mtx"):
        table = read_table(str(tmp_path / name), Reading())
        is_sparse = name in ("s.npz", "m.mtx")
        assert sparse.issparse(table.matrix) == is_sparse
        matrix = table.matrix.toarray() if is_sparse else table.matrix
        assert matrix.dtype == np.float64
        np.testing.assert_array_equal(matrix, X)
        check_fittable(table)
        left = read_table(str(tmp_path / name), Reading(drop=("x1",))).data()
        np.testing.assert_array_equal(left.toarray() if is_sparse else left, X[:, 1:])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_parquet(tmp_path, library, monkeypatch):
    polars = pytest.importorskip("polars")
    if library == "pyarrow":
        pytest.importorskip("pyarrow", reason="NOT TESTED: pyarrow is not installed.")
    file = tmp_path / "a.parquet"
    names, legs = ["Ant", "Bee", "Cow"], [6, None, 4]
    frame = {"animal": names, "legs": legs, "colour": ["r", None, "b"], "fly": [True, False, None]}
    dates = polars.Series(["2020-01-01"] * 3).str.to_date()
    polars.DataFrame(frame).with_columns(day=dates).write_parquet(file)
    if library == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
    table = read_table(str(file), Reading(drop=("day",)))
    assert table.items == names
    found = columns_of(table)
    np.testing.assert_array_equal(found["legs"], [6, np.nan, 4])
    np.testing.assert_array_equal(found["fly"], [1, 0, np.nan])
    assert found["colour"] == ["r", None, "b"]
    assert "dates or times in column 'day'; --as day=date fits them as days" in refusal(str(file))
    days = read_table(str(file), Reading(kinds=(("day", "date"),)))
    assert columns_of(days)["day"] == [18262] * 3
    as_text = read_table(str(file), Reading(drop=("day",), kinds=(("legs", "category"),)))
    assert columns_of(as_text)["legs"] == ["6", None, "4"]


def test_parquet_without_a_reader(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "needs polars or pyarrow" in refusal(written("x", "a.parquet"))


def test_a_bare_install_reads_text_files(written):
    code = (
        "import sys; sys.modules.update(pandas=None, polars=None, pyarrow=None)\n"
        "from bhmc._io.tables.read import Reading, read_table\n"
        "X = read_table(sys.argv[1], Reading()).data()\n"
        "print(type(X).__name__, X.shape, X.columns, X[:, 2].tolist())"
    )
    path = written(ANIMALS)
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    expected = "Frame (3, 3) ['legs', 'flies', 'colour'] ['red', None, 'brown']\n"
    assert done.stdout == expected, done.stderr


# ------------------------------------------------------------------------------------------------
# What cannot be read
# ------------------------------------------------------------------------------------------------


def test_no_such_file_and_folders(tmp_path, written):
    written(ANIMALS, "animals.csv")
    text = refusal(str(tmp_path / "animal.csv"))
    assert text == f"there is no file FILE. Did you mean {tmp_path / 'animals.csv'}?"
    assert "Nor is there a folder" in refusal(str(tmp_path / "a" / "b.csv"))
    assert refusal(str(tmp_path)) == "FILE is a folder; name the file with the table."


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_files(written, content):
    assert refusal(written(content)) == "FILE is empty: there is no table in it."


def test_a_header_and_nothing_more(written):
    assert refusal(written("a,b\n")) == "FILE has a header and no rows below it."


def test_one_row_and_nothing_that_varies(written):
    assert "has 1 row; a hierarchy needs at least two" in refusal(written("a,b\n1,2\n"))
    for text in ("a,b\n1,x\n1,x\n", "a,b\n1,\n1,\n", "a,b\n1,3\n1,\n"):
        assert "is constant or empty" in refusal(written(text)), text


@pytest.mark.parametrize("option", ["id", "drop", "as"])
def test_a_column_that_is_not_there(written, option):
    def said(name: str) -> str:
        reading = {"id": name, "drop": (name,), "as": ((name, "category"),)}[option]
        return refusal(written(ANIMALS), **{"kinds" if option == "as" else option: reading})

    assert said("Color") == f"--{option} 'Color' is no column of FILE. Did you mean 'colour'?"
    assert "Its columns are 'animal', 'legs'" in said("zzz")


def test_a_ragged_row(written):
    text = refusal(written("a,b\n1,2\n\n1,2,3\n"))
    assert text.startswith("FILE, line 4: 3 cells, but the header has 2.")


def test_a_cell_that_is_no_number(written):
    text = refusal(written("name,weight\na,1\nb,1.5\nc,12kg\n"))
    assert text.startswith(
        "FILE, line 4, column 'weight': '12kg' is not a number, as 2 other cells of the column are."
    )
    assert "--as weight=category" in text


def test_a_decimal_comma(written):
    for text in ("a;b\n1,5;2\n3;1\n", "a;b\n1,5;2\n3,1;1\n"):
        found = refusal(written(text))
        assert found.startswith("FILE, line 2, column 'a': '1,5' is not a number:")
        assert "--decimal ','" in found


def test_names_of_rows_that_do_not_name(written):
    table = read_table(written("animal,x\nfrog,1\ntoad,2\nfrog,3\n"), Reading(id="animal"))
    assert table.items == ["frog", "toad", "frog"]
    assert "'frog' in column 'animal' is both in line 2 and in line 4" in table.notes[0]
    text = refusal(written("animal,x\nfrog,1\n,2\n"), id="animal")
    assert text.startswith("FILE, line 3: there is no name in column 'animal'")


def test_names_of_columns_that_do_not_name(written):
    text = refusal(written("a,b,a\n1,2,3\n"))
    assert text == "two columns of FILE have the name 'a', the 1st and the 3rd: rename one of them."
    assert refusal(written("a,,b\n1,2,3\n")).startswith("column 2 of FILE has no name")


@pytest.mark.parametrize("name", ["a.xyz", "noending"])
def test_unknown_endings(written, name):
    path = written(ANIMALS, name)
    assert "does not say what it holds" in refusal(path)
    assert read_table(path, Reading(format="csv")).shape == (3, 3)


def test_a_spreadsheet(written):
    assert refusal(written("x", "a.xlsx")).startswith("FILE is no spreadsheet, or damaged")


def test_a_spreadsheet_without_its_reader(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    text = refusal(written("x", "a.xlsx"))
    assert "pip install bhmc[excel]" in text
    assert text.endswith("Or save it as CSV.")


def test_nothing_left(written):
    assert "no column left" in refusal(written(ANIMALS), drop=("legs", "flies", "colour"))


JUNK = bytes(range(256)) * 20


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz", "a.mtx", "a.parquet"])
def test_binary_junk(written, name):
    text = refusal(written(JUNK, name))
    assert "binary file" in text or "damaged" in text


def test_damaged_files(written, tmp_path):
    whole = gzip.compress(ANIMALS.encode() * 50)
    assert "damaged" in refusal(written(whole[:-20], "a.csv.gz"))
    np.save(tmp_path / "a.npy", np.eye(30))
    half = (tmp_path / "a.npy").read_bytes()[:500]
    assert "damaged" in refusal(written(half, "b.npy"))
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(np.eye(30)))
    assert "damaged" in refusal(written((tmp_path / "s.npz").read_bytes()[:300], "t.npz"))


def test_bad_encodings(written):
    text = refusal(written("a,b\nÄpfel,1\n".encode("latin-1")))
    assert text.startswith("FILE is not UTF-8 text (byte 0xc4 ")
    assert "--encoding latin-1" in text
    assert "is not known" in refusal(written(ANIMALS), encoding="latin-99")


def test_a_quote_that_never_ends(written):
    text = refusal(written('a,b\n1,"x\n2,y\n'))
    assert "quote" in text
    assert "line" in text


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.arange(3), "shape (3,)"),
        (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
        (np.array([["a", "b"]]), "holds text"),
        (np.ones((2, 2)) * 1j, "complex"),
        (np.empty((0, 3)), "is empty"),
        (np.array([[None, 1]]), "holds Python objects"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, said):
    np.save(tmp_path / "a.npy", array)
    assert said in refusal(str(tmp_path / "a.npy"))


def test_an_archive_of_several_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", first=np.eye(2), second=np.eye(3))
    assert "holds 'first', 'second'" in refusal(str(tmp_path / "a.npz"))


def test_names_of_rows_in_a_matrix(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    assert "without names of rows" in refusal(str(tmp_path / "a.npy"), id="x1")
