"""Everything that a release needs, but the upload: `make release`."""

import time

from release import (
    bill_of_materials,
    conda_recipe,
    dependencies,
    distributions,
    first_use,
    public_types,
)
from release.environments import DIST, run, say


def main() -> None:
    """All steps in order; the first that fails ends it."""
    start = time.monotonic()
    if run("git", "status", "--porcelain").strip():
        raise SystemExit("Files of this checkout are not committed: make release in a fresh clone.")
    commit = run("git", "rev-parse", "--short", "HEAD").strip()
    say(f"bhmc {distributions.version()} (src/bhmc/_version.py), commit {commit}.")
    distributions.main()
    first_use.main()
    bill_of_materials.main()
    conda_recipe.main()
    public_types.main()
    dependencies.main("oldest")
    dependencies.main("newest")
    files = ", ".join(sorted(file.name for file in DIST.iterdir()))
    say(f"Done in {(time.monotonic() - start) / 60:.0f} minutes. In dist: {files}.")
    say("Nothing was uploaded, and the whole suite was not run: see make test and make exact.")


if __name__ == "__main__":
    main()
