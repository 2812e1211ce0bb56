"""Totals of rows in two places are those of all rows in one, bit for bit in block order."""

import numpy as np
import pytest
from studies.same_draws import data

from bhmc.likelihoods import ColumnSummary
from bhmc.likelihoods.block_sums import sum_of_blocks, sum_of_pieces
from bhmc.rows.local import LocalRows
from bhmc.rows.protocol import Menu, Totals
from bhmc.rows.reference import alias_table

N, CUT, BLOCK = 40, 24, 8
SHAPE = (5, 4)
LEAVES, COLUMNS = np.array([1, 2, 4]), np.array([1, 3])


def table_of(name, gaps):
    """Forty rows; with gaps, entries are missing in the second half alone."""
    X = data.rows_of(name, N)
    if gaps:
        X[CUT:] = data.with_gaps(X)[CUT:]
    return X


def places(name, X, *, summary="of all"):
    """All rows in one place, and the same rows in two."""
    likelihood, N_all = data.FAMILIES[name], X.shape[0]
    whole = LocalRows(likelihood.prepare(X), block=BLOCK)
    parts = []
    for first, last in ((0, CUT), (CUT, N_all)):
        known = ColumnSummary.of(X) if summary == "of all" else None
        family = likelihood.prepare(X[first:last], known)
        parts.append(LocalRows(family, block=BLOCK, first_row=first))
    shared = whole.family.start_shared()
    for rows in (whole, *parts):
        rows.turn_to(shared)
    place(whole, parts)
    return whole, parts


def place(whole, parts):
    """The same leaves and components for both."""
    rng = np.random.default_rng(3)
    leaf, component = rng.choice([1, 2, 3, 4], N), rng.choice([1, 2, 3], N)
    whole.put(slice(None), leaf, component)
    for rows, at in zip(parts, (slice(0, CUT), slice(CUT, N)), strict=True):
        rows.put(slice(None), leaf[at], component[at])


def assert_same(one, other):
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.sums, other.sums, strict=True)
    assert one.moved == other.moved


CASES = [
    (name, gaps)
    for name in data.FAMILIES
    for gaps in ((False, True) if name in data.ALLOW_MISSING else (False,))
]


@pytest.mark.parametrize(("name", "gaps"), CASES)
def test_totals_of_two_places(name, gaps):
    whole, parts = places(name, table_of(name, gaps))
    blocks = [one for rows in parts for one in rows.block_totals(rows.shared, SHAPE)]
    assert len(blocks) == N // BLOCK
    assert_same(sum_of_blocks(blocks, Totals.plus), whole.totals(whole.shared, SHAPE))
    assert sum_of_blocks(blocks, Totals.plus).counts.sum() == N


def test_without_a_summary_of_all_rows_they_differ():
    """The test above can fail: each half would have a centre of its own."""
    whole, parts = places("gaussian-scalar", table_of("gaussian-scalar", False), summary="own")
    blocks = [one for rows in parts for one in rows.block_totals(rows.shared, SHAPE)]
    assert not np.array_equal(
        sum_of_blocks(blocks, Totals.plus).sums, whole.totals(whole.shared, SHAPE).sums
    )


def test_in_another_order_they_differ():
    """Sums of doubles depend on their order: so blocks are added in the order of the rows."""
    X = table_of("gaussian-scalar", False) * np.logspace(0, 9, N)[:, None]
    whole, parts = places("gaussian-scalar", X)
    blocks = [one for rows in parts for one in rows.block_totals(rows.shared, SHAPE)]
    assert_same(sum_of_blocks(blocks, Totals.plus), whole.totals(whole.shared, SHAPE))
    backwards = sum_of_blocks(reversed(blocks), Totals.plus)
    assert not np.array_equal(backwards.sums, sum_of_blocks(blocks, Totals.plus).sums)


def menu_of(family, anchor_rate=0.3):
    """Two components on three leaves."""
    rng = np.random.default_rng(4)
    tables = [alias_table(weights) for weights in rng.random((len(COLUMNS), len(LEAVES)))]
    statistics = family.statistics(slice(0, 2))
    theta = family.draw_theta(np.asarray(statistics), rng)
    return Menu(
        natural=family.natural(theta),
        columns=COLUMNS,
        log_weight=np.log([0.4, 0.6]),
        leaves=LEAVES,
        accept=np.array([accept for accept, _ in tables]),
        alias=np.array([alias for _, alias in tables]),
        anchor_rate=anchor_rate,
    )


@pytest.mark.parametrize("name", ["gaussian-scalar", "adaptive", "bernoulli", "full"])
def test_redraw_in_two_places(name):
    whole, parts = places(name, table_of(name, False))
    menu = menu_of(whole.family)
    in_one = whole.redraw(menu, 7, SHAPE)
    pieces = [piece for rows in parts for piece in rows.redraw_in_pieces(menu, 7, SHAPE)]
    assert_same(sum_of_pieces(pieces, Totals.plus), in_one)
    assert in_one.moved > 0
    np.testing.assert_array_equal(whole.leaf, np.concatenate([rows.leaf for rows in parts]))
    opened = [rows.anchored(7, 0.3) for rows in (whole, *parts)]
    for i in range(2):
        both = np.union1d(opened[1][i], opened[2][i])
        np.testing.assert_array_equal(both, opened[0][i])


def test_a_part_that_does_not_know_its_first_row_draws_otherwise():
    """The test above can fail: random numbers belong to the row's number among all rows."""
    whole, parts = places("bernoulli", table_of("bernoulli", False))
    menu = menu_of(whole.family)
    lost = LocalRows(parts[1].family, block=BLOCK)
    lost.put(slice(None), parts[1].leaf, parts[1].component)
    parts[1].redraw_in_pieces(menu, 7, SHAPE)
    lost.redraw(menu, 7, SHAPE)
    assert not np.array_equal(lost.leaf, parts[1].leaf)


def test_rows_that_move_while_they_are_gathered_are_found_where_they_are():
    """`gathering` keeps rows sorted: a row that has moved must not be in its old place."""
    whole, _ = places("shared", table_of("shared", False))
    with whole.gathering():
        for moved in ([], [3, 20], [20, 39]):
            whole.put(np.array(moved, dtype=int), 1, 3)
            for columns in ([1], [1, 3]):
                expected = np.flatnonzero(np.isin(whole.component, columns))
                np.testing.assert_array_equal(whole.gather(columns).rows, expected)
        whole.renumber_columns(np.array([0, 2, 1, 3]))
        expected = np.flatnonzero(whole.component == 2)
        np.testing.assert_array_equal(whole.gather([2]).rows, expected)
