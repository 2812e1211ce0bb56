"""The move "shift": nodes and atoms shift along their logits, given the rows themselves.

Evidence on logits is Gaussian only given Polya-Gamma variables, which were drawn given theta and
hold it where it is. This move has no need of them: on Zoo it triples the effective draws of the
variances of steps.
"""

from typing import Any

import numpy as np


def shift_logits(chain: Any) -> None:
    """m_z with all below it, theta_k: each shifted, given all rows and all other steps.

    p(shift) is N(step + shift; 0, v_l) times the likelihood of the rows below; by a slice, logit
    after logit, from the root down.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place; its atoms have no holes.
    """
    forest, family = chain.forest, chain.family
    is_logit = chain.is_logit
    if is_logit.any():
        counts = np.stack(family.logit_counts(chain.sums()))
        member, inside = np.empty(counts.shape[1], dtype=np.int64), np.empty(forest.used[0], bool)
        chain.engine.shift_logits(forest, is_logit, counts, member, inside, chain.source)
