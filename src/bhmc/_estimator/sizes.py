"""What depends on the number of rows: the sampler, the start, and how many threads a chain has."""

from typing import Any

from joblib import effective_n_jobs

from bhmc.model.protocol import Transition

AUTO = "auto"

# Draws that a chain keeps with n_draws="auto".
AUTO_DRAWS = 300

# From so many rows on all rows are redrawn at once, and chains start from a fit of a sample.
# docs/scale.md has the measurements.
_MANY_ROWS, ROWS_FOR_A_SAMPLE = 20_000, 50_000

# A chain that starts from a sample keeps fewer draws, each of which says more. Sweeps of the sample
# stand for so many of the warm-up, and at most for three quarters: with 150 a known hierarchy of
# 1e5 rows was found as well as with 100 (benchmarks/large_hierarchy.py).
_DRAWS_OF_MANY_ROWS, _SAVED_BY_SAMPLE = 100, 150

# Pilot chains, which choose settings, see at most so many rows.
PILOT_ROWS = 20_000


def sampler_for(model: Any, transition: Transition, n_rows: int) -> str:
    """The sampler that `sampler` stands for.

    Parameters
    ----------
    model : BHMC
        The estimator.
    transition : Transition
        Whose samplers there are.
    n_rows : int
        Rows of the data.
    """
    if not _is_auto(model.sampler):
        return model.sampler
    return "blocked" if n_rows >= _MANY_ROWS and _may(model, transition) else transition.samplers[0]


def start_for(model: Any, transition: Transition, n_rows: int) -> Any:
    """The start that `init` stands for.

    Parameters
    ----------
    model : BHMC
        The estimator.
    transition : Transition
        Whose samplers there are.
    n_rows : int
        Rows of the data.
    """
    if not _is_auto(model.init):
        return model.init
    return "sample" if n_rows >= ROWS_FOR_A_SAMPLE and _may(model, transition) else "kmeans"


def least_sweeps(model: Any, n_rows: int) -> int:
    """Sweeps of all rows that a chain makes at least, before it is known which transition it has.

    Parameters
    ----------
    model : BHMC
        The estimator.
    n_rows : int
        Rows of the data.
    """
    many = n_rows >= ROWS_FOR_A_SAMPLE and model.hyper != "paper"
    init = "sample" if many and _is_auto(model.init) else model.init
    return model.n_warmup - warmup_of_sample(model, init) + draws_for(model, init) * model.thin


def draws_for(model: Any, init: Any) -> int:
    """The draws of a chain that `n_draws` stands for, at first.

    Parameters
    ----------
    model : BHMC
        The estimator.
    init : str or array
        Where chains begin.
    """
    if not _is_auto(model.n_draws):
        return model.n_draws
    return _DRAWS_OF_MANY_ROWS if _is_sample(init) else AUTO_DRAWS


def warmup_of_sample(model: Any, init: Any) -> int:
    """Sweeps of the warm-up with all rows that a start from a sample saves.

    Parameters
    ----------
    model : BHMC
        The estimator.
    init : str or array
        Where chains begin.
    """
    return min(_SAVED_BY_SAMPLE, 3 * model.n_warmup // 4) if _is_sample(init) else 0


def _is_sample(init: Any) -> bool:
    return isinstance(init, str) and init == "sample"


def _may(model: Any, transition: Transition) -> bool:
    """Whether all rows may be redrawn at once; the paper's settings stay as published."""
    return "blocked" in transition.samplers and model.hyper != "paper"


def threads_for(model: Any) -> int:
    """Threads of each chain: those of `n_jobs` that chains leave over; draws do not depend on it.

    Parameters
    ----------
    model : BHMC
        The estimator.
    """
    n_jobs = effective_n_jobs(model.n_jobs)
    return max(1, n_jobs // min(n_jobs, model.n_chains))


def _is_auto(parameter: Any) -> bool:
    return isinstance(parameter, str) and parameter == AUTO
