"""Trees of default fits: do chains agree, can the tree be read, does it meet known classes?

    python -m benchmarks.default_trees [zoo iris wine ...] [--seeds 5] [--json FILE]
        [--n_levels 3] [--alpha 0.05] [--alpha "Gamma(1, 100)"] [--n_draws 300] ...

Every parameter of `BHMC` is an option of the same name; those not given are its defaults. A line
is a fit. "own" is the adjusted mutual information (AMI) of each level of classes with the level of
the tree that agrees best. "random" is the same after the rows were permuted: a tree with nodes of
the same sizes that has not seen the data. Labels are read here to print figures and nowhere else.
"""

import argparse
import ast
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.exceptions import ConvergenceWarning

from benchmarks import real_data
from bhmc import BHMC, priors, warmup
from bhmc.datasets import (
    load_digits,
    load_fashion_mnist_sample,
    load_products,
    load_wordnet_things,
    load_zoo,
)
from bhmc.metrics import ami
from bhmc.preprocessing import OptimalThresholdPCA, text_pipeline

_PRODUCTS = "flipkart_fashion/flipkart_fashion.csv.gz"
# Deeper classes have so few rows each that no figure means much.
_MOST_LEVELS = 5


def zoo():
    """101 animals, 16 features; 2 kinds and 7 types."""
    table = load_zoo()
    return table.data, table.levels


def iris():
    """150 flowers, 4 lengths; 3 species."""
    return _flat(sklearn_datasets.load_iris(return_X_y=True))


def wine():
    """178 wines, 13 measurements in different units; 3 growers."""
    return _flat(sklearn_datasets.load_wine(return_X_y=True))


def digits():
    """1,797 images of 64 pixels; 10 digits."""
    table = load_digits()
    return table.data, table.levels


def fashion():
    """1,000 images in the 21 directions above the threshold; 3, 5 and 10 classes."""
    table = load_fashion_mnist_sample()
    X = OptimalThresholdPCA(noise=1.0, standardise=True).fit_transform(table.data)
    return np.ascontiguousarray(X), table.levels


def products():
    """2,303 products in 209 singular directions of their words; classes of five levels."""
    X = real_data.flipkart()
    if X is None:
        return None
    table = load_products(real_data.FOLDER / _PRODUCTS, where={"sample_2303": "1"})
    return X, table.levels[:, :_MOST_LEVELS]


def wordnet():
    """2,775 glosses in 74 singular directions of their words; classes of five levels."""
    table = load_wordnet_things()
    X = text_pipeline(min_df=10).fit_transform(table.data)
    return np.ascontiguousarray(X), table.levels[:, :_MOST_LEVELS]


TABLES = {one.__name__: one for one in (zoo, iris, wine, digits, fashion, products, wordnet)}


def _flat(table):
    X, classes = table
    return X, classes[:, None]


def measure(X, truth, seed: int, settings: dict) -> dict:
    """One fit: how it ran, what its tree looks like, how it meets the classes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        model = BHMC(**settings, random_state=seed).fit(X)
        seconds = time.process_time() - start
    said = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    return {
        "seed": seed,
        "cpu": seconds,
        "warns": bool(said),
        "text": str(said[0].message) if said else "",
        **_of_chains(model),
        **_of_tree(model.tree_),
        **_against_classes(model, truth, np.random.default_rng(seed)),
    }


def _of_chains(model) -> dict:
    table = model.diagnostics_.table
    worst = int(np.argmax(np.where(table["constant"], 0.0, table["rhat"])))
    planned = model.n_warmup + model.thin * model.draws_.n_draws
    return {
        "rhat": float(table["rhat"][worst]),
        "worst": str(table["name"][worst]),
        "sweeps": int(getattr(model, "n_sweeps_", planned)),
        "ended": str(getattr(model, "ended_by_", "n_draws")),
    }


def _of_tree(tree) -> dict:
    nodes = [len(np.unique(tree.labels_at(level))) for level in range(1, tree.n_levels + 1)]
    return {"nodes": nodes, "leaves": nodes[-1], "components": tree.n_components}


def _against_classes(model, truth, rng) -> dict:
    own = [model.labels_at(level) for level in range(1, model.n_levels + 1)]
    order = rng.permutation(len(truth))
    return {
        "ami": [max(ami(classes, found) for found in own) for classes in truth.T],
        "ami_random": [max(ami(classes, found[order]) for found in own) for classes in truth.T],
        "ami_components": [ami(classes, model.component_labels_) for classes in truth.T],
    }


def run(name: str, seeds: range, settings: dict) -> list[dict]:
    """A line a seed, then one for all."""
    table = TABLES[name]()
    if table is None:
        return []
    found = []
    for seed in seeds:
        found.append({"data": name, "rows": len(table[1]), **measure(*table, seed, settings)})
        print(_line(found[-1]), flush=True)
    print(_summary(name, found), flush=True)
    return found


def _line(one: dict) -> str:
    return (
        f"{one['data']:8} {one['seed']:4}  {'WARNS' if one['warns'] else 'quiet'}  R-hat "
        f"{one['rhat']:5.2f} {one['worst']:18} {one['cpu']:6.1f} s  {one['sweeps']:6} sweeps, by "
        f"{one['ended']:9}  nodes {_whole(one['nodes']):18} {one['components']:4} comp  own "
        f"{_shares(one['ami'])}  random {_shares(one['ami_random'])}  "
        f"components {_shares(one['ami_components'])}"
    )


def _summary(name: str, found: list[dict]) -> str:
    def mean(key):
        return np.mean([one[key] for one in found], axis=0)

    quiet = sum(not one["warns"] for one in found)
    return (
        f"{name:8}  all  quiet in {quiet} of {len(found)}  {mean('cpu'):.1f} s (most "
        f"{max(one['cpu'] for one in found):.1f})  leaves {mean('leaves'):.0f} (N/10 = "
        f"{found[0]['rows'] / 10:.0f})  root's children {mean('nodes')[0]:.0f}  own "
        f"{_shares(mean('ami'))}  random {_shares(mean('ami_random'))}  components "
        f"{_shares(mean('ami_components'))}\n"
    )


def _shares(values) -> str:
    return "/".join(f"{value:.2f}".replace("0.", ".") for value in values)


def _whole(values) -> str:
    return "/".join(map(str, values))


def read_value(text: str):
    """A number, None, a prior such as `Gamma(1, 100)`, or else a word."""
    name, bracket, rest = text.partition("(")
    if bracket:
        return getattr(priors, name)(*ast.literal_eval(f"({rest.removesuffix(')')},)"))
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def main(arguments: list[str] | None = None) -> None:
    """Fit all that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", metavar="DATA", help=", ".join(TABLES))
    parser.add_argument("--seeds", type=int, default=5, help="default: 5")
    parser.add_argument("--first-seed", type=int, default=0, help="default: 0")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    for name in sorted(BHMC().get_params().keys() - {"random_state"}):
        parser.add_argument(f"--{name}", type=read_value, default=argparse.SUPPRESS, metavar="X")
    options = vars(parser.parse_args(arguments))
    names, n, first, file = (options.pop(key) for key in ("data", "seeds", "first_seed", "json"))
    warmup()
    found = [one for name in names or TABLES for one in run(name, range(first, first + n), options)]
    if file is not None:
        file.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
