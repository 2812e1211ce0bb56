"""`Diffused` and `GaussianNodes`: transitions whose locations diffuse from parent to child."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bhmc.model.diffused import predictive, replanting, simulate, start
from bhmc.model.diffused.captured import check_captured
from bhmc.model.diffused.forest import planted
from bhmc.model.diffused.params import DiffusedParams, GaussianParams
from bhmc.model.diffused.prior import StepPrior
from bhmc.model.hyper import sample_hyper
from bhmc.model.protocol import Places, Predictive, Tuned
from bhmc.model.state import Hyper, Partition, State
from bhmc.priors import Gamma, Prior

MOVES = ("split", "branch", "atom", "subtree", "regroup", "steps", "shift")

# Rounds in which what goes with the rows of a start settles, the rows staying where they are.
_ROUNDS_OF_START = 5

AUTO = "auto"

_FEW = 0.005
_NOT_BOUND = Hyper(_FEW, 1.0, _FEW)


@dataclass(frozen=True)
class Diffused:
    """m_z ~ N(m_parent, v_l Sigma), theta_k ~ N(m_leaf, v_(L+1) Sigma), x ~ N(theta_k, Sigma).

    A leaf's rows choose components by CRP(gamma); every component belongs to one leaf. The
    variances are learned: v_1 > ... > v_(L+1) > kappa.

    Parameters
    ----------
    hyper : Hyper
        Concentrations; `bind` puts them in. gamma0 plays no part.
    kappa : float or "auto", default="auto"
        How far apart the components of a leaf are at least, as a variance in units of the noise.
        "auto": what a pilot chain finds to give a tree that can be read (`resolution.py`), and 1
        where there is no data.
    moves : "auto" or tuple of str, default="auto"
        Block moves of every sweep.
    """

    hyper: Hyper = _NOT_BOUND
    kappa: float | str = AUTO
    moves: str | tuple[str, ...] = "auto"

    name: ClassVar[str] = "diffused"
    samplers: ClassVar[tuple[str, ...]] = ("gibbs", "blocked")
    cost: ClassVar[float] = 4.0
    located: ClassVar[bool] = True
    params: ClassVar[type] = DiffusedParams

    # ---- What the kernels see ------------------------------------------------------------------

    def depth(self, n_levels: int) -> int:
        """The level of the nodes that have atoms."""
        return n_levels

    def n_levels(self, depth: int) -> int:
        """The level of the leaves of a state, where nodes of level `depth` have atoms."""
        return depth

    def concentrations(self, hyper: Hyper) -> tuple[float, float]:
        """(alpha, g): of inner nodes, and of nodes that have atoms."""
        return hyper.alpha, hyper.gamma

    def step_prior(self, family: Any, depth: int) -> StepPrior:
        """The prior of the variances."""
        prior = family.prior_on_tree()
        return StepPrior(prior.spread, np.full(len(prior.spread), self.least_step), depth)

    @property
    def least_step(self) -> float:
        """kappa as a number."""
        return 1.0 if isinstance(self.kappa, str) else self.kappa

    def tuned(self, chain_of: Callable[["Diffused"], Any]) -> Tuned:
        """The transition with kappa as a number, by the sweeps of a pilot chain."""
        if self.kappa != AUTO:
            return Tuned(self)
        from bhmc.model.diffused.resolution import readable

        pilot = chain_of(self)
        kappa, size = readable(pilot)
        too_many = size.has_too_many_components(pilot.rows.n_rows)
        return Tuned(replace(self, kappa=kappa), size.components, too_many)

    # ---- Transition ----------------------------------------------------------------------------

    def usual_priors(self, how: str) -> Mapping[str, Prior | float]:
        """What "learn" stands for."""
        return {"alpha": Gamma(2, 10), "gamma0": 1.0, "gamma": Gamma(2, 10)}

    def usual_numbers(self, how: str) -> Mapping[str, Prior | float]:
        """What "auto" stands for: alpha and gamma are 0.005."""
        return {"alpha": _FEW, "gamma0": 1.0, "gamma": _FEW}

    def bind(self, hyper: Hyper, how: str = "exact") -> "Diffused":
        """The transition with these concentrations; those that play no part are numbers."""
        others = {name: 1.0 for name in hyper.priors if name not in self._own}
        return replace(self, hyper=hyper._replace(**others))

    def learned(self) -> Mapping[str, Prior]:
        """The priors of the concentrations that are learned, by name."""
        return {name: prior for name, prior in self.hyper.priors.items() if name in self._own}

    _own: ClassVar[tuple[str, ...]] = ("alpha", "gamma")

    def check(self, likelihood: Any, n_levels: int, sampler: str) -> None:
        """Refuse families whose components have no place on a tree, and the finite form."""
        check_located(likelihood, self.name)
        _check_moves(self.moves)
        _check_kappa(self.kappa)
        if self.hyper.n_components is not None:
            raise ValueError(f"transition={self.name!r} has no fixed number of components.")

    def simulate(
        self, n: int, *, n_levels: int, likelihood: Any, n_features: int, rng: np.random.Generator
    ) -> tuple[State, NDArray[np.float64]]:
        """(V, c, m, theta) and X from the model."""
        hyper = sample_hyper(self.hyper, rng)
        drawn = simulate.simulate(
            n,
            depth=self.depth(n_levels),
            concentrations=self.concentrations(hyper),
            kappa=self.least_step,
            likelihood=likelihood,
            n_features=n_features,
            rng=rng,
        )
        state = simulate.as_state(drawn, likelihood, hyper, self.params)
        X = likelihood.at(state.shared).sample_data(state.theta[state.components], rng)
        return state, X

    def drawn(self, rng: np.random.Generator) -> "Diffused":
        """The transition with a draw in place of every prior."""
        return replace(self, hyper=sample_hyper(self.hyper, rng))

    def start(
        self,
        rows: Any,
        labels: NDArray[np.integer] | None,
        *,
        n_levels: int,
        rng: np.random.Generator,
    ) -> State:
        """Everything unknown given where the rows are; without labels all share one component.

        The noise of a single component would be all variance that there is, and with it no row
        needs another one: so it stays where the family begins.
        """
        if labels is None:
            labels = np.zeros((rows.n_rows, 1), dtype=np.int64)
        partition = start.labelled_partition(labels, self.depth(n_levels))
        chain = replace(self, moves=())._chain_at(rows, partition, self.hyper, None, rng)
        for _ in range(_ROUNDS_OF_START):
            self._settle(chain, learns_noise=chain.n_components > 1)
        return chain.state()

    def complete(
        self, rows: Any, partition: Partition, like: State, rng: np.random.Generator
    ) -> State:
        """m and theta given tree and components, at the numbers of another draw."""
        rows.turn_to(like.shared)
        depth = self.depth(like.n_levels)
        placed = Partition(
            partition.nodes_at(depth, like.n_levels),
            partition.component,
            partition.parents[partition.levels <= depth],
        )
        bare = replace(self, moves=())
        chain = bare._chain_at(rows, placed, like.hyper, like.params.variances, rng)
        for _ in range(_ROUNDS_OF_START):  # more than one where evidence needs a theta
            chain.redraw_tree()
            chain.redraw_latent()
        return chain.state()

    def may_replant(self, chain: Any) -> bool:
        """Whether `replanted` can compare trees over the atoms of a chain."""
        return replanting.has_comparable_trees(chain)

    def replanted(self, chain: Any, trees_of: Callable[..., list[NDArray[np.integer]]]) -> State:
        """The state of a chain, or of one of other trees over the same atoms if more probable."""
        atoms = replanting.atoms_of(chain)
        if atoms is None:
            return chain.state()
        trees = trees_of(*atoms, n_levels=chain.forest.depth)
        places = [replanting.partition_over(chain, labels) for labels in trees]
        most, best = replanting.settled_log_tree(chain), chain.state()
        for partition in places:
            other = self._with_moves()._chain_at(chain.rows, partition, best.hyper, None, chain.rng)
            log_tree = replanting.settled_log_tree(other)
            if log_tree > most:
                most, best = log_tree, other.state()
        return best

    def _chain_at(self, rows: Any, partition: Partition, hyper: Hyper, variances, rng) -> Any:
        """A chain whose rows are placed; its nodes are not yet."""
        from bhmc.model.diffused.sampler import DiffusedSampler

        family, depth = rows.family, int(partition.levels.max())
        partition = _apart(partition)
        rows.put(slice(None), 0, partition.component)
        forest = planted(partition, depth, *family.precision_columns())
        forest.origin[:] = family.enter(family.prior_on_tree().origin[None])[0]
        forest.location[:] = forest.origin
        chain = DiffusedSampler(forest, rows, hyper, self, rng)
        forest.theta[:] = family.own_places(chain.sums(), forest.origin)
        if variances is None:
            variances = start.settled_variances(forest, chain.steps, family.blocks())
        forest.variance[:] = variances[:, family.blocks()]
        return chain

    def _settle(self, chain: Any, learns_noise: bool) -> None:
        """One round of all that goes with the rows."""
        chain.redraw_tree()
        chain.redraw_latent()
        if learns_noise:
            chain.redraw_shared()
        chain.redraw_variances()

    def log_density(self, state: State, family: Any) -> float:
        """log p(X, m, theta, c, V, variances | hyper), and the log priors of what is learned."""
        from bhmc.rows.local import LocalRows

        chain = self.sampler(state, LocalRows(family), "gibbs", np.random.default_rng(0))
        return chain.log_likelihood() + chain.log_prior()

    def sampler(
        self, state: State, rows: Any, name: str, rng: np.random.Generator, engine: Any = None
    ) -> Any:
        """A chain that starts at a state. Numba is loaded here."""
        return self._kind(name).from_state(state, rows, self._with_moves(), rng, engine)

    def resume(
        self, captured: Mapping[str, Any], rows: Any, name: str, rng: np.random.Generator
    ) -> Any:
        """A chain that resumes, bit for bit, from what `capture` returned."""
        check_captured(captured, rows, self.hyper)
        return self._kind(name).resume(captured, rows, self._with_moves(), rng)

    @staticmethod
    def _kind(name: str) -> Any:
        """The class of a sampler."""
        from bhmc.model.diffused.blocked import BlockedDiffusedSampler
        from bhmc.model.diffused.sampler import DiffusedSampler

        return BlockedDiffusedSampler if name == "blocked" else DiffusedSampler

    def adopt(self, state: State) -> State:
        """The state with these concentrations; those to be learned keep the state's numbers."""
        current = {name: getattr(state.hyper, name) for name in self.hyper.priors}
        return state.with_params(hyper=self.hyper._replace(**current))

    def predictive(self, of: Any, level: int) -> Predictive:
        """Where the next row goes at a level."""
        return predictive.at_level(of, level, self._log_options(of), self.depth(of.n_levels))

    def component_weights(self, of: Any) -> NDArray[np.float64]:
        """(K + M,) the probability of each component, and of a new one at each place."""
        return np.exp(self._log_options(of))

    def _log_options(self, of: Any) -> NDArray[np.float64]:
        hyper = of.hyper if isinstance(of, State) else Hyper(of.alpha, 1.0, of.concentrations[1])
        rates = self.concentrations(hyper)
        return predictive.log_option_weights(of, *rates, self.depth(of.n_levels))

    def places(self, of: Any) -> Places:
        """Where components may begin: at a leaf, or below an inner node."""
        return predictive.places(of, self.depth(of.n_levels))

    def _with_moves(self) -> "Diffused":
        return replace(self, moves=MOVES) if self.moves == "auto" else self


@dataclass(frozen=True)
class GaussianNodes(Diffused):
    """m_z ~ N(m_parent, v_l Sigma), x ~ N(m_leaf, Sigma): a leaf is a component.

    The Gaussian-to-Gaussian kernel of the paper's Figure 1. It is `Diffused` with a level less,
    whose components are the leaves: they are children by CRP(alpha), as other nodes are.
    """

    name: ClassVar[str] = "gaussian"
    params: ClassVar[type] = GaussianParams
    _own: ClassVar[tuple[str, ...]] = ("alpha",)

    def depth(self, n_levels: int) -> int:
        """The level above the leaves."""
        return n_levels - 1

    def n_levels(self, depth: int) -> int:
        """A level more than that of the nodes above the leaves."""
        return depth + 1

    def concentrations(self, hyper: Hyper) -> tuple[float, float]:
        """(alpha, alpha)."""
        return hyper.alpha, hyper.alpha


def _check_kappa(kappa: Any) -> None:
    """Refuse what is neither "auto" nor a number from 0 on."""
    number = float(kappa) if isinstance(kappa, Real) and not isinstance(kappa, bool) else -1.0
    if kappa != AUTO and not 0 <= number < np.inf:
        raise ValueError(f"kappa must be 'auto' or a number from 0 on, got {kappa!r}.")


def _check_moves(moves: Any) -> None:
    """Refuse names of moves that there are not."""
    named = () if moves == "auto" else moves
    if isinstance(named, str) or any(name not in MOVES for name in named):
        raise ValueError(
            f"moves must be 'auto' or a tuple of names, of {', '.join(map(repr, MOVES))}, got "
            f"{moves!r}."
        )


def check_located(likelihood: Any, name: str) -> None:
    """Refuse a family whose components have no place on a diffusing tree."""
    from bhmc.likelihoods import names_with_places

    if likelihood.has_places:
        return
    raise ValueError(
        f"transition={name!r} needs a family whose components have a place on the tree, and "
        f"{_without_place(likelihood)} has none: use one of {', '.join(names_with_places())}, a "
        "Product of such families, or transition='hdp'."
    )


def _without_place(likelihood: Any) -> str:
    """Which family has none."""
    from bhmc.likelihoods import Product

    if isinstance(likelihood, Product):
        return f"{likelihood.first_without_place()} in Product"
    if isinstance(likelihood, type):
        return likelihood.__name__
    kind = type(likelihood)
    return f"{kind.__name__} with a prior of sigma2" if kind.has_places else kind.__name__


def _apart(partition: Partition) -> Partition:
    """The partition whose components are in one leaf each: those in several become several."""
    pairs = np.column_stack([partition.leaf, partition.component])
    component = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    return partition._replace(component=component.astype(np.int32))
