"""Made-up trees with support and names, small and large, without any fit."""

from dataclasses import replace

import numpy as np

import bhmc
from bhmc import Hyper, Tree


def small_tree(seed=0, n=40, n_levels=3, alpha=1.5, gamma0=3.0) -> Tree:
    """A tree of the prior, with support (1 at the root) and names."""
    rng = np.random.default_rng(seed)
    state, _ = bhmc.sample_prior(
        n,
        n_levels=n_levels,
        hyper=Hyper(alpha, gamma0, 1.0),
        likelihood=bhmc.likelihoods.Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0),
        rng=rng,
    )
    tree = Tree.from_state(state)
    support = rng.uniform(0.02, 0.98, tree.n_nodes)
    support[0] = 1.0
    return replace(tree, support=support, names=np.array([f"item {i}" for i in range(n)]))


def large_tree(n=100_000, fans=(60, 16, 12, 9), n_components=40, seed=0) -> Tree:
    """Rows choose a child at every level, the first ones most often; nodes in order of size."""
    rng = np.random.default_rng(seed)
    paths = np.zeros((n, len(fans) + 1), dtype=np.int32)
    parents, levels, sizes = [np.array([-1])], [np.array([0])], [np.array([n])]
    n_nodes, above = 1, np.zeros(n, dtype=np.int64)
    for level, fan in enumerate(fans, start=1):
        share = 1.0 / np.arange(1, fan + 1)
        key = above * fan + rng.choice(fan, size=n, p=share / share.sum())
        _, first, group, size = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        parent = paths[first, level - 1].astype(np.int64)
        order = np.lexsort((-size, parent))
        rank = np.argsort(order)
        above = rank[group]
        paths[:, level] = n_nodes + above
        parents.append(parent[order])
        sizes.append(size[order])
        levels.append(np.full(len(order), level))
        n_nodes += len(order)
    components = (rng.geometric(0.15, n) + 3 * paths[:, 1]) % n_components
    return Tree(
        parents=np.concatenate(parents),
        levels=np.concatenate(levels),
        sizes=np.concatenate(sizes),
        weights=np.full((n_nodes, n_components + 1), 1 / (n_components + 1)),
        paths=paths,
        components=components.astype(np.int32),
        theta=np.zeros((n_components, 1)),
        support=np.append(1.0, rng.uniform(size=n_nodes - 1)),
    )
