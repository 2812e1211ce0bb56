"""The fast redraw draws what the slow reference draws from the same numbers."""

import numba
import numpy as np
import pytest

from bhmc._compiled.keyed_numbers import plain_high_product, uniform_of, words_of
from bhmc.likelihoods import Gaussian
from bhmc.rows import reference
from bhmc.rows.block_pass import places_of, strip_room
from bhmc.rows.kernels import STRIP, alias_tables, redraw_tile
from bhmc.rows.local import LocalRows
from bhmc.rows.protocol import Menu

SLOTS, COLUMNS = 9, 12


def menu_of(rng, n_leaves, n_options, rate=0.2, log_weight=None):
    accept, alias = alias_tables(rng.gamma(0.5, size=(n_options, n_leaves)))
    given = np.log(rng.gamma(0.3, size=n_options))
    return Menu(
        natural=rng.normal(0, 2, (n_options, 3)),
        columns=np.sort(rng.permutation(COLUMNS)[:n_options]),
        log_weight=given if log_weight is None else log_weight,
        leaves=np.sort(rng.permutation(SLOTS)[:n_leaves]),
        accept=accept,
        alias=alias,
        anchor_rate=rate,
    )


def both(menu, log_f, key=5, first_row=0):
    """(leaf, component) by the fast form and by the slow one, and how many rows moved."""
    n, rng = len(log_f), np.random.default_rng(0)
    leaf = rng.integers(SLOTS, size=n).astype(np.int32)
    component = rng.integers(COLUMNS, size=n).astype(np.int32)
    rows = first_row + np.arange(n)
    slow = reference.redraw(menu, key, rows, log_f, leaf, component)
    room, table = strip_room(len(menu.columns)), np.ascontiguousarray(log_f.T)
    given = np.uint64(key), first_row, leaf, component
    before = leaf.copy(), component.copy()
    moved = redraw_tile(table, menu, *places_of(menu, (SLOTS, COLUMNS)), *given, room)
    assert moved == ((leaf != before[0]) | (component != before[1])).sum()
    return (leaf, component), slow, moved


@pytest.mark.parametrize("n", [1, 5, STRIP, STRIP + 1, 1000])
@pytest.mark.parametrize(("n_leaves", "n_options"), [(1, 1), (1, 12), (9, 1), (4, 7)])
def test_fast_is_slow(n, n_leaves, n_options):
    rng = np.random.default_rng(n)
    menu = menu_of(rng, n_leaves, n_options)
    fast, slow, moved = both(menu, rng.normal(0, 5, (n, n_options)), first_row=3)
    np.testing.assert_array_equal(fast, slow)
    assert moved or n < 10 or (n_leaves, n_options) == (1, 1)


@pytest.mark.parametrize("spread", [1e3, 1e5])
def test_fast_is_slow_where_likelihoods_are_far_apart(spread):
    """What a row has now may be far from its best: its weight is no unit then."""
    rng = np.random.default_rng(1)
    menu = menu_of(rng, 3, 10, rate=0.0)
    fast, slow, moved = both(menu, rng.normal(0, spread, (500, 10)))
    np.testing.assert_array_equal(fast, slow)
    assert moved > 30


def test_options_without_a_weight_are_not_drawn():
    rng = np.random.default_rng(2)
    weights = np.log(
        np.array([0.0, 0.3, 0.0, 0.7, 0.0]), where=[0, 1, 0, 1, 0], out=np.full(5, -np.inf)
    )
    menu = menu_of(rng, 2, 5, rate=0.0, log_weight=weights)
    fast, slow, moved = both(menu, rng.normal(0, 3, (800, 5)))
    np.testing.assert_array_equal(fast, slow)
    assert moved > 50


def test_alias_tables_are_the_slow_ones():
    weights = np.random.default_rng(3).gamma(0.2, size=(20, 31))
    accept, alias = alias_tables(weights)
    for i, line in enumerate(weights):
        slow_accept, slow_alias = reference.alias_table(line)
        p, q = (
            np.bincount(alias[i], 1 - accept[i], 31),
            np.bincount(slow_alias, 1 - slow_accept, 31),
        )
        np.testing.assert_allclose(p + accept[i], q + slow_accept, rtol=1e-12)


def test_keyed_numbers_are_numpys():
    for key, row in ((0, 0), (5, 7), (2**63 + 11, 2**40)):
        philox = np.random.Philox(key=np.array([key, row], dtype=np.uint64))
        np.testing.assert_array_equal(
            four_numbers(np.uint64(key), np.uint64(row)), np.random.Generator(philox).random(4)
        )
    a, b = 0xD2E7470EE14C6C93, 2**64 - 3
    assert plain_high_product(np.uint64(a), np.uint64(b)) == (a * b) >> 64


@numba.njit
def four_numbers(key, row):
    a, b, c, d = words_of(np.uint64(1), key, row)
    return uniform_of(a), uniform_of(b), uniform_of(c), uniform_of(d)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_draws_do_not_depend_on_threads(n_threads):
    rng = np.random.default_rng(4)
    X = rng.normal(0, 2, (700, 3))
    menu = menu_of(rng, 4, 7)._replace(natural=rng.normal(0, 1, (7, 4)))
    found = []
    for threads in (1, n_threads):
        rows = LocalRows(Gaussian(1.0, 0.0, 1.0).prepare(X), block=128, n_threads=threads)
        rows.put(slice(None), np.full(700, menu.leaves[0]), np.full(700, menu.columns[0]))
        totals = rows.redraw(menu, 9, (SLOTS, COLUMNS))
        found.append((rows.leaf, rows.component, totals.counts, totals.sums, totals.moved))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
