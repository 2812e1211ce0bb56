"""What the parameters of an estimator ask of its chains, and the chains run so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.chain_run import Task, transition_chain
from bhmc._estimator.checkpoint import describe_fit
from bhmc._estimator.progress import Listener
from bhmc._estimator.rounds import Aim, Course, most_sweeps, run_rounds
from bhmc._estimator.rows_of_fit import RowsElsewhere
from bhmc._estimator.sizes import (
    AUTO,
    PILOT_ROWS,
    draws_for,
    sampler_for,
    threads_for,
    warmup_of_sample,
)
from bhmc._estimator.warm_start import Going, chains_to_go_on
from bhmc._sampling.settled_start import sweeps_to_settle
from bhmc.likelihoods import ColumnSummary, ConjugateFamily, Likelihood
from bhmc.model.protocol import Sampler, Transition, Tuned
from bhmc.posterior.retention import Plan, memory_sentence, plan

# Of a pilot chain. What it chooses shall be the same whatever the seed of a fit is, so that fits
# with two seeds differ by chance alone.
_PILOT_SEED = 0

# Starts that a chain may leave before its first sweep that counts.
_STARTS_THAT_SETTLE = ("kmeans", "ward", "single")

# Heavy tails are taken where a pilot chain has fewer than this share of the components with them.
_FAR_FEWER = 0.75


class Chosen(NamedTuple):
    """What a fit samples, with all that the data choose."""

    likelihood: Likelihood
    family: ConjugateFamily
    """The likelihood bound to the data."""
    transition: Transition


def chosen_by_data(
    model: Any,
    likelihood: Likelihood,
    family: ConjugateFamily,
    transition: Transition,
    init: Any,
    data: Any,
) -> Chosen:
    """The transition with its own settings, and for "auto" whether the noise has heavy tails.

    Rows far out need components of their own where the noise is Gaussian. So, where a pilot chain
    has more components than a person can read, it runs again with tails; they are taken if it then
    has at most three quarters as many. A few fewer say nothing: a pilot chain is short.

    Parameters
    ----------
    model : BHMC
        The estimator, its parameters checked.
    likelihood : Likelihood
        What its likelihood stands for.
    family : ConjugateFamily
        The likelihood bound to the data.
    transition : Transition
        Bound to its concentrations.
    init : str or array
        As in `BHMC`, after `check_init`.
    data : (n, d) array or sparse matrix
        The data.
    """
    plain = _tuned(model, likelihood, family, transition, init, data)
    tailed = likelihood.with_tails(data) if plain.too_many and _is_auto(model.likelihood) else None
    if tailed is not None:
        bound = tailed.prepare(data)
        heavy = _tuned(model, tailed, bound, transition, init, data)
        if heavy.n_components < _FAR_FEWER * plain.n_components:
            return Chosen(tailed, bound, heavy.transition)
    return Chosen(likelihood, family, plain.transition)


def _tuned(
    model: Any,
    likelihood: Likelihood,
    family: ConjugateFamily,
    transition: Transition,
    init: Any,
    data: Any,
) -> Tuned:
    """The transition with the settings that it chooses by the data, or by evenly spaced rows."""
    rng, n = np.random.default_rng(_PILOT_SEED), family.n_rows
    if n > PILOT_ROWS:
        rows = np.arange(0, n, -(-n // PILOT_ROWS))
        family = bound_to(likelihood, data, rows)
        init = "kmeans" if isinstance(init, str) and init == "sample" else init
        init = init if isinstance(init, str) else init[rows]

    def chain_of(pilot: Transition) -> Sampler:
        make_chain: Any = task_of(model, likelihood, family, pilot, init, data).make_chain
        return make_chain(rng, None, lambda: False, n_settling=0)

    with one_blas_thread():
        return transition.tuned(chain_of)


def bound_to(likelihood: Likelihood, data: Any, rows: NDArray[np.int64]) -> ConjugateFamily:
    """The family of a sample of the rows, each with the statistics that it has among all rows.

    Parameters
    ----------
    likelihood : Likelihood
        The family's setting.
    data : (n, d) array or sparse matrix
        All rows.
    rows : (m,) array
        Numbers of the rows.
    """
    return likelihood.prepare(data[rows], ColumnSummary.of(data).of_sample(len(rows)))


def task_of(
    model: Any,
    likelihood: Likelihood,
    family: ConjugateFamily,
    transition: Transition,
    init: Any,
    data: Any,
    numbers: str | None = None,
    elsewhere: RowsElsewhere | None = None,
) -> Task:
    """What the chains are to do.

    Parameters
    ----------
    model : BHMC
        The estimator, its parameters checked.
    likelihood : Likelihood
        What its likelihood stands for.
    family : ConjugateFamily
        The likelihood bound to the data.
    transition : Transition
        Bound to its concentrations.
    init : str or array
        As in `BHMC`, after `check_init`.
    data : (n, d) array or sparse matrix
        The data.
    numbers : str, optional
        The family of numbers that held-out rows chose, if they were asked.
    elsewhere : RowsElsewhere, optional
        All rows, where they are not in memory; `family` and `data` are of those that are watched.
    """
    n_rows = family.n_rows if elsewhere is None else elsewhere.n_rows
    sampler = sampler_for(model, transition, n_rows)
    stand_for = {"transition": transition.name, "sampler": sampler, "init": init}
    chosen = {name: value for name, value in stand_for.items() if _is_auto(getattr(model, name))}
    if numbers is not None:
        chosen["likelihood"] = numbers
    n_draws = draws_for(model, init)
    return Task(
        make_chain=partial(
            transition_chain,
            family=family,
            transition=transition,
            n_levels=model.n_levels,
            sampler=sampler,
            init=init,
            precision=model.precision,
            n_settling=_sweeps_to_settle(model, n_rows, init),
            n_threads=threads_for(model),
            **_where(elsewhere, likelihood, data, model.precision),
        ),
        n_warmup=model.n_warmup - warmup_of_sample(model, init),
        n_draws=n_draws,
        thin=model.thin,
        as_paper=model.hyper == "paper",
        plan=_plan(model, family.n_rows, n_draws),
        chosen=chosen,
        is_outdated=elsewhere.is_outdated if elsewhere and elsewhere.may_lose else None,
    )


def _where(
    elsewhere: RowsElsewhere | None, likelihood: Likelihood, data: Any, precision: str
) -> dict[str, Any]:
    """Where chains find their rows, and a sample of them."""
    if elsewhere is None:
        return {"of_rows": partial(bound_to, likelihood, data)}
    bound = elsewhere.bind(likelihood)
    return {
        "of_rows": partial(elsewhere.family_of, likelihood),
        "rows_of_chain": partial(elsewhere.rows_of_chain, likelihood, bound, precision),
    }


def _sweeps_to_settle(model: Any, n_rows: int, init: Any) -> int:
    """Sweeps that are part of the start; a start that a person gives, or the prior, is as it is."""
    if not (isinstance(init, str) and init in _STARTS_THAT_SETTLE):
        return 0
    return sweeps_to_settle(n_rows, model.n_warmup)


def run_task(
    model: Any,
    task: Task,
    seeds: list,
    X: Any,
    listeners: Sequence[Listener],
    cost: float = 1.0,
    elsewhere: RowsElsewhere | None = None,
) -> tuple[Course, Going]:
    """How all chains have run, and what a later fit goes on from.

    Parameters
    ----------
    model : BHMC
        The estimator.
    task : Task
        What `task_of` gave.
    seeds : list of SeedSequence
        One for each chain.
    X : array or sparse matrix
        The data.
    listeners : sequence of Listener
        Hear of every sweep beside the bar and the callbacks.
    cost : float, default=1.0
        As in `most_sweeps`.
    elsewhere : RowsElsewhere, optional
        All rows, where they are not in memory; X are those that are watched.
    """
    memory = memory_sentence(model.keep, X.shape[0], task.n_draws, model.n_chains)
    fit = describe_fit(model.get_params(), elsewhere or X, task.chosen)
    aim = _aim(model, X.shape[0], cost, elsewhere)
    chains = chains_to_go_on(model, fit)
    try:
        course = run_rounds(model, task, aim, seeds, elsewhere or X, memory, listeners, chains)
    finally:
        if elsewhere is not None:
            elsewhere.close()
    return course, Going(fit, course.chains, any(course.unsaved))


def _is_auto(parameter: Any) -> bool:
    return isinstance(parameter, str) and parameter == AUTO


def _plan(model: Any, n_rows: int, n_draws: int) -> Plan:
    """What a chain of so many draws keeps."""
    shape = {"n_rows": n_rows, "n_draws": n_draws, "n_chains": model.n_chains}
    return plan(model.keep, best=model.estimate == "map", **shape)


def _aim(model: Any, n_watched: int, cost: float, elsewhere: RowsElsewhere | None) -> Aim:
    """When the chains are to end."""
    n_rows = n_watched if elsewhere is None else elsewhere.n_rows
    return Aim(
        plan_for=partial(_plan, model, n_watched),
        # After the paper's warm-up nothing is learned, and chains that stand apart stay apart.
        auto=model.n_draws == AUTO and model.hyper != "paper",
        adds=model.warm_start,
        most_sweeps=partial(most_sweeps, n_rows, cost),
        max_seconds=np.inf if model.max_seconds is None else model.max_seconds,
    )
