"""What a page of the explorer is made of, taken from a fitted model."""

from typing import Any

from bhmc._estimator.summary import summarise
from bhmc._explorer.sources import Source, label_of


def source_of_model(model: Any) -> Source:
    """The tree, the draws and what is said of them.

    Parameters
    ----------
    model : BHMC
        Fitted.
    """
    said, state = summarise(model), vars(model)  # an older bhmc saved models without some of it
    return Source(
        tree=model.tree_,
        dendrogram=state.get("dendrogram_"),
        features=state.get("node_features_"),
        draws=model.draws_,
        diagnostics=model.diagnostics_,
        outlier_scores=state.get("outlier_scores_"),
        # The page has a list of the odd rows, where there are any.
        about=(said.data, said.tree) if said.odd else (said.data, said.tree, said.odd_text),
        opens_with=said.view,
        label=label_of(model, "this tree"),
    )
