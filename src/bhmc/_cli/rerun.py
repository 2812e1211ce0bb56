"""`bhmc rerun`: the data of a run fitted again with its settings, and the answers compared."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bhmc import BHMC
from bhmc._cli.exit_codes import DIFFERENT, INTERRUPTED, OK
from bhmc._cli.fit import sample_into, settings_of, went_on
from bhmc._cli.folder import TEXT, RunFolder, now, owner
from bhmc._cli.output import counted, print_json, print_result, say
from bhmc._cli.records import check_same_data
from bhmc._cli.show import load_run
from bhmc._cli.tables import read_again
from bhmc._io.versions import versions
from bhmc._validation.errors import RefusedError, refusals


def rerun(options) -> int:
    """Fit again, compare, and say what is the same."""
    folder, record, model = load_run(options.folder)
    _check_can_be_repeated(folder, record)
    _check_data(folder, record, options.data)
    table = read_again(options, record, folder)
    with _folder_for(options.output) as name:
        new = RunFolder.create(name)
        again = _begun_again(record, options.data)
        new.write_record(again)
        if (folder.path / TEXT).exists():
            shutil.copyfile(folder.path / TEXT, new.path / TEXT)
        ended = sample_into(new, again, table, options)
        if ended is None or ended[1]["status"] == "partial":
            return INTERRUPTED
        with refusals():
            compared = differences(model, BHMC.load(new.model))
    return _report(folder, record, model, compared, options)


def _check_can_be_repeated(folder: RunFolder, record: dict[str, Any]) -> None:
    """Refuse runs whose end was not decided by data, settings and seed alone."""
    if record["status"] != "done":
        raise RefusedError(
            f"the run in {folder.path} is not finished, so there is no whole answer to compare "
            f"with: finish it first with bhmc fit --continue {folder.path}."
        )
    if record["result"].get("ended_by") == "max_seconds":
        raise RefusedError(
            f"--max-seconds ended the run in {folder.path}, so its answer depends on the speed of "
            "the machine and cannot be repeated: fit again without it."
        )
    if went_on(record):
        raise RefusedError(
            f"the run in {folder.path} went on after chains had agreed (--draws auto and "
            "--continue), which one fit cannot repeat: fit again with a number of draws."
        )


def _check_data(folder: RunFolder, record: dict[str, Any], moved: str | None) -> None:
    """Refuse a table that is gone or has changed, before it is read."""
    path = Path(moved or record["data"]["path"])
    if not path.exists():
        raise RefusedError(
            f"the table of the run, {path}, is gone: say where it is now with bhmc rerun "
            f"{folder.path} DATA."
        )
    as_it_was = f"name the table as it was, bhmc rerun {folder.path} DATA"
    check_same_data(path, record, folder.path, as_it_was)


@contextmanager
def _folder_for(name: str | None) -> Iterator[str]:
    """The folder asked for, or one that is removed afterwards."""
    if name is not None:
        yield name
        return
    with tempfile.TemporaryDirectory() as parent:
        yield str(Path(parent) / "run")


def _begun_again(record: dict[str, Any], moved: str | None) -> dict[str, Any]:
    """run.json of the new run: data, settings and seed are those of the old one."""
    data = record["data"]
    if moved is not None:
        data = {**data, "file": Path(moved).name, "path": str(Path(moved).resolve())}
    return {
        "status": "running",
        "owner": owner(),
        "started": now(),
        "seed": record["seed"],
        "settings": settings_of(record),
        "raw": record.get("raw", False),
        "data": data,
        "versions": versions(),
    }


def differences(one: BHMC, other: BHMC) -> dict[str, bool]:
    """Whether labels, tree and draws are the same, bit for bit.

    Parameters
    ----------
    one, other : BHMC
        Fits of the same data.
    """
    return {
        "labels": _are_same(
            [one.labels_, one.component_labels_], [other.labels_, other.component_labels_]
        ),
        "tree": _are_same([one.tree_.parents, one.paths_], [other.tree_.parents, other.paths_]),
        "draws": _are_same(_numbers_of(one), _numbers_of(other)),
    }


def _numbers_of(model: BHMC) -> list[np.ndarray]:
    """The numbers of all draws, and the partitions of those that keep theirs."""
    numbers = model.draws_.numbers()
    partitions = [array for draw in model.draws_.partitions for array in draw]
    return [*(numbers[name] for name in sorted(numbers)), *partitions]


def _are_same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return len(some) == len(others) and all(map(_is_same, some, others))


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal bytes, so that NaN is NaN and -0.0 is not 0.0."""
    known = one.dtype == other.dtype and one.shape == other.shape
    return known and one.tobytes() == other.tobytes()


def _report(
    folder: RunFolder, record: dict[str, Any], model: BHMC, same: dict[str, bool], options
) -> int:
    changed = changed_versions(record)
    if options.json:
        print_json({"folder": str(folder.path), "same": same, "changed_versions": changed})
    else:
        print_result(_sentence(folder, model, same))
    for name, (before, after) in changed.items():
        say(f"The run was made with {name} {before}, the rerun with {after}.")
    if options.output is not None:
        say(f"The new run is in {options.output}.", quiet=options.quiet)
    return OK if all(same.values()) else DIFFERENT


def _sentence(folder: RunFolder, model: BHMC, same: dict[str, bool]) -> str:
    draws = model.draws_
    if all(same.values()):
        return (
            f"The rerun equals the run in {folder.path}, bit for bit: labels, tree and "
            f"{counted(draws.n_chains * draws.n_draws, 'draw')}."
        )
    alike = [name for name, is_same in same.items() if is_same]
    others = [name for name, is_same in same.items() if not is_same]
    rest = f"; {' and '.join(alike)} are the same" if alike else ""
    return f"The rerun differs from the run in {folder.path}: {' and '.join(others)} differ{rest}."


def changed_versions(record: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What has another version than in a run: name to (then, now).

    Parameters
    ----------
    record : dict
        Its run.json.
    """
    then, today = record["versions"], versions()
    return {
        name: (then.get(name, "unknown"), version)
        for name, version in today.items()
        if then.get(name) != version
    }
