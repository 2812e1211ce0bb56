"""Compiled sums over rows: counts of cells, sufficient statistics, and who is where."""

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


@compiled
def sort_by_column(component, first, rows):
    """rows[first[k] : first[k + 1]] are the rows of component k, in order.

    Parameters
    ----------
    component : (n,) array
        The component of each row.
    first : (columns + 1,) array of zeros
        Written.
    rows : (n,) array
        Written.
    """
    for i in range(len(component)):
        first[component[i] + 1] += 1
    for k in range(1, len(first)):
        first[k] += first[k - 1]
    # Each beginning moves on to the next one while its rows are written, and back afterwards.
    for i in range(len(component)):
        k = component[i]
        rows[first[k]] = i
        first[k] += 1
    for k in range(len(first) - 1, 0, -1):
        first[k] = first[k - 1]
    first[0] = 0
