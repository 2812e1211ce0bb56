"""Short fits of Zoo that tests of the explorer share, and must not change."""

from functools import cache

from bhmc import BHMC
from bhmc.datasets import load_zoo
from bhmc.model.diffused.setting import Diffused

# What the pilot chain finds for these data, given so that none runs.
_KAPPA = 6.35


@cache
def zoo_model(seed: int) -> BHMC:
    """101 animals: 2 chains of 60 draws, more than are looked at one by one."""
    zoo = load_zoo(as_frame=True)
    model = BHMC(
        n_levels=3,
        transition=Diffused(kappa=_KAPPA),
        n_warmup=30,
        n_draws=60,
        random_state=seed,
    )
    return model.fit(zoo.data.set_axis(zoo.names))
