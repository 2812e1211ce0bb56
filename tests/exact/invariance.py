"""One kernel, applied once to exact draws of (state, X), must leave their joint law alone.

Each draw comes from the forward simulator, so it has the joint law exactly; applying a kernel that
leaves the posterior invariant gives another draw of the same law. Hence every statistic has the
same mean before and after, and because the pairs are independent its z needs no correction for
correlation. Pairing removes most of the noise: this is the sharpest test of the ladder.
"""

import numpy as np

from tests.exact.alarm import z_of
from tests.exact.geweke import Setting

STAGES = ("redraw_data", "redraw_weights", "redraw_theta", "sweep")


def paired_z(setting: Setting, sampler: str, stage: str, n_draws: int, rng, **engine) -> np.ndarray:
    """z per statistic of its change under one application of `stage`."""
    changes = []
    for _ in range(n_draws):
        state, X = setting.prior_draw(rng)
        chain = setting.chain(state, X, sampler, rng, **engine)
        getattr(chain, stage)()
        changes.append(setting.statistics(chain.state(), X) - setting.statistics(state, X))
    changes = np.array(changes)
    return z_of(changes.mean(axis=0), changes.std(axis=0, ddof=1) / np.sqrt(n_draws))


def with_family(likelihood, family):
    """`likelihood` that is bound to data by another class: a deliberately wrong family."""

    class Wrong(type(likelihood)):
        def prepare(self, X):
            return family(self, X)

    return Wrong(**vars(likelihood))
