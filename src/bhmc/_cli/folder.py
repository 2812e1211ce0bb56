"""A run folder: what a run was asked for and what came of it, readable at any moment."""

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bhmc._cli.output import to_json
from bhmc._io.atomic_write import EARLIER, atomic_path
from bhmc._io.leftovers import is_alive, leftovers, remove_leftovers
from bhmc._validation.errors import RefusedError, UnwrittenError, reason_of
from bhmc._validation.plain_files import irregular

FORMAT_VERSION = 1
RECORD, MODEL, CHECKPOINT = "run.json", "model.bhmc", "checkpoint.bhmc"
TREE, ASSIGNMENTS, DRAWS = "tree.txt", "assignments.csv", "draws.csv"
# A record for each row of a table that is read in blocks.
PLACES = "assignments.npy"
# What makes numbers of free text.
TEXT = "text.bhmc"
# run.json first: without it, what is left of an old run is nobody's run.
_OURS = (RECORD, MODEL, TEXT, TREE, ASSIGNMENTS, PLACES, DRAWS)


class RunFolder:
    """A folder with a run in it. Every file is there whole or not at all."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def create(cls, name: str, force: bool = False) -> "RunFolder":
        """A folder for a new run, made and seen to be writable before any work is done."""
        path = Path(name)
        try:
            path.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path).close()
            occupied = set(path.iterdir()) > set(leftovers(path))
        except (OSError, ValueError) as error:
            raise RefusedError(
                f"{name!r} is not a folder to write to: {reason_of(error)}."
            ) from None
        folder = cls(path)
        if occupied and not force and not folder.holds_nothing():
            raise RefusedError(_occupied(path))
        folder.clear()
        return folder

    @classmethod
    def open(cls, name: str) -> "RunFolder":
        """The folder of a run that was begun."""
        folder = cls(Path(name))
        folder.record()
        return folder

    def tidy(self) -> None:
        """Remove what processes left behind that were killed while writing."""
        remove_leftovers(self.path)

    @property
    def checkpoint(self) -> Path:
        """Where the sampler keeps its chains: files whose names begin so."""
        return self.path / CHECKPOINT

    @property
    def has_checkpoint(self) -> bool:
        """Whether there are chains to go on from."""
        return any(self.path.glob(f"{CHECKPOINT}*"))

    @property
    def model(self) -> Path:
        """The saved model."""
        return self.path / MODEL

    @property
    def places(self) -> Path:
        """Where all rows of a table that is read in blocks belong."""
        return self.path / PLACES

    def drop_earlier_chains(self, most_bytes: int) -> None:
        """Keep one file of each chain, not two, where the folder would take more than so much."""
        if sum(file.stat().st_size for file in self.path.iterdir()) > most_bytes:
            for file in self.path.glob(f"{CHECKPOINT}.*{EARLIER}"):
                file.unlink(missing_ok=True)

    def holds_nothing(self) -> bool:
        """Whether all there is says that a table was refused: its mended version may come here."""
        if [entry.name for entry in self.path.iterdir()] != [RECORD]:
            return False
        with contextlib.suppress(RefusedError):
            return self.record().get("status") == "failed"
        return False

    def clear(self) -> None:
        """Remove the run, and only what bhmc writes."""
        ours = [self.path / name for name in _OURS]
        for entry in ours:
            if entry.exists() and not entry.is_file():
                raise RefusedError(f"{entry} is no file of bhmc: name another folder.")
        for entry in (*ours, *self.path.glob(f"{CHECKPOINT}*"), *leftovers(self.path)):
            try:
                entry.unlink(missing_ok=True)
            except OSError as error:
                raise RefusedError(f"{entry} cannot be replaced: {reason_of(error)}.") from None

    def record(self) -> dict[str, Any]:
        """What run.json says."""
        file = self.path / RECORD
        if not self.path.exists():
            raise RefusedError(f"there is no folder {self.path}.")
        if not file.exists():
            raise RefusedError(
                f"{self.path} is no run folder: it has no {RECORD}. Make one with: bhmc fit "
                "DATA -o DIR"
            )
        if irregular(file) is not None:
            raise RefusedError(f"{file} is {irregular(file)}, not a file: name another folder.")
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            version = int(record["format_version"])
        except OSError as error:
            raise RefusedError(f"{file} cannot be read: {reason_of(error)}.") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RefusedError(f"{file} was not written by bhmc, or is damaged.") from None
        if version > FORMAT_VERSION:
            writer = record.get("versions", {}).get("bhmc", "of another version")
            raise RefusedError(
                f"{file} was written by bhmc {writer} in format {version}, which this bhmc cannot "
                "read: upgrade bhmc."
            )
        return record

    def write_record(self, record: dict[str, Any]) -> None:
        """Replace run.json, noting when."""
        stamped = {"format_version": FORMAT_VERSION, **record, "updated": now()}
        self.write(RECORD, to_json(stamped) + "\n")

    def try_record(self, record: dict[str, Any]) -> None:
        """The same, where the disk lets us: what is wrong with it is said already."""
        with contextlib.suppress(UnwrittenError):
            self.write_record(record)

    def write(self, name: str, text: str) -> None:
        """Put a text file in place: the old one or the new one, never half of one."""
        with written(self.path / name) as part:
            part.write_text(text, "utf-8", newline="\n")


@contextlib.contextmanager
def written(path: Path) -> Iterator[Path]:
    """A path to write to, as `atomic_path` gives it; what the system refuses is a sentence."""
    with said_if_unwritten(path), atomic_path(path) as part:
        yield part


@contextlib.contextmanager
def said_if_unwritten(path: Path) -> Iterator[None]:
    """Where the system refuses to write a file, a sentence says which and why."""
    try:
        yield
    except BrokenPipeError:  # its reader has seen enough
        raise
    except OSError as error:
        reason = reason_of(error).rstrip(".")
        raise UnwrittenError(f"{path} cannot be written: {reason}.") from error


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def owner() -> dict[str, Any]:
    """Who is writing to a folder."""
    return {"process": os.getpid(), "host": socket.gethostname()}


def is_at_work(record: dict[str, Any]) -> bool:
    """Whether the process that a record names as its owner still runs on this machine."""
    process = record.get("owner", {})
    if record["status"] != "running" or process.get("host") != socket.gethostname():
        return False
    if process["process"] == os.getpid():
        return False
    return is_alive(process["process"])


def _occupied(path: Path) -> str:
    if (path / RECORD).exists():
        return (
            f"{path} already holds a run: go on with it by --continue, replace it by --force, or "
            "name another folder."
        )
    return f"{path} is not empty: name another folder, or write into this one with --force."
