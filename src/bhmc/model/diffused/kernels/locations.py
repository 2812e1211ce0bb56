"""Locations and theta given the tree, from the root down; the squares of the steps between them."""

import math

from bhmc._compiled.decorators import compiled, helper, merged


@merged
def draw_place(forest, out, i, precision, linear, step, above, a, normal, j):
    """out[i] ~ N((h + m / v) / (p + 1 / v), 1 / (p + 1 / v)): evidence (p, h), above it m."""
    for d in range(len(forest.column)):
        c = forest.column[d]
        v = forest.variance[step, c]
        total = precision[i, c] + 1.0 / v
        mean = (linear[i, d] + above[a, d] / v) / total
        out[i, d] = mean + normal[j, d] / math.sqrt(total)


@compiled
def set_locations(forest, origin, normal):
    """(m, theta) | tree, evidence, as `locations.draw_locations` says; `normal` has N(0, 1).

    Its rows are used in order: level after level, then atoms. `origin` is (1, D).
    """
    j = 0
    for level in range(len(forest.variance) - 1):
        for z in range(forest.used[0]):
            if forest.level[z] != level:
                continue
            if level == 0:
                draw_place(
                    forest, forest.location, z, forest.up_precision, forest.up_linear,
                    level, origin, 0, normal, j,
                )  # fmt: skip
            else:
                draw_place(
                    forest, forest.location, z, forest.up_precision, forest.up_linear,
                    level, forest.location, forest.parent[z], normal, j,
                )  # fmt: skip
            j += 1
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            draw_place(
                forest, forest.theta, k, forest.precision, forest.linear,
                len(forest.variance) - 1, forest.location, forest.leaf[k], normal, j,
            )  # fmt: skip
            j += 1


@helper
def note_step(forest, steps, variances, j, step_to, i, level, above, a):
    """Row j: the step from above[a] to step_to[i], whose level is `level`, and its variances."""
    for d in range(len(forest.column)):
        steps[j, d] = step_to[i, d] - above[a, d]
        variances[j, d] = forest.variance[level, forest.column[d]]


@compiled
def list_steps(forest, origin, steps, variances):
    """All steps of the tree and their variances, (J, D) each: those to nodes, the root's from the
    origin (1, D), then those to atoms; how many there are.
    """
    j = 0
    for z in range(forest.used[0]):
        level, parent = forest.level[z], forest.parent[z]
        if level == 0:
            note_step(forest, steps, variances, j, forest.location, z, level, origin, 0)
        elif level > 0:
            note_step(
                forest, steps, variances, j, forest.location, z, level, forest.location, parent
            )
        j += 1 if level >= 0 else 0
    last = len(forest.variance) - 1
    for k in range(forest.used[1]):
        leaf = forest.leaf[k]
        if leaf >= 0:
            note_step(forest, steps, variances, j, forest.theta, k, last, forest.location, leaf)
            j += 1
    return j


@helper
def add_square(forest, blocks, counts, squares, level, step_to, i, above, a):
    """The step from above[a] to step_to[i], whose level is `level`, block by block."""
    for d in range(len(forest.column)):
        block = blocks[forest.column[d]]
        step = step_to[i, d] - above[a, d]
        counts[level, block] += 1.0
        squares[level, block] += step * step


@compiled
def add_squares(forest, blocks, counts, squares):
    """Numbers of coordinates of the steps to each level, and sums of their squares: (L + 2, B).

    The root's step is left out: its variance is not drawn.
    """
    for z in range(forest.used[0]):
        if forest.level[z] > 0:
            add_square(
                forest, blocks, counts, squares, forest.level[z],
                forest.location, z, forest.location, forest.parent[z],
            )  # fmt: skip
    last = len(forest.variance) - 1
    for k in range(forest.used[1]):
        if forest.leaf[k] >= 0:
            add_square(
                forest, blocks, counts, squares, last,
                forest.theta, k, forest.location, forest.leaf[k],
            )  # fmt: skip
