"""Densities normalise: summed or integrated over everything they give what enumeration gives."""

from unittest import mock

import numpy as np
import pytest
from scipy.special import gammaln

import bhmc
from bhmc.model import density as log_joint_module
from bhmc.model.hdp import density as _density
from bhmc.model.hdp.density import log_p_tree
from bhmc.model.hdp.params import hdp_state
from tests.exact import enumeration as en
from tests.exact.alarm import Z_LIMIT, rng_for, z_of

NUMBERS = {"gamma0": 1.6, "gamma": 2.1, "sigma2": 0.6, "mu0": 0.1, "sigma0": 1.4}
ALPHA = 0.8
DATA = np.array([[-0.7], [0.2], [1.1]])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_trees_sum_to_one(n, n_levels):
    total = 0.0
    for tree in en.trees(n, n_levels):
        paths, parents = en.nodes_of(tree, n)
        sizes = np.bincount(paths.ravel())
        levels = np.array([np.argwhere(paths == z)[0, 1] for z in range(len(parents))])
        total += np.exp(log_p_tree(sizes, levels, ALPHA))
    assert total == pytest.approx(1, abs=1e-12)


def _cases():
    """One in eleven of all (tree, partition) at n = 3, L = 1 and 2, in both forms.

    A step of 11 meets every partition (there are 5) and every labelling (8). `make exact` has every
    third and every seventh state besides.
    """
    for n_levels, n_components in ((1, None), (2, None), (1, 2), (2, 2)):
        states = [
            (tree, c)
            for tree in en.trees(3, n_levels)
            for c in en.component_labels(3, n_components)
        ]
        for i, key in enumerate(states):
            if i % 11 == 0:
                yield n_levels, n_components, key
            elif i % 3 == 0 or i % 7 == 0:
                yield pytest.param(n_levels, n_components, key, marks=pytest.mark.exact_long)


@pytest.mark.parametrize(("n_levels", "n_components", "key"), list(_cases()))
def test_log_joint_integrates_to_the_enumerated_probability(n_levels, n_components, key):
    """The integral over B and theta, by importance sampling, is p(V) p(c | V) p(X | c)."""
    assert abs(_integral_z(n_components, key)) < Z_LIMIT


@pytest.mark.parametrize("wrong", ["log_p_tree", "log_p_weights", "log_p_components"])
def test_a_wrong_density_is_noticed(wrong, monkeypatch):
    """A forgotten gamma0 (a factor 1.6) in any term spoils the integral of even one state.

    One state alone resolves a factor of about 1.2; smaller errors must show in several.
    """
    term = getattr(_density, wrong)
    monkeypatch.setattr(_density, wrong, lambda *arguments: term(*arguments) - np.log(1.6))
    assert abs(_integral_z(None, (((0, 0, 1),), (0, 1, 0)))) > Z_LIMIT


def _integral_z(n_components, key) -> float:
    """z of the integral of exp(log_joint), in units of its exact value."""
    tree, c = key
    exact = (
        en.log_p_tree(tree, ALPHA)
        + en.log_p_components(tree, c, NUMBERS["gamma0"], NUMBERS["gamma"], n_components)
        + en.log_p_data(DATA, c, NUMBERS["sigma2"], NUMBERS["mu0"], NUMBERS["sigma0"])
    )
    proposal, rng = _Proposal(key, n_components), rng_for(41)
    log_ratio = [proposal.log_ratio(rng)]  # the first with all checks of its input,
    with mock.patch.multiple(log_joint_module, **UNCHECKED):  # which take most of the time
        log_ratio += [proposal.log_ratio(rng) for _ in range(999)]
    ratio = np.exp(np.array(log_ratio) - exact)
    assert ratio.std() < 5, "the proposal fits too badly for z to mean anything"
    error = ratio.std(ddof=1, keepdims=True) / np.sqrt(len(ratio))
    return float(z_of(ratio.mean(keepdims=True) - 1, error)[0])


UNCHECKED = {
    "check_functional_data": lambda X, *_, **__: X,
    "check_state": lambda _: None,
    "check_parameters": lambda *_: None,
}


class _Prepared(bhmc.likelihoods.Gaussian):
    """The family of DATA, bound once."""

    def prepare(self, X):
        assert X is DATA or np.array_equal(X, DATA)
        return _FAMILY


_LIKELIHOOD = _Prepared(NUMBERS["sigma2"], NUMBERS["mu0"], NUMBERS["sigma0"])
_FAMILY = bhmc.likelihoods.Gaussian.prepare(_LIKELIHOOD, DATA)


class _Proposal:
    """States of one (tree, partition): weights and theta from densities that are easy to draw."""

    def __init__(self, key, n_components):
        tree, c = key
        self.components, self.finite = np.array(c), n_components is not None
        self.paths, self.parents = en.nodes_of(tree, len(c))
        self.k = n_components or max(c) + 1
        self.below = _customers(self.paths, self.parents, c, self.k)
        self.hyper = bhmc.Hyper(ALPHA, NUMBERS["gamma0"], NUMBERS["gamma"], n_components)

    def log_ratio(self, rng) -> float:
        """log_joint minus the log density of the proposal the state was drawn from."""
        k, gamma0 = self.k, NUMBERS["gamma0"]
        rest, base = ([], gamma0 / k) if self.finite else ([gamma0], 0.0)
        weights, log_q = [], 0.0
        for z, parent in enumerate(self.parents):
            if z == 0:
                shapes = np.append(self.below[0] + base, rest)
            else:
                shapes = NUMBERS["gamma"] * weights[parent]
                shapes[:k] += self.below[z]
            w = np.maximum(rng.dirichlet(shapes), 1e-300)
            log_q += gammaln(shapes.sum()) + ((shapes - 1) * np.log(w) - gammaln(shapes)).sum()
            weights.append(w)
        theta = rng.normal(0, 1.5, size=(k, 1))
        log_q += (-0.5 * (theta / 1.5) ** 2 - np.log(1.5 * np.sqrt(2 * np.pi))).sum()
        log_weights = np.log(weights)
        if self.finite:
            none = np.full(len(self.parents), -np.inf)
            log_weights = np.column_stack([log_weights, none])
        state = hdp_state(self.paths, self.components, self.parents, log_weights, theta, self.hyper)
        return bhmc.log_joint(state, DATA, hyper=self.hyper, likelihood=_LIKELIHOOD) - log_q


def _customers(paths, parents, c, k) -> np.ndarray:
    """Data at a leaf; at an inner node one for each child that holds the component."""
    counts = np.zeros((len(parents), k))
    np.add.at(counts, (paths[:, -1], np.array(c)), 1)
    for z in range(len(parents) - 1, 0, -1):
        counts[parents[z]] += np.minimum(counts[z], 1)
    return counts
