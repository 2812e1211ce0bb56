"""From arguments to an exit code: the only place where errors end as messages."""

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module

from bhmc._cli.exit_codes import INTERRUPTED, OK, REFUSED, UNEXPECTED, UNWRITTEN
from bhmc._cli.output import mute_stdout
from bhmc._cli.parser import build_parser
from bhmc._validation.errors import NO_ROOM, RefusedError, UnwrittenError, reason_of

# Where each command is; imported only when it is asked for.
_COMMANDS = {
    "fit": "fit",
    "rerun": "rerun",
    "show": "show",
    "plot": "plot",
    "report": "report",
    "explore": "explore",
    "export": "export",
    "predict": "predict",
    "diagnose": "show",
    "demo": "demo",
    "prior": "others",
    "reproduce": "reproduce",
    "compare": "compare",
    "completion": "others",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, one of `exit_codes`, as `bhmc --help` says."""
    try:
        return _main(arguments)
    except KeyboardInterrupt:  # before a command has begun
        return INTERRUPTED


def _main(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that it cannot show becomes "?"
            stream.reconfigure(errors="replace")
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return REFUSED
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return _guarded(options.command, lambda: _command(options.command)(options))


def _command(name: str) -> Callable:
    return getattr(import_module(f"bhmc._cli.{_COMMANDS[name]}"), name)


def _guarded(name: str, run: Callable[[], int]) -> int:
    """The command's own exit code, or that of the error it ends in."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has seen enough
        mute_stdout()
        return OK
    except UnwrittenError as error:
        return _end(f"bhmc {name}: {_sentence(str(error))}", UNWRITTEN)
    except RefusedError as error:
        return _end(f"bhmc {name}: {_sentence(str(error))}", REFUSED)
    except KeyboardInterrupt:
        return _end(f"bhmc {name}: interrupted.", INTERRUPTED)
    except MemoryError:
        return _end(f"bhmc {name}: there is not enough memory for this.", UNEXPECTED)
    except OSError as error:  # the system refuses, which is no fault of ours
        return _end(f"bhmc {name}: {_sentence(_refusal_of_the_system(error))}", UNWRITTEN)
    except Exception as error:
        text = f"bhmc {name}: unexpected {type(error).__name__}: {error}"
        return _end(f"{text}\nThis is a fault of bhmc; BHMC_DEBUG=1 shows where.", UNEXPECTED)


def _refusal_of_the_system(error: OSError) -> str:
    """Which file it is about, and why it was refused."""
    if error.filename is not None:
        return f"the system refused {error.filename}: {reason_of(error)}"
    if error.errno in (*NO_ROOM, errno.EIO):  # full, or broken
        mute_stdout()  # Python would try once more to write what was not written
        return f"standard output cannot be written: {reason_of(error)}"
    return f"the system refused something: {reason_of(error)}"


def _end(text: str, code: int) -> int:
    if os.environ.get("BHMC_DEBUG", "0") not in ("", "0"):
        traceback.print_exc()
    print(text, file=sys.stderr)
    return code


def _sentence(text: str) -> str:
    """Its first letter stays: it may be that of a parameter; its end is a full stop."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    # A warning may have words for the command line.
    print(f"bhmc: note: {getattr(message, 'in_options', message)}", file=sys.stderr)
