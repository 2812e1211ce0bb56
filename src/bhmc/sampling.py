"""Start, sweep, run: chains of states. No mathematics: that is in the kernels and the families."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bhmc import _kernels, _workspace
from bhmc._checks import check_choice, check_hyper, check_rng
from bhmc._data_checks import check_functional_data, check_parameters
from bhmc._density import log_p_tree
from bhmc._prior import sample_prior
from bhmc._state import Hyper, Info, State, check_state, with_hyper
from bhmc.likelihoods import Family, Likelihood, resolve

SAMPLERS = ("gibbs", "mh", "paper")

# The published sampler breaks the root's stick until less than this is left.
PAPER_EPSILON = 1e-3


def sweep(
    state: State,
    X,
    *,
    hyper: Hyper,
    likelihood: str | Likelihood,
    sampler: str,
    rng: np.random.Generator,
) -> tuple[State, Info]:
    """One full sweep: every datum's path and component, then all weights, then all theta.

    Parameters
    ----------
    state : State
        Where the chain is; left unchanged.
    X : (n, d) array
        The data.
    hyper : Hyper
        Concentrations, fixed.
    likelihood : str or Likelihood
        The family with its prior H. A name stands for the family's own numbers ("gaussian" is
        `Gaussian(1, 0, 1)`): only `BHMC` takes scales from data.
    sampler : {"gibbs", "mh", "paper"}
        "gibbs" (exact path Gibbs), "mh" (exact, nCRP proposals), or "paper" (Algorithm 2 of the
        paper to the letter, which does not leave the posterior invariant).
    rng : numpy.random.Generator
        Where all randomness comes from.

    Returns
    -------
    state, info : State, Info
    """
    hyper, rng = check_hyper(hyper), check_rng(rng)
    X = check_functional_data(X, state)
    state = with_hyper(state, hyper)
    check_sampler(sampler, state.hyper)
    check_state(state)
    family = resolve(likelihood).prepare(X)
    check_parameters(state, X, family.n_parameters)
    chain = Chain(state, family, sampler, rng)
    info = chain.sweep()
    return chain.state(), info


def check_sampler(sampler: str, hyper: Hyper) -> str:
    """`sampler`, if it is known and has the form of the model that `hyper` asks for."""
    check_choice(sampler, "sampler", SAMPLERS)
    if sampler == "paper" and hyper.n_components is not None:
        raise ValueError(
            "sampler='paper' exists for the infinite form only, not for a fixed number of "
            "components."
        )
    return sampler


def start_state(
    n: int, family: Family, *, n_levels: int, hyper: Hyper, rng: np.random.Generator
) -> State:
    """Tree, components and weights from the prior; theta from its posterior given those."""
    # The prior's own data are not looked at, so any family serves to draw the rest.
    state, _ = sample_prior(n, n_levels=n_levels, hyper=hyper, likelihood="gaussian", rng=rng)
    return state._replace(theta=family.draw_theta(state.components, state.n_components, rng))


class Chain:
    """A state in a workspace, with what one sweep needs. `engine` holds the conditionals.

    `engine` is `_kernels` (compiled); tests put `_reference` or a deliberately wrong module there.
    """

    def __init__(
        self,
        state: State,
        family: Family,
        sampler: str,
        rng: np.random.Generator,
        engine: ModuleType = _kernels,
    ):
        self._family, self._sampler, self._rng, self._engine = family, sampler, rng, engine
        self._literal = sampler == "paper"
        self._hyper = state.hyper
        self._rates = _workspace.rates_of(state.hyper)
        self._ws = _workspace.load(state)
        self._theta = np.zeros((len(self._ws.held), state.theta.shape[1]))
        self._theta[: state.n_components] = state.theta
        if not self._rates.n_fixed:
            self._ws.log_f_new[:] = family.log_marginal()
        self._fill_table()

    def state(self) -> State:
        """A copy of the current state."""
        return _workspace.unload(self._ws, self._theta, self._hyper)

    def sweep(self) -> Info:
        """One full sweep in place: every datum, then all weights, then all theta."""
        self._ws.events[:] = 0
        self.redraw_data()
        self.redraw_weights()
        self.redraw_theta()
        return Info(*self._ws.events.tolist())

    def redraw_data(self) -> None:
        """Paths and components of all data, one by one in random order, given B and theta."""
        if self._literal:
            self._break_root()
        self._pass_over_data(self._rng.permutation(len(self._ws.path)))
        if self._literal:
            self._engine.release_empty(self._ws)

    def redraw_weights(self) -> None:
        """B given paths and components."""
        self._engine.draw_weights(self._ws, self._rates, self._literal, self._rng)

    def redraw_theta(self) -> None:
        """theta given components and data."""
        columns = np.flatnonzero(self._ws.alive)
        self._theta[columns] = self._family.draw_theta(self.components, len(columns), self._rng)
        self._fill_table()

    def log_likelihood(self) -> float:
        """log p(X, c, V | B, theta), the complete-data log likelihood of the current state."""
        ws = self._ws
        rows = np.arange(len(ws.path))
        nodes = np.flatnonzero(ws.level >= 0)
        return float(
            ws.log_f[rows, ws.component].sum()
            + ws.log_beta[ws.path[:, -1], ws.component].sum()
            + log_p_tree(ws.parent[nodes], ws.n_under[nodes], ws.level[nodes], self._rates.alpha)
        )

    @property
    def components(self) -> NDArray[np.int64]:
        """(n,) component of each datum, 0..K-1."""
        return (np.cumsum(self._ws.alive) - 1)[self._ws.component]

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree."""
        return int((self._ws.level >= 0).sum())

    @property
    def n_components(self) -> int:
        """Number of components that exist."""
        return int(self._ws.alive.sum())

    def _pass_over_data(self, order: NDArray[np.int64]) -> None:
        """Redraw every datum; the engine stops where a component is born or room runs out."""
        position, code = 0, 0
        while code != _workspace.DONE:
            if self._sampler == "gibbs":
                position, code = self._engine.gibbs_pass(
                    self._ws, self._rates, order, position, self._rng
                )
            else:
                position, code = self._engine.mh_pass(
                    self._ws, self._rates, order, position, self._literal, self._rng
                )
            if code == _workspace.NEEDS_ROOM:
                self._make_room()
            elif code != _workspace.DONE:
                founder = int(order[position - 1])
                self._set_theta(code, self._family.draw_one_theta([founder], self._rng))

    def _break_root(self) -> None:
        """The published sampler's start: components from the prior until the root has none left."""
        while self._ws.log_rest[0] >= np.log(PAPER_EPSILON):
            if self._ws.alive.all():
                self._make_room()
            k = self._engine.break_component(self._ws, self._rates, -1, self._rng)
            self._set_theta(k, self._family.draw_one_theta([], self._rng))

    def _make_room(self) -> None:
        """Half as many slots and columns again, and enough for one datum."""
        slots, columns = self._ws.log_beta.shape
        slots += slots // 2 + self._ws.path.shape[1]
        if not self._rates.n_fixed:
            columns += columns // 2 + 1
        self._ws = _workspace.grow(self._ws, slots, columns)
        theta = np.zeros((columns, self._theta.shape[1]))
        theta[: len(self._theta)] = self._theta
        self._theta = theta

    def _set_theta(self, k: int, theta: NDArray[np.float64]) -> None:
        self._theta[k] = theta
        self._ws.log_f[:, k] = self._family.log_table(theta[None, :])[:, 0]

    def _fill_table(self) -> None:
        columns = np.flatnonzero(self._ws.alive)
        self._ws.log_f[:, columns] = self._family.log_table(self._theta[columns])


def run(
    chain: Chain,
    *,
    n_warmup: int,
    n_draws: int,
    thin: int = 1,
    on_draw: Callable[[Chain, Info], None],
) -> None:
    """`n_warmup` sweeps, then `n_draws` draws `thin` sweeps apart, each handed to `on_draw`."""
    for _ in range(n_warmup):
        chain.sweep()
    for _ in range(n_draws):
        for _ in range(thin - 1):
            chain.sweep()
        info = chain.sweep()
        on_draw(chain, info)
