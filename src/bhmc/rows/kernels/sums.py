"""Compiled sums over rows: counts of cells, and sufficient statistics."""

from bhmc._compiled.decorators import compiled


@compiled
def count_cells(leaf, component, counts):
    """counts[leaf[i], component[i]] += 1, row by row."""
    for i in range(leaf.shape[0]):
        counts[leaf[i], component[i]] += 1


@compiled
def add_rows(statistics, component, sums):
    """sums[component[i]] += statistics[i], row by row."""
    for i in range(statistics.shape[0]):
        k = component[i]
        for j in range(statistics.shape[1]):
            sums[k, j] += statistics[i, j]


@compiled
def move_rows(statistics, old, new, sums):
    """The same where sums hold every row under its old component already."""
    for i in range(statistics.shape[0]):
        k, k_new = old[i], new[i]
        if k != k_new:
            for j in range(statistics.shape[1]):
                sums[k, j] -= statistics[i, j]
            for j in range(statistics.shape[1]):
                sums[k_new, j] += statistics[i, j]
