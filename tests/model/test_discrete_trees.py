"""Which families a diffusing tree takes, and starts of those with logits."""

import numpy as np
import pytest
from scipy.special import gammaln

from bhmc import priors
from bhmc.likelihoods import (
    AdaptiveGaussian,
    Bernoulli,
    Categorical,
    Gaussian,
    Multinomial,
    Poisson,
    Product,
    SharedGaussian,
    names_with_places,
)
from bhmc.model.diffused.row_numbers import row_numbers, split_room
from bhmc.model.diffused.row_stage import RowStage
from bhmc.model.diffused.setting import Diffused, GaussianNodes
from bhmc.rows.local import LocalRows
from tests.exact.discrete_trees import SETTINGS
from tests.mutants.diffused_parts import plain

PLAIN = plain()


@pytest.mark.parametrize(
    ("likelihood", "who"),
    [
        (Poisson(), "Poisson has none"),
        (Multinomial, "Multinomial has none"),
        (AdaptiveGaussian(), "AdaptiveGaussian has none"),
        (Gaussian(priors.InverseGamma(2, 1)), "Gaussian with a prior of sigma2 has none"),
        (Product([(Bernoulli(), [0]), (Poisson(), [1])]), "Poisson in Product has none"),
        (Product([("gaussian", [0])]), '"gaussian" in Product has none'),
    ],
)
def test_families_without_a_place_are_refused_with_those_that_have_one(likelihood, who):
    with pytest.raises(ValueError, match=who) as error:
        GaussianNodes().check(likelihood, 2, "gibbs")
    assert f"use one of {', '.join(names_with_places())}, a Product" in str(error.value)


MIXED = Product([(Bernoulli(), [0, 1]), (Categorical(1.0, 3), [2]), (SharedGaussian(), [3])])


@pytest.mark.parametrize("kind", [Diffused, GaussianNodes])
def test_a_start_places_components_where_their_rows_are(kind):
    """Two groups that differ in every column stay apart; a state and back is the same state."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    X = np.column_stack([group, 1 - group, 2 * group, 5.0 * group + rng.normal(0, 0.1, 80)])
    transition = kind(kappa=0.5)
    rows = LocalRows(MIXED.prepare(X))
    rows.turn_to(rows.family.start_shared())
    state = transition.start(rows, group[:, None], n_levels=2, rng=rng)
    p = 1 / (1 + np.exp(-state.theta[state.components][:, :2]))
    assert (np.abs(p - X[:, :2]) < 0.35).all()
    codes = np.exp(state.theta[state.components][:, 2:5])
    assert (codes.argmax(axis=1) == X[:, 2]).all()
    np.testing.assert_allclose(codes.sum(axis=1), 1)
    chain = transition.sampler(state, rows, "gibbs", rng)
    np.testing.assert_allclose(chain.state().theta, state.theta, atol=1e-9)
    np.testing.assert_allclose(chain.state().params.locations, state.params.locations, atol=1e-9)
    for _ in range(3):
        chain.sweep()
    assert np.isfinite(chain.log_likelihood())
    assert np.isfinite(chain.log_prior())


def test_a_chain_of_logits_resumes_bit_for_bit():
    rng = np.random.default_rng(2)
    X = (rng.random((30, 3)) < 0.4).astype(float)
    transition, rows = Diffused(), LocalRows(Bernoulli.scaled_to(X).prepare(X))
    state = transition.start(rows, None, n_levels=2, rng=rng)
    chain = transition.sampler(state, rows, "gibbs", np.random.default_rng(5))
    chain.sweep()
    captured, at = chain.capture(), chain.rng.bit_generator.state
    chain.sweep()
    again = np.random.default_rng(9)
    again.bit_generator.state = at
    other = transition.resume(captured, LocalRows(rows.family), "gibbs", again)
    other.sweep()
    np.testing.assert_array_equal(chain.state().theta, other.state().theta)


def test_a_state_stays_as_it_is_while_its_chain_goes_on():
    """Logits are their own coordinates: a state must not hold the arrays of the chain."""
    rng = np.random.default_rng(3)
    rows = LocalRows(Bernoulli().prepare((rng.random((30, 3)) < 0.5).astype(float)))
    transition = Diffused(kappa=0.5)
    state = transition.start(rows, None, n_levels=2, rng=rng)
    chain = transition.sampler(state, rows, "gibbs", rng)
    state = chain.state()
    before = state.theta.copy(), state.params.locations.copy()
    for _ in range(3):
        chain.sweep()
    np.testing.assert_array_equal(state.theta, before[0])
    np.testing.assert_array_equal(state.params.locations, before[1])


def test_columns_of_one_category_have_nothing_to_place():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="two categories"):
        Diffused().start(
            LocalRows(Categorical().prepare(X)), None, n_levels=1, rng=np.random.default_rng(0)
        )


@pytest.mark.parametrize("name", SETTINGS)
def test_rows_of_logits_are_what_the_family_says(name):
    """Columns of what begins in a tile, and ratios of atoms that split."""
    setting, rng = SETTINGS[name], np.random.default_rng(3)
    for _ in range(4):
        chain = setting.chain(*setting.prior_draw(rng), "gibbs", rng)
        family, n = chain.rows.family, chain.rows.n_rows
        numbers, room = row_numbers(family, slice(0, n)), split_room(n, 1)
        stage, forest = RowStage(chain), chain.forest
        for n_rows in chain.rows.tiles():
            tables = stage._tables(n_rows, numbers)
        n_old = tables.atoms.shape[1], tables.nodes.shape[1]
        z = int(forest.leaf[0])
        PLAIN.begin_atom(forest, numbers, tables, 0, 0, rng)
        new = stage._tables(n_rows, numbers)
        for old, after, young in zip(n_old, new[:2], tables[2:4], strict=True):
            np.testing.assert_allclose(
                young[1:, : after.shape[1] - old], after[1:, old:], rtol=1e-9, atol=1e-9
            )
        room.member[:], room.side[:] = np.arange(n), rng.permutation(n) % 2
        found = PLAIN.log_ratio_of_sides(forest, numbers, room, n, z, 1.0)
        t = chain.rows.take(np.arange(n))
        sides = [t[room.side == 0].sum(axis=0), t[room.side == 1].sum(axis=0), t.sum(axis=0)]
        log_m = family.log_evidence_at(np.array(sides), forest.location[z], forest.variance[-1])
        prior = gammaln([(room.side == 0).sum(), (room.side == 1).sum(), n]) @ [1, 1, -1]
        assert found == pytest.approx(log_m @ [1, 1, -1] + prior, rel=1e-9, abs=1e-9)
