"""The Animals experiment of the paper: 33 animals, 7 dimensions, its settings, 5,500 sweeps."""

import numpy as np
import pytest
from benchmarks.chains import chain_of, start_state
from sklearn.decomposition import PCA

import bhmc
from bhmc._sampling.run import run
from bhmc.posterior.recorder import Recorder
from tests.exact.alarm import SOAK_SEED
from tests.shared_data import read_table

INSECTS = ("Bee", "Butterfly", "Ant", "Cockroach")
BIRDS = ("Robin", "Eagle", "Chicken", "Finch", "Ostrich")
HYPER = bhmc.Hyper(alpha=0.4, gamma0=1.0, gamma=0.5)
N_LEVELS, N_WARMUP, N_DRAWS = 4, 500, 5_000
EVERY_ROW = np.arange(33)


@pytest.fixture(scope="module")
def animals():
    names, features = read_table("animals/animals_33x102.csv")
    return np.array(names), PCA(7, svd_solver="full").fit_transform(features)


class _Watcher(Recorder):
    """Counts the draws in which both groups are components of their own."""

    def __init__(self, groups):
        super().__init__()
        self._groups, self.both = groups, 0

    def on_draw(self, chain, info):
        super().on_draw(chain, info)
        self.both += self.holds(chain.components_of(EVERY_ROW))

    def holds(self, components) -> bool:
        """Whether each group is one component with nobody else in it."""
        return all(
            np.array_equal(components == components[group][0], group) for group in self._groups
        )


@pytest.mark.parametrize(
    ("n_seeds", "least"), [(1, 1), pytest.param(10, 7, marks=pytest.mark.exact_long)]
)
def test_insects_and_birds(animals, n_seeds, least):
    names, X = animals
    groups = [np.isin(names, group) for group in (INSECTS, BIRDS)]
    assert [group.sum() for group in groups] == [4, 5]
    seeds = range(n_seeds * SOAK_SEED, n_seeds * (SOAK_SEED + 1))
    watchers = [_run(X, groups, seed) for seed in seeds]
    found = sum(watcher.holds(watcher.best.components) for watcher in watchers)
    shares = [watcher.both / N_DRAWS for watcher in watchers]
    best = max(watchers, key=lambda watcher: watcher.best_value)
    print(f"maximum draw holds both groups in {found} of {n_seeds} seeds")
    print("share of draws that hold both:", " ".join(f"{share:.2f}" for share in shares))
    print(bhmc.Tree.from_state(best.best).to_text(names))
    assert found >= least
    assert 0.3 < min(shares) <= max(shares) < 0.6


def _run(X, groups, seed) -> _Watcher:
    rng = np.random.default_rng(seed)
    family = bhmc.likelihoods.Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0).prepare(X)
    state = start_state(family, n_levels=N_LEVELS, hyper=HYPER, rng=rng)
    watcher = _Watcher(groups)
    chain = chain_of(state, family, "gibbs", rng)
    run(chain, n_warmup=N_WARMUP, n_draws=N_DRAWS, on_draw=watcher.on_draw)
    return watcher
