"""What the diffusion tree costs and finds: `python -m benchmarks.rivals_pydt`, some three minutes.

CPU seconds on one core, compiling left out; ratios are measured in one run. The tables go to
build/rivals-pydt.json. The hierarchy is ours: 4 x 3 x 3 groups, two Gaussians a group.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.timing import Figure, cpu_of, report
from bhmc.baselines import PYDT, Ward
from bhmc.baselines.pydt import kernels
from bhmc.baselines.pydt.chain import DiffusionChain, RatePriors
from bhmc.baselines.pydt.state import Rates
from bhmc.metrics import dendrogram_purity
from tests.baselines import pydt_reference as reference

ROWS, DIMENSIONS = 500, 16
MOVES = 10_000


def hierarchy(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) rows, and (n, 3) their groups on three levels, coarse to fine."""
    rng = np.random.default_rng(seed)
    centres = np.zeros((1, d))
    for branches, scale in ((4, 1.5), (3, 1.0), (3, 0.7), (2, 0.7)):
        centres = np.repeat(centres, branches, axis=0)
        centres = centres + rng.normal(0, scale, centres.shape)
    gaussian = rng.integers(len(centres), size=n)
    X = centres[gaussian] + rng.normal(0, 0.5, (n, d))
    return X, np.stack([gaussian // 18, gaussian // 6, gaussian // 2], axis=1)


def start(X: np.ndarray, sampler: str, engine=kernels) -> DiffusionChain:
    """A chain at the first tree that the kernels find, rates fixed."""
    rows = X - X.mean(axis=0)
    v = float(rows.var(axis=0).mean())
    rates = Rates(0.1, 0.3, 1.0, v, v / 50)
    first = DiffusionChain(rows, rates, RatePriors(), sampler, np.random.default_rng(1))
    first.start()
    chain = DiffusionChain(rows, rates, RatePriors(), sampler, np.random.default_rng(2), engine)
    chain.start_from(first.tree)
    return chain


def speed(X: np.ndarray) -> list[Figure]:
    """Moves of the kernels against moves of the slow twin."""
    figures = []
    for sampler, few, many in (("slice", 1, 500), ("mh", 5, 20_000)):
        fast, slow = start(X, sampler), start(X, sampler, reference)
        fast.move(10)
        one = cpu_of(lambda fast=fast, many=many: fast.move(many)) / many
        twin = cpu_of(lambda slow=slow, few=few: slow.move(few)) / few
        figures.append(Figure(f"{sampler}: a turn", 1e3 * one, "ms"))
        figures.append(Figure(f"{sampler}: a turn, of the twin's", one / twin, "ratio", 1 / 20))
    return figures


def large() -> list[Figure]:
    """A turn where the paper's largest table is."""
    X, _ = hierarchy(2303, 190)
    chain = start(X, "slice")
    one = cpu_of(lambda: chain.move(300)) / 300
    return [Figure("slice: a turn, 2,303 rows of 190", 1e3 * one, "ms")]


def settling(X: np.ndarray) -> list[Figure]:
    """CPU seconds until log p(X, tree, rates) stays within 1 % of where it ends."""
    PYDT(n_warmup=0, n_draws=1, random_state=0).fit(X[:20])
    model = PYDT(n_warmup=0, n_draws=160, random_state=0)
    seconds = cpu_of(lambda: model.fit(X))
    plateau = model.log_joint_[-40:].mean()
    outside = np.flatnonzero(np.abs(model.log_joint_ - plateau) > 0.01 * abs(plateau))
    settled = outside[-1] + 1 if len(outside) else 0
    return [
        Figure("slice: 160 draws", seconds, "s"),
        Figure("slice: settled after", float(seconds * settled / 160), "s", 60.0),
        Figure("slice: plateau of the log joint", float(plateau), ""),
    ]


def purity(X: np.ndarray, groups: np.ndarray) -> list[Figure]:
    """Dendrogram purity on the three levels, of 10,000 turns of either sampler and of Ward."""
    rivals = {
        "slice, 10,000 turns": PYDT(n_warmup=0, n_draws=MOVES // ROWS, random_state=0),
        "slice, 80 draws": PYDT(n_warmup=60, n_draws=20, random_state=0),
        "slice, no noise": PYDT(n_warmup=0, n_draws=MOVES // ROWS, noise=0, random_state=0),
        "slice, alpha = theta = noise = 0": PYDT(
            n_warmup=0, n_draws=MOVES // ROWS, alpha=0, theta=0, noise=0, random_state=0
        ),
        "mh, 10,000 turns": PYDT(sampler="mh", n_warmup=0, n_draws=MOVES // ROWS, random_state=0),
        "mh, 1,000,000 turns": PYDT(
            sampler="mh", n_warmup=0, n_draws=20, moves_per_draw=50_000, random_state=0
        ),
        "Ward": Ward(),
    }
    figures = []
    for name, model in rivals.items():
        seconds = cpu_of(lambda model=model: model.fit(X))
        figures.append(Figure(f"{name}: time", seconds, "s"))
        for level in range(3):
            value = dendrogram_purity(model.tree_, groups[:, level])
            figures.append(Figure(f"{name}: purity, level {level + 1}", value, ""))
    return figures


def main() -> int:
    """Measure and print; the number of bounds that are broken."""
    X, groups = hierarchy(ROWS, DIMENSIONS)
    figures = [*settling(X), *purity(X, groups), *speed(X), *large()]
    return report(figures, Path("build") / "rivals-pydt.json")


if __name__ == "__main__":
    sys.exit(main())
