"""Transitions by name. A new transition is one line in this table.

Nothing is imported until a name is asked for.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any

AUTO = "auto"
"""The name that leaves the choice to the data; an estimator knows what it stands for."""

# The module and the class that a name stands for.
TRANSITIONS: dict[str, str] = {
    "hdp": "bhmc.model.hdp.setting:Hdp",
    "diffused": "bhmc.model.diffused.setting:Diffused",
    "gaussian": "bhmc.model.diffused.setting:GaussianNodes",
}


def transition_named(transition: Any) -> Any:
    """The transition that a name stands for; an object stands for itself.

    Parameters
    ----------
    transition : str or Transition
        A name of `TRANSITIONS`, or what it stands for with settings of its own.
    """
    if isinstance(transition, str):
        if transition not in TRANSITIONS:
            names = ", ".join(repr(name) for name in (AUTO, *TRANSITIONS))
            raise ValueError(f"transition={transition!r} is not known; choose one of {names}.")
        module, _, name = TRANSITIONS[transition].partition(":")
        return getattr(import_module(module), name)()
    if isinstance(transition, type) or not hasattr(transition, "samplers"):
        raise TypeError(f"transition must be a name or a transition, got {transition!r}.")
    if transition.name not in TRANSITIONS:
        raise ValueError(
            f"transition={transition!r} is not registered: add its name to "
            f"bhmc.model.registry.TRANSITIONS."
        )
    return transition


def unbound(transition: Any) -> Any:
    """`transition`, if its concentrations are still to come.

    Parameters
    ----------
    transition : Transition
        What a user gave an estimator, whose parameters are the concentrations.
    """
    if transition.hyper != type(transition)().hyper:
        raise ValueError(
            f"transition={transition!r} has concentrations of its own: give them as alpha, gamma0 "
            f"and gamma."
        )
    return transition


def with_moves(transition: Any, moves: Any) -> Any:
    """The transition with these block moves in every sweep.

    Parameters
    ----------
    transition : Transition
        One with a field `moves` has block moves; another has none.
    moves : str or sequence of str
        Names of moves, "auto" for all that there are, () for none.
    """
    moves = tuple(moves) if isinstance(moves, list) else moves
    if hasattr(transition, "moves"):
        return replace(transition, moves=moves)
    if moves in ("auto", ()):
        return transition
    raise ValueError(
        f"transition={transition.name!r} has no block moves: moves must be 'auto' or (), got "
        f"{moves!r}."
    )


def transition_of(state: Any) -> Any:
    """The transition that a state belongs to.

    Parameters
    ----------
    state : State
        Its `params` name the transition.
    """
    return transition_named(state.params.transition)
