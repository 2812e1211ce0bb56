"""`bhmc reproduce` and `bhmc compare`: experiments, from data to a page of results."""

import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bhmc._cli.exit_codes import INTERRUPTED, OK
from bhmc._cli.fit import terminable
from bhmc._cli.output import print_json, say
from bhmc._io.tables.read import check_file
from bhmc._validation.errors import RefusedError, reason_of, refusals


def reproduce(options) -> int:
    """Run one of the paper's experiments."""
    experiment = import_module(f"bhmc._experiments.{options.experiment}")
    if options.data is None and experiment.NEEDS_DATA:
        raise RefusedError(
            f"--data FILE is missing: bhmc reproduce {options.experiment} needs "
            f"{experiment.NEEDS_DATA}."
        )
    if options.data is not None:
        check_file(Path(options.data))
    ending = "-supplement" if options.supplement else ""
    job = make_job(options, options.output or f"bhmc-{options.experiment}{ending}")
    return run_experiment(options, job, lambda: experiment.load(job), experiment.run)


def make_job(options, folder: str) -> Any:
    """The job that options describe, its folder made and seen to be writable."""
    with refusals():
        from bhmc._experiments.figures import quiet_pyplot
        from bhmc._experiments.job import Job

        quiet_pyplot()  # said before hours of work, not after
    command = shlex.join(["bhmc", *sys.argv[1:]]) if _from_shell() else f"bhmc {options.command}"
    return Job(
        folder=_folder(folder),
        command=command,
        data=options.data,
        quick=options.quick,
        supplement=getattr(options, "supplement", False),
        budget=60.0 * options.budget,
        seed=options.seed,
        n_jobs=options.jobs,
        progress=not options.quiet,
        say=lambda text: say(text, quiet=options.quiet),
    )


def run_experiment(options, job: Any, load: Callable[[], tuple], run: Callable) -> int:
    """Load, run, write the page; what is done by Ctrl-C is kept."""
    with refusals():
        loaded = load()
    try:
        with terminable():
            page = run(job, *loaded)
            page.write()
    except KeyboardInterrupt:
        say(
            f"bhmc {options.command}: interrupted; finished parts are kept in {job.folder}. The "
            "same command goes on from there."
        )
        return INTERRUPTED
    if options.json:
        print_json({"folder": str(job.folder), "files": [str(path) for path in page.files]})
    else:
        say(f"Results are in {page.files[-1]}.", quiet=options.quiet)
    return OK


def _from_shell() -> bool:
    return Path(sys.argv[0]).name in ("bhmc", "__main__.py")


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        foreign = [entry for entry in os.listdir(folder) if not entry.startswith(".")]
    except (OSError, ValueError) as error:
        raise RefusedError(f"{name!r} is not a folder to write to: {reason_of(error)}.") from None
    if foreign and not (folder / "parts").is_dir():
        raise RefusedError(f"{folder} is not empty, and no experiment is in it: name another one.")
    return folder
