"""Random numbers for kernels: the very numbers that a NumPy generator would give."""

import ctypes
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bhmc._compiled.decorators import helper


class RandomSource(NamedTuple):
    """Where a kernel's random numbers come from: the addresses of a generator's own functions.

    Handing a `Generator` itself to a kernel costs more than many a call's work, and a count of
    references; its addresses cost nothing. The generator must outlive the source.
    """

    next_double: int
    state: int


def random_source(rng: np.random.Generator) -> RandomSource:
    """The source that draws the very numbers that `rng.random()` would."""
    interface = rng.bit_generator.ctypes
    address = ctypes.cast(interface.next_double, ctypes.c_void_p).value
    assert address is not None
    return RandomSource(address, interface.state_address)


@intrinsic
def call_double(typing_context, function, state):
    """double (*function)(void *state), called."""

    def codegen(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.DoubleType(), [pointer])
        callee = builder.inttoptr(arguments[0], function_type.as_pointer())
        return builder.call(callee, [builder.inttoptr(arguments[1], pointer)])

    return types.float64(types.int64, types.int64), codegen


@helper
def uniform(source):
    """U ~ Uniform[0, 1), the next number of the generator behind `source`."""
    return call_double(source.next_double, source.state)  # pyright: ignore[reportCallIssue]


# The same in Python, for kernels that run uncompiled.
PLAIN = {"random_source": lambda rng: rng, "uniform": lambda rng: rng.random()}
if getattr(config, "DISABLE_JIT", False):
    globals().update(PLAIN)
