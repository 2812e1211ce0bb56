"""What the server of `kill_fits` loads before it makes its first process."""

from bhmc import warmup
from tests.estimator import kill_fits  # noqa: F401

for transition in ("hdp", "diffused"):
    warmup("float64", transition)
