"""`Hdp`: the published transition, as the rest of the package sees it. Wiring, no mathematics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp import density, simulate, start
from bhmc.model.hdp.captured import check_captured
from bhmc.model.hdp.moves import check_moves, chosen_moves
from bhmc.model.hdp.params import HdpParams, check_allowed
from bhmc.model.hdp.workspace import DEPTH
from bhmc.model.hyper import sample_hyper
from bhmc.model.protocol import Predictive, Tuned
from bhmc.model.state import Hyper, Partition, State
from bhmc.priors import LEARN_BY, Prior
from bhmc.rows.local import LocalRows

# Rows of a start stay where they are for so many rounds, in which what goes with them settles: the
# first weights are none of the model's, and shared numbers begin at middling values.
_ROUNDS_OF_START = 5

_NOT_BOUND = Hyper(1.0, 1.0, 1.0)

# "auto" fixes alpha: a row opens a new branch at a node of m rows with odds of 0.1 to m. Learned,
# alpha follows the branches of its own tree, and on real tables nearly every row gets a leaf.
_FEW_BRANCHES = 0.1


@dataclass(frozen=True)
class Hdp:
    """beta_root ~ GEM(gamma0) and beta_z ~ DP(gamma, beta_parent); theta_k ~ H independently.

    Parameters
    ----------
    hyper : Hyper
        Concentrations; `bind` puts them in.
    walk : bool, default=False
        Whether concentrations are learned by the paper's random walk, not by slices.
    moves : "auto" or tuple of str, default=()
        Block moves of every sweep: "relocate", "regraft", or all that the sampler has ("auto").
    """

    hyper: Hyper = _NOT_BOUND
    walk: bool = False
    moves: str | tuple[str, ...] = ()

    name: ClassVar[str] = "hdp"
    samplers: ClassVar[tuple[str, ...]] = ("gibbs", "mh", "paper", "blocked")
    cost: ClassVar[float] = 1.0
    located: ClassVar[bool] = False
    params: ClassVar[type] = HdpParams

    def usual_priors(self, how: str) -> Mapping[str, Prior]:
        """What "learn" stands for: `Gamma(2, 10)` for alpha and gamma, `Gamma(1, 1)` for gamma0."""
        return LEARN_BY[how]

    def usual_numbers(self, how: str) -> Mapping[str, Prior | float]:
        """What "auto" stands for: alpha is 0.1, the others are learned; with "paper" all are."""
        learn = self.usual_priors(how)
        return learn if how == "paper" else {**learn, "alpha": _FEW_BRANCHES}

    def bind(self, hyper: Hyper, how: str = "exact") -> "Hdp":
        """The transition with these concentrations."""
        return replace(self, hyper=hyper, walk=how == "paper")

    def learned(self) -> Mapping[str, Prior]:
        """The priors of the concentrations that are learned, by name."""
        return self.hyper.priors

    def tuned(self, chain_of: Callable[["Hdp"], Any]) -> Tuned:
        """The transition itself: nothing is chosen by the data."""
        return Tuned(self)

    def check(self, likelihood: Any, n_levels: int, sampler: str) -> None:
        """Refuse the published sampler for the finite form, which it does not have, and with block
        moves.
        """
        check_moves(self.moves)
        if sampler == "paper" and self.moves not in ("auto", ()):
            raise ValueError("sampler='paper' has no block moves: moves must be 'auto' or ().")
        if sampler == "paper" and self.hyper.n_components is not None:
            raise ValueError(
                "sampler='paper' exists for the infinite form only, not for a fixed number of "
                "components."
            )
        if likelihood.needs_places:
            raise ValueError(
                f"transition='hdp' has no weights of rows, which {type(likelihood).__name__} with "
                "finite degrees needs: use transition='diffused' or 'gaussian', or degrees=inf."
            )

    def simulate(
        self, n: int, *, n_levels: int, likelihood: Any, n_features: int, rng: np.random.Generator
    ) -> tuple[State, NDArray[np.float64]]:
        """(V, c, B, theta) and X from the model."""
        return simulate.simulate(
            n,
            n_levels=n_levels,
            hyper=self.hyper,
            likelihood=likelihood,
            n_features=n_features,
            rng=rng,
        )

    def drawn(self, rng: np.random.Generator) -> "Hdp":
        """The transition with a draw in place of every prior."""
        return replace(self, hyper=sample_hyper(self.hyper, rng))

    def start(
        self,
        rows: LocalRows,
        labels: NDArray[np.integer] | None,
        *,
        n_levels: int,
        rng: np.random.Generator,
    ) -> State:
        """A draw of everything unknown given where the rows are, or with that from the prior.

        Weights, theta and shared numbers come from the sampler's own conditionals.
        """
        family, hyper = rows.family, self.hyper
        _check_no_gaps(family)
        if labels is None:
            state = start.prior_state(rows.n_rows, n_levels=n_levels, hyper=hyper, rng=rng)
        else:
            state = start.labelled_state(labels, n_levels=n_levels, hyper=hyper)
        sums = family.sums(state.components, state.n_components)
        state = state._replace(theta=family.draw_theta(sums, rng), shared=rows.shared)
        if labels is None:
            return state
        chain = replace(self, walk=False, moves=()).sampler(state, rows, "gibbs", rng)
        for _ in range(_ROUNDS_OF_START):
            chain.redraw_weights()
            chain.redraw_theta()
        return chain.state()

    def complete(
        self, rows: LocalRows, partition: Partition, like: State, rng: np.random.Generator
    ) -> State:
        """theta from its posterior given the components; then rounds of the weights' conditional.

        One draw of the weights depends on those before it, by way of the tables; theta does not.
        """
        rows.turn_to(like.shared)
        family, state = rows.family, start.placed_state(partition, like)
        sums = family.sums(state.components, state.n_components)
        state = state._replace(theta=family.draw_theta(sums, rng))
        chain = replace(self, walk=False, moves=()).sampler(state, rows, "gibbs", rng)
        chain.stop_learning()
        for _ in range(_ROUNDS_OF_START):
            chain.redraw_weights()
        return chain.state()

    def log_density(self, state: State, family: Any) -> float:
        """log p(X, theta, c, B, V | hyper), and the log priors of what is learned."""
        priors = self.learned()
        return (
            density.log_likelihood(state, family)
            + density.log_p_weights(state)
            + float(family.log_prior(state.theta).sum())
            + family.log_prior_shared()
            + sum(prior.log_density(getattr(state.hyper, n)) for n, prior in priors.items())
        )

    def sampler(
        self, state: State, rows: LocalRows, name: str, rng: np.random.Generator, engine: Any = None
    ) -> Any:
        """A chain that starts at a state."""
        _check_no_gaps(rows.family)
        kind, settings = self._kind(name, engine, state.n_levels)
        return kind.from_state(state, rows, name, rng, **settings)

    def resume(
        self, captured: Mapping[str, Any], rows: LocalRows, name: str, rng: np.random.Generator
    ) -> Any:
        """A chain that resumes, bit for bit, from what `capture` returned."""
        check_captured(captured, rows, self.hyper)
        depth = int(captured["workspace"]["room"][DEPTH])
        kind, settings = self._kind(name, None, depth)
        return kind.resume(captured, rows, name, rng, **settings)

    def adopt(self, state: State) -> State:
        """The state with these concentrations; those to be learned keep the state's numbers."""
        return check_allowed(state, self.hyper)

    def predictive(self, of: Any, level: int) -> Predictive:
        """Where the next row goes at a level."""
        from bhmc.model.hdp.predictive import at_level

        return at_level(of, level)

    def component_weights(self, of: Any) -> NDArray[np.float64]:
        """(K + 1,) the probability of each component for the next row, the remainder last."""
        from bhmc.model.hdp.predictive import component_weights

        return component_weights(of)

    def places(self, of: Any) -> None:
        """None: all components are draws from H."""
        return

    def _kind(self, name: str, engine: Any, n_levels: int) -> tuple[Any, dict[str, Any]]:
        """The class of the sampler, and what it is made with. Numba is loaded here."""
        from bhmc.model.hdp.blocked import BlockedHdpSampler
        from bhmc.model.hdp.published import PublishedSampler, draw_weights_and_walk
        from bhmc.model.hdp.sampler import HdpSampler

        moves = chosen_moves(self.moves, name, n_levels)
        settings: dict[str, Any] = {"learning": self.hyper, "moves": moves}
        if engine is not None:
            settings["engine"] = engine
        if self.walk:
            settings["draw_weights"] = draw_weights_and_walk
        kinds = {"paper": PublishedSampler, "blocked": BlockedHdpSampler}
        return kinds.get(name, HdpSampler), settings


def _check_no_gaps(family: Any) -> None:
    """Refuse rows whose missing entries would have to be drawn."""
    if family.has_latent:
        raise ValueError(
            "transition='hdp' skips missing entries (NaN) and does not draw them, which a family "
            "with correlated columns needs: use likelihood='shared_gaussian' or 'gaussian', fill "
            "them in, or use transition='diffused'."
        )
