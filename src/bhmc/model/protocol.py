"""What a model offers: `Transition`, what a user names; `Sampler`, a chain of it; `Predictive`.

Estimator, run, recorder, progress, checkpoints, search and baselines see nothing else of a model.
CONTRIBUTING.md has a whole minimal transition.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Hyper, Info, Partition, Sizes, State
from bhmc.priors import Prior

Floats = NDArray[np.float64]


class Sampler(Protocol):
    """A chain: a state and what one sweep of it needs."""

    stages: ClassVar[tuple[str, ...]]
    """Names of methods that each leave the posterior alone; a sweep calls them in turn."""

    def sweep(self) -> Info:
        """One full sweep in place."""
        ...

    def state(self) -> Any:
        """A copy of the current state: a `State`, or what a model without levels has for it."""
        ...

    def partition(self) -> Partition:
        """A copy of the current tree and components, a leaf and a component a row."""
        ...

    def sizes(self) -> Sizes:
        """How large nodes and components are; `partition().sizes()`, or quicker."""
        ...

    def components_of(self, rows: NDArray[np.int64]) -> NDArray[np.integer]:
        """(m,) numbers that are equal where two rows are in one component.

        Parameters
        ----------
        rows : (m,) array
            Numbers of rows.
        """
        ...

    def log_likelihood(self) -> float:
        """The complete-data log likelihood of the current state."""
        ...

    def log_prior(self) -> float:
        """The log prior of component parameters and of what is learned."""
        ...

    def learned(self) -> dict[str, Any]:
        """Copies of the numbers and arrays that the transition may learn, by name, those that are
        fixed included.
        """
        ...

    def stop_learning(self) -> None:
        """What is learned stays where it is from now on."""
        ...

    def capture(self) -> dict[str, Any]:
        """All that the chain needs to resume bit for bit, except the data and the generator."""
        ...

    @property
    def shared(self) -> Floats:
        """(q,) the current numbers that all components share."""
        ...

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the tree."""
        ...

    @property
    def n_components(self) -> int:
        """Number of components that exist."""
        ...


class Predictive(NamedTuple):
    """Where the next row goes at one level of m nodes before it is seen, by what it looks like.

    Atoms are the K components that exist and, last, those not yet seen: one, or as many as there
    are places where a component may begin.
    """

    share: Floats
    """(m, A) p(it passes through this node | it joins a node that exists, atom)."""
    log_join: Floats
    """(A,) log p(it joins a node that exists, atom)."""
    log_leave: Floats
    """(A,) log p(it has left for a new branch at a level above, atom)."""


class Places(NamedTuple):
    """Where components begin, in a model whose components have a place on the tree."""

    location: Floats
    """(M, p) means of a new component's theta, in the units of theta."""
    variance: Floats
    """(M, blocks) variances of it around them, in units of the noise where there is one."""
    of_component: NDArray[np.int64]
    """(K,) which of them each component that exists began at."""


class Tuned(NamedTuple):
    """A transition with what it chose by the data, and what its pilot chain was like."""

    transition: Any
    n_components: float = float("nan")
    """Components of the pilot chain; NaN where there was none."""
    too_many: bool = False
    """Whether a person cannot read so many."""


class Transition(Protocol):
    """How a child's components relate to its parent's: what a user names, a frozen dataclass."""

    name: ClassVar[str]
    """As in the registry."""
    samplers: ClassVar[tuple[str, ...]]
    """Names of its samplers, the usual one first."""
    located: ClassVar[bool]
    """Whether components have a place on the tree, so that families must be `Located`."""
    cost: ClassVar[float]
    """How long a sweep takes, where one of "hdp" takes 1: rounds of draws end sooner."""
    params: ClassVar[type]
    """The class of what it adds to a state: a NamedTuple, which files hold under its name."""

    @property
    def hyper(self) -> Hyper:
        """The concentrations it is bound to: numbers, or priors where they are learned."""
        ...

    def usual_priors(self, how: str) -> Mapping[str, Prior | float]:
        """What "learn" stands for, by the name of the concentration: a prior, or a number.

        Parameters
        ----------
        how : {"exact", "paper"}
            How concentrations are learned.
        """
        ...

    def usual_numbers(self, how: str) -> Mapping[str, Prior | float]:
        """What "auto" stands for, by the name of the concentration: a prior, or a number.

        Parameters
        ----------
        how : {"exact", "paper"}
            How concentrations are learned.
        """
        ...

    def bind(self, hyper: Hyper, how: str = "exact") -> Self:
        """The transition with these concentrations.

        Parameters
        ----------
        hyper : Hyper
            Numbers, or priors where they are learned.
        how : {"exact", "paper"}
            How they are learned.
        """
        ...

    def learned(self) -> Mapping[str, Prior]:
        """The priors of what is learned, by name."""
        ...

    def tuned(self, chain_of: Callable[[Any], Sampler]) -> "Tuned":
        """The transition with the settings that it chooses by the data, before sampling.

        Parameters
        ----------
        chain_of : callable
            Makes a pilot chain of a transition, at its start.
        """
        ...

    def check(self, likelihood: Any, n_levels: int, sampler: str) -> None:
        """Refuse in one clear sentence what does not fit together.

        Parameters
        ----------
        likelihood : Likelihood
            The family, in units of 1 where its scales come from data.
        n_levels : int
            Steps from the root to a leaf.
        sampler : str
            One of `samplers`.
        """
        ...

    def simulate(
        self,
        n: int,
        *,
        n_levels: int,
        likelihood: Any,
        n_features: int,
        rng: np.random.Generator,
    ) -> tuple[State, Floats]:
        """Everything forwards from the model: a state and its data. It imports no sampler code.

        Parameters
        ----------
        n : int
            Number of data.
        n_levels : int
            Steps from the root to a leaf.
        likelihood : Likelihood
            The family with its base measure H.
        n_features : int
            Columns of the data.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        ...

    def drawn(self, rng: np.random.Generator) -> Self:
        """The transition with a draw in place of every prior.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        ...

    def start(
        self,
        rows: Any,
        labels: NDArray[np.integer] | None,
        *,
        n_levels: int,
        rng: np.random.Generator,
    ) -> State:
        """Where a chain begins. The transition has numbers in place of priors.

        Parameters
        ----------
        rows : Rows
            The data, their family at the shared numbers that a chain begins with.
        labels : (n, m) array, optional
            Groups of the rows, coarse to fine; without them the prior says where rows are.
        n_levels : int
            Steps from the root to a leaf.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        ...

    def adopt(self, state: State) -> State:
        """The state with this transition's concentrations; those to be learned keep their numbers.

        Parameters
        ----------
        state : State
            Whose form (finite or infinite) must be the transition's.
        """
        ...

    def complete(
        self, rows: Any, partition: Partition, like: State, rng: np.random.Generator
    ) -> State:
        """A draw of all else that is unknown given tree and components.

        Concentrations and shared numbers are those of another draw.

        Parameters
        ----------
        rows : Rows
            The data.
        partition : Partition
            Tree and components, as many levels and at most as many components as a draw may have.
        like : State
            The other draw.
        rng : numpy.random.Generator
            Where all randomness comes from.
        """
        ...

    def log_density(self, state: State, family: Any) -> float:
        """log p(X, everything unknown), the priors of what is learned included.

        Parameters
        ----------
        state : State
            A draw.
        family : Family
            The likelihood bound to the data, at the state's shared numbers.
        """
        ...

    def sampler(
        self, state: State, rows: Any, name: str, rng: np.random.Generator, engine: Any = None
    ) -> Sampler:
        """A chain that starts at a state.

        Parameters
        ----------
        state : State
            Where it begins.
        rows : Rows
            The data.
        name : str
            One of `samplers`.
        rng : numpy.random.Generator
            Where all randomness comes from.
        engine : module, optional
            Other conditionals than the compiled ones: the slow twin, or a mutant.
        """
        ...

    def resume(
        self, captured: Mapping[str, Any], rows: Any, name: str, rng: np.random.Generator
    ) -> Sampler:
        """A chain that resumes, bit for bit, from what `Sampler.capture` returned.

        Parameters
        ----------
        captured : mapping
            What `capture` returned, by way of a file: check it where kernels would not.
        rows : Rows
            The same data.
        name : str
            The same sampler.
        rng : numpy.random.Generator
            The generator as it was.
        """
        ...

    def predictive(self, of: Any, level: int) -> Predictive:
        """Where the next row goes at a level.

        Parameters
        ----------
        of : State or Tree
            The draw.
        level : int
            0 is the root.
        """
        ...

    def component_weights(self, of: Any) -> Floats:
        """(A,) the probability of each atom for the next row, those not yet seen last.

        Parameters
        ----------
        of : State or Tree
            The draw.
        """
        ...

    def places(self, of: Any) -> Places | None:
        """Where components may begin; None where all are draws from H.

        Parameters
        ----------
        of : State or Tree
            The draw.
        """
        ...
