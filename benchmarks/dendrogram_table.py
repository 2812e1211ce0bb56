"""Does `dendrogram_` meet known classes? One table, beside methods that are told the counts.

    python -m benchmarks.dendrogram_table [zoo digits fashion products wordnet embedded_wordnet iris
        wine] [--seeds 5] [--json FILE] [--transition hdp] [--likelihood X] ...

A figure is the adjusted mutual information (AMI) of a cut into as many clusters as there are
classes, for every level of classes; for Zoo there is the dendrogram purity of its types, too.
`dendrogram_` is the mean over seeds of fits with the defaults of `BHMC`; every parameter of `BHMC`
is an option of the same name. `own sums` is the dendrogram of the estimate's components from their
own rows, not averaged over draws. `Ward, noise` is Ward's tree of single rows in units of the fit's
noise, in which heights of `dendrogram_` are. k-means is the mean over as many seeds. Bounds, which
are for the means, are printed with "ok" or "MISSED". Labels are read here to print figures and
nowhere else.
"""

import argparse

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from benchmarks.bounds import Check, numbers
from benchmarks.fits import add_common, add_settings, take_common, timed_fit, write
from benchmarks.tables import TABLES, same_units
from bhmc import BHMC, Tree, warmup
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
    "embedded_wordnet": [0.72, 0.55, 0.52, 0.50, 0.47],
}
OF_FITS = ("dendrogram_", "own sums", "Ward, noise")
NAMES = [*TARGETS, "iris", "wine"]


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
    family, tree = _family_of(model, matrix), model.tree_
    _, groups = np.unique(tree.components, return_inverse=True)
    sums = family.sums(groups, groups.max() + 1)
    family = family.with_spread(sums)
    merges = merge_by_loss(family.group_sums(sums), family.group_maximum)
    return Tree.from_parents(merges.parents, groups, heights=merges.heights)


def ward_in_units_of_noise(model: BHMC, X) -> Tree | None:
    """Ward's tree of rows in coordinates whose noise is 1; none where a family has no such."""
    matrix, _ = read_data(X, allow_missing=True)
    family = _family_of(model, matrix)
    if not hasattr(family, "whitened"):
        return None
    return Ward().fit(family.whitened(slice(0, len(matrix)))[0]).tree_


def _family_of(model: BHMC, matrix):
    return model.likelihood_.prepare(matrix).at(model.tree_.shared)


def fitted(name: str, X, truth, seed: int, settings: dict) -> dict:
    """Figures of `dendrogram_` and of `own_sums` of one fit."""
    model, seconds, _ = timed_fit(X, seed, settings)
    found = {
        **{"data": name, "seed": seed, "cpu": seconds, "components": model.tree_.n_components},
        "dendrogram_": figures_of(model.dendrogram_, truth, name),
        "own sums": figures_of(own_sums(model, X), truth, name),
    }
    ward = ward_in_units_of_noise(model, X)
    if ward is not None:
        found["Ward, noise"] = figures_of(ward, truth, name)
    size = f"{found['components']} components, {seconds:.0f} s CPU"
    print(f"  {name} seed {seed}: {numbers(found['dendrogram_'], 3)}  ({size})", flush=True)
    return found


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


def checks(name: str, found: list[dict], beside: dict[str, list[float]]) -> list[Check]:
    """The lines of the table for one data set, `dendrogram_` with its bounds.

    Parameters
    ----------
    name : str
        Of the data.
    found : list of dict
        Of `fitted`, one a seed.
    beside : dict
        Figures of other methods.
    """
    ours = {key: _mean([one[key] for one in found]) for key in OF_FITS if key in found[0]}
    return [
        Check(
            f"{name}: {method}",
            values,
            TARGETS.get(name, ()) if method == "dendrogram_" else (),
            digits=3,
        )
        for method, values in {**ours, **beside}.items()
    ]


def run(name: str, seeds: range, settings: dict) -> dict | None:
    """One data set; none where its file is absent."""
    table = TABLES[name]()
    if table is None:
        print(f"{name}: not measured, because its file is not here", flush=True)
        return None
    X, truth = table
    found = [fitted(name, X, truth, seed, settings) for seed in seeds]
    judged = checks(name, found, others(name, same_units(name, X), truth, len(seeds)))
    print(*judged, sep="\n", end="\n\n", flush=True)
    return {"data": name, "fits": found, "checks": [one.as_dict() for one in judged]}


def _mean(values: list[list[float]]) -> list[float]:
    return np.mean(values, axis=0).tolist()


def main(arguments: list[str] | None = None) -> None:
    """The table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common(parser, NAMES)
    add_settings(parser)
    options = vars(parser.parse_args(arguments))
    names, seeds, file = take_common(options, TARGETS)
    warmup()
    write(file, [run(name, seeds, {"n_levels": 3, **options}) for name in names])


if __name__ == "__main__":
    main()
