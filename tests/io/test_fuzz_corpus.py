"""Files that fuzzing has kept are read again, in a process of their own that a crash would end."""

import subprocess
import sys
from pathlib import Path

from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"


def test_kept_files_are_read_or_refused_within_the_limits():
    command = [sys.executable, "-m", "tests.fuzz.replay"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]}\n{done.stderr[-2000:]}"
    answers = dict(line.rsplit(" ", 1) for line in lines)
    files = {f"{path.parent.name}/{path.name}" for path in CORPUS.glob("*/*")}
    assert answers.keys() == files
    assert set(answers.values()) == {"True", "False"}


def test_the_corpus_is_small_and_of_every_reader():
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert sum(path.stat().st_size for path in CORPUS.glob("*/*")) < 300_000
