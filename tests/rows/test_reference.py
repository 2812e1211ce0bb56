"""The slow reference of `redraw`: its law by enumeration, and what must stay where it is."""

import numpy as np
import pytest

from bhmc.rows import reference
from bhmc.rows.protocol import Menu
from tests.exact import alarm
from tests.exact.alarm import P_LIMIT, chi_square_p

LEAVES, COLUMNS = np.array([2, 5, 7]), np.array([1, 4])
WEIGHTS = np.array([[0.2, 0.5, 0.1], [0.6, 0.05, 0.4]])  # w_leaf beta_leaf,k: components by leaves
LOG_F = np.log([0.3, 1.7])
RATE = 0.25
N = 20_000


def probabilities(accept, alias):
    """P(j) of a table: its entry is drawn evenly and kept, or another one points at it."""
    p = accept / len(accept)
    np.add.at(p, alias, (1 - accept) / len(accept))
    return p


@pytest.mark.parametrize(
    "weights",
    [
        np.ones(1),
        np.ones(7),
        np.array([0.0, 1.0, 0.0]),
        np.array([1e-300, 1.0, 1e-9, 3.0]),
        np.array([1e300, 2e300, 1e280]),
        *np.random.default_rng(0).gamma(0.2, size=(5, 40)),
    ],
    ids=str,
)
def test_alias_table_has_the_probabilities_of_its_weights(weights):
    accept, alias = reference.alias_table(weights)
    assert ((accept >= 0) & (accept <= 1)).all()
    wanted = weights / weights.sum()
    np.testing.assert_allclose(probabilities(accept, alias), wanted, rtol=1e-12, atol=1e-15)


def test_an_alias_table_without_aliases_is_noticed():
    """The test above can fail."""
    weights = np.array([1.0, 2.0, 5.0])
    accept, alias = reference.alias_table(weights)
    wrong = probabilities(accept, np.zeros_like(alias))
    assert not np.allclose(wrong, weights / weights.sum(), rtol=1e-3)


def menu(weights=WEIGHTS, log_weight=None) -> Menu:
    tables = [reference.alias_table(row) for row in weights]
    return Menu(
        natural=np.zeros((2, 1)),
        columns=COLUMNS,
        log_weight=np.log(weights.sum(axis=1)) if log_weight is None else log_weight,
        leaves=LEAVES,
        accept=np.array([accept for accept, _ in tables]),
        alias=np.array([alias for _, alias in tables]),
        anchor_rate=RATE,
    )


def redrawn(offered, leaf=5, component=4, n=N, key=11):
    """(leaves, components) of n rows, all of which begin at one place."""
    start = np.full(n, leaf, dtype=np.int32), np.full(n, component, dtype=np.int32)
    log_f = np.broadcast_to(LOG_F, (n, 2))
    return reference.redraw(offered, key, np.arange(n), log_f, *start)


def p_of(offered) -> float:
    """P value of the places of all rows against the menu, anchors at their old place."""
    leaf, component = redrawn(offered)
    places = [(z, k) for k in COLUMNS for z in LEAVES]
    seen = np.array([((leaf == z) & (component == k)).sum() for z, k in places], dtype=float)
    wanted = WEIGHTS * np.exp(LOG_F)[:, None]
    wanted = (1 - RATE) * (wanted / wanted.sum()).ravel()
    wanted[places.index((5, 4))] += RATE
    assert seen.sum() == N
    return chi_square_p(seen, wanted)


def test_places_have_their_law():
    assert p_of(menu()) > P_LIMIT


@pytest.mark.parametrize(
    "wrong",
    [
        menu()._replace(accept=np.ones((2, 3))),
        menu()._replace(log_weight=np.zeros(2)),
        menu()._replace(anchor_rate=0.2),
        menu(WEIGHTS[::-1]),
    ],
    ids=["leaves by their number", "components without weights", "too few anchors", "swapped"],
)
def test_a_wrong_menu_is_rejected(wrong, monkeypatch):
    monkeypatch.setattr(alarm, "checks_made", alarm.checks_made)
    assert p_of(wrong) < P_LIMIT


def test_anchors_stay_and_so_do_rows_that_are_not_on_the_menu():
    anchors = reference.anchors(np.arange(N), 11, RATE)
    leaf, component = redrawn(menu())
    assert (leaf[anchors] == 5).all()
    assert (component[anchors] == 4).all()
    assert abs(anchors.mean() - RATE) < 0.02
    for place in ((3, 4), (5, 2)):  # a leaf, then a component, that is closed
        leaf, component = redrawn(menu(), *place, n=500)
        assert (leaf == place[0]).all()
        assert (component == place[1]).all()


def test_rows_draw_the_same_in_any_block():
    n = 60
    start = np.full(n, 5, dtype=np.int32), np.full(n, 4, dtype=np.int32)
    rows, log_f = np.arange(n), np.broadcast_to(LOG_F, (n, 2))
    whole = reference.redraw(menu(), 3, rows, log_f, *start)
    for at in (slice(0, 17), slice(17, 60), slice(40, 41)):
        part = reference.redraw(menu(), 3, rows[at], log_f[at], *(one[at] for one in start))
        for found, wanted in zip(part, whole, strict=True):
            np.testing.assert_array_equal(found, wanted[at])
    renumbered = reference.redraw(
        menu(), 3, rows[17:] - 17, log_f[17:], *(one[17:] for one in start)
    )
    assert not np.array_equal(renumbered[0], whole[0][17:])
