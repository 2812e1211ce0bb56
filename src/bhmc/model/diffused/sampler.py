"""`DiffusedSampler`: a chain of the diffused transition. Wiring; the conditionals are elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.likelihoods.slice_sampler import slice_draw
from bhmc.model.diffused import kernels
from bhmc.model.diffused.atom_splits import split_and_merge
from bhmc.model.diffused.forest import Forest, grown, new_forest, planted
from bhmc.model.diffused.latent_rows import draw_latent, redraw_latent
from bhmc.model.diffused.locations import steps_of
from bhmc.model.diffused.logit_shifts import shift_logits
from bhmc.model.diffused.prior import log_tree
from bhmc.model.diffused.row_numbers import RowNumbers, no_integrals, row_numbers
from bhmc.model.diffused.row_stage import RowStage
from bhmc.model.diffused.start import in_order
from bhmc.model.diffused.tree_stage import redraw_tree
from bhmc.model.state import Hyper, Info, Partition, Sizes, State, paths_to
from bhmc.rows.local import LocalRows


class DiffusedSampler:
    """A chain of the diffused transition.

    Parameters
    ----------
    forest : Forest
        Tree and atoms, in the coordinates of the rows' family.
    rows : LocalRows
        The data, at the numbers that components share; `component` holds slots of atoms.
    hyper : Hyper
        The current concentrations.
    setting : Transition
        What is learned, and which moves there are.
    rng : numpy.random.Generator
        Where all randomness comes from.
    engine : module, default=kernels
        The compiled conditionals, or others in tests.
    """

    stages = (
        "redraw_rows",
        "redraw_latent",
        "redraw_atoms",
        "redraw_tree",
        "redraw_variances",
        "redraw_shared",
        "redraw_concentrations",
    )

    power_of_splits = 1.0
    """How much seldomer splits of atoms are made where rows are more."""

    def __init__(
        self,
        forest: Forest,
        rows: LocalRows,
        hyper: Hyper,
        setting: Any,
        rng: np.random.Generator,
        engine: Any = None,
    ):
        self.forest, self.rows, self.rng, self._setting = forest, rows, rng, setting
        self.engine = engine or kernels
        self.source = self.engine.random_source(rng)
        self._hyper, self.priors = hyper, dict(setting.learned())
        self.steps = setting.step_prior(rows.family, forest.depth)
        self.learns, self.blocks = True, self.family.blocks()
        self._firsts = np.unique(self.blocks, return_index=True)[1]
        has_noise = self.family.prior_on_tree().has_noise
        self.is_logit = ~has_noise[self.blocks[forest.column]]
        self.known = no_integrals() if self.is_logit.any() else no_integrals(0)
        self._sums: NDArray[np.float64] | None = None
        self._numbers: tuple[Any, slice, RowNumbers] | None = None
        self._events = np.zeros(5, dtype=np.int64)
        if self.family.has_latent:
            rows.hold(self.family.latent)

    # ---- From and to states --------------------------------------------------------------------

    @classmethod
    def from_state(
        cls, state: State, rows: LocalRows, setting: Any, rng: np.random.Generator, engine=None
    ) -> Self:
        """The chain that starts at a state.

        Parameters
        ----------
        state : State
            Where it begins.
        rows : LocalRows
            The data; they are placed as the state says.
        setting, rng, engine
            As in the class.
        """
        rows.turn_to(state.shared)
        rows.put(slice(None), 0, state.components)
        family: Any = rows.family
        depth = setting.depth(state.n_levels)
        inner = state.levels <= depth  # ids are in order of level where leaves are atoms
        partition = Partition(
            state.paths[:, depth], state.components, state.parents[inner].astype(np.int32)
        )
        forest = planted(partition, depth, *family.precision_columns())
        forest.location[:] = family.enter(state.params.locations[inner])
        forest.theta[:] = family.enter(state.theta)
        forest.variance[:] = state.params.variances[:, family.blocks()]
        forest.origin[:] = family.enter(family.prior_on_tree().origin[None])[0]
        chain = cls(forest, rows, state.hyper, setting, rng, engine)
        draw_latent(chain)
        return chain

    def state(self) -> State:
        """A copy of the current state."""
        self.tidy()
        forest, partition = self.forest, self.partition()
        family, k = self.family, int(self.forest.used[1])
        # Copies: where coordinates are the parameters themselves, `leave` hands back what it gets.
        theta = np.array(family.leave(forest.theta[:k]))
        locations = np.array(family.leave(forest.location[: forest.used[0]]))
        if not self._setting.params.atoms_below_leaves:
            locations = np.vstack([locations, theta])
        params = self._setting.params(locations, self.variances, self._hyper)
        n_levels = self._setting.n_levels(forest.depth)
        return State(
            paths_to(partition.leaf, partition.parents, n_levels),
            partition.component.astype(np.int32),
            partition.parents,
            theta,
            self.shared,
            params,
        )

    def partition(self) -> Partition:
        """A copy of the current tree and components, a leaf and a component a row."""
        self.tidy()
        forest, component = self.forest, self.rows.watched()
        m, k = forest.used
        parents = forest.parent[:m]
        if self._setting.params.atoms_below_leaves:
            return Partition(
                forest.leaf[component].astype(np.int32),
                component.astype(np.int32),
                parents.astype(np.int32),
            )
        return Partition(
            (component + m).astype(np.int32),
            component.astype(np.int32),
            np.concatenate([parents, forest.leaf[:k]]).astype(np.int32),
        )

    def capture(self) -> dict[str, Any]:
        """All that the chain needs to resume bit for bit, except the data and the generator."""
        self.tidy()
        forest, (m, k) = self.forest, self.forest.used
        of_nodes, of_atoms = ("parent", "level", "rows", "location"), ("leaf", "count", "theta")
        held = {name: getattr(forest, name)[:m].copy() for name in of_nodes}
        held |= {name: getattr(forest, name)[:k].copy() for name in of_atoms}
        latent = {"latent": self.family.latent.copy()} if self.family.has_latent else {}
        return latent | {
            "forest": held | {"variance": forest.variance.copy()},
            "origin": forest.origin.copy(),
            "component": self.rows.all_components(),
            "hyper": self._hyper._asdict(),
            "shared": np.array(self.rows.shared),
            "learns": self.learns,
        }

    @classmethod
    def resume(
        cls, captured: Mapping[str, Any], rows: LocalRows, setting: Any, rng: np.random.Generator
    ) -> Self:
        """The chain that resumes, bit for bit, where `capture` found another.

        Parameters
        ----------
        captured : mapping
            What `capture` returned.
        rows : LocalRows
            The same data; they are placed as they were.
        setting, rng
            As in the class; `rng` is the generator as it was.
        """
        rows.turn_to(np.array(captured["shared"], dtype=np.float64))
        rows.put(slice(None), 0, captured["component"])
        held = captured["forest"]
        n_nodes, n_atoms, depth = len(held["level"]), len(held["leaf"]), len(held["variance"]) - 2
        family: Any = rows.family
        column, repeats = family.precision_columns()
        forest = new_forest(n_nodes, n_atoms, depth, column, repeats, rows.n_rows)
        for name, value in held.items():
            getattr(forest, name)[:] = value
        forest.origin[:] = captured["origin"]
        forest.used[:] = (forest.level >= 0).sum(), (forest.leaf >= 0).sum()
        chain = cls(forest, rows, Hyper(**captured["hyper"]), setting, rng)
        if family.has_latent:
            latent = captured["latent" if "latent" in captured else "weights"]  # its name before
            rows.hold(np.array(latent, dtype=np.float64))
        if not captured["learns"]:
            chain.stop_learning()
        return chain

    # ---- What others see -----------------------------------------------------------------------

    def sweep(self) -> Info:
        """One full sweep in place."""
        self._events[:] = 0
        for stage in self.stages:
            getattr(self, stage)()
        self._events[4] = self.rows.n_rows
        return Info(*self._events.tolist())

    def sizes(self) -> Sizes:
        """How large nodes and components are."""
        forest = self.forest
        nodes, atoms = np.flatnonzero(forest.level >= 0), np.flatnonzero(forest.leaf >= 0)
        levels, held, counts = forest.level[nodes], forest.rows[nodes], forest.count[atoms]
        if not self._setting.params.atoms_below_leaves:
            levels = np.concatenate([levels, np.full(len(atoms), forest.depth + 1)])
            held = np.concatenate([held, counts])
        return Sizes(levels, held, counts, even=True)

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """(m,) slots of these rows' atoms."""
        return self.rows.components_of(rows)

    def log_likelihood(self) -> float:
        """log p(X, c, V | theta), the complete-data log likelihood of the current state."""
        self.tidy()
        family, forest = self.family, self.forest
        natural = family.natural(family.leave(forest.theta[: forest.used[1]]))
        log_f = self.rows.log_likelihood(natural, self.sums())
        return log_f + family.log_base_sum() + self.log_partition()

    def log_partition(self) -> float:
        """log p(V, c): of the tree and of the components of all rows."""
        return self._log_tree(self._hyper)

    def log_prior(self) -> float:
        """log p(m, theta | variances), and the log priors of what is learned."""
        steps, v = steps_of(self.forest, self.engine)
        log_steps = -0.5 * float((steps**2 / v + np.log(2 * np.pi * v)).sum())
        learned = sum(p.log_density(getattr(self._hyper, name)) for name, p in self.priors.items())
        return (
            log_steps
            + self.steps.log_density(self.variances)
            + self.family.log_prior_noise()
            + learned
        )

    def learned(self) -> dict[str, Any]:
        """Concentrations and variances of the steps by name."""
        return {**self._hyper.concentrations, "step_variances": self.variances[1:].T.ravel()}

    def stop_learning(self) -> None:
        """Concentrations, variances and what components share stay where they are from now on."""
        self.priors, self.learns = {}, False

    @property
    def shared(self) -> NDArray[np.float64]:
        """(q,) the current numbers that all components share."""
        family, forest = self.family, self.forest
        root = family.leave(forest.location[:1])[0]
        return family.shared_at(root, self.variances[1:].sum(axis=0))

    @property
    def variances(self) -> NDArray[np.float64]:
        """(L + 2, blocks) variances of the root's location and of the steps to each level."""
        return self.forest.variance[:, self._firsts]

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree."""
        extra = 0 if self._setting.params.atoms_below_leaves else self.n_components
        return int(np.count_nonzero(self.forest.level >= 0)) + extra

    @property
    def n_components(self) -> int:
        """Number of components that exist."""
        return int(np.count_nonzero(self.forest.leaf >= 0))

    def turn_to_kappa(self, kappa: float) -> None:
        """Go on under another kappa; steps that are too short for it are made longer.

        Parameters
        ----------
        kappa : float
            As in the transition.
        """
        self._setting = replace(self._setting, kappa=kappa)
        self.steps = self._setting.step_prior(self.family, self.forest.depth)
        raised = in_order(self.variances, self.steps.least)
        self.forest.variance[:] = raised[:, self.blocks]

    # ---- Stages --------------------------------------------------------------------------------

    def redraw_rows(self) -> None:
        """Path and component of every row, one by one, given m and theta."""
        before = self.n_nodes, self.n_components
        RowStage(self).run()
        self.forget_sums()
        self.tidy()
        self._count_events(*before)

    def redraw_latent(self) -> None:
        """How often rows count, or their missing entries, given theta, where the family says so."""
        redraw_latent(self)

    def redraw_atoms(self) -> None:
        """Atoms split and merge through their rows, given the locations of nodes: those of a leaf,
        and those on branches of their own.
        """
        split_and_merge(self, self._setting.moves)

    def redraw_tree(self) -> None:
        """Tree given the atoms' evidence, m and theta integrated out; then m and theta, and the
        move "shift".
        """
        redraw_tree(self, self._setting.moves)
        if "shift" in self._setting.moves:
            self.tidy()
            shift_logits(self)

    def redraw_variances(self) -> None:
        """v_1, ..., v_(L+1) given the steps, between their neighbours."""
        if not self.learns:
            return
        variances = self.variances
        counts, squares = np.zeros(variances.shape), np.zeros(variances.shape)
        self.engine.add_squares(self.forest, self.blocks, counts, squares)
        drawn = self.steps.draw(variances, counts, squares, self.rng)
        self.forest.variance[:] = drawn[:, self.blocks]

    def redraw_shared(self) -> None:
        """What components share, given theta, all rows and the steps, whose units it is."""
        family = self.family
        if not self.learns or not family.n_shared:
            return
        self.tidy()
        forest = self.forest
        steps, v = steps_of(forest, self.engine)
        scaled = steps / np.sqrt(v)
        m, k = forest.used.tolist()
        theta = family.leave(forest.theta[:k])
        self.rows.turn_to(family.draw_shared_at(theta, self.sums(), scaled, self.rng))
        places = np.concatenate([forest.theta[:k], forest.location[:m], forest.origin[None]])
        places = family.carried_to(self.family, places)
        forest.theta[:k], forest.location[:m] = places[:k], places[k : k + m]
        forest.origin[:] = places[k + m]

    def redraw_concentrations(self) -> None:
        """alpha and g given the tree, each by a slice of its logarithm."""
        for name in [name for name in self.priors if name != "gamma0"]:
            prior = self.priors[name]

            def log_density(value: float, name: str = name, prior: Any = prior) -> float:
                hyper = self._hyper._replace(**{name: value})
                return prior.log_density(value) + self._log_tree(hyper)

            value = slice_draw(log_density, getattr(self._hyper, name), self.rng)
            self._hyper = self._hyper._replace(**{name: value})

    # ---- What stages share ---------------------------------------------------------------------

    @property
    def family(self) -> Any:
        """The family at the current shared numbers; it is `Located`."""
        return self.rows.family

    @property
    def rates(self) -> tuple[float, float]:
        """(alpha, g) as the kernels take them."""
        return self._setting.concentrations(self._hyper)

    def sums(self) -> NDArray[np.float64]:
        """(K, s) sums of the statistics of every atom's rows; atoms have no holes."""
        if self._sums is None:
            k = int(self.forest.used[1])
            self._sums = self.rows.sums_by(np.arange(k), self.rows.component, k)
        return self._sums

    def numbers_of(self, rows: slice) -> RowNumbers:
        """Rows in the family's coordinates; where a tile holds them all, stages share them.

        Parameters
        ----------
        rows : slice
            Which rows.
        """
        held = self._numbers
        if held is not None and held[0] is self.family and held[1] == rows:
            return held[2]
        numbers = row_numbers(self.family, rows)
        if self.rows.height >= self.rows.n_rows:
            self._numbers = self.family, rows, numbers
        return numbers

    def forget_sums(self) -> None:
        """Rows have moved."""
        self._sums = None

    def tidy(self, n_nodes: int = 0, n_atoms: int = 0) -> None:
        """No holes among nodes and atoms, parents before children, and at least so many slots."""
        forest = self.forest
        if len(forest.level) < n_nodes or len(forest.leaf) < n_atoms:
            more = n_nodes - len(forest.level), n_atoms - len(forest.leaf)
            forest = self.forest = grown(forest, max(more[0], 0), max(more[1], 0))
        if self.engine.are_in_order(forest.level, forest.leaf, forest.used):
            return
        new_atom, old = np.empty(forest.used[1], dtype=np.int64), np.flatnonzero(forest.leaf >= 0)
        self.engine.put_in_order(forest, new_atom)
        if len(new_atom) > forest.used[1]:  # there were holes
            self.rows.renumber_columns(new_atom)
            if self._sums is not None:
                self._sums = self._sums[old]  # they keep their order

    def _log_tree(self, hyper: Hyper) -> float:
        forest = self.forest
        nodes, atoms = np.flatnonzero(forest.level >= 0), np.flatnonzero(forest.leaf >= 0)
        children = np.bincount(forest.parent[nodes[1:]], minlength=len(forest.level))
        children += np.bincount(forest.leaf[atoms], minlength=len(forest.level))
        inner = forest.level[nodes] < forest.depth
        alpha, g = self._setting.concentrations(hyper)
        return log_tree(forest.rows[nodes], forest.count[atoms], children[nodes], inner, alpha, g)

    def _count_events(self, nodes: int, components: int) -> None:
        """Only the change of the numbers is known."""
        for place, change in ((0, self.n_nodes - nodes), (2, self.n_components - components)):
            self._events[place] = max(change, 0)
            self._events[place + 1] = max(-change, 0)
