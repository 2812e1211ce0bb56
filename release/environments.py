"""Environments of their own for the steps of a release, and commands in them."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
WORK = ROOT / "build" / "release"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Programs of an environment are in this folder of it.
_PROGRAMS = "Scripts" if os.name == "nt" else "bin"
# Variables that would change what is tested: those of the caller stay outside.
_OURS = ("PYTHON", "NUMBA_", "BHMC_", "VIRTUAL_ENV")


def say(text: str) -> None:
    """A line of what is being done, before the work begins.

    Parameters
    ----------
    text : str
        The line.
    """
    print(text, flush=True)


def environment(name: str) -> Path:
    """Make an empty environment, anew, and return its folder.

    Parameters
    ----------
    name : str
        The name of its folder below `build/release`.
    """
    folder = WORK / name
    run(sys.executable, "-m", "venv", "--clear", folder)
    return folder


def program(folder: Path, name: str) -> Path:
    """A program of an environment.

    Parameters
    ----------
    folder : Path
        The environment.
    name : str
        The program, such as "python".
    """
    return folder / _PROGRAMS / (f"{name}.exe" if os.name == "nt" else name)


def install(folder: Path, *what: Any) -> None:
    """Let pip install into an environment.

    Parameters
    ----------
    folder : Path
        The environment.
    *what : str or Path
        Packages, and options of pip.
    """
    run(program(folder, "python"), "-m", "pip", "install", "--quiet", "--no-input", *what)


def tools() -> Path:
    """The environment with the tools of a release; it is made once and then kept."""
    folder = WORK / "tools"
    if not program(folder, "twine").exists():
        say("Installing the tools of a release into an environment of their own.")
        install(environment("tools"), *PROJECT["optional-dependencies"]["release"])
    return folder


def run(
    *command: Any, variables: dict[str, str] | None = None, cwd: Path = ROOT, alone: bool = False
) -> str:
    """Run a command to its end and return what it printed; one that fails ends the release.

    Parameters
    ----------
    *command : str or Path
        The program and its arguments.
    variables : dict, optional
        Variables of its environment, beside the caller's.
    cwd : Path
        The folder to run it in.
    alone : bool
        Whether it gets a PATH with the folder of the program alone: then there is no compiler.
    """
    outside = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
    if alone:
        outside["PATH"] = str(Path(command[0]).parent)
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**outside, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nThis command failed: {_short(words)}")
    return done.stdout


def _short(words: Sequence[str]) -> str:
    """A command as one line of bearable length."""
    line = " ".join(words)
    return line if len(line) < 300 else f"{line[:300]} ..."
