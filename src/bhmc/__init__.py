"""bhmc: Bayesian hierarchical mixture clustering, sampled exactly.

`BHMC` is the scikit-learn estimator. `sample_prior`, `sample_data`, `sweep` and `log_joint` are the
functional layer for those who test or extend the samplers. `describe_prior` and `search` help with
settings.
"""

import logging
import typing

from bhmc._version import __version__

if typing.TYPE_CHECKING:
    from bhmc import baselines, datasets, likelihoods, metrics, plotting, preprocessing, priors
    from bhmc._estimator.bhmc import BHMC
    from bhmc._estimator.warmup import warmup
    from bhmc._sampling.sweep import sweep
    from bhmc._search import SearchResult, search
    from bhmc.metrics import TreeComparison, compare_trees
    from bhmc.model.density import log_joint
    from bhmc.model.describe_prior import PriorDescription, describe_prior
    from bhmc.model.simulate import sample_data, sample_prior
    from bhmc.model.state import Hyper, Info, State
    from bhmc.tree import NodeDescription, Tree

# Lines of `logging.getLogger("bhmc")` go nowhere until a program asks for them.
logging.getLogger("bhmc").addHandler(logging.NullHandler())

__all__ = [
    "BHMC",
    "Hyper",
    "Info",
    "NodeDescription",
    "PriorDescription",
    "SearchResult",
    "State",
    "Tree",
    "TreeComparison",
    "__version__",
    "baselines",
    "compare_trees",
    "datasets",
    "describe_prior",
    "likelihoods",
    "log_joint",
    "metrics",
    "plotting",
    "preprocessing",
    "priors",
    "sample_data",
    "sample_prior",
    "search",
    "sweep",
    "warmup",
]

# Names are imported when they are first asked for, from these rooms, and so is a room itself
# (`bhmc.datasets`). So `bhmc --help` need not wait seconds for Numba and scikit-learn.
_ROOMS = {
    "BHMC": "_estimator.bhmc",
    "Hyper": "model.state",
    "Info": "model.state",
    "NodeDescription": "tree",
    "PriorDescription": "model.describe_prior",
    "SearchResult": "_search",
    "State": "model.state",
    "Tree": "tree",
    "TreeComparison": "metrics",
    "compare_trees": "metrics",
    "describe_prior": "model.describe_prior",
    "log_joint": "model.density",
    "sample_data": "model.simulate",
    "sample_prior": "model.simulate",
    "search": "_search",
    "sweep": "_sampling.sweep",
    "warmup": "_estimator.warmup",
}


def __getattr__(name: str) -> typing.Any:
    room = f"bhmc.{_ROOMS.get(name, name)}"
    try:
        if name.startswith("__"):
            raise ModuleNotFoundError(name=room)
        # Not importlib.import_module, whose own frame a warning about the import would point at.
        module = __import__(room, fromlist=[name])
    except ModuleNotFoundError as error:
        if error.name != room:  # the room is there, and something it needs is not
            raise
        raise AttributeError(f"module 'bhmc' has no attribute {name!r}") from None
    value = globals()[name] = getattr(module, name) if name in _ROOMS else module
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
