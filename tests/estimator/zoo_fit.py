"""One fit of Zoo with the default transition, for all tests that look at its tree."""

import warnings
from functools import cache

from sklearn.exceptions import ConvergenceWarning

from bhmc import BHMC
from bhmc.datasets import load_zoo

# One chain, and fewer draws than by default, to save time.
SHORT = {"n_warmup": 150, "n_draws": 50, "n_chains": 1}


@cache
def zoo_fit(seed: int, *, short: bool) -> BHMC:
    """A fit that tests must not change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BHMC(n_levels=3, random_state=seed, **SHORT if short else {})
        return model.fit(load_zoo(as_frame=True).data)
