"""Wrong versions of the pass over rows."""

from tests.mutants.diffused_parts import KERNELS, ROW_STAGE, DiffusedMutant

ROW_MUTANTS = (
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
)
