"""Rows times a triangular matrix: the same bits for a row, whatever rows stand around it."""

import numpy as np
from numpy.typing import NDArray

from bhmc._compiled.decorators import compiled


def centred_products(rows: NDArray, centre: NDArray, lower: NDArray) -> NDArray[np.float64]:
    """(n, d): y = lower (x - centre) of every row x.

    A product of BLAS may differ in its last digit where a block has another height.

    Parameters
    ----------
    rows : (n, d) array
        The rows.
    centre : (d,) array
        What is taken off.
    lower : (d, d) array
        Lower triangular.
    """
    own = np.ascontiguousarray(rows, dtype=np.float64).view()
    own.flags.writeable = False  # one type for all arrays, so that code is compiled once
    out = np.zeros(own.shape)
    add_products(own, np.array(centre, dtype=np.float64), np.ascontiguousarray(lower.T), out)
    return out


@compiled
def add_products(rows, centre, upper, out):
    """out[n, i] += sum over j <= i of upper[j, i] (rows[n, j] - centre[j]), j from 0 on.

    Parameters
    ----------
    rows : (n, d) array
        Read-only.
    centre : (d,) array
        What is taken off.
    upper : (d, d) array
        The transposed matrix.
    out : (n, d) array
        Changed in place.
    """
    for n in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            x = rows[n, j] - centre[j]
            for i in range(j, rows.shape[1]):
                out[n, i] += upper[j, i] * x
