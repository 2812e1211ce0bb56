"""The disk fails while chains run: they go on, files of before stay whole, a later fit resumes."""

import errno
import os
import shutil
import stat
import warnings
from contextlib import ExitStack

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone

from bhmc import BHMC
from bhmc._estimator.chain_run import run_chain, unbegun
from bhmc._estimator.checkpoint import CheckpointWarning, SavedChain
from bhmc._estimator.progress import Interrupts
from bhmc._estimator.warm_start import is_unsaved
from bhmc._io.archive import FileFormatError, read
from bhmc._io.leftovers import name_beside
from bhmc.likelihoods import Gaussian
from tests import disks
from tests.estimator.fault_tools import FAULTS, at_sweep, full, save_every_sweep
from tests.estimator.test_checkpoint import QUICK, blobs
from tests.estimator.test_resume import task_of

EVERY_SWEEP = {"checkpoint_interval": 1e-9}


@pytest.fixture
def every_sweep(monkeypatch):
    """Chains are saved after every sweep, however long that takes."""
    save_every_sweep(monkeypatch)


@pytest.fixture
def whole():
    """The fit that nothing disturbs."""
    return BHMC(**QUICK).fit(blobs())


def fit(folder, **changes):
    settings = {**QUICK, "checkpoint": folder / "chains", **EVERY_SWEEP, **changes}
    return BHMC(**settings).fit(blobs())


def assert_same(model, other):
    for name, values in model.draws_.numbers().items():
        np.testing.assert_array_equal(values, other.draws_.numbers()[name])
    np.testing.assert_array_equal(model.paths_, other.paths_)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_the_middle(fault, whole, tmp_path, monkeypatch, every_sweep):
    """It is said once a chain and at the end; the fit is whole; what was saved is; it resumes."""
    disk = tmp_path / "disk"
    with ExitStack() as stack:
        if fault is full:
            stack.enter_context(disks.small_disk(disk, 512))
        disk.mkdir(exist_ok=True)
        with ExitStack() as while_it_lasts, monkeypatch.context() as patch:
            enter = while_it_lasts.enter_context
            at_sweep(patch, 8, enter(fault(disk, enter, 1000)))
            with pytest.warns(CheckpointWarning) as caught:
                model = fit(disk)
        said = [str(one.message) for one in caught if one.category is CheckpointWarning]
        assert [FAULTS[fault] in one for one in said] == [True] * 3  # two chains and the end
        assert "The chain goes on" in said[0]
        assert "2 of 2 chains could not be saved" in said[2]
        assert is_unsaved(model)
        assert_same(model, whole)
        assert not list(disk.glob(".*"))
        assert made_in(disk) == 7
        with warnings.catch_warnings():
            warnings.simplefilter("error", CheckpointWarning)
            again = fit(disk)
        assert_same(again, whole)
        assert not is_unsaved(again)
        assert made_in(disk) == 11


def made_in(disk) -> int:
    """Sweeps of the first chain in its file."""
    return read(disk / "chains.0", "checkpoint")["made"]


def test_a_fault_that_passes_is_said_once(whole, tmp_path, monkeypatch, every_sweep):
    write, times = SavedChain.write, []

    def now_and_then(self, now):
        times.append(now.made)
        if 3 <= now.made <= 5:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        write(self, now)

    monkeypatch.setattr(SavedChain, "write", now_and_then)
    with pytest.warns(CheckpointWarning, match="quota exceeded") as caught:
        model = fit(tmp_path, n_chains=1)
    assert [one.category for one in caught].count(CheckpointWarning) == 1
    assert times == list(range(1, 12))
    assert not is_unsaved(model)
    assert made_in(tmp_path) == 11


@pytest.mark.faults_long
def test_processes_say_it_too(tmp_path):
    """What chains in other processes could not save is known at the end."""
    with disks.small_disk(tmp_path / "disk", 64) as disk, parallel_config("loky"):
        disks.fill(disk)
        with pytest.warns(CheckpointWarning, match="2 of 2 chains could not be saved at their end"):
            model = fit(disk, n_jobs=2)
    assert is_unsaved(model)


# ---- Two generations ----


def damage(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def test_a_damaged_file_falls_back_to_the_one_before(whole, tmp_path, every_sweep):
    fit(tmp_path, n_draws=4)
    names = ["chains.0", "chains.0.before", "chains.1", "chains.1.before"]
    assert sorted(os.listdir(tmp_path)) == names
    damage(tmp_path / "chains.0")
    with pytest.warns(
        CheckpointWarning, match=r"its end is missing.* goes on from the save before"
    ):
        model = fit(tmp_path)
    assert_same(model, whole)
    assert sorted(os.listdir(tmp_path)) == names


def test_a_damaged_file_is_not_kept_as_the_one_before(tmp_path):
    fit(tmp_path, n_draws=4, checkpoint_interval=30.0)
    fit(tmp_path, n_draws=5, checkpoint_interval=30.0)
    damage(tmp_path / "chains.0")
    with pytest.warns(CheckpointWarning):
        fit(tmp_path, n_draws=6, checkpoint_interval=30.0)
    damage(tmp_path / "chains.0")
    with pytest.warns(CheckpointWarning):
        fit(tmp_path, n_draws=6, checkpoint_interval=30.0)


def test_two_damaged_files_are_refused(tmp_path, every_sweep):
    fit(tmp_path)
    damage(tmp_path / "chains.1")
    damage(tmp_path / "chains.1.before")
    with pytest.raises(FileFormatError, match=r"chains\.1' cannot be read"):
        fit(tmp_path)


def test_a_file_that_was_removed_begins_anew(tmp_path, every_sweep):
    """Also under other settings: what is left of the fit before is not asked."""
    fit(tmp_path, n_chains=1)
    (tmp_path / "chains.0").unlink()
    model = fit(tmp_path, n_chains=1, n_levels=2)
    assert model.tree_.n_levels == 2


@pytest.mark.parametrize("sweeps_lost", [1, 90])
def test_a_chain_that_falls_back_by_rounds(tmp_path, monkeypatch, sweeps_lost):
    """Chains run until they agree; one is in an earlier round than the others."""
    for place in ("rounds", "sizes"):
        monkeypatch.setattr(f"bhmc._estimator.{place}.AUTO_DRAWS", 10)
    monkeypatch.setattr("bhmc._estimator.rounds._MOST_SWEEPS", 80)
    monkeypatch.setattr("bhmc.posterior.diagnostics.Diagnostics.converged", False)
    settings = {
        "transition": "hdp",
        "n_draws": "auto",
        "n_warmup": 10,
        "random_state": 0,
        "checkpoint": tmp_path / "c",
    }
    whole = BHMC(**{**settings, "checkpoint": None}).fit(blobs())
    written = []
    write = SavedChain.write

    def keep(self, now):
        write(self, now)
        written.append((now.made, self._path.name))
        shutil.copy(self._path, tmp_path / f"{self._path.name}-{now.made}")

    monkeypatch.setattr(SavedChain, "write", keep)
    BHMC(**settings).fit(blobs())
    monkeypatch.setattr(SavedChain, "write", write)
    ends = sorted({made for made, _ in written})
    assert len(ends) > 2
    shutil.copy(tmp_path / f"c.0-{ends[-1]}", tmp_path / "c.0")
    behind = ends[-2] if sweeps_lost == 1 else ends[0]
    shutil.copy(tmp_path / f"c.1-{behind}", tmp_path / "c.1.before")
    damage(tmp_path / "c.1")
    with pytest.warns(CheckpointWarning):
        again = BHMC(**settings).fit(blobs())
    assert_same(again, whole)


# ---- How often ----


@pytest.mark.parametrize(
    ("cost", "growth", "least"), [(0.001, 0.0, 150), (3.0, 0.0, 4), (0.0, 0.008, 6)]
)
def test_saving_takes_two_percent_at_most(cost, growth, least, tmp_path, monkeypatch):
    """By a clock on which a sweep takes a second and saving what is said."""
    now, spent = [0.0], []

    def write(self, chain):
        spent.append(cost + growth * now[0])
        now[0] += spent[-1]

    def sweep(number, chain, made):
        now[0] += 1.0
        return False

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(SavedChain, "write", write)
    task = task_of(Gaussian(sigma2=1.0, mu0=0.0, sigma0=4.0), blobs(4), "gibbs", "infinite")
    task = task._replace(n_draws=1000)
    file = SavedChain(tmp_path / "chain", 0, {}, task.plan, interval=5.0)
    run_chain(task, unbegun(task, np.random.SeedSequence(0)), 0, Interrupts(), [sweep], file)
    # What the first will cost nobody knows, and the last is at the end.
    assert sum(spent[1:-1]) <= 0.02 * now[0]
    assert len(spent) > least


def test_the_interval_is_no_part_of_the_fit(whole, tmp_path, every_sweep):
    """It may change from one fit to the one that resumes it; a copy has it, too."""
    assert clone(BHMC(checkpoint_interval=7.5)).checkpoint_interval == 7.5
    fit(tmp_path, n_draws=3, checkpoint_interval=60.0)
    assert sorted(os.listdir(tmp_path)) == ["chains.0", "chains.1"]
    assert_same(fit(tmp_path, checkpoint_interval=1e-9), whole)


@pytest.mark.parametrize(("bad", "error"), [(0, ValueError), (-1.0, ValueError), ("30", TypeError)])
def test_a_bad_interval_is_refused(bad, error):
    with pytest.raises(error, match="checkpoint_interval must be"):
        BHMC(checkpoint_interval=bad, **QUICK).fit(blobs())


# ---- What lies about, and what is no file ----


def test_what_killed_fits_left_is_removed(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 2**22 + 1)  # above every number of a process
        left = [name_beside(name) for name in ("chains.0", "chains.1.before", "others.0")]
    for name in left:
        (tmp_path / name).touch()
    fit(tmp_path)
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == left[2:]


def test_labels_go_into_what_is_no_file(whole, tmp_path):
    """They come back in memory, because a device cannot be read again."""
    device = disks.full_device(tmp_path, "labels.npy")
    with pytest.raises(OSError, match="No space left on device"):
        whole.predict(blobs(), out=device)
    assert stat.S_ISCHR(device.stat().st_mode)
    device.unlink()
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # it takes everything
    np.testing.assert_array_equal(whole.predict(blobs(), out=device), whole.predict(blobs()))
    assert stat.S_ISCHR(device.stat().st_mode)
