"""Whether the support of a node says how well it matches a node of the true tree.

    python -m studies.support_calibration [--tables 200] [--n 40] [--levels 3] [--seed 0]

Every table is simulated from the model and fitted with the hyperparameters that it was made with,
so that the posterior is right and only the summary is judged. A node of `tree_` (not the root, not
of one row, not an only child) has its support s, and its best Jaccard match m with any node of the
true tree. Over all tables the nodes are put into five bins by s: in each the mean of m should be
near the mean of s. The same is printed for the exact support and the share of nodes that the true
tree has exactly.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import bhmc
from bhmc.likelihoods import Gaussian
from bhmc.model.state import Partition, State
from bhmc.posterior.support import node_support, soft_support

HYPER = bhmc.Hyper(alpha=1.0, gamma0=3.0, gamma=0.5)
LIKELIHOOD = Gaussian(sigma2=0.3, mu0=0.0, sigma0=4.0)
N_FEATURES = 2
N_BINS = 5


def truth(state: State) -> Partition:
    """The true tree as a draw."""
    return Partition(state.paths[:, -1], state.components, state.parents)


def nodes_of(n: int, n_levels: int, rng: np.random.Generator, **settings) -> np.ndarray:
    """(nodes, 4) support, match with the truth, exact support, whether the truth has it."""
    state, X = bhmc.sample_prior(
        n, n_levels=n_levels, hyper=HYPER, likelihood=LIKELIHOOD, rng=rng, n_features=N_FEATURES
    )
    model = bhmc.BHMC(
        n_levels=n_levels,
        transition="hdp",
        likelihood=LIKELIHOOD,
        **HYPER.concentrations,
        random_state=int(rng.integers(2**31)),
        **settings,
    ).fit(X)
    tree, true = model.tree_, [truth(state)]
    siblings = np.append(1, np.bincount(tree.parents[1:])[tree.parents[1:]])
    judged = (tree.levels > 0) & (tree.sizes > 1) & (siblings > 1)
    found = [
        tree.support,
        soft_support(tree.paths, tree.n_nodes, true),
        tree.exact_support,
        node_support(tree.paths, true, tree.n_nodes),
    ]
    return np.column_stack(found)[judged]


def bins(support: np.ndarray, match: np.ndarray) -> list[tuple[int, float, float]]:
    """(nodes, mean support, mean match) of each fifth of the nodes by support."""
    order = np.argsort(support, kind="stable")
    return [
        (len(part), float(support[part].mean()), float(match[part].mean()))
        for part in np.array_split(order, N_BINS)
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--thin", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rng = np.random.default_rng(given.seed)
    settings = {"n_warmup": given.warmup, "n_draws": 100, "thin": given.thin, "init": "prior"}
    found = [nodes_of(given.n, given.levels, rng, **settings) for _ in range(given.tables)]
    nodes = np.concatenate(found)
    print(f"{given.tables} tables of {given.n} rows, {given.levels} levels: {len(nodes)} nodes")
    for name, first in (("support", 0), ("exact support", 2)):
        print(f"{name:14}  nodes  mean {name}  mean match with the truth  difference")
        for size, said, is_so in bins(nodes[:, first], nodes[:, first + 1]):
            print(f"{'':14}  {size:5}  {said:12.3f}  {is_so:25.3f}  {is_so - said:+10.3f}")


if __name__ == "__main__":
    main()
