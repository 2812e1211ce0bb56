"""`HdpSampler`: a chain of the hdp transition. No mathematics: that is in `engine` and the family.

`engine` is `kernels` (compiled) or `reference` (plain NumPy), which have the same entry points.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp import kernels, workspace
from bhmc.model.hdp.density import log_p_tree
from bhmc.model.hdp.moves import BlockMoves
from bhmc.model.hdp.params import hdp_state
from bhmc.model.state import Hyper, Info, Partition, Sizes, State, paths_to
from bhmc.rows.local import LocalRows

# Births and deaths leave holes and an order of nodes that slow a pass down, a little; and sums of
# statistics that rows leave by subtraction gather rounding errors.
_PASSES_PER_TIDY = 16

# log f of a component that does not exist, whatever the row.
_NEVER = -1e30


class Held(NamedTuple):
    """All that a chain holds between two sweeps, but for the rows and the generator.

    `theta`, `natural` and `sums` are by column; column 0 is the component not yet born.
    """

    ws: workspace.Workspace
    """Tree and weights, with slots and columns in their order."""
    theta: NDArray[np.float64]
    """(columns, p) component parameters."""
    natural: NDArray[np.float64]
    """(columns, s) their natural parameters."""
    sums: NDArray[np.float64]
    """(columns, s) sums of the sufficient statistics of each component's rows."""
    hyper: Hyper
    """The current concentrations."""
    shared: NDArray[np.float64]
    """(q,) the current numbers that all components share."""
    passes: int = 0
    """Passes over the rows so far."""
    learns: bool = True
    """Whether what can be learned still is."""


class HdpSampler:
    """A chain of the hdp transition; exact with the samplers "gibbs" and "mh".

    Parameters
    ----------
    held : Held
        Where the chain is.
    rows : LocalRows
        The data, placed at the slots and columns of `held`.
    sampler : {"gibbs", "mh"}
        How rows are redrawn.
    rng : numpy.random.Generator
        Where all randomness comes from.
    engine : module, default=kernels
        The conditionals: `kernels`, `reference`, or a deliberately wrong module in tests.
    learning : Hyper, optional
        Priors where concentrations are to be learned; the current numbers are those of `held`.
    draw_weights : callable, optional
        Draws weights and concentrations in place of the engine's own `draw_weights`.
    moves : tuple of str, default=()
        Block moves that run before the weights are drawn; see `moves`.
    """

    stages = ("redraw_data", "redraw_weights", "redraw_theta")
    """Methods that each leave the posterior alone."""

    @staticmethod
    def sweeps_per_moves(n_rows: int) -> int:
        """Sweeps from block moves to block moves."""
        return 1

    # Whether three steps are those of the published algorithm, which are not exact.
    literal = False

    def __init__(
        self,
        held: Held,
        rows: LocalRows,
        sampler: str,
        rng: np.random.Generator,
        *,
        engine: ModuleType = kernels,
        learning: Hyper | None = None,
        draw_weights: Callable[["HdpSampler"], workspace.Rates] | None = None,
        moves: tuple[str, ...] = (),
    ):
        self.rows, self._sampler, self.rng, self.engine = rows, sampler, rng, engine
        # The generator as the engine's conditionals take it; `rng` must stay alive beside it.
        self.source = engine.random_source(rng)
        self.ws, self.theta, self.natural, self.sums, self._hyper, self._shared, *_ = held
        self.passes, self._sums_are_old = held.passes, True
        self.rates = workspace.rates_of(held.hyper)
        self._learning = workspace.learning_of(learning or held.hyper)
        self.priors = (learning or held.hyper).priors
        self._learns_shared = rows.family.n_shared > 0
        self._learns = True
        self._draw_weights = draw_weights or HdpSampler._draw_weights_by_slices
        self._moves = BlockMoves(moves, self.sweeps_per_moves(rows.n_rows))
        self._row_numbers = np.arange(rows.height)
        self._log_base: float | None = None
        self._turn_to(held.shared)
        if not held.learns:
            self.stop_learning()

    @classmethod
    def from_state(
        cls, state: State, rows: LocalRows, sampler: str, rng: np.random.Generator, **settings: Any
    ) -> Self:
        """The chain that starts at a state.

        Parameters
        ----------
        state : State
            Where it begins.
        rows : LocalRows
            The data; they are placed as the state says.
        sampler, rng, **settings
            As in the class.
        """
        rows.turn_to(state.shared)
        rows.put(slice(None), state.paths[:, -1], state.components + 1)
        return cls(_held(state, rows), rows, sampler, rng, **settings)

    @classmethod
    def resume(
        cls,
        captured: Mapping[str, Any],
        rows: LocalRows,
        sampler: str,
        rng: np.random.Generator,
        **settings: Any,
    ) -> Self:
        """The chain that resumes, bit for bit, where `capture` found another.

        Parameters
        ----------
        captured : mapping
            What `capture` returned, checked.
        rows : LocalRows
            The same data; they are placed as they were.
        sampler, rng, **settings
            As in the class; `rng` is the generator as it was.
        """
        rows.put(slice(None), captured["leaf"], captured["component"])
        ws = workspace.restore(captured["workspace"])
        names = ("theta", "natural", "sums")
        theta, natural, sums = (np.array(captured[name], dtype=np.float64) for name in names)
        hyper, shared = Hyper(**captured["hyper"]), np.array(captured["shared"], dtype=np.float64)
        held = Held(ws, theta, natural, sums, hyper, shared, captured["passes"], captured["learns"])
        return cls(held, rows, sampler, rng, **settings)

    def capture(self) -> dict[str, Any]:
        """All that the chain needs to resume bit for bit, except the data and the generator.

        Node and row arrays in their order, weights, theta, natural parameters, sums and the number
        of passes: without any of them the resumed chain differs.
        """
        return {
            "workspace": workspace.kept(self.ws),
            "leaf": self.rows.leaf.copy(),
            "component": self.rows.component.copy(),
            "theta": self.theta.copy(),
            "natural": self.natural.copy(),
            "sums": self.sums.copy(),
            "hyper": self._hyper._asdict(),
            "shared": np.array(self._shared),
            "passes": self.passes,
            "learns": self._learns,
        }

    # ---- What others see -----------------------------------------------------------------------

    def state(self) -> State:
        """A copy of the current state."""
        order = workspace.compact(self.ws)
        parents, depth = workspace.parents(self.ws, order), int(self.ws.room[workspace.DEPTH])
        return hdp_state(
            paths_to(self.rows.leaf, parents, depth, order.node_of),
            order.label_of[self.rows.component],
            parents,
            workspace.log_weights(self.ws, order),
            self.theta[order.columns],
            self._hyper,
            self._shared,
        )

    def partition(self) -> Partition:
        """A copy of the current tree and components, a leaf and a component a row."""
        order = workspace.compact(self.ws)
        return Partition(
            leaf=order.node_of[self.rows.leaf],
            component=order.label_of[self.rows.component],
            parents=workspace.parents(self.ws, order),
        )

    def sizes(self) -> Sizes:
        """How large nodes and components are."""
        nodes = np.flatnonzero(self.ws.level >= 0)
        held = self.ws.held[self._columns()]
        return Sizes(self.ws.level[nodes], self.ws.n_under[nodes], held, even=True)

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """(m,) columns of these rows' components."""
        return self.rows.component[rows]

    def sweep(self) -> Info:
        """One full sweep in place: every datum, then all weights, then all theta."""
        self.ws.events[:] = 0
        for stage in self.stages:
            getattr(self, stage)()
        return Info(*self.ws.events.tolist())

    def log_likelihood(self) -> float:
        """log p(X, c, V | B, theta), the complete-data log likelihood of the current state."""
        ws = self.ws
        log_base = self._log_base
        if log_base is None:
            log_base = self._log_base = self.rows.family.log_base_sum()
        self.rows.count_cells(ws.customers)
        cells = np.nonzero(ws.customers)
        nodes = np.flatnonzero(ws.level >= 0)
        return float(
            log_base
            + self.rows.log_likelihood(self.natural, self.sums)
            + (ws.customers[cells] * ws.log_beta[cells]).sum()
            + log_p_tree(ws.n_under[nodes], ws.level[nodes], self.rates.alpha)
        )

    def log_prior(self) -> float:
        """log h(theta) of all components, and the log priors of what is learned."""
        family = self.rows.family
        return (
            float(family.log_prior(self.theta[self._columns()]).sum())
            + family.log_prior_shared()
            + sum(prior.log_density(getattr(self._hyper, n)) for n, prior in self.priors.items())
        )

    def learned(self) -> dict[str, Any]:
        """The current concentrations by name, those that are fixed included."""
        return self._hyper.concentrations

    def stop_learning(self) -> None:
        """Concentrations and what components share stay where they are from now on."""
        self._learning, self.priors = workspace.learning_of(self._hyper), {}
        self._learns_shared = self._learns = False

    @property
    def shared(self) -> NDArray[np.float64]:
        """(q,) the current numbers that all components share."""
        return self._shared

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree."""
        return len(self.ws.level) - int(self.ws.room[workspace.FREE_SLOTS])

    @property
    def n_components(self) -> int:
        """Number of components that exist."""
        return len(self.ws.alive) - int(self.ws.room[workspace.FREE_COLUMNS]) - 1

    # ---- Stages --------------------------------------------------------------------------------

    def redraw_data(self) -> None:
        """Paths and components of all data, one by one, given B and theta."""
        self._begin_pass()
        for n_rows in self.rows.tiles():
            self._pass_over_tile(n_rows)

    def redraw_weights(self) -> None:
        """Block moves; B given paths and components, and the concentrations that are learned.

        Block moves integrate a part of B out, and B is drawn here: they are no stage of their own.
        """
        self.rows.count_cells(self.ws.customers)
        self._moves.run(self)
        rates = self.rates = self._draw_weights(self)
        self._hyper = self._hyper._replace(
            alpha=rates.alpha, gamma0=rates.gamma0, gamma=rates.gamma
        )

    def redraw_theta(self) -> None:
        """theta given components, data and what components share; then that given theta."""
        columns, family = self._columns(), self.rows.family
        self.sums[self.ws.held == 0] = 0.0  # what subtraction may have left there
        sums = self.sums[columns]
        theta = family.draw_theta(sums, self.rng)
        if self._learns_shared:
            self._turn_to(family.draw_shared(theta, sums, self.rng))
        self.theta[columns] = theta
        self.natural[columns] = self.rows.family.natural(theta)

    # ---- Parts of stages -----------------------------------------------------------------------

    def _draw_weights_by_slices(self) -> workspace.Rates:
        return self.engine.draw_weights(
            self.ws, self.rates, self._learning, self.literal, self.source
        )

    def _turn_to(self, shared: NDArray[np.float64]) -> None:
        """Go on under these shared numbers."""
        self.rows.turn_to(shared)
        self._shared, self._log_base = shared, None
        self._find_log_new()

    def _find_log_new(self) -> None:
        """log f* of all rows, where components are born."""
        self._log_new = None if self.rates.n_fixed else self.rows.family.log_new()

    def _log_new_of_tile(self) -> NDArray[np.float64] | None:
        """log f* of the open tile's rows."""
        return None if self._log_new is None else self._log_new[self.rows.open_rows]

    def _pass_over_tile(self, n_rows: int) -> None:
        """Redraw a tile's data; the engine stops where a component is born or room runs out."""
        rows = self.rows
        self._fill_table()
        order = self._order(n_rows)
        before = rows.tile.component.copy()
        position, code = 0, 0
        while code != workspace.DONE:
            position, code = self._pass(order, position)
            if code == workspace.NEEDS_ROOM:
                self.make_room()
            elif code != workspace.DONE:
                self.draw_new_theta(code, rows.statistics_of(int(order[position - 1])))
                if code < rows.width:
                    rows.fill_column(code, self.natural[code], self._rows_done(position))
                else:
                    self._fill_table()
        if self._sums_are_old:
            rows.move_in(self.sums, before)
        else:
            rows.add_to(self.sums)

    def _order(self, n_rows: int) -> NDArray[np.int64]:
        """The order in which a tile's rows are redrawn."""
        return self._row_numbers[:n_rows]

    def _pass(self, order: NDArray[np.int64], position: int) -> tuple[int, int]:
        """Rows order[position:] of the open tile, up to a birth or the end of the room."""
        tile = self.rows.tile
        if self._sampler == "gibbs":
            return self.engine.gibbs_pass(self.ws, self.rates, tile, order, position, self.source)
        return self.engine.mh_pass(
            self.ws, self.rates, tile, order, position, self.literal, self.source
        )

    def _rows_done(self, position: int) -> int:
        """How many rows at the head of the tile need no more likelihoods."""
        return position

    def _fill_table(self) -> None:
        """The open tile's log likelihoods under every component."""
        width = int(self.ws.room[workspace.WIDTH])
        self.rows.fill(self.natural[:width], self._log_new_of_tile())

    def draw_new_theta(self, k: int, statistics: NDArray[np.float64]) -> None:
        """theta of a component just born, given the statistics of its data so far."""
        family = self.rows.family
        theta = family.draw_theta(statistics[None, :], self.rng)
        self.theta[k] = theta[0]
        self.natural[k] = family.natural(theta)[0]

    def forget_candidate(self) -> None:
        """Column 0 is the component not yet born, and no theta."""
        self.theta[0], self.natural[0], self.natural[0, -1] = 0.0, 0.0, _NEVER

    def _columns(self) -> NDArray[np.int64]:
        """The columns of the components that exist."""
        return np.flatnonzero(self.ws.alive)[1:]

    def _begin_pass(self) -> None:
        """Now and then compact slots and columns, and recompute the sums of statistics."""
        self.passes += 1
        tidy = self.passes % _PASSES_PER_TIDY == 2  # a chain of one sweep need not
        if tidy:
            new = workspace.tidy(self.ws)
            self.rows.renumber(new.new_slot, new.new_column)
            used = len(new.columns)
            for array in (self.theta, self.natural):
                array[:used] = array[new.columns]
            self.natural[used:, -1] = _NEVER
        # Rows that change their component are few: moving them is less than adding all.
        self._sums_are_old = self.rows.family.subtracts_well and not tidy
        if not self._sums_are_old:
            self.sums[:] = 0.0

    def make_room(self) -> None:
        """Half as many slots or columns again, whichever are short, and enough for one datum.

        Never both for one: a tree of many nodes would make room for as many components.
        """
        slots, columns = self.ws.log_beta.shape
        room = self.ws.room
        if room[workspace.FREE_SLOTS] < room[workspace.DEPTH]:
            slots += slots // 2 + int(room[workspace.DEPTH])
        if not self.rates.n_fixed and not room[workspace.FREE_COLUMNS]:
            columns += columns // 2
        self.ws = workspace.grow(self.ws, slots, columns)
        used = len(self.theta)
        more = ((0, len(self.ws.held) - used), (0, 0))
        self.theta, self.natural, self.sums = (
            np.pad(array, more) for array in (self.theta, self.natural, self.sums)
        )
        self.natural[used:, -1] = _NEVER


def _held(state: State, rows: LocalRows) -> Held:
    """What a chain that starts at `state` holds, with its rows placed."""
    ws, family, k = workspace.load(state), rows.family, state.n_components
    columns = len(ws.held)
    theta = np.zeros((columns, family.n_parameters))
    theta[1 : k + 1] = state.theta
    natural = np.zeros((columns, family.n_statistics))
    natural[:, -1] = _NEVER
    natural[1 : k + 1] = family.natural(state.theta)
    sums = np.zeros((columns, family.n_statistics))
    for _ in rows.tiles():
        rows.add_to(sums)
    return Held(ws, theta, natural, sums, state.hyper, state.shared)
