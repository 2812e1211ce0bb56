"""How alike the answers of independent fits are, by which `estimate` is judged.

    python -m studies.estimates [zoo wine iris blobs]

Every table is fitted with several seeds, and of the same draws several point estimates are taken:
the most likely draw ("map"), and the draws of the least expected variation of information (VI) with
levels counted together as much as components ("vi", what `BHMC` does), as much each ("each level"),
components alone and levels alone. Printed: the mean VI in nats between the answers of two seeds, of
components and of levels 1 to 3. Less is better: an answer that another seed does not give again is
an accident. No label is read.
"""

import sys
from itertools import combinations

import numpy as np
from sklearn import datasets

from bhmc import BHMC
from bhmc.posterior.summary import expected_vi
from studies.starts import blobs, zoo

TABLES = {
    "zoo": zoo,
    "wine": lambda: datasets.load_wine().data,
    "iris": lambda: datasets.load_iris().data,
    "blobs": blobs,
}
SEEDS = range(8)
N_LEVELS, N_CANDIDATES = 3, 100

# Weights of the components and of each level in the expected VI.
LOSSES = {
    "vi": (1.0, 1.0 / N_LEVELS),
    "each level": (1.0, 1.0),
    "components": (1.0, 0.0),
    "levels": (0.0, 1.0),
}


def labels_of(partition) -> list[np.ndarray]:
    """Labels by component, then by level."""
    levels = range(1, N_LEVELS + 1)
    return [partition.component, *(partition.nodes_at(level, N_LEVELS) for level in levels)]


def answers(X, seed) -> dict[str, list[np.ndarray]]:
    """The estimates of one fit, by name."""
    model = BHMC(N_LEVELS, transition="hdp", n_draws=300, keep="paths", random_state=seed).fit(X)
    draws = model.draws_
    chosen = np.linspace(0, len(draws.partitions) - 1, N_CANDIDATES).astype(int)
    candidates = [labels_of(draws.partitions[i]) for i in chosen]
    loss = np.array([expected_vi(one, one) for one in zip(*candidates, strict=True)])
    found = {
        name: candidates[int((own * loss[0] + level * loss[1:].sum(axis=0)).argmin())]
        for name, (own, level) in LOSSES.items()
    }
    best = draws.partitions[int(draws.log_likelihood.argmax())]
    return {"map": labels_of(best), **found}


def main() -> None:
    """Print the table."""
    print(f"{'table':8}{'estimate':13}components  level 1  level 2  level 3")
    for name in sys.argv[1:] or TABLES:
        fits = [answers(TABLES[name](), seed) for seed in SEEDS]
        for estimate in fits[0]:
            pairs = combinations([fit[estimate] for fit in fits], 2)
            apart = [
                [expected_vi([a], [b])[0] for a, b in zip(one, other, strict=True)]
                for one, other in pairs
            ]
            means = "  ".join(f"{mean:7.2f}" for mean in np.mean(apart, axis=0))
            print(f"{name:8}{estimate:13}   {means}", flush=True)


if __name__ == "__main__":
    main()
