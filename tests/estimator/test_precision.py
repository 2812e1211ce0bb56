"""float32 likelihood tiles: how far they are off, and when they are refused."""

import numpy as np
import pytest

import bhmc
from bhmc import BHMC
from bhmc.likelihoods import Gaussian
from bhmc.rows.local import LocalRows

# Total variation between the two types' component probabilities of a datum.
LARGEST_VARIATION = 1e-5


def _probabilities(family, theta, precision):
    rows, parts = LocalRows(family, precision), []
    for n_rows in rows.tiles():
        rows.fill(family.natural(theta), None)
        log_f = rows.tile.log_f[:n_rows].astype(np.float64)
        f = np.exp(log_f - log_f.max(axis=1, keepdims=True))
        parts.append(f / f.sum(axis=1, keepdims=True))
    return np.concatenate(parts)


def _overlapping(shift=0.0):
    """4,000 rows, 20 columns, 30 components that overlap, so that probabilities are not 0 or 1."""
    rng = np.random.default_rng(0)
    theta = 0.7 * rng.standard_normal((30, 20))
    X = theta[rng.integers(0, 30, 4_000)] + rng.standard_normal((4_000, 20))
    return X + shift, theta + shift


@pytest.mark.parametrize("shift", [0.0, 1_000.0, 1e6])
def test_total_variation(shift):
    """Small wherever the data lie, because they are centred."""
    X, theta = _overlapping(shift)
    family = Gaussian(sigma2=1.0, mu0=shift, sigma0=1.0).prepare(X)
    exact, single = (_probabilities(family, theta, dtype) for dtype in ("float64", "float32"))
    variation = 0.5 * np.abs(exact - single).sum(axis=1)
    print(f"shift {shift:g}: largest total variation {variation.max():.1e}")
    assert 0 < variation.max() < LARGEST_VARIATION


def test_without_the_centre_it_would_be_large():
    """The alarm rings: the same numbers in single precision, not centred."""
    X, theta = _overlapping(1_000.0)
    exact = -0.5 * ((X[:, None] - theta) ** 2).sum(axis=2)
    wide = X.astype(np.float32) @ theta.T.astype(np.float32)
    wide -= 0.5 * (theta.astype(np.float32) ** 2).sum(axis=1)
    parts = []
    for log_f in (exact, wide.astype(np.float64)):
        f = np.exp(log_f - log_f.max(axis=1, keepdims=True))
        parts.append(f / f.sum(axis=1, keepdims=True))
    assert 0.5 * np.abs(parts[0] - parts[1]).sum(axis=1).max() > 100 * LARGEST_VARIATION


def test_a_fit_finds_the_same_groups():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) + 8.0 * (np.arange(60) % 3)[:, None]
    quick = {"likelihood": "known_gaussian", "random_state": 0, "n_warmup": 50, "n_draws": 50}
    models = [BHMC(precision=precision, **quick).fit(X) for precision in ("float64", "float32")]
    for model in models:
        pairs = set(
            zip(model.component_labels_.tolist(), (np.arange(60) % 3).tolist(), strict=True)
        )
        assert len({component for component, _ in pairs}) == len(pairs)  # no component mixes groups


def test_data_too_wide_are_refused():
    X = np.array([[0.0], [1.0], [2.0], [500.0]])
    with pytest.raises(ValueError, match="within 100 noise standard deviations"):
        BHMC(precision="float32", likelihood=Gaussian()).fit(X)


@pytest.mark.parametrize("precision", ["float16", None, 64])
def test_an_unknown_precision_is_refused(precision):
    for ask in (BHMC(precision=precision).fit, lambda _: bhmc.warmup(precision)):
        with pytest.raises((TypeError, ValueError), match="precision"):
            ask(np.eye(3))
