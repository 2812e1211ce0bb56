"""What keeps the components of the supplement's setting for products from multiplying?

    python -m studies.full_covariances [--sweeps 10]

That setting (normal-inverse-Wishart, 190 directions) gives hundreds of products a component of
their own. Each line changes one number of it and leaves the others: how many components there are
after a few sweeps, and how many of them have one row. No label is read.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.real_data import flipkart

import bhmc
from bhmc._experiments.settings import model_parameters, read_settings

# Directions of the data, then what changes in the model and in the family; nu exceeds the number
# of directions by as much as in the supplement.
CHANGES: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "as in the supplement": (190, {}, {}),
    "start from k-means": (190, {"init": "kmeans"}, {}),
    "gamma0 / 100": (190, {"gamma0": 0.08755}, {}),
    "nu 2,000": (190, {}, {"nu": 2000.0}),
    "lam 1": (190, {}, {"lam": 1.0}),
    "60 directions": (60, {}, {"nu": 79.49}),
    "20 directions": (20, {}, {"nu": 39.49}),
}


def line_of(X: np.ndarray, setting: dict[str, Any], sweeps: int) -> str:
    """Components, those of one row, and CPU seconds of a sweep."""
    given = setting | {"n_warmup": sweeps - 1, "n_draws": 1}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains are too short on purpose
        model = bhmc.BHMC(**model_parameters(given, X), random_state=0).fit(X)
    seconds = (time.process_time() - start) / sweeps
    sizes = np.bincount(model.component_labels_)
    return f"{len(sizes):5} components, {(sizes == 1).sum():5} of one row, {seconds:6.1f} s a sweep"


def main() -> None:
    """Print a line for every change."""
    parser = argparse.ArgumentParser(prog="python -m studies.full_covariances")
    parser.add_argument("--sweeps", type=int, default=10)
    arguments = parser.parse_args()
    X = flipkart()
    if X is None:
        return
    published = read_settings("amazon")["supplement"]["niw"]
    for name, (directions, of_model, of_family) in CHANGES.items():
        setting = published | of_model
        setting["likelihood"] = setting["likelihood"] | of_family
        line = line_of(np.ascontiguousarray(X[:, :directions]), setting, arguments.sweeps)
        print(f"{name:22} {line}", flush=True)


if __name__ == "__main__":
    main()
