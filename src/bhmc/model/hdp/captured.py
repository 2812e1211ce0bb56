"""Checks of what a chain is to resume from: it comes from a file, and kernels check nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.hdp.workspace import BLOCK, DEPTH, FREE_COLUMNS, FREE_SLOTS, NONE, WIDTH
from bhmc.rows.local import LocalRows

_BY_SLOT = ("parent", "first_child", "next_sibling", "level", "n_under", "free")
_BY_COLUMN = ("held", "alive")


def check_captured(captured: Mapping[str, Any], rows: LocalRows) -> None:
    """Raise ValueError with the first broken invariant, in words.

    Parameters
    ----------
    captured : mapping
        What `HdpSampler.capture` returned, by way of a file.
    rows : LocalRows
        The data that the chain is to go on with.
    """
    for holds, sentence in _invariants(captured, rows):
        if not holds:
            raise ValueError(f"the checkpoint is not valid: {sentence}.")


def _invariants(captured: Mapping[str, Any], rows: LocalRows) -> Iterator[tuple[bool, str]]:
    """Yield (holds, sentence) pairs; later ones may rely on earlier ones."""
    ws = captured["workspace"]
    slots, columns = ws["log_beta"].shape
    same = ws["beta"].shape == (slots, columns)
    same &= all(ws[name].shape == (slots,) for name in _BY_SLOT)
    same &= all(ws[name].shape == (columns,) for name in _BY_COLUMN)
    yield same and ws["room"].shape == (5,), "its node arrays do not fit together"
    family = rows.family
    yield captured["theta"].shape == (columns, family.n_parameters), "theta is of other data"
    for name in ("natural", "sums"):
        yield captured[name].shape == (columns, family.n_statistics), f"{name} is of other data"
    yield from _tree_invariants(ws, slots, columns)
    leaf, component = captured["leaf"], captured["component"]
    yield leaf.shape == component.shape == (rows.n_rows,), "its rows are not those of the data"
    yield _within(leaf, 0, slots) and _within(component, 1, columns), "a row is nowhere"
    yield bool((ws["level"][leaf] == ws["room"][DEPTH]).all()), "a row is not at a leaf"
    counted = np.bincount(component, minlength=columns)
    yield bool((counted == ws["held"]).all()), "its components hold other rows"
    yield bool(ws["alive"][component].all()), "a row is in a component that does not exist"


def _tree_invariants(
    ws: Mapping[str, NDArray], slots: int, columns: int
) -> Iterator[tuple[bool, str]]:
    """Room, links and levels: every node but the root stands once in the list of its parent."""
    room = ws["room"]
    depth, width, n_free = (int(room[i]) for i in (DEPTH, WIDTH, FREE_SLOTS))
    fits = 0 <= n_free <= slots and 0 <= int(room[FREE_COLUMNS]) < columns
    fits &= depth >= 1 and 0 < width <= columns and width % BLOCK == 0
    yield fits, "its room is not that of its arrays"
    yield _within(ws["level"], -1, depth + 1), "a node is at a level that does not exist"
    alive = np.flatnonzero(ws["level"] >= 0)
    yield len(alive) == slots - n_free and ws["level"][0] == 0, "its free slots are not free"
    yield _within(ws["free"][:n_free], 1, slots), "a free slot does not exist"
    for name in ("parent", "first_child", "next_sibling"):
        yield _within(ws[name], NONE, slots), f"{name} names a node that does not exist"
    links = np.concatenate([ws["first_child"][alive], ws["next_sibling"][alive]])
    yield np.array_equal(np.sort(links[links != NONE]), alive[1:]), "a node has not one place"
    below = alive[1:]
    above = ws["level"][ws["parent"][below]]
    yield bool((above + 1 == ws["level"][below]).all()), "a parent is not one level above"


def _within(numbers: NDArray, least: int, beyond: int) -> bool:
    return bool(((numbers >= least) & (numbers < beyond)).all())
