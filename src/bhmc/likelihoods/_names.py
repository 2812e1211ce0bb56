"""Families by name."""

from bhmc.likelihoods._protocol import Likelihood
from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussian
from bhmc.likelihoods.bernoulli import Bernoulli
from bhmc.likelihoods.categorical import Categorical
from bhmc.likelihoods.free_gaussian import FreeGaussian
from bhmc.likelihoods.full_gaussian import FullGaussian
from bhmc.likelihoods.gaussian import Gaussian
from bhmc.likelihoods.multinomial import Multinomial
from bhmc.likelihoods.poisson import Poisson
from bhmc.likelihoods.shared_gaussian import SharedGaussian

# What a name stands for where its scales come from data.
BY_NAME: dict[str, type[Likelihood]] = {
    "gaussian": AdaptiveGaussian,
    "spherical_gaussian": SharedGaussian,
    "shared_gaussian": SharedGaussian,
    "free_gaussian": FreeGaussian,
    "full_gaussian": FullGaussian,
    "known_gaussian": Gaussian,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "poisson": Poisson,
    "multinomial": Multinomial,
}

# And with which settings.
_SETTINGS = {"spherical_gaussian": {"covariance": "spherical"}}


def by_name(name: str, X=None, **settings) -> Likelihood:
    """The object a name stands for, scaled to X where given, with these settings.

    Without data "gaussian" is `Gaussian(1, 0, 1)`, which has nothing to learn its scales from.
    """
    kind, settings = BY_NAME[name], _SETTINGS.get(name, {}) | settings
    if X is not None:
        return kind.scaled_to(X, **settings)
    return Gaussian() if kind is AdaptiveGaussian else kind(**settings)
