"""Which transition `transition="auto"` stands for."""

from typing import Any

from scipy import sparse

from bhmc.likelihoods import choose, kind_of
from bhmc.model.registry import AUTO, transition_named


def transition_for(model: Any, X: Any = None) -> Any:
    """The transition of a fit: "diffused" where its families and settings allow it, else "hdp".

    It allows families whose components have a place on the tree. Counts of words have none, and
    `fixed_components`, `hyper="paper"` and samplers other than "gibbs" are those of "hdp".

    Parameters
    ----------
    model : BHMC
        The estimator.
    X : (n, d) array or sparse matrix, optional
        The data; before they are read, they might be of any kind.
    """
    if not (isinstance(model.transition, str) and model.transition == AUTO):
        return transition_named(model.transition)
    diffused = transition_named("diffused")
    if not _settings_allow(model, diffused) or not _data_allow(model.likelihood, X):
        return transition_named("hdp")
    return diffused


def _settings_allow(model: Any, diffused: Any) -> bool:
    of_hdp = model.fixed_components is not None or model.hyper == "paper"
    others = () if isinstance(model.moves, str) else model.moves
    return not of_hdp and model.sampler in diffused.samplers and not others


def _data_allow(likelihood: Any, X: Any) -> bool:
    if not (isinstance(likelihood, str) and likelihood == AUTO):
        return kind_of(likelihood).has_places
    if X is None:
        return True
    return not sparse.issparse(X) and choose(X) != "multinomial"
