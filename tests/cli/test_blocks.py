"""Tables whose rows stay in the file: which these are, what runs of them write, refusals."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bhmc
from bhmc._cli import blocks, main, placing
from bhmc._explorer.traces import _in_words as in_words
from bhmc._io.digest import digest_of_folder
from bhmc.rows import open_rows
from bhmc.rows.parted import RowsGoneError
from tests.cli.tools import QUICK, record_of, refused, rows_of

N = 900

# The family is named: the fits that choose one take longer than all else here.
QUICK = (*QUICK, "--likelihood", "shared_gaussian", "--chains", "1")


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Tables of 500 rows and more are large, and trees hold at most 300 rows of them."""
    for place in ("_cli.blocks", "_estimator.rows_elsewhere", "_estimator.rows_of_fit"):
        monkeypatch.setattr(f"bhmc.{place}.ROWS_FOR_A_SAMPLE", 500)
    monkeypatch.setattr("bhmc._estimator.sizes.ROWS_FOR_A_SAMPLE", 500)
    monkeypatch.setattr("bhmc._estimator.sizes._MANY_ROWS", 500)
    monkeypatch.setattr("bhmc._estimator.rows_of_fit.PILOT_ROWS", 300)
    monkeypatch.setattr("bhmc._estimator.running.PILOT_ROWS", 300)
    monkeypatch.setattr("bhmc._sampling.sample_start._FIRST_SAMPLE", 300)
    monkeypatch.setattr(placing, "ROWS_PER_BLOCK", 256)  # several blocks, the last of another size


@pytest.fixture(scope="module")
def X():
    """Four groups in three columns, in no order."""
    rng = np.random.default_rng(0)
    means = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 9, 5]], dtype=float)
    return means[rng.integers(4, size=N)] + rng.standard_normal((N, 3))


@pytest.fixture(scope="module")
def files(X, tmp_path_factory):
    """The rows in files of every kind; text.parquet has a name and a kind for each row, too."""
    folder = tmp_path_factory.mktemp("large")
    np.save(folder / "big.npy", X)
    np.save(folder / "few.npy", X[:400])
    table = pa.table({name: X[:, j] for j, name in enumerate("abc")})
    pq.write_table(table, folder / "big.parquet", row_group_size=350)
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(table.slice(300 * i, 300), folder / "parts" / f"part{i}.parquet")
    more = table.append_column("number", pa.array(np.arange(N)))
    pq.write_table(more, folder / "whole.parquet")
    more = more.append_column("kind", pa.array(["x", "y"] * (N // 2)))
    pq.write_table(more, folder / "text.parquet")
    return folder


@pytest.fixture(scope="module")
def run(files, tmp_path_factory):
    """A run of big.npy; tests must not change it."""
    folder = tmp_path_factory.mktemp("blocks") / "run"
    with pytest.MonkeyPatch.context() as patch:
        few_are_many.__wrapped__(patch)
        assert main(["fit", str(files / "big.npy"), "-o", str(folder), *QUICK]) == 0
    return folder


# ---- What a run writes --------------------------------------------------------------------------


def test_a_run_says_where_its_rows_are(run, files, tmp_path, capsys):
    assert main(["fit", str(files / "big.npy"), "-o", str(tmp_path / "run"), *QUICK]) == 0
    said = capsys.readouterr().err
    assert "Rows stay in big.npy and are read in blocks of 16,384." in said
    assert "All 900 rows were fitted; the tree holds 300 of them" in said
    assert (
        f"Where each of the 900 rows belongs is in {tmp_path / 'run' / 'assignments.npy'}" in said
    )
    data = record_of(tmp_path / "run")["data"]
    assert (data["in_blocks"], data["rows"], data["rows_in_tree"]) == (True, 900, 300)
    assert data["sha256"] == record_of(run)["data"]["sha256"]
    assert main(["fit", str(files / "big.npy"), "-o", str(tmp_path / "q"), "-q", *QUICK]) == 0
    printed = capsys.readouterr()
    assert "Rows stay" not in printed.err
    assert "Placing" not in printed.err


def test_the_draws_are_the_librarys_own(run, files):
    settings = {"n_levels": 2, "n_draws": 6, "n_warmup": 4, "n_chains": 1, "random_state": 3}
    model = bhmc.BHMC(likelihood="shared_gaussian", **settings).fit(open_rows(files / "big.npy"))
    written = bhmc.BHMC.load(run / "model.bhmc")
    np.testing.assert_array_equal(model.draws_.log_joint, written.draws_.log_joint)
    np.testing.assert_array_equal(model.paths_, written.paths_)


def test_every_row_has_its_place(run, X):
    model = bhmc.BHMC.load(run / "model.bhmc")
    places = np.load(run / "assignments.npy", mmap_mode="r")
    assert places.shape == (N,)
    np.testing.assert_array_equal(places["label"], model.predict(X))
    np.testing.assert_array_equal(places["component"], model.predict_component(X))
    np.testing.assert_array_equal(places["leaf"], model.predict_path(X)[:, -1])
    assert len(set(places["component"].tolist())) >= 4


def test_rows_of_the_tree_are_named_by_their_place_in_the_file(run):
    model = bhmc.BHMC.load(run / "model.bhmc")
    rows = rows_of(run / "assignments.csv")
    assert [row["name"] for row in rows] == [str(i + 1) for i in range(0, N, 3)]
    assert [int(row["leaf"]) for row in rows] == model.paths_[:, -1].tolist()
    assert model.tree_.names is not None
    assert model.tree_.names[:3].tolist() == ["row 0", "row 3", "row 6"]
    assert "row 3" not in (run / "tree.txt").read_text()  # hundreds of numbers say nothing
    assert "row" in repr(model.describe(1))


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("show", "--describe"),
        ("plot", "-o", "{}/tree.png"),
        ("export", "--to", "json", "-o", "{}/tree.json"),
        ("report", "-o", "{}/page.html"),
        ("explore", "-o", "{}/tree.html"),
        ("diagnose", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_other_commands_work_and_say_what_they_show(run, command, tmp_path, capsys):
    name, *words = command
    assert main([name, str(run), *(word.format(tmp_path) for word in words)]) == 0
    assert "the tree holds 300 of them, evenly spaced" in capsys.readouterr().err


def test_a_trace_of_a_pair_has_its_rows_in_the_file(run):
    model = bhmc.BHMC.load(run / "model.bhmc")
    beyond = int(np.argmax(model.draws_.pairs.max(axis=1)))
    one, two = model.draws_.pairs[beyond]
    assert max(one, two) >= 300
    said = in_words(f"together[{beyond}]", model.tree_, model.draws_)
    assert said == f"row {one} and row {two} in one component"


def test_a_run_goes_on_bit_for_bit(run, files, tmp_path, capsys):
    folder = tmp_path / "run"
    short = ["--draws", "4", *QUICK[2:]]
    assert main(["fit", str(files / "big.npy"), "-o", str(folder), *short]) == 0
    assert main(["fit", "--continue", str(folder), "--draws", "2"]) == 0
    for name in ("draws.csv", "assignments.csv", "assignments.npy"):
        assert (folder / name).read_bytes() == (run / name).read_bytes(), name
    capsys.readouterr()
    line = refused(capsys, "fit", "--continue", folder, "--draws", "2", "--no-blocks")
    assert "--blocks cannot be changed with --continue" in line
    line = refused(capsys, "fit", files / "few.npy", "--continue", folder, "--draws", "2")
    assert "is not the file that the run" in line


def test_an_interrupt_while_rows_are_placed_keeps_the_rest(files, tmp_path, capsys, monkeypatch):
    folder, place = tmp_path / "run", placing.nodes_of

    def interrupted(model, X):
        monkeypatch.setattr(placing, "nodes_of", place)
        raise KeyboardInterrupt

    monkeypatch.setattr(placing.write_places, "__defaults__", (placing.FIELDS, interrupted, False))
    assert main(["fit", str(files / "big.npy"), "-o", str(folder), *QUICK]) == 130
    assert record_of(folder)["status"] == "partial"
    assert not (folder / "assignments.npy").exists()
    assert "Go on with: bhmc fit --continue" in capsys.readouterr().err
    monkeypatch.setattr(placing.write_places, "__defaults__", (placing.FIELDS, place, False))
    assert main(["fit", "--continue", str(folder)]) == 0
    assert record_of(folder)["status"] == "done"
    assert len(np.load(folder / "assignments.npy")) == N


def test_lost_rows_leave_a_run_to_go_on_with(files, tmp_path, capsys, monkeypatch):
    def lose(*_, **__):
        raise RowsGoneError("The Dask cluster has had no worker for 60 seconds: start some.")

    monkeypatch.setattr(bhmc.BHMC, "fit", lose)
    line = refused(capsys, "fit", files / "big.npy", "-o", tmp_path / "run", "-q", *QUICK)
    assert "no worker for 60 seconds" in line
    assert record_of(tmp_path / "run")["status"] == "partial"


# ---- Which tables are read in blocks ------------------------------------------------------------


def read_in_blocks(capsys, folder, *arguments) -> bool:
    """Whether a fit leaves the rows in the file; it must say so."""
    short = ("--draws", "2", "--warmup", "1", *QUICK[4:])
    words = [str(word) for word in (*short, *arguments)]
    assert main(["fit", *words, "-o", str(folder), "--force"]) == 0
    data, said = record_of(folder)["data"], capsys.readouterr().err
    stays = data.get("in_blocks", False)
    assert stays == ("Rows stay in" in said or "are read at once" in said)
    assert (folder / "assignments.npy").exists() == ("Rows stay in" in said)
    n_lines = data.get("rows_in_tree", data["rows"])
    assert len(rows_of(folder / "assignments.csv")) == n_lines
    return stays


def test_large_tables_of_numbers_stay_in_their_file(files, tmp_path, capsys):
    assert read_in_blocks(capsys, tmp_path, files / "big.parquet")
    data = record_of(tmp_path)["data"]
    assert data["names"] == ["a", "b", "c"]
    assert [one["use"] for one in data["plan"]] == ["number"] * 3
    assert bhmc.BHMC.load(tmp_path / "model.bhmc").tree_.feature_names.tolist() == ["a", "b", "c"]
    assert read_in_blocks(capsys, tmp_path, files / "parts")
    assert not read_in_blocks(capsys, tmp_path, files / "few.npy")
    assert not read_in_blocks(capsys, tmp_path, files / "big.npy", "--no-blocks")
    assert read_in_blocks(capsys, tmp_path, files / "few.npy", "--blocks")
    assert "rows_in_tree" not in record_of(tmp_path)["data"]


def test_the_same_rows_give_the_same_draws_from_every_file(run, files, tmp_path):
    for name in ("big.parquet", "parts"):
        assert main(["fit", str(files / name), "-o", str(tmp_path / name), "-q", *QUICK]) == 0
        for file in ("draws.csv", "assignments.npy"):
            assert (tmp_path / name / file).read_bytes() == (run / file).read_bytes()


def test_a_zarr_array(run, files, X, tmp_path):
    zarr = pytest.importorskip("zarr", reason="NOT TESTED: zarr is not installed.")
    array = zarr.open_array(tmp_path / "big.zarr", mode="w", shape=X.shape, chunks=(400, 3))
    array[:] = X
    assert main(["fit", str(tmp_path / "big.zarr"), "-o", str(tmp_path / "run"), *QUICK]) == 0
    assert (tmp_path / "run" / "draws.csv").read_bytes() == (run / "draws.csv").read_bytes()
    digest = record_of(tmp_path / "run")["data"]["sha256"]
    assert digest_of_folder(tmp_path / "big.zarr") == digest
    array[0, 0] = 7.0
    assert digest_of_folder(tmp_path / "big.zarr") != digest


def test_what_rules_or_settings_need_is_read_into_memory(files, tmp_path, capsys):
    whole = files / "whole.parquet"
    assert not read_in_blocks(capsys, tmp_path, whole)
    assert record_of(tmp_path)["data"]["item_column"] == "number"  # it counts the rows
    assert read_in_blocks(capsys, tmp_path, whole, "--blocks")
    assert record_of(tmp_path)["data"]["names"] == ["a", "b", "c", "number"]
    assert read_in_blocks(capsys, tmp_path, whole, "--drop", "number")
    assert not read_in_blocks(capsys, tmp_path, whole, "--id", "number")
    assert read_in_blocks(capsys, tmp_path, whole, "--id", "number", "--blocks")
    assert record_of(tmp_path)["data"]["names"] == ["a", "b", "c"]
    for words in (("--transition", "hdp"), ("--init", "kmeans"), ("--likelihood", "gaussian")):
        assert not read_in_blocks(capsys, tmp_path, files / "big.npy", *words)


def test_why_rows_are_read_into_memory_is_said(files, tmp_path, capsys):
    short = (*QUICK, "-o", str(tmp_path), "--force")
    main(["fit", str(files / "whole.parquet"), *short])
    assert "because column 'number' has no fractions" in capsys.readouterr().err
    main(["fit", str(files / "big.npy"), "--init", "kmeans", *short])
    assert "read into memory, because --init kmeans needs them there." in capsys.readouterr().err


def test_refusals(files, tmp_path, capsys):
    def line(*words):
        return refused(capsys, "fit", *words, "-o", tmp_path / "out")

    said = line(files / "text.parquet", "--blocks")
    assert "column 'kind' of" in said
    assert "leave it out with --drop kind." in said
    said = line(files / "big.parquet", "--blocks", "--drop", "aa")
    assert "has no column 'aa'. Did you mean 'a'?" in said
    assert "has no column left" in line(files / "big.parquet", "--blocks", "--drop", "a,b,c")
    assert "leave --drop out" in line(files / "big.npy", "--blocks", "--drop", "x1")
    assert "--as needs all rows" in line(files / "big.parquet", "--blocks", "--as", "a=category")
    assert "--text needs all rows" in line(files / "big.parquet", "--blocks", "--text", "a")
    said = line(files / "big.npy", "--blocks", "--init", "kmeans")
    assert "--init kmeans needs all rows in memory" in said
    assert "Did you mean" in line(files / "bigg.npy", "--blocks")
    np.save(tmp_path / "constant.npy", np.ones((600, 2)))
    assert "is constant or empty" in line(tmp_path / "constant.npy")
    np.save(tmp_path / "empty.npy", np.ones((0, 2)))
    assert "has no rows" in line(tmp_path / "empty.npy", "--blocks")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n2,3\n")
    assert "no table that can be read in blocks" in line(tmp_path / "table.csv", "--blocks")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [(), ("--blocks",)], ids=["rule", "blocks"])
@pytest.mark.parametrize("name", ["big.npy", "big.parquet", "parts"])
def test_damaged_files(files, name, words, tmp_path, capsys):
    whole = files / name / "part1.parquet" if name == "parts" else files / name
    file = tmp_path / name / "part1.parquet" if name == "parts" else tmp_path / name
    file.parent.mkdir(exist_ok=True)
    for content in (whole.read_bytes()[:-3000], b"\x93NUMPY rubbish", b""):
        file.write_bytes(content)
        line = refused(capsys, "fit", tmp_path / name, "-o", tmp_path / "out", *words)
        assert file.name in line
    assert not (tmp_path / "out").exists()


def test_a_row_group_that_cannot_be_read(files, tmp_path, capsys, monkeypatch):
    """The damage is found when the fit has begun: run.json then says that it failed."""
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 256)  # of which the first is in the first group
    content = bytearray((files / "big.parquet").read_bytes())
    middle = pq.ParquetFile(files / "big.parquet").metadata.row_group(1).column(1).data_page_offset
    content[middle : middle + 200] = bytes(200)
    (tmp_path / "big.parquet").write_bytes(content)
    line = refused(capsys, "fit", tmp_path / "big.parquet", "-o", tmp_path / "out", *QUICK)
    assert "row group 1 of big.parquet cannot be read" in line
    assert record_of(tmp_path / "out")["status"] == "failed"


# ---- New rows -----------------------------------------------------------------------------------


def test_new_rows_in_blocks(run, files, X, tmp_path, capsys):
    places, printed = tmp_path / "places.npy", tmp_path / "places.csv"
    assert main(["predict", str(run), str(files / "big.npy"), "-o", str(places), "--outliers"]) == 0
    said = capsys.readouterr().err
    assert "Rows stay in big.npy" in said
    assert f"Wrote {places}: 900 rows." in said
    words = ["predict", str(run), str(files / "big.npy"), "--no-blocks", "--outliers", "-o"]
    assert main([*words, str(printed)]) == 0
    found, rows = np.load(places), rows_of(printed)
    for name in found.dtype.names:
        expected = [float(row[name]) for row in rows]
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)
    assert main([*words, str(tmp_path / "memory.npy")]) == 0
    assert np.load(tmp_path / "memory.npy").dtype == found.dtype
    assert main(["predict", str(run), str(files / "big.npy"), "-o", str(places), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(places), "rows": N}


def test_new_rows_by_the_names_of_their_columns(files, X, tmp_path, capsys):
    """The columns of the fit, in its order, are picked from others."""
    folder, places = tmp_path / "run", tmp_path / "places.npy"
    words = ["fit", str(files / "whole.parquet"), "--drop", "number", "-o", str(folder), *QUICK]
    assert main(words) == 0
    turned = pa.table({"kind": ["x"] * N, "c": X[:, 2], "a": X[:, 0], "b": X[:, 1]})
    pq.write_table(turned, tmp_path / "turned.parquet")
    assert main(["predict", str(folder), str(tmp_path / "turned.parquet"), "-o", str(places)]) == 0
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    expected = bhmc.BHMC.load(folder / "model.bhmc").predict(frame)
    np.testing.assert_array_equal(np.load(places)["label"], expected)
    pq.write_table(turned.drop_columns(["b"]), tmp_path / "lacking.parquet")
    capsys.readouterr()
    line = refused(capsys, "predict", folder, tmp_path / "lacking.parquet", "-o", places)
    assert "lacks columns that were fitted: 'b'." in line


def test_new_rows_for_a_run_of_a_frame(X, tmp_path):
    """A run whose rows were in memory places rows that are not."""
    table = pa.table({name: X[:400, j] for j, name in enumerate("abc")})
    pq.write_table(table, tmp_path / "few.parquet")
    pq.write_table(pa.table({n: X[:, j] for j, n in enumerate("abc")}), tmp_path / "big.parquet")
    run, places = str(tmp_path / "run"), str(tmp_path / "places.npy")
    assert main(["fit", str(tmp_path / "few.parquet"), "-o", run, *QUICK]) == 0
    assert main(["predict", run, str(tmp_path / "big.parquet"), "-o", places]) == 0
    model = bhmc.BHMC.load(tmp_path / "run" / "model.bhmc")
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(np.load(places)["label"], model.predict(frame))


def test_refusals_of_predict(run, files, finished, X, tmp_path, capsys):
    line = refused(capsys, "predict", run, files / "big.npy", "-o", tmp_path / "places.csv")
    assert "name it, as in -o places.npy" in line
    assert "name it" in refused(capsys, "predict", run, files / "big.npy")
    np.save(tmp_path / "wide.npy", np.column_stack([X, X]))
    line = refused(
        capsys, "predict", run, tmp_path / "wide.npy", "--blocks", "-o", tmp_path / "p.npy"
    )
    assert "has 6 columns, and 3 were fitted" in line
    words = (finished, files / "big.parquet", "--blocks", "-o", tmp_path / "p.npy")
    assert "column 'colour' of the run holds more than numbers" in refused(
        capsys, "predict", *words
    )


def test_rows_without_an_entry_have_no_place(run, X, tmp_path, capsys):
    rows = X[:600].copy()
    rows[[3, 500]] = np.nan
    np.save(tmp_path / "gaps.npy", rows)
    places = tmp_path / "places.npy"
    assert main(["predict", str(run), str(tmp_path / "gaps.npy"), "-o", str(places)]) == 0
    assert "2 rows without any entry, placed nowhere" in capsys.readouterr().err
    found = np.load(places)
    assert np.flatnonzero(found["label"] == -1).tolist() == [3, 500]
    assert np.flatnonzero(np.isnan(found["probability"])).tolist() == [3, 500]
    assert found["leaf"][3] == found["component"][3] == -1
