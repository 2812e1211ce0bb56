"""What a plain install brings, as CycloneDX: `python -m release.bill_of_materials`."""

import json

from release.environments import DIST, WORK, program, run, say, tools


def main() -> None:
    """Write `dist/bhmc-VERSION.cdx.json` from the environment without any extra."""
    say("Writing what a plain install brings (CycloneDX).")
    python = program(WORK / "plain", "python")
    if not python.exists():
        raise SystemExit("There is no environment to describe: run make first-use before.")
    file = WORK / "sbom.cdx.json"
    options = ("--output-reproducible", "--output-format", "JSON", "--output-file", file)
    run(program(tools(), "cyclonedx-py"), "environment", *options, python)
    bill = json.loads(file.read_text("utf-8"))
    found = {one["name"].lower(): one["version"] for one in bill["components"]}
    for name in ("pip", "setuptools"):
        found.pop(name, None)
    lacking = {"bhmc", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl"} - set(found)
    if lacking:
        raise SystemExit(f"The list of parts lacks {', '.join(sorted(lacking))}.")
    DIST.mkdir(exist_ok=True)
    target = DIST / f"bhmc-{found['bhmc']}.cdx.json"
    target.write_bytes(file.read_bytes())
    say(f"  dist/{target.name}: {', '.join(f'{k} {v}' for k, v in sorted(found.items()))}.")


if __name__ == "__main__":
    main()
