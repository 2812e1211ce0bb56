"""Which family held-out rows prefer, and when one may take the place of the usual one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What another family than the usual one must gain: so many standard errors, and one without a place
# on the tree so many nats a row.
_ERRORS, _LEAST_GAIN = 2.0, 0.05


class Tried(NamedTuple):
    """A family that was tried, and how well it describes rows that its chain has not seen."""

    likelihood: str
    """Its name."""
    transition: str
    """The name of the transition it was tried with."""
    log_density: float
    """Mean log density of a held-out row."""
    gain: float
    """What that is above the usual family, in nats a row."""
    error: float
    """The standard error of `gain`."""
    has_place: bool = True
    """Whether its components have a place on a diffusing tree."""

    @property
    def is_clearly_better(self) -> bool:
        """Whether it may take the place of the usual family."""
        least = 0.0 if self.has_place else _LEAST_GAIN
        return self.gain > max(least, _ERRORS * self.error)


class FamilyEvidence(NamedTuple):
    """The families of numbers that were tried, the usual one first, and the one that was taken."""

    chosen: Tried
    tried: tuple[Tried, ...]

    def __str__(self) -> str:
        """One sentence: what was taken, and how far the others are from it."""
        others = [
            f"{one.likelihood} {one.log_density - self.chosen.log_density:+.2f}"
            for one in self.tried
            if one != self.chosen
        ]
        return (
            f"Numbers have the family {self.chosen.likelihood}, with transition "
            f"{self.chosen.transition}: held-out rows have a log density of "
            f"{self.chosen.log_density:.2f} a row (others: {', '.join(others)})."
        )


def judged(
    names: Sequence[tuple[str, str, bool]], log_densities: Sequence[Floats]
) -> FamilyEvidence:
    """The densest of the families that are clearly better than the first one; else the first one.

    Parameters
    ----------
    names : sequence of (likelihood, transition, has_place)
        Names of what was tried, the usual one first, and whether components have a place.
    log_densities : sequence of (m,) arrays
        Of the same held-out rows under each of them.
    """
    usual = log_densities[0]
    tried = tuple(
        Tried(likelihood, transition, float(own.mean()), *_gain(own - usual), has_place)
        for (likelihood, transition, has_place), own in zip(names, log_densities, strict=True)
    )
    better = [one for one in tried if one.is_clearly_better]
    return FamilyEvidence(max(better or tried[:1], key=lambda one: one.log_density), tried)


def _gain(difference: Floats) -> tuple[float, float]:
    """The mean of what rows gain, and its standard error."""
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))
