"""`bhmc fit`: from a table to a run folder."""

import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bhmc import BHMC, warmup
from bhmc._cli.blocks import TableInBlocks
from bhmc._cli.exit_codes import INTERRUPTED, OK, UNWRITTEN
from bhmc._cli.folder import TEXT, RunFolder, is_at_work, now, owner, said_if_unwritten
from bhmc._cli.options import FIT_OPTIONS, SET_BY_THE_COMMAND, given_settings
from bhmc._cli.output import counted, print_json, print_result, say, terminal_width
from bhmc._cli.placing import write_places
from bhmc._cli.records import check_same_data, data_record, said_of_sample, summary, with_families
from bhmc._cli.results import name_tree, refusals_of, short_text, write_results
from bhmc._cli.scheduler import connected
from bhmc._cli.show import count_draws, say_view
from bhmc._cli.tables import columns_of_model, read_again, reading_of, say_columns, table_of
from bhmc._cli.texts import texts_record
from bhmc._estimator.auto_transition import transition_for
from bhmc._estimator.progress_log import logging_progress
from bhmc._estimator.sizes import least_sweeps
from bhmc._estimator.view import opened_tree
from bhmc._estimator.warm_start import is_unsaved
from bhmc._io.tables.read import Table
from bhmc._io.versions import versions
from bhmc._validation.errors import RefusedError, UnwrittenError, refusals
from bhmc.rows.parted import RowsGoneError

# Compiling is worth a word if it takes longer than this, in seconds.
_PATIENCE = 2.0

# Settings of a run that --continue may change: none of them is part of the model.
_MAY_CHANGE = ("draws", "jobs", "max-seconds", "checkpoint-interval")


def fit(options) -> int:
    """Fit, write the run folder and print the tree."""
    if options.scheduler is not None and options.blocks is False:
        raise RefusedError("--scheduler reads rows in blocks: leave out --no-blocks.")
    with connected(options.scheduler):
        return _fit(options)


def _fit(options) -> int:
    folder, record, table = (_resumed if options.resume else _begun)(options)
    say_columns(table, quiet=options.quiet)
    ended = sample_into(folder, record, table, options, adds=_adds(options, record))
    if ended is None:
        return INTERRUPTED
    model, record = ended
    _report(model, folder, record, options)
    if record["status"] == "partial":
        return INTERRUPTED
    return UNWRITTEN if is_unsaved(model) else OK


def sample_into(
    folder: RunFolder, record: dict[str, Any], table: Table, options, adds: bool = False
) -> tuple[BHMC, dict[str, Any]] | None:
    """Run the chains of a run and write its results.

    Parameters
    ----------
    folder : RunFolder
        With `record` as its run.json.
    record : dict
        Seed, settings and data.
    table : Table
        The data.
    options : Namespace
        Of the command.
    adds : bool
        Whether chains go on beyond a fit that was finished.

    Returns
    -------
    tuple or None
        The model and the new record; None where Ctrl-C came before there were results.
    """
    model = BHMC(
        **record["settings"],
        columns=columns_of_model(table, record),
        random_state=record["seed"],
        warm_start=adds,
        checkpoint=str(folder.checkpoint),
        progress=not options.quiet,
    )
    say(_plan(model, table, record["seed"]), quiet=options.quiet)
    start = time.monotonic()
    with terminable():
        try:
            with logging_progress(model.progress, "compiling or loading the sampler"):
                _run(model, table, quiet=options.quiet)
            with _unbroken():
                record = _finish(folder, record, model, table, time.monotonic() - start)
            if isinstance(table, TableInBlocks) and table.stays:
                record = _place_all(folder, record, model, table, options.quiet)
        except KeyboardInterrupt:
            _stopped_early(folder, record)
            return None
        except Exception as error:
            folder.try_record({**record, "status": _status_after(error)})
            if isinstance(error, UnwrittenError):
                raise UnwrittenError(f"{error} {_how_to_go_on(folder)}") from error
            raise
    return model, record


def _status_after(error: Exception) -> str:
    """What run.json says of a run that an error has ended."""
    lost = isinstance(error.__cause__, RowsGoneError)  # the chains were saved
    refused = isinstance(error, RefusedError) and not isinstance(error, UnwrittenError)
    return "failed" if refused and not lost else "partial"


def _how_to_go_on(folder: RunFolder) -> str:
    """What to do once files can be written again."""
    done = f"bhmc fit --continue {folder.path}"
    if not folder.path.exists():
        return f"If the folder was moved: {done} goes on once it is back."
    if not folder.has_checkpoint:
        return f"No chain is saved: {done} begins anew once that is mended."
    return f"The chains are saved: {done} goes on once that is mended."


def _begun(options) -> tuple[RunFolder, dict[str, Any], Table]:
    """A new run: its folder with run.json in it, which is written before anything else."""
    if options.data is None or options.output is None:
        missing = "DATA" if options.data is None else "-o DIR"
        raise RefusedError(f"{missing} is missing: bhmc fit DATA -o DIR, or --continue DIR.")
    reading = reading_of(options)
    table, features = table_of(options, reading)
    folder = RunFolder.create(options.output, options.force)
    record = {
        "status": "running",
        "owner": owner(),
        "started": now(),
        "seed": secrets.randbits(32) if options.seed is None else options.seed,
        "settings": _settings(BHMC(**given_settings(options))),
        "raw": options.raw,
        "data": {**data_record(table, reading), **texts_record(table, options.text)},
        "versions": versions(),
    }
    folder.write_record(record)
    if features is not None:
        with refusals(), said_if_unwritten(folder.path / TEXT):
            features.save(folder.path / TEXT)
    return folder, record, table


def _resumed(options) -> tuple[RunFolder, dict[str, Any], Table]:
    """A run that was begun before, with its settings and, unless it has moved, its data."""
    _check_nothing_else(options)
    folder = RunFolder.open(options.resume)
    record = folder.record()
    if is_at_work(record) and not options.force:
        raise RefusedError(
            f"process {record['owner']['process']} is still at work on {folder.path}: wait for it, "
            "or end it first. If that is some other process, --force goes on."
        )
    if record["status"] == "done" and options.draws is None:
        raise RefusedError(
            f"the run in {folder.path} is finished: say how many more draws to make, for example "
            "--draws 300, or --draws auto to run on until the chains agree."
        )
    table = read_again(options, record, folder)
    other = "name the right one, bhmc fit DATA --continue DIR, or begin another run"
    check_same_data(table.path, record, folder.path, other)
    settings = settings_of(record)
    if options.draws is not None:
        settings["n_draws"] = _total_draws(options.draws, record)
    if options.jobs is not None:
        settings["n_jobs"] = options.jobs
    if options.max_seconds is not None:
        settings["max_seconds"] = options.max_seconds
    if options.checkpoint_interval is not None:
        settings["checkpoint_interval"] = options.checkpoint_interval
    folder.tidy()
    record = {
        **record,
        "status": "running",
        "owner": owner(),
        "went_on": went_on(record) or _ends_elsewhere(options, record),
        "settings": settings,
        "raw": options.raw or record.get("raw", False),
        "versions": versions(),
    }
    folder.write_record(record)
    return folder, record, table


def settings_of(record: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run, as `BHMC` takes them.

    Parameters
    ----------
    record : dict
        Its run.json.
    """
    settings = {"moves": (), **record["settings"]}  # older runs had none
    if isinstance(settings["moves"], list):
        settings["moves"] = tuple(settings["moves"])
    return settings


def went_on(record: dict[str, Any]) -> bool:
    """Whether a run with --draws auto went on after its end: no settings make it in one go.

    Parameters
    ----------
    record : dict
        Its run.json.
    """
    return record.get("went_on", False)


def _ends_elsewhere(options, record: dict[str, Any]) -> bool:
    """Whether a run that has ended, by the rule of "auto" before or now, gets more draws."""
    by_rule = "auto" in (options.draws, record["settings"]["n_draws"])
    return by_rule and options.draws is not None and "result" in record


def _total_draws(more: int | str, record: dict[str, Any]) -> int | str:
    """`n_draws` of a run that goes on: those there are and as many more, or "auto"."""
    planned = record["settings"]["n_draws"]
    if more == "auto":
        return more
    return int(more) + (record.get("result", {}).get("draws", 0) if planned == "auto" else planned)


def _adds(options, record: dict[str, Any]) -> bool:
    """Whether chains go on beyond a fit that was finished: --continue with --draws auto."""
    return options.resume is not None and options.draws == "auto" and "result" in record


def _settings(model: BHMC) -> dict[str, Any]:
    """All that decides the draws, defaults included: those of a later bhmc may be others."""
    values = model.get_params()
    return {name: value for name, value in values.items() if name not in SET_BY_THE_COMMAND}


def _check_nothing_else(options) -> None:
    """With --continue the settings are those of the run: others would be another model."""
    names = [one.name for one in FIT_OPTIONS if one.name not in _MAY_CHANGE]
    for name in (*names, "seed", "output", "text", "text-model", "boilerplate", "blocks"):
        if _is_given(options, name):
            raise RefusedError(
                f"--{name} cannot be changed with --continue: it would be another run. Begin one "
                "with bhmc fit DATA -o DIR."
            )


def _is_given(options, name: str) -> bool:
    return getattr(options, name.replace("-", "_")) not in (None, [])


def _plan(model: BHMC, table: Table, seed: int) -> str:
    rows, columns = table.shape
    where = f"{table.said()} Opened" if isinstance(table, TableInBlocks) else "Read"
    return (
        f"{where} {table.path}: {counted(rows, 'row')}, {counted(columns, 'column')}. Sampling "
        f"{counted(model.n_chains, 'chain')} of {_sweeps(model, rows)} with seed {seed}."
    )


def _sweeps(model: BHMC, n_rows: int) -> str:
    if model.n_draws == "auto":
        return f"at least {least_sweeps(model, n_rows):,} sweeps, until they agree,"
    return f"{model.n_warmup} + {model.n_draws * model.thin} sweeps"


def _run(model: BHMC, table: Table, quiet: bool) -> None:
    word = "Compiling the sampler; the first time takes up to a minute."
    timer = threading.Timer(_PATIENCE, say, [word], {"quiet": quiet})
    timer.daemon = True
    timer.start()
    try:
        with refusals_of(table):
            seen = None if isinstance(table, TableInBlocks) else table.matrix
            transition = transition_for(model, seen)
        warmup(transition=transition.name)
    finally:
        timer.cancel()
    with refusals_of(table):
        if isinstance(table, TableInBlocks):
            model.fit(table.data(), feature_names=table.column_names)
        else:
            model.fit(table.data())
    model.set_params(warm_start=False)  # a loaded model that is fitted again begins anew
    name_tree(model, table)


def _stopped_early(folder: RunFolder, record: dict[str, Any]) -> None:
    folder.try_record({**record, "status": "partial"})
    kept = "there are no results yet, but the chains were saved"
    if not folder.has_checkpoint:
        kept = "before the first draw: only the settings were kept"
    say(f"bhmc fit: interrupted; {kept}. Go on with: bhmc fit --continue {folder.path}")


def _finish(
    folder: RunFolder, record: dict[str, Any], model: BHMC, table: Table, seconds: float
) -> dict[str, Any]:
    """Write the results and last that they are there."""
    fewer = write_results(folder, model, table, raw=record["raw"])
    done = {
        **record,
        "fewer_draws": fewer,
        "status": "partial" if model.interrupted_ else "done",
        "seconds": round(record.get("seconds", 0) + seconds, 3),
        "data": with_families(record["data"], model),
        "result": summary(model),
    }
    folder.write_record(done)
    return done


def _place_all(
    folder: RunFolder, record: dict[str, Any], model: BHMC, table: TableInBlocks, quiet: bool
) -> dict[str, Any]:
    """Write where all rows belong. Ctrl-C leaves the rest of the run as it is."""
    n = table.shape[0]
    say(f"Placing all {n:,} rows in the tree.", quiet=quiet)
    try:
        with logging_progress(model.progress, "placing all rows"):
            write_places(folder.places, model, table)
    except KeyboardInterrupt:
        record = {**record, "status": "partial"}
        folder.write_record(record)
    return record


def _report(model: BHMC, folder: RunFolder, record: dict[str, Any], options) -> None:
    result = record["result"]
    if options.json:
        shown = {name: record[name] for name in ("status", "seed", "seconds", "result")}
        print_json({"folder": str(folder.path), **shown})
    else:
        text, hidden = short_text(opened_tree(model), terminal_width())
        print_result(text)
        say_view(model, f"bhmc show {folder.path} --tree", options.quiet)
        if hidden:
            say(f"Nodes of fewer than {hidden} data are not shown; `bhmc show` shows all.")
    say(
        f"{counted(result['components'], 'component')}, {counted(result['leaves'], 'leaf')}, "
        f"{count_draws(model)}, "
        f"{record['seconds']:.1f} seconds. Results are in {folder.path}.",
        quiet=options.quiet,
    )
    for said in (model.family_evidence_, model.family_note_):
        if said:
            say(str(said), quiet=options.quiet)
    if "rows_in_tree" in record["data"]:
        say(said_of_sample(record["data"]), quiet=options.quiet)
        if folder.places.exists():
            where = f"Where each of the {record['data']['rows']:,} rows belongs is in "
            say(f"{where}{folder.places}.", quiet=options.quiet)
    if record["fewer_draws"]:
        say(record["fewer_draws"], quiet=options.quiet)
    if result["ended_by"] == "max_seconds":
        say("--max-seconds ended the chains: the answer depends on the speed of this machine.")
    if record["status"] == "partial":
        say(f"Interrupted. Go on with: bhmc fit --continue {folder.path}")


@contextmanager
def terminable() -> Iterator[None]:
    """A request to end (SIGTERM, as batch systems send it) is taken for Ctrl-C: draws are kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _unbroken() -> Iterator[None]:
    """No Ctrl-C while results are written, which takes a moment."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
