"""How often two labels meet: what entropies of pairs of partitions are made of."""

import math

from bhmc._compiled.decorators import compiled


@compiled
def add_joint_terms(labels, others, widths, counts, terms):
    """terms[t] = sum of c log c over the counts c of pairs (labels[i], others[t, i]).

    Parameters
    ----------
    labels : (n,) array
        Whole numbers from 0 on.
    others : (draws, n) array
        Likewise.
    widths : (draws,) array
        One more than the largest label of each draw.
    counts : (m,) array
        Scratch space for a table of all pairs of labels of any draw, all 0 before and after.
    terms : (draws,) array
        Written.
    """
    for t in range(others.shape[0]):
        used = 0
        for i in range(labels.shape[0]):
            cell = labels[i] * widths[t] + others[t, i]
            counts[cell] += 1
            used = max(used, cell + 1)
        total = 0.0
        for cell in range(used):
            if counts[cell] > 0:
                total += counts[cell] * math.log(counts[cell])
                counts[cell] = 0
        terms[t] = total
