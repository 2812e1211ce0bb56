"""Checks of what a chain is to resume from: it comes from a file, and kernels check nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.captured import Invariants, check, is_array, of_hyper, of_rows, of_shared, within
from bhmc.model.state import Hyper

# A variance below this is none that a chain draws.
_LEAST = 1e-100

_OF_NODES = ("parent", "level", "rows", "location")
_OF_ATOMS = ("leaf", "count", "theta")


def check_captured(captured: Mapping[str, Any], rows: Any, hyper: Hyper) -> None:
    """Raise ValueError with the first broken invariant, in words.

    Parameters
    ----------
    captured : mapping
        What `DiffusedSampler.capture` returned, by way of a file.
    rows : Rows
        The data that the chain is to go on with.
    hyper : Hyper
        The concentrations that the fit asks for.
    """
    check(_invariants(captured, rows, hyper))


def _invariants(captured: Mapping[str, Any], rows: Any, hyper: Hyper) -> Invariants:
    """Yield (holds, sentence) pairs; later ones may rely on earlier ones."""
    held, family = captured["forest"], rows.family
    m, k, depth = len(held["level"]), len(held["leaf"]), len(held["variance"]) - 2
    names = {*_OF_NODES, *_OF_ATOMS, "variance"}
    yield set(held) == names and m >= 1 and k >= 1 and depth >= 0, "a part of its tree is missing"
    fits = all(is_array(held[name], "i", (m,)) for name in _OF_NODES[:-1])
    fits &= all(is_array(held[name], "i", (k,)) for name in _OF_ATOMS[:-1])
    yield fits, "its node arrays do not fit together"
    yield from _tree_invariants(held, m, depth)
    column, repeats = family.precision_columns()
    places = {"location": (m, len(column)), "theta": (k, len(column))}
    for name, shape in places.items():
        yield is_array(held[name], "f", shape), f"{name} is of other data, or not finite"
    yield is_array(captured["origin"], "f", (len(column),)), "its origin is of other data"
    variance = held["variance"]
    yield is_array(variance, "f", (depth + 2, len(repeats))), "its variances are of other data"
    ordered = (variance >= _LEAST).all() and (np.diff(variance[1:], axis=0) <= 0).all()
    yield bool(ordered), "its variances must be above 0 and fall from level to level"
    yield from of_hyper(captured["hyper"], hyper)
    yield from of_rows(captured["component"], rows, k)
    yield _counts_hold(held, captured["component"], depth), "its nodes hold other rows"
    yield from of_shared(captured["shared"], family)
    if family.has_latent:
        yield from _latent_invariants(captured, family)
    yield type(captured["learns"]) is bool, "it does not say whether it learns"


def _tree_invariants(held: Mapping[str, NDArray], m: int, depth: int) -> Invariants:
    """Parents come before children and are one level above; atoms are at leaves."""
    parent, level, leaf = held["parent"], held["level"], held["leaf"]
    yield parent[0] == -1 and level[0] == 0, "its first node is not the root"
    fits = (parent[1:] >= 0).all() and (parent[1:] < np.arange(1, m)).all()
    yield bool(fits), "a parent does not come before its children"
    yield bool((level[parent[1:]] + 1 == level[1:]).all()), "a parent is not one level above"
    yield within(leaf, 0, m), "an atom is at a node that does not exist"
    yield bool((level[leaf] == depth).all()), "an atom is not at a leaf"
    yield level.max() <= depth, "a node is at a level that does not exist"


def _counts_hold(held: Mapping[str, NDArray], component: NDArray, depth: int) -> bool:
    """Whether atoms and nodes have as many rows as they say, and none is empty."""
    counts = np.bincount(component, minlength=len(held["leaf"]))
    rows = np.zeros(len(held["level"]), dtype=np.int64)
    np.add.at(rows, held["leaf"], counts)
    for level in range(depth, 0, -1):
        own = np.flatnonzero(held["level"] == level)
        np.add.at(rows, held["parent"][own], rows[own])
    fits = (counts == held["count"]).all() and (rows == held["rows"]).all()
    return bool(fits and (counts > 0).all() and (rows > 0).all())


def _latent_invariants(captured: Mapping[str, Any], family: Any) -> Invariants:
    """Numbers of rows that the chain draws: as many as there are, and weights above 0."""
    latent = captured["latent" if "latent" in captured else "weights"]  # its name before
    yield is_array(latent, "f", family.latent.shape), "its numbers of rows are of other data"
    yield not family.has_weights or bool((latent > 0).all()), "a row has no weight"
