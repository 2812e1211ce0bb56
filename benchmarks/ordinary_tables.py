"""Components of ordinary tables: how many, of which family, and do they meet known classes?

    python -m benchmarks.ordinary_tables [penguins penguins_island penguins_file iris wine
        breast_cancer] [--seeds 5] [--likelihood auto shaped_gaussian] [--splits 5] [--json FILE]

A line is a fit of all rows: the family, its components, the adjusted mutual information (AMI) of
components and of the best level of the tree with the classes. "auto" stands beside
"shaped_gaussian", which it was before held-out rows chose. Then the mean log density of a fifth of
the rows under a fit of the others, over several splits (`--splits 0` leaves it out). Penguins come
from the package `palmerpenguins`: numbers of complete rows, the same with the island as a
category, and with the two rows without measurements, as they are in the file. Classes are read to
print figures and nowhere else.
"""

import argparse
from importlib import resources
from pathlib import Path

import numpy as np

from benchmarks.bounds import Check
from benchmarks.fits import add_settings, timed_fit, write
from benchmarks.tables import TABLES
from bhmc import BHMC, warmup
from bhmc._extras import import_pandas
from bhmc.metrics import ami

NUMBERS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")

# Components at least and at most, and the least AMI, the mean of all seeds.
BOUNDS = {
    "penguins": (3, 5, 0.85),
    "penguins_island": (3, 5, 0.85),
    "penguins_file": (3, 5, 0.85),
    "iris": (1, np.inf, 0.70),
    "wine": (1, np.inf, 0.72),
    "breast_cancer": (1, 16, 0.35),
}


def table_of(name: str):
    """(X, classes) of a table, or None where it is absent."""
    if not name.startswith("penguins"):
        X, classes = TABLES[name]()
        return X, np.asarray(classes)[:, -1]
    try:
        file = resources.files("palmerpenguins") / "data" / "penguins.csv"
    except ModuleNotFoundError:
        print(f"{name}: NOT RUN, because the package palmerpenguins is not installed.")
        return None
    with resources.as_file(file) as path:
        rows = import_pandas("benchmarks").read_csv(path)
    if name != "penguins_file":
        rows = rows.dropna(subset=list(NUMBERS))
    columns = list(NUMBERS) if name == "penguins" else [*NUMBERS, "island"]
    return rows[columns].reset_index(drop=True), rows["species"].to_numpy()


def fitted(X, classes, seed: int, settings: dict) -> dict:
    """One fit of all rows."""
    model, seconds, _ = timed_fit(X, seed, settings)
    own = [model.labels_at(level) for level in range(1, model.n_levels + 1)]
    return {
        "family": model.likelihood_.describe(),
        "transition": model.transition_.name,
        "evidence": str(getattr(model, "family_evidence_", None)),
        "components": model.tree_.n_components,
        "ami": ami(classes, model.component_labels_),
        "ami_own_level": max(ami(classes, level) for level in own),
        "ended": model.ended_by_,
        "cpu": seconds,
    }


def held_out(X, seed: int, settings: dict) -> float:
    """Mean log density of a random fifth of the rows under a fit of the others."""
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = np.split(order, [len(X) // 5])
    rows = X.iloc if hasattr(X, "iloc") else X
    model, _, _ = timed_fit(rows[train], seed, settings)
    return float(model.score_samples(rows[test]).mean())


def run(name: str, likelihood: str, n_seeds: int, n_splits: int, settings: dict) -> list[dict]:
    """The lines of one table and family; none where the table is absent."""
    table = table_of(name)
    if table is None or (name.startswith("penguins_") and likelihood != "auto"):
        return []
    X, classes = table
    settings = {**settings, "likelihood": likelihood}
    rows = [fitted(X, classes, seed, settings) for seed in range(n_seeds)]
    for seed, row in enumerate(rows):
        print(
            f"{name:15} {likelihood:16} {seed}  {row['components']:3} components  AMI "
            f"{row['ami']:.3f}  own level {row['ami_own_level']:.3f}  {row['ended']}, "
            f"{row['cpu']:.1f} s; {row['family']}, {row['transition']}",
            flush=True,
        )
    if rows:
        print(f"  {rows[0]['evidence']}")
        _judge(name, likelihood, rows)
    density = [held_out(X, seed, settings) for seed in range(n_splits)]
    if density:
        print(f"{name:15} {likelihood:16} held out {np.mean(density):.3f}", flush=True)
    return [{"data": name, "likelihood": likelihood, "fits": rows, "held_out": density}]


def _judge(name: str, likelihood: str, rows: list[dict]) -> None:
    least, most, least_ami = BOUNDS[name]
    counts = [float(np.mean([row["components"] for row in rows]))]
    found = [float(np.mean([row["ami"] for row in rows]))]
    title = f"{name}, {likelihood}"
    print(Check(f"{title}: components", counts, [least], [most], digits=1))
    print(Check(f"{title}: AMI of components", found, [least_ami], digits=3), flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Fit all that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", metavar="DATA", help=", ".join(BOUNDS))
    parser.add_argument("--seeds", type=int, default=5, help="default: 5")
    parser.add_argument("--splits", type=int, default=5, help="default: 5")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--likelihood", nargs="+", default=["auto", "shaped_gaussian"])
    add_settings(parser, but=("likelihood",))
    options = vars(parser.parse_args(arguments))
    taken = (options.pop(key) for key in ("data", "likelihood", "seeds", "splits", "json"))
    names, likelihoods, n_seeds, n_splits, file = taken
    warmup()
    settings = {"n_levels": BHMC().n_levels, **options}
    pairs = [(name, one) for name in names or BOUNDS for one in likelihoods]
    write(file, [row for pair in pairs for row in run(*pair, n_seeds, n_splits, settings)])


if __name__ == "__main__":
    main()
