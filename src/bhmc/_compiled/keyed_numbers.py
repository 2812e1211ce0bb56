"""Random numbers by key: Philox-4x64 of ten rounds (Salmon et al. 2011), the same as NumPy's.

The numbers of a row depend on the key of a sweep and on the row's number, on nothing else. So they
are the same whatever thread or machine asks for them, and in whatever order.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bhmc._compiled.decorators import helper

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ELEVEN, _UNIT = np.uint64(11), 2.0**-53

# The second word of the key of numbers that are not of a single row.
_OF_NO_ROW = np.uint64(2**64 - 1)


@intrinsic
def high_product(typing_context, a, b):
    """The upper 64 bits of the product of two whole numbers of 64 bits."""

    def codegen(context, builder, signature, arguments):
        wide, word = ir.IntType(128), ir.IntType(64)
        factors = [builder.zext(one, wide) for one in arguments]
        product = builder.mul(*factors)
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)

    return types.uint64(types.uint64, types.uint64), codegen


def plain_high_product(a, b):
    """The same in Python, for kernels that run uncompiled."""
    return np.uint64((int(a) * int(b)) >> 64)


if getattr(config, "DISABLE_JIT", False):
    globals()["high_product"] = plain_high_product


@helper
def words_of(counter, key, row):
    """Four words of 64 random bits: block `counter` (from 1 on) of the stream (key, row)."""
    a, b, c, d = np.uint64(counter), np.uint64(0), np.uint64(0), np.uint64(0)
    k0, k1 = np.uint64(key), np.uint64(row)
    for _ in range(10):
        high_a = high_product(_M0, a)  # pyright: ignore[reportCallIssue]
        high_c = high_product(_M1, c)  # pyright: ignore[reportCallIssue]
        a, b, c, d = high_c ^ b ^ k0, _M1 * c, high_a ^ d ^ k1, _M0 * a
        k0, k1 = k0 + _W0, k1 + _W1
    return a, b, c, d


@helper
def uniform_of(word):
    """U ~ Uniform[0, 1) from a word."""
    return np.float64(word >> _ELEVEN) * _UNIT


@helper
def fill_shared(key, first, out):
    """out[i] ~ Uniform[0, 1) of row first + i, from the stream that all rows share.

    A block has the numbers of four rows: a quarter of the work where rows want one each.
    """
    a, b, c, d = words_of(np.uint64(0), np.uint64(0), np.uint64(0))
    known = np.int64(-1)
    for i in range(len(out)):
        block, place = (first + i) // 4, (first + i) % 4
        if block != known:
            a, b, c, d = words_of(block + 1, key, _OF_NO_ROW)
            known = block
        word = a if place == 0 else b if place == 1 else c if place == 2 else d
        out[i] = uniform_of(word)
