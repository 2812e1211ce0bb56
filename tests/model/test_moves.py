"""Block moves: the compiled ones equal their slow twins, and leave everything in order."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc.likelihoods import Gaussian
from bhmc.model.hdp import dishes, kernels, moves, reference
from bhmc.model.hdp import workspace as _workspace
from bhmc.model.hdp.sampler import HdpSampler
from bhmc.model.hdp.setting import Hdp
from bhmc.model.registry import with_moves
from tests.exact.geweke import Setting
from tests.model.test_twin import _check_bookkeeping, _check_same_state
from tests.mutants.mutants import build

ALL = moves.NAMES


@pytest.fixture(autouse=True)
def _dishes_in_every_sweep(monkeypatch):
    monkeypatch.setattr(moves, "SWEEPS_PER_DISHES", 1)


def run(setting, state, X, engine, seed, names, n_sweeps=3):
    chain = setting.chain(
        state, X, "gibbs", np.random.default_rng(seed), engine=engine, moves=names
    )
    infos = [chain.sweep() for _ in range(n_sweeps)]
    return chain, infos, chain.rng.random()


def check_same_draws(setting, seed, names):
    """Both engines from one start; returns the infos of the sweeps."""
    state, X = setting.prior_draw(np.random.default_rng(seed))
    (fast, infos, fast_next), (slow, slow_infos, slow_next) = (
        run(setting, state, X, engine, seed, names) for engine in (kernels, reference)
    )
    assert infos == slow_infos
    assert fast_next == slow_next  # as many random numbers were used
    _check_same_state(fast.state(), slow.state())
    for chain in (fast, slow):
        _check_bookkeeping(chain)
    return infos


@pytest.mark.parametrize("names", [(name,) for name in ALL])
@pytest.mark.parametrize("n_components", [None, 4])
@pytest.mark.parametrize(("n", "n_levels"), [(2, 1), (8, 2), (9, 4)])
def test_same_draws_as_the_slow_twin(n, n_levels, n_components, names):
    setting = Setting(n_components, n=n, n_levels=n_levels)
    for seed in range(2):
        check_same_draws(setting, seed, names)


@pytest.mark.parametrize("n_components", [None, 4])
def test_subtrees_of_some_levels_move_in_deep_trees(n_components):
    check_same_draws(Setting(n_components, n=5, n_levels=12), 0, ("regraft",))


@pytest.mark.parametrize("numbers", [(0.05, 0.2, 5.0), (5.0, 4.0, 0.01), (2.0, 9.0, 60.0)])
@pytest.mark.parametrize("threshold", [2, 256])
def test_same_draws_in_the_corners(numbers, threshold, monkeypatch):
    """Hardly any branch, hardly any weight, and a gamma at which no closed form is used."""
    monkeypatch.setattr(moves, "THRESHOLD", threshold)
    for n_components in (None, 3):
        setting = Setting(n_components, n=10, n_levels=3, numbers=numbers)
        check_same_draws(setting, 1, ALL)


@pytest.mark.parametrize(
    ("name", "where"), [("relocate", "_relocate"), ("regraft", "_regraft"), ("dishes", "_redraw")]
)
def test_room_runs_out_and_is_made(name, where, monkeypatch):
    """What outgrows the workspace in the middle of a move has the draws of a roomy one."""
    calm = Setting(n=20, n_levels=4, numbers=(9.0 if name == "dishes" else 0.3, 1.0, 0.8))
    setting = Setting(n=20, n_levels=4, numbers=(9.0, 400.0, 4.0), sigma2=50.0)
    state, X = calm.prior_draw(np.random.default_rng(0))
    state = state.with_params(hyper=setting.hyper)
    monkeypatch.setattr(HdpSampler, "stages", ("redraw_weights",))  # rows would make room first
    roomy, _, _ = run(setting, state, X, kernels, 1, (name,), 12)
    load, make_room, during = _workspace.load, HdpSampler.make_room, []
    monkeypatch.setattr(_workspace, "load", lambda state: load(state, spare=4 * (name != "dishes")))
    monkeypatch.setattr(_workspace, "grow", _grow_little(_workspace.grow))

    def note(chain):
        during.append(sys._getframe(1).f_code.co_name)
        make_room(chain)

    monkeypatch.setattr(HdpSampler, "make_room", note)
    for engine in (kernels, reference):
        tight, _, _ = run(setting, state, X, engine, 1, (name,), 12)
        _check_same_state(tight.state(), roomy.state())
    assert where in during


def tables_and_totals(engine):
    """Tables of every inner node's children after most components have died, and their totals."""
    many = Setting(n=24, n_levels=3, numbers=(0.7, 40.0, 9.0))
    setting = Setting(n=24, n_levels=3, numbers=(0.7, 0.05, 0.5), sigma2=50.0)
    state, X = many.prior_draw(np.random.default_rng(0))
    state, rng = state.with_params(hyper=setting.hyper), np.random.default_rng(1)
    chain = setting.chain(state, X, "gibbs", rng, engine=engine, moves=("regraft",))
    chain.sweep()
    before = int(chain.ws.room[_workspace.WIDTH])
    chain.sweep()  # it numbers columns anew: fewer are in use, and the others hold old tables
    width, space, ws = int(chain.ws.room[_workspace.WIDTH]), chain._moves._space, chain.ws
    assert width < before
    inner = np.flatnonzero((ws.level > 0) & (ws.level < 3))
    added = [space.tables[ws.parent == z, :width].sum() for z in inner]
    return added, space.totals[inner].tolist()


def test_tables_of_components_that_are_gone_do_not_count():
    added, totals = tables_and_totals(kernels)
    assert added == totals
    wrong = build(
        (
            (
                "    for k in range(1, ws.room[WIDTH]):\n        customers[a, k] +=",
                "    for k in range(1, tables.shape[1]):\n        customers[a, k] +=",
            ),
        )
    )
    added, totals = tables_and_totals(wrong)
    assert added != totals


def test_tables_run_out_and_are_made(monkeypatch):
    setting = Setting(n=12, n_levels=3)
    monkeypatch.setattr(dishes, "_FEW_TABLES", 2)
    check_same_draws(setting, 0, ("dishes",))


def _grow_little(grow):
    return lambda ws, slots, columns: grow(
        ws, len(ws.level) + int(ws.room[_workspace.DEPTH]), columns
    )


def test_without_moves_nothing_is_drawn():
    setting = Setting(n=8)
    state, X = setting.prior_draw(np.random.default_rng(0))
    plain = setting.chain(state, X, "gibbs", np.random.default_rng(1))
    plain.sweep()
    _, _, after = run(setting, state, X, kernels, 1, (), 1)
    assert plain.rng.random() == after


def test_which_moves_run():
    assert moves.chosen_moves("auto", "gibbs", 3) == ALL
    assert moves.chosen_moves("auto", "paper", 3) == ()
    assert moves.chosen_moves("auto", "mh", 1) == tuple(name for name in ALL if name != "regraft")
    assert moves.chosen_moves(["regraft"], "gibbs", 2) == ("regraft",)


@pytest.mark.parametrize("wrong", ["relocate", "none", ("graft",), 3, (1,), None])
def test_wrong_names_are_refused(wrong):
    with pytest.raises(ValueError, match="moves must be 'auto' or a tuple of names"):
        moves.check_moves(wrong)


def test_the_published_sampler_refuses_moves():
    with pytest.raises(ValueError, match="has no block moves"):
        Hdp(moves=("regraft",)).check(Gaussian(), 2, "paper")
    Hdp(moves="auto").check(Gaussian(), 2, "paper")


def test_a_transition_without_moves_refuses_them():
    class Without:
        name = "plain"

    plain = Without()
    assert with_moves(plain, "auto") is with_moves(plain, []) is plain
    with pytest.raises(ValueError, match="transition='plain' has no block moves"):
        with_moves(plain, ("regraft",))


def test_the_estimator_hands_them_on(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    how = {"n_levels": 2, "n_chains": 1, "n_warmup": 2, "n_draws": 4, "random_state": 0}
    how["transition"] = "hdp"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = {
            moves: bhmc.BHMC(moves=moves, **how).fit(X) for moves in ("auto", (), ALL, ("regraft",))
        }
    joint = {moves: tuple(fit.draws_.log_joint.ravel()) for moves, fit in fits.items()}
    assert joint["auto"] == joint[ALL]
    assert len({joint["auto"], joint[()], joint["regraft",]}) == 3
    fits["regraft",].save(tmp_path / "model.bhmc")
    assert bhmc.BHMC.load(tmp_path / "model.bhmc").moves == ("regraft",)
    with pytest.raises(ValueError, match="moves must be 'auto'"):
        bhmc.BHMC(moves="regraft", **how).fit(X)
