"""Hand-made `Draws`: small trees drawn at random, with every number counted from its partition."""

from dataclasses import replace

import numpy as np

from bhmc.posterior.draws import Draws, Mixture, Partition


def make_draws(
    n_chains=2,
    n_draws=6,
    n_rows=7,
    n_levels=2,
    n_shared=1,
    n_features=3,
    n_pairs=4,
    keep=None,
    seed=0,
    **replaced,
) -> Draws:
    """Independent draws. `keep` whole draws (all by default), evenly spaced over chains and draws.

    Arrays given by name take the place of those made here: `make_draws(alpha=np.ones((2, 6)))`.
    """
    rng = np.random.default_rng(seed)
    every = [(chain, draw) for chain in range(n_chains) for draw in range(n_draws)]
    partitions = [random_partition(n_rows, n_levels, rng) for _ in every]
    kept = np.linspace(0, len(every) - 1, len(every) if keep is None else keep).astype(int)
    index = np.array(every, dtype=np.int64)[kept].reshape(-1, 2)
    first = rng.integers(n_rows, size=n_pairs)
    pairs = np.column_stack([first, (first + rng.integers(1, n_rows, size=n_pairs)) % n_rows])

    def by_draw(values):
        values = np.array(values)
        return values.reshape(n_chains, n_draws, *values.shape[1:])

    levels = range(1, n_levels + 1)
    nodes_at = [[one.nodes_at(level, n_levels) for level in levels] for one in partitions]
    draws = Draws(
        log_joint=rng.normal(-200, 5, (n_chains, n_draws)),
        log_likelihood=rng.normal(-150, 5, (n_chains, n_draws)),
        n_nodes=by_draw([len(one.parents) for one in partitions]),
        n_components=by_draw([int(one.component.max()) + 1 for one in partitions]),
        component_entropy=by_draw([entropy(one.component) for one in partitions]),
        learned={
            name: rng.gamma(2, 1, (n_chains, n_draws)) for name in ("alpha", "gamma0", "gamma")
        },
        nodes_at=by_draw([[len(np.unique(nodes)) for nodes in one] for one in nodes_at]),
        entropy_at=by_draw([[entropy(nodes) for nodes in one] for one in nodes_at]),
        shared=rng.gamma(2, 1, (n_chains, n_draws, n_shared)),
        together=by_draw([np.equal(*one.component[pairs].T) for one in partitions]),
        pairs=pairs,
        partitions=tuple(partitions[i] for i in kept),
        partition_index=index,
        mixtures=tuple(random_mixture(partitions[i], n_features, n_shared, rng) for i in kept),
        mixture_index=index.copy(),
    )
    return with_numbers(draws, **replaced) if replaced else draws


def with_numbers(draws: Draws, **replaced) -> Draws:
    """The draws with other arrays, hyperparameters among them."""
    learned = {name: replaced.pop(name) for name in draws.learned if name in replaced}
    return replace(draws, learned=draws.learned | learned, **replaced)


def random_partition(n_rows, n_levels, rng) -> Partition:
    """Rows walk to level `n_levels`, to an old child or a new one by chance; no node is empty."""
    parents, children = [-1], [[]]
    leaves = []
    for _ in range(n_rows):
        node = 0
        for _ in range(n_levels):
            choice = rng.integers(len(children[node]) + 1)
            if choice == len(children[node]):
                parents.append(node)
                children.append([])
                children[node].append(len(parents) - 1)
            node = children[node][choice]
        leaves.append(node)
    # Numbered by first appearance, so that components are 0 to K - 1.
    _, first, component = np.unique(
        rng.integers(4, size=n_rows), return_index=True, return_inverse=True
    )
    order = np.argsort(np.argsort(first))
    return Partition(
        np.array(leaves, dtype=np.uint8 if len(parents) < 256 else np.uint16),
        order[component].astype(np.uint8),
        np.array(parents, dtype=np.int32),
    )


def random_mixture(partition, n_features, n_shared, rng) -> Mixture:
    """Weights and parameters for the components of a partition."""
    k = int(partition.component.max()) + 1
    return Mixture(
        rng.dirichlet(np.ones(k + 1)),
        rng.normal(size=(k, n_features)),
        rng.gamma(2, 1, n_shared),
    )


def entropy(labels) -> float:
    """Entropy in nats of the shares that the labels hold."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(shares * np.log(shares)).sum())
