"""Wrong versions of moves of the tree and of atoms."""

from tests.mutants.diffused_parts import KERNELS, SPLITS, TREE_STAGE, DiffusedMutant

_CHAIN_FACTOR = (
    ("        total += log_alone(forest, row_at(forest, level), block)\n", "        pass\n"),
)

MOVE_MUTANTS = (
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
        "the way back from the sides that rows have",
        KERNELS,
        (
            (
                "    settle_sides(forest, numbers, room, n, z, i, j, passes)\n    log_q",
                "    settle_sides(forest, numbers, room, n, z, i, j, passes)\n"
                "    if not splits:\n"
                "        for r in range(n):\n"
                "            room.side[r] = 0 if component[room.member[r]] == component[i] else 1\n"
                "        at_0 = add_to_sides(forest, numbers, room, n)\n"
                "        weigh_sides(forest, numbers, room, n, at_0, z)\n"
                "    log_q",
            ),
        ),
        "redraw_atoms",
        "learned",
        1_000,
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
        ((", proposals(chain)", ", chain.n_components - 1"),),
        "redraw_atoms",
        "coin",
        150,
        ("split",),
    ),
    DiffusedMutant(
        "three proposals for each atom",
        SPLITS,
        ((", proposals(chain)", ", 3 * chain.n_components"),),
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
        600,
        ("split",),
        times=3,
    ),
)
