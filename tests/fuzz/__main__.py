"""`make fuzz`: every reader for some seconds; a finding is kept and the reader starts again."""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.targets import TARGETS

BUILD = Path("build/fuzz")
CORPUS = Path(__file__).with_name("corpus")


def main() -> int:
    """Findings, as a number for the shell: 0 for none."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="of every reader")
    parser.add_argument("--only", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = 0
    for name in options.only:
        found += _one(name, options.seconds, options.seed)
    print(f"{found} findings" + (f", in {BUILD}." if found else "."))
    return min(found, 1)


def _one(name: str, seconds: int, seed: int) -> int:
    """Fuzz one reader; how many findings there were."""
    folder = (BUILD / name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    firsts = [*TARGETS[name].firsts(), *(one.read_bytes() for one in (CORPUS / name).glob("*"))]
    for number, data in enumerate(firsts):
        (folder / f"first-{number}").write_bytes(data)
    end, found, runs = time.monotonic() + seconds, 0, 0
    while (left := int(end - time.monotonic())) > 1:
        command = [sys.executable, "-m", "tests.fuzz.child", name, str(folder), str(left)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [*command, str(seed + found)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=environment,
        )
        numbers = re.findall(r"(?:#|Done )(\d+)", done.stderr)
        runs += int(numbers[-1]) if numbers else 0
        if done.returncode == 0:
            continue
        found += 1
        _keep(name, folder, found, done)
        if not numbers:  # it does not even start
            break
    print(f"{name}: {runs:,} files, {found} findings", flush=True)
    return found


def _keep(name: str, folder: Path, number: int, done: subprocess.CompletedProcess) -> None:
    """The file that was read last, and what was said."""
    now = Path(f"{folder}.now.{TARGETS[name].ending}")
    kept = folder.with_name(f"{name}.finding-{number}.{TARGETS[name].ending}")
    if now.exists():
        kept.write_bytes(now.read_bytes())
    tail = "\n".join(done.stderr.splitlines()[-60:])
    kept.with_suffix(".txt").write_text(f"exit {done.returncode}\n{tail}\n", encoding="utf-8")
    lines = [one for one in tail.splitlines() if re.match(r"^\w*(Error|ERROR|Exception)", one)]
    print(f"{name}: {kept} ({lines[-1] if lines else f'exit {done.returncode}'})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
