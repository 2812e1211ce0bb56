"""`python -m tests.fuzz.replay`: every kept file once more, within the limits; a line for each."""

import sys
import tempfile
from pathlib import Path

from tests.fuzz.limits import limited
from tests.fuzz.targets import TARGETS, run

CORPUS = Path(__file__).with_name("corpus")


def main() -> None:
    """A line for each file is flushed before it is read, so that the last one is known."""
    with tempfile.TemporaryDirectory() as folder:
        for name, target in TARGETS.items():
            path = Path(folder) / f"file.{target.ending}"
            kept = sorted((CORPUS / name).glob("*"))
            for file in [*kept[:1], *kept]:  # the first twice: it loads what is loaded late
                data = file.read_bytes()
                path.write_bytes(data)
                print(f"{name}/{file.name}", end=" ", flush=True)
                if not target.is_limited or file is kept[0]:
                    print(run(target, path))
                    continue
                with limited(len(data)):
                    taken = run(target, path)
                print(taken)


if __name__ == "__main__":
    sys.exit(main())
