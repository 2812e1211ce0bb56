"""Atoms split and merge through their rows."""

import math
from typing import Any

from bhmc.model.diffused.row_numbers import row_numbers, split_room

# Proposals in a sweep: a multiple of the root of the number of rows, and so many at most. It must
# not depend on the atoms: their number changes with each of them. Four times the root doubles the
# effective draws of the number of atoms on small tables; where coordinates are logits a proposal
# takes integrals, and costs more than it gains.
_MULTIPLE, _MULTIPLE_OF_LOGITS, _MOST = 4.0, 0.5, 64

# With more rows than this the proposals, which read all rows of an atom, are made in a part of the
# sweeps, chosen at random without looking at the state.
_ROWS_OF_EVERY_SWEEP = 10_000


def split_and_merge(chain: Any) -> None:
    """Some proposals, one after the other.

    Parameters
    ----------
    chain : DiffusedSampler
        Changed in place.
    """
    n = chain.rows.n_rows
    if n > _ROWS_OF_EVERY_SWEEP and chain.rng.random() * n > _ROWS_OF_EVERY_SWEEP:
        return
    numbers = row_numbers(chain.rows.family, slice(0, n))
    multiple = _MULTIPLE_OF_LOGITS if numbers.is_logit.any() else _MULTIPLE
    tries = min(math.ceil(multiple * math.sqrt(n)), _MOST)
    chain.tidy(n_atoms=chain.n_components + tries)
    accepted = chain.engine.split_atoms(
        chain.forest,
        numbers,
        split_room(n, len(chain.forest.leaf)),
        chain.rows.component,
        tries,
        chain.rates[1],
        chain.source,
    )
    if accepted:
        chain.forget_sums()
        chain.tidy()
