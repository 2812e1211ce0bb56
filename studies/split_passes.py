"""How many passes rows should have to settle on their sides before a split of components is judged.

    python -m studies.split_passes [ovl32 mix32 wine zoo ...] [--passes 1 5 20]

For every table and number of passes: the share of accepted proposals of "split" and of "branch",
the largest R-hat and the effective draws of the number of components and of their entropy, and CPU
seconds, of two chains of 300 + 600 sweeps at the kappa of a default fit. Tables are those of
`benchmarks.synthetic_trees` (seed 0) and `benchmarks.own_levels`. No label is read.
"""

import argparse
import time
import warnings

from benchmarks.synthetic_trees import SETTINGS, made
from benchmarks.tables import TABLES

from bhmc import BHMC, warmup
from bhmc.model.diffused import atom_splits

DEFAULT = ("ovl32", "mix32", "wine", "zoo")


class Counted:
    """A move that counts its proposals and how many were accepted."""

    def __init__(self, move):
        self._move, self.accepted, self.tries = move, 0, 0

    def __call__(self, chain, numbers, tries: int) -> int:
        """Make the move."""
        accepted = self._move(chain, numbers, tries)
        self.accepted, self.tries = self.accepted + accepted, self.tries + tries
        return accepted


def rows_of(name: str):
    """(X, levels of the tree)."""
    if name in SETTINGS:
        return made(name, 0).data, 3 if name.startswith("mix") else 2
    return TABLES[name]()[0], 3


def measure(name: str, passes: int) -> str:
    """The line of one table and number of passes."""
    X, n_levels = rows_of(name)
    plain = dict(atom_splits._MOVES)
    counted = {key: Counted(move) for key, move in plain.items()}
    atom_splits._MOVES.update(counted)
    atom_splits.PASSES = atom_splits._PASSES_OF_LOGITS = passes
    start = time.process_time()
    model = BHMC(n_levels=n_levels, n_warmup=300, n_draws=600, estimate="map", random_state=1)
    numbers = model.fit(X).diagnostics_.to_frame()
    seconds = time.process_time() - start
    atom_splits._MOVES.update(plain)
    shares = "  ".join(f"{key} {one.accepted / one.tries:.4f}" for key, one in counted.items())
    effective = numbers.ess_bulk[["n_components", "component_entropy"]]
    return (
        f"{name:14} {passes:3} passes  {shares}  "
        f"R-hat {numbers.rhat[~numbers.constant].max():.2f}  "
        f"effective draws {effective.iloc[0]:4.0f} {effective.iloc[1]:4.0f}  {seconds:5.1f} s"
    )


def main() -> None:
    """Print a line for every table and number of passes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", default=DEFAULT, metavar="DATA")
    parser.add_argument("--passes", nargs="+", type=int, default=[1, 5, 20])
    given = parser.parse_args()
    warmup()
    warnings.simplefilter("ignore")
    for name in given.data:
        for passes in given.passes:
            print(measure(name, passes), flush=True)


if __name__ == "__main__":
    main()
