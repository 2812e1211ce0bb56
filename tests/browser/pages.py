"""Small pages to open: Zoo with a second seed beside it, hostile names, a million items."""

from dataclasses import replace

import numpy as np

from bhmc import BHMC, Tree
from bhmc.datasets import load_zoo
from bhmc.model.diffused.setting import Diffused
from tests.browser.hostile import hostile_names

# What the pilot chain finds for these data, given so that none runs.
ZOO_KAPPA = 6.35


def zoo_model(seed: int) -> BHMC:
    """101 animals, chains of 90 sweeps."""
    zoo = load_zoo(as_frame=True)
    model = BHMC(
        n_levels=3,
        transition=Diffused(kappa=ZOO_KAPPA),
        n_warmup=50,
        n_draws=40,
        random_state=seed,
    )
    return model.fit(zoo.data.set_axis(zoo.names))


def hostile_tree(n_items: int = 600, n_nodes: int = 341, n_features: int = 59) -> Tree:
    """1,000 hostile names: of items, of nodes and of features; weights that are no numbers.

    Each of 16 components has four features of its own, so that every feature sets a node apart.
    """
    names = hostile_names(n_items + n_nodes + n_features)
    parents = [-1, *((np.arange(1, n_nodes) - 1) // 4)]  # 4 children each: 1 + 4 + 16 + 64 + 256
    tips = 85 + np.arange(n_items) % 256
    tree = Tree.from_parents(parents, tips, names=names[:n_items])
    assert tree.n_nodes == n_nodes
    rng = np.random.default_rng(4)
    weights = rng.dirichlet(np.ones(17), n_nodes)
    weights[1::3, 0], weights[2::3, 1], weights[3::3, 2] = np.nan, np.inf, -np.inf
    means = np.equal.outer(np.arange(16), np.arange(n_features) // 4).astype(float)
    return replace(
        tree,
        components=(np.arange(n_items) % 16).astype(np.int32),
        theta=means,
        weights=weights,
        node_names=np.array(names[n_items : n_items + n_nodes], dtype=object),
        feature_names=np.array(names[n_items + n_nodes :], dtype=object),
        component_means=means,
        feature_means=means.mean(axis=0),
        feature_scales=np.ones(n_features),
        support=np.where(np.arange(n_nodes) % 5 == 0, np.nan, rng.random(n_nodes)),
    )
