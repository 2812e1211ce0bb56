"""Checks of what a chain is to resume from: it comes from a file, and kernels check nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.captured import Invariants, check, is_array, of_hyper, of_rows, of_shared, within
from bhmc.model.hdp.workspace import BLOCK, DEPTH, FREE_COLUMNS, FREE_SLOTS, NONE, WIDTH
from bhmc.model.state import Hyper
from bhmc.rows.local import LocalRows
from bhmc.rows.tiles import tile_height

_BY_SLOT = ("parent", "first_child", "next_sibling", "level", "n_under", "free")

# Weights of a node may drift by a rounding error per component.
_TOLERANCE = 1e-6


def check_captured(captured: Mapping[str, Any], rows: LocalRows, hyper: Hyper) -> None:
    """Raise ValueError with the first broken invariant, in words.

    Parameters
    ----------
    captured : mapping
        What `HdpSampler.capture` returned, by way of a file.
    rows : LocalRows
        The data that the chain is to go on with.
    hyper : Hyper
        The concentrations that the fit asks for.
    """
    check(_invariants(captured, rows, hyper))


def _invariants(captured: Mapping[str, Any], rows: LocalRows, hyper: Hyper) -> Invariants:
    """Yield (holds, sentence) pairs; later ones may rely on earlier ones."""
    ws = captured["workspace"]
    slots, columns = ws["log_beta"].shape
    yield _fits(ws, slots, columns), "its node arrays do not fit together"
    family = rows.family
    widths = {"theta": family.n_parameters, "natural": family.n_statistics}
    for name, width in {**widths, "sums": family.n_statistics}.items():
        yield captured[name].shape == (columns, width), f"{name} is of other data"
        yield is_array(captured[name], "f", (columns, width)), f"{name} is not finite, or too large"
    yield from _tree_invariants(ws, slots, columns)
    yield from of_hyper(captured["hyper"], hyper)
    yield from _weight_invariants(ws, captured["hyper"]["n_components"])
    leaf, component = captured["leaf"], captured["component"]
    yield from of_rows(component, rows, columns, 1)
    yield from of_rows(leaf, rows, slots)
    yield bool((ws["level"][leaf] == ws["room"][DEPTH]).all()), "a row is not at a leaf"
    counted = np.bincount(component, minlength=columns)
    yield bool((counted == ws["held"]).all()), "its components hold other rows"
    yield bool(ws["alive"][component].all()), "a row is in a component that does not exist"
    yield _counts_hold(ws, np.bincount(leaf, minlength=slots)), "its nodes hold other rows"
    yield from of_shared(captured["shared"], family)
    if family.n_rows == rows.n_rows:  # rows elsewhere are summed anew in every sweep
        yield _sums_hold(captured, family), "its sums are not those of its rows"
    passes, learns = captured["passes"], captured["learns"]
    yield type(passes) is int and passes >= 0, "its number of passes is none"
    yield type(learns) is bool, "it does not say whether it learns"


def _fits(ws: Mapping[str, NDArray], slots: int, columns: int) -> bool:
    """Types and shapes of all arrays: kernels are compiled for these types."""
    shapes = {name: (slots,) for name in _BY_SLOT} | {"held": (columns,)}
    shapes |= {"room": (5,), "events": (5,)}
    wanted: dict[str, Any] = {name: (np.dtype(np.int64), shape) for name, shape in shapes.items()}
    wanted |= dict.fromkeys(("log_beta", "beta"), (np.dtype(np.float64), (slots, columns)))
    wanted["alive"] = np.dtype(np.bool_), (columns,)
    found = {name: (array.dtype, array.shape) for name, array in ws.items()}
    return found == wanted and columns % BLOCK == 0


def _tree_invariants(ws: Mapping[str, NDArray], slots: int, columns: int) -> Invariants:
    """Room, links and levels: every node but the root stands once in the list of its parent."""
    room = ws["room"]
    depth, width, n_free = (int(room[i]) for i in (DEPTH, WIDTH, FREE_SLOTS))
    fits = 0 <= n_free < slots and 0 <= int(room[FREE_COLUMNS]) < columns
    fits &= depth >= 1 and 0 < width <= columns and width % BLOCK == 0
    yield fits, "its room is not that of its arrays"
    exist = np.flatnonzero(ws["alive"])
    fits = len(exist) == columns - room[FREE_COLUMNS] and ws["alive"][0] and exist[-1] < width
    yield bool(fits), "its free columns are not free"
    yield within(ws["level"], -1, depth + 1), "a node is at a level that does not exist"
    alive = np.flatnonzero(ws["level"] >= 0)
    yield len(alive) == slots - n_free and ws["level"][0] == 0, "its free slots are not free"
    free = ws["free"][:n_free]
    yield within(free, 1, slots), "a free slot does not exist"
    yield np.array_equal(np.sort(free), np.flatnonzero(ws["level"] < 0)), "a free slot is taken"
    for name in ("parent", "first_child", "next_sibling"):
        yield within(ws[name], NONE, slots), f"{name} names a node that does not exist"
    links = np.concatenate([ws["first_child"][alive], ws["next_sibling"][alive]])
    yield np.array_equal(np.sort(links[links != NONE]), alive[1:]), "a node has not one place"
    below = alive[1:]
    above = ws["level"][ws["parent"][below]]
    yield bool((above + 1 == ws["level"][below]).all()), "a parent is not one level above"
    yield _links_hold(ws, alive), "a node is not in the list of its parent"


def _links_hold(ws: Mapping[str, NDArray], alive: NDArray) -> bool:
    """Lists hold children of one parent, and all nodes are in a list that begins at a parent."""
    parent, first, following = ws["parent"], ws["first_child"], ws["next_sibling"]
    parents, older = alive[first[alive] != NONE], alive[following[alive] != NONE]
    if (parent[first[parents]] != parents).any() or (
        parent[following[older]] != parent[older]
    ).any():
        return False
    front, n_seen = np.zeros(1, dtype=np.int64), 0
    while len(front):  # no node is met twice, because each is in one place
        n_seen += len(front)
        front = np.concatenate([first[front], following[front]])
        front = front[front != NONE]
    return n_seen == len(alive)


def _weight_invariants(ws: Mapping[str, NDArray], n_components: int | None) -> Invariants:
    """Weights of every node sum to 1; what does not exist has none."""
    alive, exists = np.flatnonzero(ws["level"] >= 0), ws["alive"]
    log_beta, beta = ws["log_beta"][alive], ws["beta"][alive]
    yield not np.isnan(log_beta).any() and bool((log_beta <= _TOLERANCE).all()), "weights are none"
    yield bool((log_beta[:, ~exists] == -np.inf).all()), "what does not exist has a weight"
    fits = np.allclose(np.exp(log_beta), beta, rtol=_TOLERANCE, atol=_TOLERANCE)
    yield fits and bool((beta >= 0).all()), "its weights are not those of their logarithms"
    fits = np.allclose(np.exp(log_beta).sum(axis=1), 1, rtol=0, atol=_TOLERANCE)
    yield fits, "a node's weights must sum to 1"
    if n_components is None:
        yield bool((ws["held"][exists][1:] > 0).all()), "a component holds no row"
    else:
        yield exists.sum() == n_components + 1, "it has another number of components"
        yield bool((log_beta[:, 0] == -np.inf).all()), "the finite form has no remainder"


def _counts_hold(ws: Mapping[str, NDArray], counts: NDArray) -> bool:
    """Whether N_z is what the rows of leaves add up to, and no node is empty."""
    level = ws["level"]
    for depth in range(int(ws["room"][DEPTH]), 0, -1):
        own = np.flatnonzero(level == depth)
        np.add.at(counts, ws["parent"][own], counts[own])
    alive = level >= 0
    return bool((counts[alive] == ws["n_under"][alive]).all() and (counts[alive] > 0).all())


def _sums_hold(captured: Mapping[str, Any], family: Any) -> bool:
    """Whether sums are those of the rows, but for what subtraction has lost."""
    at, held = family.at(captured["shared"]), captured["workspace"]["held"] > 0
    sums = at.sums(captured["component"], len(held))
    lost = _TOLERANCE * _added_up(family)
    return bool((np.abs(captured["sums"] - sums)[held] <= lost).all())


def _added_up(family: Any) -> NDArray[np.float64]:
    """Sums of the sizes of all statistics: the statistics themselves may cancel, as where columns
    are centred.
    """
    height = tile_height(family.n_statistics)
    tiles = (slice(i, i + height) for i in range(0, family.n_rows, height))
    total = np.zeros(family.n_statistics)
    for rows in tiles:
        total += np.asarray(abs(family.statistics(rows)).sum(axis=0)).ravel()
    return total
