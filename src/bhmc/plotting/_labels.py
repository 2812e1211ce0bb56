"""What the marks of a tree say in words."""

import numpy as np
from numpy.typing import NDArray

from bhmc.plotting._collapse import Marks
from bhmc.plotting._text import count, listing, percent, width_of

_MOST_COMPONENTS = 3


def node_labels(marks: Marks, numbers: bool) -> dict[int, str]:
    """Rows and support of the nodes with marks below.

    A node with an only child of the same support says nothing: the child says it all.
    """
    only = np.full(len(marks.node), -1)
    below = np.arange(1, len(marks.node))
    same = marks.size[below] == marks.size[marks.parent[below]]
    only[marks.parent[below[same]]] = below[same]
    labels, names = {}, chain_names(marks)
    for one in np.flatnonzero(~marks.is_last).tolist():
        said = support_text(marks, one) if numbers else ""
        if one == 0:
            labels[one] = root_text(marks, numbers).replace(" · ", "\n")  # there is little room
        elif only[one] < 0:
            labels[one] = joined(names[one], f"{marks.size[one]:,}", said)
        else:
            child = int(only[one])
            repeated = marks.is_rest[child] or said == support_text(marks, child)
            labels[one] = "" if repeated else said
    return labels


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
    """The components of a mark's rows, most rows first: `c1`, or `c4: 7, c6: 6`; or nothing."""
    if not marks.has_mixtures:
        return ""
    counts = marks.counts[one]
    if marks.main_size[one] == marks.size[one]:
        return f"c{marks.main[one]}"
    names = [*(f"c{k}" for k in marks.components), "others"]
    held = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i]]
    said = ", ".join(f"{names[i]}: {counts[i]:,}" for i in held[:_MOST_COMPONENTS])
    return said + (", …" if len(held) > _MOST_COMPONENTS else "")


def rest_text(marks: Marks, one: int) -> str:
    """How much a rest stands for."""
    return f"{count(int(marks.hidden[one]), 'more node')}, {count(int(marks.size[one]), 'row')}"


def last_labels(
    marks: Marks, names: list[str] | None, room: NDArray[np.float64], numbers: bool
) -> dict[int, str]:
    """Labels of the marks with nothing below, each at most as wide as its `room` in points."""
    members = members_of(marks) if names is not None else {}
    labels, called = {}, chain_names(marks)
    for one in np.flatnonzero(marks.is_last).tolist():
        if marks.is_rest[one]:
            parts = [rest_text(marks, one)]
        else:
            said = components_text(marks, one)
            parts = [called[one]] if called[one] else []
            parts.append(f"{marks.size[one]:,}" + (f" ({said})" if said else ""))
            if numbers and support_text(marks, one):
                parts.append(support_text(marks, one))
            if marks.hidden[one]:
                parts.append(f"{count(int(marks.hidden[one]), 'node')} below")
        text = " · ".join(parts)
        if width_of(text) > room[one]:  # the name or the number alone says most
            fewer = (parts[0], f"{marks.size[one]:,}")
            fewer = fewer[:1] if marks.is_rest[one] else fewer if called[one] else fewer[1:]
            text = next((short for short in fewer if width_of(short) <= room[one]), "")
        elif names is not None:
            listed = [names[row] for row in members[one]]
            more = listing(listed, room[one] - width_of(text + " · "))
            text = f"{text} · {more}" if more else text
        labels[one] = text
    return labels


def members_of(marks: Marks) -> dict[int, list[int]]:
    """Rows of the marks with nothing below, in the order of their numbers."""
    order = np.argsort(marks.mark_of, kind="stable")
    last = np.flatnonzero(marks.is_last)
    first = np.searchsorted(marks.mark_of[order], last)
    return {
        int(one): order[start : start + marks.size[one]].tolist()
        for one, start in zip(last, first, strict=True)
    }
