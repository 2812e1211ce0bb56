"""What a chain of diffusion trees resumes from is looked at before its kernels are."""

import copy

import numpy as np
import pytest

from bhmc.baselines.pydt.chain import DiffusionChain
from tests.baselines.test_pydt_run import PRIORS, chain_at

X = np.random.default_rng(0).normal(np.repeat([-3.0, 3.0], 4)[:, None], 0.5, (8, 2))


@pytest.fixture(scope="module")
def captured():
    chain = chain_at(X, "mh")
    chain.sweep()
    return chain.capture()


def resume(captured):
    return DiffusionChain.resume(captured, X, PRIORS, "mh", np.random.default_rng(0))


def test_a_whole_capture_is_taken(captured):
    resume(captured).sweep()


WHOLE = ("parent", "first", "after", "before", "n_kids", "size", "counts")
FORGED = [
    *((name, value) for name in (*WHOLE, "clock", "rates") for value in (10**6, -7, 0)),
    *((name, value) for name in ("clock", "rates") for value in (np.nan, np.inf)),
]


@pytest.mark.parametrize(("name", "value"), FORGED)
def test_forged_numbers(name, value, captured):
    forged = copy.deepcopy(captured)
    array = forged["work"][name]
    at = int(np.flatnonzero(forged["work"]["n_kids"])[0]) if len(array) > 5 else 0
    assert array[at] != value
    array[at] = value
    if name == "rates" and value == 0:  # an alpha of 0 is one
        array[3] = 0
    with pytest.raises(ValueError, match=r"^the checkpoint is not valid: "):
        resume(forged)


@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a.astype(np.float32), str])
def test_arrays_of_other_data(change, captured):
    for name in captured["work"]:
        forged = copy.deepcopy(captured)
        forged["work"][name] = change(forged["work"][name])
        with pytest.raises(ValueError, match=r"^the checkpoint is not valid: "):
            resume(forged)
