"""One process that reads mutated files until the first that it may not survive.

`python -m tests.fuzz.child TARGET FOLDER SECONDS SEED`; FOLDER has the corpus. The file that is
read stands in FOLDER.now, so that it is found where the process ends.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import atheris

# Modules whose coverage guides; all others of bhmc are left alone, compiled code among them.
READERS = ("bhmc._io", "bhmc._validation", "bhmc.rows.sources", "bhmc.model.captured")
READERS += ("bhmc.model.hdp.captured", "bhmc.model.diffused.captured", "bhmc.model.checks")
READERS += ("bhmc.tree.json", "bhmc._search.book", "bhmc.posterior.recorder")
OTHERS = ["numpy.lib.format", "zipfile", "json", "csv"]


def _left_alone() -> list[str]:
    """Names of modules, found without an import."""
    root = Path(find_spec("bhmc").submodule_search_locations[0])  # pyright: ignore
    files = (path.relative_to(root.parent).with_suffix("") for path in root.rglob("*.py"))
    names = (".".join(path.parts).removesuffix(".__init__") for path in files)
    return [name for name in names if not name.startswith(READERS)]


with atheris.instrument_imports(["bhmc", *OTHERS], _left_alone()):
    from tests.fuzz import targets
    from tests.fuzz.limits import SECONDS, limited
    from tests.fuzz.mutation import mutated

_MOST_BYTES = 2**17


def main() -> None:
    """Read until the time is over; libFuzzer ends the process."""
    name, folder, seconds, seed = sys.argv[1:]
    target, now = targets.TARGETS[name], Path(f"{folder}.now.{targets.TARGETS[name].ending}")
    for first in targets.TARGETS[name].firsts():  # what is loaded late is loaded before limits
        now.write_bytes(first)
        targets.run(target, now)

    def one_input(data: bytes) -> None:
        now.write_bytes(data)
        if target.is_limited:
            with limited(len(data)):
                targets.run(target, now)
        else:
            targets.run(target, now)

    def custom_mutator(data: bytes, most: int, seed: int) -> bytes:
        changed = mutated(data, seed, lambda part: atheris.Mutate(part, max(len(part) + 64, 64)))
        return changed if len(changed) <= most else atheris.Mutate(data, most)

    options = [f"-max_total_time={seconds}", f"-timeout={2 * SECONDS}", f"-seed={seed}"]
    options += [f"-max_len={_MOST_BYTES}", "-rss_limit_mb=0", f"-artifact_prefix={folder}.found."]
    atheris.Setup([sys.argv[0], *options, folder], one_input, custom_mutator=custom_mutator)
    atheris.Fuzz()


main()
