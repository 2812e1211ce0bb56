"""Rows in parts do what rows in memory do, bit for bit; parts that go wrong are noticed."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bhmc.likelihoods import (
    Bernoulli,
    Categorical,
    ColumnSummary,
    Product,
    ShapedGaussian,
    SharedGaussian,
    _learned_means,
    shaped_gaussian,
)
from bhmc.likelihoods.block_sums import sum_of_pieces
from bhmc.rows import local, part
from bhmc.rows.local import LocalRows
from bhmc.rows.part import RowsPart, room_for
from bhmc.rows.parted import Done, Held, PartedRows
from bhmc.rows.protocol import Menu
from bhmc.rows.sources import ArraySource

N, BLOCK, K = 300, 32, 4
SHAPE, RATE, KEY = (1, K), 0.2, 12345


def measured(rng):
    return 5 + rng.normal(size=(N, 3)) * [1.0, 10.0, 0.1] + 4 * rng.integers(2, size=(N, 1))


def bits(rng):
    return rng.integers(2, size=(N, 3)).astype(float)


def codes(rng):
    return rng.integers(4, size=(N, 3)).astype(float)


def mixed(rng):
    return np.column_stack([measured(rng), bits(rng)[:, 0]])


COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, -0.2], [0.0, -0.2, 0.5]])
CASES = {
    "shaped": (ShapedGaussian(COVARIANCE, 4.0), measured, False),
    "shared": (SharedGaussian(location=4.0, scale=2.0), measured, True),
    "tied": (SharedGaussian("full", 4.0, 2.0), measured, False),
    "bernoulli": (Bernoulli(0.5, 2.0), bits, True),
    "categorical": (Categorical(0.7), codes, True),
    "product": (Product([(SharedGaussian(), [2, 0, 1]), (Bernoulli(), [3])]), mixed, True),
}
ALL = [(name, False) for name in CASES] + [(name, True) for name in CASES if CASES[name][2]]


@pytest.fixture(autouse=True)
def low_blocks(monkeypatch):
    for module in (part, local, _learned_means, shaped_gaussian):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", BLOCK)


def both(name, gaps=False, cuts=(), n_threads=1):
    """(rows in memory, the same rows in parts), in the same columns."""
    likelihood, make, _ = CASES[name]
    X = make(np.random.default_rng(0))
    if gaps:
        X[100::7, 0] = np.nan
    here, summary = LocalRows(likelihood.prepare(X)), ColumnSummary.of(X)
    held, begun = [], []
    for first, end in zip((0, *cuts), (*cuts, N), strict=True):
        own = RowsPart(ArraySource(X[first:end]), first, n_threads=n_threads)
        begun += own.bind(likelihood, summary).sums
        held.append(Held(asking(own), first, end - first))
    family = likelihood.prepare(X[:0], summary).with_shared_sums(sum_of_pieces(begun))
    there = PartedRows(held, family, np.arange(0, N, 7))
    shared = here.family.start_shared()
    for rows in (here, there):
        rows.turn_to(shared)
        rows.put(slice(None), 0, np.random.default_rng(1).integers(K, size=N).astype(np.int32))
    return here, there


def asking(own):
    """How to ask a part in this process."""
    return lambda method, *given: Done(getattr(own, method)(*given))


def menu_of(rows):
    """Three of four components, where their rows put them."""
    columns = np.array([0, 1, 3])
    sums = rows.totals(rows.shared, SHAPE).sums[columns]
    theta = rows.family.draw_theta(sums, np.random.default_rng(2))
    return Menu(
        natural=rows.family.natural(theta),
        columns=columns,
        log_weight=np.log([0.2, 0.5, 0.3]),
        leaves=np.zeros(1, dtype=np.int64),
        accept=np.ones((3, 1)),
        alias=np.zeros((3, 1), dtype=np.int64),
        anchor_rate=RATE,
    )


def answers(rows):
    """All that rows are asked for, one thing after the other."""
    yield from rows.totals(rows.shared, SHAPE)[:2]
    yield from rows.anchored(KEY, RATE)
    yield from rows.redraw(menu_of(rows), KEY, SHAPE)
    yield rows.all_components()
    found = rows.gather([0, 3])
    yield from (found.rows, found.component)
    yield found.family.statistics(slice(0, len(found.rows)))
    rows.put(found.rows[::2], 0, np.full(len(found.rows[::2]), 2, dtype=np.int32))
    yield rows.components_of(np.array([299, 0, 31, 32, 150]))
    rows.renumber_columns(np.array([3, 2, 1, 0]))
    runs = [slice(10, 20), slice(60, 70), slice(190, 200), slice(290, 300)]
    with rows.few(runs) as few:
        for _ in few.rows.tiles_of(few.runs):
            yield few.rows.family.statistics(few.rows.open_rows)
            few.rows.tile.component[:] = (few.rows.tile.component + 1) % K
    yield rows.all_components()
    yield rows.log_likelihood(menu_of(rows).natural, rows.totals(rows.shared, SHAPE).sums[:3])
    yield rows.family.shared_sums()


def first_difference(here, there):
    """The number of the first answer that differs; None where all are equal."""
    for i, (one, other) in enumerate(zip(answers(here), answers(there), strict=True)):
        if not np.array_equal(one, other):
            return i
    return None


@pytest.mark.parametrize(("name", "gaps"), ALL)
@pytest.mark.parametrize(("cuts", "n_threads"), [((), 1), ((), 2), ((64, 96, 256), 1)])
def test_parts_answer_as_rows_in_memory(name, gaps, cuts, n_threads):
    assert first_difference(*both(name, gaps, cuts, n_threads)) is None


def test_watched_rows_are_those_asked_for():
    here, there = both("shared", cuts=(64, 192))
    np.testing.assert_array_equal(there.watched(), here.component[::7])


# ---- Parts that go wrong -------------------------------------------------------------------------


def loses_counts(self, work):
    """The totals of the part's last block are lost."""
    return right_added(self, work)[:-1]


def wrong_first_row(self, *given, **settings):
    """The part counts its rows from one block later."""
    right_init(self, *given, **settings)
    self.first_row += BLOCK if self.first_row == 192 else 0


def takes_next(self, rows):
    """Rows asked for are those one further on."""
    return right_take(self, (rows + 1) % self.shape[0])


def keeps_places(self, chain, rows, component):
    """Places that come back are not noted."""


right_added, right_init = RowsPart._added, RowsPart.__init__
right_take = ArraySource.take
MUTANTS = {
    "a part's counts are lost": (RowsPart, "_added", loses_counts),
    "a part's first row is wrong": (RowsPart, "__init__", wrong_first_row),
    "rows that were asked for are others": (ArraySource, "take", takes_next),
    "places that come back are lost": (RowsPart, "put", keeps_places),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_part_that_goes_wrong_is_noticed(name, monkeypatch):
    monkeypatch.setattr(*MUTANTS[name])
    try:
        here, there = both("shared", cuts=(64, 192))
        noticed = first_difference(here, there) is not None
    except (ValueError, IndexError):  # sums of blocks that do not follow one another are refused
        noticed = True
    assert noticed


def test_a_wrong_entry_is_named_by_its_number_among_all_rows():
    X = np.zeros((N, 2))
    X[200, 1] = 0.5
    own = RowsPart(ArraySource(X[192:]), 192)
    with pytest.raises(ValueError, match=r"X has 0.5 in column 1, row 200; the Bernoulli family"):
        own.bind(Bernoulli(), ColumnSummary.of(X))


def test_a_part_begins_with_a_block():
    with pytest.raises(ValueError, match="a part begins at a multiple of 32, got 33"):
        RowsPart(ArraySource(np.zeros((4, 1))), 33)


# ---- Components of many rows ---------------------------------------------------------------------


@pytest.fixture
def in_files(monkeypatch, tmp_path):
    """Components are in a file, however few; the folder for temporary files."""
    monkeypatch.setattr(part, "_MOST_IN_MEMORY", 10)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_components_in_a_file_are_as_good_as_in_memory(in_files):
    assert first_difference(*both("shared", cuts=(64, 192))) is None


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux says what is mapped")
def test_the_file_is_in_the_folder_for_temporary_files_and_has_no_name(in_files):
    held = room_for(11)
    assert not held.any()
    assert str(in_files) in Path("/proc/self/maps").read_text()
    assert list(in_files.iterdir()) == []
    del held
    assert str(in_files) not in Path("/proc/self/maps").read_text()


def test_a_full_disk_is_a_sentence(in_files, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(part.os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="No space left on device") as caught:
        room_for(100_000_000)
    assert str(caught.value) == (
        f"The components of 100,000,000 rows need a file of 0.4 GB in {in_files}, and it cannot be "
        f"made (No space left on device): make room there, or have TMPDIR name a folder on another "
        f"disk."
    )


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system sets no room aside")
def test_a_disk_that_is_too_small_is_noticed_before_anything_is_written(in_files):
    with pytest.raises(OSError, match=r"need a file of 4000000.0 GB in "):
        room_for(10**15)
