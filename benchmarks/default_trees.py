"""Trees of default fits: do chains agree, can the tree be read, does it meet known classes?

    python -m benchmarks.default_trees [zoo iris wine ...] [--seeds 5] [--json FILE]
        [--n_levels 3] [--alpha 0.05] [--alpha "Gamma(1, 100)"] [--n_draws 300] ...

Every parameter of `BHMC` is an option of the same name; those not given are its defaults. A line
is a fit. "own" is the adjusted mutual information (AMI) of each level of classes with the level of
the tree that agrees best. "random" is the same after the rows were permuted: a tree with nodes of
the same sizes that has not seen the data. Labels are read here to print figures and nowhere else.
"""

import argparse

import numpy as np

from benchmarks.bounds import numbers
from benchmarks.fits import (
    add_common,
    add_settings,
    of_chains,
    of_tree,
    take_common,
    timed_fit,
    write,
)
from benchmarks.tables import TABLES
from bhmc import warmup
from bhmc.metrics import ami


def measure(X, truth, seed: int, settings: dict) -> dict:
    """One fit: how it ran, what its tree looks like, how it meets the classes."""
    model, seconds, text = timed_fit(X, seed, settings)
    return {
        "seed": seed,
        "cpu": seconds,
        "warns": bool(text),
        "text": text,
        **of_chains(model),
        **of_tree(model.tree_),
        **_against_classes(model, truth, np.random.default_rng(seed)),
    }


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
        f"{one['ended']:9}  nodes {numbers(one['nodes'], 0):18} {one['components']:4} comp  own "
        f"{numbers(one['ami'])}  random {numbers(one['ami_random'])}  "
        f"components {numbers(one['ami_components'])}"
    )


def _summary(name: str, found: list[dict]) -> str:
    def mean(key):
        return np.mean([one[key] for one in found], axis=0)

    quiet = sum(not one["warns"] for one in found)
    return (
        f"{name:8}  all  quiet in {quiet} of {len(found)}  {mean('cpu'):.1f} s (most "
        f"{max(one['cpu'] for one in found):.1f})  leaves {mean('leaves'):.0f} (N/10 = "
        f"{found[0]['rows'] / 10:.0f})  root's children {mean('nodes')[0]:.0f}  own "
        f"{numbers(mean('ami'))}  random {numbers(mean('ami_random'))}  components "
        f"{numbers(mean('ami_components'))}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Fit all that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common(parser, TABLES)
    add_settings(parser)
    options = vars(parser.parse_args(arguments))
    names, seeds, file = take_common(options, TABLES)
    warmup()
    write(file, [one for name in names for one in run(name, seeds, options)])


if __name__ == "__main__":
    main()
