"""Numbers of the draws, chain by chain, and how well the chains agree."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.container import Arrays, floats, texts
from bhmc._explorer.items import names_of
from bhmc.posterior.advice import settled
from bhmc.posterior.diagnostics import RHAT_LIMIT, Diagnostics
from bhmc.posterior.draws import Draws
from bhmc.posterior.summary import evenly_spaced
from bhmc.tree import Tree
from bhmc.tree.html import count

# Numbers that are shown, draws of each chain, and findings that are told.
_MOST_NUMBERS, _MOST_DRAWS, _MOST_FINDINGS = 24, 1_000, 3
# Numbers of which there may be hundreds.
_MANY = ("shared", "together", "step_variances")
_WORDS = {
    "log_joint": "log joint density",
    "log_likelihood": "log likelihood",
    "n_nodes": "number of nodes",
    "n_components": "number of components",
    "component_entropy": "evenness of components (entropy)",
    "nodes_at": "number of nodes at level {}",
    "entropy_at": "evenness of level {} (entropy)",
    "shared": "shared number {}",
    "step_variances": "variance of step {}",
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
    first = [name for name in varying if name.partition("[")[0] not in _MANY]
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


def chain_sentences(tree: Tree, draws: Draws, diagnostics: Diagnostics) -> list[str]:
    """Whether the chains agree, in plain words.

    Parameters
    ----------
    tree, draws, diagnostics
        As in `trace_arrays`.
    """
    found = diagnostics
    size = f"{count(found.n_chains, 'chain')} of {count(found.n_draws, 'draw')}"
    highest = "" if np.isnan(found.worst_rhat) else f"The highest R-hat is {found.worst_rhat:.2f}. "
    judged = (
        f"{highest}R-hat compares chains: 1.00 says that they agree, up to {RHAT_LIMIT} passes."
    )
    if found.converged:
        said = [f"{size}: nothing speaks against convergence.", judged]
    else:
        worst = [_finding(one.what, tree, draws) for one in found.findings[:_MOST_FINDINGS]]
        said = [f"{size} have not converged. {settled(found)}", judged, *worst]
        said.append("Look at the support of groups, and compare with a fit of another seed.")
    if found.n_chains == 1:
        said.append("One chain cannot show that chains agree.")
    same = int(found.table["constant"].sum())
    if same:
        said.append(f"{count(same, 'number')} did not change in any draw, and cannot be judged.")
    return said


def _finding(what: str, tree: Tree, draws: Draws) -> str:
    """A finding with the name of its number in words."""
    name, space, rest = what.partition(" ")
    if space and name in draws.numbers():
        rest = re.sub(r"^\(rows \d+ and \d+\) ", "", rest)
        what = f"{_in_words(name, tree, draws)} {rest}"
    return f"{what[:1].upper()}{what[1:]}."


def _names_of_pair(tree: Tree, draws: Draws, pair: NDArray[np.int64]) -> list[object]:
    """Pairs are of all rows that were fitted, of which the tree may hold a part."""
    if draws.pairs.max() < len(tree.components):
        return names_of(tree, pair)
    return [f"row {row}" for row in pair.tolist()]


def _in_words(name: str, tree: Tree, draws: Draws) -> str:
    """`nodes_at[2]` as "nodes at level 2"."""
    kind, _, place = name.rstrip("]").partition("[")
    if kind == "together":
        one, two = _names_of_pair(tree, draws, draws.pairs[int(place)])
        return f"{one} and {two} in one component"
    return _WORDS[kind].format(place) if kind in _WORDS else name
