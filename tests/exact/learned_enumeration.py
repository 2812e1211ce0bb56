"""p(V, c) with the concentrations integrated out: enumeration and Gauss quadrature.

Like `tests.exact.enumeration` it shares no code with the samplers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_genlaguerre

from tests.exact import enumeration as en

NODES = 24


class LearnedPrior(NamedTuple):
    """All states (V, c) of n data; row i of each array belongs to `keys[i]`."""

    keys: list[en.Key]
    p: NDArray[np.float64]  # (S,)
    # (S, 3, 2): E[log x | V, c] and E[log(x)^2 | V, c] for x = alpha, gamma0, gamma
    moments: NDArray[np.float64]


def gamma_nodes(shape: float, rate: float, size: int = NODES):
    """x and w with E[f(x)] = sum of w f(x), x ~ Gamma(shape, rate), exact for polynomials."""
    x, w = roots_genlaguerre(size, shape - 1)
    return x / rate, w / w.sum()


def learned_prior(n: int, n_levels: int, hyper, size: int = NODES) -> LearnedPrior:
    """p(V, c) = E[p(V | alpha)] E[p(c | V, gamma0, gamma)], over independent Gamma priors."""
    alpha, gamma0, gamma = (gamma_nodes(prior.shape, prior.rate, size) for prior in hyper[:3])
    keys, p, moments = [], [], []
    for tree in en.trees(n, n_levels):
        p_tree = _moments(alpha, np.array([np.exp(en.log_p_tree(tree, a)) for a in alpha[0]]))
        for c in en.partitions(n):
            table = _p_components(tree, c, gamma0[0], gamma[0])
            of_gamma0 = _moments(gamma0, table @ gamma[1])
            of_gamma = _moments(gamma, gamma0[1] @ table)
            keys.append((tree, c))
            p.append(p_tree[0] * of_gamma0[0])
            moments.append([m[1:] / m[0] for m in (p_tree, of_gamma0, of_gamma)])
    assert abs(sum(p) - 1) < 1e-9, f"the prior sums to {sum(p)}"
    return LearnedPrior(keys, np.array(p), np.array(moments))


def _moments(nodes, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[f], E[f log x], E[f log(x)^2], f given by its values at the nodes."""
    x, w = nodes
    return np.array([(w * values * np.log(x) ** power).sum() for power in (0, 1, 2)])


def _p_components(tree: en.Tree, c: en.Labels, gamma0, gamma) -> NDArray[np.float64]:
    """(gamma0, gamma): p(c | V) at all pairs of nodes.

    Given the tables it is a product, of gamma0^K G(gamma0) / G(gamma0 + n_root) and of a part that
    depends on gamma alone; so each is computed once.
    """
    total = np.zeros((len(gamma0), len(gamma)))
    by_gamma = [list(en.table_counts(tree, c, 1.0, g)) for g in gamma]
    for m, (_, customers) in enumerate(by_gamma[0]):
        at_one = en._log_root_term(customers[0], 1.0, None)
        root = np.exp([en._log_root_term(customers[0], g0, None) - at_one for g0 in gamma0])
        total += root[:, None] * np.exp([terms[m][0] for terms in by_gamma])
    return total
