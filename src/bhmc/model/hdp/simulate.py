"""The generative process (Algorithm 1 of the paper), forwards.

Written to share nothing with the samplers: a dictionary for the tree, the root's sticks broken one
by one until nothing is left, a plain Dirichlet over all of them at every node. A joint test
compares the two, so a common helper would hide a common error. Weights are logarithms here as well,
because most of them underflow double precision.
"""

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.params import hdp_state
from bhmc.model.state import Hyper, State

# A stick whose log length is below this (1e-30) is dust: no double-precision sum can see it.
_LOG_DUST = -69.0

# The root breaks about 69 gamma0 sticks, and every node holds as many weights.
_LARGEST_GAMMA0 = 1e4

# A node is named by the branch numbers that lead to it.
_Node = tuple[int, ...]


def simulate(
    n: int, *, n_levels: int, hyper: Hyper, likelihood, n_features: int, rng: np.random.Generator
) -> tuple[State, NDArray[np.float64]]:
    """Everything from the model, forwards: (V, c, B, theta) and X.

    beta_root ~ GEM(gamma0), theta_k ~ H; each datum walks down by the nCRP(alpha); a new node draws
    beta_z ~ DP(gamma, beta_pa); at the leaf c_n ~ Categorical(beta_leaf) and x_n ~ F(theta_c_n).

    Parameters
    ----------
    n : int
        Number of data.
    n_levels : int
        Steps from the root to a leaf.
    hyper : Hyper
        Concentrations, or their priors: then they are drawn first.
    likelihood : Likelihood
        The family with its base measure H.
    n_features : int
        Columns of X.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    hyper = hyper._replace(**{name: prior.sample(rng) for name, prior in hyper.priors.items()})
    check_gamma0(hyper)
    shared = likelihood.sample_shared(n_features, rng)
    likelihood = likelihood.at(shared)
    # No rows, no randomness: the family's own checks, before any work.
    likelihood.sample_data(likelihood.sample_theta(0, n_features, rng), rng)
    franchise = _Franchise(hyper, rng)
    paths = [franchise.walk(n_levels) for _ in range(n)]
    dishes = np.array([franchise.order_dish(path) for path in paths])
    state = _state(paths, dishes, franchise.log_beta, hyper)
    theta = likelihood.sample_theta(state.n_components, n_features, rng)
    state = state._replace(theta=theta, shared=shared)
    return state, likelihood.sample_data(theta[state.components], rng)


def check_gamma0(hyper: Hyper) -> None:
    """Refuse a gamma0 whose sticks would be too many to break."""
    if hyper.n_components is None and hyper.gamma0 > _LARGEST_GAMMA0:
        raise ValueError(
            f"gamma0 must be at most {_LARGEST_GAMMA0:g}, because the prior is drawn by breaking "
            f"some 70 gamma0 sticks, got {hyper.gamma0!r}."
        )


class _Franchise:
    """The restaurants (nodes) opened so far, with their guests and their mixing weights."""

    def __init__(self, hyper: Hyper, rng: np.random.Generator):
        self._hyper, self._rng = hyper, rng
        self._guests: dict[_Node, int] = {(): 0}
        self._branches: dict[_Node, int] = {(): 0}
        k = hyper.n_components
        if k is None:
            root = log_sticks(hyper.gamma0, rng)
        else:
            root = log_dirichlet(np.full(k, np.log(hyper.gamma0) - np.log(k)), rng)
        self.log_beta: dict[_Node, NDArray[np.float64]] = {(): root}

    def walk(self, n_levels: int) -> _Node:
        """One datum's path: existing child j with N_j / (N_z + alpha), else a new one."""
        node: _Node = ()
        self._guests[node] += 1
        for _ in range(n_levels):
            children = [(*node, j) for j in range(self._branches[node])]
            weights = np.array([self._guests[child] for child in children] + [self._hyper.alpha])
            choice = _choose(weights, self._rng)
            node = children[choice] if choice < len(children) else self._open(node)
            self._guests[node] += 1
        return node

    def _open(self, parent: _Node) -> _Node:
        """A new node: beta_z ~ Dir(gamma beta_pa) over every stick of the root."""
        node = (*parent, self._branches[parent])
        self._branches[parent] += 1
        self._branches[node] = self._guests[node] = 0
        log_shapes = np.log(self._hyper.gamma) + self.log_beta[parent]
        self.log_beta[node] = log_dirichlet(log_shapes, self._rng)
        return node

    def order_dish(self, leaf: _Node) -> int:
        """c_n ~ Categorical(beta_leaf)."""
        return _choose(np.exp(self.log_beta[leaf]), self._rng)


def _choose(weights: NDArray, rng: np.random.Generator) -> int:
    """i with probability w_i / sum(w); what `rng.choice` draws, without its checks."""
    cumulated = np.cumsum(weights / weights.sum())
    return int(np.searchsorted(cumulated / cumulated[-1], rng.random(), side="right"))


def log_sticks(concentration: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """log pi, pi ~ GEM(concentration), broken until only dust is left, which is the last piece."""
    log_left, log_piece = np.zeros(1), np.empty(0)
    while log_left[-1] > _LOG_DUST:  # 1 - Beta(1, c) is exp(-E / c) with E exponential
        steps = rng.standard_exponential(16 + int(75 * concentration)) / concentration
        log_piece = np.append(log_piece, np.log(-np.expm1(-steps)))
        log_left = np.append(log_left, log_left[-1] - np.cumsum(steps))
    last = int(np.argmax(log_left <= _LOG_DUST))
    return np.append(log_left[:last] + log_piece[:last], log_left[last])


def log_dirichlet(log_shapes: NDArray, rng: np.random.Generator) -> NDArray[np.float64]:
    """log w, w ~ Dir(exp(log_shapes)), by log G(a) = log G(a + 1) + log(U) / a."""
    shapes = np.exp(log_shapes)
    log_u = np.log1p(-rng.random(len(shapes)))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # a shape of 0: weight 0
        log_g = np.log(rng.standard_gamma(shapes + 1)) + log_u / shapes
    log_g = np.where(shapes == 0, -np.inf, log_g)
    if log_g.max() == -np.inf:  # every shape vanishes: all weight on one, in their proportion
        odds = np.exp(log_shapes - log_shapes.max())
        log_g[rng.choice(len(odds), p=odds / odds.sum())] = 0.0
    return log_g - np.logaddexp.reduce(log_g)


def _state(paths: list[_Node], dishes, log_beta: dict, hyper: Hyper) -> State:
    """Name nodes 0, 1, ... by level; keep the weights of occupied components, sum the rest."""
    n_levels = len(paths[0])
    nodes = sorted({path[:level] for path in paths for level in range(n_levels + 1)})
    nodes.sort(key=len)
    number = {node: i for i, node in enumerate(nodes)}
    log_weights = np.array([log_beta[node] for node in nodes])
    if hyper.n_components is None:
        kept, components = np.unique(dishes, return_inverse=True)
    else:
        kept, components = np.arange(hyper.n_components), dishes
    unborn = np.delete(log_weights, kept, axis=1)
    log_rest = np.logaddexp.reduce(unborn, axis=1, initial=-np.inf)
    return hdp_state(
        paths=np.array(
            [[number[p[:level]] for level in range(n_levels + 1)] for p in paths], dtype=np.int32
        ),
        components=components.astype(np.int32),
        parents=np.array([number[node[:-1]] if node else -1 for node in nodes], dtype=np.int32),
        log_weights=np.column_stack([log_weights[:, kept], log_rest]),
        theta=np.empty((len(kept), 0)),
        hyper=hyper,
    )
