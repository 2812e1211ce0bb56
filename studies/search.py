"""Does `bhmc.search` find settings that beat the defaults on rows not seen?

    python -m studies.search [zoo digits wine ...] [--seconds 300] [--splits 4]

A fifth of the rows is put away before the search begins; the search, its splits and its second
scores see the others only. Then the settings it found and the defaults are fitted to those others
as `BHMC` fits by default (two chains, 200 + 300 sweeps), and the rows put away give the score: the
mean log density of a row under all draws of both chains, averaged over three fits, for chains end
in different places. No label is read.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from benchmarks.chains import chain_of, start_state
from sklearn import datasets

import bhmc
from bhmc._compiled.blas_threads import one_blas_thread
from bhmc.likelihoods import resolve
from bhmc.model.hyper import concentrations
from bhmc.posterior.predictive import log_predictive

ROOT = Path(__file__).parents[1]
INIT = bhmc.BHMC().init
N_FITS, N_CHAINS, N_WARMUP, N_SWEEPS, EVERY = 3, 2, 200, 300, 5


def digits() -> np.ndarray:
    """400 of the digits, without the pixels that are blank in all of them."""
    X = datasets.load_digits().data
    X = X[np.random.default_rng(0).permutation(len(X))[:400]]
    return X[:, X.std(axis=0) > 0]


TABLES = {
    "zoo": lambda: np.asarray(bhmc.datasets.load_zoo().data, dtype=float),
    "digits": digits,
    "wine": lambda: datasets.load_wine().data,
}


def held_out(train: np.ndarray, test: np.ndarray, settings: dict, seed: int) -> float:
    """Mean log density of a row of `test` given `train`, over the draws of all chains."""
    likelihood = resolve(settings["likelihood"], train)
    family, unseen = likelihood.prepare(train), likelihood.prepare(test)
    hyper = concentrations(**{name: settings[name] for name in ("alpha", "gamma0", "gamma")})
    log_p = []
    for chain_seed in np.random.SeedSequence(seed).spawn(N_CHAINS):
        rng = np.random.default_rng(chain_seed)
        with one_blas_thread():
            start = start_state(
                family, n_levels=settings["n_levels"], hyper=hyper, rng=rng, init=INIT
            )
            chain = chain_of(start, family, "gibbs", rng, learning=hyper)
            for sweep in range(N_WARMUP + N_SWEEPS):
                chain.sweep()
                if sweep >= N_WARMUP and sweep % EVERY == 0:
                    log_p.append(log_predictive(chain.state(), unseen))
    return float(np.mean(np.logaddexp.reduce(log_p, axis=0) - np.log(len(log_p))))


def study(table: str, split: int, seconds: float, likelihood: str) -> dict:
    """One outer split: search on four fifths, compare on the fifth that nobody saw."""
    X = TABLES[table]()
    order, cut = np.random.default_rng([7, split]).permutation(len(X)), len(X) // 5
    train, test = X[order[cut:]], X[order[:cut]]
    result = bhmc.search(
        train, likelihood=likelihood, max_seconds=seconds, random_state=split, progress=False
    )
    usual = {**bhmc.BHMC().get_params(), "likelihood": likelihood}
    found, default = (
        np.mean([held_out(train, test, settings, 1000 + fit) for fit in range(N_FITS)])
        for settings in (result.best, usual)
    )
    best = {name: value for name, value in result.best.items() if name != "likelihood"}
    return {
        "table": table,
        "likelihood": likelihood,
        "split": split,
        "rounds": result.n_rounds,
        "found": float(found),
        "default": float(default),
        "gain": float(found - default),
        "gain in the search": result.best_score - result.default_score,
        "best": best,
    }


def _short(value) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Print a line for every outer split, then the mean gain of each table."""
    parser = argparse.ArgumentParser(prog="python -m studies.search")
    parser.add_argument("tables", nargs="*", default=list(TABLES), help="of zoo, digits, wine")
    parser.add_argument("--seconds", type=float, default=300.0, help="time of each search")
    parser.add_argument("--splits", type=int, default=4, help="outer splits of each table")
    parser.add_argument("--likelihood", default="auto", help="as in BHMC")
    arguments = parser.parse_args()
    lines = []
    for table in arguments.tables:
        for split in range(arguments.splits):
            one = study(table, split, arguments.seconds, arguments.likelihood)
            lines.append(one)
            best = ", ".join(f"{name} {_short(value)}" for name, value in one["best"].items())
            print(
                f"{table:7} split {split}: {one['rounds']:4} rounds, best {one['found']:9.3f}, "
                f"defaults {one['default']:9.3f}, gain {one['gain']:7.3f} "
                f"({one['gain in the search']:.3f} in the search); {best}",
                flush=True,
            )
        gains = np.array([one["gain"] for one in lines if one["table"] == table])
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        wins = int((gains > 0).sum())
        print(f"{table:7} gain {gains.mean():.3f} +- {error:.3f}, {wins} of {len(gains)} splits")
    path = ROOT / "build" / "search.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(lines, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
