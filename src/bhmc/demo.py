"""The main job on bundled data: `python -m bhmc.demo [--output DIR] [--seed N]`."""

import argparse
import csv
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numba
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from bhmc._estimator.bhmc import BHMC
from bhmc._version import __version__
from bhmc.datasets import load_zoo

# Names shown in a leaf; more would not fit on a line. All of them are in assignments.csv.
_MAX_NAMES = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code: 0, or 2 if an argument or the folder is no good."""
    options = _parse(arguments)
    try:
        seed = _seed(options.seed)
        folder = _prepare_folder(options.output)
        _run(folder, seed)
    except _RefusedError as error:
        print(f"bhmc.demo: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough; the results are on disk by now
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def type_table(model: BHMC, zoo: Bunch) -> NDArray[np.int64]:
    """(n_components, 7) how many animals of each known type each component holds."""
    counts = np.zeros((model.tree_.n_components, len(zoo.target_names)), dtype=np.int64)
    np.add.at(counts, (model.component_labels_, zoo.target), 1)
    return counts


def format_table(counts: NDArray[np.int64], type_names: Sequence[str]) -> str:
    """The table as text; components of one animal share the line "alone"."""
    sizes = counts.sum(axis=1)
    rows = [(f"c{k}", row) for k, row in enumerate(counts) if sizes[k] > 1]
    if (sizes == 1).any():
        rows.append(("alone", counts[sizes == 1].sum(axis=0)))
    rows.append(("all", counts.sum(axis=0)))
    widths = [max(len(name), 3) for name in type_names]
    head = ["component", *(f"{name:>{w}}" for name, w in zip(type_names, widths, strict=True))]
    lines = ["  ".join(head)]
    for label, row in rows:
        cells = [f"{value or '.':>{w}}" for value, w in zip(row, widths, strict=True)]
        lines.append("  ".join([f"{label:<9}", *cells]))
    return "\n".join(lines)


def write_results(folder: Path, model: BHMC, zoo: Bunch) -> list[Path]:
    """Write the four result files into `folder` and return where they are."""
    tree, assignments, draws, settings = (
        folder / name for name in ("tree.txt", "assignments.csv", "draws.csv", "settings.json")
    )
    tree.write_text(_tree_text(model, zoo) + "\n", encoding="utf-8")
    columns = ("name", "path", "leaf", "component", "known_type")
    _write_csv(assignments, columns, _assignment_rows(model, zoo))
    _write_csv(draws, ("chain", "draw", *model.draws_.numbers()), _draw_rows(model))
    settings.write_text(json.dumps(_settings(model), indent=2) + "\n", encoding="utf-8")
    return [tree, assignments, draws, settings]


class _RefusedError(Exception):
    """What the user asked for cannot be done; the text is a sentence that says why."""


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bhmc.demo",
        description="Fit BHMC to the bundled Zoo data, print the tree and write the results.",
    )
    parser.add_argument("--output", default="build/demo", help="folder for the results")
    parser.add_argument("--seed", default="0", help="whole number, 0 or more")
    return parser.parse_args(arguments)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 1000):
        raise _RefusedError(f"--seed must be a whole number of 0 or more, got {text[:40]!r}.")
    return int(text)


def _prepare_folder(name: str) -> Path:
    """The folder, made and seen to be writable before any work is done."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _RefusedError(f"--output {name!r} is not a folder to write to: {reason}.") from None
    return folder


def _run(folder: Path, seed: int) -> None:
    zoo = load_zoo()
    n, d = zoo.data.shape
    _say(f"Loaded the Zoo data: {n} animals, {d} features (is it feathered, how many legs, ...).")
    _say("Compiling the sampler. The first time takes up to a minute, later runs a moment.")
    _say(f"Ready after {_seconds(_compile, zoo):.1f} seconds.")
    model = BHMC(random_state=seed)
    _say(
        f"Sampling {model.n_chains} chains of {model.n_warmup} + {model.n_draws} sweeps "
        f"with random_state={seed}, all else at its default."
    )
    seconds = _seconds(model.fit, zoo.data)
    try:
        paths = write_results(folder, model, zoo)
    except OSError as error:
        raise _RefusedError(f"{error.filename} cannot be written: {error.strerror}.") from None
    _report(model, zoo, seconds)
    for path in paths:
        _say(f"Wrote {path}")


def _compile(zoo: Bunch) -> None:
    """One sweep is enough for Numba to compile, or load, every kernel."""
    BHMC(n_warmup=0, n_draws=1, n_chains=1, random_state=0).fit(zoo.data)


def _report(model: BHMC, zoo: Bunch, seconds: float) -> None:
    tree, draws = model.tree_, model.draws_
    n_components = draws.n_components
    _say()
    _say("The draw nearest to all others. A line is a node: its number (a > b: an only child), its")
    _say("animals, in how many draws (%) a node has exactly these, their components (c0 is the")
    _say("largest), and in a leaf the first of their names.")
    _say("Animals of one component are alike; in this model two components in a node need not be.")
    _say()
    _say(_tree_text(model, zoo))
    _say()
    _say(
        f"{tree.n_components} components, {tree.n_leaves} leaves, {n_components.size} draws, "
        f"{seconds:.1f} seconds."
    )
    _say(
        f"It is one draw of many: over all of them there are {n_components.min()} to "
        f"{n_components.max()} components and {draws.n_nodes.min()} to {draws.n_nodes.max()} nodes."
    )
    if not model.diagnostics_.converged:
        _say("Its chains do not agree in everything yet (model.diagnostics_): it is a first look.")
    _say()
    _say("Animals of each known type in each component. The types were not used in fitting.")
    _say("Animals that have a component to themselves are counted together as 'alone'.")
    _say()
    _say(format_table(type_table(model, zoo), zoo.target_names))
    _say()


def _tree_text(model: BHMC, zoo: Bunch) -> str:
    return model.tree_.to_text(zoo.names, max_names=_MAX_NAMES)


def _assignment_rows(model: BHMC, zoo: Bunch) -> Iterable[tuple]:
    """Node ids are those of the tree as printed; a path is its ids from root to leaf."""
    known = zoo.target_names[zoo.target]
    rows = zip(zoo.names, model.paths_, model.component_labels_, known, strict=True)
    for name, path, component, known_type in rows:
        yield name, " ".join(str(node) for node in path), path[-1], component, known_type


def _draw_rows(model: BHMC) -> Iterable[tuple]:
    numbers = model.draws_.numbers().values()
    for chain, draw in np.ndindex(model.draws_.log_likelihood.shape):
        yield chain, draw, *(values[chain, draw] for values in numbers)


def _settings(model: BHMC) -> dict:
    libraries = {"numpy": np, "scipy": scipy, "sklearn": sklearn, "numba": numba}
    versions = {name: library.__version__ for name, library in libraries.items()}
    return {
        "seed": model.random_state,
        "parameters": model.get_params(),
        "versions": {"bhmc": __version__, **versions},
    }


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def _seconds(function, *arguments) -> float:
    start = time.perf_counter()
    with warnings.catch_warnings():  # the report says how far the chains agree
        warnings.simplefilter("ignore", ConvergenceWarning)
        function(*arguments)
    return time.perf_counter() - start


def _say(text: str = "") -> None:
    """Print at once, also where the terminal cannot show every character."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


if __name__ == "__main__":
    sys.exit(main())
