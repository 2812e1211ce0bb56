"""SIGKILL at a random moment of a fit: it resumes, and draws what it would have drawn.

`make kills` does it 200 times, over every sampler of every transition, and at the real interval
too; the suite kills one fit four times.
"""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bhmc._estimator.checkpoint import BETWEEN_CHECKPOINTS
from tests.estimator.kill_fits import CASES, Case, Files, context, fit

N_KILLS = int(os.environ.get("BHMC_KILLS", "1"))
TIMES = int(os.environ.get("BHMC_KILLS_TIMES", "4"))  # that each of these fits is killed
FIRST = int(os.environ.get("BHMC_KILLS_FIRST", "0"))  # others are other kills
N_REAL = int(os.environ.get("BHMC_KILLS_REAL", "0"))

SHORT = 1e-9
# Seconds of a sweep, of two chains of 25, at the real interval; fits at the same time.
LONG_SWEEP, AT_ONCE = 2.4, 6

pytestmark = pytest.mark.skipif(os.name == "nt", reason="NOT TESTED: Windows has no SIGKILL.")


def run(case: Case, files: Files, interval=SHORT, sleep=0.0, kill_after=None) -> tuple[int, float]:
    """A fit in a process of its own; (its exit code, seconds from the start of the fit)."""
    process = context().Process(target=fit, args=(case, files, interval, sleep))
    process.start()
    end = time.monotonic() + 120
    while not files.begun.exists() and process.is_alive() and time.monotonic() < end:
        time.sleep(0.005)
    start = time.monotonic()
    process.join(300 if kill_after is None else kill_after)
    if process.is_alive():
        process.kill()
    process.join()
    files.begun.unlink(missing_ok=True)
    return process.exitcode, time.monotonic() - start


def whole(case: Case, folder) -> tuple[str, float]:
    """The digest of the fit that nobody disturbs, and how long it took."""
    folder.mkdir(parents=True)
    files = Files(folder)
    code, seconds = run(case, files)
    assert code == 0
    return files.ended.read_text(), seconds


def killed(case: Case, folder, between, rng, **long) -> tuple[str, float, int]:
    """The digest of a fit that was killed and resumed, when it was killed, and its files then."""
    for number in range(20):
        files = Files(folder / str(number))
        files.folder.mkdir(parents=True)
        for _ in range(TIMES):
            code, seconds = run(case, files, kill_after=rng.uniform(*between) / TIMES, **long)
        if code == -signal.SIGKILL:
            break
    else:
        raise AssertionError("every fit was over before it was killed")
    there = len(list(files.folder.glob("chains.[01]")))
    code, _ = run(case, files)
    assert code == 0, "the killed fit could not resume"
    assert not list(files.folder.glob("*.tmp"))
    return files.ended.read_text(), seconds, there


def line(case: Case, n: int, with_files: int, equal: int) -> str:
    words = f"{case.transition:<9} {case.sampler:<8} {case.family:<16}"
    return f"{words} {n:>5} {with_files:>10} {equal:>6}"


def kills_of(case: Case, numbers, folder) -> tuple[int, int, int]:
    """(kills, those after which there was a file, those whose draws are the same)."""
    expected, seconds = whole(case, folder / "whole")
    found = [
        killed(case, folder / str(number), (0, seconds), np.random.default_rng(number))
        for number in numbers
    ]
    return len(found), sum(there > 0 for *_, there in found), sum(d == expected for d, *_ in found)


def test_a_killed_fit_resumes_bit_for_bit(tmp_path):
    # A step that has no factor in common with the number of cases, so that few kills see much.
    order = {i: CASES[(7 * i) % len(CASES)] for i in range(FIRST, FIRST + N_KILLS)}
    table = []
    print("\ntransition sampler  family           kills  with files  equal")
    for case in dict.fromkeys(order.values()):
        numbers = [i for i, one in order.items() if one == case]
        table.append(kills_of(case, numbers, tmp_path / "-".join(case)))
        print(line(case, *table[-1]), flush=True)
    n, with_files, equal = (sum(column) for column in zip(*table, strict=True))
    print(f"all {n:>34} {with_files:>10} {equal:>6}")
    assert n == N_KILLS
    assert equal == n


@pytest.mark.faults_long
def test_the_same_at_the_real_interval(tmp_path):
    """Every sweep waits, so that chains take minutes and no time of the processor."""
    cases = [CASES[(5 * i) % len(CASES)] for i in range(N_REAL)]
    expected = {case: whole(case, tmp_path / "-".join(case))[0] for case in dict.fromkeys(cases)}
    long = {"interval": BETWEEN_CHECKPOINTS, "sleep": LONG_SWEEP}

    def one(number):
        rng, folder = np.random.default_rng(1000 + number), tmp_path / f"real-{number}"
        return killed(cases[number], folder, (BETWEEN_CHECKPOINTS, 50 * LONG_SWEEP), rng, **long)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(one, range(N_REAL)))
    for case, (digest, seconds, there) in zip(cases, found, strict=True):
        same = "equal" if digest == expected[case] else "OTHER DRAWS"
        print(f"{' '.join(case)}: killed after {seconds:.0f} s with {there} files: {same}")
    assert [digest for digest, *_ in found] == [expected[case] for case in cases]
    assert N_REAL == 0 or any(there for *_, there in found)
