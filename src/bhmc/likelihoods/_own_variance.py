"""The best log likelihood of a group that has a Gaussian variance of its own."""

import numpy as np

from bhmc.likelihoods.blocks import Floats, over


def own_variance(apart: Floats, together: Floats, entries: Floats) -> Floats:
    """The largest log likelihood of n entries under one mean and one variance of their own,

        apart - n / 2 log(1 + 2 (apart - together) / n).

    Entries have the variance v about the means of their components, and these means have the
    variance B / n about the mean of the group, so that v + B / n is the group's own variance, which
    is never below the noise v. In units of the noise B / (2 v) is apart - together: what is lost if
    the group has one mean and the variance v, Ward's criterion. With a variance of its own it loses
    as much where the means are near each other, and far less where they are far apart.

    Parameters
    ----------
    apart : array
        Log likelihood with every component at its own mean and the variance v.
    together : array
        The same with all of them at the mean of the group.
    entries : array
        n.
    """
    lost = np.maximum(apart - together, 0.0)  # below 0 by rounding only
    return apart - 0.5 * entries * np.log1p(over(2 * lost, entries))
