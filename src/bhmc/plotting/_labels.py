"""What the marks of a tree say in words."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc.plotting._collapse import Marks
from bhmc.plotting._text import count, listing, percent, width_of

_MOST_COMPONENTS = 3


class Words(NamedTuple):
    """What labels are made of."""

    marks: Marks
    names: list[str] | None
    """What to call the rows."""
    numbers: bool
    """Whether the support is said."""
    phrase: Callable[[int], str]
    """What sets the node of an id apart."""

    def node_labels(self) -> dict[int, str]:
        """Id, rows and support of the nodes with marks below.

        A node with an only child of the same support says nothing: the child says it all.
        """
        marks, numbers = self.marks, self.numbers
        only = _only_child(marks)
        labels, names = {}, chain_names(marks)
        for one in np.flatnonzero(~marks.is_last).tolist():
            said = support_text(marks, one) if numbers else ""
            if one == 0:
                labels[one] = root_text(marks, numbers).replace(" · ", "\n")  # there is little room
            elif only[one] < 0:
                labels[one] = joined(head_text(marks, one, names[one]), said)
            else:
                child = int(only[one])
                repeated = marks.is_rest[child] or said == support_text(marks, child)
                labels[one] = "" if repeated else said
        return labels

    def phrases(self) -> dict[int, str]:
        """What sets the nodes with several marks below apart."""
        only = _only_child(self.marks)
        several = np.flatnonzero(~self.marks.is_last & (only < 0)).tolist()
        return {one: self.phrase(int(self.marks.node[one])) for one in several if one}

    def last_labels(self, room: NDArray[np.float64]) -> dict[int, str]:
        """Labels of the marks with nothing below, each at most as wide as its `room` in points."""
        marks, names = self.marks, self.names
        members = members_of(marks) if names is not None else {}
        labels, called = {}, chain_names(marks)
        for one in np.flatnonzero(marks.is_last).tolist():
            if marks.is_rest[one]:
                listed = [names[row] for row in members[one]] if names is not None else []
                labels[one] = with_members(rest_text(marks, one), "", listed, float(room[one]))
                continue
            text = self._last_text(one, called[one])
            if width_of(text) > room[one]:  # the name or the number alone says most
                fewer = [*filter(None, [called[one]]), f"{marks.size[one]:,}"]
                fewer = [head_text(marks, one, called[one]), *fewer]
                labels[one] = next((part for part in fewer if width_of(part) <= room[one]), "")
                continue
            listed = [names[row] for row in members[one]] if names is not None else []
            phrase = self.phrase(int(marks.node[one]))
            labels[one] = with_members(text, phrase, listed, float(room[one]))
        return labels

    def _last_text(self, one: int, name: str) -> str:
        marks, said = self.marks, components_text(self.marks, one)
        parts = [head_text(marks, one, name) + (f" ({said})" if said else "")]
        if self.numbers and support_text(marks, one):
            parts.append(support_text(marks, one))
        if marks.hidden[one]:
            parts.append(f"{count(int(marks.hidden[one]), 'node')} below")
        return " · ".join(parts)


def with_members(text: str, phrase: str, listed: list[str], room: float) -> str:
    """A label that goes on with what sets the node apart, and some of its rows by name."""
    left = room - width_of(text + " · ")
    if phrase:
        share = left * (0.5 if listed else 1.0)
        phrase = next((part for part in _shorter(phrase) if width_of(part) <= share), "")
    if phrase:
        text, left = f"{text} · {phrase}", left - width_of(phrase + ": ")
    more = listing(listed, left) if listed else ""
    return f"{text}{': ' if phrase else ' · '}{more}" if more else text


def _shorter(phrase: str) -> list[str]:
    """The phrase, and the phrase with fewer features."""
    parts = phrase.split(", ")
    return [", ".join(parts[:n]) for n in range(len(parts), 0, -1)]


def _only_child(marks: Marks) -> NDArray[np.int64]:
    """(m,) the mark below that has all rows of the mark; -1 where there is none."""
    only = np.full(len(marks.node), -1)
    below = np.arange(1, len(marks.node))
    same = marks.size[below] == marks.size[marks.parent[below]]
    only[marks.parent[below[same]]] = below[same]
    return only


def head_text(marks: Marks, one: int, name: str = "") -> str:
    """Name, id and rows of a node, as text has them: `birds [8] 20`."""
    head = f"[{marks.node[one]}] {marks.size[one]:,}"
    return f"{name} {head}" if name else head


def chain_names(marks: Marks) -> list[str]:
    """(m,) the names of a node and of the nodes of the same rows above it."""
    names = list(marks.names)
    for one in range(1, len(names)):  # marks come after those above them
        above = int(marks.parent[one])
        if above and marks.size[one] == marks.size[above] and not marks.is_rest[one]:
            parts = dict.fromkeys([names[above], names[one]])
            names[one] = " > ".join(part for part in parts if part)
    return names


def joined(*parts: str) -> str:
    """The parts that are not empty, in one line."""
    return " · ".join(part for part in parts if part)


def root_text(marks: Marks, numbers: bool) -> str:
    """Rows and support of the root, in words that tell how to read the numbers of all others."""
    said = support_text(marks, 0) if numbers else ""
    rows = count(int(marks.size[0]), "row")
    return joined(marks.names[0], rows, f"support {said}" if said else "")


def support_text(marks: Marks, one: int) -> str:
    """The support as a percentage; empty where it is not known."""
    value = marks.support[one]
    return "" if np.isnan(value) else percent(float(value))


def components_text(marks: Marks, one: int) -> str:
    """The components of a mark's rows: `c1`, `c4: 7, c6: 6`, or `c4 and 5 more`; or nothing."""
    if not marks.has_mixtures:
        return ""
    counts = marks.counts[one]
    if marks.main_size[one] == marks.size[one]:
        return f"c{marks.main[one]}"
    names = [*(f"c{k}" for k in marks.components), "others"]
    held = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i]]
    if len(held) > _MOST_COMPONENTS:
        return f"c{marks.main[one]} and {len(held) - 1} more"
    return ", ".join(f"{names[i]}: {counts[i]:,}" for i in held)


def rest_text(marks: Marks, one: int) -> str:
    """How much a rest stands for."""
    return f"{count(int(marks.hidden[one]), 'more node')}, {count(int(marks.size[one]), 'row')}"


def members_of(marks: Marks) -> dict[int, list[int]]:
    """Rows of the marks with nothing below, in the order of their numbers."""
    order = np.argsort(marks.mark_of, kind="stable")
    last = np.flatnonzero(marks.is_last)
    first = np.searchsorted(marks.mark_of[order], last)
    return {
        int(one): order[start : start + marks.size[one]].tolist()
        for one, start in zip(last, first, strict=True)
    }
