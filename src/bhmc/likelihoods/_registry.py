"""The one list of likelihoods. A new likelihood is one file and one line here.

Nothing is imported before it is asked for: the command line reads the names without waiting for
NumPy. The estimator, saving, the command line and `bhmc.likelihoods` itself all read this list.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bhmc.likelihoods._protocol import Likelihood

AUTO = "auto"
"""The name that leaves the choice of the family to the data."""


class Entry(NamedTuple):
    """Where the class of a likelihood is, as "module:Class", and the settings that a name adds."""

    path: str
    settings: Mapping[str, Any] = MappingProxyType({})


# What a name stands for where its scales come from data.
FAMILIES: dict[str, Entry] = {
    "gaussian": Entry("bhmc.likelihoods.adaptive_gaussian:AdaptiveGaussian"),
    "spherical_gaussian": Entry(
        "bhmc.likelihoods.shared_gaussian:SharedGaussian", {"covariance": "spherical"}
    ),
    "shared_gaussian": Entry("bhmc.likelihoods.shared_gaussian:SharedGaussian"),
    "tied_gaussian": Entry(
        "bhmc.likelihoods.shared_gaussian:SharedGaussian", {"covariance": "full"}
    ),
    "shaped_gaussian": Entry("bhmc.likelihoods.shaped_gaussian:ShapedGaussian"),
    "tailed_gaussian": Entry(
        "bhmc.likelihoods.shaped_gaussian:ShapedGaussian", {"degrees": "auto"}
    ),
    "free_gaussian": Entry("bhmc.likelihoods.free_gaussian:FreeGaussian"),
    "full_gaussian": Entry("bhmc.likelihoods.full_gaussian:FullGaussian"),
    "known_gaussian": Entry("bhmc.likelihoods.gaussian:Gaussian"),
    "bernoulli": Entry("bhmc.likelihoods.bernoulli:Bernoulli"),
    "categorical": Entry("bhmc.likelihoods.categorical:Categorical"),
    "poisson": Entry("bhmc.likelihoods.poisson:Poisson"),
    "multinomial": Entry("bhmc.likelihoods.multinomial:Multinomial"),
}

# Public classes that no name stands for.
_WITHOUT_NAME = ("bhmc.likelihoods.product:Product",)

# A class that files hold and that users do not write.
_IN_FILES_ONLY = ("bhmc.likelihoods.adaptive_gaussian:SettledGaussian",)


def names() -> tuple[str, ...]:
    """Every name of a likelihood, "auto" first."""
    return (AUTO, *FAMILIES)


def names_with_places() -> tuple[str, ...]:
    """The names of the likelihoods whose components can sit on a diffusing tree."""
    return tuple(name for name in FAMILIES if unscaled(name).has_places)


def class_of(name: str) -> type["Likelihood"]:
    """The class that a name other than "auto" stands for."""
    return _loaded(FAMILIES[name].path)


def unscaled(name: str) -> "Likelihood":
    """The likelihood that a name other than "auto" stands for, before it has its scales."""
    return class_of(name)(**FAMILIES[name].settings)


def by_name(name: str, X: Any = None, **settings: Any) -> "Likelihood":
    """The likelihood that a name stands for.

    Parameters
    ----------
    name : str
        A name other than "auto".
    X : (n, d) array, optional
        All rows of the data, from which the likelihood takes its scales. Without data "gaussian"
        is `Gaussian(1, 0, 1)`, which has nothing to learn its scales from.
    **settings
        Settings of the class, beyond those that the name adds.
    """
    settings = {**FAMILIES[name].settings, **settings}
    if X is not None:
        return class_of(name).scaled_to(X, **settings)
    return class_of("known_gaussian")() if name == "gaussian" else class_of(name)(**settings)


def public_classes() -> tuple[str, ...]:
    """The names of the classes that users write, in alphabetical order; nothing is imported."""
    return tuple(sorted(_class_name(path) for path in _public_paths()))


def public_class(class_name: str) -> type["Likelihood"] | None:
    """The class of `bhmc.likelihoods` with this name, imported now; None if there is none."""
    paths = [path for path in _public_paths() if _class_name(path) == class_name]
    return _loaded(paths[0]) if paths else None


def registered_classes() -> tuple[type["Likelihood"], ...]:
    """Every likelihood class that a saved file may hold; all families are imported."""
    return tuple(_loaded(path) for path in (*_public_paths(), *_IN_FILES_ONLY))


def _public_paths() -> Iterator[str]:
    """The paths of the public classes, each once."""
    return iter(dict.fromkeys([*(entry.path for entry in FAMILIES.values()), *_WITHOUT_NAME]))


def _class_name(path: str) -> str:
    return path.partition(":")[2]


def _loaded(path: str) -> type["Likelihood"]:
    module, _, class_name = path.partition(":")
    return getattr(import_module(module), class_name)
