"""Priors of a positive number. A prior in place of a number means that the number is learned.

`BHMC(alpha=0.5)` fixes alpha; `BHMC(alpha=bhmc.priors.Gamma(2, 2))` learns alpha. The compiled code
knows the kinds by number, so a new kind needs a change here and in the kernels.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

FIXED, GAMMA_PRIOR, UNIFORM, BETA, INVERSE_GAMMA = range(5)


@dataclass(frozen=True)
class Prior(ABC):
    """A distribution of a number above 0."""

    kind: ClassVar[int]

    @abstractmethod
    def log_density(self, x: float) -> float:
        """Log of the density at x; -inf where the density is 0.

        Parameters
        ----------
        x : float
            A number.
        """

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> float:
        """A draw.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness.
        """

    @property
    def code(self) -> tuple[int, float, float]:
        """(kind, first number, second number), the form that compiled code takes."""
        first, second = (float(getattr(self, field.name)) for field in fields(self))
        return self.kind, first, second

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise TypeError(f"{field.name} must be a number, got {value!r}.")
            if not (math.isfinite(value) and self._allows(field.name, float(value))):
                rule = "at least 0" if field.name == "low" else "above 0"
                raise ValueError(f"{field.name} must be finite and {rule}, got {value!r}.")

    @staticmethod
    def _allows(name: str, value: float) -> bool:
        return value >= 0 if name == "low" else value > 0


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma(shape, rate): mean shape / rate.

    Parameters
    ----------
    shape : float
        Above 0.
    rate : float, default=1.0
        Above 0.
    """

    shape: float
    rate: float = 1.0
    kind = GAMMA_PRIOR

    def log_density(self, x: float) -> float:
        """Log of the density at x."""
        if x <= 0:
            return -math.inf
        a, b = self.shape, self.rate
        return a * math.log(b) - math.lgamma(a) + (a - 1) * math.log(x) - b * x

    def sample(self, rng: np.random.Generator) -> float:
        """A draw."""
        return float(rng.gamma(self.shape) / self.rate)


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform(low, high): a constant density between low and high.

    Parameters
    ----------
    low : float
        At least 0.
    high : float
        Above `low`.
    """

    low: float
    high: float
    kind = UNIFORM

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low!r} and {self.high!r}.")

    def log_density(self, x: float) -> float:
        """Log of the density at x."""
        return -math.log(self.high - self.low) if self.low <= x <= self.high else -math.inf

    def sample(self, rng: np.random.Generator) -> float:
        """A draw."""
        return float(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class Beta(Prior):
    """Beta(a, b), between 0 and 1: mean a / (a + b).

    Parameters
    ----------
    a, b : float
        Above 0.
    """

    a: float
    b: float
    kind = BETA

    def log_density(self, x: float) -> float:
        """Log of the density at x."""
        if not 0 < x < 1:
            return -math.inf
        a, b = self.a, self.b
        constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        return constant + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)

    def sample(self, rng: np.random.Generator) -> float:
        """A draw."""
        return float(rng.beta(self.a, self.b))


@dataclass(frozen=True)
class InverseGamma(Prior):
    """InverseGamma(shape, scale): 1 / x ~ Gamma(shape, rate=scale).

    Parameters
    ----------
    shape : float
        Above 0.
    scale : float, default=1.0
        Above 0.
    """

    shape: float
    scale: float = 1.0
    kind = INVERSE_GAMMA

    def log_density(self, x: float) -> float:
        """Log of the density at x."""
        if x <= 0:
            return -math.inf
        a, b = self.shape, self.scale
        return a * math.log(b) - math.lgamma(a) - (a + 1) * math.log(x) - b / x

    def sample(self, rng: np.random.Generator) -> float:
        """A draw."""
        return float(self.scale / rng.gamma(self.shape))


# What "learn" stands for, in each way of learning; the second has the paper's priors.
LEARN_BY: dict[str, dict[str, Prior]] = {
    "exact": {"alpha": Gamma(2, 10), "gamma0": Gamma(1, 1), "gamma": Gamma(2, 10)},
    "paper": {"alpha": Gamma(3, 1), "gamma0": Gamma(3.5, 1), "gamma": Uniform(0, 1.5)},
}


def prior_of(code: tuple[int, float, float]) -> Prior:
    """The prior with that `code`.

    Parameters
    ----------
    code : (int, float, float)
        What `Prior.code` returned.
    """
    kind, first, second = code
    return {cls.kind: cls for cls in (Gamma, Uniform, Beta, InverseGamma)}[kind](first, second)
