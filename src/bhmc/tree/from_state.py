"""A draw as the fields of a `Tree`: ids and component numbers in order of size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import State
from bhmc.tree.index import inverse, order_nodes


def fields_of_state(state: State) -> dict[str, Any]:
    """The fields of the tree of a draw.

    Parameters
    ----------
    state : State
        The draw; the fields share no memory with it.
    """
    nodes = order_nodes(state.paths, state.parents, state.levels, state.sizes)
    components = _ordered_components(state)
    new_id, new_label = inverse(nodes), inverse(components)
    columns = np.append(components, state.n_components)
    return {
        "parents": np.array([-1, *new_id[state.parents[nodes[1:]]]], dtype=np.int64),
        "levels": state.levels[nodes],
        "sizes": state.sizes[nodes],
        "weights": state.weights[np.ix_(nodes, columns)],
        "paths": new_id[state.paths],
        "components": new_label[state.components],
        "theta": state.theta[components],
        "alpha": float(state.hyper.alpha),
        "shared": np.array(state.shared),
        **state.params.of_tree(nodes),
    }


def _ordered_components(state: State) -> NDArray[np.int64]:
    """Old component numbers, largest component first; ties by first member, empty ones last."""
    k = state.n_components
    sizes = np.bincount(state.components, minlength=k)
    first_member = np.full(k, len(state.components))
    np.minimum.at(first_member, state.components, np.arange(len(state.components)))
    return np.lexsort((first_member, -sizes))
