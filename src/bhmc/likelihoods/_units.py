"""What Gaussian families that work in units of the columns have in common."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bhmc._validation.parameters import check_choice, check_positive_vector, check_vector
from bhmc.likelihoods._protocol import Likelihood
from bhmc.likelihoods._scales import column_scales, common_deviation
from bhmc.likelihoods.blocks import Floats


@dataclass(frozen=True, eq=False)
class InUnits(Likelihood):
    """A Gaussian likelihood in units of `scale` around `location`; its columns independent."""

    covariance: str = "diagonal"
    location: ArrayLike = 0.0
    scale: ArrayLike = 1.0

    allows_missing = True
    covariances: ClassVar[tuple[str, ...]] = ("diagonal", "spherical")

    @classmethod
    def scaled_to(cls, X: Floats, **settings: Any) -> Self:
        """The family in the units of X: its column means and standard deviations.

        Spherical: the root mean square of the deviations of the columns that vary. X must hold all
        rows.
        """
        mean, deviation = column_scales(X)
        if settings.get("covariance") == "spherical":
            deviation = common_deviation(X)
        return cls(location=mean, scale=deviation, **settings)

    def checked(self, n_features: int) -> tuple[Floats, Floats]:
        """(location, scale) as (d,) vectors, every setting checked."""
        check_choice(self.covariance, "covariance", self.covariances)
        scale = check_positive_vector(self.scale, n_features, "scale")
        if self.covariance == "spherical" and np.ptp(scale) > 0:
            raise ValueError(
                "scale must be one number where covariance is 'spherical', got "
                f"{scale.min():g} and {scale.max():g}."
            )
        return check_vector(self.location, n_features, "location"), scale


class Learning(Likelihood):
    """A likelihood whose shared numbers are learned: it simulates only once they are known."""

    def sample_theta(self, size: int, n_features: int, rng: np.random.Generator) -> Floats:
        """Refused: the shared numbers must be known."""
        raise self._unsettled()

    def sample_data(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """Refused: the shared numbers must be known."""
        raise self._unsettled()

    def _unsettled(self) -> TypeError:
        return TypeError(
            f"{type(self).__name__} samples only once its shared numbers are known: call "
            "at(shared) first."
        )
