"""The kernels of the diffused transition weigh what its slow twin weighs."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bhmc.model.diffused import kernels, reference, simulate
from bhmc.model.diffused.atom_splits import PASSES
from bhmc.model.diffused.forest import Forest, new_forest, planted
from bhmc.model.diffused.locations import draw_locations
from bhmc.model.diffused.row_numbers import row_numbers, split_room
from bhmc.model.diffused.row_stage import RowStage, Tables
from bhmc.model.state import Partition
from tests.exact.diffused import SETTINGS
from tests.mutants.diffused_parts import plain

PLAIN = plain()
ALPHA, G = 0.7, 1.6
# (depth, coordinates, whether each has a precision of its own)
SHAPES = [(0, 1, False), (1, 1, True), (2, 2, False), (2, 3, True), (3, 1, False), (3, 2, True)]


def forest_of(seed: int, depth: int, d: int, own: bool, n: int = 9) -> Forest:
    """A random tree with random evidence; where `own`, some of it is missing."""
    rng = np.random.default_rng(seed)
    paths, parents = simulate._nested_restaurants(n, depth, 1.3, rng)
    component, _ = simulate._atoms(paths[:, -1], 1.5, rng)
    order = np.argsort(simulate._levels(parents), kind="stable")
    number = np.argsort(order)
    parents = np.where(parents[order] < 0, -1, number[parents[order]])
    column, repeats = (np.arange(d), np.ones(d)) if own else (np.zeros(d, int), np.array([d * 1.0]))
    leaf = number[paths[:, -1]].astype(np.int32)
    forest = planted(
        Partition(leaf, component, parents.astype(np.int32)), depth, column, repeats, 9
    )
    k = forest.used[1]
    forest.precision[:k] = forest.count[:k, None] * rng.uniform(0.2, 1.5, (k, len(repeats)))
    forest.linear[:k] = rng.normal(size=(k, d)) * 2 * forest.count[:k, None]
    if own:
        forest.precision[:k][rng.random((k, d)) < 0.25] = 0.0
        forest.linear[:k][forest.precision[:k] == 0] = 0.0
    forest.variance[:] = np.sort(rng.uniform(0.2, 3.0, forest.variance.shape), axis=0)[::-1]
    forest.origin[:] = rng.normal(size=d)
    forest.location[:], forest.theta[:] = (
        rng.normal(size=a.shape) for a in (forest.location, forest.theta)
    )
    return forest


def forests(n_seeds: int = 4) -> list[Forest]:
    """Of all shapes; among them some whose only atom is all there is."""
    return [forest_of(seed, *shape) for shape in SHAPES for seed in range(n_seeds)] + [
        forest_of(seed, 2, 2, own, n=1) for seed, own in enumerate((False, True))
    ]


def in_two_blocks(seed: int) -> Forest:
    """Three coordinates, two of which have one precision; and a slot that no atom has any more."""
    forest = forest_of(seed, 1 + seed % 3, 3, False)
    column, repeats = np.array([0, 0, 1]), np.array([2.0, 1.0])
    split = new_forest(len(forest.level), len(forest.leaf), forest.depth, column, repeats, 9)
    rng = np.random.default_rng(seed)
    for name in ("parent", "level", "rows", "leaf", "count", "linear", "origin", "used"):
        getattr(split, name)[:] = getattr(forest, name)
    split.precision[:] = forest.precision * rng.uniform(0.5, 2.0, 2)
    split.variance[:] = forest.variance * rng.uniform(0.5, 2.0, 2)
    several = np.flatnonzero(np.bincount(split.leaf[split.leaf >= 0])[split.leaf] > 1)
    split.leaf[several[:1]] = -1
    return split


def apart(found, exact) -> float:
    """How far two lists of log weights are from being equal up to one constant."""
    difference = np.array(found) - np.array(exact)
    return float(np.ptp(difference) / max(1.0, np.ptp(exact)))


def settled(forest: Forest) -> Forest:
    """With all messages and beliefs, from the compiled kernels."""
    kernels.collect(forest)
    kernels.find_beliefs(forest)
    return forest


# ---- The twin itself ---------------------------------------------------------------------------


def test_the_integral_of_evidence_is_a_normal_density():
    """exp(-p theta^2 / 2 + h theta) is N(h / p; theta, 1 / p) times a number."""
    for forest in (forest_of(seed, depth, 1, False) for seed in range(3) for depth in range(3)):
        k = reference._atoms(forest)
        p, h = forest.precision[k, 0], forest.linear[k, 0]
        C = reference._covariance(forest, k, k, 0) + np.diag(1 / p)
        log_p = stats.multivariate_normal(np.full(len(k), forest.origin[0]), C).logpdf(h / p)
        constant = 0.5 * (h**2 / p - np.log(p / (2 * np.pi))).sum()
        np.testing.assert_allclose(reference.log_evidence(forest), log_p + constant, rtol=1e-12)


def test_probabilities_of_all_partitions_add_up_to_one():
    """Of four rows in a tree of one level, by the twin's seating."""
    parts = [p for p in product(range(4), repeat=4) if _is_canonical(p)]
    total = 0.0
    for nodes in parts:
        sizes = np.bincount(nodes)
        below = [
            sum(np.exp(reference.log_seating(np.bincount(p), G)) for p in parts_of(size))
            for size in sizes
        ]
        total += np.exp(reference.log_seating(sizes, ALPHA)) * np.prod(below)
    assert total == pytest.approx(1.0, rel=1e-12)


def parts_of(n: int) -> list[tuple[int, ...]]:
    return [p for p in product(range(n), repeat=n) if _is_canonical(p)]


def _is_canonical(labels) -> bool:
    """Labels appear in the order 0, 1, ..."""
    return all(label <= max(labels[:i], default=-1) + 1 for i, label in enumerate(labels))


# ---- Messages, beliefs, draws of locations -----------------------------------------------------


def test_messages():
    for forest in forests():
        settled(forest)
        for z, d in product(reference._nodes(forest), range(len(forest.column))):
            p, h = reference.message(forest, z, d)
            assert forest.up_precision[z, forest.column[d]] == pytest.approx(p, rel=1e-9)
            assert forest.up_linear[z, d] == pytest.approx(h, rel=1e-9)


def test_beliefs():
    for forest in forests():
        settled(forest)
        nodes = reference._nodes(forest)
        for d in range(len(forest.column)):
            mean, covariance = reference.posterior(forest, d)
            m = len(nodes)
            np.testing.assert_allclose(forest.mean[nodes, d], mean[:m], rtol=1e-9)
            spread = forest.spread[nodes, forest.column[d]]
            np.testing.assert_allclose(spread, np.diag(covariance)[:m], rtol=1e-9)


class _Fixed:
    """Standard normal numbers that are all 0 but one."""

    def __init__(self, place: int = -1):
        self._left = place

    def standard_normal(self, size):
        out = np.zeros(np.prod(size))
        if 0 <= self._left < len(out):
            out[self._left] = 1.0
        self._left -= len(out)
        return out.reshape(size)


def test_locations_and_theta_have_the_posterior_law():
    """Draws are linear in their random numbers: the rows of that map give the covariance."""
    for depth, seed in product(range(4), range(3)):
        forest = settled(forest_of(seed, depth, 1, seed == 1))
        nodes, atoms = reference._nodes(forest), reference._atoms(forest)

        def drawn(place, forest=forest, nodes=nodes, atoms=atoms):
            draw_locations(forest, _Fixed(place))
            return np.concatenate([forest.location[nodes, 0], forest.theta[atoms, 0]])

        mean, covariance = reference.posterior(forest, 0)
        centre = drawn(-1)
        turn = np.array([drawn(i) - centre for i in range(len(nodes) + len(atoms))])
        np.testing.assert_allclose(centre, mean, rtol=1e-9)
        np.testing.assert_allclose(turn.T @ turn, covariance, rtol=1e-8, atol=1e-10)


def test_a_bridge_has_the_law_of_a_walk_whose_end_is_known(monkeypatch):
    v, start, end = np.array([1.5, 0.4, 0.9, 0.2]), 0.7, -1.1
    total, inside = np.cumsum(v), slice(0, 3)
    C = np.minimum.outer(total, total)
    pull = C[inside, 3] / C[3, 3]

    def bridge(place=-1):
        forest = new_forest(4, 1, 3, np.zeros(1, int), np.ones(1), 1)
        forest.variance[1:, 0], forest.location[0], forest.theta[0] = v, start, end
        numbers, z = iter(np.arange(3) == place), 0
        monkeypatch.setattr(PLAIN, "normal_draw", lambda rng: float(next(numbers)))
        for _ in range(3):
            z = PLAIN.draw_node(forest, z, 0, None)
        return forest.location[1:, 0]

    centre = bridge()
    turn = np.array([bridge(i) - centre for i in range(3)])
    np.testing.assert_allclose(centre, start + pull * (end - start), rtol=1e-12)
    exact = C[inside, inside] - np.outer(pull, pull) * C[3, 3]
    np.testing.assert_allclose(turn.T @ turn, exact, rtol=1e-12, atol=1e-15)


# ---- Weights -----------------------------------------------------------------------------------


def of_atoms(engine, n_seeds: int = 4) -> float:
    """How far the weights of leaves of atoms are from the collapsed joint."""
    found = []
    for forest in forests(n_seeds):
        for k in reference._atoms(forest):
            one = settled(reference._copy(forest))
            engine.take_atom(one, k)
            one.leaf[k] = -1
            engine.find_beliefs(one)
            engine.weigh_atom(one, k, ALPHA, G)
            exact = reference.atom_places(forest, k, ALPHA, G)
            assert set(np.flatnonzero(one.weight[: one.used[0]] > -np.inf)) == set(exact)
            found.append(apart([one.weight[z] for z in exact], list(exact.values())))
    return max(found)


def of_subtrees(engine, n_seeds: int = 4) -> float:
    """The same of the places of subtrees."""
    found, tried = [], 0
    for forest in forests(n_seeds):
        for z in np.flatnonzero(forest.level > 1):
            one = settled(reference._copy(forest))
            engine.take_subtree(one, z)
            engine.find_beliefs_to(one, one.level[z] - 1)
            engine.weigh_subtree(one, z, ALPHA, G)
            exact = reference.subtree_places(forest, z, ALPHA, G)
            others = np.setdiff1d(np.arange(one.used[0]), list(exact))
            assert (one.weight[others] == -np.inf).all()
            found.append(apart([one.weight[y] for y in exact], list(exact.values())))
            tried += len(exact) > 1
    assert tried > 5
    return max(found)


def of_nodes(engine, n_seeds: int = 4) -> float:
    """The same of ratios of nodes that split, over all sides of their items."""
    found = []
    for forest in map(settled, forests(n_seeds)):
        for z in np.flatnonzero(forest.level > 0):
            of_atoms = bool(forest.level[z] == forest.depth)
            items = (reference._atoms_of if of_atoms else reference._children)(forest, z)
            for sides in product((0, 1), repeat=len(items)):
                if 0 < sum(sides) < len(items):
                    leave = items[np.array(sides) == 1]
                    exact = reference.log_split_of_node(forest, z, leave, ALPHA, G)
                    found.append(abs(_log_ratio_of_node(engine, forest, z, items, sides) - exact))
    assert len(found) > 10
    return max(found)


def _log_ratio_of_node(engine, forest, z, items, sides) -> float:
    leaf, n = bool(forest.level[z] == forest.depth), len(items)
    below = ("precision", "linear") if leaf else ("up_precision", "up_linear")
    engine.find_cavity(forest, z, z)
    forest.lists[0, :n], forest.lists[1, :n] = items, sides
    evidence = (getattr(forest, name) for name in below)
    conc = G if leaf else ALPHA
    return engine.log_ratio(forest, *evidence, n, int(forest.level[z]), ALPHA, conc, leaf)


def of_steps(engine, n_seeds: int = 4) -> float:
    """How far the integral of all evidence is from the twin's, at the variances and at others."""
    found = []
    for forest in [*forests(n_seeds), *(in_two_blocks(seed) for seed in range(n_seeds))]:
        for level, times in product(range(len(forest.variance)), (1.0, 0.1, 7.0)):
            one = reference._copy(forest)
            one.variance[level, -1] *= times
            exact = reference.log_evidence(one)
            found.append(abs(engine.log_evidence(one) - exact) / max(1.0, abs(exact)))
    return max(found)


def of_rows(engine, n_seeds: int = 4) -> float:
    """The same of the options of rows, and of weights that follow rows to other atoms."""
    settings = ("known", "diagonal holes", "spherical", "loose", "deep")
    apart_in = [of_options(engine, name, seed) for name in settings for seed in range(n_seeds)]
    return max(*apart_in, of_moved_rows(engine, n_seeds))


def opened(name: str, seed: int):
    """A chain before a pass over its rows, and the tables of its only tile."""
    setting, rng = SETTINGS[name], np.random.default_rng(seed)
    chain = setting.chain(*setting.prior_draw(rng), "gibbs", rng)
    stage = RowStage(chain)
    tables = [stage._tables(n_rows, stage._numbers()) for n_rows in chain.rows.tiles()]
    return chain, tables[0]


def weighed(engine, chain, tables, row):
    """(forest whose options of a row have their weights, its own atom or -1, exact log weights).

    The row is counted in its atom; where it is alone there it is taken out.
    """
    k, (u, seen), rates = int(chain.rows.component[row]), _rows_of(chain), chain.rates
    without, one, own = reference._copy(chain.forest), reference._copy(chain.forest), k
    PLAIN.take_row(without, k, *rates)
    if one.count[k] == 1:
        one, own = reference._copy(without), -1
    engine.find_priors(one, *rates)
    total = engine.weigh_options(one, tables, row, own)
    exact = reference.row_options(without, u[row], seen[row], *rates)
    found = one.option[list(exact[0])].sum() + one.opening[list(exact[1])].sum()
    assert one.option.sum() + one.opening.sum() == pytest.approx(total) == found
    return one, own, exact


def of_options(engine, name: str, seed: int) -> float:
    """Weights with the row counted, times what is left of them without it."""
    chain, tables = opened(name, seed)
    found = []
    for row in range(min(4, chain.rows.n_rows)):
        one, own, (atoms, nodes) = weighed(engine, chain, tables, row)
        at = [*((one.leaf[k], k == own) for k in atoms), *((z, False) for z in nodes)]
        left = [1.0 if own < 0 else engine.left_without(one, own, *place) for place in at]
        assert max(left) <= 1.0
        weights = np.append(one.option[list(atoms)], one.opening[list(nodes)]) * left
        found.append(apart(np.log(weights), [*atoms.values(), *nodes.values()]))
    return max(found)


def of_moved_rows(engine, n_seeds: int) -> float:
    """Weights after a row has gone to another atom are those that are found anew."""
    found = []
    for forest in forests(n_seeds):
        for old, new in product(reference._atoms(forest), repeat=2):
            if old == new or forest.count[old] < 2:
                continue
            one = reference._copy(forest)
            engine.find_priors(one, ALPHA, G)
            engine.move_row(one, old, new, ALPHA, G)
            again = reference._copy(one)
            engine.find_priors(again, ALPHA, G)
            for name in ("atom_prior", "node_prior", "losses"):
                found.append(np.abs(getattr(one, name) - getattr(again, name)).max())
    assert len(found) > 20
    return max(found)


def of_row_draws(engine, n_seeds: int = 4) -> float:
    """How far options are from being drawn as often as they must; 0 below five standard errors."""
    found, rng, n = [], np.random.default_rng(8), 2_000
    for name, seed in product(("loose", "three"), range(3)):
        chain, tables = opened(name, seed)
        one, own, (atoms, nodes) = weighed(engine, chain, tables, 0)
        drawn = np.array([engine.draw_option(one, tables, 0, own, rng) for _ in range(n)])
        log_w = np.array([*atoms.values(), *nodes.values()])
        p = np.exp(log_w - np.logaddexp.reduce(log_w))
        options = [*atoms, *(len(one.leaf) + z for z in nodes)]
        share = np.array([(drawn == option).mean() for option in options])
        assert share.sum() == pytest.approx(1.0)
        far = np.abs(share - p)
        found.append(far[far > 5 * np.sqrt((p * (1 - p) + 1 / n) / n)].sum())
    return max(found)


LARGEST_DIFFERENCE = {
    "atom": of_atoms,
    "subtree": of_subtrees,
    "regroup": of_nodes,
    "steps": of_steps,
    "rows": of_rows,
    "draws of rows": of_row_draws,
}


@pytest.mark.parametrize("move", LARGEST_DIFFERENCE)
def test_weights_of_moves(move):
    assert LARGEST_DIFFERENCE[move](PLAIN) < 1e-9


def test_compiled_evidence():
    assert of_steps(kernels) < 1e-9


def test_evidence_down_to_a_level_changes_as_all_evidence():
    """Where no variance below the level changes."""
    for forest in [*forests(), *(in_two_blocks(seed) for seed in range(4))]:
        for level in range(1, len(forest.variance)):
            one = settled(reference._copy(forest))
            before = PLAIN.log_evidence_to(one, level), reference.log_evidence(one)
            one.variance[level, -1] *= 3.0
            after = PLAIN.log_evidence_to(one, level), reference.log_evidence(one)
            changes = np.subtract(after, before)
            assert changes[0] == pytest.approx(changes[1], rel=1e-9, abs=1e-9)


def test_a_merge_finds_the_probability_of_the_split_that_undoes_it():
    """Over all sides that a split may draw, the probabilities add up to 1."""
    tried = 0
    for forest in forests():
        settled(forest)
        for z in np.flatnonzero(forest.level == forest.depth):
            items = reference._atoms_of(forest, z)
            if len(items) < 3 or forest.depth == 0:
                continue
            total = 0.0
            for sides in product((0, 1), repeat=len(items) - 2):
                merged = settled(reference._copy(forest, 1))
                split = reference._copy(merged)
                y = reference._chain_below(split, int(split.parent[z]), split.depth)
                split.leaf[items[1]] = y
                split.leaf[items[2:][np.array(sides) == 1]] = y
                split.used[0] = len(split.level)
                settled(split)
                total += np.exp(_log_q(split, items[0], items[1], z, y))
            assert total == pytest.approx(1.0, rel=1e-9)
            tried += 1
    assert tried > 4


def _log_q(forest, a, b, first, second) -> float:
    """log of the probability that first and second would come from a split."""
    PLAIN.find_cavity(forest, first, second)
    n = PLAIN.list_items(forest, first, second, True)
    return PLAIN.draw_sides(
        forest, forest.precision, forest.linear, a, b, n, forest.depth, True, second, True, None
    )


def test_options_of_rows_in_a_unit_that_is_too_small():
    """A row whose own atom is far away; an atom that is gone would be nearer still."""
    one = forest_of(0, 2, 1, False)
    n_atoms, n_nodes, gone = int(one.used[1]), int(one.used[0]), int(one.used[1]) - 1
    one.leaf[gone], one.used[1] = -1, n_atoms
    log_f = -np.arange(n_atoms, dtype=float)[None]
    log_f[0, 0], log_f[0, gone] = -5e3, 5e3
    empty = np.empty((1, 0))
    tables = Tables(log_f, np.full((1, n_nodes), -3.0), empty, empty, np.zeros(3, int))
    PLAIN.find_priors(one, ALPHA, G)
    total = PLAIN.weigh_options(one, tables, 0, 0)
    exact = one.atom_prior[:n_atoms] * np.exp(np.minimum(log_f[0], 0.0) + 1.0)
    np.testing.assert_allclose(one.option[1:gone], exact[1:gone], rtol=1e-12)
    assert one.option[gone] == 0.0
    assert total == pytest.approx(exact[:gone].sum() + one.node_prior.sum() * np.exp(-2.0))


def _rows_of(chain):
    """(rows in coordinates, whether each entry is seen)."""
    u, seen = chain.rows.family.whitened(slice(0, chain.rows.n_rows))
    return u, np.ones_like(u, bool) if seen is None else seen > 0


@pytest.mark.parametrize("name", ["known", "diagonal holes", "clear, deep", "spherical"])
def test_columns_of_what_begins_in_a_tile(name):
    """They are those that a new table has."""
    setting = SETTINGS[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        chain = setting.chain(*setting.prior_draw(rng), "gibbs", rng)
        stage = RowStage(chain)
        for n_rows in chain.rows.tiles():
            numbers = stage._numbers()
            tables = stage._tables(n_rows, numbers)
        old = [table.copy() for table in tables[:2]]
        for z in reference._nodes(chain.forest):
            PLAIN.begin_atom(chain.forest, numbers, tables, 0, z, rng)
        new = stage._tables(n_rows, numbers)
        for before, after, young in zip(old, new[:2], tables[2:4], strict=True):
            n = before.shape[1]
            np.testing.assert_allclose(before, after[:, :n], rtol=1e-12, atol=1e-12)
            found = young[1:, : after.shape[1] - n]
            np.testing.assert_allclose(found, after[1:, n:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["known", "diagonal holes"])
def test_ratios_of_atoms_that_split(name):
    setting, rng = SETTINGS[name], np.random.default_rng(2)
    state, X = setting.prior_draw(rng)
    chain = setting.chain(state, X, "gibbs", rng)
    family, forest, n = chain.rows.family, chain.forest, len(X)
    leaf, (u, seen) = int(forest.leaf[0]), _rows_of(chain)
    numbers, room = row_numbers(family, slice(0, n)), split_room(n, 1)
    room.member[:] = np.arange(n)
    for sides in product((False, True), repeat=n):
        sides = np.array(sides)
        if 0 < sides.sum() < n:
            room.side[:] = ~sides
            found = PLAIN.log_ratio_of_sides(forest, numbers, room, n, leaf, G)
            v = forest.variance[-1][forest.column]
            exact = reference.log_split_of_atom(u, seen, sides, forest.location[leaf], v, G)
            assert found == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["known", "diagonal holes"])
def test_odds_of_sides_are_ratios_of_evidence(name):
    """Of rows one at a time, given i or j alone and given a side."""
    setting, rng = SETTINGS[name], np.random.default_rng(5)
    state, X = setting.prior_draw(rng)
    chain = setting.chain(state, X, "gibbs", rng)
    family, forest, n = chain.rows.family, chain.forest, len(X)
    leaf, (u, seen) = int(forest.leaf[0]), _rows_of(chain)
    at, v = forest.location[leaf], forest.variance[-1][forest.column]
    numbers, room = row_numbers(family, slice(0, n)), split_room(n, 1)
    room.member[:] = np.arange(n)

    def log_p(row, others):
        both = reference._log_rows(u[[row, *others]], seen[[row, *others]], at, v)
        return both - reference._log_rows(u[others], seen[others], at, v)

    PLAIN.weigh_alone(forest, numbers, room, n, leaf, 0, 1)
    exact = [log_p(r, [0]) - log_p(r, [1]) for r in range(2, n)]
    np.testing.assert_allclose(room.odds[2:], exact, rtol=1e-9, atol=1e-9)
    for side in product((0, 1), repeat=n - 2):
        room.side[:] = 0, 1, *side
        first = PLAIN.add_to_sides(forest, numbers, room, n)
        PLAIN.weigh_sides(forest, numbers, room, n, first, leaf)
        for r in range(2, n):
            others = [[i for i in range(n) if i != r and room.side[i] == s] for s in (0, 1)]
            each = [log_p(r, of) + np.log(len(of)) for of in others]
            assert room.odds[r] == pytest.approx(each[0] - each[1], rel=1e-9, abs=1e-9)


def settled_slowly(u, seen, at, v, i, j):
    """Log odds of side 0: the sides of i and j alone, then a few passes given both sides."""

    def log_p(row, others):
        both = reference._log_rows(u[[row, *others]], seen[[row, *others]], at, v)
        return both - reference._log_rows(u[others], seen[others], at, v)

    n = len(u)
    odds, side = np.array([log_p(r, [i]) - log_p(r, [j]) for r in range(n)]), None
    for _ in range(PASSES):
        before, side = side, np.where(odds > 0, 0, 1)
        side[[i, j]] = 0, 1
        if before is not None and (before == side).all():
            break
        for r in range(n):
            others = [[k for k in range(n) if k != r and side[k] == s] for s in (0, 1)]
            if r not in (i, j):
                each = [log_p(r, of) + np.log(len(of)) for of in others]
                odds[r] = each[0] - each[1]
    return odds


@pytest.mark.parametrize("name", ["known", "diagonal holes", "tails"])
def test_rows_settle_on_sides_as_in_a_slow_loop(name):
    """Whatever sides they had before."""
    setting, rng = SETTINGS[name], np.random.default_rng(7)
    setting = type(setting)(setting.transition, setting.likelihood, 12, 2, setting.n_features)
    moved = 0
    for _ in range(20):
        state, X = setting.prior_draw(rng)
        chain = setting.chain(state, X, "gibbs", rng)
        forest, n = chain.forest, len(X)
        leaf = int(forest.leaf[0])
        numbers, room = row_numbers(chain.rows.family, slice(0, n)), split_room(n, 1)
        room.member[:] = np.arange(n)
        found = []
        for sides in (rng.integers(2, size=n), np.zeros(n)):
            room.side[:] = sides
            PLAIN.settle_sides(forest, numbers, room, n, leaf, 3, 5, PASSES)
            found.append(room.odds.copy())
        np.testing.assert_array_equal(*found)
        others = np.delete(np.arange(n), [3, 5])
        if name != "tails":
            (u, seen), v = _rows_of(chain), forest.variance[-1][forest.column]
            exact = settled_slowly(u, seen, forest.location[leaf], v, 3, 5)
            np.testing.assert_allclose(found[0][others], exact[others], rtol=1e-8, atol=1e-8)
        PLAIN.weigh_alone(forest, numbers, room, n, leaf, 3, 5)
        moved += ((room.odds > 0) != (found[0] > 0))[others].any()
    assert moved > 3  # else the passes would do nothing here
