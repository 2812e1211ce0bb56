"""Transitions as names and as objects, through files; what is wrong with one is said."""

import numpy as np
import pytest

import bhmc
from bhmc import BHMC
from bhmc.model.hdp.setting import Hdp

X = np.random.default_rng(0).normal(size=(20, 2))
SHORT = {"n_levels": 2, "n_warmup": 3, "n_draws": 5, "n_chains": 1, "random_state": 0}


def test_an_object_is_what_its_name_stands_for(tmp_path):
    named = BHMC(transition="hdp", checkpoint=tmp_path / "chain", **SHORT).fit(X)
    model = BHMC(transition=Hdp(), checkpoint=tmp_path / "chain", **SHORT).fit(X)  # only read
    np.testing.assert_array_equal(model.draws_.log_joint, named.draws_.log_joint)
    model.save(tmp_path / "model.bhmc")
    again = BHMC.load(tmp_path / "model.bhmc")
    assert again.transition == Hdp()
    np.testing.assert_array_equal(again.predict(X), named.predict(X))


@pytest.mark.parametrize(
    ("transition", "error", "sentence"),
    [
        (Hdp, TypeError, "transition must be a name or a transition, got <class"),
        (3, TypeError, "transition must be a name or a transition, got 3"),
        ("hpd", ValueError, "transition='hpd' is not known; choose one of 'auto', 'hdp'"),
        (Hdp(bhmc.Hyper(7.0, 7.0, 7.0)), ValueError, "has concentrations of its own: give them as"),
    ],
)
def test_what_is_no_transition_is_refused(transition, error, sentence):
    with pytest.raises(error, match=sentence):
        BHMC(transition=transition, **SHORT).fit(X)


def test_a_transition_that_is_not_registered_is_refused():
    class Other(Hdp):
        name = "other"

    with pytest.raises(ValueError, match="is not registered: add its name to"):
        BHMC(transition=Other(), **SHORT).fit(X)


@pytest.mark.parametrize(
    ("name", "index", "value", "sentence"),
    [
        ("leaf", 0, 50_000_000, "a row is nowhere"),
        ("component", 0, 3_000, "a row is nowhere"),
        ("component", 0, 0, "a row is nowhere"),
        ("parent", 1, 10**9, "parent names a node that does not exist"),
        ("first_child", 0, 10**6, "first_child names a node that does not exist"),
        ("next_sibling", 1, 1, "a node has not one place"),
        ("level", 1, 40, "a node is at a level that does not exist"),
        ("free", 0, -7, "a free slot does not exist"),
        ("room", 2, 10**6, "its room is not that of its arrays"),
        ("held", 1, 10**6, "its components hold other rows"),
    ],
)
def test_a_damaged_capture_is_refused_before_kernels_run(name, index, value, sentence):
    """Kernels check nothing: a wrong number would be read beyond the end of an array."""
    chain, transition, rows = chain_and_rows()
    captured = chain.capture()
    where = captured if name in captured else captured["workspace"]
    where[name][index] = value
    with pytest.raises(ValueError, match=f"the checkpoint is not valid: {sentence}"):
        transition.resume(captured, rows, "gibbs", np.random.default_rng(0))


def test_a_whole_capture_is_taken():
    chain, transition, rows = chain_and_rows()
    resumed = transition.resume(chain.capture(), rows, "gibbs", np.random.default_rng(0))
    np.testing.assert_array_equal(resumed.state().paths, chain.state().paths)


def chain_and_rows():
    from bhmc.rows.local import LocalRows

    likelihood, rng = bhmc.likelihoods.Gaussian(), np.random.default_rng(0)
    hyper = bhmc.Hyper(1.0, 1.0, 1.0)
    state, data = bhmc.sample_prior(
        15, n_levels=2, hyper=hyper, likelihood=likelihood, rng=rng, n_features=2
    )
    family, transition = likelihood.prepare(data), Hdp().bind(hyper)
    chain = transition.sampler(state, LocalRows(family), "gibbs", rng)
    chain.sweep()
    return chain, transition, LocalRows(family)
