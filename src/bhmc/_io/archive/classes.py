"""The classes that a file may hold, by name. A file names a class of this table or is refused.

That is why reading a file runs no code but the checks of these classes, and why likelihoods that
users write cannot be saved. All are dataclasses or named tuples: their fields are their contents.
"""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from bhmc import priors
from bhmc.likelihoods import registered_classes
from bhmc.model.protocol import Places
from bhmc.model.registry import TRANSITIONS, transition_named
from bhmc.model.state import Hyper, Info, State
from bhmc.posterior.draws import Draws, Mixture, Partition
from bhmc.posterior.family_evidence import FamilyEvidence, Tried
from bhmc.posterior.recorder import WarmupTraces
from bhmc.tree import Tree
from bhmc.tree.node_features import NodeFeatures

_PRIORS = (priors.Gamma, priors.Uniform, priors.Beta, priors.InverseGamma)
_OTHERS = (
    *(Tree, NodeFeatures, Draws, Partition, Mixture, Places, State, Hyper, Info),
    *(WarmupTraces, FamilyEvidence, Tried),
)

# A name stays as it is for ever: files hold it. A class may move to another room.
CLASSES: dict[str, type] = {
    **{cls.__name__: cls for cls in _OTHERS},
    **{f"priors.{cls.__name__}": cls for cls in _PRIORS},
    **{f"likelihoods.{cls.__name__}": cls for cls in registered_classes()},
}
NAMES: dict[type, str] = {cls: name for name, cls in CLASSES.items()}

# A transition of the registry, and what it adds to a state, are named by the transition:
# "transition.hdp", "params.hdp".
_PARAMS, _TRANSITION = "params.", "transition."


def class_named(name: Any) -> type | None:
    """The class that a file names; None where there is no such class.

    Parameters
    ----------
    name : object
        What the file has as the name of a class.
    """
    if isinstance(name, str) and name.startswith((_PARAMS, _TRANSITION)):
        kind, _, transition = name.partition(".")
        if transition not in TRANSITIONS:
            return None
        found = transition_named(transition)
        return type(found) if f"{kind}." == _TRANSITION else found.params
    return CLASSES.get(name)


def name_of(cls: type) -> str | None:
    """The name of a class in files; None where files cannot hold its objects.

    Parameters
    ----------
    cls : type
        Any class.
    """
    if cls in NAMES:
        return NAMES[cls]
    names = (
        f"{_PARAMS}{getattr(cls, 'transition', '')}",
        f"{_TRANSITION}{getattr(cls, 'name', '')}",
    )
    return next((name for name in names if class_named(name) is cls), None)


def contents(value: Any) -> dict[str, Any]:
    """The fields of an object of one of these classes, by name."""
    return {name: getattr(value, name) for name in field_names(type(value))}


def field_names(cls: type) -> list[str]:
    """Names of the fields, in order."""
    if is_dataclass(cls):
        return [field.name for field in fields(cls) if field.init]
    return list(cls._fields)  # pyright: ignore[reportAttributeAccessIssue]


def required_names(cls: type) -> list[str]:
    """Names of the fields that have no default: a file must have them."""
    if is_dataclass(cls):
        return [
            field.name
            for field in fields(cls)
            if field.init and field.default is MISSING and field.default_factory is MISSING
        ]
    defaults = cls._field_defaults  # pyright: ignore[reportAttributeAccessIssue]
    return [name for name in field_names(cls) if name not in defaults]
