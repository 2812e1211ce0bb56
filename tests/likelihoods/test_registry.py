"""One list of likelihoods: a new one is one file and one line of it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bhmc import likelihoods
from bhmc.likelihoods import _registry
from bhmc.likelihoods._registry import FAMILIES, Entry, class_of

ROOT = Path(__file__).parents[2]


def test_names_and_classes_are_those_of_the_registry():
    assert ("auto", *FAMILIES) == likelihoods.NAMES
    classes = {name for name in likelihoods.__all__ if name in _registry.public_classes()}
    assert classes == {*(class_of(name).__name__ for name in FAMILIES), "Product"}
    assert {*likelihoods.__all__, "NAMES"} <= set(dir(likelihoods))
    for name in likelihoods.__all__:
        assert getattr(likelihoods, name).__name__ == name


def test_what_the_registry_does_not_have():
    with pytest.raises(AttributeError, match=r"'bhmc.likelihoods' has no attribute 'Zipf'"):
        likelihoods.Zipf  # noqa: B018
    with pytest.raises(ValueError, match="likelihood='zipf' is none of auto, ga"):
        likelihoods.resolve("zipf")


def test_settings_of_a_name():
    assert likelihoods.by_name("spherical_gaussian").covariance == "spherical"
    assert likelihoods.by_name("shared_gaussian").covariance == "diagonal"
    assert likelihoods.by_name("tied_gaussian").covariance == "full"
    assert isinstance(likelihoods.by_name("gaussian"), likelihoods.Gaussian)


def test_files_may_hold_every_registered_class(monkeypatch):
    before = {one.__name__ for one in _registry.registered_classes()}
    assert before == {*_registry.public_classes(), "SettledGaussian"}
    monkeypatch.setitem(FAMILIES, "other", Entry("collections:OrderedDict"))
    assert "OrderedDict" in {one.__name__ for one in _registry.registered_classes()}


def test_names_are_known_before_any_library_is_imported():
    """The command line offers them while it parses its words."""
    code = "import sys; from bhmc.likelihoods import NAMES; print(*NAMES, *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(" ".join(likelihoods.NAMES))
    assert not {"numpy", "scipy", "sklearn", "numba"} & set(ran.stdout.split())


# The whole of what a contributor does: the file, and the line.
USE = """
import sys
import numpy as np
import bhmc.likelihoods
from bhmc.likelihoods._registry import FAMILIES, Entry
bhmc.likelihoods.__path__.append(sys.argv[1])
FAMILIES.update({{ {line} }})

from bhmc import BHMC
from bhmc.likelihoods import NAMES, PlainPoisson, Product
X = np.random.default_rng(0).poisson([[2.0, 9.0]] * 15 + [[9.0, 1.0]] * 15).astype(float)
settings = dict(n_levels=2, n_warmup=5, n_draws=5, n_chains=1, random_state=0)
model = BHMC(likelihood="plain_poisson", **settings).fit(X)
model.save(sys.argv[1] + "/model.bhmc")
loaded = BHMC.load(sys.argv[1] + "/model.bhmc")
assert isinstance(loaded.likelihood_, PlainPoisson) and "plain_poisson" in NAMES
np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
part = Product([("plain_poisson", [0]), ("poisson", [1])])
assert len(BHMC(likelihood=part, **settings).fit(X).labels_) == 30
print("done")
"""


def test_a_new_likelihood_is_one_file_and_one_line(tmp_path):
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## A new likelihood")[1]
    code, line = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]
    (tmp_path / "plain_poisson.py").write_text(code, "utf-8")
    command = [sys.executable, "-W", "ignore", "-c", USE.format(line=line.strip()), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "done\n"
