"""Numbers of rows that chains draw, weights or missing entries, go with a chain that resumes."""

import numpy as np
import pytest

from bhmc.rows.local import LocalRows
from tests.exact import diffused, discrete_trees
from tests.exact.alarm import rng_for

SETTINGS = {
    "weights": diffused.SETTINGS["tails"],
    "entries": diffused.SETTINGS["tied holes"],
    "entries beside bits": discrete_trees.SETTINGS["mixed tied, holes"],
}


def chain_and_rows(name):
    """A chain after three sweeps, and its rows."""
    state, rows = SETTINGS[name].prior_draw(rng_for(257))
    chain = SETTINGS[name].chain(state, rows, "gibbs", np.random.default_rng(0))
    for _ in range(3):
        chain.sweep()
    return chain, rows


def resumed(name, captured, rows, rng):
    family = SETTINGS[name].likelihood.prepare(rows)
    return SETTINGS[name].transition.resume(captured, LocalRows(family), "gibbs", rng)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_chain_resumes_bit_for_bit(name):
    chain, rows = chain_and_rows(name)
    again = np.random.default_rng()
    again.bit_generator.state = chain.rng.bit_generator.state
    other = resumed(name, chain.capture(), rows, again)
    for _ in range(3):
        assert chain.sweep() == other.sweep()
    np.testing.assert_array_equal(chain.family.latent, other.family.latent)
    np.testing.assert_array_equal(chain.state().theta, other.state().theta)
    assert chain.log_likelihood() == other.log_likelihood()


def test_numbers_of_an_older_checkpoint_are_found_under_their_old_name():
    chain, rows = chain_and_rows("weights")
    captured = chain.capture()
    captured["weights"] = captured.pop("latent")
    other = resumed("weights", captured, rows, np.random.default_rng())
    np.testing.assert_array_equal(chain.family.latent, other.family.latent)
