"""`python -m benchmarks.rivals_perch [digits] [others] [speed]`: what rotations bring and cost.

`digits`: dendrogram purity of scikit-learn's digits over 20 random orders, each way to rotate, its
gain over plain insertion of the same orders with the standard error, and the depth of the trees.

`others`: the same purity on nine tables that no way to rotate was chosen by, means of five orders,
with Ward's beside it.

`speed`: CPU seconds to insert 10,000 rows of 16 columns, a mixture of 100 Gaussians and uniform
noise; and how often the slow twin's time at 500 rows holds that of the compiled code. Compiling is
not counted.
"""

import sys
from typing import Any

import numpy as np
from sklearn import datasets as known
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import cpu_of
from bhmc import datasets
from bhmc.baselines import Perch, Ward
from bhmc.baselines.perch.estimator import MASKING
from bhmc.metrics import dendrogram_purity
from bhmc.preprocessing import OptimalThresholdPCA, text_pipeline
from tests.baselines.perch_reference import SlowPerch
from tests.baselines.perch_tools import depth, grown, purity

SEEDS = range(20)
WAYS = [(masking, balance) for masking in ("none", "boxes", "exact", "mean") for balance in (0, 1)]


def digits() -> None:
    """The table of purities."""
    X, labels = load_digits(return_X_y=True)
    orders = [np.random.default_rng(seed).permutation(len(X)) for seed in SEEDS]
    print(f"digits, {len(X)} rows, {len(orders)} orders")
    print(f"{'masking':8} {'balance':8} {'purity':>7} {'gain':>7} {'se':>6} {'depth':>6}")
    plain = np.zeros(len(orders))
    for masking, balance in WAYS:
        trees = [grown(X[order], masking, bool(balance)) for order in orders]
        found = np.array([purity(t, labels[o]) for t, o in zip(trees, orders, strict=True)])
        if (masking, balance) == WAYS[0]:
            plain = found
        gain = found - plain
        se = gain.std(ddof=1) / np.sqrt(len(gain))
        steps = np.mean([depth(tree) for tree in trees])
        row = f"{masking:8} {'yes' if balance else 'no':8} {found.mean():7.3f} {gain.mean():+7.3f}"
        print(f"{row} {se:6.3f} {steps:6.0f}", flush=True)


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Nine tables with their classes."""
    found = {}
    for name in ("iris", "wine", "breast_cancer"):
        X, labels = getattr(known, f"load_{name}")(return_X_y=True)
        found[name] = StandardScaler().fit_transform(X), labels
    zoo, images = datasets.load_zoo(), datasets.load_fashion_mnist_sample()
    found["zoo"] = zoo.data, zoo.target
    pixels = images.data.reshape(len(images.data), -1)
    found["fashion"] = (
        OptimalThresholdPCA(noise=1, standardise=True).fit_transform(pixels),
        images.target,
    )
    things = datasets.load_wordnet_things()
    found["wordnet"] = text_pipeline(min_df=10).fit_transform(things.data), things.levels[:, 0]
    for overlap in (0.25, 0.5, 1.0):
        made = datasets.make_hierarchy(overlap=overlap, random_state=0)
        found[f"made, overlap {overlap}"] = made.data, made.target
    return found


def others() -> None:
    """Purities on tables that nothing was chosen by."""
    ways = ("none", "boxes", "mean")
    print(f"{'table':18}", *(f"{way:>7}" for way in (*ways, "Ward")))
    for name, (X, labels) in tables().items():
        row = [
            np.mean(
                [
                    dendrogram_purity(Perch(masking=way, random_state=seed).fit(X).tree_, labels)
                    for seed in range(5)
                ]
            )
            for way in ways
        ]
        row.append(dendrogram_purity(Ward().fit(X).tree_, labels))
        print(f"{name:18}", *(f"{value:7.3f}" for value in row), flush=True)


def speed() -> None:
    """Seconds, and the ratio to the slow twin."""
    rng = np.random.default_rng(0)
    places = 5.0 * rng.normal(size=(100, 16))
    mixture = places[rng.integers(100, size=10_000)] + rng.normal(size=(10_000, 16))
    noise = rng.random((10_000, 16))
    print("CPU seconds to insert 10,000 rows of 16 columns, and the depth of the tree")
    print(f"{'masking':8} {'balance':8} {'mixture':>8} {'depth':>6} {'noise':>8} {'depth':>6}")
    grown(mixture[:10])  # compiles
    for masking, balance in WAYS:
        row = f"{masking:8} {'yes' if balance else 'no':8}"
        for X in (mixture, noise):
            seconds, tree = timed(grown, X, masking, bool(balance))
            row += f" {seconds:8.2f} {depth(tree):6}"
        print(row, flush=True)
    print("the slow twin's CPU seconds at 500 rows of the mixture, over the compiled code's")
    for masking in MASKING:
        slow = timed(insert_slowly, mixture[:500], masking)[0]
        fast = np.median([timed(grown, mixture[:500], masking)[0] for _ in range(10)])
        print(f"{masking:8} {slow:6.2f} / {fast:.4f} = {slow / fast:.0f}", flush=True)


def timed(work, *rest) -> tuple[float, Any]:
    """CPU seconds of a call, and what it gave."""
    found = []
    seconds = cpu_of(lambda: found.append(work(*rest)))
    return seconds, found[0]


def insert_slowly(X: np.ndarray, masking: str) -> None:
    """The slow twin's tree."""
    twin = SlowPerch(masking)
    for x in X:
        twin.insert(x)


if __name__ == "__main__":
    parts = {"digits": digits, "others": others, "speed": speed}
    for name in sys.argv[1:] or parts:
        parts[name]()
