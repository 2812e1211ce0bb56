"""`Parameters`: checks of the parameters of `BHMC`, and the transition that they stand for."""

from functools import partial
from typing import Any

from bhmc._estimator.auto_transition import transition_for
from bhmc._estimator.checkpoint import check_checkpoint
from bhmc._estimator.pilot_families import family_evidence
from bhmc._estimator.sizes import AUTO
from bhmc._validation.column_kinds import check_columns
from bhmc._validation.init import STARTS
from bhmc._validation.parameters import (
    check_choice,
    check_n_jobs,
    check_positive,
    check_whole,
    check_whole_or,
)
from bhmc.likelihoods import kind_of
from bhmc.model.hyper import concentrations
from bhmc.model.protocol import Transition
from bhmc.model.registry import transition_named, unbound, with_moves
from bhmc.model.state import CONCENTRATIONS
from bhmc.posterior.retention import KEEPS
from bhmc.rows.local import PRECISIONS

ESTIMATES = ("vi", "map")


class Parameters:
    """The methods of `BHMC` that read its parameters before anything is sampled."""

    # Set by `BHMC.__init__`; a user may set any of them to anything.
    n_levels: Any
    transition: Any
    likelihood: Any
    columns: Any
    hyper: Any
    fixed_components: Any
    sampler: Any
    moves: Any
    init: Any
    n_warmup: Any
    n_draws: Any
    max_seconds: Any
    n_jobs: Any
    precision: Any
    estimate: Any
    keep: Any
    checkpoint: Any
    checkpoint_interval: Any

    def _check_parameters(self) -> None:
        """Refuse a bad parameter before any work is done."""
        check_whole(self.n_levels, "n_levels", 1)
        check_whole(self.n_warmup, "n_warmup", 0)
        check_whole_or(AUTO, self.n_draws, "n_draws", 1)
        for name in ("thin", "n_chains"):
            check_whole(getattr(self, name), name, 1)
        if self.max_seconds is not None:
            check_positive(self.max_seconds, "max_seconds")
        check_n_jobs(self.n_jobs)
        check_columns(self.columns)
        if self.hyper == "paper" and self.n_warmup == 0:
            raise ValueError(
                "hyper='paper' learns during the warm-up only: n_warmup must be at least 1, got 0."
            )
        check_choice(self.precision, "precision", PRECISIONS)
        check_choice(self.estimate, "estimate", ESTIMATES)
        check_choice(self.keep, "keep", KEEPS)
        if self.checkpoint is not None:
            check_checkpoint(self.checkpoint)
        check_positive(self.checkpoint_interval, "checkpoint_interval")
        if isinstance(self.init, str):
            check_choice(self.init, "init", (AUTO, *STARTS))
        self._bound_transition()

    def _family_by_evidence(self, transition: Transition, X, columns):
        """(what held-out rows say of families of numbers, the transition of the chosen one)."""
        hdp = partial(self._bound, transition_named("hdp")) if self.transition == AUTO else None
        found = family_evidence(self, transition, hdp, X, columns)
        if found is None or hdp is None or found.chosen.transition == transition.name:
            return found, transition
        return found, hdp()

    def _bound_transition(self, X=None, columns=None) -> Transition:
        """The transition with its concentrations and moves, if it fits the other parameters."""
        return self._bound(transition_for(self, X, columns))

    def _bound(self, transition: Transition) -> Transition:
        transition = unbound(transition)
        hyper = concentrations(
            **{name: getattr(self, name) for name in CONCENTRATIONS},
            fixed_components=self.fixed_components,
            hyper=self.hyper,
            transition=transition,
        )
        transition = with_moves(transition.bind(hyper, self.hyper), self.moves)
        check_choice(self.sampler, "sampler", (AUTO, *transition.samplers))
        kind = kind_of(self.likelihood, transition.located)
        transition.check(kind, self.n_levels, self.sampler)
        return transition
