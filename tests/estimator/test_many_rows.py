"""Many rows: which sampler and start they get; threads and stops change no draw."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from bhmc import BHMC
from bhmc._estimator.chain_run import Task, run_chain, transition_chain, unbegun
from bhmc._estimator.checkpoint import SavedChain
from bhmc._estimator.progress import Interrupts
from bhmc._estimator.running import bound_to
from bhmc._estimator.sizes import (
    draws_for,
    sampler_for,
    start_for,
    threads_for,
    warmup_of_sample,
)
from bhmc._sampling import sample_start
from bhmc.likelihoods import SharedGaussian
from bhmc.model.diffused.setting import Diffused, GaussianNodes
from bhmc.model.hdp.setting import Hdp
from bhmc.model.state import Hyper, Partition, without_empty
from bhmc.posterior.retention import Plan
from bhmc.rows import local

TRANSITIONS = {one.name: one for one in (Hdp, Diffused, GaussianNodes)}


@pytest.fixture(scope="module")
def groups():
    """Six groups of 60 rows in three columns, far from each other, and their labels."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 60)
    return rng.normal(0, 8, (6, 3))[labels] + rng.standard_normal((360, 3)), labels


def test_many_rows_get_another_sampler_and_start():
    assert chosen(BHMC(), 19_999) == ("gibbs", "kmeans")
    assert chosen(BHMC(), 10**6) == ("blocked", "sample")
    assert chosen(BHMC(hyper="paper"), 10**6) == ("gibbs", "kmeans")
    assert chosen(BHMC(sampler="mh", init="single"), 10**6) == ("mh", "single")
    labels = np.arange(3)
    assert start_for(BHMC(init=labels), Hdp(), 3) is labels
    others = SimpleNamespace(samplers=("own",))
    assert chosen(BHMC(), 10**6, others) == ("own", "kmeans")


def chosen(model, n_rows, transition=Hdp):
    """(sampler, start) of so many rows."""
    return sampler_for(model, transition, n_rows), start_for(model, transition, n_rows)


@pytest.mark.parametrize(
    ("settings", "init", "draws", "warmup"),
    [
        ({}, "kmeans", 300, 200),
        ({}, "sample", 100, 50),
        ({"n_draws": 50, "n_warmup": 9}, "sample", 50, 3),
        ({"n_warmup": 1000}, "sample", 100, 850),
        ({}, np.arange(3), 300, 200),
    ],
)
def test_sweeps_of_a_sample_are_warm_up(settings, init, draws, warmup):
    model = BHMC(**settings)
    assert draws_for(model, init) == draws
    assert model.n_warmup - warmup_of_sample(model, init) == warmup


@pytest.mark.parametrize(
    ("n_jobs", "n_chains", "threads"), [(None, 2, 1), (1, 2, 1), (4, 2, 2), (4, 1, 4), (2, 3, 1)]
)
def test_cores_that_chains_leave_over_are_theirs(n_jobs, n_chains, threads):
    assert threads_for(SimpleNamespace(n_jobs=n_jobs, n_chains=n_chains)) == threads


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_threads_change_no_draw(groups, transition, monkeypatch):
    monkeypatch.setattr(local, "ROWS_PER_BLOCK", 64)
    settings = {"sampler": "blocked", "n_warmup": 5, "n_draws": 6, "n_chains": 1, "random_state": 3}
    one, three = (
        BHMC(transition=transition, likelihood="shared_gaussian", n_jobs=n, **settings)
        .fit(groups[0])
        .draws_
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.log_joint, three.log_joint)
    np.testing.assert_array_equal(one.partitions[-1].leaf, three.partitions[-1].leaf)


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_a_stopped_chain_ends_where_it_would_have_ended(groups, transition, tmp_path):
    bound = TRANSITIONS[transition]().bind(Hyper(0.3, 1.0, 0.3))
    make_chain = partial(
        transition_chain,
        family=SharedGaussian.scaled_to(groups[0]).prepare(groups[0]),
        transition=bound,
        n_levels=2,
        sampler="blocked",
        init="kmeans",
        precision="float64",
    )
    task = Task(make_chain, n_warmup=4, n_draws=20, plan=Plan())
    whole = end_of(task, tmp_path / "whole", ())
    parts = end_of(task, tmp_path / "parts", (3, 11))
    np.testing.assert_equal(parts.recorder.rows, whole.recorder.rows)
    np.testing.assert_array_equal(parts.captured["component"], whole.captured["component"])


def end_of(task, folder, stops):
    """Where a chain is at its end, having been stopped after so many sweeps."""
    folder.mkdir()
    saved = SavedChain(folder, 0, {}, task.plan)
    for stop in (*stops, None):
        before = saved.read() or unbegun(task, np.random.SeedSequence(5))
        listeners = [] if stop is None else [lambda number, chain, made, stop=stop: made == stop]
        with Interrupts() as interrupts:
            ended = run_chain(task, before, 0, interrupts, listeners, saved)
    return ended.chain


# ---- Starts from a sample ----------------------------------------------------------------------


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_a_start_from_a_sample_places_all_rows(groups, transition, monkeypatch):
    monkeypatch.setattr(sample_start, "_FIRST_SAMPLE", 80)
    monkeypatch.setattr(sample_start, "_ROWS_A_COMPONENT", 8)
    X, labels = groups
    likelihood = SharedGaussian.scaled_to(X)
    chain = transition_chain(
        np.random.default_rng(1),
        None,
        lambda: False,
        family=likelihood.prepare(X),
        transition=TRANSITIONS[transition]().bind(Hyper(0.1, 1.0, 0.1)),
        n_levels=2,
        sampler="blocked",
        init="sample",
        precision="float64",
        of_rows=partial(bound_to, likelihood, X),
    )
    state = chain.state()
    assert len(state.components) == len(X)
    assert adjusted_mutual_info_score(labels, state.components) > 0.9
    assert set(state.components) == set(range(state.n_components))
    assert set(state.paths[:, -1]) == set(np.flatnonzero(state.levels == 2))


def test_a_sample_grows_with_the_components_that_it_shows(groups, monkeypatch):
    monkeypatch.setattr(sample_start, "_FIRST_SAMPLE", 20)
    monkeypatch.setattr(sample_start, "_ROWS_A_COMPONENT", 20)
    X, sizes = groups[0], []
    likelihood = SharedGaussian.scaled_to(X)

    def of_rows(rows):
        sizes.append(len(rows))
        return bound_to(likelihood, X, rows)

    rows = local.LocalRows(likelihood.prepare(X))
    transition = Diffused().bind(Hyper(0.1, 1.0, 0.1))
    sample_start.chain_from_sample(
        transition, rows, of_rows, n_levels=2, rng=np.random.default_rng(2)
    )
    assert sizes[:3] == [20, 40, 80]


def test_nodes_and_components_without_rows_go():
    #            0 -> 1 -> (2, 3), 0 -> 4 -> 5
    parents = np.array([-1, 0, 1, 1, 0, 4], dtype=np.int32)
    found = without_empty(Partition(np.array([5, 5, 5]), np.array([7, 2, 7]), parents))
    np.testing.assert_array_equal(found.parents, [-1, 0, 1])
    np.testing.assert_array_equal(found.leaf, [2, 2, 2])
    np.testing.assert_array_equal(found.component, [1, 0, 1])


def test_a_sample_has_the_units_of_all_rows_and_the_number_of_its_own():
    """A family that thought it had all rows would take its noise for a fraction of what it is."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5_000, 3)) @ np.diag([1.0, 2.0, 3.0])
    likelihood, rows = SharedGaussian("full"), np.arange(0, 5_000, 10)
    family, own = bound_to(likelihood, X, rows), likelihood.prepare(X[rows])
    whole = likelihood.prepare(X)
    np.testing.assert_array_equal(
        family.statistics(slice(0, 5)),
        np.concatenate([whole.statistics(slice(i, i + 1)) for i in rows[:5]]),
    )
    noise = []
    for one in (family, own):
        bound = one.at(one.start_shared())
        sums = bound.sums(np.zeros(len(rows), dtype=int), 1)
        drawn = np.mean(
            [bound.draw_shared(bound.draw_theta(sums, rng), sums, rng) for _ in range(50)], axis=0
        )
        noise.append(likelihood.noise_on_tree(drawn, 3))
    np.testing.assert_allclose(np.diag(noise[0]), np.diag(noise[1]), rtol=0.1)
