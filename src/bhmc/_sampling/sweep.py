"""Start, sweep, run: chains of states. No mathematics: that is in the kernels and the families."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bhmc._sampling.initial_clusters import nested_groups
from bhmc._validation.init import check_init
from bhmc._validation.parameters import check_choice, check_rng
from bhmc.likelihoods import Family, Likelihood, resolve
from bhmc.likelihoods._protocol import slices
from bhmc.model.checks import check_functional_data, check_parameters, check_state
from bhmc.model.hdp import kernels as _kernels
from bhmc.model.hdp import workspace as _workspace
from bhmc.model.hdp.density import log_p_tree
from bhmc.model.hdp.hyper_random_walk import walk_concentrations
from bhmc.model.hdp.setting import check_hyper
from bhmc.model.hdp.simulate import sample_hyper
from bhmc.model.hdp.start import labelled_state, prior_state
from bhmc.model.state import Hyper, Info, State, with_hyper
from bhmc.rows.local import Tiles

SAMPLERS = ("gibbs", "mh", "paper")

# Types of the likelihood tiles.
PRECISIONS = ("float64", "float32")

# The published sampler breaks the root's stick until less than this is left.
PAPER_EPSILON = 1e-3

# Births and deaths leave holes and an order of nodes that slow a pass down, a little; and sums of
# statistics that rows leave by subtraction gather rounding errors.
_PASSES_PER_TIDY = 16

# Rows of a start stay where they are for so many rounds, in which what goes with them settles: the
# first weights are none of the model's, and shared numbers begin at middling values.
_ROUNDS_OF_START = 5

# NumPy makes wide copies of the labels by which it looks something up: for so many rows at once.
_ROWS_AT_ONCE = 2**16

# log f of a component that does not exist, whatever the row.
_NEVER = -1e30


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
        The data; with NaN for missing entries, or sparse, where the family allows it.
    hyper : Hyper
        Concentrations: a number fixes one; a prior has it learned from where the state is.
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
    hyper, rng, setting = check_hyper(hyper), check_rng(rng), resolve(likelihood)
    X = check_functional_data(
        X, state, allow_missing=setting.allows_missing, allow_sparse=setting.allows_sparse
    )
    wanted, state = hyper, with_hyper(state, hyper)
    check_sampler(sampler, state.hyper)
    check_state(state)
    family = setting.prepare(X)
    check_parameters(state, X, family.n_parameters, family.n_shared)
    chain = Chain(state, family, sampler, rng, learning=wanted)
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
    family: Family,
    *,
    n_levels: int,
    hyper: Hyper,
    rng: np.random.Generator,
    init="prior",
    dtype: str = "float64",
) -> State:
    """Where a chain starts: a draw of everything unknown, whatever `init` asks for.

    "prior": tree, components and weights from the prior; theta from its posterior given those.
    Otherwise `init` says where the rows are (tree and components), concentrations are drawn from
    their prior, and weights, theta and shared numbers by the sampler's own conditionals. `dtype`
    is that of the chain to come, for which the kernels are compiled.
    """
    n, k = family.n_rows, hyper.n_components
    init = check_init(init, n_rows=n, n_levels=n_levels, n_components=k)
    hyper, shared = sample_hyper(hyper, rng), family.start_shared()
    from_prior = isinstance(init, str) and init == "prior"
    if from_prior:
        state = prior_state(n, n_levels=n_levels, hyper=hyper, rng=rng)
    else:
        labels = _labels(init, family.at(shared), n_levels, k, rng)
        state = labelled_state(labels, n_levels=n_levels, hyper=hyper)
    sums = family.sums(state.components, state.n_components)
    state = state._replace(theta=family.at(shared).draw_theta(sums, rng), shared=shared)
    if from_prior:
        return state
    chain = Chain(state, family, "gibbs", rng, dtype=dtype)
    for _ in range(_ROUNDS_OF_START):
        chain.redraw_weights()
        chain.redraw_theta()
    return chain.state()


def _labels(init, family: Family, n_levels: int, most: int | None, rng) -> NDArray[np.int64]:
    """(n, m) labels of the rows, coarse to fine, as `init` asks for."""
    if not isinstance(init, str):
        return init
    if init in ("kmeans", "ward"):
        return nested_groups(family, init, n_levels=n_levels, most=most, rng=rng)
    rows = np.arange(family.n_rows)[:, None]
    return rows if init == "singletons" else np.zeros_like(rows)


class Chain:
    """A state in a workspace, with what one sweep needs. `engine` holds the conditionals.

    `engine` is `_kernels` (compiled); tests put `_reference` or a deliberately wrong module there.
    `dtype` is that of the likelihood tiles. `learning` holds priors where concentrations are to be
    learned; the current numbers are the state's. `walk` learns them by a random walk, as the paper
    does, not by slices.
    """

    def __init__(
        self,
        state: State,
        family: Family,
        sampler: str,
        rng: np.random.Generator,
        engine: ModuleType = _kernels,
        dtype: str = "float64",
        learning: Hyper | None = None,
        walk: bool = False,
    ):
        family = family.at(state.shared)
        self._family, self._sampler, self._rng, self._engine = family, sampler, rng, engine
        # The generator as the engine's conditionals take it; `rng` must stay alive beside it.
        self._source = engine.random_source(rng)
        self._literal = sampler == "paper"
        self._hyper, self._shared = state.hyper, state.shared
        self._rates = _workspace.rates_of(state.hyper)
        self._learning = _workspace.learning_of(learning or state.hyper)
        self._walks, self._priors = walk, (learning or state.hyper).priors
        self._learns_shared = family.n_shared > 0
        self._tiles = Tiles(family, finite=state.hyper.n_components is not None)
        self._ws = _workspace.load(state, tile=self._tiles.height, dtype=dtype)
        self._rows = np.arange(self._tiles.height)
        self._passes, self._sums_are_old = 0, True
        self._log_base: float | None = None
        # By column; column 0 is the component not yet born.
        columns = len(self._ws.held)
        self._theta = np.zeros((columns, family.n_parameters))
        self._theta[1 : state.n_components + 1] = state.theta
        self._natural = np.zeros((columns, family.n_statistics))
        self._natural[:, -1] = _NEVER
        self._natural[1 : state.n_components + 1] = family.natural(state.theta)
        self._sums = np.zeros((columns, family.n_statistics))
        self._sum_statistics()

    def state(self) -> State:
        """A copy of the current state."""
        state = _workspace.unload(self._ws, self._theta, self._hyper)
        return state._replace(shared=self._shared)

    def sweep(self) -> Info:
        """One full sweep in place: every datum, then all weights, then all theta."""
        self._ws.events[:] = 0
        self.redraw_data()
        self.redraw_weights()
        self.redraw_theta()
        return Info(*self._ws.events.tolist())

    def redraw_data(self) -> None:
        """Paths and components of all data, one by one, given B and theta."""
        self._begin_pass()
        if self._literal:
            self._break_root()
        for first in self._tiles.first_rows:
            self._pass_over_tile(first)
        if self._literal:
            self._engine.release_empty(self._ws)

    def redraw_weights(self) -> None:
        """B given paths and components, and the concentrations that are learned."""
        if self._walks:
            rates = self._draw_weights_and_walk()
        else:
            rates = self._engine.draw_weights(
                self._ws, self._rates, self._learning, self._literal, self._source
            )
        self._rates = rates
        self._hyper = self._hyper._replace(
            alpha=rates.alpha, gamma0=rates.gamma0, gamma=rates.gamma
        )

    def redraw_theta(self) -> None:
        """theta given components, data and what components share; then that given theta."""
        columns = self._columns()
        self._sums[self._ws.held == 0] = 0.0  # what subtraction may have left there
        theta = self._family.draw_theta(self._sums[columns], self._rng)
        if self._learns_shared:
            shared = self._family.draw_shared(theta, self._sums[columns], self._rng)
            self._shared, self._family, self._log_base = shared, self._family.at(shared), None
            self._tiles.turn_to(self._family)
        self._theta[columns] = theta
        self._natural[columns] = self._family.natural(theta)

    def stop_learning(self) -> None:
        """Concentrations and what components share stay where they are from now on."""
        self._learning, self._priors = _workspace.learning_of(self._hyper), {}
        self._learns_shared = False

    def log_likelihood(self) -> float:
        """log p(X, c, V | B, theta), the complete-data log likelihood of the current state."""
        ws = self._ws
        if self._log_base is None:
            self._log_base = float(self._family.log_base().sum())
        levels, sizes = self.node_sizes()
        log_f = self._family.log_likelihood(self._natural, self._sums, ws.component)
        return float(
            self._log_base
            + log_f
            + sum(
                float(ws.log_beta[ws.leaf[rows], ws.component[rows]].sum())
                for rows in slices(len(ws.leaf), _ROWS_AT_ONCE)
            )
            + log_p_tree(sizes, levels, self._rates.alpha)
        )

    def log_prior(self) -> float:
        """log h(theta) of all components, and the log priors of what is learned."""
        return (
            float(self._family.log_prior(self._theta[self._columns()]).sum())
            + self._family.log_prior_shared()
            + sum(prior.log_density(getattr(self._hyper, n)) for n, prior in self._priors.items())
        )

    def node_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(n_nodes,) levels of all nodes, the root first, and how many data are under each."""
        nodes = np.flatnonzero(self._ws.level >= 0)
        return self._ws.level[nodes], self._ws.n_under[nodes]

    def component_sizes(self) -> NDArray[np.int64]:
        """(K,) data in each component."""
        return self._ws.held[self._columns()]

    def same_component(self, one: NDArray, other: NDArray) -> NDArray[np.bool_]:
        """Whether data `one[i]` and `other[i]` are in one component."""
        return self._ws.component[one] == self._ws.component[other]

    def compact(self) -> _workspace.Compact:
        """A copy of the current tree and components, a leaf and a component a datum."""
        return _workspace.compact(self._ws)

    @property
    def theta(self) -> NDArray[np.float64]:
        """(K, p) a copy of the current component parameters."""
        return self._theta[self._columns()]

    @property
    def hyper(self) -> Hyper:
        """The current concentrations."""
        return self._hyper

    @property
    def shared(self) -> NDArray[np.float64]:
        """(q,) the current numbers that all components share."""
        return self._shared

    @property
    def components(self) -> NDArray[np.int64]:
        """(n,) component of each datum, 0..K-1."""
        return (np.cumsum(self._ws.alive) - 2)[self._ws.component]

    @property
    def n_rows(self) -> int:
        """Number of data."""
        return len(self._ws.leaf)

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree."""
        return len(self._ws.level) - int(self._ws.room[_workspace.FREE_SLOTS])

    @property
    def n_components(self) -> int:
        """Number of components that exist."""
        return len(self._ws.alive) - int(self._ws.room[_workspace.FREE_COLUMNS]) - 1

    def _draw_weights_and_walk(self) -> _workspace.Rates:
        """As `draw_weights` of the engine, but a walk in the place of slices."""
        engine, ws, rates, source = self._engine, self._ws, self._rates, self._source
        if self._priors:
            engine.draw_tables(ws, rates, False, source)
            rates = walk_concentrations(ws, rates, self._priors, self._rng)
        if self._literal or not self._priors:
            engine.draw_tables(ws, rates, self._literal, source)
        engine.draw_weights_given_tables(ws, rates, source)
        return rates

    def _pass_over_tile(self, first: int) -> None:
        """Redraw a tile's data; the engine stops where a component is born or room runs out."""
        n_rows = self._tiles.open(first)
        self._fill_table()
        # The published sampler visits data in random order, here within a tile.
        order = self._rng.permutation(n_rows) if self._literal else self._rows[:n_rows]
        components = self._ws.component[first : first + n_rows]
        before = components.copy()
        position, code = 0, 0
        while code != _workspace.DONE:
            if self._sampler == "gibbs":
                position, code = self._engine.gibbs_pass(
                    self._ws, self._rates, first, order, position, self._source
                )
            else:
                position, code = self._engine.mh_pass(
                    self._ws, self._rates, first, order, position, self._literal, self._source
                )
            if code == _workspace.NEEDS_ROOM:
                self._make_room()
            elif code != _workspace.DONE:
                founder = order[position - 1]
                self._draw_new_theta(code, self._tiles.statistics_of(int(founder)))
                if code < self._ws.log_f.shape[1]:
                    skip = 0 if self._literal else position
                    self._tiles.fill_column(code, self._natural[code], self._ws.log_f, skip)
                else:
                    self._fill_table()
        if self._sums_are_old:
            self._tiles.move_in(self._sums, before, components)
        else:
            self._tiles.add_to(self._sums, components)

    def _fill_table(self) -> None:
        """The open tile's log likelihoods under every component."""
        self._ws = _workspace.fit_table(self._ws)
        self._tiles.fill(self._natural[: self._ws.log_f.shape[1]], self._ws.log_f)

    def _break_root(self) -> None:
        """The published sampler's start: components from the prior until the root has none left."""
        nothing = np.zeros(self._family.n_statistics)
        while self._ws.log_beta[0, 0] >= np.log(PAPER_EPSILON):
            if not self._ws.room[_workspace.FREE_COLUMNS]:
                self._make_room()
            k = self._engine.break_component(self._ws, self._rates, _workspace.NONE, self._source)
            self._draw_new_theta(k, nothing)

    def _draw_new_theta(self, k: int, statistics: NDArray[np.float64]) -> None:
        """theta of a component just born, given the statistics of its data so far."""
        theta = self._family.draw_theta(statistics[None, :], self._rng)
        self._theta[k] = theta[0]
        self._natural[k] = self._family.natural(theta)[0]

    def _sum_statistics(self) -> None:
        """Sums of the sufficient statistics of every component."""
        for first in self._tiles.first_rows:
            n_rows = self._tiles.open(first)
            components = self._ws.component[first : first + n_rows]
            self._tiles.add_to(self._sums, components)

    def _columns(self) -> NDArray[np.int64]:
        """The columns of the components that exist."""
        return np.flatnonzero(self._ws.alive)[1:]

    def _begin_pass(self) -> None:
        """Now and then compact slots and columns, and take the sums of statistics anew."""
        self._passes += 1
        tidy = self._passes % _PASSES_PER_TIDY == 2  # a chain of one sweep need not
        if tidy:
            columns = _workspace.tidy(self._ws)
            used = len(columns)
            self._theta[:used], self._natural[:used] = self._theta[columns], self._natural[columns]
            self._natural[used:, -1] = _NEVER
        # Rows that change their component are few: moving them is less than adding all.
        self._sums_are_old = self._family.subtracts_well and not tidy
        if not self._sums_are_old:
            self._sums[:] = 0.0

    def _make_room(self) -> None:
        """Half as many slots or columns again, whichever are short, and enough for one datum.

        Never both for one: a tree of many nodes would make room for as many components.
        """
        slots, columns = self._ws.log_beta.shape
        room = self._ws.room
        if room[_workspace.FREE_SLOTS] < room[_workspace.DEPTH]:
            slots += slots // 2 + int(room[_workspace.DEPTH])
        if not self._rates.n_fixed and not room[_workspace.FREE_COLUMNS]:
            columns += columns // 2
        self._ws = _workspace.grow(self._ws, slots, columns)
        used = len(self._theta)
        more = ((0, len(self._ws.held) - used), (0, 0))
        self._theta, self._natural, self._sums = (
            np.pad(array, more) for array in (self._theta, self._natural, self._sums)
        )
        self._natural[used:, -1] = _NEVER


def warmup(precision: str = "float64") -> None:
    """Compile every kernel now, or load it from the disk cache, so that no fit has to wait for it.

    Parameters
    ----------
    precision : {"float64", "float32"}, default="float64"
        As in `BHMC`.
    """
    check_choice(precision, "precision", PRECISIONS)
    X = np.array([[0.0], [1.0]])
    family = resolve("gaussian").prepare(X)
    rng = np.random.default_rng(0)
    hyper = Hyper(alpha=1.0, gamma0=1.0, gamma=1.0)
    for sampler in SAMPLERS:
        state = start_state(family, n_levels=1, hyper=hyper, rng=rng)
        for walk in (False, True):
            Chain(state, family, sampler, rng, dtype=precision, walk=walk).sweep()


def run(
    chain: Chain,
    *,
    n_warmup: int,
    n_draws: int,
    thin: int = 1,
    on_draw: Callable[[Chain, Info], None],
    on_warmup: Callable[[Chain], None] | None = None,
    on_sweep: Callable[[Chain, int], bool] | None = None,
    done: int = 0,
) -> None:
    """`n_warmup` sweeps, then `n_draws` draws `thin` sweeps apart, each handed to `on_draw`.

    Given `on_warmup`, sweeps of the warm-up are handed to it, and nothing is learned after them.
    `on_sweep` hears of every sweep and how many were made, and ends the run by saying True. `done`
    sweeps were made before, by a chain that this one goes on from.
    """
    for made in range(done, n_warmup + n_draws * thin):
        if on_warmup is not None and (made == n_warmup or (made == done and made > n_warmup)):
            chain.stop_learning()
        info = chain.sweep()
        if made < n_warmup:
            if on_warmup is not None:
                on_warmup(chain)
        elif (made - n_warmup + 1) % thin == 0:
            on_draw(chain, info)
        if on_sweep is not None and on_sweep(chain, made + 1):
            return
