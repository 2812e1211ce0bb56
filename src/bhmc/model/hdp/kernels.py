"""All compiled sampler code, a section per conditional.

One file on purpose: Numba's disk cache does not notice edits to a helper in another file.
The same conditionals in plain NumPy, easier to read, are in `_reference`; both give the same draws.
Symbols are those of the paper: beta_z weights of node z, beta*_z its remainder, N_z its data,
f and f* the likelihoods under a component and under one not yet born. Column 0 of every array over
components is the remainder: beta_z0 is beta*_z, theta_0 is unborn, and f(x; theta_0) is f*(x).

The truth about a weight is its logarithm; `ws.beta` mirrors it for the loops over data, where
additions and products of plain numbers are all there is. Where those run out (every product
underflows) the logarithms are used instead.

(A constant handed to a helper is wrapped as `np.int64(...)`: Numba would compile the helper anew
for each value of it.)

Kernels never see the likelihood family. When a datum founds a component a pass stops and returns,
so that the caller can draw the new theta and fill its column of `log_f`; then the pass goes on.
"""

import ctypes
import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bhmc._compiled.decorators import compiled, helper, merged
from bhmc.model.hdp.workspace import (
    ALPHA,
    BLOCK,
    COMPONENTS_BORN,
    COMPONENTS_DIED,
    DEPTH,
    DONE,
    FACTOR,
    FREE_COLUMNS,
    FREE_SLOTS,
    GAIN,
    GAMMA,
    GAMMA0,
    LOSS,
    NEEDS_ROOM,
    NODES_BORN,
    NODES_DIED,
    NONE,
    PATHS_ACCEPTED,
    SHAPE,
    STALE,
    WEIGHT,
    WIDTH,
    Rates,
)
from bhmc.priors import BETA, FIXED, GAMMA_PRIOR, UNIFORM

_LOG2_E = 1.4426950408889634

# Powers of two below the first count as 0 (denormal numbers would be ten times slower), above the
# second as infinite: what was lost to the first, a weight of 0, is then less than 2^-520.
_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1020.0, 500.0

# A sum of products below this may have lost terms that matter, above the other a term was too
# large: then other means decide.
_TOO_SMALL, _TOO_LARGE = 2.0**-400, 2.0**400

# 1.5 * 2^52 + 1023: added to a number it leaves, in the low bits, the nearest whole number plus
# 1023, as `power_of_two` wants it.
_TO_EXPONENT = 6755399441055744.0 + 1023.0

# With more than this times (1 + a log n) customers, tables are found by waiting times.
_MANY_CUSTOMERS = 60.0

_LOG_4 = 1.3862943611198906

# Width of the slice sampler's first interval, in the logarithm of a concentration.
_SLICE_WIDTH = 1.0

# A concentration beyond these counts as impossible.
_SMALLEST_RATE, _LARGEST_RATE = 1e-100, 1e100

# A log gamma draw of a small shape is log G - x with |log G| < 64: below half a digit of this x.
_HUGE = 1e19


# ------------------------------------------------------------------------------------------------
# Random numbers, and what Numba has no word for
# ------------------------------------------------------------------------------------------------


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


@helper
def uniform(source):
    """U ~ Uniform[0, 1), the next number of the generator behind `source`."""
    return call_double(source.next_double, source.state)  # pyright: ignore[reportCallIssue]


# The same three in Python, for kernels that run uncompiled.
PLAIN = {
    "random_source": lambda rng: rng,
    "uniform": lambda rng: rng.random(),
    "power_of_two": lambda number: math.ldexp(1.0, int(min(number - _TO_EXPONENT, 1023))),
}
if getattr(config, "DISABLE_JIT", False):
    globals().update(PLAIN)


# ------------------------------------------------------------------------------------------------
# Numbers of a row: exponentials, and a draw in proportion
# ------------------------------------------------------------------------------------------------


@helper
def exp_within(x):
    """exp(x), but 0 below 2^-1020 (so that no number of a row is denormal) and inf above 2^500.

    exp(x) = 2^i 2^r with i the whole number nearest to x log2(e): 2^r by the polynomial of degree
    10 whose largest relative error is least (2e-16). No call and no branch: it vectorises, which
    `math.exp` does not.
    """
    x = max(x * _LOG2_E, _SMALLEST_EXPONENT)
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
    value = p * power if x > _SMALLEST_EXPONENT else 0.0
    return value if x < _LARGEST_EXPONENT else math.inf


@helper
def largest(table, row, width):
    """The largest of a row's first `width` entries: four at a time, not one after the other."""
    a = b = c = d = table[row, 0]
    for k in range(0, width, 4):
        a, b = max(a, table[row, k]), max(b, table[row, k + 1])
        c, d = max(c, table[row, k + 2]), max(d, table[row, k + 3])
    return max(max(a, b), max(c, d))


@helper
def pick(scratch, block_sums, width, target):
    """(k, what is left of target) where the running sum of the weights, not all 0, passes it.

    Counting the sums that do not pass needs no branch, and so none that is guessed wrong.
    """
    block, before, running = 0, 0.0, 0.0
    for b in range(width // BLOCK):
        running += block_sums[b]
        if running <= target:
            block, before = b + 1, running
    target -= before
    if block * BLOCK < width:
        k, before, running = block * BLOCK, 0.0, 0.0
        for j in range(BLOCK):
            running += scratch[WEIGHT, block * BLOCK + j]
            if running <= target:
                k, before = block * BLOCK + j + 1, running
        if k < (block + 1) * BLOCK:
            return k, target - before
    # Rounding put the target at or beyond the end of its block: the last weight before it.
    k = min(block * BLOCK + BLOCK, width) - 1
    while scratch[WEIGHT, k] == 0.0:
        k -= 1
    return k, scratch[WEIGHT, k]


@helper
def draw_index(log_w, row, size, rng):
    """P(i) proportional to exp(log_w[row, i]), i < size."""
    top = -math.inf
    for i in range(size):
        top = max(top, log_w[row, i])
    total = 0.0
    for i in range(size):
        total += math.exp(log_w[row, i] - top)
    target = uniform(rng) * total
    last = 0
    for i in range(size):
        weight = math.exp(log_w[row, i] - top)
        if weight > 0.0:
            last = i
            target -= weight
            if target < 0.0:
                break
    return last


# ------------------------------------------------------------------------------------------------
# Draws from named distributions
# ------------------------------------------------------------------------------------------------


@helper
def exponential_draw(rng):
    """E ~ Exp(1)."""
    return -math.log1p(-uniform(rng))


@helper
def log_gamma_draw(shape, rng):
    """log G with G ~ Gamma(shape); exact where G itself underflows, -inf at shape 0.

    From shape 1 on by rejection from a log-logistic (Cheng 1977, algorithm GB), which needs uniform
    numbers only. Below: log G(a) = log G(a + 1) + log(U) / a, and -log U is an exponential.
    """
    if shape == 0.0:
        return -math.inf
    fall = 0.0
    if shape < 1.0:
        fall = exponential_draw(rng) / shape
        if fall > _HUGE:
            return -fall
        shape += 1.0
    slope = math.sqrt(2.0 * shape - 1.0)
    while True:
        u, v = uniform(rng), uniform(rng)
        if u == 0.0 or v == 0.0:
            continue
        y = math.log(u / (1.0 - u)) / slope
        fit = shape - _LOG_4 + (shape + slope) * y - shape * math.exp(y)
        if fit >= math.log(u * u * v):
            return math.log(shape) + y - fall


@helper
def beta_draw(a, log_a, b, log_b, rng):
    """(log u, log(1 - u)) with u ~ Beta(a, b), from the shapes and their logarithms.

    Where both gamma draws underflow the limit is taken: u = 1 with probability a / (a + b), else 0.
    Where both shapes are 0 both halves are 0 (a zero remainder split).
    """
    log_g, log_h = log_gamma_draw(a, rng), log_gamma_draw(b, rng)
    total = log_add(log_g, log_h)
    if total > -math.inf:
        return log_g - total, log_h - total
    total = log_add(log_a, log_b)
    if total == -math.inf:
        return -math.inf, -math.inf
    if uniform(rng) < math.exp(log_a - total):
        return 0.0, -math.inf
    return -math.inf, 0.0


@helper
def tables_draw(customers, concentration, rng):
    """CRT(n, a) = sum over i = 0..n-1 of Bernoulli(a / (a + i)); CRT(n >= 1, 0) = 1.

    Many customers: with i seated, the wait for the next new table is Geometric(p), p ~ Beta(a, i),
    because P(wait > w) = prod over j = i..i+w-1 of j / (a + j) = E[(1 - p)^w].
    """
    if customers == 0:
        return 0
    tables = 1
    if customers <= _MANY_CUSTOMERS * (1.0 + concentration * math.log(customers)):
        for i in range(1, customers):
            if uniform(rng) * (concentration + i) < concentration:
                tables += 1
        return tables
    seated = 1.0
    while True:
        g = math.exp(log_gamma_draw(concentration, rng))
        p = g / (g + math.exp(log_gamma_draw(seated, rng)))
        if p == 0.0:
            return tables
        wait = exponential_draw(rng) / -math.log1p(-p)
        if wait >= customers - seated:  # before it is made a whole number, which may be too large
            return tables
        seated += 1.0 + math.floor(wait)
        tables += 1


@helper
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    top = max(a, b)
    if top == -math.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


# ------------------------------------------------------------------------------------------------
# Tree and component bookkeeping
# ------------------------------------------------------------------------------------------------


@merged
def has_room(ws, rates):
    """Whether one more datum can be redrawn: L free slots; a free column in the infinite form."""
    return ws.room[FREE_SLOTS] >= ws.room[DEPTH] and (
        rates.n_fixed > 0 or ws.room[FREE_COLUMNS] > 0
    )


@merged
def open_node(ws, parent):
    """Take a free slot for the last child of `parent`; its weights are still to be drawn."""
    ws.room[FREE_SLOTS] -= 1
    z = ws.free[ws.room[FREE_SLOTS]]
    ws.parent[z] = parent
    ws.level[z] = ws.level[parent] + 1
    ws.n_under[z] = 0
    ws.first_child[z] = NONE
    ws.next_sibling[z] = NONE
    y = ws.first_child[parent]
    if y == NONE:
        ws.first_child[parent] = z
    else:
        while ws.next_sibling[y] != NONE:
            y = ws.next_sibling[y]
        ws.next_sibling[y] = z
    ws.events[NODES_BORN] += 1
    return z


@merged
def close_node(ws, z):
    """Give the slot of a node without data or children back."""
    parent = ws.parent[z]
    y = ws.first_child[parent]
    if y == z:
        ws.first_child[parent] = ws.next_sibling[z]
    else:
        while ws.next_sibling[y] != z:
            y = ws.next_sibling[y]
        ws.next_sibling[y] = ws.next_sibling[z]
    ws.level[z] = -1
    ws.parent[z] = NONE
    ws.free[ws.room[FREE_SLOTS]] = z
    ws.room[FREE_SLOTS] += 1
    ws.events[NODES_DIED] += 1


@helper
def drop_empty_nodes(ws, leaf):
    """Delete the nodes without data from `leaf` upwards; returns the first that stays."""
    z = leaf
    while ws.level[z] > 0 and ws.n_under[z] == 0:
        parent = ws.parent[z]
        close_node(ws, z)
        z = parent
    return z


@helper
def count_path(ws, leaf, step):
    """N_z <- N_z + step along the path to `leaf`."""
    z = leaf
    while z != NONE:
        ws.n_under[z] += step
        z = ws.parent[z]


@helper
def release_component(ws, k):
    """beta*_z <- beta*_z + beta_zk at every node: component k is unborn again."""
    for z in range(ws.level.shape[0]):
        if ws.level[z] >= 0:
            ws.log_beta[z, 0] = log_add(ws.log_beta[z, 0], ws.log_beta[z, k])
            ws.beta[z, 0] += ws.beta[z, k]
            ws.mass[z, 0] += ws.mass[z, k]
            ws.log_beta[z, k] = -math.inf
            ws.beta[z, k] = 0.0
            ws.mass[z, k] = 0.0
    ws.alive[k] = False
    ws.room[FREE_COLUMNS] += 1
    ws.events[COMPONENTS_DIED] += 1


@merged
def leave_component(ws, rates, n):
    """Datum n leaves its component, which returns to the remainder at once if nobody holds it."""
    k = np.int64(ws.component[n])
    ws.held[k] -= 1
    if rates.n_fixed == 0 and ws.held[k] == 0:
        release_component(ws, k)


@merged
def settle(ws, n, leaf, k):
    """Note leaf and component of datum n."""
    ws.leaf[n] = leaf
    ws.component[n] = k
    ws.held[k] += 1


@compiled
def release_empty(ws):
    """Return every component without data to the remainder (the end of the published sweep)."""
    for k in range(1, ws.alive.shape[0]):
        if ws.alive[k] and ws.held[k] == 0:
            release_component(ws, k)


# ------------------------------------------------------------------------------------------------
# A new component, and the weights of new nodes
# ------------------------------------------------------------------------------------------------


@compiled
def break_component(ws, rates, chosen_at, rng):
    """Split every remainder top-down: beta_z,new = u_z beta*_z and beta*_z <- (1 - u_z) beta*_z.

    Root: u ~ Beta(1, gamma0). Nodes on the path root..chosen_at:
    u ~ Beta(gamma beta_pa,new + 1, gamma beta*_pa), for the datum there has just chosen it.
    All others: u ~ Beta(gamma beta_pa,new, gamma beta*_pa). `chosen_at` -1: nobody chose it.
    Returns the column of the new component.
    """
    k = open_column(ws)
    log_gamma = math.log(rates.gamma)
    for z in range(ws.level.shape[0]):
        ws.node_scratch[0, z] = 0.0
    z = chosen_at
    while z != NONE:
        ws.node_scratch[0, z] = 1.0  # it is on the path of the datum that chose k
        z = ws.parent[z]
    for level in range(ws.room[DEPTH] + 1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                log_u, log_left = beta_draw(1.0, 0.0, rates.gamma0, math.log(rates.gamma0), rng)
            else:
                up = ws.parent[z]
                a, b = rates.gamma * ws.beta[up, k], rates.gamma * ws.beta[up, 0]
                log_a, log_b = log_gamma + ws.log_beta[up, k], log_gamma + ws.log_beta[up, 0]
                if ws.node_scratch[0, z] > 0.0:
                    a, log_a = a + 1.0, math.log1p(a)
                log_u, log_left = beta_draw(a, log_a, b, log_b, rng)
            ws.log_beta[z, k] = ws.log_beta[z, 0] + log_u
            ws.log_beta[z, 0] += log_left
            ws.beta[z, k] = math.exp(ws.log_beta[z, k])
            ws.beta[z, 0] = math.exp(ws.log_beta[z, 0])
    return k


@merged
def open_column(ws):
    """Take the first free column for a new component."""
    k = 1
    while ws.alive[k]:
        k += 1
    ws.alive[k] = True
    ws.room[FREE_COLUMNS] -= 1
    ws.room[WIDTH] = max(ws.room[WIDTH], (k // BLOCK + 1) * BLOCK)
    ws.events[COMPONENTS_BORN] += 1
    return k


@helper
def draw_node_weights(ws, z, rng):
    """beta_z ~ Dir(shapes), the shapes being gamma beta_pa and the customers of z, in scratch.

    Where every gamma draw underflows the limit is taken: all weight on entry k with probability
    proportional to its shape. The logarithms of the shapes decide: with gamma near the smallest
    double the shapes themselves are 0. (They hold no customer then, nor is z the root.)
    """
    width = ws.room[WIDTH]
    for k in range(width):
        ws.log_beta[z, k] = log_gamma_draw(ws.scratch[SHAPE, k], rng)
    top = largest(ws.log_beta, z, width)
    if top == -math.inf:
        chosen = draw_index(ws.log_beta, ws.parent[z], width, rng)
        for k in range(width):
            ws.beta[z, k] = 1.0 if k == chosen else 0.0
            ws.log_beta[z, k] = 0.0 if k == chosen else -math.inf
        return
    total = 0.0
    for k in range(width):
        ws.beta[z, k] = exp_within(ws.log_beta[z, k] - top)
    for k in range(width):
        total += ws.beta[z, k]
    log_total = top + math.log(total)
    for k in range(width):
        ws.log_beta[z, k] -= log_total
        ws.beta[z, k] /= total


@helper
def grow_branch(ws, rates, z, k, rng):
    """New nodes from below z down to a leaf; returns the leaf.

    Top-down, beta ~ Dir(gamma beta_pa + e_k): their only datum chose k; k = -1: no datum yet.
    """
    while ws.level[z] < ws.room[DEPTH]:
        up = z
        z = open_node(ws, up)
        for j in range(ws.room[WIDTH]):
            ws.scratch[SHAPE, j] = rates.gamma * ws.beta[up, j]
        if k >= 0:
            ws.scratch[SHAPE, k] += 1.0
        draw_node_weights(ws, z, rng)
        begin_mass(ws, rates, z)
    return z


# ------------------------------------------------------------------------------------------------
# One datum by path Gibbs: component first, then the path
#
# U_z = alpha beta_z + sum over children y of share_y U_y, with share_y = N_y / (N_y + alpha); at a
# leaf U_z = beta_z and share_z = N_z. U_z[k] is, up to the factor N_z + alpha, the prior weight of
# all that can happen to a datum at z if its component is to be k: to go on to a child, or to open a
# branch, whose unseen weights average to beta_z.
# ------------------------------------------------------------------------------------------------


@helper
def begin_mass(ws, rates, z):
    """U_z of a node without data below it: beta_z at a leaf, alpha beta_z at an inner node."""
    scale = 1.0 if ws.level[z] == ws.room[DEPTH] else rates.alpha
    for k in range(ws.room[WIDTH]):
        ws.mass[z, k] = scale * ws.beta[z, k]
    ws.share[z] = 0.0


@helper
def sum_mass(ws, rates, z):
    """U_z from its children's, all terms positive, and share_z."""
    begin_mass(ws, rates, z)
    y = ws.first_child[z]
    while y != NONE:
        share = ws.share[y]
        for k in range(ws.room[WIDTH]):
            ws.mass[z, k] += share * ws.mass[y, k]
        y = ws.next_sibling[y]
    n = float(ws.n_under[z])
    ws.share[z] = n if ws.level[z] == ws.room[DEPTH] else n / (n + rates.alpha)


@helper
def sum_all_mass(ws, rates):
    """U of every node, bottom-up."""
    for level in range(ws.room[DEPTH], -1, -1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] == level:
                sum_mass(ws, rates, z)


@helper
def sum_mass_of(ws, rates, k):
    """U_z[k] of every node, bottom-up: one column."""
    for level in range(ws.room[DEPTH], -1, -1):
        scale = rates.alpha if level < ws.room[DEPTH] else 1.0
        for z in range(ws.level.shape[0]):
            if ws.level[z] == level:
                u = scale * ws.beta[z, k]
                y = ws.first_child[z]
                while y != NONE:
                    u += ws.share[y] * ws.mass[y, k]
                    y = ws.next_sibling[y]
                ws.mass[z, k] = u


@helper
def begin_change(ws, leaf, step, change):
    """`step` more data at a leaf: N, share, and in row `change` what its parent's U gains."""
    ws.n_under[leaf] += step
    ws.share[leaf] += step
    for k in range(ws.room[WIDTH]):
        ws.scratch[change, k] = step * ws.mass[leaf, k]


@helper
def carry_change(ws, rates, z, step, change):
    """The same at an inner node: U_z gains `change`, which becomes what the next U gains."""
    ws.n_under[z] += step
    before, after = ws.share[z], ws.n_under[z] / (ws.n_under[z] + rates.alpha)
    ws.share[z] = after
    for k in range(ws.room[WIDTH]):
        u = ws.mass[z, k]
        u_new = u + ws.scratch[change, k]
        ws.mass[z, k] = u_new
        ws.scratch[change, k] = after * u_new - before * u


@merged
def move_mass(ws, rates, old, new):
    """One datum less at leaf `old`, which keeps others, or -1; one more at `new`: N, share and U.

    Where the two paths have met, N and shares stay as they are, and U gains what both bring. A
    share 2^-L of every U on the old path stays, at least: a subtraction leaves all digits but a
    few.
    """
    begin_change(ws, new, np.int64(1), np.int64(GAIN))
    z, left = ws.parent[new], NONE
    if old != NONE:
        begin_change(ws, old, np.int64(-1), np.int64(LOSS))
        left = ws.parent[old]
    while z != left and z > 0:
        carry_change(ws, rates, z, np.int64(1), np.int64(GAIN))
        z = ws.parent[z]
        if old != NONE:
            carry_change(ws, rates, left, np.int64(-1), np.int64(LOSS))
            left = ws.parent[left]
    if old == NONE:
        ws.n_under[0] += 1
    else:
        for k in range(ws.room[WIDTH]):
            ws.scratch[GAIN, k] += ws.scratch[LOSS, k]
    while z > 0:
        share = ws.share[z]
        for k in range(ws.room[WIDTH]):
            gain = ws.scratch[GAIN, k]
            ws.mass[z, k] += gain
            ws.scratch[GAIN, k] = share * gain
        z = ws.parent[z]
    for k in range(ws.room[WIDTH]):
        ws.mass[0, k] += ws.scratch[GAIN, k]


@helper
def remove_last(ws, rates, n):
    """Datum n leaves a leaf or a component that it alone holds; what is empty goes.

    The U above are summed anew: taking most of a sum away by subtraction would leave rounding
    error in place of its small entries.
    """
    leaf = np.int64(ws.leaf[n])
    count_path(ws, leaf, np.int64(-1))
    z = drop_empty_nodes(ws, leaf)
    while z != NONE:
        sum_mass(ws, rates, z)
        z = ws.parent[z]
    leave_component(ws, rates, n)


@merged
def find_path(ws, rates, leaf):
    """on_path = the path to `leaf`; kept[1] = the shares along it without one of its data."""
    z = leaf
    for level in range(ws.room[DEPTH], 0, -1):
        ws.on_path[level] = z
        share = ws.n_under[z] - 1.0
        ws.kept[1, level] = share if level == ws.room[DEPTH] else share / (share + rates.alpha)
        z = ws.parent[z]


@merged
def root_mass_without(ws, k):
    """U_root[k] without one datum of `on_path`; kept[0] = share U[k] along it, likewise."""
    before, after = 0.0, 0.0
    for level in range(ws.room[DEPTH], 0, -1):
        z = ws.on_path[level]
        u = ws.mass[z, k]
        u_new = u + (after - before)
        before, after = ws.share[z] * u, ws.kept[1, level] * u_new
        ws.kept[0, level] = after
    return ws.mass[0, k] + (after - before)


@merged
def weigh(ws, table, z, row, top):
    """weight[k] = U[k] f(x_n; theta_k) / exp(top), U a row of `table`; their sums, the total."""
    for k in range(ws.room[WIDTH]):
        f = exp_within(ws.log_f[row, k] - top)
        ws.scratch[FACTOR, k] = f
        ws.scratch[WEIGHT, k] = f * table[z, k]
    total = 0.0
    for b in range(ws.room[WIDTH] // BLOCK):  # short chains of additions, not one long one
        part = 0.0
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            part += ws.scratch[WEIGHT, k]
        ws.block_sums[b] = part
        total += part
    return total


@merged
def draw_place(ws, k, target, lone):
    """The leaf, or the inner node with a new branch below it, given c_n = k; x_n plays no part.

    From the root down, at z: child y with weight share_y U_y[k], a new branch with alpha beta_zk.
    These add up to U_z[k], and `target` is uniform below U_root[k]: what it leaves over in the
    chosen child is uniform below the child's weight, so one random number serves the whole walk.
    A datum that is not `lone` is still counted along `on_path`: there `kept` has the true terms.
    """
    z = np.int64(0)
    counted = NONE if lone else ws.on_path[1]
    for level in range(1, ws.room[DEPTH] + 1):
        last, y = NONE, ws.first_child[z]
        while y != NONE:
            weight = ws.kept[0, level] if y == counted else ws.share[y] * ws.mass[y, k]
            if weight > 0.0:
                last = y
                if target < weight:
                    break
                target -= weight
            y = ws.next_sibling[y]
        if y == NONE and (last == NONE or ws.beta[z, k] > 0.0):
            return z
        z = last
        if z == counted:
            target /= ws.kept[1, level]
            counted = ws.on_path[min(level + 1, ws.room[DEPTH])]
        else:
            target /= ws.share[z]
            counted = NONE
    return z


@helper
def draw_far(ws, rates, row, leaf, rng):
    """(node, component) of a datum whose every product underflows: the same law, by logarithms.

    The datum is still counted at `leaf`; -1: it is not counted anywhere.

    Node first: a leaf z has weight prod along its path of N_child / (N_parent + alpha), times
    S_z = sum_k beta_zk f(x_n; theta_k); an inner z, "a new branch below z", the product along the
    path to z, times alpha / (N_z + alpha), times S_z. Then k with weight beta_zk f(x_n; theta_k).
    """
    slots = ws.level.shape[0]
    count_path(ws, leaf, np.int64(-1))
    for z in range(slots):
        ws.node_scratch[1, z] = -math.inf
    for level in range(ws.room[DEPTH] + 1):
        for z in range(slots):
            if ws.level[z] != level:
                continue
            log_path = 0.0
            if level > 0:
                up = ws.parent[z]
                step = ws.n_under[z] / (ws.n_under[up] + rates.alpha)
                log_path = ws.node_scratch[0, up] + math.log(step)
            ws.node_scratch[0, z] = log_path
            log_option = log_path + log_sum_at(ws, z, row)
            if level < ws.room[DEPTH]:
                log_option += math.log(rates.alpha / (ws.n_under[z] + rates.alpha))
            ws.node_scratch[1, z] = log_option
    z = draw_index(ws.node_scratch, np.int64(1), slots, rng)
    count_path(ws, leaf, np.int64(1))
    log_products(ws, z, row)
    return z, draw_index(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH], rng)


@merged
def redraw_by_gibbs(ws, rates, n, row, rng):
    """(v_n, c_n) from their exact joint conditional: c_n in proportion to f U_root, then v_n.

    Returns the component if it was just born, else 0. A datum that shares both its leaf and its
    component is not taken out: k is proposed with U_root as it is, which counts the datum and is
    too large everywhere, and drawn again where the random number lies beyond U_root[k] without it.
    If it comes back to the same leaf no U has changed.
    """
    leaf, k = np.int64(ws.leaf[n]), np.int64(ws.component[n])
    lone = ws.n_under[leaf] == 1 or (rates.n_fixed == 0 and ws.held[k] == 1)
    # The likelihood of its own component is a good unit as a rule, at no cost; else the largest.
    top = ws.log_f[row, k]
    if lone:
        remove_last(ws, rates, n)
    else:
        ws.held[k] -= 1
        find_path(ws, rates, leaf)
    total = 0.0
    for _ in range(2):
        total = weigh(ws, ws.mass, np.int64(0), row, top)
        if _TOO_SMALL < total < _TOO_LARGE:
            break
        top = largest(ws.log_f, row, ws.room[WIDTH])
    if total > _TOO_SMALL:
        k, target, bound = 0, 0.0, -1.0
        while target > bound:
            k, left = pick(ws.scratch, ws.block_sums, ws.room[WIDTH], uniform(rng) * total)
            target = left / ws.scratch[FACTOR, k]
            bound = math.inf if lone else root_mass_without(ws, k)
        z = draw_place(ws, k, target, lone)
    else:
        z, k = draw_far(ws, rates, row, NONE if lone else leaf, rng)
    born = 0
    if k == 0:
        k = born = break_component(ws, rates, z, rng)
    if ws.level[z] < ws.room[DEPTH]:
        z = grow_branch(ws, rates, z, k, rng)
    if lone:
        leaf = NONE
    if leaf != z:
        move_mass(ws, rates, leaf, z)
    if born > 0:  # every node has given it a part of its remainder
        sum_mass_of(ws, rates, np.int64(0))
        sum_mass_of(ws, rates, k)
    settle(ws, n, z, k)
    return born


@compiled
def gibbs_pass(ws, rates, first, order, start, rng):
    """(v_n, c_n) of the data first + order[start:], one after the other, by path Gibbs.

    Returns (position to go on from, code): a component just born, NEEDS_ROOM or DONE.
    """
    if start == 0 or ws.room[STALE] > 0:
        sum_all_mass(ws, rates)
        ws.room[STALE] = 0
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        born = redraw_by_gibbs(ws, rates, first + order[i], order[i], rng)
        ws.events[PATHS_ACCEPTED] += 1
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE


# ------------------------------------------------------------------------------------------------
# One datum by Metropolis-Hastings from the nested Chinese restaurant process
# ------------------------------------------------------------------------------------------------


@helper
def log_products(ws, z, row):
    """weight[k] = log beta_zk f(x_n; theta_k); returns the largest."""
    for k in range(ws.room[WIDTH]):
        ws.scratch[WEIGHT, k] = ws.log_beta[z, k] + ws.log_f[row, k]
    return largest(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH])


@helper
def log_sum_at(ws, z, row):
    """log S_z = log( sum_k beta_zk f(x_n; theta_k) ), the remainder with f* among them."""
    top = log_products(ws, z, row)
    if top == -math.inf:
        return top
    total = 0.0
    for k in range(ws.room[WIDTH]):
        total += math.exp(ws.scratch[WEIGHT, k] - top)
    return top + math.log(total)


@helper
def weigh_at(ws, z, row):
    """weight[k] = beta_zk f(x_n; theta_k), less the row's own factor; returns S_z, their total."""
    return weigh(ws, ws.beta, z, row, largest(ws.log_f, row, ws.room[WIDTH]))


@helper
def propose_leaf(ws, rates, rng):
    """A path from the nCRP given the other data: child y with N_y, a new child with alpha.

    New nodes draw their weights from the prior, Dir(gamma beta_pa). Returns the leaf.
    """
    z = np.int64(0)
    while ws.level[z] < ws.room[DEPTH]:
        target = uniform(rng) * (ws.n_under[z] + rates.alpha)
        y = ws.first_child[z]
        while y != NONE:
            target -= ws.n_under[y]
            if target < 0.0:
                break
            y = ws.next_sibling[y]
        if y == NONE:
            return grow_branch(ws, rates, z, np.int64(NONE), rng)
        z = y
    return z


@helper
def log_ratio(ws, new, old, row):
    """log(S_new / S_old)."""
    s_new, s_old = weigh_at(ws, new, row), weigh_at(ws, old, row)
    if min(s_new, s_old) > _TOO_SMALL:
        return math.log(s_new / s_old)
    return log_sum_at(ws, new, row) - log_sum_at(ws, old, row)


@helper
def draw_component(ws, z, row, rng):
    """P(c_n = k | z) proportional to beta_zk f(x_n; theta_k); 0: a new one, beta*_z f*(x_n)."""
    total = weigh_at(ws, z, row)
    if total > _TOO_SMALL:
        k, _ = pick(ws.scratch, ws.block_sums, ws.room[WIDTH], uniform(rng) * total)
        return k
    log_products(ws, z, row)
    return draw_index(ws.scratch, np.int64(WEIGHT), ws.room[WIDTH], rng)


@merged
def redraw_by_proposal(ws, rates, n, row, literal, rng):
    """v_n by Metropolis-Hastings with c_n summed out, then c_n given v_n.

    Accept the proposed leaf with min(1, S_new / S_old): the proposal is the prior conditional, so
    all nCRP terms cancel. `literal` keeps two inexact steps of the published algorithm: a lone
    component is not released, and a new component is broken as if nobody had chosen it.
    Returns the component if it was just born, else 0.
    """
    old = np.int64(ws.leaf[n])
    count_path(ws, old, np.int64(-1))
    if literal:
        ws.held[ws.component[n]] -= 1
    else:
        leave_component(ws, rates, n)
    new = propose_leaf(ws, rates, rng)
    leaf, loser = old, new
    if math.log1p(-uniform(rng)) < log_ratio(ws, new, old, row):
        leaf, loser = new, old
        ws.events[PATHS_ACCEPTED] += 1
    drop_empty_nodes(ws, loser)
    k = draw_component(ws, leaf, row, rng)
    born = k == 0
    if born:
        k = break_component(ws, rates, NONE if literal else leaf, rng)
    count_path(ws, leaf, np.int64(1))
    settle(ws, n, leaf, k)
    return k if born else 0


@compiled
def mh_pass(ws, rates, first, order, start, literal, rng):
    """(v_n, c_n) of the data first + order[start:] by Metropolis-Hastings; as `gibbs_pass`."""
    for i in range(start, order.shape[0]):
        if not has_room(ws, rates):
            return i, NEEDS_ROOM
        born = redraw_by_proposal(ws, rates, first + order[i], order[i], literal, rng)
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE


# ------------------------------------------------------------------------------------------------
# Concentrations, given the tree and the tables
# ------------------------------------------------------------------------------------------------


@helper
def log_density(prior, x):
    """Log density of a prior, given as (kind, number, number), at x, less a constant."""
    kind, a, b = prior
    if kind == UNIFORM:
        return 0.0 if a <= x <= b else -math.inf
    if kind == GAMMA_PRIOR:
        return (a - 1.0) * math.log(x) - b * x
    if kind == BETA:
        return (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) if x < 1.0 else -math.inf
    return -(a + 1.0) * math.log(x) - b / x


@helper
def log_rising(x, n):
    """log Gamma(x + n) / Gamma(x), n above 0."""
    return math.lgamma(x + n) - math.lgamma(x)


@merged
def log_tree_given(ws, alpha):
    """log p(V | alpha) = sum over inner z of m_z log alpha - log Gamma(N_z + alpha) / Gamma(alpha),
    m_z being the children of z, less what does not depend on alpha.
    """
    total, children = 0.0, -1
    for z in range(ws.level.shape[0]):
        if ws.level[z] >= 0:
            children += 1
            if ws.level[z] < ws.room[DEPTH]:
                total -= log_rising(alpha, float(ws.n_under[z]))
    return total + children * math.log(alpha)


@merged
def log_tables_given(ws, gamma):
    """log p(tables of all nodes below the root | gamma) = sum over them of
    m_z. log gamma - log Gamma(gamma + n_z.) / Gamma(gamma); n_z. is in node_scratch.
    """
    total, tables = 0.0, 0.0
    for z in range(ws.level.shape[0]):
        if ws.level[z] > 0:
            total -= log_rising(gamma, ws.node_scratch[0, z])
        if 0 <= ws.level[z] < ws.room[DEPTH]:
            tables += ws.node_scratch[0, z]  # an inner node's customers are its children's tables
    return total + tables * math.log(gamma)


@merged
def log_root_given(ws, rates, gamma0):
    """log p(the root's customers | gamma0) = K log gamma0 - log Gamma(gamma0 + n.) / Gamma(gamma0);
    in the finite form the first term is sum_k log Gamma(gamma0 / K + n_k) / Gamma(gamma0 / K).
    """
    total = -log_rising(gamma0, ws.node_scratch[0, 0])
    for k in range(1, ws.room[WIDTH]):
        n = ws.customers[0, k]
        if n > 0:
            if rates.n_fixed > 0:
                total += log_rising(gamma0 / rates.n_fixed, float(n))
            else:
                total += math.log(gamma0)
    return total


@merged
def log_conditional(ws, rates, which, prior, y):
    """Log density of log alpha, log gamma0 or log gamma at y, given V and the tables."""
    if not math.log(_SMALLEST_RATE) < y < math.log(_LARGEST_RATE):
        return -math.inf
    x = math.exp(y)
    value = y + log_density(prior, x)
    if value == -math.inf:
        return value
    if which == ALPHA:
        return value + log_tree_given(ws, x)
    if which == GAMMA:
        return value + log_tables_given(ws, x)
    return value + log_root_given(ws, rates, x)


@helper
def redraw_by_slice(ws, rates, which, prior, x, rng):
    """x from its conditional by one step of the slice sampler in log x (Neal 2003).

    One call for all points, in four stages (here, left, right, within): it compiles faster.
    """
    y = math.log(x)
    point, left, right, level, stage = y, y, y, 0.0, 0
    while True:
        value = log_conditional(ws, rates, which, prior, point)
        if stage == 0:
            level = value - exponential_draw(rng)
            left = y - _SLICE_WIDTH * uniform(rng)
            right = left + _SLICE_WIDTH
            point, stage = left, 1
        elif stage == 1:
            if value > level:
                left -= _SLICE_WIDTH
                point = left
            else:
                point, stage = right, 2
        elif stage == 2 and value > level:
            right += _SLICE_WIDTH
            point = right
        else:
            if stage == 3 and value >= level:
                return math.exp(point)
            if stage == 3:
                left, right = (point, right) if point < y else (left, point)
            stage = 3
            point = left + (right - left) * uniform(rng)


@merged
def redraw_concentration(ws, rates, learning, which, rng):
    """One concentration, if it is learned."""
    prior, x = learning.alpha, rates.alpha
    if which == GAMMA0:
        prior, x = learning.gamma0, rates.gamma0
    elif which == GAMMA:
        prior, x = learning.gamma, rates.gamma
    return x if prior[0] == FIXED else redraw_by_slice(ws, rates, which, prior, x, rng)


@merged
def draw_concentrations(ws, rates, learning, rng):
    """alpha given V; gamma0 and gamma given the tables; B plays no part."""
    for z in range(ws.level.shape[0]):
        total = 0
        for k in range(1, ws.room[WIDTH]):
            total += ws.customers[z, k]
        ws.node_scratch[0, z] = total
    alpha = gamma0 = gamma = 0.0
    for which in range(3):
        x = redraw_concentration(ws, rates, learning, which, rng)
        if which == ALPHA:
            alpha = x
        elif which == GAMMA0:
            gamma0 = x
        else:
            gamma = x
    return Rates(alpha, gamma0, gamma, rates.n_fixed)


# ------------------------------------------------------------------------------------------------
# Weights of all nodes, jointly
# ------------------------------------------------------------------------------------------------


@helper
def count_customers(ws, rates, literal, rng):
    """n_zk, bottom-up: data at a leaf; at an inner node the sum of its children's tables.

    m_zk ~ CRT(n_zk, gamma beta_pa,k) with the current parent weights. `literal` passes the raw
    numbers of data upwards instead, as the published algorithm does.
    """
    for z in range(ws.level.shape[0]):
        for k in range(ws.room[WIDTH]):
            ws.customers[z, k] = 0
    for n in range(ws.leaf.shape[0]):
        ws.customers[ws.leaf[n], ws.component[n]] += 1
    for level in range(ws.room[DEPTH], 0, -1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            up = ws.parent[z]
            for k in range(1, ws.room[WIDTH]):
                tables = ws.customers[z, k]
                if tables > 0 and not literal:
                    tables = tables_draw(tables, rates.gamma * ws.beta[up, k], rng)
                ws.customers[up, k] += tables


@merged
def draw_all_weights(ws, rates, rng):
    """beta_z given the customers of z, top-down; see `draw_weights`."""
    for level in range(ws.room[DEPTH] + 1):
        for z in range(ws.level.shape[0]):
            if ws.level[z] != level:
                continue
            if level == 0:
                set_root_shapes(ws, rates)
            else:
                up = ws.parent[z]
                for k in range(ws.room[WIDTH]):
                    ws.scratch[SHAPE, k] = rates.gamma * ws.beta[up, k]
            for k in range(1, ws.room[WIDTH]):
                ws.scratch[SHAPE, k] += ws.customers[z, k]
            draw_node_weights(ws, z, rng)


@compiled
def draw_weights(ws, rates, learning, literal, rng):
    """B, and the concentrations that are learned, given V and c; returns the concentrations.

    Tables bottom-up; alpha, gamma0 and gamma with B integrated out (`log_conditional`); then
    weights top-down: beta_root ~ Dir(n_root,1, ..., n_root,K, gamma0), in the finite form
    Dir(n_root,k + gamma0 / K); beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa).
    """
    learned = learning.alpha[0] + learning.gamma0[0] + learning.gamma[0] > FIXED
    if learned:
        count_customers(ws, rates, not learned, rng)  # tables: a constant would compile it twice
        rates = draw_concentrations(ws, rates, learning, rng)
    if literal or not learned:
        count_customers(ws, rates, literal, rng)
    draw_all_weights(ws, rates, rng)
    return rates


@compiled
def draw_tables(ws, rates, literal, rng):
    """The tables of `draw_weights` alone, for what is drawn from them outside; see `_walk`.

    A kernel of its own, like the next one: a fit that has no use for them does not compile them.
    """
    count_customers(ws, rates, literal, rng)


@compiled
def draw_weights_given_tables(ws, rates, rng):
    """The weights of `draw_weights` alone: beta_z ~ Dir(n_zk + gamma beta_pa,k; gamma beta*_pa)."""
    draw_all_weights(ws, rates, rng)


@merged
def set_root_shapes(ws, rates):
    """Shapes of the root before any customer: (gamma0; 0, ..., 0), or gamma0 / K each."""
    each = rates.gamma0 / rates.n_fixed if rates.n_fixed > 0 else 0.0
    for k in range(1, ws.room[WIDTH]):
        ws.scratch[SHAPE, k] = each if k <= rates.n_fixed else 0.0
    ws.scratch[SHAPE, 0] = 0.0 if rates.n_fixed > 0 else rates.gamma0
