"""`Summary`: what a fitted model found, in a few lines that a person can act on."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from bhmc._estimator.view import DENDROGRAM, WHY_DENDROGRAM, opened_tree, opens_with
from bhmc.plotting import dendrogram_layout
from bhmc.plotting.style import percent
from bhmc.posterior.advice import settled
from bhmc.posterior.diagnostics import Diagnostics
from bhmc.tree import Tree
from bhmc.tree.describe import node_phrase
from bhmc.tree.html import count, short, some_members, table

# Branches, features of a branch and rows that are named.
MOST_BRANCHES, _MOST_FEATURES, _MOST_ODD = 8, 3, 5
# A row is named as odd from this score on: of a hundred new rows 95 would be more probable.
_ODD = 0.95
_WIDTH = 88


class Branch(NamedTuple):
    """A branch of the tree that a model opens with."""

    node: int
    """Its id."""
    name: str
    """What a person calls it; empty where it has no name."""
    size: int
    """Rows under it."""
    support: float
    """NaN where it is not known."""
    apart: str
    """What sets it apart from all other rows, in a few words; may be empty."""
    members: str
    """A few of its rows by name; may be empty."""


class OddRow(NamedTuple):
    """A row that the model finds improbable."""

    row: int
    name: str
    score: float
    """Its `outlier_scores_`."""


@dataclass(frozen=True, repr=False)
class Summary:
    """What `BHMC.summary` returns; `print` it, or show it in a notebook."""

    data: str
    """Rows, columns, family and transition, in a sentence."""
    tree: str
    """Levels with their nodes, and components, in a sentence."""
    view: str
    """"tree" or "dendrogram": where the branches are from."""
    branches: tuple[Branch, ...]
    """The largest top branches."""
    others: str
    """How many branches and rows are not among them; may be empty."""
    chains: tuple[str, ...]
    """Whether the chains agree, and what to do if they do not."""
    odd: tuple[OddRow, ...]
    """The rows with the highest outlier scores, if they are high."""

    def __str__(self) -> str:
        lines = [_filled(self.data), _filled(self.tree)]
        if self.view == DENDROGRAM:
            lines.append(_filled(WHY_DENDROGRAM))
        lines += ["", f"{self._branches_title}:"]
        lines += [_filled(f"  {_branch_text(one)}", "      ") for one in self.branches]
        lines += [f"  {self.others}"] if self.others else []
        lines += ["", *map(_filled, self.chains), "", _filled(self.odd_text)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = f"{self._branches_title}:"
        others = [self.others] if self.others else []
        return self.around(_paragraphs([title]) + self.branch_table() + _paragraphs(others))

    def around(self, middle: str) -> str:
        """The sentences as HTML, with something in the place of the branches."""
        said = [self.data, self.tree]
        said += [WHY_DENDROGRAM] if self.view == DENDROGRAM else []
        return f"<div>{_paragraphs(said)}{middle}{_paragraphs([*self.chains, self.odd_text])}</div>"

    def branch_table(self) -> str:
        """The branches as a table of HTML."""
        head = ["node", "rows", "support", "what sets it apart", "rows such as"]
        rows = [
            [
                escape(_title(one)),
                f"{one.size:,}",
                "" if np.isnan(one.support) else percent(one.support),
                escape(one.apart),
                escape(one.members),
            ]
            for one in self.branches
        ]
        used = [j for j in range(5) if any(row[j] for row in rows) or not j]
        return table([head[j] for j in used], [[row[j] for j in used] for row in rows])

    @property
    def _branches_title(self) -> str:
        return f"Top branches of the {self.view}, the largest first"

    @property
    def odd_text(self) -> str:
        """The oddest rows, in a sentence."""
        if not self.odd:
            return f"No row stands out: all outlier scores are below {_ODD}."
        named = ", ".join(f"{one.name} ({one.score:.3f})" for one in self.odd)
        return f"The oddest rows, by outlier score: {named}."


def summarise(model: Any) -> Summary:
    """The summary of a fitted model.

    Parameters
    ----------
    model : BHMC
        Fitted.
    """
    tree, view = opened_tree(model), opens_with(model)
    nodes = _top_nodes(tree, view)
    features = getattr(model, "node_features_", None) if tree is model.tree_ else None
    rest = nodes[MOST_BRANCHES:]
    others = ""
    if rest:
        rows = int(tree.sizes[rest].sum())
        others = f"and {count(len(rest), 'smaller branch').replace('branchs', 'branches')} of "
        others += f"{count(rows, 'row')} in all"
    return Summary(
        data=_data_text(model),
        tree=_tree_text(model.tree_),
        view=view,
        branches=tuple(_branch(tree, node, features) for node in nodes[:MOST_BRANCHES]),
        others=others,
        chains=tuple(_chains_text(model)),
        odd=tuple(_odd_rows(model)),
    )


def _data_text(model: Any) -> str:
    rows, columns = len(model.tree_.paths), int(getattr(model, "n_features_in_", 0))
    table = count(rows, "row") + (f" and {count(columns, 'column')}" if columns else "")
    family = model.likelihood_.describe().rstrip(".")
    found = f'{table}. Family: {_cut(family)}. Transition: "{model.transition_.name}".'
    note = getattr(model, "family_note_", "")  # an older bhmc saved models without one
    return f"{found} {note}" if note else found


def _cut(text: str, most: int = 160) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _tree_text(tree: Tree) -> str:
    at = np.bincount(tree.levels)[1:].tolist()
    levels = [
        f"{count(at[0], 'node')} at level 1",
        *(f"{n:,} at {i}" for i, n in enumerate(at[1:], 2)),
    ]
    found = count(len(np.unique(tree.components)), "component")
    return f"Below its root the tree has {', '.join(levels)}. There are {found}."


def _top_nodes(tree: Tree, view: str) -> list[int]:
    """The branches below the first node that branches, or the uppermost of a dendrogram."""
    if view == DENDROGRAM:
        layout = dendrogram_layout(tree, MOST_BRANCHES)
        nodes = layout.node[layout.is_tip]
    else:
        nodes = tree.children(0)
        while len(nodes) == 1 and len(tree.children(int(nodes[0]))):
            nodes = tree.children(int(nodes[0]))
    return nodes[np.argsort(-tree.sizes[nodes], kind="stable")].tolist()


def _branch(tree: Tree, node: int, features: Any) -> Branch:
    named = _MOST_FEATURES if tree.feature_names is not None or features is not None else 0
    return Branch(
        node=node,
        name="" if tree.node_names is None else str(tree.node_names[node]),
        size=int(tree.sizes[node]),
        support=np.nan if tree.support is None else float(tree.support[node]),
        apart=_cut(node_phrase(tree, node, named, features), 120),
        members=some_members(tree, node, 3),
    )


def _title(one: Branch) -> str:
    return f"{one.name} [{one.node}]".strip()


def _branch_text(one: Branch) -> str:
    """Such as `[1] 40 rows, support 96 %: milk, hair; such as aardvark, antelope, bear`."""
    head = f"{_title(one)} {count(one.size, 'row')}"
    head += "" if np.isnan(one.support) else f", support {percent(one.support)}"
    head += f": {one.apart}" if one.apart else ""
    return head + (f"; such as {one.members}" if one.members else "")


def _chains_text(model: Any) -> list[str]:
    found: Diagnostics = model.diagnostics_
    size = f"{count(found.n_chains, 'chain')} of {count(found.n_draws, 'draw')}"
    if found.converged:
        return [f"{size}: nothing speaks against convergence.", *found.remarks[:1]]
    worst = found.findings[0]
    return [f"{size} have not converged. {settled(found)} The worst: {worst}"]


def _odd_rows(model: Any) -> list[OddRow]:
    scores, names = getattr(model, "outlier_scores_", None), model.tree_.names
    if scores is None:
        return []
    known = np.nan_to_num(np.asarray(scores), nan=-1.0)
    order = np.argsort(-known, kind="stable")[:_MOST_ODD].tolist()
    return [
        OddRow(row, short(names[row]) if names is not None else f"row {row}", float(known[row]))
        for row in order
        if known[row] >= _ODD
    ]


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False)


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
