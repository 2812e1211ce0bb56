"""Fits of rows that stay in files: the draws of a fit in memory, stops, refusals."""

import itertools

import numpy as np
import pytest

from bhmc import BHMC
from bhmc._estimator import rows_elsewhere, rows_of_fit
from bhmc._estimator.progress import Interrupts
from bhmc._sampling import sample_start
from bhmc.likelihoods import Product, SharedGaussian, _learned_means, shaped_gaussian
from bhmc.model.diffused import atom_splits, resolution
from bhmc.posterior import outliers
from bhmc.rows import local, open_rows, part
from bhmc.rows.parted import PartedRows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr")

N, WATCHED = 420, slice(None, None, 3)
SETTINGS = {
    "sampler": "blocked",
    "init": "sample",
    "n_warmup": 8,
    "n_draws": 4,
    "n_chains": 1,
    "random_state": 3,
    "estimate": "map",
}


@pytest.fixture(autouse=True)
def many_is_few(monkeypatch):
    """From 300 rows on rows stay where they are; every third stands for all; blocks are low."""
    for module in (rows_elsewhere, rows_of_fit):
        monkeypatch.setattr(module, "ROWS_FOR_A_SAMPLE", 300)
    monkeypatch.setattr(rows_of_fit, "PILOT_ROWS", 140)
    for module in (part, local, _learned_means, shaped_gaussian):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 64)
    monkeypatch.setattr(sample_start, "_FIRST_SAMPLE", 100)
    monkeypatch.setattr(sample_start, "_ROWS_A_COMPONENT", 8)
    monkeypatch.setattr(sample_start, "_SETTLING", 3)
    monkeypatch.setattr(sample_start, "_SWEEPS", 4)
    monkeypatch.setattr(atom_splits, "_MOST", 12)
    for name in ("_LEAST_SWEEPS", "_MOST_SWEEPS"):
        monkeypatch.setattr(resolution, name, 3)
    for name in ("_LEAST_DRAWS", "_MOST_DRAWS"):
        monkeypatch.setattr(outliers, name, 3)


def measured():
    """Six groups in three columns that overlap: where a row goes depends on its random number.

    Whole numbers, so that every type of file holds them.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=N)
    return np.round(rng.normal(0, 20, (6, 3))[labels] + 10 * rng.standard_normal((N, 3)) + 100)


def bits():
    rng = np.random.default_rng(0)
    shares = rng.choice([0.1, 0.9], size=(4, 6))
    return (rng.random((N, 6)) < shares[rng.integers(4, size=N)]).astype(float)


def codes():
    rng = np.random.default_rng(0)
    return np.where(rng.random((N, 4)) < 0.8, rng.integers(3, size=(N, 1)), rng.integers(3, size=4))


def in_npy(X, folder):
    np.save(folder / "rows.npy", X)
    return open_rows(folder / "rows.npy")


def in_parquet(X, folder):
    columns = [f"c{j}" for j in range(X.shape[1])]
    for i, (first, last) in enumerate(itertools.pairwise([0, 90, 200, N])):
        table = pa.table(dict(zip(columns, X[first:last].T, strict=True)))
        pq.write_table(table, folder / f"{i}.parquet", row_group_size=37)
    return open_rows(folder, memory=2000)  # two row groups or three


def in_zarr(X, folder, version=3):
    given = {"shape": X.shape, "chunks": (50, 2), "dtype": X.dtype, "zarr_format": version}
    array = zarr.create_array(str(folder / "rows.zarr"), **given)
    array[:] = X
    return open_rows(folder / "rows.zarr")


def mapped(X, folder):
    in_npy(X, folder)
    return np.load(folder / "rows.npy", mmap_mode="r")


def in_h5(X, folder):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "rows.h5", "w")
    return file.create_dataset("X", data=X, chunks=(50, 2))


PLACES = {
    "npy": in_npy,
    "memory map": mapped,
    "npy of float32": lambda X, folder: in_npy(X.astype(np.float32), folder),
    "npy of int16": lambda X, folder: in_npy(X.astype(np.int16), folder),
    "npy in Fortran's order": lambda X, folder: in_npy(np.asfortranarray(X), folder),
    "parquet": in_parquet,
    "zarr 3": in_zarr,
    "zarr 2": lambda X, folder: in_zarr(X.astype(np.float32), folder, 2),
    "h5py": in_h5,
}


def fit(X, **settings):
    return BHMC(**(SETTINGS | settings)).fit(X)


def assert_same_draws(there, here):
    """A fit of rows elsewhere has the numbers of one in memory, and its watched rows' places."""
    for name in ("log_joint", "n_components", "log_likelihood"):
        np.testing.assert_array_equal(getattr(there.draws_, name), getattr(here.draws_, name))
    for one, other in zip(there.draws_.partitions, here.draws_.partitions, strict=True):
        assert len(one.component) == len(range(N)[WATCHED])
        assert_same_groups(one.component, other.component[WATCHED])
        assert_same_groups(one.leaf, other.leaf[WATCHED])


def assert_same_groups(one, other):
    pairs = np.unique(np.stack([one, other]), axis=1)
    assert pairs.shape[1] == len(np.unique(one)) == len(np.unique(other))


FAMILIES = {
    "shaped": ("shaped_gaussian", measured),
    "tied": ("tied_gaussian", measured),
    "shared": ("shared_gaussian", measured),
    "bernoulli": ("bernoulli", bits),
    "categorical": ("categorical", codes),
}


@pytest.mark.parametrize(
    ("family", "transition"),
    [*((family, "diffused") for family in FAMILIES), ("shaped", "gaussian"), ("tied", "gaussian")],
)
def test_draws_are_those_of_rows_in_memory(family, transition, tmp_path):
    likelihood, make = FAMILIES[family]
    X, settings = make(), {"likelihood": likelihood, "transition": transition}
    here, source = fit(X, **settings), in_parquet(X, tmp_path)
    assert_same_draws(fit(source, n_jobs=2, **settings), here)  # two threads


@pytest.fixture(scope="module")
def here():
    """A fit of measured rows in memory, made when the first test asks for it."""
    return {}


@pytest.mark.parametrize("place", PLACES)
def test_draws_do_not_depend_on_where_rows_are(place, here, tmp_path):
    if not here:
        here["fit"] = fit(measured(), likelihood="shared_gaussian")
    source = PLACES[place](measured(), tmp_path)
    assert_same_draws(fit(source, likelihood="shared_gaussian"), here["fit"])


def test_two_chains_and_a_likelihood_that_data_choose(tmp_path):
    X, settings = measured(), {"n_chains": 2, "n_jobs": 2, "precision": "float32"}
    assert_same_draws(fit(in_npy(X, tmp_path), **settings), fit(X, **settings))


def test_parts_for_different_columns(tmp_path):
    X = np.column_stack([measured()[:, :2], bits()[:, :2]])
    parts = Product([("bernoulli", [2, 3]), (SharedGaussian(location=100.0, scale=40.0), [1, 0])])
    source = in_zarr(X, tmp_path)
    assert_same_draws(fit(source, likelihood=parts), fit(X, likelihood=parts))


def test_names_of_columns_come_from_the_file(tmp_path):
    model = fit(in_parquet(measured(), tmp_path), likelihood="shared_gaussian")
    assert list(model.feature_names_) == ["c0", "c1", "c2"]


def test_few_rows_of_a_file_are_loaded(tmp_path):
    X = measured()[:200]
    np.save(tmp_path / "few.npy", X)
    settings = {"likelihood": "shared_gaussian", "init": "kmeans"}
    few, all_of_it = fit(open_rows(tmp_path / "few.npy"), **settings), fit(X, **settings)
    assert len(few.labels_) == 200
    np.testing.assert_array_equal(few.draws_.log_joint, all_of_it.draws_.log_joint)


# ---- Missing and wrong numbers -------------------------------------------------------------------


@pytest.mark.parametrize("family", ["shared", "bernoulli", "categorical"])
def test_missing_numbers_are_skipped_by_families_that_skip_them(family, tmp_path):
    likelihood, make = FAMILIES[family]
    X = make().astype(float)
    X[200:, 1][::9] = np.nan
    source = in_parquet(X, tmp_path)
    assert_same_draws(fit(source, likelihood=likelihood), fit(X, likelihood=likelihood))


@pytest.mark.parametrize("likelihood", ["shaped_gaussian", "tied_gaussian"])
@pytest.mark.parametrize("row", [3, 4])  # one that is watched, and one that is not
def test_missing_numbers_that_would_be_drawn_are_refused(likelihood, row, tmp_path):
    X = measured()
    X[row, 1] = np.nan
    sentence = (
        r"draws missing numbers \(NaN\), which needs all rows in memory, and these stay in "
        r"rows.npy \(420 rows, 3 columns\): fill them in, or use likelihood='shared_gaussian'"
    )
    with pytest.raises(ValueError, match=sentence):
        fit(in_npy(X, tmp_path), likelihood=likelihood)


def test_infinite_numbers_are_named(tmp_path):
    X = measured()
    X[301, 2] = -np.inf
    for place, column in ((in_npy, "column 2"), (in_parquet, "column 'c2'")):
        with pytest.raises(ValueError, match=rf"row 301, {column} of .* is infinite: mend it, or"):
            fit(place(X, tmp_path))


def test_wrong_entries_are_named_by_row_and_column(tmp_path):
    X = bits()
    X[301, 4] = 2.0
    with pytest.raises(ValueError, match=r"column 4 \('c4'\), row 301; the Bernoulli family needs"):
        fit(in_parquet(X, tmp_path), likelihood="bernoulli")


def test_a_column_whose_watched_rows_mislead_is_refused(tmp_path):
    X = np.column_stack([measured(), bits()[:, 0]])
    X[1, 3] = 7.5
    with pytest.raises(ValueError, match=r"column 3 of rows.npy .* has 0 and 1 alone in 140 evenl"):
        fit(in_npy(X, tmp_path))
    fit(in_npy(X, tmp_path), likelihood="shared_gaussian")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"transition": "hdp"}, "transition='hdp' needs all rows in memory"),
        ({"sampler": "gibbs"}, "sampler='gibbs' needs all rows in memory"),
        ({"init": "kmeans"}, "init='kmeans' needs all rows in memory"),
        ({"init": np.zeros(N, dtype=int)}, "init='labels' needs all rows in memory"),
        ({"hyper": "paper"}, "hyper='paper' needs all rows in memory"),
        ({"columns": {"c0": "id"}}, "needs all rows in memory"),
        ({"likelihood": "poisson"}, "Poisson needs all rows in memory"),
    ],
)
def test_settings_that_need_all_rows_are_refused(settings, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence) as caught:
        fit(in_npy(measured(), tmp_path), **settings)
    assert "rows.npy (420 rows, 3 columns)" in str(caught.value)


# ---- Stops ---------------------------------------------------------------------------------------

STEADY = {"likelihood": "shared_gaussian", "random_state": 3}


def stop_after(sweeps):
    return lambda number, chain, made: made == sweeps


@pytest.mark.parametrize("in_files", [False, True])
def test_a_fit_that_was_stopped_resumes_to_the_same_draws(in_files, tmp_path, monkeypatch):
    if in_files:
        monkeypatch.setattr(part, "_MOST_IN_MEMORY", 10)
    source, settings = in_npy(measured(), tmp_path), STEADY | {"checkpoint": tmp_path / "chain"}
    whole = fit(source, **STEADY)
    for sweeps in (2, 5):
        model = BHMC(**(SETTINGS | settings))
        try:
            stopped = model._fit(source, [stop_after(sweeps)])
            assert stopped.interrupted_
        except KeyboardInterrupt:
            assert sweeps < SETTINGS["n_warmup"]
    assert_equal_draws(fit(source, **settings), whole)


def assert_equal_draws(one, other):
    np.testing.assert_array_equal(one.draws_.log_joint, other.draws_.log_joint)
    for a, b in zip(one.draws_.partitions, other.draws_.partitions, strict=True):
        np.testing.assert_array_equal(a.component, b.component)


def test_a_file_that_changed_since_the_checkpoint_is_refused(tmp_path):
    X, settings = measured(), STEADY | {"checkpoint": tmp_path / "chain"}
    fit(in_npy(X, tmp_path), **settings)
    fit(in_npy(X, tmp_path), **settings)
    X[401, 1] += 1  # a row that nobody watches
    with pytest.raises(ValueError, match="was saved by a fit to other data"):
        fit(in_npy(X, tmp_path), **settings)


def test_warm_start_goes_on_and_refuses_another_file(tmp_path):
    X, settings = measured(), STEADY | {"warm_start": True}
    source = in_npy(X, tmp_path)
    model = fit(source, **settings).fit(source)
    assert model.n_sweeps_ == -(-SETTINGS["n_warmup"] // 4) + 2 * SETTINGS["n_draws"]
    assert_equal_draws(model, fit(source, **(STEADY | {"n_draws": 8})))
    with pytest.raises(ValueError, match="which was to other data"):
        model.fit(in_npy(X + 1, tmp_path))


def test_ctrl_c_keeps_the_draws_so_far(tmp_path, monkeypatch):
    sweeps = itertools.count()
    redraw = PartedRows.redraw

    def pressed(self, *given):
        if next(sweeps) == 5:  # the first places the rows
            interrupts[0].asked.set()
        return redraw(self, *given)

    interrupts, begin = [], Interrupts.__enter__
    monkeypatch.setattr(
        Interrupts, "__enter__", lambda self: interrupts.append(self) or begin(self)
    )
    monkeypatch.setattr(PartedRows, "redraw", pressed)
    model = fit(in_npy(measured(), tmp_path), **STEADY)
    assert model.interrupted_
    assert model.draws_.log_joint.shape == (1, 3)


def test_max_seconds_ends_a_fit(tmp_path):
    model = fit(in_npy(measured(), tmp_path), **(STEADY | {"n_draws": 10**6, "max_seconds": 0.2}))
    assert model.ended_by_ == "max_seconds"
    assert 1 <= model.draws_.log_joint.shape[1] < 10**6


# ---- A part that goes wrong ----------------------------------------------------------------------


def test_rows_that_draw_by_other_numbers_are_noticed(tmp_path, monkeypatch):
    """The comparison with rows in memory can fail."""

    def later(menu, key, first_row, *given):
        return right(menu, key, first_row + 1, *given)

    X, right = measured(), part.redraw_block
    here = fit(X, **STEADY)
    monkeypatch.setattr(part, "redraw_block", later)
    with pytest.raises(AssertionError):
        assert_same_draws(fit(in_npy(X, tmp_path), **STEADY), here)
