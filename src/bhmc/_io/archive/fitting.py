"""Whether what a file says of a tree, draws or a state fits together, before it is made one.

Compiled code checks no index: a state with a wrong one would read memory that is not its own.
"""

from typing import Any

import numpy as np

from bhmc.model.checks import check_state
from bhmc.model.protocol import Places
from bhmc.model.state import State
from bhmc.posterior.draws import Draws, Mixture, Partition
from bhmc.tree import Tree
from bhmc.tree.node_features import KINDS, NodeFeatures

_KINDS = {"whole": "iu", "real": "f", "truth": "b", "text": "UO"}

# Components without a row, in the finite form.
_MOST_EMPTY = 2**16

# For each array what it is made of, then its lengths; a name means the same length wherever it is.
_SHAPES: dict[type, dict[str, str]] = {
    Tree: {
        "parents": "whole nodes",
        "levels": "whole nodes",
        "sizes": "whole nodes",
        "weights": "real nodes components+1",
        "paths": "whole rows levels",
        "components": "whole rows",
        "theta": "real components parameters",
        "shared": "real shared",
        "support": "real nodes",
        "exact_support": "real nodes",
        "heights": "real nodes",
        "locations": "real nodes parameters",
        "step_variances": "real steps blocks",
        "concentrations": "real 2",
        "names": "text rows",
        "node_names": "text nodes",
        "feature_names": "text columns",
        "component_means": "real components columns",
        "feature_means": "real columns",
        "feature_scales": "real columns",
        "is_word": "truth columns",
    },
    NodeFeatures: {
        "group_of": "whole nodes",
        **{name: "real 2 groups kept" for name in ("statistic", "effect", "inside", "outside")},
        "columns": "whole 2 groups kept",
        "kinds": "whole features",
    },
    Draws: {
        "log_joint": "real chains draws",
        "log_likelihood": "real chains draws",
        "n_nodes": "whole chains draws",
        "n_components": "whole chains draws",
        "component_entropy": "real chains draws",
        "nodes_at": "whole chains draws levels",
        "entropy_at": "real chains draws levels",
        "shared": "real chains draws shared",
        "together": "truth chains draws pairs",
        "pairs": "whole pairs 2",
        "partition_index": "whole partitions 2",
        "mixture_index": "whole mixtures 2",
    },
    Partition: {"leaf": "whole rows", "component": "whole labels", "parents": "whole nodes"},
    Mixture: {
        "weights": "real options",
        "theta": "real components parameters",
        "shared": "real shared",
    },
    Places: {
        "location": "real places parameters",
        "variance": "real places blocks",
        "of_component": "whole components",
    },
}


def _check_mixture(weights: Any, theta: Any, shared: Any, places: Any = None) -> None:
    """Refuse a mixture without a weight for each component and each place, or with a wrong one."""
    n_new = 1 if places is None else len(places.location)
    if len(weights) != len(theta) + n_new:
        raise ValueError(
            f"a Mixture of {len(theta)} components has {len(weights)} weights, not "
            f"{len(theta) + n_new}"
        )
    if places is not None:
        at = places.of_component
        if len(at) != len(theta) or (len(at) and not 0 <= at.min() <= at.max() < n_new):
            raise ValueError("the places of a Mixture do not fit its components")


def check_fit(cls: type, fields: dict[str, Any]) -> None:
    """Raise ValueError where arrays do not fit the class or each other."""
    if cls is State:
        check_state(State(**fields))
    lengths: dict[str, int] = {}
    for name, words in _SHAPES.get(cls, {}).items():
        if name in fields and fields[name] is not None:
            _check_array(fields[name], f"{name} of a {cls.__name__}", words, lengths)
    if cls is Tree:
        _check_parents(fields["parents"], "a Tree")
        _check_levels(fields["levels"], fields["parents"])
        _check_below(fields["paths"], lengths["nodes"], "paths of a Tree")
        _check_below(fields["components"], lengths["components"], "components of a Tree")
    if cls is Mixture:
        _check_mixture(**fields)
    if cls is NodeFeatures:
        _check_below(fields["group_of"], lengths["groups"], "group_of of a NodeFeatures")
        _check_below(fields["columns"] + 1, lengths["features"] + 1, "columns of a NodeFeatures")
        _check_below(fields["kinds"], len(KINDS), "kinds of a NodeFeatures")
    if cls is Partition:
        _check_parents(fields["parents"], "a Partition")
        _check_below(fields["leaf"], lengths["nodes"], "leaf of a Partition")
        if lengths["labels"] not in (0, lengths["rows"]):  # none in a model without components
            raise ValueError("component of a Partition must have a label for each row")
        most = lengths["rows"] + _MOST_EMPTY
        _check_below(fields["component"], most, "component of a Partition")
    if cls is Draws:
        _check_learned(fields["learned"], lengths)
        _check_kept(fields, lengths)


def _check_array(array: Any, what: str, words: str, lengths: dict[str, int]) -> None:
    kind, *sides = words.split()
    if not isinstance(array, np.ndarray) or array.dtype.kind not in _KINDS[kind]:
        raise ValueError(f"{what} must be an array of {kind} entries")
    wanted = []
    for i, side in enumerate(sides):
        name, _, more = side.partition("+")
        extra = int(more or 0)
        if name.isdigit():
            wanted.append(int(name))
        elif name in lengths or i >= array.ndim:
            wanted.append(lengths.get(name, 0) + extra)
        else:
            lengths[name] = array.shape[i] - extra
            wanted.append(array.shape[i])
    if array.shape != tuple(wanted):
        raise ValueError(f"{what} has the shape {array.shape}, not {tuple(wanted)}")


def _check_parents(parents: Any, what: str) -> None:
    after = parents[1:]
    first = len(parents) > 0 and parents[0] == -1
    if not (first and (after >= 0).all() and (after < np.arange(1, len(parents))).all()):
        raise ValueError(f"parents of {what} must begin with -1 and come before their children")


def _check_levels(levels: Any, parents: Any) -> None:
    if levels[0] != 0 or (levels[1:] != levels[parents[1:]] + 1).any():
        raise ValueError("levels of a Tree must be one more than those of parents")


def _check_below(array: Any, end: int, what: str) -> None:
    if array.size and not (array.min() >= 0 and array.max() < end):
        raise ValueError(f"{what} must be between 0 and {end - 1}")


def _check_learned(learned: Any, lengths: dict[str, int]) -> None:
    """Hyperparameters of Draws by name, each with a value for every draw."""
    if not isinstance(learned, dict):
        raise ValueError("learned of Draws must be a dict of arrays")
    for name, values in learned.items():
        more = " ".join(f"{name}-{i}" for i in range(getattr(values, "ndim", 0) - 2))
        _check_array(values, f"{name} of Draws", f"real chains draws {more}", lengths)


def _check_kept(fields: dict[str, Any], lengths: dict[str, int]) -> None:
    """As many partitions and mixtures as their indices say, of draws that there are."""
    for things, cls in (("partitions", Partition), ("mixtures", Mixture)):
        kept = fields[things]
        if not isinstance(kept, tuple) or {type(one) for one in kept} - {cls}:
            raise ValueError(f"{things} of Draws must be a tuple of {cls.__name__}")
        if len(kept) != lengths[things]:
            raise ValueError(f"{things} of Draws must be as many as their index says")
        index = fields[f"{things[:-1]}_index"]
        _check_below(index[:, 0], lengths["chains"], f"chains of {things}")
        _check_below(index[:, 1], lengths["draws"], f"draws of {things}")
    if len({len(one.leaf) for one in fields["partitions"]}) > 1:
        raise ValueError("partitions of Draws must be of the same rows")
