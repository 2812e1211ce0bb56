"""bhmc: Bayesian hierarchical mixture clustering, sampled exactly.

`BHMC` is the scikit-learn estimator. `sample_prior`, `sample_data`, `sweep` and `log_joint` are the
functional layer for those who test or extend the samplers. `describe_prior` and `search` help with
settings.
"""

from bhmc import datasets, likelihoods, priors
from bhmc._density import log_joint
from bhmc._describe import PriorDescription, describe_prior
from bhmc._estimator import BHMC
from bhmc._prior import sample_data, sample_prior
from bhmc._search import SearchResult, search
from bhmc._state import Hyper, Info, State
from bhmc._version import __version__
from bhmc.sampling import sweep, warmup
from bhmc.tree import Tree

__all__ = [
    "BHMC",
    "Hyper",
    "Info",
    "PriorDescription",
    "SearchResult",
    "State",
    "Tree",
    "__version__",
    "datasets",
    "describe_prior",
    "likelihoods",
    "log_joint",
    "priors",
    "sample_data",
    "sample_prior",
    "search",
    "sweep",
    "warmup",
]
