"""Predictions for rows in files and with Dask are those for the same rows in memory."""

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._estimator import prediction_blocks, rows_elsewhere, sizes
from bhmc._estimator.empty_rows import EmptyRowsWarning
from bhmc.rows import open_rows

METHODS = {
    "predict": {},
    "predict_path": {},
    "predict_proba": {"level": 1},
    "transform": {},
    "predict_component": {},
    "score_samples": {},
    "outlier_scores": {},
}


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 3)) + 6 * rng.integers(0, 3, size=90)[:, None]


@pytest.fixture(scope="module")
def model(groups):
    settings = {"n_levels": 2, "n_warmup": 15, "n_draws": 5, "random_state": 0}
    return BHMC(likelihood="shared_gaussian", **settings).fit(groups)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Ninety rows are many, in three blocks and a rest."""
    monkeypatch.setattr(prediction_blocks, "ROWS_PER_BLOCK", 25)


@pytest.fixture
def mapped(groups, tmp_path):
    np.save(tmp_path / "rows.npy", groups)
    return open_rows(tmp_path / "rows.npy")


@pytest.mark.parametrize("method", METHODS)
def test_rows_in_a_file(model, groups, mapped, method):
    ask = getattr(model, method)
    in_memory, in_blocks = ask(groups, **METHODS[method]), ask(mapped, **METHODS[method])
    assert in_blocks.dtype == in_memory.dtype
    # Products of another height may differ in their last digits.
    np.testing.assert_allclose(in_blocks, in_memory, rtol=1e-12, atol=1e-300)


def test_a_memory_map_is_read_in_blocks(model, groups, mapped, tmp_path, monkeypatch):
    heights = []
    read = type(mapped).read

    def noted(self, rows):
        heights.append(rows.stop - rows.start)
        return read(self, rows)

    monkeypatch.setattr(type(mapped), "read", noted)
    found = model.predict(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert heights == [25, 25, 25, 15]
    np.testing.assert_array_equal(found, model.predict(groups))


@pytest.mark.parametrize("method", ["predict", "predict_component"])
@pytest.mark.parametrize("where", ["file", "memory"])
def test_labels_are_written_into_a_file(model, groups, mapped, tmp_path, method, where):
    ask, X = getattr(model, method), mapped if where == "file" else groups
    found = ask(X, out=tmp_path / "labels.npy")
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), ask(groups))


def test_labels_go_into_npy_files_alone(model, mapped, tmp_path):
    with pytest.raises(ValueError, match=r"out must name a \.npy file, got 'labels\.csv'"):
        model.predict(mapped, out=tmp_path / "labels.csv")
    assert not (tmp_path / "labels.csv").exists()


def test_a_table_that_cannot_be_read_leaves_the_labels_as_they_were(
    model, mapped, tmp_path, monkeypatch
):
    model.predict(mapped, out=tmp_path / "labels.npy")
    before, read = (tmp_path / "labels.npy").read_bytes(), type(mapped).read

    def fails(self, rows):
        if rows.start == 50:
            raise OSError("the disk is gone")
        return read(self, rows)

    monkeypatch.setattr(type(mapped), "read", fails)
    with pytest.raises(OSError, match="the disk is gone"):
        model.predict_component(mapped, out=tmp_path / "labels.npy")
    assert (tmp_path / "labels.npy").read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"rows.npy", "labels.npy"}


def test_score(model, groups, mapped):
    assert model.score(mapped) == pytest.approx(model.score(groups), rel=1e-12)


def test_probabilities_of_something_new(model, groups, mapped):
    for method in ("predict_proba", "transform"):
        ask = getattr(model, method)
        for one, other in zip(
            ask(mapped, return_new=True), ask(groups, return_new=True), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)


def test_rows_without_entries_are_numbered_among_all(model, groups, tmp_path):
    groups = groups.copy()
    groups[[30, 60]] = np.nan
    np.save(tmp_path / "rows.npy", groups)
    with pytest.warns(EmptyRowsWarning, match="2 rows of X have no entry, such as row 30"):
        found = model.predict(open_rows(tmp_path / "rows.npy"))
    assert set(np.flatnonzero(found == -1)) == {30, 60}


def test_other_columns_are_refused(model, groups, tmp_path):
    np.save(tmp_path / "narrow.npy", groups[:, :2])
    with pytest.raises(ValueError, match=r"narrow\.npy .* has 2 columns, and 3 were fitted"):
        model.predict(open_rows(tmp_path / "narrow.npy"))
    np.save(tmp_path / "wide.npy", np.where(groups == groups[40, 1], np.inf, groups))
    with pytest.raises(ValueError, match="column 1 of X holds an infinite number"):
        model.predict(open_rows(tmp_path / "wide.npy"))


def test_names_of_columns_are_those_of_the_fit(groups, tmp_path):
    pandas, parquet = pytest.importorskip("pandas"), tmp_path / "rows.parquet"
    frame = pandas.DataFrame(groups, columns=["a", "b", "c"])
    frame.to_parquet(parquet)
    settings = {"n_levels": 2, "n_warmup": 3, "n_draws": 2, "random_state": 0}
    model = BHMC(likelihood="shared_gaussian", **settings).fit(frame)
    in_order = open_rows(parquet, columns=["a", "b", "c"])
    np.testing.assert_array_equal(model.predict(in_order), model.predict(frame))
    with pytest.raises(ValueError, match=r"column 0 of .* is 'b', and fit saw 'a' there"):
        model.predict(open_rows(parquet, columns=["b", "a", "c"]))


def test_a_model_of_rows_in_a_file_knows_their_names(groups, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    for limit in ("_MANY_ROWS", "ROWS_FOR_A_SAMPLE"):
        monkeypatch.setattr(sizes, limit, 50)
    monkeypatch.setattr(rows_elsewhere, "ROWS_FOR_A_SAMPLE", 50)
    frame = pandas.DataFrame(groups, columns=["a", "b", "c"])
    frame.to_parquet(tmp_path / "rows.parquet")
    settings = {"n_levels": 2, "n_warmup": 3, "n_draws": 2, "random_state": 0}
    model = BHMC(likelihood="shared_gaussian", **settings).fit(open_rows(tmp_path / "rows.parquet"))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert "a" in str(model.describe(1))
    np.testing.assert_array_equal(
        model.predict(frame), model.predict(open_rows(tmp_path / "rows.parquet"))
    )


# ---- Dask --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_dask_arrays_are_answered_lazily(model, groups, method, monkeypatch):
    array = pytest.importorskip("dask.array")
    ask = getattr(model, method)
    asked = []
    answer = type(model)._filled
    monkeypatch.setattr(type(model), "_filled", lambda *a: asked.append(1) or answer(*a))
    found = ask(array.from_array(groups, chunks=(40, 2)), **METHODS[method])
    assert not asked
    in_memory = ask(groups, **METHODS[method])
    assert found.shape == in_memory.shape
    assert found.dtype == in_memory.dtype
    computed = found.compute(scheduler="synchronous")
    np.testing.assert_allclose(computed, in_memory, rtol=1e-12, atol=1e-300)


def test_dask_frames(model, groups):
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame(groups).rename(columns=str), npartitions=3)
    found = model.predict_component(frame).compute(scheduler="synchronous")
    np.testing.assert_array_equal(found, model.predict_component(groups))
    assert model.score(frame) == pytest.approx(model.score(groups), rel=1e-12)


def test_dask_arrays_are_not_written_here(model, groups, tmp_path):
    array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="out= is for rows in memory or in a file"):
        model.predict(array.from_array(groups, chunks=40), out=tmp_path / "labels.npy")
    with pytest.raises(ValueError, match="the Dask collection has 2 columns, and 3 were fitted"):
        model.predict(array.from_array(groups[:, :2], chunks=40))
