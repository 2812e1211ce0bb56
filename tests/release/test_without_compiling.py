"""`NUMBA_DISABLE_JIT=1`: a small fit runs as plain Python, and finds what compiled code finds."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

FIT = """
import json, warnings
warnings.filterwarnings("ignore", message="The chains have not converged")
import numpy as np
import bhmc
from bhmc.model.diffused.setting import Diffused
from bhmc.model.hdp.kernels import gibbs_pass

X = np.array([[-3.0], [-3.1], [-2.9], [3.0], [3.1], [2.9]])
settings = {"n_levels": 1, "n_warmup": 3, "n_draws": 4, "n_chains": 1, "random_state": 0}
found = {"compiled": hasattr(gibbs_pass, "signatures")}
for transition in ("hdp", Diffused(kappa=0.1)):
    model = bhmc.BHMC(transition=transition, likelihood="spherical_gaussian", **settings).fit(X)
    found[model.transition_.name] = [model.labels_.tolist(), model.draws_.log_joint[0].tolist()]
print(json.dumps(found))
"""


def fit(**environment) -> dict:
    outside = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    command = [sys.executable, "-c", FIT]
    done = subprocess.run(
        command, env={**outside, **environment}, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_small_fit_needs_no_compiled_code():
    plain, fast = fit(NUMBA_DISABLE_JIT="1"), fit()
    assert (plain.pop("compiled"), fast.pop("compiled")) == (False, True)
    assert set(plain) == set(fast) == {"hdp", "diffused"}
    for name, (labels, log_joint) in plain.items():
        assert labels == fast[name][0]
        np.testing.assert_allclose(log_joint, fast[name][1], rtol=1e-9)
        assert log_joint != pytest.approx([log_joint[0]] * 4)  # the chain moved
