"""How much of the public interface has types: `python -m release.public_types`.

`pyright --verifytypes` counts every symbol of every module without an underscore, compiled kernels
and slow twins among them, which nobody calls. The check counts what the reference shows: public
names, their members and parameters, wherever they are defined.
"""

import importlib
import inspect
import json
import os
import subprocess
from collections.abc import Collection
from typing import Any

from docs.site.reference import PUBLIC_MODULES, public_names

from release.distributions import distributions
from release.environments import ROOT, WORK, environment, install, program, say

# Of all symbols that count, in percent.
LEAST = 95


def names_of_reference() -> set[str]:
    """Full names of all that is public: where it is imported from, and where it is defined."""
    found = set()
    for module in PUBLIC_MODULES:
        room = importlib.import_module(module)
        for name in public_names(module):
            value = getattr(room, name)
            if inspect.ismodule(value):
                continue
            found.add(f"{module}.{name}")
            if hasattr(value, "__qualname__"):
                found |= {_full_name(one) for one in _with_bases(value)}
    return found


def _with_bases(value: Any) -> list[Any]:
    """A function or class, and the classes of bhmc that it has members from."""
    bases = inspect.getmro(value) if inspect.isclass(value) else (value,)
    return [one for one in bases if one.__module__.startswith("bhmc.")]


def _full_name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def counted(symbols: list[dict[str, Any]], public: Collection[str]) -> list[dict[str, Any]]:
    """The symbols that are public names, or members of these.

    Parameters
    ----------
    symbols : list of dict
        As pyright reports them.
    public : collection of str
        Full names.
    """
    return [one for one in symbols if any(name in public for name in _above(one["name"]))]


def _above(name: str) -> list[str]:
    """A name and the names that it is below."""
    parts = name.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def has_type(symbol: dict[str, Any]) -> bool:
    """Whether a symbol has a type on which all type checkers agree.

    Parameters
    ----------
    symbol : dict
        As pyright reports it.
    """
    return symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]


def reported() -> dict[str, Any]:
    """What pyright says of the wheel, installed into an environment of its own."""
    _, wheel = distributions()
    folder = environment("types")
    install(folder, wheel)
    pyright = program(ROOT / ".venv", "pyright")
    # Pyright asks the first Python on the PATH where packages are. It runs away from the checkout,
    # whose pyproject.toml would tell it otherwise.
    path = os.pathsep.join([str(program(folder, "python").parent), os.environ["PATH"]])
    done = subprocess.run(
        [pyright, "--verifytypes", "bhmc", "--ignoreexternal", "--outputjson"],
        cwd=WORK,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return json.loads(done.stdout)["typeCompleteness"]


def main() -> None:
    """Measure, list what has no type, and fail below the least share."""
    say("Measuring how much of the public interface has types.")
    report = reported()
    symbols = counted(report["symbols"], names_of_reference())
    without = [one["name"] for one in symbols if not has_type(one)]
    if len(symbols) < 500:
        raise SystemExit(f"Pyright reports {len(symbols)} public symbols: it has not found bhmc.")
    file = WORK / "without-types.txt"
    file.write_text("".join(f"{name}\n" for name in sorted(without)), encoding="utf-8")
    share = 100 * (1 - len(without) / len(symbols))
    say(
        f"  {share:.1f} % of {len(symbols)} public symbols have types; "
        f"{100 * report['completenessScore']:.1f} % of those that pyright counts, kernels included."
    )
    if share < LEAST:
        raise SystemExit(
            f"At least {LEAST} % must have types: build/release/without-types.txt lists the rest."
        )


if __name__ == "__main__":
    main()
