"""All rows at once (menu out, totals back) leave the joint law alone; wrong menus are seen."""

import numpy as np
import pytest

from bhmc.model.hdp import menu as menus
from bhmc.model.hdp import workspace
from bhmc.rows import reference
from tests.exact.alarm import Z_LIMIT, rng_for, z_of
from tests.exact.geweke import Setting
from tests.exact.invariance import forward, shows

N_DRAWS, ANCHOR_RATE = 1_000, 0.4


def redraw_at_once(chain, rng, wrong=None):
    """One blocked move of a chain; `wrong` may spoil what is open or the menu."""
    key = int(rng.integers(2**62))
    opened = chain.rows.anchored(key, ANCHOR_RATE)
    if wrong == "every leaf and component is open":
        opened = np.unique(chain.rows.leaf), np.unique(chain.rows.component)
    if not len(opened[0]):
        return None
    menu = menus.make_menu(chain.ws, chain.natural, opened, chain.rates.alpha, ANCHOR_RATE, rng)
    if wrong == "anchors move":
        menu = menu._replace(anchor_rate=0.0)
    if wrong == "leaves by their number":
        menu = menu._replace(accept=np.ones_like(menu.accept))
    if wrong == "rows are not looked at":
        menu = menu._replace(natural=np.zeros_like(menu.natural))
    totals = chain.rows.redraw(menu, key, chain.ws.log_beta.shape)
    menus.count_under(chain.ws, totals.counts)
    return totals


def largest_z(setting, wrong=None, n_draws=N_DRAWS):
    rng, changes = rng_for(91), []
    for state, X, before in forward(setting.forward_key()).first(n_draws, setting):
        chain = setting.chain(state, X, "gibbs", rng)
        redraw_at_once(chain, rng, wrong)
        changes.append(setting.statistics(chain.state(), X) - before)
        if wrong and len(changes) == n_draws // 4 and shows(np.array(changes), Z_LIMIT):
            break
    changes = np.array(changes)
    z = z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(len(changes)))
    print(f"{wrong or 'exact'}: largest |z| {np.abs(z).max():.1f}")
    return np.abs(z).max()


@pytest.mark.parametrize("n_components", [None, 3])
def test_all_rows_at_once_leave_the_joint_law_alone(n_components):
    assert largest_z(Setting(n_components)) < Z_LIMIT


@pytest.mark.parametrize(
    "wrong",
    [
        "every leaf and component is open",
        "anchors move",
        "leaves by their number",
        "rows are not looked at",
    ],
)
def test_wrong_menus_are_rejected(wrong):
    sigma2 = 0.05 if wrong == "rows are not looked at" else 0.5
    assert largest_z(Setting(None, sigma2=sigma2), wrong, 4 * N_DRAWS) > Z_LIMIT


def test_counts_come_back_as_the_chain_itself_would_count():
    """N_z, component sizes and sums from totals equal those of a chain at the new state."""
    setting = Setting(None, n=30, n_levels=3)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        state, X = setting.prior_draw(rng)
        chain = setting.chain(state, X, "gibbs", rng)
        before = chain.rows.leaf.copy(), chain.rows.component.copy()
        totals = redraw_at_once(chain, rng)
        again = setting.chain(chain.state(), X, "gibbs", rng)
        ours, theirs = (workspace.compact(one.ws) for one in (chain, again))
        for name, places in (("n_under", "slots"), ("held", "columns")):
            np.testing.assert_array_equal(
                getattr(chain.ws, name)[getattr(ours, places)],
                getattr(again.ws, name)[getattr(theirs, places)],
            )
        np.testing.assert_allclose(totals.sums[ours.columns], again.sums[theirs.columns])
        after = chain.rows.leaf, chain.rows.component
        moved = (before[0] != after[0]) | (before[1] != after[1])
        assert totals.moved == moved.sum() > 0


def test_rows_in_two_places_draw_what_they_draw_in_one():
    """Random numbers belong to (key, row): a block draws the same wherever it lives."""
    u = reference.numbers_of(np.arange(6), key=5)
    np.testing.assert_array_equal(u[4:], reference.numbers_of(np.array([4, 5]), key=5))
    assert (reference.numbers_of(np.arange(6), key=6) != u).all()
