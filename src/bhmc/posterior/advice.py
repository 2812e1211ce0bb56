"""What to say of chains that have not converged: which part has settled, and what to do about it.

A warning speaks to whoever runs the fit: in Python it names parameters of `BHMC`, on the command
line options of `bhmc fit`.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bhmc.posterior.diagnostics import LEAST_ESS, Diagnostics, Finding, and_more, first_few

# Numbers that speak of components, or of the tree; the others speak of both.
_OF_COMPONENTS = ("n_components", "component_entropy", "together", "shared", "gamma0")
_OF_TREE = ("n_nodes", "nodes_at", "entropy_at", "alpha", "gamma")

# Fewer draws of a chain than this say little: advice is then to make as many as "auto" does.
_FEW_DRAWS, _ENOUGH_DRAWS = 100, 300
# Effective draws to aim at, as a multiple of those that pass; and how much longer to run at most.
_SURPLUS, _MOST_TIMES = 1.5, 16


class NotConvergedWarning(ConvergenceWarning):
    """Chains have not converged; `in_options` has the same in the words of the command line."""

    def __init__(self, message: str, in_options: str = ""):
        super().__init__(message)
        self.in_options = in_options or message


class Longer(NamedTuple):
    """Settings of a run that should be long enough."""

    n_warmup: int
    thin: int
    n_draws: int | None = None
    """None: as they were."""
    seconds: float = 0.0
    """Time of that run; 0 where it is not known."""

    def in_python(self) -> str:
        """As parameters of `BHMC`."""
        draws = "" if self.n_draws is None else f", n_draws={self.n_draws}"
        return (
            f"BHMC(n_warmup={self.n_warmup}, thin={self.thin}{draws}){self._time()}, or make more "
            f"draws of these chains with set_params(warm_start=True).fit(X)"
        )

    def in_options(self) -> str:
        """As options of `bhmc fit`."""
        draws = "" if self.n_draws is None else f" --draws {self.n_draws}"
        return f"--warmup {self.n_warmup} --thin {self.thin}{draws}{self._time()}"

    def _time(self) -> str:
        return f", about {_in_words(self.seconds)}" if self.seconds else ""


def longer(
    diagnostics: Diagnostics, *, n_warmup: int, thin: int, seconds_per_sweep: float = 0.0
) -> Longer:
    """How long to run, so that the number with the fewest effective draws should have enough.

    Effective draws grow with the sweeps. All sweeps so far, or half of those to come if that is
    more, become warm-up.

    Parameters
    ----------
    diagnostics : Diagnostics
        What was found.
    n_warmup, thin : int
        Those of the draws that were judged.
    seconds_per_sweep : float, default=0.0
        The measured speed of all chains together; 0 if it is not known.
    """
    few = diagnostics.n_draws < _FEW_DRAWS
    n_draws = _ENOUGH_DRAWS if few else diagnostics.n_draws
    made = n_warmup + diagnostics.n_draws * thin
    thin *= _times(diagnostics, n_draws)
    window = n_draws * thin
    warmup = -(-max(made, window) // 100) * 100
    seconds = seconds_per_sweep * (warmup + window)
    return Longer(warmup, thin, n_draws if few else None, seconds)


def _times(diagnostics: Diagnostics, n_draws: int) -> int:
    """A power of two: how many times more sweeps are needed from one of `n_draws` to the next."""
    table = diagnostics.table
    ess = np.minimum(table["ess_bulk"], table["ess_tail"])[~table["constant"]]
    fewest = np.nanmin(ess) if np.isfinite(ess).any() else 1.0
    longer = _SURPLUS * LEAST_ESS * diagnostics.n_chains / max(float(fewest), 1.0)
    times = min(max(longer, 2.0), _MOST_TIMES) * diagnostics.n_draws / n_draws
    return 2 ** max(0, math.ceil(math.log2(times)))


def settled(diagnostics: Diagnostics) -> str:
    """A sentence that says whether the components and the tree have settled.

    Parameters
    ----------
    diagnostics : Diagnostics
        What was found.
    """
    names = [name.partition("[")[0] for name in diagnostics.table["name"]]
    ok = diagnostics.table["ok"]
    failed = {name for name, passes in zip(names, ok, strict=True) if not passes}
    components, tree = (failed.isdisjoint(part) for part in (_OF_COMPONENTS, _OF_TREE))
    if components and tree:
        return "The components and the tree have settled."
    if components:
        return "The components have settled, the tree has not."
    if tree:
        return "The tree has settled, the components have not."
    return "Neither the components nor the tree have settled."


def warn_if_not_converged(
    diagnostics: Diagnostics, advice: Longer | None = None, *, stacklevel: int = 1
) -> None:
    """One warning that names the worst few numbers and says what to do, if anything was found.

    Parameters
    ----------
    diagnostics : Diagnostics
        What `diagnose` found.
    advice : Longer, optional
        A run that should be long enough; by default the advice of the worst finding.
    stacklevel : int, default=1
        Whose line the warning shows; 1 is the caller of this function.
    """
    if diagnostics.converged:
        return
    findings = diagnostics.findings
    named = "; ".join([*(one.what for one in first_few(findings)), *and_more(findings)])
    said = f"The chains have not converged: {named}. {settled(diagnostics)} What to do:"
    python, options = _words(findings[0], advice)
    warning = NotConvergedWarning(f"{said} {python}.", f"{said} {options}.")
    warnings.warn(warning, stacklevel=stacklevel + 1)


def _words(worst: Finding, advice: Longer | None) -> tuple[str, str]:
    """What to do, in Python and on the command line."""
    if advice is None or not worst.needs_time:
        return worst.advice, worst.advice
    return advice.in_python(), advice.in_options()


def _in_words(seconds: float) -> str:
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(seconds, 1):.0f} s"
