"""Own levels of default trees against known classes, beside methods that are told the counts.

    python -m benchmarks.own_levels [fashion products wordnet digits zoo iris wine breast_cancer]
        [--seeds 5] [--json FILE] [--pydt [SECONDS]] [--transition hdp] [--likelihood X] ...

A figure is the adjusted mutual information (AMI) of a level of classes with the level of the tree
that agrees best, or with the components: `.63(2)` is level 2, `.56(c)` the components. The tree is
not told the counts. "random" is the best of the same levels after the rows were permuted. Ward,
average linkage, k-means and PYDT are told the counts. The same fits are then asked whether they can
be read. Bounds are printed with "ok" or "MISSED": those of AMI and dendrogram purity are for means
over seeds, the others for every fit. Every parameter of `BHMC` is an option of the same name.
Labels are read here to print figures and nowhere else.
"""

import argparse

import numpy as np

from benchmarks.bounds import Check, numbers
from benchmarks.dendrogram_table import others
from benchmarks.fits import (
    add_common,
    add_settings,
    of_chains,
    of_tree,
    take_common,
    timed_fit,
    write,
)
from benchmarks.tables import TABLES, same_units
from benchmarks.timing import cpu_of
from bhmc import BHMC, Tree, warmup
from bhmc.baselines import PYDT, Ward
from bhmc.metrics import ami, cut_matched, dendrogram_purity

LEAST = {
    "fashion": [0.50, 0.55, 0.54],
    "products": [0.45, 0.50, 0.58, 0.64, 0.64],
    "wordnet": [0.28, 0.32, 0.31, 0.28, 0.26],
    "digits": [0.77],
}
LEAST_PURITY = {"zoo": 0.90}
# Their trees are compared with Ward's of the same counts.
AGAINST_WARD = ("iris", "wine", "breast_cancer")
LEAST_SUPPORT = {"fashion": 0.60}
MOST_SECONDS = {"fashion": 15.0, "products": 60.0}
NAMES = [*LEAST, *LEAST_PURITY, *AGAINST_WARD]


def candidates(model: BHMC) -> dict[str, np.ndarray]:
    """The partitions that a fit offers: its levels by number, its components as "c"."""
    levels = {str(level): model.labels_at(level) for level in range(1, model.n_levels + 1)}
    return {**levels, "c": model.component_labels_}


def best_levels(truth, offered: dict[str, np.ndarray]) -> tuple[list[float], list[str]]:
    """For every level of classes the AMI of the partition that agrees best, and which it is."""
    scores = {name: [ami(classes, one) for classes in truth.T] for name, one in offered.items()}
    names = [max(scores, key=lambda name: scores[name][j]) for j in range(truth.shape[1])]
    return [scores[name][j] for j, name in enumerate(names)], names


def tree_of_levels(levels) -> Tree:
    """The tree whose nodes at each level are the groups of one column, within those before it."""
    parents, above = [-1], np.zeros(len(levels), dtype=np.int64)
    for column in np.asarray(levels).T:
        pairs = np.column_stack([above, column])
        groups, group = np.unique(pairs, axis=0, return_inverse=True)
        above = len(parents) + group.ravel()
        parents += groups[:, 0].tolist()
    return Tree.from_parents(parents, above)


def with_components(tree: Tree) -> Tree:
    """The tree with the components of each leaf below it."""
    levels = [tree.labels_at(level) for level in range(1, tree.n_levels + 1)]
    return tree_of_levels(np.column_stack([*levels, tree.components]))


def ward_at(counts: list[int], ward: Tree) -> Tree:
    """Ward's tree cut to as many nodes a level."""
    return tree_of_levels(np.column_stack([cut_matched(ward, count) for count in counts]))


def median_support(tree: Tree, least_rows: int = 10) -> float:
    """Median over nodes below the root, of so many rows, of their soft support."""
    support = tree.support[1:][tree.sizes[1:] >= least_rows]
    return float(np.median(support)) if len(support) else float("nan")


def measure(name: str, X, truth, seed: int, settings: dict, ward: Tree) -> dict:
    """One fit: own levels, its tree, its readability."""
    model, seconds, text = timed_fit(X, seed, {"n_levels": 3, **settings})
    order = np.random.default_rng(seed).permutation(len(truth))
    offered, tree = candidates(model), model.tree_
    own, which = best_levels(truth, offered)
    levels, _ = best_levels(truth, {key: one for key, one in offered.items() if key != "c"})
    at_random, _ = best_levels(truth, {key: one[order] for key, one in offered.items()})
    shape, classes = of_tree(tree), truth[:, -1]
    return {
        **{"data": name, "rows": len(truth), "seed": seed, "cpu": seconds, "warns": bool(text)},
        **{"ami": own, "which": which, "ami_levels": levels, "ami_random": at_random},
        "purity": dendrogram_purity(tree, classes),
        "purity_ward": dendrogram_purity(ward_at(shape["nodes"], ward), classes),
        "purity_components": dendrogram_purity(with_components(tree), classes),
        "support": median_support(tree),
        "likelihood": model.likelihood_.describe(),
        **shape,
        **of_chains(model),
    }


def rivals(name: str, X, truth, n_seeds: int, pydt: float | None) -> dict[str, list[float]]:
    """AMI of methods that are told the counts."""
    matrix, depth = same_units(name, X), truth.shape[1]
    found = {key: one[:depth] for key, one in others(name, matrix, truth, n_seeds).items()}
    if pydt is not None:
        model = PYDT(max_seconds=pydt, random_state=0)
        seconds = cpu_of(lambda: model.fit(matrix))
        found[f"PYDT, {seconds:.0f} s CPU"] = [
            ami(classes, cut_matched(model.tree_, len(np.unique(classes)))) for classes in truth.T
        ]
    return found


def agreement_checks(name: str, found: list[dict], ward: list[float]) -> list[Check]:
    """Bounds of AMI; beside them Ward's own, which count where a readable tree cannot have both."""
    value = _mean(found, "ami")
    if name not in LEAST:
        return [Check(f"{name}: own levels", value, digits=3)]
    return [
        Check(f"{name}: own levels", value, LEAST[name], digits=3),
        Check(f"{name}: own levels v Ward", value, ward, digits=3),
    ]


def purity_checks(name: str, found: list[dict], ward: float) -> list[Check]:
    """Dendrogram purity of the tree itself, beside Ward's of the same counts and Ward's own."""
    value, same = _mean(found, "purity"), _mean(found, "purity_ward")
    least = [same] if name in AGAINST_WARD else _bound(LEAST_PURITY, name)
    return [
        Check(f"{name}: purity", [value], least, digits=3),
        Check(f"{name}: purity with components", [_mean(found, "purity_components")], digits=3),
        Check(f"{name}: purity of Ward, same counts", [same], digits=3),
        Check(f"{name}: purity of Ward, single rows", [ward], digits=3),
    ]


def readability_checks(name: str, found: list[dict]) -> list[Check]:
    """Bounds of every fit: the least and the greatest figure of all seeds."""
    n = found[0]["rows"]
    top = _range([one["nodes"][0] for one in found])
    leaves, parts = (_range([one[key] for one in found]) for key in ("leaves", "components"))
    support = min(one["support"] for one in found)
    seconds = max(one["cpu"] for one in found)
    return [
        Check(f"{name}: children of the root", top, [2, 2], [15, 15], digits=0),
        Check(f"{name}: leaves, N/10", leaves, (), [n / 10] * 2, digits=0),
        Check(f"{name}: components, N/8", parts, (), [n / 8] * 2, digits=0),
        Check(f"{name}: median support, least", [support], _bound(LEAST_SUPPORT, name)),
        Check(f"{name}: CPU s, most", [seconds], (), _bound(MOST_SECONDS, name), digits=1),
    ]


def _bound(bounds: dict[str, float], name: str) -> list[float]:
    return [bounds[name]] if name in bounds else []


def _range(values: list[float]) -> list[float]:
    return [min(values), max(values)]


def _mean(found: list[dict], key: str):
    return np.mean([one[key] for one in found], axis=0).tolist()


def _line(one: dict) -> str:
    own = "/".join(
        f"{numbers([value])}({which})"
        for value, which in zip(one["ami"], one["which"], strict=True)
    )
    return (
        f"{one['data']:13} {one['seed']:3}  own {own}  random {numbers(one['ami_random'])}  nodes "
        f"{numbers(one['nodes'], 0):12} {one['components']:4} comp  support {one['support']:.2f}  "
        f"purity {numbers([one['purity'], one['purity_ward']], 3)}  R-hat {one['rhat']:.2f}  "
        f"{one['cpu']:.1f} s"
    )


def run(name: str, seeds: range, settings: dict, pydt: float | None) -> dict | None:
    """The lines of one table; none where its file is absent."""
    table = TABLES[name]()
    if table is None:
        return None
    X, truth = table
    ward, found = Ward().fit(same_units(name, X)).tree_, []
    for seed in seeds:
        found.append(measure(name, X, truth, seed, settings, ward))
        print(_line(found[-1]), flush=True)
    beside = rivals(name, X, truth, len(seeds), pydt)
    judged = [
        *agreement_checks(name, found, beside["Ward"]),
        Check(f"{name}: own levels, no components", _mean(found, "ami_levels"), digits=3),
        Check(f"{name}: random tree", _mean(found, "ami_random"), digits=3),
        *(Check(f"{name}: {key}", one, digits=3) for key, one in beside.items()),
        *purity_checks(name, found, dendrogram_purity(ward, truth[:, -1])),
        *readability_checks(name, found),
    ]
    print(*judged, sep="\n", end="\n\n", flush=True)
    return {"data": name, "fits": found, "checks": [one.as_dict() for one in judged]}


def main(arguments: list[str] | None = None) -> None:
    """Fit all that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common(parser, NAMES)
    parser.add_argument(
        "--pydt", nargs="?", type=float, const=600.0, metavar="SECONDS", help="off by default"
    )
    add_settings(parser)
    options = vars(parser.parse_args(arguments))
    pydt = options.pop("pydt")
    names, seeds, file = take_common(options, NAMES)
    warmup()
    write(file, [run(name, seeds, options, pydt) for name in names])


if __name__ == "__main__":
    main()
