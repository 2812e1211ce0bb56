"""What tests of refusals share: calls that must be refused before any work."""

import numpy as np
import pandas as pd
import pytest

import bhmc
from bhmc import BHMC, Hyper
from bhmc._validation.errors import EntryError

GOOD = np.random.default_rng(0).normal(size=(6, 2))


HYPER = Hyper(1.0, 1.0, 1.0)


STATE, FINITE_STATE = (
    bhmc.sample_prior(
        6,
        n_levels=2,
        hyper=HYPER,
        likelihood="gaussian",
        rng=np.random.default_rng(0),
        n_features=2,
        n_components=n_components,
    )[0]
    for n_components in (None, 3)
)


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Every refusal comes before the first sweep and the first draw from the prior."""

    def explode(*args, **kwargs):
        raise AssertionError("work was done before the refusal")

    monkeypatch.setattr("bhmc.model.hdp.sampler.HdpSampler.__init__", explode)
    monkeypatch.setattr("bhmc.model.hdp.sampler.HdpSampler.sweep", explode)
    monkeypatch.setattr("bhmc._estimator.chain_run.start_state", explode)
    monkeypatch.setattr("bhmc.model.hdp.simulate._Franchise.__init__", explode)


def refused(call, error, *parts):
    """`call` raises exactly `error`, in one sentence that holds every one of `parts`."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is error or isinstance(caught.value, EntryError), message
    assert "\n" not in message
    assert message.endswith(".")
    assert ". " not in message, f"more than one sentence: {message}"
    assert len(message) < 200, message
    for part in parts:
        assert part in message, f"{part!r} is not in: {message}"
    return message


def fit(X=GOOD, **settings):
    """With the likelihood that lets no missing entries through."""
    return lambda: BHMC(**{"likelihood": "known_gaussian", **settings}).fit(X)


def sweep(X=GOOD, state=STATE, **changes):
    settings = {"hyper": HYPER, "likelihood": "gaussian", "sampler": "gibbs"}
    rng = np.random.default_rng(0)
    return lambda: bhmc.sweep(state, X, **{**settings, "rng": rng, **changes})


def log_joint(X=GOOD, state=STATE, **changes):
    return lambda: bhmc.log_joint(state, X, **{"hyper": HYPER, "likelihood": "gaussian", **changes})


def sample_prior(n=6, **changes):
    settings = {"n_levels": 2, "hyper": HYPER, "likelihood": "gaussian", "n_features": 2}
    rng = np.random.default_rng(0)
    return lambda: bhmc.sample_prior(n, **{**settings, "rng": rng, **changes})


ON_DATA = [fit, sweep, log_joint]


def put(value, row=4, column=1, like=GOOD, dtype=None):
    X = like.astype(dtype or like.dtype)
    X[row, column] = value
    return X


def framed(X, names=("height", "colour")):
    return pd.DataFrame({name: list(X[:, j]) for j, name in enumerate(names)})
