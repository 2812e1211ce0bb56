"""What can be checked of a release without an index of packages."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from release import conda_recipe, dependencies, distributions, public_types
from release.environments import PROJECT, run

import bhmc

ROOT = Path(__file__).parents[2]
RECIPE = conda_recipe.TEMPLATE.read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
TARGETS = set(
    re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


def made_in(step: str) -> set[str]:
    """Targets that a line of a workflow makes."""
    words = [line.split()[1:] for line in step.splitlines() if line.startswith("make ")]
    return {word for line in words for word in line if re.fullmatch(r"[a-z-]+", word)}


def test_the_version_has_one_place():
    """Nothing that git holds states it again, the changelog and made files excepted."""
    assert distributions.version() == bhmc.__version__
    assert "version" in PROJECT["dynamic"]
    for name in (
        "pyproject.toml",
        "CITATION.cff",
        "release/conda/recipe.yaml",
        "docs/site/conf.py",
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(rf"\b{re.escape(bhmc.__version__)}\b", text), name


def test_dependencies_are_lower_bounds():
    """So each can be tested at exactly its bound, as `make oldest` does."""
    bounds = dependencies.oldest()
    assert bounds["numpy"] == "1.26"
    assert set(bounds) >= {"scipy", "scikit-learn", "numba", "threadpoolctl", "pandas"}
    for wrong in ("numpy", "numpy>=1,<3", "numpy==1.26"):
        with pytest.raises(SystemExit, match="is not one lower bound"):
            dependencies.bound_of(wrong)


def test_the_chosen_tests_exist():
    for name in (*dependencies.TESTS, *dependencies._LEFT_OUT_OF_OLDEST):
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), name
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8") if test else True, name


def recipe_problems(text: str) -> list[str]:
    """What a recipe says otherwise than pyproject.toml."""
    recipe = yaml.safe_load(text)
    python = f"python {PROJECT['requires-python']}"
    wanted = {python, *(re.sub(r"(>=)", r" \1", one) for one in PROJECT["dependencies"])}
    least = recipe["context"]["python_min"]
    found = {one.replace("${{ python_min }}", least) for one in recipe["requirements"]["run"]}
    scripts = {" = ".join(pair) for pair in PROJECT["scripts"].items()}
    pairs = {
        "run": (found, wanted),
        "scripts": (set(recipe["build"]["python"]["entry_points"]), scripts),
        "license": (recipe["about"]["license"], PROJECT["license"]),
        "summary": (recipe["about"]["summary"], PROJECT["description"]),
    }
    return [name for name, (ours, theirs) in pairs.items() if ours != theirs]


def test_the_recipe_needs_what_the_package_needs():
    assert recipe_problems(RECIPE) == []
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    host = yaml.safe_load(RECIPE)["requirements"]["host"]
    assert backend["requires"] == ["hatchling>=1.27"]
    assert "hatchling >=1.27" in host
    for licence in yaml.safe_load(RECIPE)["about"]["license_file"]:
        assert (ROOT / licence).exists(), licence


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("numba >=0.59", "numba >=0.58", "run"),
        ("    - threadpoolctl >=3.1\n", "", "run"),
        ('python_min: "3.11"', 'python_min: "3.10"', "run"),
        ("bhmc._cli:main", "bhmc:main", "scripts"),
    ],
)
def test_a_recipe_that_differs_is_noticed(old, new, what):
    assert old in RECIPE
    assert recipe_problems(RECIPE.replace(old, new)) == [what]


def test_version_and_digest_are_filled_in():
    recipe = yaml.safe_load(conda_recipe.filled(RECIPE, "1.2.3", "0" * 64))
    assert recipe["context"]["version"] == "1.2.3"
    assert recipe["source"]["sha256"] == "0" * 64
    with pytest.raises(SystemExit, match="must hold"):
        conda_recipe.filled(RECIPE.replace("SHA256", "digest"), "1.2.3", "0" * 64)


def test_the_workflow_calls_targets_that_exist():
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    lines = [step["run"] for step in steps if "run" in step]
    assert all(line.startswith("make ") for line in lines)
    made = set().union(*map(made_in, lines))
    assert made >= {"test", "dist", "first-use", "newest", "release"}
    assert made <= TARGETS
    assert made_in("make tset PYTHON=python") - TARGETS == {"tset"}


def test_the_workflow_has_all_systems_and_pythons():
    jobs = [job for job in WORKFLOW["jobs"].values() if "strategy" in job]
    matrices = [job["strategy"]["matrix"] for job in jobs]
    systems = {name for one in matrices for name in one.get("os", ())}
    systems |= {job["runs-on"] for job in jobs}
    assert systems >= {"ubuntu-latest", "macos-latest", "windows-latest"}
    classifiers = re.findall(r"Python :: (3\.\d+)'", repr(PROJECT["classifiers"]))
    assert classifiers[0] == "3.11"
    for matrix in matrices:
        assert set(matrix["python"]) >= set(classifiers)


def test_every_step_of_a_release_is_described():
    readme = (ROOT / "release" / "README.md").read_text(encoding="utf-8")
    for file in (ROOT / "release").glob("[a-z]*.py"):
        assert f"`{file.stem}`" in readme, file


def test_public_symbols_are_names_of_the_reference_and_their_members():
    public = public_types.names_of_reference()
    assert {"bhmc.BHMC", "bhmc.tree.tree.Tree", "bhmc.likelihoods.Gaussian"} <= public
    assert not {"bhmc", "bhmc.likelihoods", "bhmc.metrics"} & public
    known = {"isTypeKnown": True, "isTypeAmbiguous": False}
    symbols = [
        {"name": "bhmc.tree.tree.Tree.cut", **known},
        {"name": "bhmc.tree.tree.Treetop", **known},
        {"name": "bhmc.model.hdp.kernels.redraw", **known},
    ]
    found = public_types.counted(symbols, public)
    assert [one["name"] for one in found] == ["bhmc.tree.tree.Tree.cut"]
    assert public_types.has_type(known)
    assert not public_types.has_type({**known, "isTypeAmbiguous": True})


def is_checkout() -> bool:
    done = subprocess.run(["git", "ls-files", "--error-unmatch", "Makefile"], cwd=ROOT, check=False)
    return done.returncode == 0


def test_an_sdist_that_lacks_or_holds_too_much_is_noticed():
    if not is_checkout():
        pytest.skip("NOT TESTED: this is no checkout of git.")
    names = {*run("git", "ls-files").splitlines(), "PKG-INFO", *distributions.FILES_OF_SDIST}
    assert distributions.problems_of_sdist(names) == []
    problems = distributions.problems_of_sdist((names - {"LICENSE"}) | {"data/animals.csv"})
    assert problems == [
        "The sdist lacks LICENSE.",
        "The sdist holds data/animals.csv, which git does not.",
    ]
