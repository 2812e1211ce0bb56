"""What a user does first, with the wheel in empty environments: `python -m release.first_use`."""

import shutil
from pathlib import Path

from release.distributions import distributions
from release.environments import ROOT, WORK, environment, install, program, run, say

# Runs with -I, so that the checkout is not on the path: `bhmc` is the one installed.
EXAMPLES = """
import doctest, sys, warnings
warnings.filterwarnings("ignore", message="The chains have not converged")
result = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8")
assert result.attempted > 10 and not result.failed, result
print(result.attempted)
"""
ZOO = """
import importlib.util, shutil, tempfile, warnings
from pathlib import Path
warnings.filterwarnings("ignore", message="The chains have not converged")
import numpy as np
from bhmc import BHMC
from bhmc.datasets import load_zoo
for name in ("pandas", "matplotlib", "polars", "tqdm", "dask"):
    assert importlib.util.find_spec(name) is None, f"{name} is there"
assert not any(map(shutil.which, ("cc", "gcc", "clang", "cl", "c99"))), "a compiler is there"
zoo = load_zoo()
model = BHMC(n_levels=3, n_warmup=60, n_draws=60, random_state=0).fit(zoo.data)
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "zoo.bhmc"
    model.save(file)
    same = BHMC.load(file).predict(zoo.data)
assert np.array_equal(same, model.predict(zoo.data))
print(f"{len(model.labels_)} animals, {model.tree_.n_leaves} leaves")
"""


def wheels_for(wheel: Path, extras: str) -> Path:
    """A folder with the wheel and the wheels of all that it needs.

    Parameters
    ----------
    wheel : Path
        The wheel of bhmc.
    extras : str
        Extras whose packages are there too, between commas.
    """
    folder = WORK / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    say(f"Downloading the wheels of all that bhmc[{extras}] needs into build/release/wheels.")
    options = ("--quiet", "--no-input", "--only-binary", ":all:", "--dest", folder)
    python = program(environment("download"), "python")
    run(python, "-m", "pip", "download", *options, f"{wheel}[{extras}]")
    return folder


def offline(name: str, wheels: Path, what: str) -> Path:
    """An empty environment into which pip has installed from a folder, without an index.

    Parameters
    ----------
    name : str
        The name of its folder.
    wheels : Path
        The folder of wheels.
    what : str
        What is installed.
    """
    folder = environment(name)
    install(folder, "--isolated", "--no-index", "--find-links", wheels, what)
    return folder


def without_extras(wheels: Path) -> None:
    """Fit Zoo and run the demo without any extra, without a compiler and without an index.

    Parameters
    ----------
    wheels : Path
        The folder of wheels.
    """
    folder = offline("plain", wheels, "bhmc")
    say("In an empty environment without any extra, from wheels alone and without a compiler:")
    said = run(program(folder, "python"), "-I", "-c", ZOO, cwd=_empty("zoo"), alone=True)
    say(f"  Zoo is fitted, saved, loaded and predicted: {said.strip()}.")
    demo = run(program(folder, "bhmc"), "demo", cwd=_empty("demo"), alone=True)
    say(f"  bhmc demo runs; its last line: {demo.strip().splitlines()[-1]}")


def examples_of_readme(folder: Path, *options: str) -> None:
    """Run the README's Python examples with the bhmc of an environment.

    Parameters
    ----------
    folder : Path
        The environment.
    *options : str
        Options of Python.
    """
    python, code = program(folder, "python"), ("-I", *options, "-c", EXAMPLES)
    said = run(
        python, *code, ROOT / "README.md", cwd=_empty("readme"), variables={"MPLBACKEND": "agg"}
    )
    say(f"  The README's {said.strip()} lines of Python run, and print what it says.")


def _empty(name: str) -> Path:
    folder = WORK / "work" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main() -> None:
    """Both environments, from one folder of wheels."""
    _, wheel = distributions()
    wheels = wheels_for(wheel, "plot,pandas")
    without_extras(wheels)
    folder = offline("readme", wheels, "bhmc[plot,pandas]")
    say("In an empty environment with the extras that the README installs:")
    examples_of_readme(folder)


if __name__ == "__main__":
    main()
