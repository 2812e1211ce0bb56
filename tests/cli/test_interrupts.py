"""Ctrl-C at a random moment of a real `bhmc fit`: the folder is readable, and can be continued.

`make interrupts` does it twenty times; the suite once.
"""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bhmc import BHMC

N_INTERRUPTS = int(os.environ.get("BHMC_INTERRUPTS", "1"))
BHMC_COMMAND = [sys.executable, "-m", "bhmc"]
SETTINGS = ["--warmup", "30", "--draws", "200", "--chains", "2", "--seed", "1"]

# A fit of these settings takes this long after start-up, on a free machine and some more.
LONGEST = 3.0


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(rng.choice([-2.0, 2.0], 60)[:, None], 0.4, (60, 3))
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    names = [f"row{i}" for i in range(60)]
    lines = [
        f"{name},{','.join(f'{x:.3f}' for x in row)}" for name, row in zip(names, X, strict=True)
    ]
    path.write_text("\n".join(["name,a,b,c", *lines]) + "\n", encoding="utf-8")
    return path


def run(*arguments):
    command = [*BHMC_COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("number", range(N_INTERRUPTS))
def test_an_interrupt_at_a_random_moment(number, table, tmp_path):
    folder = tmp_path / "run"
    wait = np.random.default_rng(number).uniform(0.5, LONGEST)  # first Python itself starts
    process = subprocess.Popen(
        [*BHMC_COMMAND, "fit", str(table), "-o", str(folder), *SETTINGS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=120)
    print(f"after {wait:.1f} s: exit {process.returncode}, {status_of(folder)}")
    assert "Traceback" not in messages
    if status_of(folder) is None:  # before anything was written: begun anew
        again = run("fit", table, "-o", folder, *SETTINGS)
    else:
        assert_readable(folder)
        if status_of(folder) == "done":  # too late; Python itself may have been on its way out
            return
        assert process.returncode == 130
        again = run("fit", "--continue", folder)
    assert again.returncode == 0, again.stderr
    assert status_of(folder) == "done"
    model = BHMC.load(folder / "model.bhmc")
    assert model.draws_.log_joint.shape == (2, 200)


def status_of(folder) -> str | None:
    record = folder / "run.json"
    return json.loads(record.read_text(encoding="utf-8"))["status"] if record.exists() else None


def assert_readable(folder):
    """What is there is whole: a partial or finished run can be shown, a begun one says so."""
    shown = run("show", folder, "--json")
    assert "Traceback" not in shown.stderr
    if (folder / "model.bhmc").exists():
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)
        model = BHMC.load(folder / "model.bhmc")
        assert len(model.labels_) == 60
    else:
        assert shown.returncode == 2
    assert not list(folder.glob("*.tmp"))
