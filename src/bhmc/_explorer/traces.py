"""Numbers of the draws, chain by chain, and how well the chains agree."""

from __future__ import annotations

import numpy as np

from bhmc._explorer.container import Arrays, floats, texts
from bhmc._explorer.items import names_of
from bhmc.posterior.diagnostics import Diagnostics
from bhmc.posterior.draws import Draws
from bhmc.posterior.summary import evenly_spaced
from bhmc.tree import Tree

# Numbers that are shown, and draws of each chain.
_MOST_NUMBERS, _MOST_DRAWS = 24, 1_000
_WORDS = {
    "log_joint": "log joint density",
    "log_likelihood": "log likelihood",
    "n_nodes": "nodes of the tree",
    "n_components": "components",
    "component_entropy": "evenness of components (entropy)",
    "nodes_at": "nodes at level {}",
    "entropy_at": "evenness of level {} (entropy)",
    "shared": "shared number {}",
}


def trace_arrays(tree: Tree, draws: Draws, diagnostics: Diagnostics) -> Arrays:
    """The numbers that vary: those that people ask for first, then those that agree least.

    Parameters
    ----------
    tree : Tree
        The tree, which names rows.
    draws : Draws
        What was kept of all chains.
    diagnostics : Diagnostics
        What was found of them.
    """
    numbers, table = draws.numbers(), diagnostics.table
    rhat = dict(zip(table["name"].tolist(), table["rhat"].tolist(), strict=True))
    constant = set(table["name"][table["constant"]].tolist())
    varying = [name for name in numbers if name not in constant]
    worst = sorted(varying, key=lambda name: -np.nan_to_num(rhat[name], nan=np.inf))
    first = [name for name in varying if name.partition("[")[0] not in ("shared", "together")]
    chosen = list(dict.fromkeys([*first[: _MOST_NUMBERS // 2], *worst]))[:_MOST_NUMBERS]
    chosen.sort(key=varying.index)
    at = evenly_spaced(draws.n_draws, _MOST_DRAWS)
    values = np.array([numbers[name][:, at] for name in chosen], dtype=np.float64)
    shape = (len(chosen), draws.n_chains, len(at))
    return {
        "traces.values": floats(values.reshape(shape)),
        # An infinite R-hat has a meaning: each chain stays where it is.
        "traces.rhat": np.array([rhat[name] for name in chosen], dtype="<f4"),
        **texts("traces.names", (_in_words(name, tree, draws) for name in chosen)),
    }


def _in_words(name: str, tree: Tree, draws: Draws) -> str:
    """`nodes_at[2]` as "nodes at level 2"."""
    kind, _, place = name.rstrip("]").partition("[")
    if kind == "together":
        one, two = names_of(tree, draws.pairs[int(place)])
        return f"{one} and {two} in one component"
    return _WORDS[kind].format(place) if kind in _WORDS else name
