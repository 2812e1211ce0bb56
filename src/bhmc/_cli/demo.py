"""`bhmc demo`: `bhmc fit` on the bundled Zoo table, and how its components meet the known types."""

import contextlib
from collections.abc import Sequence
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC
from bhmc._cli.exit_codes import OK
from bhmc._cli.fit import fit
from bhmc._cli.folder import RunFolder
from bhmc._cli.output import print_result, say
from bhmc._cli.parser import build_parser
from bhmc._cli.show import load_run
from bhmc._validation.errors import RefusedError
from bhmc.datasets import load_zoo

_TABLE = "zoo.csv"
_TYPES = ("type", "level1_annotation")

_LEGEND = """
A line is a node: its number (a > b: an only child), its animals, its support (how well nodes of
the draws match it), their components (c0 is the largest), and in a leaf the names of some.
Animals of one component are alike, and components of one branch are near each other.

Animals of each known type in each component. The types were not used in fitting.
Animals that have a component to themselves are counted together as 'alone'.
"""


def demo(options) -> int:
    """Fit the bundled table, print its tree and what the components are."""
    file = resources.files("bhmc.datasets").joinpath("data", _TABLE)
    with resources.as_file(file) as path:
        arguments = ["fit", str(path), "-o", options.output, "--seed", str(options.seed)]
        arguments += ["--id", "name", "--drop", ",".join(_TYPES)]
        if not _holds_another_run(options.output):
            arguments.append("--force")
        code = fit(build_parser().parse_args(arguments))
    if code == OK:
        zoo, (folder, _, model) = load_zoo(), load_run(options.output)
        counts = count_types(model, zoo.target, len(zoo.target_names))
        print_result(f"{_LEGEND}\n{types_text(counts, zoo.target_names)}")
        say(f"Look further: bhmc show {folder.path} --features 3, or bhmc plot {folder.path}")
    return code


def _holds_another_run(name: str) -> bool:
    """Whether the folder holds a run of other data, which the demo must not replace."""
    with contextlib.suppress(RefusedError):
        return RunFolder.open(name).record()["data"]["file"] != _TABLE
    return False


def count_types(model: BHMC, types: NDArray, n_types: int) -> NDArray[np.int64]:
    """(n_components, n_types) how many animals of each known type each component holds."""
    counts = np.zeros((model.tree_.n_components, n_types), dtype=np.int64)
    np.add.at(counts, (model.component_labels_, types), 1)
    return counts


def types_text(counts: NDArray[np.int64], type_names: Sequence[str]) -> str:
    """The counts as lines; components of one animal share the line "alone"."""
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
