"""`bhmc fit`: from a table to a run folder."""

import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from bhmc import BHMC, warmup
from bhmc._cli.exit_codes import INTERRUPTED, OK
from bhmc._cli.folder import TEXT, RunFolder, is_at_work, now, owner
from bhmc._cli.options import FIT_OPTIONS, SET_BY_THE_COMMAND
from bhmc._cli.output import counted, print_json, print_result, say, terminal_width
from bhmc._cli.records import check_same_data, data_record, summary, with_families
from bhmc._cli.results import name_tree, refusals_of, short_text, write_results
from bhmc._cli.show import count_draws, say_view
from bhmc._cli.texts import (
    fitted_texts,
    read_texts,
    saved_features,
    texts_record,
    with_numbers,
)
from bhmc._estimator.auto_transition import transition_for
from bhmc._estimator.progress_log import logging_progress
from bhmc._estimator.sizes import AUTO_DRAWS
from bhmc._estimator.view import opened_tree
from bhmc._io.tables.plan import columns_for_model
from bhmc._io.tables.read import Reading, Table, check_fittable
from bhmc._io.versions import versions
from bhmc._validation.column_plan import in_options
from bhmc._validation.errors import RefusedError, refusals

# Compiling is worth a word if it takes longer than this, in seconds.
_PATIENCE = 2.0


def fit(options) -> int:
    """Fit, write the run folder and print the tree."""
    folder, record, table = (_resumed if options.resume else _begun)(options)
    say_columns(table, quiet=options.quiet)
    model = BHMC(
        **record["settings"],
        columns=_columns(table, record),
        random_state=record["seed"],
        warm_start=_adds(options, record),
        checkpoint=str(folder.checkpoint),
        progress=not options.quiet,
    )
    say(_plan(model, table, record["seed"]), quiet=options.quiet)
    start = time.monotonic()
    with terminable():
        try:
            with logging_progress(model.progress, "compiling or loading the sampler"):
                _run(model, table, quiet=options.quiet)
        except KeyboardInterrupt:
            return _stopped_early(folder, record)
        except RefusedError:
            folder.write_record({**record, "status": "failed"})
            raise
        with _unbroken():
            record = _finish(folder, record, model, table, time.monotonic() - start)
    _report(model, folder, record, options)
    return INTERRUPTED if record["status"] == "partial" else OK


def _begun(options) -> tuple[RunFolder, dict[str, Any], Table]:
    """A new run: its folder with run.json in it, which is written before anything else."""
    if options.data is None or options.output is None:
        missing = "DATA" if options.data is None else "-o DIR"
        raise RefusedError(f"{missing} is missing: bhmc fit DATA -o DIR, or --continue DIR.")
    reading = reading_of(options)
    table, texts = read_texts(options.data, reading, options.text)
    for name in ("text-model", "boilerplate"):
        if not options.text and _is_given(options, name):
            raise RefusedError(f"--{name} needs --text: name the columns of free text.")
    table, features = fitted_texts(
        table, texts, options.text, options.text_model or "auto", options.boilerplate
    )
    check_fittable(table)
    _check_text_columns(table, options.likelihood)
    folder = RunFolder.create(options.output, options.force)
    given = {
        one.parameter: getattr(options, one.dest)
        for one in FIT_OPTIONS
        if getattr(options, one.dest) is not None
    }
    record = {
        "status": "running",
        "owner": owner(),
        "started": now(),
        "seed": secrets.randbits(32) if options.seed is None else options.seed,
        "settings": _settings(BHMC(**given)),
        "data": {**data_record(table, reading), **texts_record(table, options.text)},
        "versions": versions(),
    }
    folder.write_record(record)
    if features is not None:
        with refusals():
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
    table = _read_again(options.data, record, folder)
    check_same_data(table, record, folder.path)
    settings = {"moves": (), **record["settings"]}  # older runs had none
    if isinstance(settings["moves"], list):
        settings["moves"] = tuple(settings["moves"])
    if options.draws is not None:
        settings["n_draws"] = _total_draws(options.draws, record)
    if options.jobs is not None:
        settings["n_jobs"] = options.jobs
    if options.max_seconds is not None:
        settings["max_seconds"] = options.max_seconds
    record = {
        **record,
        "status": "running",
        "owner": owner(),
        "settings": settings,
        "versions": versions(),
    }
    folder.write_record(record)
    return folder, record, table


def _read_again(data: str | None, record: dict[str, Any], folder: RunFolder) -> Table:
    """The table of a run, its texts as the same numbers as before."""
    columns = record["data"].get("texts", {}).get("columns", [])
    name = data or record["data"]["path"]
    table, texts = read_texts(name, _reading_from(record), columns)
    return with_numbers(table, texts, saved_features(folder)) if columns else table


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
    names = [one.name for one in FIT_OPTIONS if one.name not in ("draws", "jobs", "max-seconds")]
    for name in (*names, "seed", "output", "text", "text-model", "boilerplate"):
        if _is_given(options, name):
            raise RefusedError(
                f"--{name} cannot be changed with --continue: it would be another run. Begin one "
                "with bhmc fit DATA -o DIR."
            )


def _is_given(options, name: str) -> bool:
    return getattr(options, name.replace("-", "_")) not in (None, [])


def reading_of(options) -> Reading:
    """What the options say of a table."""
    return Reading(
        id=options.id,
        no_id=options.no_id,
        drop=tuple(options.drop),
        kinds=_kinds_of(options),
        format=options.format,
        delimiter=options.delimiter,
        decimal=options.decimal,
        encoding=options.encoding,
        header=options.header,
        thousands=options.thousands,
    )


def _kinds_of(options) -> tuple[tuple[str, str], ...]:
    """What --as says."""
    kinds = dict(options.kinds)
    for name in kinds:
        if [one for one, _ in options.kinds].count(name) > 1:
            raise RefusedError(f"--as names the column {name!r} twice.")
    return tuple(kinds.items())


def say_columns(table: Table, quiet: bool) -> None:
    """What was found out of the table, and a line for each kind of column."""
    for note in table.notes:
        say(note, quiet=quiet)
    lines = table.plan.lines()
    if lines:
        say(f"Columns of {table.path.name}:", quiet=quiet)
    for line in lines:
        say(f"  {line}", quiet=quiet)
    for column in table.plan.columns:
        sentence = column.sentence(in_options)
        if sentence and column.name != table.item_column:
            say(f"  Note: {sentence}", quiet=quiet)


def _columns(table: Table, record: dict[str, Any]) -> dict[str, str] | None:
    """`columns` of the model: the table was read, and the model's own rules must not differ."""
    if table.columns is None or record["settings"].get("likelihood") != "auto":
        return None
    return columns_for_model(table.data(), table.plan)


def _reading_from(record: dict[str, Any]) -> Reading:
    """How the table was read; a run of an older bhmc had no rules, so its kinds are named."""
    data = record["data"]
    reading = Reading.from_json(data["reading"])
    if "plan" in data:
        return reading
    uses = {"number": "number", "text": "category"}
    kinds = {name: uses[kind] for name, kind in zip(data["names"], data["kinds"], strict=True)}
    item = data["item_column"]
    return replace(
        reading,
        kinds=() if data["is_matrix"] else tuple(kinds.items()),
        id=item,
        no_id=item is None,
    )


def _check_text_columns(table: Table, likelihood: str | None) -> None:
    """Refuse text where the family cannot take it, in the words of the command line."""
    if likelihood in (None, "auto", "categorical") or not table.text_columns:
        return
    name = table.text_columns[0]
    assert table.columns is not None
    column = table.columns[table.names.index(name)]
    row, cell = next((row, cell) for row, cell in enumerate(column) if cell is not None)
    raise RefusedError(
        f"{table.path}, column {name!r} holds text, such as {cell!r} in {table.place(row)}, which "
        f"--likelihood {likelihood} cannot take: leave it out with --drop {name!r}, name the rows "
        f"by it with --id {name!r}, or use --likelihood auto."
    )


def _plan(model: BHMC, table: Table, seed: int) -> str:
    rows, columns = table.shape
    return (
        f"Read {table.path}: {counted(rows, 'row')}, {counted(columns, 'column')}. Sampling "
        f"{counted(model.n_chains, 'chain')} of {_sweeps(model)} with seed {seed}."
    )


def _sweeps(model: BHMC) -> str:
    if model.n_draws == "auto":
        first = model.n_warmup + AUTO_DRAWS * model.thin
        return f"at least {first:,} sweeps, until they agree,"
    return f"{model.n_warmup} + {model.n_draws * model.thin} sweeps"


def _run(model: BHMC, table: Table, quiet: bool) -> None:
    word = "Compiling the sampler; the first time takes up to a minute."
    timer = threading.Timer(_PATIENCE, say, [word], {"quiet": quiet})
    timer.daemon = True
    timer.start()
    try:
        with refusals_of(table):
            transition = transition_for(model, table.matrix)
        warmup(transition=transition.name)
    finally:
        timer.cancel()
    with refusals_of(table):
        model.fit(table.data())
    model.set_params(warm_start=False)  # a loaded model that is fitted again begins anew
    name_tree(model, table)


def _stopped_early(folder: RunFolder, record: dict[str, Any]) -> int:
    folder.write_record({**record, "status": "partial"})
    kept = "there are no results yet, but the chains were saved"
    if not folder.has_checkpoint:
        kept = "before the first draw: only the settings were kept"
    say(f"bhmc fit: interrupted; {kept}. Go on with: bhmc fit --continue {folder.path}")
    return INTERRUPTED


def _finish(
    folder: RunFolder, record: dict[str, Any], model: BHMC, table: Table, seconds: float
) -> dict[str, Any]:
    """Write the results and last that they are there."""
    fewer = write_results(folder, model, table)
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
