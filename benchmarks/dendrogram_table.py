"""Does `dendrogram_` meet known classes? One table, beside methods that are told the counts.

    python -m benchmarks.dendrogram_table [zoo digits fashion products wordnet] [--seeds 5]

A figure is the adjusted mutual information (AMI) of a cut into as many clusters as there are
classes, for every level of classes; for Zoo the last figure is the dendrogram purity of its types.
`dendrogram_` is the mean over seeds of fits with the defaults of `BHMC`; `own sums` is the
dendrogram of the estimate's components from their own rows, not averaged over draws. k-means is the
mean over as many seeds. Labels are read here to print figures and nowhere else.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from benchmarks.bounds import numbers
from benchmarks.tables import TABLES
from bhmc import BHMC, Tree
from bhmc._validation.reading import read_data
from bhmc.baselines import Ward
from bhmc.metrics import ami, cut_matched, dendrogram_purity
from bhmc.posterior.merging import merge_by_loss

TARGETS = {
    "zoo": [np.nan, np.nan, 0.89],
    "digits": [0.80],
    "fashion": [0.43, 0.45, 0.52],
    "products": [0.40, 0.51, 0.57, 0.63, 0.63],
    "wordnet": [0.24, 0.32, 0.30, 0.27, 0.24],
}


def figures_of(tree: Tree, truth, name: str) -> list[float]:
    """AMI at the counts of every level; for Zoo the purity too."""
    return [*_amis(lambda k: cut_matched(tree, k), truth), *_purity(tree, truth, name)]


def _amis(cut, truth) -> list[float]:
    return [ami(classes, cut(len(np.unique(classes)))) for classes in truth.T]


def _purity(tree: Tree, truth, name: str) -> list[float]:
    return [dendrogram_purity(tree, truth[:, -1])] if name == "zoo" else []


def own_sums(model: BHMC, X) -> Tree:
    """The estimate's components merged by what they lose, from their own rows alone."""
    matrix, _ = read_data(X, allow_missing=True)
    family, tree = model.likelihood_.prepare(matrix).at(model.tree_.shared), model.tree_
    _, groups = np.unique(tree.components, return_inverse=True)
    sums = family.sums(groups, groups.max() + 1)
    merges = merge_by_loss(sums, family.with_spread(sums).log_maximum)
    return Tree.from_parents(merges.parents, groups, heights=merges.heights)


def fitted(name: str, X, truth, seed: int) -> tuple[list[float], list[float]]:
    """Figures of `dendrogram_` and of `own_sums` of a default fit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BHMC(transition="hdp", random_state=seed).fit(X)
    seconds, found = time.process_time() - start, figures_of(model.dendrogram_, truth, name)
    size = f"{model.tree_.n_components} components, {seconds:.0f} s CPU"
    print(f"  {name} seed {seed}: {numbers(found, 3)}  ({size})", flush=True)
    return found, figures_of(own_sums(model, X), truth, name)


def others(name: str, X, truth, n_seeds: int) -> dict[str, list[float]]:
    """Methods that are told the counts; of trees those of single rows."""
    matrix = np.asarray(X, dtype=float)

    def k_means(seed: int):
        return lambda k: KMeans(k, n_init=3, random_state=seed).fit_predict(matrix)

    def average(k: int):
        return AgglomerativeClustering(k, linkage="average").fit_predict(matrix)

    ward = Ward().fit(matrix).tree_
    unknown = [np.nan] if name == "zoo" else []
    return {
        "Ward": figures_of(ward, truth, name),
        "average linkage": [*_amis(average, truth), *unknown],
        "k-means": [*_mean([_amis(k_means(seed), truth) for seed in range(n_seeds)]), *unknown],
    }


def rows_of(name: str, n_seeds: int) -> dict[str, list[float]]:
    """The lines of the table for one data set; none where its file is absent."""
    table = TABLES[name]()
    if table is None:
        return {}
    found = [fitted(name, *table, seed) for seed in range(n_seeds)]
    return {
        "at least": TARGETS[name],
        "dendrogram_": _mean([one for one, _ in found]),
        "own sums": _mean([one for _, one in found]),
        **others(name, *table, n_seeds),
    }


def _mean(values: list[list[float]]) -> list[float]:
    return np.mean(values, axis=0).tolist()


def main() -> None:
    """The table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TARGETS, []], default=[])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name in options.tables or TARGETS:
        for method, values in rows_of(name, options.seeds).items():
            print(f"{name:9} {method:16} {numbers(values, 3)}", flush=True)


if __name__ == "__main__":
    main()
