"""All compiled code of the Pitman-Yor diffusion tree; arrays in, arrays out.

The same steps in plain Python, which recompute every message and the whole density, are in
`reference`; from the same random numbers both go the same way. Symbols are the paper's:
alpha, theta, c, H; the clock is s = -log(1 - t), on which divergence has a constant rate.

Places of nodes are integrated out. A message is a Gaussian about a node's place: `up` from the data
below it, `down` (kept at the child) from all other data. Every dimension has the same variances, so
a variance is one number. With both messages at hand an attachment anywhere costs a few flops: on an
edge only three squared distances matter, whatever the dimension.

An attachment is a point of an edge, or an inner node (an atom: the subtree becomes one more child).
A subtree with n leaves and clock s_r is attached with prior weight

    on an edge with m leaves, at s:  c Gamma(m - alpha) Gamma(n - alpha)
                                     / (Gamma(m + n + theta) Gamma(1 - alpha)) ds
    at a node with m leaves:         (theta + alpha K) Gamma(n - alpha) Gamma(m + theta)
                                     / (Gamma(1 - alpha) Gamma(m + n + theta))

times what changes on the way there from the origin: exp(-c ds (H(m + n - 1) - H(m - 1))) for each
edge, Gamma(n_l + n - alpha) Gamma(m + theta) / (Gamma(n_l - alpha) Gamma(m + n + theta)) for each
node, and exp(-c (s_r - s) H(n - 1)) for the edge of the subtree itself. For n = 1 these are the
probabilities of one more particle; for n > 1 they do not add up to 1.
"""

import math

from bhmc._compiled.decorators import compiled, helper, summing
from bhmc._compiled.random_source import random_source, uniform
from bhmc.baselines.pydt.state import (
    ACC,
    ALPHA,
    LATEST,
    MOVED,
    MOVES,
    N_FREE,
    NOISE,
    NONE,
    RATE,
    SCORED,
    SIGMA2,
    SUFFIX,
    THETA,
    TOP,
)

_LOG_2PI = 1.8378770664093453
# No variance is below this: where the noise is 0, exp(-s) may be.
_LEAST_VARIANCE = 1e-300
# Steps of the search for the best place on an edge, over at most this factor of 1 - t.
_BISECTIONS = 10
_WIDEST = 1e-13
# An edge that must be worse than the best so far by this (a logarithm) is one piece.
_HOPELESS = 15.0
# A slice that has shrunk to this share of the whole has shrunk to the present place.
_SHRUNK = 1e-15
_ALMOST_1 = 1.0 - 2.0**-53


# ------------------------------------------------------------------------------------------------
# Clocks, tables, Gaussian messages
# ------------------------------------------------------------------------------------------------


def source_of(rng):
    """The source of random numbers that the kernels take."""
    return random_source(rng)


@helper
def clock_of(ws, v):
    """s of a node, 0 at the origin."""
    return 0.0 if v == NONE else ws.clock[v]


@helper
def rest_of(ws, v):
    """1 - t of a node, 1 at the origin."""
    return 1.0 if v == NONE else ws.rest[v]


@helper
def gap(ws, a, b):
    """Variance of the motion from node a to node b below it."""
    return ws.rates[SIGMA2] * (rest_of(ws, a) - ws.rest[b])


@compiled
def tabulate(ws):
    """Tables of log Gamma(i - alpha), log Gamma(i + theta) and H(i) for the present rates."""
    alpha, theta = ws.rates[ALPHA], ws.rates[THETA]
    ws.H[0] = 0.0
    for i in range(1, ws.H.shape[0]):
        ws.log_gamma_less[i] = math.lgamma(i - alpha)
        ws.log_gamma_more[i] = math.lgamma(i + theta)
        ws.H[i] = ws.H[i - 1] + math.exp(ws.log_gamma_less[i] - math.lgamma(i + 1.0 + theta))


@summing
def distance2(x, i, y, j):
    """|x_i - y_j|^2."""
    total = 0.0
    for d in range(x.shape[1]):
        total += (x[i, d] - y[j, d]) * (x[i, d] - y[j, d])
    return total


@helper
def copy_row(x, i, y, j):
    """x_i = y_j."""
    for d in range(x.shape[1]):
        x[i, d] = y[j, d]


@helper
def merge(x, i, var, y, j, other):
    """N(x_i, var) N(y_j, other), up to its factor: the mean replaces x_i, the variance is returned.

    In variances, not precisions: the origin is known, with variance 0.
    """
    total = max(var + other, _LEAST_VARIANCE)
    w = other / total
    for d in range(x.shape[1]):
        x[i, d] = w * x[i, d] + (1.0 - w) * y[j, d]
    return var * w


@helper
def log_factor(squared, variance, n_features):
    """log N(difference; 0, variance I) from the squared difference."""
    variance = max(variance, _LEAST_VARIANCE)
    return -0.5 * (n_features * (_LOG_2PI + math.log(variance)) + squared / variance)


@helper
def refresh_up(ws, v):
    """The message of v from its children's; the log of the factor that merging them leaves."""
    kid = ws.first[v]
    copy_row(ws.up, v, ws.up, kid)
    var = ws.up_var[kid] + gap(ws, v, kid)
    log_z = 0.0
    kid = ws.after[kid]
    while kid != NONE:
        other = ws.up_var[kid] + gap(ws, v, kid)
        squared = distance2(ws.up, v, ws.up, kid)
        log_z += log_factor(squared, var + other, ws.up.shape[1])
        var = merge(ws.up, v, var, ws.up, kid, other)
        kid = ws.after[kid]
    ws.up_var[v] = var
    return log_z


@helper
def refresh_path(ws, v):
    """Messages up from v to the top: the only ones that a cut or a graft at v changes."""
    while v != NONE:
        refresh_up(ws, v)
        v = ws.parent[v]


@helper
def list_children_first(ws):
    """All nodes in `ws.order`, children before their parents; how many there are."""
    n_waiting, n = 1, 0
    ws.stack[0] = ws.counts[TOP]
    while n_waiting > 0:
        n_waiting -= 1
        v = ws.stack[n_waiting]
        ws.order[n] = v
        n += 1
        kid = ws.first[v]
        while kid != NONE:
            ws.stack[n_waiting] = kid
            n_waiting += 1
            kid = ws.after[kid]
    for i in range(n // 2):
        ws.order[i], ws.order[n - 1 - i] = ws.order[n - 1 - i], ws.order[i]
    return n


@compiled
def refresh(ws):
    """All messages up anew; log p(X | tree, sigma2, noise)."""
    total = 0.0
    for i in range(list_children_first(ws)):
        v = ws.order[i]
        if ws.first[v] == NONE:
            ws.up_var[v] = ws.rates[NOISE]
        else:
            total += refresh_up(ws, v)
    top, squared = ws.counts[TOP], 0.0
    for d in range(ws.up.shape[1]):
        squared += ws.up[top, d] * ws.up[top, d]
    return total + log_factor(squared, ws.up_var[top] + gap(ws, NONE, top), ws.up.shape[1])


@helper
def start_below(ws, v):
    """The message about v's place from all data not below v, in scratch; its variance."""
    copy_row(ws.scratch, ACC, ws.down, v)
    return ws.down_var[v] + gap(ws, ws.parent[v], v)


@helper
def refresh_down_one(ws, v):
    """The message down of v, from that of its parent and those up of its siblings."""
    a = ws.parent[v]
    if a == NONE:
        for d in range(ws.down.shape[1]):
            ws.down[v, d] = 0.0
        ws.down_var[v] = 0.0
        return
    var = start_below(ws, a)
    copy_row(ws.down, v, ws.scratch, ACC)
    kid = ws.first[a]
    while kid != NONE:
        if kid != v:
            var = merge(ws.down, v, var, ws.up, kid, ws.up_var[kid] + gap(ws, a, kid))
        kid = ws.after[kid]
    ws.down_var[v] = var


@helper
def refresh_down_all(ws, v):
    """The messages down of all children of v: once forwards, once backwards, however many.

    (Taking a child's own message out of the whole would lose digits where it is most of it.)
    """
    var = start_below(ws, v)
    kid, last = ws.first[v], NONE
    while kid != NONE:
        copy_row(ws.down, kid, ws.scratch, ACC)
        ws.down_var[kid] = var
        var = merge(ws.scratch, ACC, var, ws.up, kid, ws.up_var[kid] + gap(ws, v, kid))
        last = kid
        kid = ws.after[kid]
    copy_row(ws.scratch, SUFFIX, ws.up, last)
    var = ws.up_var[last] + gap(ws, v, last)
    kid = ws.before[last]
    while kid != NONE:
        ws.down_var[kid] = merge(ws.down, kid, ws.down_var[kid], ws.scratch, SUFFIX, var)
        var = merge(ws.scratch, SUFFIX, var, ws.up, kid, ws.up_var[kid] + gap(ws, v, kid))
        kid = ws.before[kid]


# ------------------------------------------------------------------------------------------------
# The density of a tree
# ------------------------------------------------------------------------------------------------


@helper
def time_under_divergence(ws):
    """sum over inner nodes b of (s_b - s_a) H(m(b) - 1): the exponent of c."""
    total = 0.0
    n = (ws.parent.shape[0] + 1) // 2
    for b in range(n, ws.parent.shape[0]):
        if ws.n_kids[b] > 0:
            total += (ws.clock[b] - clock_of(ws, ws.parent[b])) * ws.H[ws.size[b] - 1]
    return total


@compiled
def log_tree(ws):
    """log p(topology, clocks | alpha, theta, c), a density in the clocks s."""
    alpha, theta = ws.rates[ALPHA], ws.rates[THETA]
    total = -ws.rates[RATE] * time_under_divergence(ws)
    n = (ws.parent.shape[0] + 1) // 2
    for v in range(ws.parent.shape[0]):
        if v >= n and ws.n_kids[v] > 0:
            total += math.log(ws.rates[RATE]) - ws.log_gamma_more[ws.size[v]]
            total -= (ws.n_kids[v] - 1) * ws.log_gamma_less[1]
            for k in range(3, ws.n_kids[v] + 1):
                total += math.log(theta + (k - 1) * alpha)
        if (v < n or ws.n_kids[v] > 0) and ws.parent[v] != NONE:
            total += ws.log_gamma_less[ws.size[v]]
    return total


# ------------------------------------------------------------------------------------------------
# Cut and graft
# ------------------------------------------------------------------------------------------------


@helper
def add_size(ws, v, n):
    """n leaves more (or fewer) in v and above."""
    while v != NONE:
        ws.size[v] += n
        v = ws.parent[v]


@helper
def replace_child(ws, old, new):
    """`new` takes the place of `old` among its siblings, or at the top."""
    a = ws.parent[old]
    ws.parent[new] = a
    ws.before[new], ws.after[new] = ws.before[old], ws.after[old]
    if a == NONE:
        ws.counts[TOP] = new
    elif ws.before[old] == NONE:
        ws.first[a] = new
    if ws.before[new] != NONE:
        ws.after[ws.before[new]] = new
    if ws.after[new] != NONE:
        ws.before[ws.after[new]] = new


@helper
def take_out(ws, r):
    """Take r out of its siblings' list."""
    p = ws.parent[r]
    if ws.before[r] == NONE:
        ws.first[p] = ws.after[r]
    else:
        ws.after[ws.before[r]] = ws.after[r]
    if ws.after[r] != NONE:
        ws.before[ws.after[r]] = ws.before[r]
    ws.n_kids[p] -= 1
    ws.parent[r], ws.before[r], ws.after[r] = NONE, NONE, NONE


@helper
def put_in(ws, r, p, position):
    """Put r in the list of p's children, with `position` children before it."""
    previous, follower = NONE, ws.first[p]
    for _ in range(position):
        previous, follower = follower, ws.after[follower]
    ws.parent[r], ws.before[r], ws.after[r] = p, previous, follower
    if previous == NONE:
        ws.first[p] = r
    else:
        ws.after[previous] = r
    if follower != NONE:
        ws.before[follower] = r
    ws.n_kids[p] += 1


@helper
def cut(ws, r):
    """Cut the subtree of r off. Returns where it was: a node, and the clock on the edge above it.

    A parent left with one child goes. If the parent stays, the place is the parent itself: its own
    clock is what is returned.
    """
    p = ws.parent[r]
    take_out(ws, r)
    s = ws.clock[p]
    if ws.n_kids[p] > 1:
        add_size(ws, p, -ws.size[r])
        refresh_path(ws, p)
        return p, s
    sibling = ws.first[p]
    above = ws.parent[p]
    replace_child(ws, p, sibling)
    ws.n_kids[p], ws.first[p] = 0, NONE
    ws.free[ws.counts[N_FREE]] = p
    ws.counts[N_FREE] += 1
    add_size(ws, above, -ws.size[r])
    refresh_path(ws, above)
    return sibling, s


@helper
def graft(ws, r, b, s, rng):
    """Attach r to node b itself where s is b's clock, else to the edge above b at clock s.

    r comes at a random place among its siblings, so that the order of siblings, which the slice
    sampler uses, says nothing about the tree.
    """
    p = b
    if s < ws.clock[b]:
        ws.counts[N_FREE] -= 1
        p = ws.free[ws.counts[N_FREE]]
        replace_child(ws, b, p)
        ws.clock[p], ws.rest[p] = s, math.exp(-s)
        ws.size[p] = ws.size[b]
        ws.parent[b], ws.before[b], ws.after[b] = p, NONE, NONE
        ws.first[p], ws.n_kids[p] = b, 1
    put_in(ws, r, p, int(uniform(rng) * (ws.n_kids[p] + 1)))
    add_size(ws, p, ws.size[r])
    refresh_path(ws, p)


# ------------------------------------------------------------------------------------------------
# What an attachment is worth
# ------------------------------------------------------------------------------------------------


@helper
def measure(ws, b, r):
    """The three squared distances of the edge above b for subtree r."""
    ws.apart[b, 0] = distance2(ws.down, b, ws.up, r)
    ws.apart[b, 1] = distance2(ws.up, b, ws.up, r)
    ws.apart[b, 2] = distance2(ws.down, b, ws.up, b)


@helper
def parts_of_fit(ws, b, r, x):
    """At 1 - t = x above b: share of the message down, variance and squared distance of r."""
    sigma2 = ws.rates[SIGMA2]
    var_down = ws.down_var[b] + sigma2 * (rest_of(ws, ws.parent[b]) - x)
    var_up = ws.up_var[b] + sigma2 * (x - ws.rest[b])
    both = max(var_down + var_up, _LEAST_VARIANCE)
    w = var_up / both
    variance = max(var_down * w + ws.up_var[r] + sigma2 * (x - ws.rest[r]), _LEAST_VARIANCE)
    squared = w * ws.apart[b, 0] + (1.0 - w) * ws.apart[b, 1] - w * (1.0 - w) * ws.apart[b, 2]
    return w, variance, max(squared, 0.0), both


@helper
def log_fit(ws, b, r, x):
    """log p(data of r | other data, r attached above b at 1 - t = x), less a constant of r."""
    ws.counts[SCORED] += 1
    _, variance, squared, _ = parts_of_fit(ws, b, r, x)
    return -0.5 * (ws.up.shape[1] * math.log(variance) + squared / variance)


@helper
def fit_rises(ws, b, r, x):
    """Whether `log_fit` rises with x there: the sign of its derivative."""
    w, variance, squared, both = parts_of_fit(ws, b, r, x)
    # In units of sigma2: d w / dx = 1 / both, d variance / dx = 2 (1 - w) by the product rule.
    slope_squared = (ws.apart[b, 0] - ws.apart[b, 1] - (1.0 - 2.0 * w) * ws.apart[b, 2]) / both
    return 2.0 * (1.0 - w) * (squared / variance - ws.up.shape[1]) > slope_squared


@helper
def fit_bound(ws, b, r):
    """No `log_fit` on the edge above b is larger: the least distance, the best variance for it."""
    _, least, _, _ = parts_of_fit(ws, b, r, max(ws.rest[b], ws.rest[r]))
    _, largest, _, _ = parts_of_fit(ws, b, r, rest_of(ws, ws.parent[b]))
    to_down, to_up, along = ws.apart[b, 0], ws.apart[b, 1], ws.apart[b, 2]
    w = 0.0
    if along > 0.0:
        w = min(max(0.5 * (to_up + along - to_down) / along, 0.0), 1.0)
    squared = max(w * to_down + (1.0 - w) * to_up - w * (1.0 - w) * along, 0.0)
    variance = min(max(squared / ws.up.shape[1], least), largest)
    return -0.5 * (ws.up.shape[1] * math.log(variance) + squared / variance)


@helper
def best_place(ws, b, r):
    """Clock between the ends of the edge above b where the data of r fit about best.

    Any place would leave the sampler exact; a good one makes it accept.
    """
    high = rest_of(ws, ws.parent[b])
    low = max(max(ws.rest[b], ws.rest[r]), high * _WIDEST)
    for _ in range(_BISECTIONS):
        x = math.sqrt(low * high)
        if fit_rises(ws, b, r, x):
            low = x
        else:
            high = x
    return -0.5 * (math.log(low) + math.log(high))


@helper
def slope(ws, b, r):
    """lambda: on the edge above b the prior weight of attaching r falls as exp(-lambda s)."""
    m, n = ws.size[b], ws.size[r]
    return ws.rates[RATE] * (ws.H[m + n - 1] - ws.H[m - 1] - ws.H[n - 1])


@helper
def log_mass(rate, width):
    """log of the integral of exp(-rate x) over 0 < x < width."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return math.log(width)
    log_area = math.log(-math.expm1(-steep * width) / steep)
    return log_area if rate > 0.0 else log_area + steep * width


@helper
def share_below(rate, width, x):
    """Share of that integral up to x."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return x / width
    if rate > 0.0:
        return math.expm1(-steep * x) / math.expm1(-steep * width)
    return 1.0 - math.expm1(-steep * (width - x)) / math.expm1(-steep * width)


@helper
def place_of_share(rate, width, q):
    """The x of which `share_below` is q."""
    steep = abs(rate)
    if steep * width < 1e-9:
        return q * width
    if rate > 0.0:
        return -math.log1p(q * math.expm1(-steep * width)) / steep
    return width + math.log1p((1.0 - q) * math.expm1(-steep * width)) / steep


@helper
def own_edge(ws, r, s):
    """log exp(-c (s_r - s) H(n - 1)): the subtree's own edge, were it attached at s."""
    if ws.size[r] == 1:
        return 0.0
    return -ws.rates[RATE] * (ws.clock[r] - s) * ws.H[ws.size[r] - 1]


@helper
def log_attach(ws, b, r):
    """log of the prior weight per unit of clock of attaching r to the edge above b."""
    m, n = ws.size[b], ws.size[r]
    weight = ws.log_gamma_less[m] + ws.log_gamma_less[n] - ws.log_gamma_more[m + n]
    return math.log(ws.rates[RATE]) + weight - ws.log_gamma_less[1]


@helper
def log_join(ws, b, r):
    """log((theta + alpha K) Gamma(n - alpha) / Gamma(1 - alpha)): r becomes a child of b."""
    new = ws.rates[THETA] + ws.rates[ALPHA] * ws.n_kids[b]
    if new <= 0.0:
        return -math.inf
    return math.log(new) + ws.log_gamma_less[ws.size[r]] - ws.log_gamma_less[1]


@helper
def log_follow(ws, kid, r):
    """log(Gamma(n_l + n - alpha) / Gamma(n_l - alpha)): r follows the branch of `kid`."""
    m = ws.size[kid]
    return ws.log_gamma_less[m + ws.size[r]] - ws.log_gamma_less[m]


@helper
def log_crowd(ws, b, r):
    """log(Gamma(m + theta) / Gamma(m + n + theta)): r comes to node b."""
    m = ws.size[b]
    return ws.log_gamma_more[m] - ws.log_gamma_more[m + ws.size[r]]


@helper
def survival(ws, b, r):
    """H(m + n - 1) - H(m - 1): at this rate times c the leaves of r do not come down the edge."""
    m = ws.size[b]
    return ws.H[m + ws.size[r] - 1] - ws.H[m - 1]


# ------------------------------------------------------------------------------------------------
# The slice sampler over attachment points
# ------------------------------------------------------------------------------------------------


@helper
def add_piece(ws, n, b, low, high, fit, log_weight):
    """One piece more: from `low` to `high` on the edge above b, of that weight."""
    ws.piece_node[n] = b
    ws.piece_low[n], ws.piece_high[n] = low, high
    ws.piece_fit[n], ws.piece_sum[n] = fit, log_weight
    return n + 1


@helper
def add_edge(ws, n, b, r, best):
    """The pieces of the edge above b: about the best place, and farther and farther off.

    A piece stands for prior times likelihood by the likelihood of its place nearest to the best,
    so it hardly ever promises too little. Likelihoods change at most as fast as 1 - t to the power
    of d / 2, hence the widths.
    """
    low = clock_of(ws, ws.parent[b])
    high = min(min(ws.clock[b], ws.clock[r]), LATEST)
    if not high > low:  # as long as 0, by rounding
        return n, best
    rate = slope(ws, b, r)
    base = ws.log_reach[b] + log_attach(ws, b, r) + own_edge(ws, r, low)
    mass = log_mass(rate, high - low)
    fit = fit_bound(ws, b, r)
    if base + mass + fit < best - _HOPELESS:
        return add_piece(ws, n, b, low, high, fit, base + mass + fit), best
    middle = min(max(best_place(ws, b, r), low), high)
    whole = base + mass + log_fit(ws, b, r, math.exp(-middle))
    unit = math.sqrt(2.0 / ws.up.shape[1])
    start = low
    for i in range(5):
        offset = (-3.0, -1.0, 0.0, 1.0, 3.0)[i]
        end = high
        if i < 4:
            end = min(max(middle + (-3.0, -1.0, 1.0, 3.0)[i] * unit, low), high)
        if end > start:
            nearest = min(max(middle + offset * unit, start), end)
            here = log_fit(ws, b, r, math.exp(-nearest))
            mass = log_mass(rate, end - start) - rate * (start - low)
            n = add_piece(ws, n, b, start, end, here, base + mass + here)
            start = end
    return n, max(best, whole)


@helper
def add_node(ws, n, b, r):
    """The piece of node b itself, where a new branch may join."""
    join = log_join(ws, b, r)
    if join == -math.inf:
        return n
    s = ws.clock[b]
    fit = log_fit(ws, b, r, ws.rest[b])
    passed = ws.log_reach[b] - ws.rates[RATE] * (s - clock_of(ws, ws.parent[b])) * survival(
        ws, b, r
    )
    weight = passed + log_crowd(ws, b, r) + join + own_edge(ws, r, s)
    return add_piece(ws, n, b, s, s, fit, weight + fit)


@helper
def open_node(ws, b, r, n_waiting):
    """Put b's children on the stack, with what it takes to get there and their messages down."""
    refresh_down_all(ws, b)
    length = ws.clock[b] - clock_of(ws, ws.parent[b])
    passed = ws.log_reach[b] - ws.rates[RATE] * length * survival(ws, b, r) + log_crowd(ws, b, r)
    kid = ws.first[b]
    while kid != NONE:
        ws.log_reach[kid] = passed + log_follow(ws, kid, r)
        ws.stack[n_waiting] = kid
        n_waiting += 1
        kid = ws.after[kid]
    return n_waiting


@helper
def list_pieces(ws, r):
    """All places where r may be attached, as pieces with summed weights; how many there are."""
    top = ws.counts[TOP]
    refresh_down_one(ws, top)
    ws.log_reach[top] = 0.0
    ws.stack[0] = top
    n_waiting, n, best = 1, 0, -math.inf
    while n_waiting > 0:
        n_waiting -= 1
        b = ws.stack[n_waiting]
        measure(ws, b, r)
        ws.piece_of[b] = n
        n, best = add_edge(ws, n, b, r, best)
        if ws.n_kids[b] > 0 and ws.clock[b] < ws.clock[r]:
            n = add_node(ws, n, b, r)
            n_waiting = open_node(ws, b, r, n_waiting)
    sum_pieces(ws, n)
    return n


@helper
def sum_pieces(ws, n):
    """Log weights become sums of weights, the largest weight being 1."""
    largest = -math.inf
    for i in range(n):
        largest = max(largest, ws.piece_sum[i])
    total = 0.0
    for i in range(n):
        total += math.exp(ws.piece_sum[i] - largest)
        ws.piece_sum[i] = total


@helper
def piece_at(ws, n, u):
    """The first of n pieces whose sum is above u."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        if ws.piece_sum[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def place_at(ws, i, r, u):
    """The clock at position u, which is in piece i."""
    low, high = ws.piece_low[i], ws.piece_high[i]
    if low == high:
        return low
    before = ws.piece_sum[i - 1] if i > 0 else 0.0
    q = min(max((u - before) / (ws.piece_sum[i] - before), 0.0), _ALMOST_1)
    s = low + place_of_share(slope(ws, ws.piece_node[i], r), high - low, q)
    return s if s < high else 0.5 * (low + high)  # rounded up to the end, which is a node


@helper
def surplus(ws, i, r, s):
    """log likelihood at s less the one that stands for piece i."""
    if ws.piece_low[i] == ws.piece_high[i]:
        return 0.0
    return log_fit(ws, ws.piece_node[i], r, math.exp(-s)) - ws.piece_fit[i]


@helper
def piece_holding(ws, n, b, s):
    """The piece of place (b, s)."""
    i = ws.piece_of[b]
    if s == ws.clock[b]:  # the node itself comes after the pieces of its edge
        while ws.piece_low[i] != ws.piece_high[i]:
            i += 1
        return i
    while i + 1 < n and ws.piece_node[i + 1] == b and ws.piece_high[i] <= s:
        i += 1
    return i


@helper
def position_of(ws, i, r, s, rng):
    """The position of clock s in piece i; a node is wide, and its position a random one."""
    before = ws.piece_sum[i - 1] if i > 0 else 0.0
    low, high = ws.piece_low[i], ws.piece_high[i]
    if low == high:
        share = uniform(rng)
    else:
        share = share_below(slope(ws, ws.piece_node[i], r), high - low, s - low)
    return before + share * (ws.piece_sum[i] - before)


@helper
def slice_place(ws, r, b, s, rng):
    """(b, s) ~ a slice sampler's step on p(place of r | rest of the tree, data), from (b, s).

    Pieces put all places on a line, a piece as long as its weight and neighbours in the tree side
    by side. What is left of the density there is exp(surplus). A level is drawn under it, and
    positions from the whole line, which shrinks towards the present one until one is above.
    """
    n = list_pieces(ws, r)
    here = piece_holding(ws, n, b, s)
    position = position_of(ws, here, r, s, rng)
    level = surplus(ws, here, r, s) + math.log(1.0 - uniform(rng))
    low, high = 0.0, ws.piece_sum[n - 1]
    least = _SHRUNK * high
    while high - low > least:
        u = low + (high - low) * uniform(rng)
        i = piece_at(ws, n, u)
        new = place_at(ws, i, r, u)
        if surplus(ws, i, r, new) >= level:
            return ws.piece_node[i], new
        if u < position:
            low = u
        else:
            high = u
    return b, s


@helper
def pick_subtree(ws, rng):
    """A slot, each as likely; NONE where it holds nothing that can be cut.

    A free slot counts as a wasted turn: then a subtree's chance does not depend on how many inner
    nodes the tree has, which the move may change.
    """
    ws.counts[MOVES] += 1
    r = int(uniform(rng) * ws.parent.shape[0])
    return (
        NONE if ws.parent[r] == NONE or (r > ws.parent.shape[0] // 2 and ws.n_kids[r] == 0) else r
    )


@compiled
def slice_moves(ws, n_moves, rng):
    """n_moves times: cut a random subtree off and attach it again by `slice_place`."""
    for _ in range(n_moves):
        r = pick_subtree(ws, rng)
        if r != NONE:
            b, s = cut(ws, r)
            new_b, new_s = slice_place(ws, r, b, s, rng)
            ws.counts[MOVED] += new_b != b or new_s != s
            graft(ws, r, new_b, new_s, rng)


@compiled
def insert_leaves(ws, leaves, rng):
    """Attach the leaves one after another, each at random by the weights of the pieces: a start."""
    for leaf in leaves:
        if ws.counts[TOP] == NONE:
            ws.counts[TOP] = leaf
        else:
            n = list_pieces(ws, leaf)
            u = uniform(rng) * ws.piece_sum[n - 1]
            i = piece_at(ws, n, u)
            graft(ws, leaf, ws.piece_node[i], place_at(ws, i, leaf, u), rng)


# ------------------------------------------------------------------------------------------------
# Metropolis-Hastings with places from the prior
# ------------------------------------------------------------------------------------------------


@helper
def largest_choice(ws, b, r):
    """The largest log weight of r's choices at node b, so that their sum does not overflow."""
    largest = log_join(ws, b, r)
    kid = ws.first[b]
    while kid != NONE:
        largest = max(largest, log_follow(ws, kid, r))
        kid = ws.after[kid]
    return largest


@helper
def sum_choices(ws, b, r, largest):
    """The sum of the weights of r's choices at node b, over exp(largest)."""
    total = math.exp(log_join(ws, b, r) - largest)
    kid = ws.first[b]
    while kid != NONE:
        total += math.exp(log_follow(ws, kid, r) - largest)
        kid = ws.after[kid]
    return total


@helper
def choose_branch(ws, b, r, rng):
    """The child of b that r follows, or b for a new branch, in proportion to their weights."""
    largest = largest_choice(ws, b, r)
    u = uniform(rng) * sum_choices(ws, b, r, largest)
    kid = ws.first[b]
    while kid != NONE:
        u -= math.exp(log_follow(ws, kid, r) - largest)
        if u < 0.0:
            return kid
        kid = ws.after[kid]
    if log_join(ws, b, r) == -math.inf:  # rounding: no branch can be new
        return ws.first[b]
    return b


@helper
def walk_down(ws, r, rng):
    """A place for r, found as a particle would; NONE where it is after r's own clock or LATEST.

    Exactly a particle's law where r is one leaf. Several leaves that must stay together leave an
    edge at the rate of `log_attach` and choose branches in proportion to the weights of doing so
    together: near their law, and `log_correction` has the rest.
    """
    b = ws.counts[TOP]
    while True:
        s = clock_of(ws, ws.parent[b])
        s -= math.log(1.0 - uniform(rng)) / math.exp(log_attach(ws, b, r))
        if min(s, ws.clock[b]) >= min(ws.clock[r], LATEST):
            return NONE, 0.0
        if s < ws.clock[b]:
            return b, s
        kid = choose_branch(ws, b, r, rng)
        if kid == b:
            return b, ws.clock[b]
        b = kid


@helper
def log_correction(ws, r, b, s):
    """log of the prior weight of place (b, s) for r over its density under `walk_down`.

    0 everywhere where r is one leaf.
    """
    total = own_edge(ws, r, s)
    at_node = s == ws.clock[b]
    while b != NONE:
        if at_node:
            largest = largest_choice(ws, b, r)
            total += largest + math.log(sum_choices(ws, b, r, largest)) + log_crowd(ws, b, r)
        length = s - clock_of(ws, ws.parent[b])
        total += length * (math.exp(log_attach(ws, b, r)) - ws.rates[RATE] * survival(ws, b, r))
        b = ws.parent[b]
        s, at_node = clock_of(ws, b), True
    return total


@helper
def fit_at(ws, r, b, s):
    """`log_fit` at one place, with the messages down on the way there only."""
    n = 0
    v = b
    while v != NONE:
        ws.stack[n] = v
        n += 1
        v = ws.parent[v]
    for i in range(n - 1, -1, -1):
        refresh_down_one(ws, ws.stack[i])
    measure(ws, b, r)
    return log_fit(ws, b, r, math.exp(-s))


@compiled
def mh_moves(ws, n_moves, rng):
    """n_moves times: cut a random subtree off, propose a place from the prior, accept or not."""
    for _ in range(n_moves):
        r = pick_subtree(ws, rng)
        if r != NONE:
            b, s = cut(ws, r)
            new_b, new_s = walk_down(ws, r, rng)
            if new_b != NONE:
                gain = fit_at(ws, r, new_b, new_s) - fit_at(ws, r, b, s)
                gain += log_correction(ws, r, new_b, new_s) - log_correction(ws, r, b, s)
                if math.log(1.0 - uniform(rng)) < gain:
                    b, s = new_b, new_s
                    ws.counts[MOVED] += 1
            graft(ws, r, b, s, rng)


# ------------------------------------------------------------------------------------------------
# Times of nodes
# ------------------------------------------------------------------------------------------------


@helper
def log_time(ws, v, x):
    """log density of 1 - t = x of node v given all else, in x; less a constant.

    In the clock the prior is exp(-c s (H(m - 1) - sum of the children's)), and ds = dx / x. The
    data come in by the messages of the children and the one from above, merged at v.
    """
    s = -math.log(x)
    below, kid = 0.0, ws.first[v]
    sigma2 = ws.rates[SIGMA2]
    copy_row(ws.scratch, ACC, ws.down, v)
    var = ws.down_var[v] + sigma2 * (rest_of(ws, ws.parent[v]) - x)
    total = 0.0
    while kid != NONE:
        below += ws.H[ws.size[kid] - 1]
        other = ws.up_var[kid] + sigma2 * (x - ws.rest[kid])
        total += log_factor(distance2(ws.scratch, ACC, ws.up, kid), var + other, ws.up.shape[1])
        var = merge(ws.scratch, ACC, var, ws.up, kid, other)
        kid = ws.after[kid]
    return total - ws.rates[RATE] * s * (ws.H[ws.size[v] - 1] - below) + s


@helper
def redraw_time(ws, v, rng):
    """t_v ~ a slice sampler's step on its conditional, between its parent and its first child."""
    low, high = math.exp(-LATEST), rest_of(ws, ws.parent[v])
    kid = ws.first[v]
    while kid != NONE:
        low = max(low, ws.rest[kid])
        kid = ws.after[kid]
    x, whole = ws.rest[v], high
    level = log_time(ws, v, x) + math.log(1.0 - uniform(rng))
    while high - low > _SHRUNK * whole:
        new = low + (high - low) * uniform(rng)
        if new > 0.0 and log_time(ws, v, new) >= level:
            ws.rest[v], ws.clock[v] = new, -math.log(new)
            return
        if new < x:
            low = new
        else:
            high = new


@compiled
def redraw_times(ws, rng):
    """The times of all inner nodes, parents before children; every message up is right after it.

    A node is met twice: on the way down its time is drawn, and when all below it is done (then it
    is on the stack as -1 - v) its message up is made, which its siblings' messages down need.
    """
    n = (ws.parent.shape[0] + 1) // 2
    ws.stack[0] = ws.counts[TOP]
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        v = ws.stack[n_waiting]
        if v < 0:
            refresh_up(ws, -1 - v)
            continue
        refresh_down_one(ws, v)
        redraw_time(ws, v, rng)
        ws.stack[n_waiting] = -1 - v
        n_waiting += 1
        kid = ws.first[v]
        while kid != NONE:
            if kid >= n:
                ws.stack[n_waiting] = kid
                n_waiting += 1
            kid = ws.after[kid]
