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

from benchmarks import real_data
from bhmc import BHMC, Tree
from bhmc._validation.reading import read_data
from bhmc.baselines import Ward
from bhmc.datasets import (
    load_digits,
    load_fashion_mnist_sample,
    load_products,
    load_wordnet_things,
    load_zoo,
)
from bhmc.metrics import ami, cut_matched, dendrogram_purity
from bhmc.posterior.merging import merge_by_loss
from bhmc.preprocessing import text_pipeline

_PRODUCTS = "flipkart_fashion/flipkart_fashion.csv.gz"
_MOST_LEVELS = 5

TARGETS = {
    "zoo": [np.nan, np.nan, 0.89],
    "digits": [0.80],
    "fashion": [0.43, 0.45, 0.52],
    "products": [0.40, 0.51, 0.57, 0.63, 0.63],
    "wordnet": [0.24, 0.32, 0.30, 0.27, 0.24],
}


def zoo():
    """101 animals: 15 features of 0 and 1, and legs; 2 kinds and 7 types."""
    table = load_zoo(as_frame=True)
    return table.data, table.levels


def digits():
    """1,797 images of 64 pixels; 10 digits."""
    table = load_digits()
    return table.data, table.levels


def fashion():
    """1,000 images in their 22 leading singular directions; 3, 5 and 10 classes."""
    table = load_fashion_mnist_sample()
    left, values, _ = np.linalg.svd(table.data - table.data.mean(axis=0), full_matrices=False)
    return left[:, :22] * values[:22], table.levels


def products():
    """2,303 products in 209 singular directions of their words; classes of five levels."""
    X = real_data.flipkart()
    if X is None:
        return None
    table = load_products(real_data.FOLDER / _PRODUCTS, where={"sample_2303": "1"})
    return X, table.levels[:, :_MOST_LEVELS]


def wordnet():
    """2,775 glosses in 40 singular directions of their words; classes of five levels."""
    table = load_wordnet_things()
    X = text_pipeline(min_df=10, n_components=40).fit_transform(table.data)
    return X, table.levels[:, :_MOST_LEVELS]


TABLES = {one.__name__: one for one in (zoo, digits, fashion, products, wordnet)}


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
        model = BHMC(random_state=seed).fit(X)
    seconds, found = time.process_time() - start, figures_of(model.dendrogram_, truth, name)
    size = f"{model.tree_.n_components} components, {seconds:.0f} s CPU"
    print(f"  {name} seed {seed}: {_shares(found)}  ({size})", flush=True)
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


def _shares(values) -> str:
    return "/".join(
        "-" if np.isnan(value) else f"{value:.3f}".replace("0.", ".") for value in values
    )


def main() -> None:
    """The table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        for method, values in rows_of(name, options.seeds).items():
            print(f"{name:9} {method:16} {_shares(values)}", flush=True)


if __name__ == "__main__":
    main()
