"""A part of the suite with the oldest, or the newest, dependencies.

`python -m release.dependencies oldest`, or `newest`.
"""

import re
import sys
from pathlib import Path

from release.distributions import distributions
from release.environments import PROJECT, WORK, environment, install, program, run, say
from release.first_use import examples_of_readme

# Extras whose bounds are tested, too: those that most people have.
EXTRAS = ("pandas", "plot", "progress", "networkx", "parquet", "excel")
# Rooms of the suite that see most of what bhmc asks of its dependencies, in some minutes.
TESTS = (
    "tests/estimator/test_estimator.py",
    "tests/io",
    "tests/test_priors.py",
    "tests/tree/test_tree.py",
)
# Its draws are those of the NumPy and Numba that wrote a file: others round otherwise.
_LEFT_OUT_OF_OLDEST = ("tests/io/test_saving_formats.py::test_a_checkpoint_of_format_1",)
_TOOLS = ("pytest>=8", "pytest-xdist>=3.5")


def oldest() -> dict[str, str]:
    """The lower bound of every dependency, and of the extras named, from pyproject.toml."""
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    return dict(bound_of(one) for one in wanted)


def bound_of(requirement: str) -> tuple[str, str]:
    """(name, version) of a requirement that is one lower bound.

    Parameters
    ----------
    requirement : str
        Such as "numpy>=1.26".
    """
    found = re.fullmatch(r"([a-z-]+)(?:\[[a-z,]+\])?>=([0-9.]+)", requirement)
    if found is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml is not one lower bound.")
    return found[1], found[2]


def with_oldest() -> Path:
    """An environment with the wheel and exactly the lower bounds."""
    pins = WORK / "oldest.txt"
    pins.parent.mkdir(parents=True, exist_ok=True)
    pins.write_text("".join(f"{name}=={version}\n" for name, version in oldest().items()))
    return _with("oldest", "--constraint", pins)


def with_newest() -> Path:
    """An environment with the wheel and the newest versions of everything."""
    return _with("newest", "--upgrade")


def _with(name: str, *options) -> Path:
    _, wheel = distributions()
    folder = environment(name)
    install(folder, *options, f"{wheel}[{','.join(EXTRAS)}]", *_TOOLS)
    return folder


def run_tests(folder: Path, left_out: tuple[str, ...] = ()) -> None:
    """Run the chosen part of the suite with the bhmc of an environment; a warning is an error.

    Parameters
    ----------
    folder : Path
        The environment.
    left_out : tuple of str
        Tests that are not run.
    """
    python = program(folder, "python")
    lines = run(python, "-m", "pip", "list", "--format", "freeze").splitlines()
    names = {one.lower() for one in oldest()}
    found = [line.replace("==", " ") for line in lines if line.partition("==")[0].lower() in names]
    say(f"  {', '.join(found)}")
    without = [f"--deselect={name}" for name in left_out]
    said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *without, *TESTS)
    say(f"  {' '.join(TESTS)}: {said.strip().splitlines()[-1]}")


def main(which: str) -> None:
    """The tests, and the README.

    Parameters
    ----------
    which : str
        "oldest" or "newest".
    """
    if which == "oldest":
        say("With exactly the lower bounds of pyproject.toml (Numba compiles anew, which is slow):")
        folder = with_oldest()
        run_tests(folder, _LEFT_OUT_OF_OLDEST)
        examples_of_readme(folder)
    else:
        say("With the newest versions of all dependencies, where every warning is an error:")
        folder = with_newest()
        run_tests(folder)
        examples_of_readme(folder, "-W", "error")


if __name__ == "__main__":
    main(sys.argv[1])
