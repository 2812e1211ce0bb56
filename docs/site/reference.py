"""The pages of the API reference: one for each public room, with every public name of it."""

import importlib
import inspect
from typing import NamedTuple

import bhmc


class Room(NamedTuple):
    """A page of the reference.

    Fields
    ------
    module : what the names are imported from
    file : the page, without its ending
    title : its heading
    opening : what a reader finds there, in a sentence or two
    names : the names shown, or None for all of the module that no other page names
    """

    module: str
    file: str
    title: str
    opening: str
    names: tuple[str, ...] | None = None


_ESTIMATOR = ("BHMC",)
_RESULTS = ("Tree", "NodeDescription")
_SETTINGS = ("describe_prior", "PriorDescription", "search", "SearchResult", "warmup")
_FUNCTIONS = ("sample_prior", "sample_data", "sweep", "log_joint", "Hyper", "State", "Info")

ROOMS = [
    Room("bhmc", "estimator", "BHMC, the estimator", "`bhmc.BHMC` fits and predicts.", _ESTIMATOR),
    Room(
        "bhmc",
        "tree",
        "Tree",
        "What a fit returns, and what `describe` says of a node.",
        _RESULTS,
    ),
    Room(
        "bhmc.likelihoods",
        "likelihoods",
        "Likelihood families",
        "What a component may look like. [Families](../families.md) says which to choose.",
    ),
    Room(
        "bhmc.priors",
        "priors",
        "Priors of concentrations",
        "Laws of `alpha`, `gamma0`, `gamma` and of what a family learns.",
    ),
    Room(
        "bhmc.plotting",
        "plotting",
        "Plots",
        "Functions that draw with Matplotlib, and the layouts they draw, which need no Matplotlib.",
    ),
    Room(
        "bhmc.datasets",
        "datasets",
        "Data sets",
        "Bundled, read from files and simulated. [Data](../datasets.md) has sources and licences.",
    ),
    Room(
        "bhmc.preprocessing",
        "preprocessing",
        "Preprocessing",
        "Transformers that make columns for a fit.",
    ),
    Room(
        "bhmc.metrics",
        "metrics",
        "Agreement with classes",
        "Scores of trees and clusterings. [Measuring agreement](../metrics.md) says which to use.",
    ),
    Room(
        "bhmc.baselines",
        "baselines",
        "Other methods",
        "Rivals with the same `tree_`. [The rivals](../rivals.md) says how each was built.",
    ),
    Room(
        "bhmc.rows",
        "rows",
        "Tables in files",
        "Rows that stay in a file and are read in blocks. [Many rows](../scale.md) says when.",
    ),
    Room(
        "bhmc",
        "settings",
        "Settings",
        "What settings imply before any data, a search for better ones, compiling ahead of time.",
        _SETTINGS,
    ),
    Room(
        "bhmc.posterior",
        "posterior",
        "Draws and diagnostics",
        "The draws of a fit, what is computed from them, and whether chains agree.",
    ),
    Room(
        "bhmc.tree",
        "nodes",
        "Parts of a tree",
        "What `Tree` and `describe` return for nodes and features.",
    ),
    Room(
        "bhmc",
        "functional",
        "The functional layer",
        "The samplers, driven directly, for those who test or extend them.",
        _FUNCTIONS,
    ),
]

# Every public name of these modules is in the reference; a test compares.
PUBLIC_MODULES = sorted({room.module for room in ROOMS})


def public_names(module: str) -> list[str]:
    """The names of `__all__`, or the classes and functions that the module itself defines."""
    room = importlib.import_module(module)
    if hasattr(room, "__all__"):
        return [name for name in room.__all__ if name != "__version__"]
    own = vars(room).items()
    return [
        name
        for name, value in own
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]


def names_of_page(room: Room) -> list[str]:
    """The names that a page shows. A name that two modules have is shown once."""
    if room.names:
        return list(room.names)
    elsewhere = [getattr(bhmc, name) for other in ROOMS for name in other.names or ()]
    module = importlib.import_module(room.module)
    return [
        name
        for name in public_names(room.module)
        if not any(getattr(module, name) is value for value in elsewhere)
    ]


def page_of_room(room: Room) -> str:
    """A page in Markdown: a heading, the opening, and a directive for every name."""
    lines = [f"# {room.title}", "", room.opening, "", f"In the module `{room.module}`.", ""]
    for name in names_of_page(room):
        lines += ["```{eval-rst}", *directive(room.module, name), "```", ""]
    return "\n".join(lines)


def directive(module: str, name: str) -> list[str]:
    """The directive of autodoc that shows the docstring of a name."""
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        return [f".. autoclass:: {module}.{name}"]
    if callable(value):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. autodata:: {module}.{name}", "   :no-value:"]
