"""`make bench`: every figure is a ratio measured in one run, or a count, or CPU of one process.

    python -m benchmarks.bench [name ...]     cold, sweeps, nodes, float32, memory, ...

A sweep is timed as likelihood tiles + loop over the data + sufficient statistics; the global update
(tables and weights) is reported apart. `bare` is X @ mu.T, exp and F @ B.T of the same shapes.
"""

import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import real_data
from benchmarks.chains import chain_of
from benchmarks.states import LIKELIHOOD, Shape, make
from benchmarks.timing import (
    ROOT,
    Bare,
    Figure,
    Sweeps,
    cpu_of,
    in_fresh_process,
    ratio,
    report,
    take_turns,
)
from bhmc._sampling.run import run
from bhmc.likelihoods import SharedGaussian
from bhmc.model.diffused.setting import Diffused
from bhmc.model.hdp.moves import SWEEPS_PER_DISHES, sweeps_per_splits
from bhmc.model.hdp.setting import Hdp
from bhmc.model.state import Hyper
from bhmc.posterior.recorder import Recorder
from bhmc.rows.local import LocalRows

# Bounds of sweep and loop against bare, and how often each is repeated.
SHAPES = {
    Shape(2_303, 190, 40, 80): (1.5, None, 100),
    Shape(10_000, 16, 30, 60): (1.8, None, 60),
    Shape(100_000, 32, 50, 100): (1.0, None, 12),
    Shape(1_000_000, 32, 50, 100): (1.0, 0.45, 5),
    Shape(1_000_000, 64, 100, 300): (0.5, None, 3),
}
# Bounds of whole sweeps of "blocked" against bare, and turns; in so many sweeps all moves are due.
BLOCKED = {Shape(100_000, 32, 50, 100): (0.35, 5), Shape(1_000_000, 32, 50, 100): (0.3, 2)}
SWEEPS_OF_BLOCKED = 128
GLOBAL_SHARE = 0.25
MOVES_SHARE = 0.3
MOVES = {"none": (), "relocate": ("relocate",), "regraft": ("regraft",), "all moves": "auto"}
DIFFUSED = 1.2
COLD_REPEATS = 3


def sweeps() -> list[Figure]:
    """Sweep against bare at every shape; births and deaths must have happened."""
    figures = []
    for shape, bounds_and_repeats in SHAPES.items():
        figures += _sweep_figures(str(shape), *make(shape), LIKELIHOOD, *bounds_and_repeats)
    return figures


def _sweep_figures(name, state, X, likelihood, bound, loop_bound, repeats) -> list[Figure]:
    sweep = Sweeps(state, likelihood.prepare(X))
    works = {"bare": Bare(state, X), "sweep": sweep, "reused": Bare(state, X, reused=True)}
    seconds = take_turns(works, repeats)
    bare_seconds = seconds["bare"]
    data, loop, weights = (np.array(t[1:]) for t in (sweep.data, sweep.loop, sweep.weights))
    events = np.mean(sweep.events[1:], axis=0)
    # The finite form has no births of components; elsewhere both kinds must be seen.
    finite = state.hyper.n_components is not None
    born, died = (events[0], events[1]) if finite else (min(events[[0, 2]]), min(events[[1, 3]]))
    if not (born > 0 and died > 0):
        raise SystemExit(f"{name}: no births or no deaths happened; the figure would mean nothing.")
    return [
        Figure(f"{name} sweep / bare", ratio(data, bare_seconds), "x", bound),
        Figure(f"{name} loop / bare", ratio(loop, bare_seconds), "x", loop_bound),
        Figure(f"{name} sweep / bare in reused memory", ratio(data, seconds["reused"]), "x"),
        Figure(f"{name} global update / sweep", ratio(weights, data), "x", GLOBAL_SHARE),
        Figure(f"{name} nodes born and died a sweep", events[0] + events[1], ""),
        Figure(f"{name} components born and died a sweep", events[2] + events[3], ""),
        Figure(f"{name} nodes at the end", sweep.chain.n_nodes, ""),
        Figure(f"{name} components at the end", sweep.chain.n_components, ""),
    ]


def nodes() -> list[Figure]:
    """What a datum costs the loop in a tree of 1,000 nodes against one of 100."""
    few, many = (
        Sweeps(state, LIKELIHOOD.prepare(X))
        for state, X in (make(Shape(100_000, 32, 50, n)) for n in (100, 1_000))
    )
    take_turns({"few": few, "many": many}, 8)
    value = ratio(np.array(many.loop[1:]), np.array(few.loop[1:]))
    return [Figure("loop at 1,000 nodes / at 100 nodes", value, "x", 1.5)]


def moves() -> list[Figure]:
    """What block moves add to a sweep at 100,000 rows, on average over the sweeps they take."""
    state, X = make(Shape(100_000, 32, 50, 100))
    family, works = LIKELIHOOD.prepare(X), {}
    for name, moves in MOVES.items():
        chain = chain_of(state, family, "gibbs", np.random.default_rng(1), moves=moves)
        works[name] = partial(_some_sweeps, chain)
    seconds = take_turns(works, 3)
    bounds = {"all moves": MOVES_SHARE}
    return [
        Figure(f"{name} / sweep", ratio(took, seconds["none"]) - 1.0, "x", bounds.get(name))
        for name, took in seconds.items()
        if name != "none"
    ]


def blocked() -> list[Figure]:
    """Whole sweeps of the sampler "blocked", all moves among them, against bare; on one thread and
    what two threads gain beside what bare gains.
    """
    figures = []
    for shape, (bound, repeats) in BLOCKED.items():
        state, X = make(shape)
        family = LIKELIHOOD.prepare(X)
        one, two = (blocked_chain(state, family, n_threads) for n_threads in (1, 2))
        on_one = {"blocked": partial(_some_sweeps, one, SWEEPS_OF_BLOCKED)}
        on_one |= {"bare": Bare(state, X), "reused": Bare(state, X, reused=True)}
        cpu = take_turns(on_one, repeats)
        on_two = {"blocked": on_one["blocked"], "bare": on_one["reused"]}
        on_two |= {"blocked on two": partial(_some_sweeps, two, SWEEPS_OF_BLOCKED)}
        on_two |= {"bare on two": bare_on_two(state, X)}
        walls = take_turns(on_two, repeats, time.perf_counter)
        sweep = cpu["blocked"] / SWEEPS_OF_BLOCKED
        gained, of_bare = (
            ratio(walls[name], walls[f"{name} on two"]) for name in ("blocked", "bare")
        )
        figures += [
            Figure(f"{shape} blocked / bare", ratio(sweep, cpu["bare"]), "x", bound),
            Figure(f"{shape} blocked / bare in reused memory", ratio(sweep, cpu["reused"]), "x"),
            Figure(f"{shape} bare's speed-up on two threads", of_bare, "x"),
            Figure(f"{shape} blocked's speed-up on two threads", gained, "x"),
            Figure(f"{shape} bare's speed-up / blocked's", of_bare / gained, "x", 1 / 0.9),
            Figure(f"{shape} components at the end", one.n_components, ""),
            Figure(f"{shape} nodes at the end", one.n_nodes, ""),
        ]
    return figures


def blocked_chain(state, family, n_threads: int):
    """A chain of the hdp transition with all moves, whose rows redraw at once."""
    rows = LocalRows(family, n_threads=n_threads)
    transition = Hdp(moves="auto").bind(state.hyper)
    return transition.sampler(state, rows, "blocked", np.random.default_rng(1))


def bare_on_two(state, X):
    """The arithmetic of bare, half of the rows on each of two threads."""
    halves = [Bare(state, half, reused=True) for half in np.array_split(X, 2)]
    pool = ThreadPoolExecutor(2)

    def work() -> None:
        list(pool.map(lambda half: half(), halves))

    return work


def _some_sweeps(chain, n: int = 0) -> None:
    every = n or math.lcm(SWEEPS_PER_DISHES, sweeps_per_splits(chain.rows.n_rows))
    for _ in range(every):  # one of them has all moves
        chain.sweep()


def diffused() -> list[Figure]:
    """A sweep of transition="diffused" against one of "hdp": same rows, same components.

    All moves, on average over as many sweeps as they take. Once where the means of components are
    independent, so that the diffused tree has few nodes, and once where they are a hierarchy.
    """
    figures = []
    for name, steps in (("no hierarchy", (0.0, 0.0, 1.0)), ("a hierarchy", (3.0, 2.0, 1.0))):
        chains = _chains_of_both(*steps)
        works = {key: partial(_some_sweeps, chain) for key, chain in chains.items()}
        seconds = take_turns(works, 3)
        value = ratio(seconds["diffused"], seconds["hdp"])
        title = f"1e5 x 32, 50 components, {name}: sweep of diffused / hdp"
        figures.append(Figure(title, value, "x", DIFFUSED))
        for key, chain in chains.items():
            size = f"{name}: nodes of {key}, {chain.n_components} components"
            figures.append(Figure(size, chain.n_nodes, ""))
    return figures


def _chains_of_both(*steps: float) -> dict:
    """A chain of either transition that starts at 5, 10 and 50 groups; how far each level steps."""
    rng, shape = np.random.default_rng(0), Shape(100_000, 32, 50, 66)
    component = rng.integers(shape.k, size=shape.n)
    labels = np.column_stack([component // 10, component // 5, component])
    X = rng.standard_normal((shape.n, shape.d))
    for group, step in zip(labels.T, steps, strict=True):
        X += step * rng.standard_normal((shape.k, shape.d))[group]
    chains = {}
    for transition in (Hdp().bind(Hyper(0.2, 1.0, 1.0)), Diffused().bind(Hyper(0.2, 1.0, 0.2))):
        rows, rng = LocalRows(SharedGaussian.scaled_to(X).prepare(X)), np.random.default_rng(1)
        rows.turn_to(rows.family.start_shared())
        state = transition.start(rows, labels, n_levels=3, rng=rng)
        chains[transition.name] = transition.sampler(state, rows, "gibbs", rng)
    return chains


def float32() -> list[Figure]:
    """What a sweep with tiles in single precision takes against one in double."""
    figures = []
    for shape in (Shape(2_303, 190, 40, 80), Shape(100_000, 32, 50, 100)):
        state, X = make(shape)
        family, types = LIKELIHOOD.prepare(X), ("float64", "float32")
        double, single = (Sweeps(state, family, dtype) for dtype in types)
        take_turns({"double": double, "single": single}, SHAPES[shape][-1])
        value = ratio(np.array(single.data[1:]), np.array(double.data[1:]))
        figures.append(Figure(f"{shape} float32 / float64 tiles", value, "x"))
    return figures


def memory() -> list[Figure]:
    """Peak memory of a chain and of a fit beyond what the process held with the data in it."""
    figures = []
    for what in ("chain", "fit"):
        value = in_fresh_process("benchmarks.peak_memory", what)["megabytes"]
        figures.append(Figure(f"peak of a {what} beyond 1e6 x 64 data", value, "MB", 100.0))
    value = in_fresh_process("benchmarks.peak_memory", "summary")["megabytes"]
    figures.append(Figure("peak of 2 x 200 draws, 1e5 rows, keep='summary'", value, "MB", 200.0))
    return figures


def cold() -> list[Figure]:
    """CPU of the first fit ever and of the first in a second process, imports apart."""
    firsts, seconds = [], []
    for _ in range(COLD_REPEATS):  # the least of several: the machine may be busy with others
        with TemporaryDirectory() as folder:
            firsts.append(in_fresh_process("benchmarks.cold_start", NUMBA_CACHE_DIR=folder))
            seconds.append(in_fresh_process("benchmarks.cold_start", NUMBA_CACHE_DIR=folder))
    first = min(run["fit"] for run in firsts)
    beyond, imports = (min(run[name] for run in seconds) for name in ("beyond", "imports"))
    return [
        Figure("first fit ever, Zoo", first, "s CPU", 12.0),
        Figure("first fit ever / imports of numpy, scipy, ...", first / imports, "x"),
        Figure("second process, beyond imports, Zoo", beyond, "s CPU", 1.5),
        Figure("imports of numpy, scipy, scikit-learn, numba", imports, "s CPU"),
    ]


def animals() -> list[Figure]:
    """The paper's run on Animals, compiled code warm."""
    X = real_data.animals()
    if X is None:
        return []
    state, family = real_data.animals_start(X)

    def paper():
        chain = chain_of(state, family, "gibbs", np.random.default_rng(0))
        run(chain, n_warmup=500, n_draws=5_000, on_draw=Recorder().on_draw)

    paper()
    seconds = min(cpu_of(paper) for _ in range(3))
    return [Figure("Animals, 5,500 sweeps", seconds, "s CPU", 2.0)]


def flipkart() -> list[Figure]:
    """One sweep of 2,303 products at 40 components."""
    X = real_data.flipkart()
    if X is None:
        return []
    state, likelihood = real_data.flipkart_state(X)
    name = f"Flipkart {X.shape[0]} x {X.shape[1]}, K {state.n_components}"
    return _sweep_figures(name, state, X, likelihood, 1.5, None, 60)


ALL_PARTS = (cold, sweeps, nodes, moves, diffused, blocked, float32, memory, animals, flipkart)
PARTS = {part.__name__: part for part in ALL_PARTS}


def main(names: list[str]) -> int:
    """Measure the named parts, all by default; returns the exit code."""
    figures = []
    for name in names or list(PARTS):
        figures += PARTS[name]()
    return int(report(figures, ROOT / "build" / "bench.json") > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
