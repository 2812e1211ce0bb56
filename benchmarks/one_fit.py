"""One default fit, timed: a script of its own, so that another checkout's sources can run it.

    PYTHONPATH=SRC python benchmarks/one_fit.py ROWS N_WARMUP N_DRAWS

prints JSON: CPU seconds of a sweep, of recording a draw, and of all else in the fit (starts, pilot
chains, summaries), of two chains of so many sweeps. It uses only what all versions have had.
"""

import json
import sys
import time
import warnings

import numpy as np


def recorder_class():
    """The class that notes draws, which has been in two places."""
    try:
        from bhmc.posterior.recorder import Recorder
    except ImportError:
        from bhmc.recorder import Recorder  # type: ignore[import-not-found]
    return Recorder


def rows_of(n: int) -> np.ndarray:
    """(n, 16) rows of 36 Gaussian clusters, made here so that they are the same everywhere."""
    rng = np.random.default_rng(0)
    centres = np.zeros((36, 16))
    for fan, spread in ((4, 2.0), (12, 1.0), (36, 0.5)):
        centres += np.repeat(rng.normal(0, spread, (fan, 16)), 36 // fan, axis=0)
    return centres[rng.integers(36, size=n)] + 0.5 * rng.standard_normal((n, 16))


def measured(n_rows: int, n_warmup: int, n_draws: int) -> dict:
    """CPU seconds of a sweep, of a kept draw beyond it, and of the rest of a fit."""
    from bhmc import BHMC

    X, recorder, moments = rows_of(n_rows), recorder_class(), []
    own = recorder.on_draw

    def on_draw(self, *arguments) -> None:
        before = time.process_time()
        own(self, *arguments)
        moments.append((before, time.process_time()))

    def fit(rows, warmup: int, draws: int):
        return BHMC(n_levels=3, n_warmup=warmup, n_draws=draws, n_chains=2, random_state=0).fit(
            rows
        )

    warnings.simplefilter("ignore")
    fit(X[:300], 2, 2)  # loads compiled code
    recorder.on_draw = on_draw
    start = time.process_time()
    model = fit(X, n_warmup, n_draws)
    total = time.process_time() - start
    recorder.on_draw = own
    begun, ended = np.array(moments).reshape(2, n_draws, 2).transpose(2, 0, 1)
    sweep = float(np.median(begun[:, 1:] - ended[:, :-1]))
    draw = float(np.median(ended - begun))
    rest = total - 2 * (n_warmup + n_draws) * sweep - 2 * n_draws * draw
    size = int(model.tree_.n_components)
    return {"sweep": sweep, "draw": draw, "rest": rest, "total": total, "components": size}


if __name__ == "__main__":
    print(json.dumps(measured(*map(int, sys.argv[1:4]))))
