"""One kernel, applied once to exact draws of (state, X), must leave their joint law alone.

Each draw comes from the forward simulator, so it has the joint law exactly; applying a kernel that
leaves the posterior invariant gives another draw of the same law. Hence every statistic has the
same mean before and after, and because the pairs are independent its z needs no correction for
correlation. Pairing removes most of the noise: this is the sharpest test of the ladder.
"""

from functools import lru_cache

import numpy as np

from tests.exact.alarm import rng_for, z_of
from tests.exact.geweke import Setting

STAGES = ("redraw_data", "redraw_weights", "redraw_theta", "sweep")


def paired_z(
    setting: Setting,
    sampler: str,
    stage: str,
    n_draws: int,
    rng,
    times: int = 1,
    until: float = np.inf,
    **engine,
) -> np.ndarray:
    """z per statistic of its change under `times` applications of `stage`.

    A wrong version need not go on once it shows: with `until`, the draws end after a quarter or a
    half of them where some |z| is beyond it. A true version is always judged by all of its draws.
    """
    changes, looks = [], (n_draws // 4, n_draws // 2) if until < np.inf else ()
    for state, X, before in exact_draws(setting, n_draws, rng):
        chain = setting.chain(state, X, sampler, rng, **engine)
        for _ in range(times):
            getattr(chain, stage)()
        changes.append(setting.statistics(chain.state(), X) - before)
        if len(changes) in looks and shows(np.array(changes), until):
            break
    changes = np.array(changes)
    return z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(len(changes)))


def shows(changes: np.ndarray, until: float) -> bool:
    """Whether a z is beyond `until`; no check is counted, since the one at the end is."""
    error = changes.std(axis=0, ddof=1) / np.sqrt(len(changes))
    return bool((np.abs(changes.mean(axis=0)) > until * error)[error > 0].any())


def worst_of_four(setting: Setting, stage: str, n_draws: int, seed: int, **engine) -> float:
    """The largest |z| of what four applications of a stage change in exact draws."""
    z = paired_z(setting, "gibbs", stage, n_draws, rng_for(seed), times=4, **engine)
    largest = float(np.abs(z).max())
    print(f"{stage}: |z| {largest:.1f} at {n_draws} draws or fewer")
    return largest


def prior_statistics(setting: Setting, n_draws: int, rng) -> np.ndarray:
    """(n_draws, statistics) of exact draws, for Geweke's test: its chain has draws of its own."""
    return np.array([own for _, _, own in exact_draws(setting, n_draws, rng)])


def exact_draws(setting: Setting, n_draws: int, rng):
    """(state, X, statistics) of exact draws: those of all settings with the same key."""
    key = setting.forward_key()
    return forward(key).first(n_draws, setting) if key else _draws(setting, n_draws, rng)


def _draws(setting: Setting, n_draws: int, rng):
    """Exact draws of (state, X), one by one, with their statistics."""
    for _ in range(n_draws):
        state, X = setting.prior_draw(rng)
        yield state, X, setting.statistics(state, X)


class Forward:
    """Exact draws of one setting, simulated once for all kernels that are judged by them.

    Simulating takes longer than most kernels. Each test is as sharp with them as with draws of its
    own, and chance fails one of several tests no more often: rates add up, dependent or not.
    """

    def __init__(self):
        self._rng, self._known = rng_for(20), []

    def first(self, n_draws: int, setting: Setting):
        """The first so many, each simulated when it is asked for."""
        for i in range(n_draws):
            if i == len(self._known):
                self._known += _draws(setting, 1, self._rng)
            yield self._known[i]


@lru_cache(maxsize=16)
def forward(key: tuple) -> Forward:
    """The draws of all settings with that key; few are kept, for tests of one come together."""
    return Forward()


def with_family(likelihood, family):
    """`likelihood` that is bound to data by another class: a deliberately wrong family."""

    class Wrong(type(likelihood)):
        def prepare(self, X):
            return family(self, X)

    Wrong.__qualname__ = type(likelihood).__qualname__  # it simulates as that does: see forward_key
    return Wrong(**vars(likelihood))
