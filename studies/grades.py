"""How well components agree with classes that no fit has seen; "hdp" with its defaults.

    python -m studies.grades [zoo animals digits flipkart] [--seeds 10]

Labels are read here to print figures and nowhere else: no default was chosen by them (where one was
chosen after a figure had been seen, docs/families.md says so).
"""

import argparse
import time

import numpy as np
from benchmarks import real_data
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score

from bhmc import BHMC
from bhmc.datasets import load_zoo


def zoo():
    """Zoo with its one column of numbers, the legs, as columns of 0 and 1; seven classes."""
    table = load_zoo()
    columns = []
    for column in np.asarray(table.data, dtype=float).T:
        values = np.unique(column)
        columns += [column] if set(values) <= {0.0, 1.0} else [column == value for value in values]
    return np.column_stack(columns).astype(float), table.target


def digits():
    """1,797 images of 64 pixels; ten digits."""
    return load_digits(return_X_y=True)


def flipkart():
    """2,303 products in about 200 columns; 68 categories of the third level."""
    X = real_data.flipkart()
    return None if X is None else (X, real_data.flipkart_classes(3))


def flipkart_counts():
    """The same products by the counts of their words."""
    X = real_data.flipkart_counts()
    return None if X is None else (X, real_data.flipkart_classes(3))


TABLES = {
    "zoo": zoo,
    "animals": lambda: real_data.animals_as_zeros_and_ones(1),
    "animals, ten groups": lambda: real_data.animals_as_zeros_and_ones(2),
    "digits": digits,
    "flipkart": flipkart,
    "flipkart, counts": flipkart_counts,
}


def grade(name: str, n_seeds: int) -> None:
    """Print a line for every seed, then the median."""
    table = TABLES[name]()
    if table is None:
        return
    X, classes = table
    scores = []
    for seed in range(n_seeds):
        start = time.process_time()
        model = BHMC(transition="hdp", random_state=seed).fit(X)
        scores.append(adjusted_mutual_info_score(classes, model.component_labels_))
        nodes = [len(np.unique(model.labels_at(level))) for level in range(1, 4)]
        print(
            f"{name:8} seed {seed}  {type(model.likelihood_).__name__:14} "
            f"{model.component_labels_.max() + 1:3} components  {nodes} nodes a level  "
            f"agreement {scores[-1]:.3f}  {time.process_time() - start:.0f} s CPU",
            flush=True,
        )
    print(
        f"{name:8} adjusted mutual information, median of {n_seeds} seeds: {np.median(scores):.3f}",
        flush=True,
    )


def main() -> None:
    """Grade the tables named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        grade(name, arguments.seeds)


if __name__ == "__main__":
    main()
