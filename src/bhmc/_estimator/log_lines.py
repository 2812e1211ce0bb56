"""What a fit writes to `logging.getLogger("bhmc")`: what was chosen, every decision, the end.

All lines have the level INFO. Nothing is shown unless a program asks for it, for example with
`logging.basicConfig(level=logging.INFO)`.
"""

import logging
from typing import Any

from bhmc.likelihoods import Likelihood
from bhmc.model.protocol import Transition

_LOGGER = logging.getLogger("bhmc")


def log_choice(shape: tuple[int, int], likelihood: Likelihood, transition: Transition) -> None:
    """The family and the transition that a fit samples, with kappa where there is one.

    Parameters
    ----------
    shape : (rows, columns)
        Of the data.
    likelihood : Likelihood
        The family.
    transition : Transition
        The transition, with what it chose by the data.
    """
    kappa = getattr(transition, "kappa", None)
    how = transition.name if kappa is None else f"{transition.name}, kappa {kappa:.3g}"
    rows, columns = shape
    _LOGGER.info("%d x %d table: %s; transition %s", rows, columns, likelihood.describe(), how)


def log_decision(n_sweeps: int, worst_rhat: float, ended_by: str, next_sweeps: int) -> None:
    """What was decided at the end of a round.

    Parameters
    ----------
    n_sweeps : int
        Sweeps of a chain by then.
    worst_rhat : float
        The largest R-hat.
    ended_by : str
        What ends the fit, as in `BHMC.ended_by_`; "" where another round follows.
    next_sweeps : int
        Sweeps of a chain at the next decision.
    """
    then = f"ended by {ended_by}" if ended_by else f"next decision after {next_sweeps} sweeps"
    _LOGGER.info("%d sweeps of each chain: largest R-hat %.3g; %s", n_sweeps, worst_rhat, then)


def log_fit(model: Any) -> None:
    """The end of a fit.

    Parameters
    ----------
    model : BHMC
        The fitted estimator.
    """
    tree = model.tree_
    for said in (model.family_evidence_, model.family_note_):
        if said:
            _LOGGER.info("%s", said)
    _LOGGER.info(
        "fit done: %d sweeps of %d chains, ended by %s; tree of %d nodes, %d leaves, %d components",
        *(model.n_sweeps_, model.draws_.n_chains, model.ended_by_),
        *(tree.n_nodes, tree.n_leaves, tree.n_components),
    )
