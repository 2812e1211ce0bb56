"""Whether two versions of `bhmc` draw the same, bit for bit.

    python -m studies.same_draws [--old a5570ac] [--only fit/] [--write-digests FILE]

Every case runs with an older commit and with the code of this checkout, each in a process of its
own. The study prints a line a case.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

OLD = "a5570ac"
"""The commit whose draws are to stay as they are."""

EXPECTED_CHANGES: dict[str, str] = {
    "checkpoint/*": "a resumed chain now draws what an uninterrupted one draws",
}
"""Patterns of case names (as of a shell) that may differ, with the reason."""

ROUNDED = {
    "draws.log_likelihood": "added up over cells, not over rows",
    "draws.log_joint": "it holds the log likelihood",
}
"""Numbers computed from draws that may differ by rounding, with the reason."""

# How far rounded numbers may differ, as a share of their size.
_ROUNDING = 1e-12

# One thread: sums of products depend on their number.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

Results = dict[str, dict[str, np.ndarray]]


def main() -> int:
    """Compare, or write digests; return the exit code."""
    options = _parser().parse_args()
    if options.child:
        return _child(options.child, options.only, options.digests_only)
    old = options.old_tree or extracted(options.old)
    if options.write_digests:
        return _run_child(old, options.write_digests.resolve(), "--digests-only")
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for what, tree in (("old", old), ("new", options.new_tree)):
            path, start = Path(folder, f"{what}.npz"), time.monotonic()
            code = _run_child(tree, path, "--only", options.only)
            if code:
                return code
            sides.append(_load(path))
            print(f"{what}: {len(sides[-1])} cases in {time.monotonic() - start:.0f} s", flush=True)
    return report(*sides)


def report(old: Results, new: Results) -> int:
    """Print a line a case and a summary; return 1 if anything differs that was not expected."""
    lines = {name: difference(old.get(name), new.get(name)) for name in {**old, **new}}
    n_bad = n_expected = 0
    for name, line in lines.items():
        reason = _reason(name) if line else None
        n_bad += bool(line) and reason is None
        n_expected += reason is not None
        print(f"{name}: {line or 'same'}" + (f" (expected: {reason})" if reason else ""))
    print(
        f"{len(lines)} cases: {n_bad} differ, {n_expected} differ as expected, the rest the same."
    )
    return int(n_bad > 0 or not lines)


def difference(old: dict | None, new: dict | None) -> str | None:
    """Return what differs between two outcomes of a case; None if nothing does."""
    if old is None or new is None:
        return f"DIFFERS: only the {'new' if old is None else 'old'} side has this case"
    if "error" in old or "error" in new:
        return f"DIFFERS: error, old {old.get('error')}, new {new.get('error')}"
    if list(old) != list(new):
        return f"DIFFERS: fields {sorted({*old} ^ {*new})}"
    unlike = [name for name in old if not _same(name, old[name], new[name])]
    if not unlike:
        return None
    more = f" (and {len(unlike) - 1} more fields)" if len(unlike) > 1 else ""
    return f"DIFFERS: {_where(unlike[0], old[unlike[0]], new[unlike[0]])}{more}"


def extracted(commit: str) -> Path:
    """Return a folder with the files of a commit; it stays, so that compiled code is kept."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", f"{commit}^{{commit}}"]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    place = Path(tempfile.gettempdir(), f"bhmc-same-draws-{name}")
    if not place.exists():
        fresh = Path(tempfile.mkdtemp(prefix=f"{place.name}-", dir=place.parent))
        packed = subprocess.run(
            ["git", "-C", str(ROOT), "archive", name, "src"], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", str(fresh)], check=True, input=packed.stdout)
        fresh.rename(place)
    return place


def _reason(name: str) -> str | None:
    """Return why a case may differ, if it may."""
    found = [why for pattern, why in EXPECTED_CHANGES.items() if fnmatchcase(name, pattern)]
    return found[0] if found else None


def _same(field: str, old: np.ndarray, new: np.ndarray) -> bool:
    """Return whether two arrays have the same type, shape and bits, but for allowed rounding."""
    alike = old.dtype == new.dtype and old.shape == new.shape
    if alike and field in ROUNDED:
        return bool(np.allclose(old, new, rtol=_ROUNDING, atol=0.0, equal_nan=True))
    return alike and old.tobytes() == new.tobytes()


def _where(field: str, old: np.ndarray, new: np.ndarray) -> str:
    """Return the first place where two arrays differ, and how far they are apart at most."""
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{field}, old {old.dtype}{old.shape}, new {new.dtype}{new.shape}"
    size = old.dtype.itemsize
    bits = [np.frombuffer(one.tobytes(), np.uint8).reshape(-1, size) for one in (old, new)]
    first = int((bits[0] != bits[1]).any(axis=1).argmax())
    place = tuple(int(i) for i in np.unravel_index(first, old.shape))
    text = f"{field}, {place}, old {old[place]!r}, new {new[place]!r}"
    if old.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            gap = np.abs(old - new)
        text += f", max abs difference {np.nanmax(gap, initial=0.0):.3g}"
    return text


def _run_child(tree: Path, path: Path, *arguments: str) -> int:
    """Run all cases with the code of a tree; return the exit code."""
    environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": str(Path(tree, "src").resolve())}
    command = [sys.executable, "-m", "studies.same_draws", "--child", str(path), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _child(path: Path, only: str, digests_only: bool) -> int:
    """Run the cases here and now, and write what they give to a file."""
    import bhmc

    source = Path(os.environ["PYTHONPATH"])
    if source not in Path(bhmc.__file__).resolve().parents:
        print(f"bhmc comes from {bhmc.__file__}, not from {source}", file=sys.stderr)
        return 2
    if digests_only:
        from studies.same_draws.digests import write_digests

        write_digests(path)
        return 0
    _save(path, only)
    return 0


def _save(path: Path, only: str) -> None:
    """Write the fields of all cases whose names contain `only`, and the seconds each took."""
    from studies.same_draws.cases import cases, run

    arrays, seconds = {}, {}
    for name, case in cases().items():
        if only in name:
            start = time.monotonic()
            for field, value in run(name, case).items():
                arrays[f"{name}|{field}"] = value
            seconds[name] = time.monotonic() - start
    np.savez(path, **arrays)
    slowest = sorted(seconds.items(), key=lambda one: -one[1])[:5]
    print("slowest: " + json.dumps({name: round(took, 1) for name, took in slowest}), flush=True)


def _load(path: Path) -> Results:
    """Return the fields of every case of a file."""
    found: Results = {}
    with np.load(path) as arrays:
        for key in arrays.files:
            name, field = key.split("|")
            found.setdefault(name, {})[field] = arrays[key]
    return found


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.same_draws", description=__doc__)
    parser.add_argument("--old", default=OLD, help="the older commit (default: %(default)s)")
    parser.add_argument("--old-tree", type=Path, help="a checkout of it, if there is one already")
    parser.add_argument("--new-tree", type=Path, default=ROOT, help="another checkout to compare")
    parser.add_argument("--only", default="", help="only cases whose names contain this")
    parser.add_argument("--write-digests", type=Path, help="write the older code's digests here")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--digests-only", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
