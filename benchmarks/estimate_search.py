"""Is the searched point estimate nearer to the draws than the nearest draw is?

    python -m benchmarks.estimate_search [zoo iris wine ...] [--seeds 1] [--json FILE]
        [--transition hdp] [--n_warmup 200] [--n_draws 300] ...

A line is a fit: the expected variation of information (VI) in nats of the nearest draw, of the
searched partition and of `tree_`, which is the searched partition as the transition completes it;
then that of the first two to as many other draws; nodes of each level and components; CPU seconds
of the search. For Zoo it also says where the platypus sits. At the end: the search must be no worse
than the nearest draw on every data set, and nearer on at least half of them. Every parameter of
`BHMC` is an option of the same name.
"""

import argparse
import time

import numpy as np

from benchmarks.bounds import Check
from benchmarks.fits import add_common, add_settings, take_common, timed_fit, write
from benchmarks.tables import TABLES
from bhmc import BHMC, warmup
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


def tree_partition(model: BHMC) -> Partition:
    """`tree_` of a fit as a partition."""
    levels = [model.labels_at(level) for level in range(1, model.n_levels + 1)]
    return partition_of(levels, model.component_labels_)


def compare(name: str, model: BHMC, seed: int) -> dict:
    """Print the losses of the nearest draw, of what is found and of `tree_`; return them."""
    parts, n_levels = model.draws_.partitions, model.n_levels
    candidates = parts[:: -(-len(parts) // _MOST_CANDIDATES)]
    chosen, losses = nearest_draw(candidates, parts, n_levels)
    start = time.process_time()
    found = nearest_partition(candidates, parts, n_levels, np.random.default_rng(seed))
    seconds = time.process_time() - start
    both, tree = [candidates[chosen], found.partition], tree_partition(model)
    new = others(model.draws_)
    unseen = expected_losses(both, new, n_levels).sum(axis=1) if new else [np.nan] * 2
    own = float(expected_losses([tree], parts, n_levels).sum())
    print(
        f"{name:9} seed {seed}  VI {losses[chosen]:.4f} -> {found.loss:.4f}, tree_ {own:.4f}  "
        f"other draws {unseen[0]:.4f} -> {unseen[1]:.4f}  nodes "
        f"{' -> '.join(counts(one) for one in both)}, tree_ {counts(tree)}  {seconds:.1f} s",
        flush=True,
    )
    best = float(losses[chosen])
    return {"data": name, "seed": seed, "draw": best, "search": found.loss, "tree_": own}


def platypus(draws: Draws, tree: Partition) -> None:
    """How often draws have the platypus with the bear, and whether the estimate has."""
    names = load_zoo().names.tolist()
    one, other = names.index("platypus"), names.index("bear")
    for level in ("component", *range(1, draws.n_levels + 1)):
        share = coclustering(draws, level, rows=[one], columns=[other])[0, 0]
        ours = tree.component if level == "component" else tree.nodes_at(level, draws.n_levels)
        is_so = "with" if ours[one] == ours[other] else "without"
        print(f"  {level}: {share:.0%} of draws with the bear; the estimate {is_so} it")


def checks(found: list[dict]) -> list[Check]:
    """The bounds: no worse than the nearest draw on every data set, nearer on half of them.

    Parameters
    ----------
    found : list of dict
        Of `compare`, at least one.
    """
    judged = []
    for key in ("search", "tree_"):
        gains = _gains(found, key)
        nearer = float(np.mean([gain > 0 for gain in gains.values()]))
        no_worse = [0.0] * len(gains)
        judged += [
            Check(f"{key}: VI gained, {' '.join(gains)}", list(gains.values()), no_worse, digits=4),
            Check(f"{key}: share of data sets that gain", [nearer], [0.5]),
        ]
    return judged


def _gains(found: list[dict], key: str) -> dict[str, float]:
    """How much less the VI is than that of the nearest draw: the least of all seeds."""
    gains: dict[str, float] = {}
    for one in found:
        gain = one["draw"] - one[key]
        gains[one["data"]] = min(gain, gains.get(one["data"], np.inf))
    return gains


def run(name: str, seeds: range, settings: dict) -> list[dict]:
    """The lines of one table; none where its file is absent."""
    table = TABLES[name]()
    if table is None:
        print(f"{name}: not measured, because its file is not here", flush=True)
        return []
    found = []
    for seed in seeds:
        model = timed_fit(table[0], seed, settings).model
        found.append(compare(name, model, seed))
        if name == "zoo":
            platypus(model.draws_, tree_partition(model))
    return found


def main(arguments: list[str] | None = None) -> None:
    """Compare the tables named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_common(parser, TABLES)
    parser.set_defaults(seeds=1)
    add_settings(parser)
    options = vars(parser.parse_args(arguments))
    names, seeds, file = take_common(options, TABLES)
    warmup()
    found = [one for name in names for one in run(name, seeds, {"n_levels": 3, **options})]
    judged = checks(found) if found else []
    print(*judged, sep="\n", flush=True)
    write(file, {"fits": found, "checks": [one.as_dict() for one in judged]})


if __name__ == "__main__":
    main()
