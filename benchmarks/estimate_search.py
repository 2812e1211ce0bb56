"""Is the searched point estimate nearer to the draws than the nearest draw is?

    python -m benchmarks.estimate_search [zoo iris wine ...] [--levels 3] [--seed 0]
        [--alpha 0.05] [--warmup 200] [--draws 300]

A line is a fit: the expected variation of information (VI) in nats of the nearest draw and of the
searched partition, to the draws that the search uses and to as many others; nodes of each level
and components of both; CPU seconds of the search. For Zoo it also says where the platypus sits.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.tables import TABLES
from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.posterior.draws import Draws, Partition
from bhmc.posterior.summary import coclustering, compared, expected_losses, nearest_draw
from bhmc.posterior.vi_search import nearest_partition, partition_of

_MOST_CANDIDATES = 100


def others(draws: Draws) -> list[Partition]:
    """As many draws as the search compares with, and none of those."""
    used = {id(one) for one in compared(draws.partitions)}
    left = [one for one in draws.partitions if id(one) not in used]
    return compared(left) if left else []


def counts(partition: Partition) -> str:
    """Nodes of each level and components, as in "7/13/14, 8"."""
    levels, k = partition.levels, len(np.unique(partition.component))
    return f"{'/'.join(map(str, np.bincount(levels)[1:]))}, {k}"


def compare(name: str, draws: Draws, n_levels: int, seed: int) -> Partition:
    """Print the losses of the nearest draw and of what is found; return the latter."""
    parts = draws.partitions
    candidates = parts[:: -(-len(parts) // _MOST_CANDIDATES)]
    chosen, losses = nearest_draw(candidates, parts, n_levels)
    start = time.process_time()
    found = nearest_partition(candidates, parts, n_levels, np.random.default_rng(seed))
    seconds = time.process_time() - start
    both = [candidates[chosen], found.partition]
    new = others(draws)
    unseen = expected_losses(both, new, n_levels).sum(axis=1) if new else [np.nan] * 2
    print(
        f"{name:9} seed {seed}  VI {losses[chosen]:.4f} -> {found.loss:.4f}  other draws "
        f"{unseen[0]:.4f} -> {unseen[1]:.4f}  nodes {counts(both[0])} -> {counts(both[1])}  "
        f"{seconds:.1f} s",
        flush=True,
    )
    return found.partition


def platypus(draws: Draws, tree: Partition) -> None:
    """How often draws have the platypus with the bear, and whether the estimate has."""
    names = load_zoo().names.tolist()
    one, other = names.index("platypus"), names.index("bear")
    for level in ("component", *range(1, draws.n_levels + 1)):
        share = coclustering(draws, level, rows=[one], columns=[other])[0, 0]
        ours = tree.component if level == "component" else tree.nodes_at(level, draws.n_levels)
        is_so = "with" if ours[one] == ours[other] else "without"
        print(f"  {level}: {share:.0%} of draws with the bear; the estimate {is_so} it")


def main() -> None:
    """Compare the tables named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--draws", type=int, default=300)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    more = {} if given.alpha is None else {"alpha": given.alpha}
    for name in given.tables or TABLES:
        table = TABLES[name]()
        if table is None:
            print(f"{name}: not measured, because its file is not here", flush=True)
            continue
        model = BHMC(
            n_levels=given.levels,
            n_warmup=given.warmup,
            n_draws=given.draws,
            random_state=given.seed,
            **more,
        ).fit(table[0])
        compare(name, model.draws_, given.levels, given.seed)
        if name == "zoo":
            levels = [model.labels_at(level) for level in range(1, given.levels + 1)]
            platypus(model.draws_, partition_of(levels, model.component_labels_))


if __name__ == "__main__":
    main()
