"""Chains to forge: small ones of every transition, and what may be changed in their captures."""

import copy
from typing import Any, NamedTuple

import numpy as np

from bhmc import Hyper
from bhmc.likelihoods import SharedGaussian
from bhmc.model.registry import transition_named
from bhmc.rows.local import LocalRows

HYPER = Hyper(1.0, 1.0, 1.0)
N_LEVELS = 2

# (transition, sampler).
KINDS = (
    ("hdp", "gibbs"),
    ("hdp", "blocked"),
    ("diffused", "gibbs"),
    ("diffused", "blocked"),
    ("gaussian", "gibbs"),
)


class Captured(NamedTuple):
    """A chain that was captured, and what it resumes with."""

    transition: Any
    sampler: str
    value: dict[str, Any]

    def resume(self, value: dict[str, Any]) -> Any:
        """A chain from another capture."""
        rows, rng = LocalRows(family()), np.random.default_rng(1)
        return self.transition.resume(value, rows, self.sampler, rng)

    def forged(self, path: tuple[str, ...], change: Any) -> dict[str, Any]:
        """The capture with what stands at a path changed in place, or replaced."""
        value = copy.deepcopy(self.value)
        inner = value
        for name in path[:-1]:
            inner = inner[name]
        changed = change(inner[path[-1]])
        if changed is not None:
            inner[path[-1]] = changed
        return value


def family():
    """Twelve rows in two clumps."""
    rng = np.random.default_rng(0)
    return SharedGaussian().prepare(rng.normal(np.repeat([-3.0, 3.0], 6)[:, None], 0.5, (12, 2)))


def captured(name: str, sampler: str) -> Captured:
    """A chain of some sweeps."""
    transition, rows = transition_named(name).bind(HYPER), LocalRows(family())
    rows.turn_to(rows.family.start_shared())
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2], 4)[:, None]
    start = transition.start(rows, labels, n_levels=N_LEVELS, rng=rng)
    chain = transition.sampler(start, rows, sampler, rng)
    for _ in range(3):
        chain.sweep()
    return Captured(transition, sampler, chain.capture())


def leaves_of(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where arrays and numbers are in a capture."""
    if isinstance(value, dict):
        return [found for name, one in value.items() for found in leaves_of(one, (*path, name))]
    return [path]
