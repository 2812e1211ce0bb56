"""Which transition `transition="auto"` stands for."""

from typing import Any

from scipy import sparse

from bhmc._validation.frames import Columns
from bhmc.likelihoods import choose, kind_of
from bhmc.model.registry import AUTO, transition_named, with_moves


def transition_for(model: Any, X: Any = None, columns: Columns | None = None) -> Any:
    """The transition of a fit: "diffused" where its families and settings allow it, else "hdp".

    It allows families whose components have a place on the tree. Counts of words have none, and
    `fixed_components`, `hyper="paper"`, samplers other than "gibbs" and moves that "hdp" has are
    those of "hdp".

    Parameters
    ----------
    model : BHMC
        The estimator.
    X : (n, d) array or sparse matrix, optional
        The data; before they are read, they might be of any kind.
    columns : Columns, optional
        What is known of the columns of X beyond their numbers.
    """
    if not (isinstance(model.transition, str) and model.transition == AUTO):
        return transition_named(model.transition)
    diffused, hdp = transition_named("diffused"), transition_named("hdp")
    if not _settings_allow(model, diffused, hdp):
        return hdp
    return diffused if _data_allow(model.likelihood, X, columns or Columns()) else hdp


def _settings_allow(model: Any, diffused: Any, hdp: Any) -> bool:
    of_hdp = model.fixed_components is not None or model.hyper == "paper"
    samplers = AUTO, *diffused.samplers
    if of_hdp or not (isinstance(model.sampler, str) and model.sampler in samplers):
        return False
    unnamed = model.moves == AUTO if isinstance(model.moves, str) else _is_empty(model.moves)
    return unnamed or (_takes(diffused, model) and not _takes(hdp, model))


def _is_empty(moves: Any) -> bool:
    return isinstance(moves, list | tuple) and not moves


def _takes(transition: Any, model: Any) -> bool:
    """Whether a transition has the moves that an estimator names."""
    try:
        kind = kind_of(model.likelihood, transition.located)
        with_moves(transition, model.moves).check(kind, model.n_levels, model.sampler)
    except (TypeError, ValueError):
        return False
    return True


def _data_allow(likelihood: Any, X: Any, columns: Columns) -> bool:
    if columns.categories and max(map(len, columns.categories.values())) < 2:
        return False  # a logit is between two categories
    if not (isinstance(likelihood, str) and likelihood == AUTO):
        return kind_of(likelihood).has_places
    if X is None:
        return True
    if sparse.issparse(X):
        return False
    coded = {*(columns.categories or ()), *columns.truths}  # codes of categories count nothing
    numbers = [j for j in range(X.shape[1]) if j not in coded]
    return choose(X[:, numbers] if coded else X) != "multinomial"
