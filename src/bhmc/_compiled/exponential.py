"""exp(x) without a call or a branch, so that many are found at a time."""

import math

from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bhmc._compiled.decorators import helper

_LOG2_E = 1.4426950408889634

# Powers of two below the first count as 0 (denormal numbers would be ten times slower), above the
# second as infinite: what was lost to the first, a weight of 0, is then less than 2^-520.
SMALLEST_EXPONENT, LARGEST_EXPONENT = -1020.0, 500.0

# 1.5 * 2^52 + 1023: added to a number it leaves, in the low bits, the nearest whole number plus
# 1023, as `power_of_two` wants it.
_TO_EXPONENT = 6755399441055744.0 + 1023.0


@intrinsic
def power_of_two(typing_context, number):
    """2^i, i being the low bits of `number` (a whole number of 2^52 or more) less 1023.

    They are moved to the place of an exponent: one instruction for many numbers at a time.
    """

    def codegen(context, builder, signature, arguments):
        word = ir.IntType(64)
        bits = builder.shl(builder.bitcast(arguments[0], word), ir.Constant(word, 52))
        return builder.bitcast(bits, ir.DoubleType())

    return types.float64(types.float64), codegen


def plain_power_of_two(number):
    """The same in Python, for kernels that run uncompiled."""
    return math.ldexp(1.0, int(min(number - _TO_EXPONENT, 1023)))


if getattr(config, "DISABLE_JIT", False):
    globals()["power_of_two"] = plain_power_of_two


@helper
def exp_within(x):
    """exp(x), but 0 below 2^-1020 (so that no number of a row is denormal) and inf above 2^500.

    exp(x) = 2^i 2^r with i the whole number nearest to x log2(e): 2^r by the polynomial of degree
    10 whose largest relative error is least (2e-16). No call and no branch: it vectorises, which
    `math.exp` does not.
    """
    x = max(x * _LOG2_E, SMALLEST_EXPONENT)
    whole = x + _TO_EXPONENT
    r = x - (whole - _TO_EXPONENT)
    p = 7.037278846726901e-09 * r + 1.0208537929657404e-07
    p = p * r + 1.3215662835959238e-06
    p = p * r + 1.5252658116409854e-05
    p = p * r + 0.00015403529961127076
    p = p * r + 0.0013333558228561767
    p = p * r + 0.009618129108034596
    p = p * r + 0.05550410866445883
    p = p * r + 0.24022650695908768
    p = p * r + 0.6931471805599497
    p = p * r + 1.0
    power = power_of_two(whole)  # pyright: ignore[reportCallIssue]
    value = p * power if x > SMALLEST_EXPONENT else 0.0
    return value if x < LARGEST_EXPONENT else math.inf
