"""`describe_prior`: what settings imply before any data are seen."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bhmc._extras import import_pandas
from bhmc._validation.parameters import check_whole, seed_sequence
from bhmc.model.hdp.start import prior_partition
from bhmc.model.hyper import concentrations, sample_hyper

# Percentiles: the interval holds 90 % of the samples.
_INTERVAL = (5, 95)


class PriorLine(NamedTuple):
    """One quantity under the prior."""

    what: str
    """Its name."""
    mean: float
    """Its expectation."""
    error: float
    """Standard error of `mean`."""
    low: float
    """A twentieth of the samples is below."""
    high: float
    """A twentieth of the samples is above."""
    exact: bool = False
    """Whether `mean` is exact rather than the samples'."""


@dataclass(frozen=True, repr=False)
class PriorDescription:
    """What settings imply before any data are seen; `description["components"]` is one line."""

    lines: list[PriorLine]
    """A line for each quantity."""
    n: int
    """Number of data."""
    n_samples: int
    """Trees drawn from the prior."""

    def __getitem__(self, what: str) -> PriorLine:
        lines = {line.what: line for line in self.lines}
        if what not in lines:
            raise KeyError(f"{what!r} is not one of {', '.join(map(repr, lines))}.")
        return lines[what]

    def to_frame(self) -> Any:
        """The lines as a pandas frame, by name."""
        return import_pandas("to_frame").DataFrame(self.lines).set_index("what")

    def __repr__(self) -> str:
        wide = max(len(line.what) for line in self.lines)
        rows = [
            f"  {line.what:{wide}} {_number(line.mean):>8} "
            f"{'exact' if line.exact else '+- ' + _number(line.error):>10}"
            f"   {_number(line.low)} to {_number(line.high)}"
            for line in self.lines
        ]
        head = f"The prior for {self.n:,} data, from {self.n_samples:,} trees drawn from it"
        title = f"  {'':{wide}} {'expected':>8} {'error':>10}   9 in 10 are within"
        return "\n".join([head, title, *rows])


def describe_prior(
    n: int,
    *,
    n_levels: int = 3,
    alpha: Any = "learn",
    gamma0: Any = "learn",
    gamma: Any = "learn",
    fixed_components: int | None = None,
    n_samples: int = 200,
    random_state: Any = None,
) -> PriorDescription:
    """What settings of `BHMC` imply for n data, before any data are seen.

    For every level: the number of nodes, and the share of the data in the largest node. Then the
    number of components that the data use, the share of the largest, and the number of components
    in a leaf (the mean over leaves). Trees are drawn from the prior; a mean with a closed form is
    exact.

    Parameters
    ----------
    n : int
        Number of data.
    n_levels : int, default=3
        L, the number of steps from the root to a leaf.
    alpha, gamma0, gamma : float, prior or "learn", default="learn"
        The concentrations, as in `BHMC`.
    fixed_components : int, optional
        K of the finite form, as in `BHMC`.
    n_samples : int, default=200
        Trees to draw.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of the trees.

    Returns
    -------
    description : PriorDescription
        Prints as a table; `to_frame()` gives a pandas frame.

    Examples
    --------
    >>> import bhmc
    >>> prior = bhmc.describe_prior(100, n_levels=2, alpha=0.5, gamma0=2.0, gamma=1.0)
    >>> round(prior["nodes at level 1"].mean, 4)  # the sum of 0.5 / (0.5 + i), i = 0..99
    3.2843
    """
    check_whole(n, "n", 1)
    check_whole(n_levels, "n_levels", 1)
    check_whole(n_samples, "n_samples", 2)
    hyper = concentrations(
        alpha=alpha, gamma0=gamma0, gamma=gamma, fixed_components=fixed_components
    )
    rng = np.random.default_rng(seed_sequence(random_state))
    samples = [
        _numbers_of(*prior_partition(n, n_levels=n_levels, hyper=sample_hyper(hyper, rng), rng=rng))
        for _ in range(n_samples)
    ]
    lines = {
        what: _line(what, np.array([sample[what] for sample in samples])) for what in samples[0]
    }
    if "alpha" not in hyper.priors:
        first = "nodes at level 1"
        lines[first] = lines[first]._replace(
            mean=expected_tables(n, hyper.alpha), error=0.0, exact=True
        )
    return PriorDescription(list(lines.values()), n, n_samples)


def expected_tables(n: int, alpha: float) -> float:
    """sum over i = 0..n-1 of alpha / (alpha + i): tables of a Chinese restaurant with n guests.

    Parameters
    ----------
    n : int
        Guests.
    alpha : float
        The concentration.
    """
    return float(np.sum(alpha / (alpha + np.arange(n))))


def _numbers_of(paths: np.ndarray, components: np.ndarray) -> dict[str, float]:
    """The quantities of the table in one draw; the root is left out."""
    n, n_levels = len(paths), paths.shape[1] - 1
    numbers: dict[str, float] = {}
    for level in range(1, n_levels + 1):
        sizes = _sizes(paths[:, level])
        numbers[f"nodes at level {level}"] = len(sizes)
        numbers[f"share of the largest node at level {level}"] = sizes.max() / n
    held = _sizes(components)
    pairs = paths[:, -1].astype(np.int64) * len(held) + components
    return numbers | {
        "components": len(held),
        "share of the largest component": held.max() / n,
        "components in a leaf": len(_sizes(pairs)) / numbers[f"nodes at level {n_levels}"],
    }


def _sizes(labels: np.ndarray) -> np.ndarray:
    """How often each label occurs that does."""
    return np.unique(labels, return_counts=True)[1]


def _line(what: str, samples: np.ndarray) -> PriorLine:
    low, high = np.percentile(samples, _INTERVAL)
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    return PriorLine(what, float(samples.mean()), float(error), float(low), float(high))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
