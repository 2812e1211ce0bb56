"""One fit of `BHMC` with settings from the command line: shared by the benchmarks of trees.

Where the environment variable BHMC_FITS names a folder, fits are kept there, and benchmarks that
ask for the same fit share it: the same data, seed, settings and source files.
"""

import argparse
import ast
import hashlib
import json
import os
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc import BHMC, Tree, priors


class Fit(NamedTuple):
    """A fitted model, its CPU seconds, and what it said if its chains do not agree."""

    model: BHMC
    seconds: float
    text: str


def timed_fit(X, seed: int, settings: dict) -> Fit:
    """`BHMC(**settings, random_state=seed).fit(X)`, or what is kept of it."""
    folder = os.environ.get("BHMC_FITS")
    if not folder:
        return _new_fit(X, seed, settings)
    asked = X, repr(sorted(BHMC(**settings, random_state=seed).get_params().items()))
    file = Path(folder) / f"{joblib.hash(asked)}-{_digest_of_sources()}.joblib"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        joblib.dump(_new_fit(X, seed, settings), file)
    return joblib.load(file)


@cache
def _digest_of_sources() -> str:
    """Of all source files of the package that is imported."""
    sources = sorted(Path(bhmc.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()[:16]


def _new_fit(X, seed: int, settings: dict) -> Fit:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        model = BHMC(**settings, random_state=seed).fit(X)
        seconds = time.process_time() - start
    said = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    return Fit(model, seconds, str(said[0].message) if said else "")


def of_chains(model: BHMC) -> dict:
    """How the chains ran: the largest R-hat and whose it is, sweeps, what ended them."""
    table = model.diagnostics_.table
    worst = int(np.argmax(np.where(table["constant"], 0.0, table["rhat"])))
    planned = model.n_warmup + model.thin * model.draws_.n_draws
    return {
        "rhat": float(table["rhat"][worst]),
        "worst": str(table["name"][worst]),
        "sweeps": int(getattr(model, "n_sweeps_", planned)),
        "ended": str(getattr(model, "ended_by_", "n_draws")),
    }


def of_tree(tree: Tree) -> dict:
    """How many nodes each level has, and how many components there are."""
    nodes = [len(np.unique(tree.labels_at(level))) for level in range(1, tree.n_levels + 1)]
    return {"nodes": nodes, "leaves": nodes[-1], "components": tree.n_components}


def add_settings(parser: argparse.ArgumentParser, but: tuple[str, ...] = ()) -> None:
    """Every parameter of `BHMC` as an option of the same name, but for some."""
    for name in sorted(BHMC().get_params().keys() - {"random_state", *but}):
        parser.add_argument(f"--{name}", type=read_value, default=argparse.SUPPRESS, metavar="X")


def add_common(parser: argparse.ArgumentParser, tables) -> None:
    """Which data, how many seeds, where to write figures."""
    parser.add_argument("data", nargs="*", metavar="DATA", help=", ".join(tables))
    parser.add_argument("--seeds", type=int, default=5, help="default: 5")
    parser.add_argument("--first-seed", type=int, default=0, help="default: 0")
    parser.add_argument("--json", type=Path, help="write all figures to this file")


def take_common(options: dict, tables) -> tuple[list[str], range, Path | None]:
    """(names, seeds, file) out of the options of `add_common`, which leaves the settings behind."""
    names, n, first, file = (options.pop(key) for key in ("data", "seeds", "first_seed", "json"))
    return names or list(tables), range(first, first + n), file


def read_value(text: str) -> Any:
    """A number, None, a prior such as `Gamma(1, 100)`, or else a word."""
    name, bracket, rest = text.partition("(")
    if bracket:
        return getattr(priors, name)(*ast.literal_eval(f"({rest.removesuffix(')')},)"))
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def write(file: Path | None, found: Any) -> None:
    """All figures as JSON, if a file was asked for."""
    if file is not None:
        file.write_text(json.dumps(found, indent=1), encoding="utf-8")
