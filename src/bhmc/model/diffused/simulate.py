"""The diffused model forwards. It imports nothing of the sampler."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc.model.state import Hyper, State

Floats = NDArray[np.float64]

# Draws of the variances before it is said that their order is too rare.
_MOST_TRIES = 10_000_000


def simulate(
    n: int,
    *,
    depth: int,
    concentrations: tuple[float, float],
    kappa: float,
    likelihood: Any,
    n_features: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """V ~ nCRP(alpha), c ~ CRP(g) at every leaf; v ordered; m, theta by steps; x ~ F(theta).

    Parameters
    ----------
    n : int
        Number of data.
    depth : int
        The level of the nodes that have atoms.
    concentrations : (float, float)
        alpha and g.
    kappa : float
        Steps to atoms are wider than so many variances of the noise.
    likelihood : Likelihood
        The family.
    n_features : int
        Columns of the data.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    alpha, g = concentrations
    paths, parents = _nested_restaurants(n, depth, alpha, rng)
    components, leaves = _atoms(paths[:, -1], g, rng)
    shared = likelihood.sample_shared(n_features, rng)
    prior = likelihood.prior_on_tree(n_features)
    each = [ordered_variances(spread, kappa, depth, rng) for spread in prior.spread]
    variances = np.column_stack(each)

    def steps(above: Floats, level: int) -> Floats:
        wide = np.tile(variances[level], (len(above), 1))
        return likelihood.sample_theta_at(above, wide, shared, rng)

    levels = np.array(_levels(parents))
    locations = np.empty((len(parents), len(prior.origin)))
    locations[0] = steps(prior.origin[None], 0)[0]
    for level in range(1, depth + 1):
        z = np.flatnonzero(levels == level)
        locations[z] = steps(locations[parents[z]], level)
    theta = steps(locations[leaves], depth + 1)
    return {
        "paths": paths,
        "parents": parents,
        "components": components,
        "leaves": leaves,
        "locations": locations,
        "variances": variances,
        "theta": theta,
        "shared": shared,
    }


def ordered_variances(spread: float, kappa: float, depth: int, rng: np.random.Generator) -> Floats:
    """(depth + 2,): spread, then v_l ~ InverseGamma(2, spread / 2^l) given that they fall from
    level to level and stay above kappa; by rejection of all at once.

    Parameters
    ----------
    spread : float
        How far components spread, in units of the noise.
    kappa : float
        The least variance.
    depth : int
        The level of the nodes that have atoms.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    scales = spread / 2.0 ** np.arange(1, depth + 2)
    for _ in range(_MOST_TRIES // 1000):
        tries = scales / rng.standard_gamma(2.0, (1000, depth + 1))
        good = (np.diff(tries, axis=1) < 0).all(axis=1) & (tries[:, -1] > kappa)
        if good.any():
            return np.append(spread, tries[np.argmax(good)])
    raise ValueError(
        f"kappa={kappa:g} is so far above the prior of the variances that no draw of them is "
        f"above it."
    )


def _nested_restaurants(n: int, depth: int, alpha: float, rng) -> tuple[NDArray, NDArray]:
    """(paths, parents): row after row walks down, to a child of N rows ~ N, a new one ~ alpha."""
    paths, parents, counts = np.zeros((n, depth + 1), dtype=np.int32), [-1], [0]
    children: list[list[int]] = [[]]
    for row in range(n):
        z = 0
        counts[0] += 1
        for level in range(1, depth + 1):
            weights = np.array([*(counts[y] for y in children[z]), alpha])
            choice = int(rng.choice(len(weights), p=weights / weights.sum()))
            if choice == len(children[z]):
                children[z].append(len(parents))
                children.append([])
                parents.append(z)
                counts.append(0)
            z = children[z][choice]
            counts[z] += 1
            paths[row, level] = z
    return paths, np.array(parents, dtype=np.int32)


def _atoms(leaves: NDArray, g: float, rng) -> tuple[NDArray[np.int32], NDArray]:
    """(components, leaf of each): CRP(g) among the rows of every leaf."""
    components, of_leaf, counts = np.empty(len(leaves), dtype=np.int32), [], []
    for row, leaf in enumerate(leaves):
        known = [k for k, z in enumerate(of_leaf) if z == leaf]
        weights = np.array([*(counts[k] for k in known), g])
        choice = int(rng.choice(len(weights), p=weights / weights.sum()))
        if choice == len(known):
            known.append(len(of_leaf))
            of_leaf.append(leaf)
            counts.append(0)
        components[row] = known[choice]
        counts[known[choice]] += 1
    return components, np.array(of_leaf)


def _levels(parents: NDArray) -> list[int]:
    levels: list[int] = []
    for parent in parents:
        levels.append(0 if parent < 0 else levels[parent] + 1)
    return levels


def as_state(drawn: dict[str, Any], likelihood: Any, hyper: Hyper, params: Any) -> State:
    """The state of what `simulate` drew; leaves are components where `params` says so.

    Parameters
    ----------
    drawn : dict
        What `simulate` returned.
    likelihood : Likelihood
        The family.
    hyper : Hyper
        The concentrations.
    params : type
        The class of the state's `params`.
    """
    paths, parents, locations = drawn["paths"], drawn["parents"], drawn["locations"]
    components, theta = drawn["components"], drawn["theta"]
    order = np.argsort(_levels(parents), kind="stable")  # as chains have them
    number = np.argsort(order)
    parents = np.where(parents[order] < 0, -1, number[parents[order]]).astype(np.int32)
    paths, locations = number[paths].astype(np.int32), locations[order]
    if not params.atoms_below_leaves:
        leaves = len(parents) + components
        parents = np.concatenate([parents, number[drawn["leaves"]]]).astype(np.int32)
        paths = np.column_stack([paths, leaves]).astype(np.int32)
        locations = np.vstack([locations, theta])
    total = drawn["variances"][1:].sum(axis=0)
    shared = likelihood.shared_on_tree(drawn["shared"], drawn["locations"][0], total)
    kept = params(locations, drawn["variances"], hyper)
    return State(paths, components, parents, theta, shared, kept)
