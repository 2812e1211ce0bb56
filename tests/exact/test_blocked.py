"""The sampler "blocked" leaves the joint law of both transitions alone; wrong versions do not."""

import numpy as np
import pytest

from bhmc.model.diffused import gathered_splits
from bhmc.model.diffused.blocked import BlockedDiffusedSampler
from bhmc.model.diffused.setting import MOVES
from bhmc.model.hdp.blocked import BlockedHdpSampler
from bhmc.rows import block_pass, local
from bhmc.rows.protocol import Totals
from tests.exact.alarm import P_LIMIT, Z_LIMIT, rng_for, z_scores
from tests.exact.diffused import SETTINGS
from tests.exact.geweke import Setting, from_prior, from_sweeps
from tests.exact.invariance import paired_z
from tests.exact.test_branch import SEVERAL
from tests.exact.test_diffused import SLOW, geweke_z, rounds_z, visits_z
from tests.exact.test_visits import CASES, SINGLE, _check_long_chain, _one_sweep_p, _Problem

N_DRAWS, N_LONG, N_GEWEKE = 800, 10_000, 20_000
FORMS = {"infinite": None, "finite": 4}
# Known noise, a noise that is learned, missing entries, leaves that are atoms, weights of rows.
DIFFUSED = ("loose", "clear, deep", "diagonal holes", "gaussian spherical", "tails")


def worst(setting, stage, n_draws, seed, until=np.inf):
    z = paired_z(setting, "blocked", stage, n_draws, rng_for(seed), until=until)
    print(f"{stage}: |z| {np.abs(z).max():.1f}")
    return np.abs(z).max()


@pytest.mark.parametrize("form", FORMS)
def test_exact_draws_stay_exact(form):
    assert worst(Setting(FORMS[form]), "redraw_data", N_DRAWS, 301) < Z_LIMIT


@pytest.mark.parametrize("where", DIFFUSED)
def test_exact_draws_of_the_diffused_transition_stay_exact(where):
    assert worst(SETTINGS[where].with_moves(), "redraw_rows", N_DRAWS // 2, 302) < Z_LIMIT


@pytest.mark.parametrize("move", ["split", "branch"])
def test_exact_draws_stay_exact_where_rows_are_gathered(move):
    assert worst(SEVERAL.with_moves(move), "redraw_atoms", N_DRAWS // 2, 312) < Z_LIMIT


@pytest.mark.parametrize("move", ["split", "branch"])
def test_atoms_that_are_too_large_are_left_alone_both_ways(move, monkeypatch):
    """Splits of atoms that no merge may undo would be noticed."""
    monkeypatch.setattr(gathered_splits, "MOST_NUMBERS", 4 * SEVERAL.n_features)
    assert worst(SEVERAL.with_moves(move), "redraw_atoms", N_DRAWS // 2, 313) < Z_LIMIT
    wrong = lambda chain, i, j: chain.forest.count[i.atom] > 4  # noqa: E731
    monkeypatch.setattr(gathered_splits, "_is_too_large", wrong)
    given = SEVERAL.with_moves(move), "redraw_atoms", 4 * N_DRAWS, 314
    assert worst(*given, until=Z_LIMIT) > Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("stage", ["redraw_data", "sweep"])
@pytest.mark.parametrize("form", FORMS)
def test_exact_draws_stay_exact_long(form, stage):
    assert worst(Setting(FORMS[form]), stage, 4 * N_LONG, 303) < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("stage", ["redraw_rows", "sweep"])
@pytest.mark.parametrize("where", SETTINGS)
def test_exact_draws_of_the_diffused_transition_stay_exact_long(where, stage):
    assert worst(SETTINGS[where], stage, N_LONG, 304) < Z_LIMIT


# ---- Geweke ------------------------------------------------------------------------------------


def geweke_of_hdp(form, n_draws, seed):
    setting = Setting(FORMS[form])
    chain = from_sweeps(setting, "blocked", n_draws, rng_for(seed))
    return z_scores(from_prior(setting, n_draws, rng_for(1)), chain)


def test_sweeps_and_fresh_data_have_the_law_of_the_prior():
    assert np.abs(geweke_of_hdp("infinite", 2_000, 305)).max() < Z_LIMIT
    assert np.abs(rounds_z("known", MOVES, 150, 6, rng_for(306), "blocked")).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("form", FORMS)
def test_geweke_long(form):
    z = geweke_of_hdp(form, 2 * N_GEWEKE, 307)
    print(f"{form}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("where", [where for where in SETTINGS if where not in SLOW])
def test_geweke_of_the_diffused_transition_long(where):
    z = geweke_z(where, MOVES, N_GEWEKE, 2 * N_GEWEKE, 308, "blocked")
    print(f"{where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("where", SLOW)
def test_rounds_of_slow_settings(where):
    z = rounds_z(where, MOVES, 1_500, 15, rng_for(309), "blocked")
    print(f"{where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


# ---- Visits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_levels", "n_components"), [(4, 1, None), (3, 2, 2)])
def test_one_sweep_from_exact_draws(n, n_levels, n_components):
    assert (n, n_levels, n_components) in SINGLE
    assert _one_sweep_p(_Problem(n, n_levels, n_components), "blocked", 800) > P_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize(("n", "n_levels", "n_components"), CASES)
def test_longer_chain_visits(n, n_levels, n_components):
    _check_long_chain(_Problem(n, n_levels, n_components), "blocked", 200_000)


def test_all_trees_are_visited_as_often_as_they_must():
    z = visits_z("three", MOVES, 4_000, sampler="blocked")
    assert np.abs(z).max() < Z_LIMIT


@pytest.mark.exact_long
@pytest.mark.parametrize("where", ["two", "three", "four", "gaussian four"])
def test_all_trees_are_visited_as_often_as_they_must_long(where):
    z = visits_z(where, MOVES, 40_000, sampler="blocked")
    print(f"{where}: |z| {np.abs(z).max():.1f}")
    assert np.abs(z).max() < Z_LIMIT


# ---- Wrong versions ----------------------------------------------------------------------------


def no_anchors(monkeypatch):
    """All leaves and components that rows are at are open, so that the move has no way back."""

    def all_of_hdp(chain, key, rate):
        return np.unique(chain.rows.leaf), np.unique(chain.rows.component)

    monkeypatch.setattr(BlockedHdpSampler, "opened", all_of_hdp)
    monkeypatch.setattr(
        BlockedDiffusedSampler, "opened", lambda chain, *_: np.unique(chain.rows.component)
    )


def rows_outside_move(monkeypatch):
    """A row whose leaf or component is closed moves in, and cannot move out again."""
    true = block_pass.places_of

    def wrong(menu, shape):
        place, is_open = true(menu, shape)
        return np.maximum(place, 0), np.ones_like(is_open)

    monkeypatch.setattr(block_pass, "places_of", wrong)


def last_block_lost(monkeypatch):
    """What the last block adds up to never arrives."""
    true = local.in_order

    def wrong(work, blocks, n_threads):
        *first, last = true(work, blocks, n_threads)
        if not isinstance(last, Totals):  # what anchors occupy
            return [*first, last]
        return [*first, last._replace(counts=0 * last.counts, sums=0 * last.sums)]

    monkeypatch.setattr(local, "ROWS_PER_BLOCK", 3)
    monkeypatch.setattr(local, "in_order", wrong)


class HdpAtOnce(BlockedHdpSampler):
    """All rows at once, then what is drawn from their totals."""

    def judged(self):
        self.redraw_at_once()
        self.redraw_theta()


class DiffusedAtOnce(BlockedDiffusedSampler):
    """Likewise."""

    def judged(self):
        self.tidy()
        self.redraw_at_once()
        self.redraw_tree()


@pytest.fixture
def judged(monkeypatch):
    """Chains have a method `judged`."""
    monkeypatch.setattr(BlockedHdpSampler, "judged", HdpAtOnce.judged, raising=False)
    monkeypatch.setattr(BlockedDiffusedSampler, "judged", DiffusedAtOnce.judged, raising=False)


BOTH = {"hdp": Setting(), "diffused": SETTINGS["loose"].with_moves()}


@pytest.mark.parametrize("transition", BOTH)
@pytest.mark.parametrize("wrong", [None, no_anchors, rows_outside_move, last_block_lost])
def test_wrong_versions_are_noticed(transition, wrong, judged, monkeypatch):
    if wrong is None:
        assert worst(BOTH[transition], "judged", N_DRAWS, 310) < Z_LIMIT
        return
    wrong(monkeypatch)
    assert worst(BOTH[transition], "judged", 4 * N_DRAWS, 311, until=Z_LIMIT) > Z_LIMIT
