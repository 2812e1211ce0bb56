"""Build sdist and wheel in `dist`, and check them: `python -m release.distributions`."""

import shutil
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

from release.environments import DIST, ROOT, program, run, say, tools

# What users of the sdist need to run the tests, and to build the site and the explorer's page.
FOLDERS_OF_SDIST = ("src", "tests", "docs", "web", "benchmarks", "studies", "release")
FILES_OF_SDIST = (
    *("pyproject.toml", "Makefile", "constraints.txt", "README.md", "CHANGELOG.md", "LICENSE"),
    *("CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "VISION.md"),
)


def build() -> tuple[Path, Path]:
    """Build both from what git has, and return (sdist, wheel)."""
    shutil.rmtree(DIST, ignore_errors=True)
    say("Building sdist and wheel in dist; the wheel is built from the sdist.")
    run(program(tools(), "python"), "-m", "build", "--outdir", DIST, ROOT)
    return distributions()


def distributions() -> tuple[Path, Path]:
    """(sdist, wheel) in `dist`, where there are exactly these two."""
    sdists, wheels = sorted(DIST.glob("*.tar.gz")), sorted(DIST.glob("*.whl"))
    if len(sdists) != 1 or len(wheels) != 1:
        raise SystemExit("dist does not hold one sdist and one wheel: run make dist.")
    return sdists[0], wheels[0]


def version() -> str:
    """The version, from its one place."""
    names: dict[str, str] = {}
    exec((ROOT / "src" / "bhmc" / "_version.py").read_text("utf-8"), names)
    return names["__version__"]


def check(sdist: Path, wheel: Path) -> None:
    """Let twine and check-wheel-contents look at both, and look at what is in them.

    Parameters
    ----------
    sdist, wheel : Path
        As `build` returned them.
    """
    run(program(tools(), "twine"), "check", "--strict", sdist, wheel)
    run(program(tools(), "check-wheel-contents"), wheel)
    problems = [*problems_of_sdist(names_in_sdist(sdist)), *problems_of_wheel(wheel)]
    if problems:
        raise SystemExit("\n".join(problems))
    for file in (sdist, wheel):
        say(f"  {file.name}: {file.stat().st_size / 1e6:.1f} MB; twine and its contents are fine.")


def names_in_sdist(sdist: Path) -> set[str]:
    """Names of files in an sdist, without the folder that all of them are in.

    Parameters
    ----------
    sdist : Path
        The archive.
    """
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def problems_of_sdist(names: set[str]) -> list[str]:
    """What git has and the sdist lacks, and the other way round; a sentence each.

    Parameters
    ----------
    names : set of str
        Names of its files.
    """
    wanted = [*FILES_OF_SDIST, *_files_in_git(FOLDERS_OF_SDIST)]
    lacking = [f"The sdist lacks {name}." for name in wanted if name not in names]
    known = {*_files_in_git(()), "PKG-INFO"}
    strange = [f"The sdist holds {name}, which git does not." for name in sorted(names - known)]
    return lacking + strange


def problems_of_wheel(wheel: Path) -> list[str]:
    """A sentence for each file that the wheel lacks, and for a version that is not ours.

    Parameters
    ----------
    wheel : Path
        The archive.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        found = Parser().parsestr(archive.read(metadata).decode())["Version"]
    wanted = [name.removeprefix("src/") for name in _files_in_git(("src/bhmc",))]
    problems = [f"The wheel lacks {name}." for name in wanted if name not in names]
    if found != version():
        problems.append(f"The wheel says version {found}, and _version.py {version()}.")
    return problems


def _files_in_git(folders: tuple[str, ...]) -> list[str]:
    return run("git", "ls-files", "--", *folders).splitlines()


def main() -> None:
    """Build and check."""
    check(*build())


if __name__ == "__main__":
    main()
