"""What a fit asks for that needs all rows in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc import BHMC
from bhmc._cli.options import given_settings
from bhmc._estimator.auto_transition import transition_for
from bhmc.likelihoods import resolve

# Words that go with rows in a file; options that are not given go with them, too.
_GO_WITH_BLOCKS = {
    "transition": ("auto", "diffused", "gaussian"),
    "sampler": ("auto", "blocked"),
    "init": ("auto", "sample"),
    "hyper": ("exact",),
    "fixed_components": (),
}


def what_needs_memory(options, first: NDArray[np.float64]) -> str:
    """What needs all rows in memory; "" where nothing does.

    Parameters
    ----------
    options : Namespace
        Of `bhmc fit`.
    first : (m, d) array
        The first rows.
    """
    settings = given_settings(options)
    for name, allowed in _GO_WITH_BLOCKS.items():
        if name in settings and settings[name] not in allowed:
            return f"--{name.replace('_', '-')} {settings[name]}"
    model = BHMC(**settings)
    try:
        transition = transition_for(model, first)
        likelihood = resolve(model.likelihood, first, located=transition.located)
        family = likelihood.prepare(first)
    except (ValueError, TypeError):
        return ""  # the fit says what is wrong
    has_gaps = bool(np.isnan(first).any())
    return _of_family(options, transition, likelihood, family, has_gaps)


def _of_family(options, transition: Any, likelihood: Any, family: Any, has_gaps: bool) -> str:
    name = type(likelihood).__name__
    if family.takes_statistics and transition.name in _GO_WITH_BLOCKS["transition"]:
        return ""
    if options.likelihood not in (None, "auto"):
        return f"--likelihood {options.likelihood}"
    return f"{name} with missing numbers" if has_gaps else f"{name}, which suits their numbers,"
