"""A chain that is stopped three times and goes on from its file ends where it would have ended.

Bit for bit: node and row arrays in their order, sums, natural parameters, the generator and every
number that was recorded. With any captured item left out the end is another.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from studies.same_draws import data
from studies.same_draws.fits import FORMS, SAMPLERS, forms_of

import bhmc
from bhmc._estimator.chain_run import Task, run_chain, transition_chain, unbegun
from bhmc._estimator.checkpoint import Checkpoint, SavedChain
from bhmc._estimator.progress import Interrupts
from bhmc.model.hdp import workspace
from bhmc.model.hdp.setting import Hdp
from bhmc.posterior.retention import Plan
from bhmc.rows import local

N_WARMUP, N_DRAWS = 7, 30
# In the warm-up; beyond the passes that compact slots and columns; near the end.
STOPS = (3, 20, 34)


def task_of(likelihood, X, sampler, form, precision="float64") -> Task:
    """A chain of 37 sweeps."""
    given = FORMS[form]
    hyper = bhmc.Hyper(
        given["alpha"], given["gamma0"], given["gamma"], n_components=given["fixed_components"]
    )
    chain = partial(
        transition_chain,
        family=likelihood.prepare(X),
        transition=Hdp().bind(hyper, given["hyper"]),
        n_levels=2,
        sampler=sampler,
        init=SAMPLERS[sampler],
        precision=precision,
    )
    as_paper = given["hyper"] == "paper"
    return Task(chain, n_warmup=N_WARMUP, n_draws=N_DRAWS, plan=Plan(), as_paper=as_paper)


def resumed(task, captured, rng):
    """The chain that goes on."""
    return task.make_chain(rng, captured, lambda: False)


def end_of(task: Task, path, stops=(), read=SavedChain.read) -> Checkpoint:
    """The last file of a chain that was stopped after so many sweeps and went on each time."""
    saved = SavedChain(path, 0, {}, task.plan)
    saved.read = lambda: read(saved)
    for stop in (*stops, None):
        before = saved.read() or unbegun(task, np.random.SeedSequence(5))
        run_chain(task, before, 0, Interrupts(), [_stop_at(stop)], saved)
    return SavedChain.read(saved)


def _stop_at(sweep):
    return lambda number, chain, made: made == sweep


def unlike(one, other, name="") -> list[str]:
    """The names of all that differs between two values, in any bit."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        return [found for key in one for found in unlike(one[key], other[key], f"{name}/{key}")]
    one, other = np.asarray(one), np.asarray(other)
    same = one.dtype == other.dtype and one.shape == other.shape
    same = same and (one.dtype == object or one.tobytes() == other.tobytes())
    return [] if same and (one.dtype != object or (one == other).all()) else [name]


def differences(one: Checkpoint, other: Checkpoint) -> list[str]:
    """Everything in which two chains are not the same."""
    found = unlike(one.captured, other.captured)
    found += unlike(one.rng.bit_generator.state, other.rng.bit_generator.state, "rng")
    for name in ("rows", "warmup_learned", "warmup_shared", "best"):
        ours, theirs = (pickle.dumps(getattr(end.recorder, name)) for end in (one, other))
        found += [] if ours == theirs else [name]
    return found if one.made == other.made else [*found, "made"]


def check(task, tmp_path):
    whole = end_of(task, tmp_path / "whole")
    assert whole.made == N_WARMUP + N_DRAWS
    assert differences(whole, end_of(task, tmp_path / "parts", STOPS)) == []


@pytest.mark.parametrize(
    ("sampler", "form"), [(sampler, form) for sampler in SAMPLERS for form in forms_of(sampler)]
)
def test_every_sampler_in_every_form(sampler, form, tmp_path):
    check(task_of(data.FAMILIES["adaptive"], data.rows_of("adaptive"), sampler, form), tmp_path)


@pytest.mark.parametrize("family", data.FAMILIES)
def test_every_family(family, tmp_path):
    X = data.rows_of(family)
    if family in data.ALLOW_MISSING:
        X = data.with_gaps(X)
    check(task_of(data.FAMILIES[family], X, "gibbs", "learned"), tmp_path)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("family", ["gaussian-scalar", "shared", "full"])
def test_rows_far_away(family, sampler, tmp_path):
    """Sums from which a far row was subtracted are not those of the rows that are left."""
    check(task_of(data.FAMILIES[family], data.far_rows(family), sampler, "infinite"), tmp_path)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("family", ["bernoulli", "multinomial-sparse", "mixed"])
def test_several_tiles(family, sampler, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "tile_height", lambda n_statistics: 8)
    task = task_of(data.FAMILIES[family], data.rows_of(family), sampler, "infinite", "float32")
    check(task, tmp_path)


# ---- Nothing may be left out ----


def _change(**items):
    """A capture with other items."""
    return lambda now, task: now._replace(
        captured={
            **now.captured,
            **{name: change(now.captured[name]) for name, change in items.items()},
        }
    )


def _logarithms_from_weights(arrays):
    with np.errstate(divide="ignore"):
        return {**arrays, "log_beta": np.log(arrays["beta"])}


def _free_slots_in_order(arrays):
    """As a workspace that was made anew would hand them out."""
    n_free = arrays["room"][workspace.FREE_SLOTS]
    free = np.concatenate([np.sort(arrays["free"][:n_free])[::-1], arrays["free"][n_free:]])
    return {**arrays, "free": free}


def _from_the_state(now, task):
    """Nodes and components numbered as in the state: what files of format 1 did."""
    chain, transition = resumed(task, now.captured, now.rng), task.make_chain.keywords["transition"]
    fresh = transition.sampler(chain.state(), chain.rows, "gibbs", now.rng).capture()
    return now._replace(captured={**fresh, "passes": now.captured["passes"]})


def _sums_anew(now, task):
    """Sums of the rows themselves."""
    sums = np.zeros_like(now.captured["sums"])
    family = task.make_chain.keywords["family"]
    statistics = family.statistics(slice(0, family.n_rows))
    local.add_statistics(statistics, now.captured["component"], sums)
    return now._replace(captured={**now.captured, "sums": sums})


LEFT_OUT = {
    "the order of nodes and components": _from_the_state,
    "the order of free slots": _change(workspace=_free_slots_in_order),
    "logarithms of weights": _change(workspace=_logarithms_from_weights),
    "sums": _sums_anew,
    "natural parameters": _change(natural=np.zeros_like),
    "theta": _change(theta=np.zeros_like),
    "concentrations": _change(hyper=lambda hyper: {**hyper, "alpha": 0.7}),
    "passes": _change(passes=lambda passes: 0),
    "generator": lambda now, task: now._replace(rng=np.random.default_rng(5)),
}


@pytest.mark.parametrize("item", LEFT_OUT)
def test_nothing_may_be_left_out(item, tmp_path):
    X = data.rows_of("gaussian-scalar", 60) / 3  # so near each other that many rows move
    task = task_of(data.FAMILIES["gaussian-scalar"], X, "gibbs", "learned")

    def read(saved):
        now = SavedChain.read(saved)
        return now if now is None else LEFT_OUT[item](now, task)

    whole = end_of(task, tmp_path / "whole")
    assert differences(whole, end_of(task, tmp_path / "parts", STOPS, read))


def test_shared_numbers_may_not_be_left_out(tmp_path):
    task = task_of(data.FAMILIES["shared"], data.rows_of("shared"), "gibbs", "learned")

    def read(saved):
        now = SavedChain.read(saved)
        return now if now is None else _change(shared=lambda shared: shared * 1.01)(now, task)

    whole = end_of(task, tmp_path / "whole")
    assert differences(whole, end_of(task, tmp_path / "parts", STOPS, read))


def test_whether_it_still_learns_may_not_be_left_out(tmp_path):
    """The paper's way: nothing is learned after the warm-up."""
    task = task_of(data.FAMILIES["shared"], data.rows_of("shared"), "gibbs", "walk")
    saved = SavedChain(tmp_path / "chain", 0, {}, task.plan)
    run_chain(
        task, unbegun(task, np.random.SeedSequence(5)), 0, Interrupts(), [_stop_at(20)], saved
    )
    now = saved.read()
    learns = resumed(task, {**now.captured, "learns": True}, now.rng)
    learns.redraw_weights()
    assert learns.capture()["hyper"] != now.captured["hyper"]
