"""Deliberately wrong versions of the diffused transition, and where each must show."""

from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from bhmc._compiled import (
    distributions,
    exponential,
    log_concave,
    logistic_normal,
    random_source,
)
from tests.mutants.mutants import Edits, build, build_plain

_HOME = "bhmc.model.diffused"

# Kernels, in an order in which each takes names only from those before it.
SOURCES = (
    random_source,
    distributions,
    exponential,
    log_concave,
    logistic_normal,
    *(
        import_module(f"{_HOME}.kernels.{name}")
        for name in (
            "messages",
            "locations",
            "places",
            "coordinates",
            "row_prior",
            "row_births",
            "row_pass",
            "weighted_sides",
            "logit_sides",
            "atom_sides",
            "atom_splits",
            "branch_splits",
            "tree_moves",
            "regroup",
            "shift",
            "steps",
        )
    ),
)


def plain(edits: Edits = ()) -> ModuleType:
    """All kernels and their helpers in plain Python, with `edits` made."""
    return build(edits, SOURCES)


class Part(NamedTuple):
    """What is replaced: a name, dotted where it is a class's, of a module; and who uses it."""

    module: str
    name: str
    user: str = ""

    def replace(self, edits: Edits, monkeypatch) -> None:
        """Put the part of the edited module where the true one is used."""
        *owners, last = self.name.split(".")
        wrong = build_plain(import_module(self.module), edits)
        place = _within(import_module(self.user or self.module), owners)
        monkeypatch.setattr(place, last, getattr(_within(wrong, owners), last))


def _within(module: Any, names: list[str]) -> Any:
    return reduce(getattr, names, module)


_SAMPLER = f"{_HOME}.sampler"
KERNELS = None
ROW_STAGE = Part(f"{_HOME}.row_stage", "RowStage", _SAMPLER)
SPLITS = Part(f"{_HOME}.atom_splits", "split_and_merge", _SAMPLER)
TREE_STAGE = Part(f"{_HOME}.tree_stage", "redraw_tree", _SAMPLER)
VARIANCES = Part(f"{_HOME}.prior", "StepPrior.draw")
BOUNDS = Part(f"{_HOME}.prior", "StepPrior.bounds")
LOG_TREE = Part(f"{_HOME}.prior", "log_tree", _SAMPLER)
SAMPLER = Part(_SAMPLER, "DiffusedSampler")
NOISE = Part("bhmc.likelihoods.shared_gaussian", "SharedGaussianFamily.draw_shared_at")
FULL_NOISE = Part("bhmc.likelihoods.tied_gaussian", "TiedGaussianFamily.draw_shared_at")


class DiffusedMutant(NamedTuple):
    """What is wrong, in which part, what makes it wrong, and in how many draws that must show.

    Exact draws at `setting` go through `stage`, `times` times; only `moves` are made. 0 draws where
    they would be too many. `in_weights`: the slow twin weighs otherwise, too.
    """

    name: str
    part: Part | None
    edits: Edits
    stage: str
    setting: str
    n_draws: int = 500
    moves: tuple[str, ...] = ()
    times: int = 1
    in_weights: bool = False

    def put_in(self, monkeypatch) -> ModuleType | None:
        """The wrong part in the place of the true one; the kernels, if it is they."""
        if self.part is None:
            return plain(self.edits)
        self.part.replace(self.edits, monkeypatch)
        return None


def find(name: str) -> DiffusedMutant:
    """The mutant of that name."""
    return next(mutant for mutant in DIFFUSED_MUTANTS if mutant.name == name)


_CHAIN_FACTOR = (
    ("        total += log_alone(forest, row_at(forest, level), block)\n", "        pass\n"),
)

DIFFUSED_MUTANTS = (
    # ---- Rows ----
    DiffusedMutant(
        "a new atom at a concentration of 1",
        KERNELS,
        (
            (
                "forest.node_prior[z] = weight * concentration(forest, z, alpha, g)",
                "forest.node_prior[z] = weight",
            ),
        ),
        "redraw_rows",
        "full leaves",
        120,
    ),
    DiffusedMutant(
        "the share of a node with a concentration of 1",
        KERNELS,
        (
            (
                "rows, conc = forest.rows[z], concentration(forest, z, alpha, g)",
                "rows, conc = forest.rows[z], 1.0",
            ),
        ),
        "redraw_rows",
        "loose",
        400,
    ),
    DiffusedMutant(
        "atoms chosen without their numbers of rows",
        KERNELS,
        (
            (
                "forest.weight[z] * forest.count[k] if z >= 0 else 0.0",
                "forest.weight[z] * (forest.count[k] > 0) if z >= 0 else 0.0",
            ),
        ),
        "redraw_rows",
        "full leaves",
        150,
    ),
    DiffusedMutant(
        "a row's likelihoods read from the row after",
        KERNELS,
        (
            (
                "    total = weigh_options(forest, tables, i, own)\n",
                "    i = min(i + 1, len(tables.atoms) - 1)\n"
                "    total = weigh_options(forest, tables, i, own)\n",
            ),
        ),
        "redraw_rows",
        "known",
        80,
    ),
    DiffusedMutant(
        "a row counts itself in its atom",
        KERNELS,
        (
            (
                "(forest.count[own] - 1) / forest.count[own] if same_atom else 1.0",
                "1.0",
            ),
        ),
        "redraw_rows",
        "full leaves",
        0,
        ("rows",),
        in_weights=True,
    ),
    DiffusedMutant(
        "a row counts itself in the nodes above it",
        KERNELS,
        (("return ratio * forest.losses[y]", "return ratio"),),
        "redraw_rows",
        "loose",
        0,
        ("rows",),
        in_weights=True,
    ),
    DiffusedMutant(
        "weights that do not follow a row to another leaf",
        KERNELS,
        (
            (
                "        put_row(forest, new, alpha, g)\n        spread_shares(forest, alpha, g)\n",
                "        put_row(forest, new, alpha, g)\n"
                "        find_atom_prior(forest, old)\n        find_atom_prior(forest, new)\n",
            ),
        ),
        "redraw_rows",
        "loose",
        0,
        ("rows",),
        in_weights=True,
    ),
    DiffusedMutant(
        "an option is never drawn again",
        KERNELS,
        (("if left < bound * weight_of(forest, option):", "if left < weight_of(forest, option):"),),
        "redraw_rows",
        "loose",
        0,
        ("draws of rows",),
        in_weights=True,
    ),
    DiffusedMutant(
        "what is left of an option is not uniform",
        KERNELS,
        (
            (
                "        if left < weight:\n            return own, left\n",
                "        if left < weight:\n            return own, 0.0\n",
            ),
        ),
        "redraw_rows",
        "loose",
        0,
        ("draws of rows",),
        in_weights=True,
    ),
    # ---- Births ----
    DiffusedMutant(
        "new nodes by a walk that does not look where theta is",
        KERNELS,
        (
            (
                "        mean = at + (forest.theta[k, d] - at) * v / (v + rest)\n"
                "        forest.location[y, d] = mean + normal_draw(rng) * "
                "math.sqrt(v * rest / (v + rest))",
                "        forest.location[y, d] = at + normal_draw(rng) * math.sqrt(v)",
            ),
        ),
        "redraw_rows",
        "deep",
        60,
    ),
    DiffusedMutant(
        "new nodes on a straight line to theta",
        KERNELS,
        (("normal_draw(rng) * math.sqrt(v * rest", "0.0 * math.sqrt(v * rest"),),
        "redraw_rows",
        "deep",
        60,
    ),
    DiffusedMutant(
        "a bridge that forgets the steps after the next",
        KERNELS,
        (
            (
                "            rest += forest.variance[step, forest.column[d]]\n",
                "            rest += forest.variance[step, forest.column[d]]\n            break\n",
            ),
        ),
        "redraw_rows",
        "clear, deep",
        350,
    ),
    DiffusedMutant(
        "theta of a new atom not drawn given its row",
        KERNELS,
        (
            (
                "        total, seen = numbers.value[i, d], seen_at(numbers, i, d)\n"
                "        forest.theta",
                "        total, seen = 0.0, 0.0\n        forest.theta",
            ),
        ),
        "redraw_rows",
        "known",
        60,
    ),
    DiffusedMutant(
        "a new atom as likely as the one whose column is there",
        KERNELS,
        (("old[n, anchor] + rise - fall", "old[n, anchor]"),),
        "redraw_rows",
        "known",
        400,
    ),
    DiffusedMutant(
        "a new atom one step away from any node",
        ROW_STAGE,
        (
            (
                "below = self._below[np.maximum(forest.level[:m], 0) + 1]",
                "below = self._below[np.full(m, -1)]",
            ),
        ),
        "redraw_rows",
        "clear",
        250,
    ),
    # ---- Atoms ----
    DiffusedMutant(
        "new nodes above an atom without their factor",
        KERNELS,
        _CHAIN_FACTOR,
        "redraw_tree",
        "large atoms",
        450,
        ("atom",),
        in_weights=True,
    ),
    DiffusedMutant(
        "a leaf with the concentration of inner nodes",
        KERNELS,
        (
            (
                "    row = row_at(forest, forest.level[z])\n",
                "    row = _INNER\n",
            ),
        ),
        "redraw_tree",
        "full leaves",
        150,
        ("atom",),
        in_weights=True,
    ),
    DiffusedMutant(
        "an atom placed as if locations were known",
        KERNELS,
        (
            (
                "            step_to(forest, z, depth + 1, WIDTH)\n",
                "            step_to(forest, z, depth + 1, WIDTH)\n"
                "            forest.scratch[1, 0] -= forest.spread[z, 0]\n",
            ),
        ),
        "redraw_tree",
        "clear",
        300,
        ("atom",),
        in_weights=True,
    ),
    DiffusedMutant(
        "an atom that has left still speaks for its leaf",
        KERNELS,
        (
            (
                "    add_message(forest, forest.precision, forest.linear, k, depth + 1, z, -1.0)\n",
                "",
            ),
        ),
        "redraw_tree",
        "clear",
        500,
        ("atom",),
        in_weights=True,
    ),
    # ---- Subtrees ----
    DiffusedMutant(
        "new nodes above a subtree without their factor",
        KERNELS,
        _CHAIN_FACTOR,
        "redraw_tree",
        "large atoms",
        300,
        ("subtree",),
        in_weights=True,
    ),
    DiffusedMutant(
        "a subtree a step nearer than it is",
        KERNELS,
        (("step_to(forest, y, level, WIDTH)", "step_to(forest, y, level - 1, WIDTH)"),),
        "redraw_tree",
        "clear",
        350,
        ("subtree",),
        in_weights=True,
    ),
    # ---- Nodes that split and merge ----
    DiffusedMutant(
        "sides of a node drawn with no probability",
        KERNELS,
        (
            (
                "log_ratio(forest, precision, linear, n, level, alpha, conc, of_atoms) - log_q",
                "log_ratio(forest, precision, linear, n, level, alpha, conc, of_atoms)",
            ),
        ),
        "redraw_tree",
        "deep",
        400,
        ("regroup",),
    ),
    DiffusedMutant(
        "two nodes as likely as one before the data",
        KERNELS,
        (
            (
                "return log_gain(forest, level) + log_prior_gain(first, second, alpha, conc)",
                "return log_gain(forest, level)",
            ),
        ),
        "redraw_tree",
        "deep",
        300,
        ("regroup",),
        in_weights=True,
    ),
    DiffusedMutant(
        "two nodes that seat their rows as one",
        KERNELS,
        (
            (
                "        - math.lgamma(conc + first)\n        - math.lgamma(conc + second)\n",
                "        - math.lgamma(conc + n)\n        - math.lgamma(conc)\n",
            ),
        ),
        "redraw_tree",
        "deep",
        120,
        ("regroup",),
        in_weights=True,
    ),
    DiffusedMutant(
        "a node that splits still speaks for the node above",
        KERNELS,
        (
            (
                "        a -= forest.up_precision[first, c] / "
                "(1.0 + forest.up_precision[first, c] * step)\n",
                "",
            ),
            (
                "        forest.scratch[OTHER_FACTOR, c] = fall\n",
                "        forest.scratch[OTHER_FACTOR, c] = 0.0\n",
            ),
        ),
        "redraw_tree",
        "clear",
        0,
        ("regroup",),
        in_weights=True,
    ),
    DiffusedMutant(
        "a proposal for each node",
        TREE_STAGE,
        (
            (
                "tries = chain.n_components if chain.forest.depth else 0",
                "tries = chain.n_nodes - 1 - chain.forest.depth",
            ),
        ),
        "redraw_tree",
        "coin",
        150,
        ("regroup",),
    ),
    DiffusedMutant(
        "a proposal for each node and one more",
        TREE_STAGE,
        (
            (
                "tries = chain.n_components if chain.forest.depth else 0",
                "tries = chain.n_nodes - 1",
            ),
        ),
        "redraw_tree",
        "coin",
        150,
        ("regroup",),
    ),
    # ---- Atoms that split and merge ----
    DiffusedMutant(
        "sides of an atom drawn with no probability",
        KERNELS,
        (
            (
                "log_ratio_of_sides(forest, numbers, room, n, z, g) - log_q",
                "log_ratio_of_sides(forest, numbers, room, n, z, g)",
            ),
        ),
        "redraw_atoms",
        "full leaves",
        120,
        ("split",),
    ),
    DiffusedMutant(
        "a second atom at no cost",
        KERNELS,
        ((" + math.log(g) + prior", " + prior"),),
        "redraw_atoms",
        "full leaves",
        180,
        ("split",),
    ),
    DiffusedMutant(
        "a proposal for each atom",
        SPLITS,
        (
            (
                "tries = min(math.ceil(multiple * math.sqrt(n)), _MOST)",
                "tries = chain.n_components - 1",
            ),
        ),
        "redraw_atoms",
        "coin",
        150,
        ("split",),
    ),
    DiffusedMutant(
        "three proposals for each atom",
        SPLITS,
        (
            (
                "tries = min(math.ceil(multiple * math.sqrt(n)), _MOST)",
                "tries = 3 * chain.n_components",
            ),
        ),
        "redraw_atoms",
        "coin",
        150,
        ("split",),
    ),
    DiffusedMutant(
        "theta of a merged atom left where it was",
        KERNELS,
        (
            (
                "draw_theta_of_side(forest, numbers, first, np.int64(0), forest.leaf",
                "(forest, numbers, first, np.int64(0), forest.leaf",
            ),
        ),
        "redraw_atoms",
        "large atoms",
        1_000,
        ("split",),
        times=3,
    ),
    # ---- Locations ----
    DiffusedMutant(
        "theta as far from its leaf as the leaf from its parent",
        KERNELS,
        (
            (
                "len(forest.variance) - 1, forest.location, forest.leaf[k], normal",
                "len(forest.variance) - 2, forest.location, forest.leaf[k], normal",
            ),
        ),
        "redraw_tree",
        "known",
        250,
    ),
    DiffusedMutant(
        "steps to atoms counted as those to leaves",
        KERNELS,
        (("forest, blocks, counts, squares, last,", "forest, blocks, counts, squares, last - 1,"),),
        "redraw_variances",
        "known",
        250,
    ),
    DiffusedMutant(
        "locations that do not see the atoms",
        TREE_STAGE,
        (("    chain.engine.collect(forest)\n    draw_locations", "    draw_locations"),),
        "redraw_tree",
        "known",
        40,
    ),
    # ---- Variances, locations integrated out ----
    DiffusedMutant(
        "steps below level 1 without their prior",
        KERNELS,
        (
            (
                "- shape * y - scale / value",
                "+ (y if level > 1 else -shape * y - scale / value)",
            ),
        ),
        "redraw_tree",
        "floor, deep",
        200,
        ("steps",),
    ),
    DiffusedMutant(
        "a slice of a logarithm without its Jacobian",
        KERNELS,
        (("- shape * y - scale / value", "- (shape + 1.0) * y - scale / value"),),
        "redraw_tree",
        "known",
        500,
        ("steps",),
    ),
    DiffusedMutant(
        "evidence a level above its own",
        KERNELS,
        (
            (
                "forest.up_precision, forest.up_linear, z, forest.level[z])\n    for d",
                "forest.up_precision, forest.up_linear, z, max(forest.level[z] - 1, 0))\n    for d",
            ),
        ),
        "redraw_tree",
        "clear",
        120,
        ("steps",),
        in_weights=True,
    ),
    DiffusedMutant(
        "one coordinate counted for all of a precision",
        KERNELS,
        (("total -= forest.repeats[c] * math.log(wide)", "total -= math.log(wide)"),),
        "redraw_tree",
        "known",
        800,
        ("steps",),
        in_weights=True,
    ),
    DiffusedMutant(
        "messages of the variances before",
        KERNELS,
        (
            (
                "    collect_above(forest, level)\n    depth, total =",
                "    depth, total =",
            ),
        ),
        "redraw_tree",
        "known",
        500,
        ("steps",),
        in_weights=True,
    ),
    DiffusedMutant(
        "the origin forgotten",
        KERNELS,
        (("total += (h * o - 0.5 * p * o * o) /", "total += 0.0 * (h * o - 0.5 * p * o * o) /"),),
        "redraw_tree",
        "known",
        0,
        ("steps",),
        in_weights=True,
    ),
    DiffusedMutant(
        "steps beyond their neighbours",
        KERNELS,
        (("if not least <= value <= most:", "if value <= 0:"),),
        "redraw_tree",
        "floor, deep",
        60,
        ("steps",),
    ),
    # ---- Variances ----
    DiffusedMutant(
        "variances in no order",
        BOUNDS,
        (("(variances[level - 1, block] if level > 1 else np.inf)", "np.inf"),),
        "redraw_variances",
        "floor, deep",
        150,
    ),
    DiffusedMutant(
        "variances below kappa",
        BOUNDS,
        (("else self.least[block]", "else 0.0"),),
        "redraw_variances",
        "floor",
        60,
    ),
    DiffusedMutant(
        "numbers of steps forgotten",
        VARIANCES,
        (("_SHAPE + counts / 2", "_SHAPE + 0 * counts"),),
        "redraw_variances",
        "known",
        60,
    ),
    DiffusedMutant(
        "steps of one level counted for the next",
        KERNELS,
        (
            (
                "squares[level, block] += step * step",
                "squares[min(level + 1, len(squares) - 1), block] += step * step",
            ),
        ),
        "redraw_variances",
        "known",
        150,
    ),
    # ---- Noise ----
    DiffusedMutant(
        "steps forgotten in the noise",
        NOISE,
        (("np.maximum(ss, 0.0) + self._v * (increments**2).sum(axis=0)", "np.maximum(ss, 0.0)"),),
        "redraw_shared",
        "spherical",
        40,
    ),
    DiffusedMutant(
        "degrees of the steps forgotten in the noise",
        NOISE,
        (("count = self._observed + len(increments)", "count = self._observed"),),
        "redraw_shared",
        "spherical",
        40,
    ),
    DiffusedMutant(
        "places left in the units of the old noise",
        SAMPLER,
        (
            (
                "places = family.carried_to(self.family, places)",
                "places[-1:] = family.carried_to(self.family, places[-1:])",
            ),
        ),
        "redraw_shared",
        "spherical",
        500,
    ),
    DiffusedMutant(
        "steps forgotten in a full covariance",
        FULL_NOISE,
        ((" + steps.T @ steps", ""),),
        "redraw_shared",
        "tied",
        60,
    ),
    DiffusedMutant(
        "degrees of the steps forgotten in a full covariance",
        FULL_NOISE,
        (("self._n_all + len(steps)", "self._n_all"),),
        "redraw_shared",
        "tied",
        60,
    ),
    # ---- Concentrations ----
    DiffusedMutant(
        "concentrations that forget how many rows a node seats",
        LOG_TREE,
        ((" + gammaln(c) - gammaln(c + rows)", ""),),
        "redraw_concentrations",
        "spherical",
        60,
    ),
    DiffusedMutant(
        "leaves seated with alpha",
        LOG_TREE,
        (("c = np.where(inner, alpha, g)", "c = np.where(inner, alpha, alpha)"),),
        "redraw_concentrations",
        "learned",
        500,
    ),
)
