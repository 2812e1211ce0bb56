"""Inverse Wishart matrices: draws of their factors, and triangles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from scipy.special import gammaln

from bhmc.likelihoods.blocks import Floats


def draw_factors(root: NDArray[Any], nu: Floats, rng: np.random.Generator) -> Floats:
    """(K, d, d): T lower triangular, T T' ~ W^-1(root root', nu).

    By Bartlett, B' B ~ W(I, nu) if B is lower triangular with B_ij ~ N(0, 1) below the diagonal
    and B_ii^2 ~ chi2(nu - d + i), i = 1..d. So (root B^-1)(root B^-1)' has the law asked for.

    Parameters
    ----------
    root : (K, d, d) array
        Lower triangular factors of the scale matrices.
    nu : (K,) array
        Degrees of freedom, above d - 1.
    rng : numpy.random.Generator
        Where all randomness comes from.
    """
    d = root.shape[-1]
    bartlett = np.zeros_like(root)
    i, j = np.tril_indices(d, -1)
    bartlett[:, i, j] = rng.standard_normal((len(root), len(i)))
    freedom = nu[:, None] - np.arange(d)[::-1]
    bartlett[:, np.arange(d), np.arange(d)] = np.sqrt(2 * rng.standard_gamma(freedom / 2))
    factor = np.empty_like(root)
    for k in range(len(root)):
        factor[k] = over_triangle(root[k], bartlett[k])
    return factor


def log_multigamma(a: Floats | float, d: int) -> Floats:
    """log of the multivariate gamma function, less (d (d - 1) / 4) log pi; `a` may be an array."""
    return gammaln(np.asarray(a)[..., None] - np.arange(d) / 2).sum(axis=-1)


def over_triangle(left: NDArray[Any], triangle: NDArray[Any], transposed: bool = False) -> Floats:
    """left triangle^-1, or left triangle'^-1, for a lower triangle.

    BLAS itself, whose columns are our rows: LAPACK's solver wakes all threads for a 2 x 2 matrix.
    """
    if not left.size:
        return left
    return blas.dtrsm(1.0, triangle.T, left.T, lower=0, trans_a=transposed).T
