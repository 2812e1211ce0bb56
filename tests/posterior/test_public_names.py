"""`bhmc.posterior` offers its names without importing their files first."""

import subprocess
import sys

from bhmc import posterior


def test_every_name_is_there():
    for name in posterior.__all__:
        assert getattr(posterior, name).__name__ == name
    assert set(posterior.__all__) <= set(dir(posterior))
    assert not hasattr(posterior, "nothing")


def test_the_room_is_light_to_import():
    code = "import sys, bhmc.posterior; assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
