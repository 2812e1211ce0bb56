"""Checks of what a chain is to resume from: it comes from a file, and kernels check nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.baselines.pydt.state import N_FREE, NONE, TOP, Work, kept
from bhmc.model.captured import Invariants, check, is_array, within

_LINKS = ("parent", "first", "after", "before")


def check_captured(captured: Mapping[str, Any], room: Work) -> None:
    """Raise ValueError with the first broken invariant, in words.

    Parameters
    ----------
    captured : mapping
        What `DiffusionChain.capture` returned, by way of a file.
    room : Work
        Room for trees of the same data.
    """
    check(_invariants(captured, room))


def _invariants(captured: Mapping[str, Any], room: Work) -> Invariants:
    work, wanted = captured["work"], kept(room)
    yield set(work) == set(wanted), "a part of its tree is missing"
    same = all(
        work[name].dtype == one.dtype and work[name].shape == one.shape
        for name, one in wanted.items()
    )
    yield same, "its arrays are of other data"
    for name in ("rest", "up", "up_var", "rates"):
        yield is_array(work[name], "f", wanted[name].shape), f"{name} is not finite, or too large"
    alpha, theta, c, sigma2, noise = work["rates"].tolist()
    fits = 0 <= alpha < 1 and theta > -2 * alpha and c > 0 and sigma2 > 0 and noise >= 0
    yield fits, "its rates are none of the process"
    slots = len(work["parent"])
    for name in _LINKS:
        yield within(work[name], NONE, slots), f"{name} names a node that does not exist"
    n, top, n_free = (slots + 1) // 2, int(work["counts"][TOP]), int(work["counts"][N_FREE])
    yield 0 <= top < slots and 0 <= n_free < n, "it has no first node"
    yield bool((work["n_kids"][:n] == 0).all()), "a leaf has children"
    used = np.concatenate([np.arange(n), n + np.flatnonzero(work["n_kids"][n:])])
    yield _is_one_tree(work, top, used), "a node has not one place"
    free = np.sort(work["free"][:n_free])
    yield np.array_equal(free, np.setdiff1d(np.arange(slots), used)), "a free slot is taken"
    yield _times_hold(work, used, n), "its times do not grow from node to node"
    yield type(captured["turns_left"]) is int and captured["turns_left"] >= 0, "it has no turns"
    yield type(captured["learns"]) is bool, "it does not say whether it learns"


def _is_one_tree(work: Mapping[str, NDArray], top: int, used: NDArray) -> bool:
    """Whether lists of children, walked from the top, have every node once, with its leaves."""
    parent, first, after, before = (work[name].tolist() for name in _LINKS)
    n_kids, order, seen = work["n_kids"].tolist(), [top], {top}
    if {parent[top], after[top], before[top]} != {NONE}:
        return False
    for node in order:
        previous, child, count = NONE, first[node], 0
        while child != NONE:
            if child in seen or parent[child] != node or before[child] != previous:
                return False
            seen.add(child)
            order.append(child)
            previous, child, count = child, after[child], count + 1
        if count != n_kids[node] or count == 1:
            return False
    sizes = [int(kids == 0) for kids in n_kids]
    for node in reversed(order[1:]):
        sizes[parent[node]] += sizes[node]
    own = used.tolist()
    return seen == set(own) and all(work["size"][node] == sizes[node] for node in own)


def _times_hold(work: Mapping[str, NDArray], used: NDArray, n: int) -> bool:
    """Whether clocks are above 0 and grow, and are infinite at leaves; `rest` follows them."""
    clock, below = work["clock"], used[work["parent"][used] != NONE]
    grows = (clock[below] >= clock[work["parent"][below]]).all() and (clock[used] >= 0).all()
    leaves = (clock[:n] == np.inf).all() and np.isfinite(clock[used[n:]]).all()
    near = np.allclose(work["rest"][used], np.exp(-clock[used]), rtol=1e-6, atol=1e-300)
    return bool(grows and leaves and near and (work["up_var"] >= 0).all())
