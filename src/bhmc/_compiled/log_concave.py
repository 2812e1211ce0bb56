"""Draws from log-concave densities by rejection below tangents.

A concave log density lies below each of its tangents. A rising tangent, a falling one and a flat
top between them are a hat over the density, whatever the two points they touch at. Where both
points lie about 1 below the maximum the hat is tight: over a normal density 89 % of draws are kept.
"""

import math
from typing import NamedTuple

from bhmc._compiled.decorators import helper
from bhmc._compiled.random_source import uniform


class Hat(NamedTuple):
    """Flat from `left` to `right`; its logarithm rises and falls outside at these rates."""

    left: float
    right: float
    rise: float
    fall: float


@helper
def tangent_hat(x_left, depth_left, rise, x_right, depth_right, fall):
    """The hat whose tangents touch at two points, each so much below the top, with these slopes."""
    return Hat(x_left + depth_left / rise, x_right - depth_right / fall, rise, fall)


@helper
def hat_draw(hat, source):
    """(x, log of the hat's height at x, 0 on its top), with x drawn from the hat."""
    tail_left, tail_right = 1.0 / hat.rise, 1.0 / hat.fall
    u = (1.0 - uniform(source)) * (tail_left + tail_right + (hat.right - hat.left))
    if u <= tail_left:
        height = math.log(u * hat.rise)
        return hat.left + height / hat.rise, height
    u -= tail_left
    if u <= tail_right:
        height = math.log(u * hat.fall)
        return hat.right - height / hat.fall, height
    return hat.left + (u - tail_right), 0.0
