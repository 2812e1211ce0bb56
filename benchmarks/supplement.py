"""`make supplement`: the four settings of the paper's supplement, with a tree and a time for each.

    python -m benchmarks.supplement [animals fashion-a fashion-b amazon]

The family is normal-inverse-Wishart, mu0 and Sigma0 the data's mean and covariance. What is shown
is the draw of the highest complete-data log likelihood. Classes are read to describe it, and for
nothing else. Where the supplement leaves something open, a line that starts with "note" says so.
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks import real_data
from bhmc._state import Hyper
from bhmc._threads import one_blas_thread
from bhmc.likelihoods import FullGaussian
from bhmc.recorder import Recorder
from bhmc.sampling import Chain, run, start_state
from bhmc.tree import Tree

# Columns of the paper's tables.
FASHION_COLUMNS, AMAZON_COLUMNS = 22, 190

# A tree of more nodes than this is shown without its nodes of fewer rows than this share.
_MOST_NODES, _SMALLEST_SHARE = 100, 0.04

_N_GROUPS = 8


class Table(NamedTuple):
    """Data, what to call the rows, and what had to be decided about them."""

    X: np.ndarray
    names: Sequence[str] | None
    classes: Sequence[str]
    notes: tuple[str, ...]


class Setting(NamedTuple):
    """One row of the supplement's settings; `sweeps` are those of the warm-up and those kept."""

    hyper: Hyper
    n_levels: int
    lam: float
    nu: float
    sweeps: tuple[int, int]


def animals() -> Table | None:
    """33 animals in 7 principal components."""
    X, names = real_data.animals(), real_data.animal_names()
    if X is None or not names:
        return None
    note = (
        "nu = 10 is impossible for 102 features (it must exceed d - 1): PCA to 7, as in the paper"
    )
    return Table(X, [name for name, _ in names], [label for _, label in names], (note,))


def fashion() -> Table:
    """100 images a class in the paper's number of singular directions."""
    X, classes, above = real_data.fashion()
    note = f"the threshold keeps {above} directions of this sample; the paper's 22 leading are used"
    return Table(np.ascontiguousarray(X[:, :FASHION_COLUMNS]), None, classes, (note,))


def amazon() -> Table | None:
    """2,303 products of another shop, in the paper's number of singular directions."""
    X = real_data.flipkart()
    if X is None:
        return None
    notes = (
        "the paper's Amazon items are not public: products of Flipkart stand in for them",
        f"the threshold keeps {X.shape[1]} directions; the paper's {AMAZON_COLUMNS} leading are "
        "used, for which nu = 209.49 was found",
        "few sweeps, for one takes over half a minute: the chain has not settled",
    )
    X = np.ascontiguousarray(X[:, :AMAZON_COLUMNS])
    return Table(X, None, real_data.flipkart_classes(), notes)


SETTINGS = {
    "animals": (animals, Setting(Hyper(0.3, 1.0, 1.15), 4, 0.1, 10.0, (500, 5_000))),
    "fashion-a": (fashion, Setting(Hyper(0.5, 5.0, 0.05), 4, 0.01, 200.0, (500, 5_000))),
    "fashion-b": (fashion, Setting(Hyper(0.35, 5.0, 1.5), 4, 0.02, 200.0, (500, 5_000))),
    "amazon": (amazon, Setting(Hyper(1.65, 8.755, 0.5), 8, 0.0373, 209.49, (8, 8))),
}


def fit(X: np.ndarray, setting: Setting) -> tuple[Tree, Recorder, float]:
    """(the most likely draw, what was recorded, CPU seconds) of one chain."""
    family = FullGaussian.scaled_to(X, nu=setting.nu, lam=setting.lam).prepare(X)
    rng, recorder = np.random.default_rng(0), Recorder()
    start = time.process_time()
    with one_blas_thread():
        state = start_state(family, n_levels=setting.n_levels, hyper=setting.hyper, rng=rng)
        chain = Chain(state, family, "gibbs", rng)
        n_warmup, n_draws = setting.sweeps
        run(chain, n_warmup=n_warmup, n_draws=n_draws, on_draw=recorder.on_draw)
    assert recorder.best is not None, "a chain keeps at least one draw"
    return Tree.from_state(recorder.best), recorder, time.process_time() - start


def majority(classes: Sequence[str], rows: np.ndarray) -> str:
    """`51 % bird`: the commonest class among the rows."""
    name, count = Counter(classes[row] for row in rows).most_common(1)[0]
    return f"{100 * count / len(rows):.0f} % {name}"


def large_nodes(tree: Tree, classes: Sequence[str]) -> list[str]:
    """The nodes that hold a share of the rows worth a line, indented, chains as one line."""
    children = [np.flatnonzero(tree.parents == node) for node in range(tree.n_nodes)]
    least, lines, stack = _SMALLEST_SHARE * len(tree.paths), [], [(0, 0)]
    while stack:
        node, depth = stack.pop()
        rows = np.flatnonzero(tree.paths[:, tree.levels[node]] == node)
        below = [int(child) for child in children[node] if tree.sizes[child] >= least]
        hidden = len(children[node]) - len(below)
        more = f"; {hidden} smaller below it" if hidden else ""
        if not (len(children[node]) == 1 and below):
            lines.append(
                f"{'  ' * depth}level {tree.levels[node]}: {len(rows)} rows, "
                f"{majority(classes, rows)}{more}"
            )
            depth += 1
        stack += [(child, depth) for child in reversed(below)]
    return lines


def describe(table: Table, tree: Tree, recorder: Recorder, seconds: float) -> list[str]:
    """Everything that is printed about a fit."""
    sizes = np.bincount(tree.components, minlength=tree.n_components)
    k = np.array(recorder.rows)[:, 2]
    groups = [
        f"  c{c}: {sizes[c]} rows, {majority(table.classes, np.flatnonzero(tree.components == c))}"
        for c in range(min(_N_GROUPS, tree.n_components))
    ]
    if tree.n_nodes > _MOST_NODES:
        lines = large_nodes(tree, table.classes)
    else:
        lines = tree.to_text(table.names, max_names=40).splitlines()
    return [
        f"nodes per level: {' '.join(str(n) for n in np.bincount(tree.levels))}",
        f"components: {tree.n_components}, of one row: {int((sizes == 1).sum())}; "
        f"over the draws {k.min():.0f} to {k.max():.0f}, {k.mean():.1f} on average",
        f"{seconds:.1f} s CPU",
        "largest components:",
        *groups,
        "tree:",
        *(f"  {line}" for line in lines),
    ]


def main(names: list[str]) -> None:
    """Run the named settings, all by default."""
    for name in names or list(SETTINGS):
        load, setting = SETTINGS[name]
        table = load()
        if table is None:
            continue
        alpha, gamma0, gamma, _ = setting.hyper
        n, d = table.X.shape
        print(
            f"== {name}: N {n}, d {d}; alpha {alpha}, gamma0 {gamma0}, gamma {gamma}, "
            f"L {setting.n_levels}, lambda {setting.lam}, nu {setting.nu}; "
            f"{setting.sweeps[0]} + {setting.sweeps[1]} sweeps"
        )
        print(*(f"note: {note}" for note in table.notes), sep="\n", flush=True)
        print(*describe(table, *fit(table.X, setting)), sep="\n", flush=True)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
