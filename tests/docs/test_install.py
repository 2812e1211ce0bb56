"""What a user meets before the first result: import time, compiling once, read-only installs."""

import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import bhmc
from bhmc._compiled import decorators

SOURCE = Path(bhmc.__file__).parent

# Drops the two capabilities that let root ignore permissions, then becomes the given script.
# For anyone but root it only starts the script.
LAUNCHER = """
import ctypes, os, sys
if os.geteuid() == 0:
    prctl = ctypes.CDLL(None).prctl
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            sys.exit("cannot drop a capability")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def run_python(code: str, *arguments, environment=None, launcher=(), **options):
    """Run code in a fresh Python with an environment of its own; returns the finished process."""
    ours = ("NUMBA_", "PYTHON", "XDG_CACHE_HOME")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    command = [sys.executable, *launcher, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command,
        env={**inherited, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        **options,
    )


def report_of(code: str, **options) -> dict:
    """What the code prints as JSON, with what it wrote to stderr as `stderr`."""
    done = run_python(code, **options)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


@pytest.fixture(scope="session")
def obey_permissions():
    """Arguments that start Python as someone who cannot write to a read-only folder."""
    launcher = ("-c", LAUNCHER)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        if not hasattr(ctypes.CDLL(None), "prctl"):
            pytest.skip("root ignores permissions and this system has no way to stop that")
        if run_python("", launcher=launcher).returncode:
            pytest.skip("root ignores permissions and may not drop that capability here")
    elif os.name == "nt":
        pytest.skip("Windows has no write permission on folders")
    return launcher


# ------------------------------------------------------------------------------------------------
# Import
# ------------------------------------------------------------------------------------------------

DEPENDENCIES = """
import numpy, numba
import scipy.linalg, scipy.sparse, scipy.special
import sklearn.base, sklearn.utils, sklearn.utils.parallel, sklearn.utils.validation
"""
IMPORT = (
    "import json, sys, time\nbegin = time.process_time()\n"
    + DEPENDENCIES
    + """
modules = set(sys.modules)
start = time.process_time()
from bhmc import *  # every name: `import bhmc` alone loads none of them
share = (time.process_time() - start) / (start - begin)
modules = set(sys.modules) - modules

import bhmc.model.hdp.kernels
from numba.core.dispatcher import Dispatcher
kernels = {
    name: value
    for module in list(sys.modules.values())
    if module.__name__.startswith(
        ("bhmc.model.hdp.kernels.", "bhmc.model.diffused.kernels.")
        + ("bhmc.rows.k", "bhmc._compiled.")
    )
    for name, value in vars(module).items()
    if isinstance(value, Dispatcher)
}
print(json.dumps({
    "share": share,
    "libraries": sorted({m.partition(".")[0] for m in modules} - sys.stdlib_module_names),
    "command line": "bhmc._cli" in modules,
    "kernels": len(kernels),
    "compiled": [name for name, k in kernels.items() if k.signatures],
}))
"""
)


@pytest.fixture(scope="module")
def imports(tmp_path_factory):
    """What `import bhmc` adds to its dependencies, thrice; the first also fills disk caches."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    return [report_of(IMPORT, environment=environment) for _ in range(3)]


def test_import_adds_little_to_its_dependencies(imports):
    """At most .15 of what they take: .2 s where they take 1.3 s, on a faster machine less."""
    shares = [run["share"] for run in imports]
    assert statistics.median(shares) < 0.15, shares


def test_import_brings_no_library_but_the_dependencies(imports):
    for run in imports:
        assert run["libraries"] == ["bhmc"]
        assert not run["command line"]


def test_import_compiles_nothing_and_says_nothing(imports):
    for run in imports:
        assert run["kernels"] > 0
        assert run["compiled"] == []
        assert run["stderr"] == ""


def test_import_needs_neither_pandas_nor_matplotlib():
    """Where pandas is installed, scikit-learn imports it by itself; bhmc must do without."""
    blocked = "import sys; sys.modules.update(pandas=None, matplotlib=None); "
    done = run_python(blocked + "import bhmc; bhmc.datasets.load_zoo()")
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------
# The compile cache
# ------------------------------------------------------------------------------------------------

KERNELS = """
import sys

def kernels_now():
    from numba.core.dispatcher import Dispatcher
    folders = ("bhmc.model.hdp.kernels.", "bhmc.model.diffused.kernels.", "bhmc.posterior.kernels.")
    return {
        name: value
        for module in list(sys.modules.values())
        if module.__name__.startswith((*folders, "bhmc.rows.k", "bhmc._compiled."))
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }
"""
FIT = (
    KERNELS
    + """
import json, time, warnings
warnings.filterwarnings("ignore", message="The chains have not converged")  # they are short
import numpy as np
import bhmc

start = time.process_time()
X = np.array([[-3.0], [-3.1], [-2.9], [3.0], [3.1], [2.9]])
model = bhmc.BHMC(n_levels=1, n_warmup=20, n_draws=20, n_chains=1, random_state=0).fit(X)
seconds = time.process_time() - start

kernels = kernels_now()
report = {
    "file": bhmc.__file__,
    "seconds": seconds,
    "labels": model.component_labels_.tolist(),
    "misses": sorted(n for n, k in kernels.items() if k.stats.cache_misses),
    "hits": sorted(n for n, k in kernels.items() if k.stats.cache_hits),
    "places": sorted({str(k.stats.cache_path) for k in kernels.values()}),
}
"""
)
PRINT = "print(json.dumps(report))\n"

# Before FIT and after it: what is compiled when. Compiling takes most of this file's time, so the
# process that does it answers all questions about it.
COUNT = (
    KERNELS
    + """
from numba.core import event

class Count(event.Listener):
    names = []
    def on_start(self, happened):
        self.names.append(happened.data["dispatcher"].py_func.__name__)
    def on_end(self, happened):
        pass

event.register("numba:compile", Count())
import bhmc
bhmc.BHMC  # the first name asked for loads the kernels
before = list(Count.names)
loaded_before = [name for name, kernel in kernels_now().items() if kernel.signatures]
import time
start = time.process_time()
bhmc.warmup()
warmup_seconds = time.process_time() - start
warm = list(Count.names)
ready = {name for name, kernel in kernels_now().items() if kernel.signatures}
"""
)
AFTERWARDS = """
# What is compiled does not depend on how long the pilot chain is, nor on the rows of scores.
from bhmc.model.diffused import resolution
from bhmc.posterior import outliers
resolution._LEAST_SWEEPS = resolution._MOST_SWEEPS = 3
outliers._MOST_DRAWS = outliers._LEAST_DRAWS = 3
X = np.random.default_rng(0).normal(size=(40, 3))
X.flags.writeable = False
for settings in (
    {}, {"sampler": "mh"}, {"sampler": "paper"}, {"n_levels": 1}, {"n_levels": 5},
    {"fixed_components": 3}, {"alpha": 2, "gamma0": 3, "gamma": 1}, {"n_jobs": 2},
    {"likelihood": bhmc.likelihoods.Gaussian(sigma2=np.eye(3))}, {"transition": "hdp"},
):
    bhmc.BHMC(n_warmup=2, n_draws=3, random_state=0, **settings).fit(X)
    bhmc.BHMC(n_warmup=2, n_draws=3, random_state=0, **settings).fit(np.asfortranarray(X + 50))
bhmc.BHMC(n_warmup=2, n_draws=3, random_state=0).fit((X > 0).astype(float))  # logits
report |= {
    "seconds": warmup_seconds + seconds,
    "before": [*before, *loaded_before],
    "warm": warm,
    "after": Count.names[len(warm):],
    "late": sorted({n for n, k in kernels_now().items() if k.signatures} - ready),
    "signatures": {name: len(kernel.signatures) for name, kernel in kernels.items()},
    "merged": [
        n for n, k in kernels.items() if k.targetoptions.get("inline") == "always"
    ],
}
"""


# Helpers of "hdp" and of "diffused" that have one name, and a witness that only tests ask.
IN_TWO_FILES = {"add_rows", "release_empty", "log_ratio"}
OF_TESTS = {"fill_log_evidence"}


@pytest.fixture(scope="session")
def two_fits(tmp_path_factory):
    """A fit in two processes, one after the other, with a cache that is empty at first."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    codes = (COUNT + FIT + AFTERWARDS + PRINT, FIT + PRINT)
    return [report_of(code, environment=environment) for code in codes]


@pytest.fixture(scope="module")
def with_a_full_cache():
    """The same work in a process that finds its code in the cache of this checkout."""
    environment = {"PYTHONPATH": str(SOURCE.parent)}
    if "NUMBA_CACHE_DIR" in os.environ:
        environment["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
    code = COUNT + FIT + AFTERWARDS + PRINT
    run = report_of(code, environment=environment)
    # `make test` fills the cache first; where it did not, this process was the one to fill it.
    return report_of(code, environment=environment) if run["warm"] else run


def test_with_a_full_cache_nothing_is_compiled(with_a_full_cache):
    """`test_the_second_process_compiles_nothing` begins with an empty cache, in `make exact`."""
    run = with_a_full_cache
    assert run["warm"] == run["after"] == run["misses"] == []
    assert {"gibbs_pass", "pass_rows"} <= set(run["hits"])


def test_warmup_loads_all_that_fits_need(with_a_full_cache):
    """Importing loads nothing; `warmup` loads each kernel once; a fit nothing."""
    run = with_a_full_cache
    assert run["before"] == []
    assert run["late"] == []
    assert max(run["signatures"].values()) == 1


@pytest.mark.exact_long
def test_the_second_process_compiles_nothing(two_fits):
    first, second = two_fits
    assert "gibbs_pass" in first["misses"]
    assert second["misses"] == []
    assert "pass_rows" in second["hits"]  # of the default
    assert second["labels"] == first["labels"]


@pytest.mark.exact_long
def test_the_second_process_starts_much_faster(two_fits):
    first, second = two_fits
    assert second["seconds"] < 0.2 * first["seconds"]


@pytest.mark.exact_long
def test_a_chosen_cache_folder_is_used_without_a_word(two_fits):
    for fit in two_fits:
        assert fit["stderr"] == ""


@pytest.mark.exact_long
def test_one_signature_a_kernel_and_nothing_compiled_after_warmup(two_fits):
    """Importing compiles nothing; `warmup` compiles each kernel and helper once; a fit nothing."""
    run, _ = two_fits
    assert run["before"] == []
    assert run["after"] == []
    compiled_twice = {name for name in run["warm"] if run["warm"].count(name) > 1}
    assert not (compiled_twice - IN_TWO_FILES) & set(run["signatures"])
    for name, count in run["signatures"].items():
        assert count == (0 if name in {*run["merged"], *OF_TESTS} else 1), name
    assert len(run["warm"]) < 80 + 150  # of "hdp" and "diffused"; a few are Numba's own


def test_an_edit_to_a_helper_is_not_missed(copy_of_package, tmp_path):
    """Each edit to `log_add` shows in a compiled caller of another file, though the cache holds the
    one before.
    """
    caller = """
from bhmc._compiled.decorators import compiled
from bhmc._compiled.distributions import log_add

@compiled
def calls_log_add(a, b):
    return log_add(a, b)
"""
    (copy_of_package / "bhmc" / "rows" / "kernels" / "caller.py").write_text(
        caller, encoding="utf-8"
    )
    file = copy_of_package / "bhmc" / "_compiled" / "distributions.py"
    original = file.read_text(encoding="utf-8")
    old = "top + math.log1p(math.exp(min(a, b) - top))"
    assert original.count(old) == 1
    environment = {
        "PYTHONPATH": str(copy_of_package),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc file is blind to edits within a second
    }
    code = "from bhmc.rows.kernels.caller import calls_log_add; print(calls_log_add(0.0, 0.0))"
    for shift in (0, 100, 200):
        file.write_text(original.replace(old, f"{old} + {shift}"), encoding="utf-8")
        done = run_python(code, environment=environment)
        assert float(done.stdout) == pytest.approx(shift + 0.6931, abs=1e-3), done.stderr


# ------------------------------------------------------------------------------------------------
# Folders without write permission
# ------------------------------------------------------------------------------------------------

ONE_KERNEL = """
import json
import bhmc; bhmc.BHMC  # the first name asked for loads the kernels
import numpy as np
from bhmc.rows import kernels as _kernels
sums = np.zeros((1, 1))
_kernels.add_rows(np.full((1, 1), 0.6931), np.zeros(1, dtype=np.int32), sums)
value = sums[0, 0]
stats = _kernels.add_rows.stats
print(json.dumps({
    "file": bhmc.__file__,
    "value": value,
    "hits": sum(stats.cache_hits.values()),
    "misses": sum(stats.cache_misses.values()),
    "place": stats.cache_path,
}))
"""


@pytest.fixture
def copy_of_package(tmp_path):
    """A folder for PYTHONPATH with a copy of the package."""
    shutil.copytree(SOURCE, tmp_path / "lib/bhmc", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lib"


@pytest.fixture
def read_only(tmp_path, copy_of_package, obey_permissions):
    """Options of `report_of`: the package in a read-only folder; a HOME that can be written to."""
    home = tmp_path / "home"
    home.mkdir()
    folders = [copy_of_package, *(p for p in copy_of_package.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    environment = {"PYTHONPATH": str(copy_of_package), "HOME": str(home)}
    yield {"environment": environment, "launcher": obey_permissions}
    for folder in [home, *folders]:
        folder.chmod(0o755)


@pytest.fixture
def no_cache(read_only):
    """The same, and HOME cannot be written to either."""
    Path(read_only["environment"]["HOME"]).chmod(0o555)
    return read_only


def warnings_in(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "Warning" in line]


@pytest.mark.exact_long
def test_read_only_package_keeps_its_code_in_the_users_cache(read_only):
    first, second = (report_of(ONE_KERNEL, **read_only) for _ in range(2))
    home = read_only["environment"]["HOME"]
    for run in (first, second):
        assert run["file"].startswith(read_only["environment"]["PYTHONPATH"])
        assert run["place"].startswith(home)
        assert run["value"] == pytest.approx(0.6931, abs=1e-3)
    assert (first["hits"], first["misses"]) == (0, 1)
    assert (second["hits"], second["misses"]) == (1, 0)

    (warning,) = warnings_in(first["stderr"])
    folder = Path(first["file"]).parent / "rows"
    assert warning == (
        f"<string>:3: UserWarning: bhmc keeps its compiled code in {first['place']}, "
        f"because {folder} is not writable; set NUMBA_CACHE_DIR to name a writable folder."
    )
    assert second["stderr"] == ""


@pytest.mark.parametrize("n_processes", [1, pytest.param(2, marks=pytest.mark.exact_long)])
def test_without_any_cache_every_process_compiles_and_says_so_once(no_cache, n_processes):
    for _ in range(n_processes):
        run = report_of(ONE_KERNEL, **no_cache)
        assert run["value"] == pytest.approx(0.6931, abs=1e-3)
        assert run["place"] is None
        (warning,) = warnings_in(run["stderr"])
        assert warning == (
            "<string>:3: UserWarning: bhmc compiles its code anew in every process, "
            "because no cache folder is writable; set NUMBA_CACHE_DIR to name a writable folder."
        )


@pytest.mark.exact_long
@pytest.mark.parametrize("moves", ["()", "'auto'"])
def test_a_whole_fit_works_without_any_cache(moves, no_cache):
    """All that one kernel above shows, with all of them: they have the same decorator."""
    code, here = FIT.replace("BHMC(", f"BHMC(moves={moves}, "), {}
    with warnings.catch_warnings():  # FIT has a filter of its own
        exec(code, here)
    run = report_of(code + PRINT, **no_cache)
    assert run["labels"] == here["report"]["labels"]
    assert run["places"] == ["None"]
    assert len(warnings_in(run["stderr"])) == 1


@pytest.mark.exact_long
def test_a_chosen_folder_ends_the_warning(no_cache, tmp_path):
    no_cache["environment"]["NUMBA_CACHE_DIR"] = str(tmp_path / "chosen")
    run = report_of(ONE_KERNEL, **no_cache)
    assert run["place"].startswith(str(tmp_path / "chosen"))
    assert run["stderr"] == ""


def test_a_chosen_folder_that_cannot_be_used_is_named(read_only, tmp_path):
    (tmp_path / "file").touch()
    chosen = str(tmp_path / "file" / "cache")
    run = report_of(
        ONE_KERNEL,
        environment={**read_only["environment"], "NUMBA_CACHE_DIR": chosen},
        launcher=read_only["launcher"],
    )
    (warning,) = warnings_in(run["stderr"])
    assert f"because {chosen} is not writable" in warning


def test_another_error_of_numba_is_not_taken_for_a_missing_cache(monkeypatch):
    def refuse(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr(decorators.numba, "njit", refuse)
    with pytest.raises(RuntimeError, match="something else"):
        decorators.compiled(lambda: None)


def test_the_code_runs_with_compiling_switched_off():
    code = (
        "import bhmc; from bhmc.model.diffused import resolution\n"
        "resolution._LEAST_SWEEPS = resolution._MOST_SWEEPS = 3\n"  # of the pilot chain
        "print(bhmc.BHMC(n_warmup=1, n_draws=2).fit([[1.0], [2.0]]).labels_)"
    )
    quiet = "ignore:The chains have not converged"  # two draws cannot
    done = run_python(code, environment={"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": quiet})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
