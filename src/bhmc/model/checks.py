"""Checks of a state: on its own, against data, and against a likelihood family."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._validation.reading import read_data
from bhmc.model.state import CONCENTRATIONS, State, is_matrix, is_positive


def check_state(state: State) -> None:
    """Raise ValueError with the first broken invariant of a state, in words."""
    for holds, sentence in _invariants(state):
        if not holds:
            raise ValueError(f"state is not valid: {sentence}.")


def _invariants(state: State):
    """Yield (holds, sentence) pairs; later ones may rely on earlier ones."""
    for name in ("paths", "components", "parents"):
        array = getattr(state, name)
        whole = isinstance(array, np.ndarray) and array.dtype.kind in "iu"
        yield whole, f"{name} must be an array of whole numbers"
    yield is_matrix(state.theta), "theta must be a matrix of numbers"
    for name in CONCENTRATIONS:
        yield is_positive(getattr(state.hyper, name)), f"{name} must be a finite number above 0"
    yield from state.params.invariants(state)
    paths, components, parents = state.paths, state.components, state.parents
    k, n_nodes = len(state.theta), len(parents)
    yield paths.ndim == 2 and paths.shape[1] >= 2, "paths must be (n, n_levels + 1), n_levels >= 1"
    yield components.shape == (len(paths),), "components must hold one label per path"
    yield bool(((paths >= 0) & (paths < n_nodes)).all()), "a path names a node that does not exist"
    yield bool((paths[:, 0] == 0).all()), "every path must start at the root, node 0"
    yield parents[0] == -1, "the root's parent must be -1"
    yield (
        bool((parents[1:] < np.arange(1, n_nodes)).all()),
        "a parent must come before its children",
    )
    yield bool((parents[paths[:, 1:]] == paths[:, :-1]).all()), "a path must follow the parents"
    yield bool((state.sizes > 0).all()), "every node must hold at least one datum"
    in_range = (components >= 0) & (components < k)
    yield bool(in_range.all()), "a component label is outside 0..K-1"
    if state.hyper.n_components is None:
        occupied = np.bincount(components, minlength=k) > 0
        yield bool(occupied.all()), "every component must hold at least one datum"
    else:
        yield state.hyper.n_components == k, "the finite form must keep all its components"
    yield bool(np.isfinite(state.theta).all()), "theta must be finite"
    shared = state.shared
    vector = isinstance(shared, np.ndarray) and shared.dtype.kind == "f" and shared.ndim == 1
    yield vector and bool(np.isfinite(shared).all()), "shared must be a vector of finite numbers"


def check_functional_data(X, state: State, **allowed: Any) -> Any:
    """X of the functional layer as a float64 matrix, a row for each datum of `state`.

    `allowed` as in `read_data`.
    """
    if not isinstance(state, State):
        raise TypeError(f"state must be a bhmc.State, got {type(state).__name__}.")
    X, _ = read_data(X, **allowed)
    if X.shape[0] != len(state.paths):
        raise ValueError(f"X has {X.shape[0]} rows but the state holds {len(state.paths)} data.")
    return X


def check_parameters(
    state: State, X: NDArray[np.float64], n_parameters: int, n_shared: int = 0
) -> None:
    """Refuse a state whose theta or shared numbers were made for other data or another family."""
    if state.theta.shape[1] != n_parameters:
        raise ValueError(
            f"X has {X.shape[1]} columns, so theta needs {n_parameters} numbers a component, but "
            f"in the state it has {state.theta.shape[1]}."
        )
    if len(state.shared) != n_shared:
        raise ValueError(
            f"this likelihood has {n_shared} numbers that all components share, but the state has "
            f"{len(state.shared)}."
        )
