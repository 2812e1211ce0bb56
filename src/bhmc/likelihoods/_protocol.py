"""What every likelihood family offers, and nothing more.

A `Likelihood` is a setting: what a user writes. `prepare(X)` checks it against data and returns a
`Family`: the same setting with the data in the form that makes each conditional cheap. Samplers see
only the `Family`; the forward simulator sees only `sample_theta` and `sample_data`, which share no
code with it, so that joint tests can see an error on either side.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Family(Protocol):
    """A likelihood bound to data X (n rows). `theta` is (K, p): a row of parameters a component."""

    n_parameters: int
    """p."""

    def log_table(self, theta: Floats) -> Floats:
        """(n, K): log f(x_n; theta_k)."""
        ...

    def log_marginal(self) -> Floats:
        """(n,): log f*(x_n), f*(x) = integral of f(x; theta) dH(theta)."""
        ...

    def log_prior(self, theta: Floats) -> Floats:
        """(K,): log h(theta_k)."""
        ...

    def draw_theta(
        self, components: NDArray[np.int64], n_components: int, rng: np.random.Generator
    ) -> Floats:
        """(K, p): theta_k ~ p(theta | the rows with components == k); H where there are none."""
        ...

    def draw_one_theta(self, rows: list[int], rng: np.random.Generator) -> Floats:
        """(p,): theta ~ p(theta | x_rows), for a component just born; H where there are no rows."""
        ...


class Likelihood(Protocol):
    """A family and its fixed numbers, before it has seen data."""

    def prepare(self, X: Floats) -> Family:
        """Check the settings against X and return the family bound to it."""
        ...

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """(size, p): theta ~ H."""
        ...

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """(len(theta), n_features): x_i ~ F(theta_i)."""
        ...
