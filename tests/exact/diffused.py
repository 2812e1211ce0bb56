"""Settings at which the diffused transition is judged, and what is compared.

Steps have heavy tails: the variance of an inverse gamma of shape 2 is infinite, and so is that of
x^2. Statistics are bounded, or logarithms; x^2 is cut off.
"""

import math
from dataclasses import replace

import numpy as np

import bhmc
from bhmc.likelihoods import Gaussian, ShapedGaussian, SharedGaussian
from bhmc.model.diffused.setting import MOVES, Diffused, GaussianNodes
from bhmc.priors import Gamma
from bhmc.rows.local import LocalRows
from tests.exact import geweke
from tests.exact.invariance import with_family

# x^2 in units of the noise is counted up to this.
_FAR = 400.0


def statistics(state: bhmc.State, X: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Numbers of nodes, pairs that share them, steps, their variances, noise, concentrations.

    Parameters
    ----------
    state : State
        Of the diffused transition or of its Gaussian form.
    X : (n, d) array
        Data; NaN where missing.
    noise : (d,) array
        Variances of the noise.
    """
    places, groups = _places(state), _groups(state)
    i, j = geweke.pairs(len(X))
    v = np.log(state.params.variances[1:, 0])
    steps = (np.diff(places, axis=1) ** 2 / noise).mean(axis=2)
    scaled = steps / np.exp(v)
    numbers = np.array([len(set(column)) for column in groups.T.tolist()], dtype=float)
    root, theta = places[0, 0], places[:, -1]
    x = np.where(np.isnan(X), theta, X)
    apart = np.log1p(((x[i] - x[j]) ** 2 / noise).mean(axis=1))
    share = groups[i] == groups[j]
    rest = ((x - theta) ** 2 / noise).mean(axis=1)
    square = (x**2 / noise).mean(axis=1)
    log_noise, rates = np.log(noise), np.log(state.hyper[:3])[[0, 2]]
    return np.concatenate(
        [
            numbers,
            share.mean(axis=0),
            (share * apart[:, None]).mean(axis=0),
            np.log(steps + 1e-6).mean(axis=0),
            (scaled / (1 + scaled)).mean(axis=0),
            v,
            v * numbers,
            v * np.log1p(steps).mean(axis=0),
            [np.tanh(root[0]), np.log1p((root**2 / noise).mean()), v.sum() * log_noise[0]],
            [np.tanh(x.mean()), np.minimum(square, _FAR).mean(), np.log(square).mean()],
            [np.tanh(x[0] * x[1]).mean(), np.tanh(x * theta).mean(), np.log1p(rest).mean()],
            [(rest / (1 + rest)).mean(), apart.mean(), apart[0] * numbers[-1]],
            log_noise[:1],
            log_noise[:1] * numbers[-1],
            log_noise[:1] * np.log1p(square).mean(),
            log_noise[-1:] * np.log1p(steps).mean(),
            rates,
            rates[:1] * (numbers[0] - 2),
            rates * (numbers[-1] - len(X) / 2),
        ]
    )


def _places(state: bhmc.State) -> np.ndarray:
    """(n, steps + 1, d): from the root to theta of every row."""
    places = state.params.locations[state.paths]
    if not state.params.atoms_below_leaves:
        return places
    return np.concatenate([places, state.theta[state.components][:, None]], axis=1)


def _groups(state: bhmc.State) -> np.ndarray:
    """(n, steps): the node of every row at each level from 1 on, then its component."""
    if not state.params.atoms_below_leaves:
        return state.paths[:, 1:]
    return np.column_stack([state.paths[:, 1:], state.components])


class DiffusedSetting(geweke.Setting):
    """A small model of the diffused transition; `moves` are those of its sweeps."""

    def __init__(self, transition, likelihood, n, n_levels, n_features=1, holes=False):
        self.transition, self.likelihood = transition.bind(transition.hyper), likelihood
        self.hyper = self.transition.hyper
        self.n, self.n_levels, self.n_features, self.holes = n, n_levels, n_features, holes

    def forward_key(self):
        given = repr(replace(self.transition, moves=())), type(self.likelihood).__qualname__
        size = self.n, self.n_levels, self.n_features, self.holes
        return type(self), *given, repr(vars(self.likelihood)), *size

    def with_moves(self, *moves):
        """The same with these moves, and no others."""
        transition = replace(self.transition, moves=moves)
        given = self.likelihood, self.n, self.n_levels, self.n_features, self.holes
        return type(self)(transition, *given)

    def of_family(self, family):
        """The same, bound to data by another class: a deliberately wrong family."""
        size = self.n, self.n_levels, self.n_features, self.holes
        return type(self)(self.transition, with_family(self.likelihood, family), *size)

    def prior_draw(self, rng):
        state, X = self.transition.simulate(
            self.n,
            n_levels=self.n_levels,
            likelihood=self.likelihood,
            n_features=self.n_features,
            rng=rng,
        )
        return state, self.seen(X)

    def new_data(self, state, rng):
        likelihood = self.likelihood.at(state.shared)
        return self.seen(likelihood.sample_data(state.theta[state.components], rng))

    def seen(self, X):
        if self.holes:
            X = X.copy()
            X[0, 0] = X[1, -1] = X[2, :] = np.nan
        return X

    def chain(self, state, X, sampler, rng, engine=None):
        rows = LocalRows(self.likelihood.prepare(X))
        return self.transition.sampler(state, rows, sampler, rng, engine)

    def statistics(self, state, X):
        noise = self.likelihood.noise_on_tree(state.shared, self.n_features)
        if noise.ndim == 1:
            return statistics(state, X, noise)
        own = np.diag(noise)
        turn = noise[0, 1] / np.sqrt(own[0] * own[1])
        away = np.nan_to_num(X - state.theta[state.components])
        apart = np.tanh(np.prod(away[:, :2], axis=1)).mean()
        return np.append(statistics(state, X, own), [turn, turn**2, turn * apart, apart])


class FloorSetting(DiffusedSetting):
    """One column; x^2 by bounded functions and logarithms, in few operations."""

    def statistics(self, state, X):
        noise = float(self.likelihood.noise_on_tree(state.shared, 1)[0])
        v = [math.log(one) for one in state.params.variances[1:, 0].tolist()]
        root, *_ = state.params.locations[:, 0].tolist()
        n_leaves, n_atoms = len(set(state.paths[:, 1].tolist())), len(state.theta)
        raw = [x * x for x in X[:, 0].tolist()]
        return np.array(
            [
                *_of_squares(raw, 100.0),
                *_of_squares([one / noise for one in raw], _FAR),
                *(v[0], v[1], v[0] * v[1], math.log(noise), math.log(noise) * v[1]),
                *(math.log(noise) * math.log1p(raw[0]), v[1] * math.log1p(raw[0])),
                *(n_leaves, n_atoms, n_atoms * v[1], n_leaves * v[0]),
                *(math.tanh(root), root * root / (1 + root * root)),
            ]
        )


def _of_squares(squares: list[float], most: float) -> tuple[float, ...]:
    """Means of s / (1 + s), of log(1 + s) and of s cut off at two places."""
    n = len(squares)
    return (
        sum(s / (1 + s) for s in squares) / n,
        sum(math.log1p(s) for s in squares) / n,
        sum(min(s, most) for s in squares) / n,
        sum(min(s, most / 10) for s in squares) / n,
    )


_FIXED = bhmc.Hyper(0.8, 1.0, 1.3)
_LEARNED = bhmc.Hyper(Gamma(4, 5), 1.0, Gamma(4, 3))
KNOWN = Gaussian(sigma2=0.7, mu0=0.3, sigma0=3.0)
SPHERICAL = SharedGaussian("spherical", location=0.2, noise_shape=4.0, noise_scale=0.5)
DIAGONAL = SharedGaussian("diagonal", location=0.2, noise_shape=4.0, noise_scale=0.5)
TIED = SharedGaussian("full", location=0.2, noise_scale=0.5)
SHAPED = ShapedGaussian([[1.0, 0.6], [0.6, 0.9]], 0.2, noise_shape=4.0, noise_scale=0.5)
# Rows with weights: what they change shows in |x|^2 and |x - theta|^2, which are among the
# statistics.
TAILED = replace(SHAPED, degrees=4.0)


def _hyper(alpha: float, g: float) -> bhmc.Hyper:
    return bhmc.Hyper(alpha, 1.0, g)


SETTINGS = {
    "known": DiffusedSetting(Diffused(_FIXED, 0.5, MOVES), KNOWN, 6, 2, 2),
    "spherical": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), SPHERICAL, 6, 2, 2),
    "diagonal": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), DIAGONAL, 6, 2, 2),
    "diagonal holes": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), DIAGONAL, 6, 2, 2, True),
    "spherical holes": DiffusedSetting(Diffused(_FIXED, 0.0, MOVES), SPHERICAL, 6, 1, 2, True),
    "tied": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), TIED, 6, 2, 2),
    "shaped": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), SHAPED, 6, 2, 2),
    "gaussian shaped": DiffusedSetting(GaussianNodes(_FIXED, 0.3, MOVES), SHAPED, 6, 2, 2),
    "gaussian tied": DiffusedSetting(GaussianNodes(_FIXED, 0.5, MOVES), TIED, 6, 2, 2),
    "gaussian known": DiffusedSetting(GaussianNodes(_FIXED, 0.5, MOVES), KNOWN, 6, 2, 1),
    "gaussian spherical": DiffusedSetting(GaussianNodes(_LEARNED, 0.5, MOVES), SPHERICAL, 6, 3, 2),
    "gaussian diagonal": DiffusedSetting(
        GaussianNodes(_LEARNED, 0.5, MOVES), DIAGONAL, 6, 2, 2, True
    ),
    # Missing entries are drawn, and a row has none at all.
    "tied holes": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), TIED, 6, 2, 2, True),
    "shaped holes": DiffusedSetting(Diffused(_FIXED, 0.3, MOVES), SHAPED, 6, 2, 2, True),
    "gaussian tied holes": DiffusedSetting(GaussianNodes(_FIXED, 0.5, MOVES), TIED, 6, 2, 2, True),
    "full leaves, tied holes": DiffusedSetting(
        Diffused(_hyper(0.3, 2.5), 0.3, MOVES), TIED, 8, 1, 2, True
    ),
    "tails": DiffusedSetting(Diffused(_LEARNED, 0.5, MOVES), TAILED, 6, 2, 2),
    "gaussian tails": DiffusedSetting(GaussianNodes(_FIXED, 0.3, MOVES), TAILED, 6, 2, 2),
    # Leaves of many rows in several atoms: what splits read.
    "full leaves, tails": DiffusedSetting(Diffused(_hyper(0.3, 2.5), 0.3, MOVES), TAILED, 8, 1, 2),
    "full leaves": DiffusedSetting(Diffused(_hyper(0.3, 2.5), 0.3, MOVES), KNOWN, 8, 1),
    "full leaves, holes": DiffusedSetting(
        Diffused(_hyper(0.3, 2.5), 0.3, MOVES), DIAGONAL, 8, 1, 2, True
    ),
    # Most rows are alone in atoms that are near their leaves.
    "loose, tails": DiffusedSetting(Diffused(_hyper(1.5, 5.0), 0.0, MOVES), TAILED, 5, 1, 2),
    # Many nodes at several levels with few atoms each: what subtrees and regroupings read.
    "deep": DiffusedSetting(Diffused(_hyper(1.2, 0.6), 0.3, MOVES), KNOWN, 7, 3),
    "deep, holes": DiffusedSetting(
        Diffused(_hyper(1.2, 0.6), 0.3, MOVES), SPHERICAL, 7, 3, 2, True
    ),
    # Many leaves of few rows, all of whose atoms may be new.
    "loose": DiffusedSetting(Diffused(_hyper(1.5, 5.0), 0.3, MOVES), KNOWN, 5, 1),
    # New branches from the root down, and rows that say little.
    "branches": DiffusedSetting(
        Diffused(_hyper(2.5, 0.4), 0.0, MOVES), Gaussian(2.0, 0.3, 2.0), 4, 3
    ),
    # Atoms of many rows: a block's size matters.
    "large atoms": DiffusedSetting(Diffused(_hyper(1.0, 0.4), 0.3, MOVES), KNOWN, 12, 2),
    # The data say much of the tree.
    "clear": DiffusedSetting(
        Diffused(_hyper(0.8, 1.0), 0.3, MOVES), Gaussian(0.05, 0.3, 4.0), 7, 2, 5
    ),
    "clear, deep": DiffusedSetting(
        Diffused(_hyper(1.5, 0.8), 0.3, MOVES), Gaussian(0.1, 0.3, 4.0), 5, 3, 4
    ),
    # Two rows that say nothing: every split and every merge is accepted, of atoms (g = 1) and of
    # leaves (alpha (g + 1) / g = 1). One proposal more or less makes all the difference.
    "coin": DiffusedSetting(
        Diffused(_hyper(0.5, 1.0), 0.0, MOVES), Gaussian(sigma2=40.0, mu0=0.3, sigma0=1.0), 2, 1
    ),
    # So few rows that one atom or node more is much.
    "two": DiffusedSetting(Diffused(_hyper(0.3, 1.0), 0.3, MOVES), KNOWN, 2, 1),
    "three": DiffusedSetting(Diffused(_hyper(0.8, 1.8), 0.3, MOVES), KNOWN, 3, 1),
    "four": DiffusedSetting(Diffused(_hyper(0.8, 1.3), 0.3, MOVES), KNOWN, 4, 2),
    "gaussian four": DiffusedSetting(
        GaussianNodes(_hyper(0.8, 1.3), 0.3, MOVES), Gaussian(0.4, 0.3, 3.0), 4, 3, 2
    ),
    # Concentrations of which the tree says much.
    "learned": DiffusedSetting(
        Diffused(bhmc.Hyper(Gamma(1, 3), 1.0, Gamma(1, 1)), 0.3, MOVES), KNOWN, 10, 1
    ),
    # The order of the variances and their floor bind most draws.
    "floor": DiffusedSetting(Diffused(_FIXED, 2.0, MOVES), SPHERICAL, 3, 1),
    "floor, deep": DiffusedSetting(Diffused(_FIXED, 0.2, MOVES), SPHERICAL, 4, 3),
}

FLOOR = FloorSetting(Diffused(_FIXED, 2.0, MOVES), SPHERICAL, 3, 1)
