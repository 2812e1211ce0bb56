"""A start settles: the tree is planted anew over the components found, if that is more probable."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bhmc._estimator.chain_run import transition_chain
from bhmc._sampling.settled_start import settled, sweeps_to_settle, wards_trees
from bhmc.datasets import make_diffused_hierarchy
from bhmc.likelihoods import Bernoulli, by_name
from bhmc.model.diffused import reference, replanting
from bhmc.model.diffused.setting import Diffused
from bhmc.model.hyper import Hyper
from bhmc.rows.local import LocalRows

TRANSITION = Diffused(Hyper(0.005, 1.0, 0.005), kappa=1.0)


@pytest.fixture(scope="module")
def hierarchy():
    """4 x 3 x 3 groups far apart in 8 columns: levels 1, 2 and the components of a tree."""
    return make_diffused_hierarchy(n_features=8, noise=0.35, steps=(10, 4.5, 1.6), random_state=3)


def chain_from(data, labels, seed=0):
    """A chain whose tree has these groups at levels 1 and 2, and as its components."""
    family = by_name("tied_gaussian", data).prepare(data)
    rows = LocalRows(family, "float64")
    rng = np.random.default_rng(seed)
    rows.turn_to(family.start_shared())
    state = TRANSITION.start(rows, labels, n_levels=2, rng=rng)
    return TRANSITION.sampler(state, rows, "gibbs", rng), rows, rng


def n_top(state):
    """Children of the root."""
    return np.count_nonzero(state.levels == 1)


def a_level_too_low(levels):
    """The second level in place of the first, the components in place of the second."""
    return levels[:, [1, 2, 2]]


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_that_is_a_level_too_low_is_planted_anew(hierarchy, seed):
    chain, _, _ = chain_from(hierarchy.data, a_level_too_low(hierarchy.levels), seed)
    assert n_top(chain.state()) == 12
    state = TRANSITION.replanted(chain, wards_trees)
    assert adjusted_rand_score(hierarchy.levels[:, 1], state.paths[:, 2]) > 0.85
    assert n_top(state) <= 7


def test_the_rows_of_components_stay_together(hierarchy):
    chain, _, _ = chain_from(hierarchy.data, a_level_too_low(hierarchy.levels))
    before = chain.state().components
    after = TRANSITION.replanted(chain, wards_trees).components
    assert adjusted_rand_score(before, after) == 1.0


def test_the_tree_of_the_chain_is_kept_where_others_are_worse(hierarchy):
    def one_group(places, counts, noise, *, n_levels):
        return [np.zeros((len(places), n_levels), dtype=int)]

    chain, _, _ = chain_from(hierarchy.data, hierarchy.levels)
    state = TRANSITION.replanted(chain, one_group)
    assert n_top(state) >= 3


def test_what_is_compared_is_the_law_of_tree_and_evidence(hierarchy):
    chain, _, _ = chain_from(hierarchy.data, hierarchy.levels)
    found = replanting.log_tree_of_atoms(chain)
    slow = reference.log_joint(chain.forest, *chain.rates)
    np.testing.assert_allclose(found, slow + chain.steps.log_density(chain.variances), rtol=1e-10)


def test_atoms_are_where_their_rows_are(hierarchy):
    chain, rows, _ = chain_from(hierarchy.data, hierarchy.levels)
    atoms = replanting.atoms_of(chain)
    assert atoms is not None
    np.testing.assert_array_equal(atoms.counts, np.bincount(rows.component))
    means = [hierarchy.data[rows.component == k].mean(axis=0) for k in range(len(atoms.counts))]
    np.testing.assert_allclose(chain.family.leave(atoms.places), means, atol=1e-8)
    assert atoms.noise == pytest.approx(8)  # in units of the noise, a coordinate counts 1


def test_logits_and_single_components_have_no_other_tree():
    rng = np.random.default_rng(0)
    family = Bernoulli().prepare((rng.random((30, 5)) < 0.4).astype(float))
    rows = LocalRows(family, "float64")
    rows.turn_to(family.start_shared())
    state = TRANSITION.start(rows, np.arange(30)[:, None] % 3, n_levels=2, rng=rng)
    chain = TRANSITION.sampler(state, rows, "gibbs", rng)
    assert replanting.atoms_of(chain) is None
    assert settled(TRANSITION, chain, rows, "gibbs", rng, 20) is chain  # nothing is drawn
    np.testing.assert_array_equal(chain.state().paths, state.paths)
    one = np.zeros((20, 1), dtype=int)
    assert replanting.atoms_of(chain_from(rng.normal(size=(20, 3)), one)[0]) is None


def test_one_of_wards_trees_has_the_levels(hierarchy):
    places = np.array([hierarchy.data[hierarchy.levels[:, 2] == k].mean(axis=0) for k in range(36)])
    trees = wards_trees(places, np.full(36, 25), 8 * 0.35**2, n_levels=2)
    truth = [[hierarchy.levels[hierarchy.levels[:, 2] == k][0, 1]] for k in range(36)]
    scores = [adjusted_rand_score(np.ravel(truth), tree[:, 1]) for tree in trees]
    assert max(scores) > 0.85  # Ward takes two groups for one
    assert len({tuple(tree.max(axis=0)) for tree in trees}) == len(trees)  # each once


def test_too_few_wide_steps_have_no_tree():
    places = np.random.default_rng(0).normal(scale=0.01, size=(5, 3))
    assert wards_trees(places, np.full(5, 10), 3.0, n_levels=2) == []


@pytest.mark.parametrize(
    ("n_rows", "n_warmup", "sweeps"),
    [(100, 200, 40), (100, 20, 20), (100, 5, 0), (2_000, 200, 20), (4_001, 200, 0)],
)
def test_sweeps_of_a_start(n_rows, n_warmup, sweeps):
    assert sweeps_to_settle(n_rows, n_warmup) == sweeps


def test_without_sweeps_a_chain_stays_at_its_start(hierarchy):
    chain, rows, rng = chain_from(hierarchy.data, hierarchy.levels)
    assert settled(TRANSITION, chain, rows, "gibbs", rng, 0) is chain


def test_a_settled_chain_is_a_function_of_its_seed(hierarchy):
    data = hierarchy.data[::5]
    family = by_name("tied_gaussian", data).prepare(data)

    def state():
        rng = np.random.default_rng(7)
        return transition_chain(
            rng,
            None,
            lambda: False,
            family=family,
            transition=TRANSITION,
            n_levels=2,
            sampler="gibbs",
            init="single",
            precision="float64",
            n_settling=15,
        ).state()

    one, other = state(), state()
    np.testing.assert_array_equal(one.paths, other.paths)
    np.testing.assert_array_equal(one.theta, other.theta)
