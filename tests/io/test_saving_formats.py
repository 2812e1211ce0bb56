"""Files of every format: older ones are brought up to date, newer ones are refused."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bhmc import BHMC, Tree
from bhmc._io.archive import read, upgrades, write
from bhmc._version import __version__
from bhmc.posterior.recorder import Recorder, WarmupTraces, collect, collect_warmup
from bhmc.posterior.retention import Plan
from tests.io import saving_values as values
from tests.io.saving_values import assert_same, edited
from tests.io.test_saving_damaged import read_error

DATA = Path(__file__).parents[1] / "data"

# The fit that left `checkpoint-format-1.bhmc`.
ROWS = np.repeat([-3.0, 0.0, 3.0], 4)[:, None] + np.linspace(-0.3, 0.3, 12)[:, None]
FIT = {
    "n_levels": 2,
    "likelihood": "gaussian",
    "hyper": "paper",
    "alpha": "learn",
    "gamma0": "learn",
    "gamma": "learn",
    "moves": (),
    "estimate": "map",
    "n_warmup": 3,
    "n_draws": 4,
    "n_chains": 1,
    "random_state": 5,
}


@pytest.fixture
def tree_file(tmp_path):
    path = tmp_path / "tree.bhmc"
    values.full_tree().save(path)
    return path


@pytest.mark.parametrize("version", [1, 2, 3])
def test_files_of_every_format_say_the_same(version):
    """tests/data/make_files.py wrote them."""
    found = read(DATA / f"everything-format-{version}.bhmc", "checkpoint")
    assert_same(found, values.everything(version))
    found = BHMC.load(DATA / f"model-format-{version}.bhmc")
    assert_same(vars(found), vars(values.small_model(version)))


def test_support_of_older_formats_was_exact():
    for version in (1, 2):
        tree = BHMC.load(DATA / f"model-format-{version}.bhmc").tree_
        assert tree.support is None
        np.testing.assert_array_equal(tree.exact_support, [1, 0.5, 0.5, 0.5, 0.25, 0.0])


def test_a_checkpoint_of_format_1():
    """Numbers, traces, partitions and whole draws are those of the fit that wrote the file."""
    saved = read(DATA / "checkpoint-format-1.bhmc", "checkpoint")
    recorder = Recorder.from_contents(saved["recorder"], Plan())
    model = BHMC(**FIT).fit(ROWS)
    draws = collect([recorder])
    for name, wanted in model.draws_.numbers().items():
        np.testing.assert_allclose(draws.numbers()[name], wanted, rtol=1e-9, err_msg=name)
    np.testing.assert_array_equal(draws.paths, model.draws_.paths)
    for ours, theirs in zip(draws.mixtures, model.draws_.mixtures, strict=True):
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9)
        np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-9)
    traces = collect_warmup([recorder])
    assert list(traces.learned) == ["alpha", "gamma0", "gamma"]
    for name, wanted in model.warmup_traces_.learned.items():
        np.testing.assert_allclose(traces.learned[name], wanted, rtol=1e-9)
    np.testing.assert_array_equal(Tree.from_state(recorder.best).paths, model.paths_)


def test_a_fit_resumes_from_a_checkpoint_of_format_1(tmp_path):
    shutil.copy(DATA / "checkpoint-format-1.bhmc", tmp_path / "chain.0")
    saved = read(DATA / "checkpoint-format-1.bhmc", "checkpoint")
    before = collect([Recorder.from_contents(saved["recorder"], Plan())])
    model = BHMC(**FIT | {"n_draws": 7}, checkpoint=tmp_path / "chain").fit(ROWS)
    assert model.draws_.n_draws == 7
    np.testing.assert_array_equal(model.draws_.log_joint[:, :4], before.log_joint)


def test_warmup_traces_of_format_1(tmp_path):
    names = ["alpha", "gamma0", "gamma"]
    traces = WarmupTraces(
        {name: np.full((2, 3), float(i)) for i, name in enumerate(names)}, shared=np.ones((2, 3, 0))
    )

    def as_format_1(header):
        header["format_version"] = 1
        header["value"] |= header["value"].pop("learned")

    write(tmp_path / "t", "checkpoint", traces)
    edited(tmp_path / "t", as_format_1)
    assert_same(read(tmp_path / "t"), traces)
    np.testing.assert_array_equal(traces.gamma0, np.ones((2, 3)))
    with pytest.raises(AttributeError, match=r"^WarmupTraces has no 'c'; .* alpha, gamma0, gamma"):
        _ = traces.c


def test_a_newer_format(tree_file):
    edited(tree_file, lambda header: header.update(format_version=4, bhmc="3.1"))
    assert read_error(tree_file) == (
        f"it was written by bhmc 3.1 in format 4, and this is bhmc {__version__}, which reads "
        "format 3: upgrade bhmc."
    )


def test_an_older_format_is_upgraded_step_by_step(tree_file, monkeypatch):
    """A made-up format 0 had another name for `sizes`, and the levels from 1."""

    def as_format_0(header):
        header["format_version"] = 0
        header["value"]["counts"] = header["value"].pop("sizes")
        header["value"]["support"] = header["value"].pop("exact_support")

    tree = values.tree_of_format(0)
    levels = tree.levels
    edited(tree_file, as_format_0, {"levels.npy": levels + 1})
    assert read_error(tree_file) == (
        f"it was written by bhmc {__version__} in format 0, which bhmc {__version__} no longer "
        "reads: load and save it again with a bhmc between the two."
    )

    def from_0_to_1(fields):
        others = {name: value for name, value in fields.items() if name != "counts"}
        levels = fields["levels"] - 1
        levels.flags.writeable = False
        return others | {"sizes": fields["counts"], "levels": levels}

    monkeypatch.setitem(upgrades.STEPS, 0, upgrades.Step({"Tree": from_0_to_1}))
    assert_same(Tree.load(tree_file), tree)
    edited(tree_file, lambda header: header["value"].pop("counts"))
    assert read_error(tree_file) == "it is not as files of format 0 are: 'counts'."
