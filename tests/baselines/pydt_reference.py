"""The slow twin of PYDT's kernels: plain Python that recomputes whatever it needs from scratch.

Trees are lists of children. The worth of a place is the density of the whole tree with the subtree
there and the likelihood of all data under it; no weight is carried along. From the same random
numbers the twin takes the same steps as the kernels, on the same `Work`.
"""

import math
from typing import NamedTuple

import numpy as np

from bhmc.baselines.pydt import density
from bhmc.baselines.pydt.state import (
    LATEST,
    N_FREE,
    NONE,
    TOP,
    DiffusionTree,
    Rates,
    Work,
    tree_of,
)

# The same as in the kernels: they say how an edge is cut into pieces.
_BISECTIONS, _WIDEST, _HOPELESS, _SHRUNK = 10, 1e-13, 15.0, 1e-15
_ALMOST_1 = 1.0 - 2.0**-53


def random_source(rng: np.random.Generator) -> np.random.Generator:
    """The generator itself."""
    return rng


def tabulate(work: Work) -> None:
    """Nothing: the twin has no tables."""


def log_tree(work: Work) -> float:
    """log p(topology, clocks | alpha, theta, c)."""
    return density.log_tree(tree_of(work), Rates(*work.rates))


def refresh(work: Work) -> float:
    """log p(X | tree, sigma2, noise)."""
    return Sketch(work).log_likelihood()


class Place(NamedTuple):
    """On the edge above `node` at `clock`, or `node` itself where it has that clock."""

    node: int
    clock: float


class Piece(NamedTuple):
    """Places of one edge between two clocks, or one node; `fit` stands for their likelihood."""

    node: int
    low: float
    high: float
    rate: float
    fit: float
    log_weight: float


class Sketch:
    """A tree as lists of children, in the slots and the order of siblings of a `Work`."""

    def __init__(self, work: Work):
        self.work, self.rates = work, Rates(*work.rates)
        self.n = (len(work.parent) + 1) // 2
        self.X = work.up[: self.n]
        self.clock = {NONE: 0.0, **dict.fromkeys(range(self.n), math.inf)}
        self.children: dict[int, list[int]] = {}
        self.free = work.free[: work.counts[N_FREE]].tolist()
        self.top = int(work.counts[TOP])
        waiting = [self.top] if self.top != NONE else []
        while waiting:
            node = waiting.pop()
            kids, kid = [], int(work.first[node])
            while kid != NONE:
                kids.append(kid)
                kid = int(work.after[kid])
            self.children[node] = kids
            self.clock[node] = float(work.clock[node])
            waiting += kids

    def write(self) -> None:
        """Make this the tree of the `Work`."""
        work = self.work
        work.counts[TOP], work.counts[N_FREE] = self.top, len(self.free)
        work.free[: len(self.free)] = self.free
        work.n_kids[:] = 0
        for links in (work.parent, work.first, work.after, work.before):
            links[:] = NONE
        for node, kids in self.children.items():
            work.n_kids[node], work.size[node] = len(kids), self.size(node)
            work.clock[node], work.rest[node] = self.clock[node], math.exp(-self.clock[node])
            work.parent[kids] = node
            work.first[node] = kids[0] if kids else NONE
            work.after[kids[:-1]], work.before[kids[1:]] = kids[1:], kids[:-1]

    def parent(self, node: int) -> int:
        """The node's parent."""
        return next((v for v, kids in self.children.items() if node in kids), NONE)

    def below(self, node: int) -> list[int]:
        """The node and all below it, children before parents."""
        order, waiting = [], [node]
        while waiting:
            order.append(waiting.pop())
            waiting += self.children[order[-1]]
        return order[::-1]

    def size(self, node: int) -> int:
        """Leaves below."""
        return sum(v < self.n for v in self.below(node))

    def rest(self, node: int) -> float:
        """1 - t."""
        return math.exp(-self.clock[node])

    # ---- The whole density ----

    def log_prior(self) -> float:
        """log of the density of this tree."""
        nodes = sorted(self.below(self.top))
        number = {node: i for i, node in enumerate(nodes)}
        parents = np.full(len(nodes), NONE)
        for node in nodes:
            for kid in self.children[node]:
                parents[number[kid]] = number[node]
        clocks = np.array([self.clock[node] for node in nodes])
        return density.log_tree(DiffusionTree(parents, clocks), self.rates)

    def log_likelihood(self) -> float:
        """log p(data of the leaves in this tree), by messages up."""
        mean, variance, total = self._messages(self.top)
        return total + _log_normal(mean, variance + self.motion(NONE, self.top))

    def motion(self, a: int, b: int) -> float:
        """Variance of the motion from a to b."""
        return self.rates.sigma2 * (self.rest(a) - self.rest(b))

    def _messages(self, top: int) -> tuple[np.ndarray, float, float]:
        """Message up of `top` with the log of what all merges below it leave."""
        message: dict[int, tuple[np.ndarray, float]] = {}
        total = 0.0
        for node in self.below(top):
            if node < self.n:
                message[node] = self.X[node], self.rates.noise
                continue
            arrived = [
                (message[kid][0], message[kid][1] + self.motion(node, kid))
                for kid in self.children[node]
            ]
            mean, variance, left = _merge(arrived)
            message[node] = mean, variance
            total += left
        return *message[top], total

    def message_up(self, node: int) -> tuple[np.ndarray, float]:
        """About the node's place, from the data below it."""
        mean, variance, _ = self._messages(node)
        return mean, variance

    def message_down(self, node: int) -> tuple[np.ndarray, float]:
        """About the place of the node's parent, from all data not below the node."""
        path = [node]
        while path[-1] != self.top:
            path.append(self.parent(path[-1]))
        mean, variance = np.zeros(self.X.shape[1]), 0.0
        for above, kid in zip(path[:0:-1], path[-2::-1], strict=True):
            arrived = [(mean, variance + self.motion(self.parent(above), above))]
            for sibling in self.children[above]:
                if sibling != kid:
                    mean, variance = self.message_up(sibling)
                    arrived.append((mean, variance + self.motion(above, sibling)))
            mean, variance, _ = _merge(arrived)
        return mean, variance

    # ---- Cut and graft ----

    def cut(self, r: int) -> Place:
        """Cut r off; where it was."""
        p = self.parent(r)
        self.children[p].remove(r)
        place = Place(p, self.clock[p])
        if len(self.children[p]) == 1:
            (sibling,) = self.children.pop(p)
            self._replace(self.parent(p), p, sibling)
            self.free.append(p)
            place = Place(sibling, self.clock.pop(p))
        return place

    def graft(self, r: int, place: Place, position: float) -> None:
        """Attach r at `place`, at the share `position` of the ways among its siblings."""
        b, p = place.node, place.node
        if place.clock < self.clock[b]:
            p = self.free.pop()
            self._replace(self.parent(b), b, p)
            self.children[p], self.clock[p] = [b], place.clock
        self.children[p].insert(int(position * (len(self.children[p]) + 1)), r)

    def _replace(self, parent: int, old: int, new: int) -> None:
        if parent == NONE:
            self.top = new
        else:
            kids = self.children[parent]
            kids[kids.index(old)] = new

    # ---- Worth of places ----

    def worth(self, r: int, place: Place) -> tuple[float, float]:
        """log prior and log likelihood of the whole tree with r at `place`."""
        self.graft(r, place, 0.0)
        result = self.log_prior(), self.log_likelihood()
        self.cut(r)
        return result


def _merge(arrived: list[tuple[np.ndarray, float]]) -> tuple[np.ndarray, float, float]:
    """Product of Gaussians: mean, variance, and log of the factor that is left."""
    mean, variance = arrived[0]
    left = 0.0
    for other_mean, other in arrived[1:]:
        left += _log_normal(mean - other_mean, variance + other)
        precision = 1 / variance + 1 / other
        mean = (mean / variance + other_mean / other) / precision
        variance = 1 / precision
    return mean, variance, left


def _log_normal(difference: np.ndarray, variance: float) -> float:
    d = len(difference)
    return -0.5 * (d * math.log(2 * math.pi * variance) + float(difference @ difference) / variance)


# ---- The slice sampler over attachment points ----


def list_pieces(sketch: Sketch, r: int) -> list[Piece]:
    """All places for r, parents before children, the last child first."""
    pieces: list[Piece] = []
    best, waiting = -math.inf, [sketch.top]
    while waiting:
        b = waiting.pop()
        added, whole = _edge_pieces(sketch, b, r, best)
        best = max(best, whole)
        pieces += added
        if sketch.children[b] and sketch.clock[b] < sketch.clock[r]:
            place = Place(b, sketch.clock[b])
            if sketch.rates.theta + sketch.rates.alpha * len(sketch.children[b]) > 0:
                prior, fit = sketch.worth(r, place)
                pieces.append(Piece(b, place.clock, place.clock, 0.0, fit, prior + fit))
            waiting += sketch.children[b]
    return pieces


def _edge_pieces(sketch: Sketch, b: int, r: int, best: float) -> tuple[list[Piece], float]:
    low = sketch.clock[sketch.parent(b)]
    high = min(sketch.clock[b], sketch.clock[r], LATEST)
    # The prior falls as exp(-rate s) along the edge: two of its values say all.
    one, two = (low + share * min(high - low, 3.0) for share in (0.25, 0.75))
    prior_one, fit_one = sketch.worth(r, Place(b, one))
    rate = (prior_one - sketch.worth(r, Place(b, two))[0]) / (two - one)
    base = prior_one + rate * (one - low)
    edge = _Edge(sketch, b, r)
    fit = fit_one - edge.fit(math.exp(-one)) + edge.bound()
    whole = base + _log_mass(rate, high - low) + fit
    if whole < best - _HOPELESS:
        return [Piece(b, low, high, rate, fit, whole)], -math.inf
    middle = min(max(edge.best_place(), low), high)
    whole = base + _log_mass(rate, high - low) + _fit_above(sketch, b, r, middle)
    unit = math.sqrt(2 / sketch.X.shape[1])
    ends = [min(max(middle + k * unit, low), high) for k in (-3, -1, 1, 3)]
    pieces = []
    for k, start, end in zip((-3, -1, 0, 1, 3), [low, *ends], [*ends, high], strict=True):
        if end > start:
            fit = _fit_above(sketch, b, r, min(max(middle + k * unit, start), end))
            mass = _log_mass(rate, end - start) - rate * (start - low)
            pieces.append(Piece(b, start, end, rate, fit, base + mass + fit))
    return pieces, whole


def _fit_above(sketch: Sketch, b: int, r: int, s: float) -> float:
    """log p(data) with r on the edge above b, just above b where s is its clock."""
    return sketch.worth(r, Place(b, min(s, math.nextafter(sketch.clock[b], 0.0))))[1]


class _Edge:
    """The messages about subtree r that meet on the edge above b, all made anew."""

    def __init__(self, sketch: Sketch, b: int, r: int):
        self._down, self._down_variance = sketch.message_down(b)
        self._up, self._up_variance = sketch.message_up(b)
        self._own, self._own_variance = sketch.message_up(r)
        self._sigma2 = sketch.rates.sigma2
        self._above, self._below = sketch.rest(sketch.parent(b)), sketch.rest(b)
        self._own_rest = sketch.rest(r)

    def _parts(self, x: float) -> tuple[float, float, float]:
        """At 1 - t = x: share of the message down, variance with that of r, both variances."""
        from_above = self._down_variance + self._sigma2 * (self._above - x)
        from_below = self._up_variance + self._sigma2 * (x - self._below)
        w = from_below / (from_above + from_below)
        variance = from_above * w + self._own_variance + self._sigma2 * (x - self._own_rest)
        return w, variance, from_above + from_below

    def _off(self, w: float) -> np.ndarray:
        return w * self._down + (1 - w) * self._up - self._own

    def fit(self, x: float) -> float:
        """log p(data of r | other data), less a constant."""
        w, variance, _ = self._parts(x)
        off = self._off(w)
        return -0.5 * (len(off) * math.log(variance) + float(off @ off) / variance)

    def bound(self) -> float:
        """No less than any `fit`: the point of the line between the messages nearest to r."""
        line = self._down - self._up
        w = float(np.clip(line @ (self._own - self._up) / (line @ line or 1.0), 0, 1))
        off, d = self._off(w), len(line)
        least = self._parts(max(self._below, self._own_rest))[1]
        variance = min(max(float(off @ off) / d, least), self._parts(self._above)[1])
        return -0.5 * (d * math.log(variance) + float(off @ off) / variance)

    def best_place(self) -> float:
        """Bisection for the clock where the likelihood along the edge stops to rise."""
        high = self._above
        low = max(self._below, self._own_rest, high * _WIDEST)
        for _ in range(_BISECTIONS):
            x = math.sqrt(low * high)
            w, variance, both = self._parts(x)
            off = self._off(w)
            slope_of_off = self._sigma2 / both * (self._down - self._up)
            gain = 2 * self._sigma2 * (1 - w) * (off @ off / variance - len(off))
            rises = gain > 2 * off @ slope_of_off
            low, high = (x, high) if rises else (low, x)
        return -0.5 * (math.log(low) + math.log(high))


def _log_mass(rate: float, width: float) -> float:
    """log of the integral of exp(-rate x) over 0 < x < width."""
    if abs(rate) * width < 1e-9:
        return math.log(width)
    if rate > 0:
        return math.log((1 - math.exp(-rate * width)) / rate)
    return -rate * width + math.log((1 - math.exp(rate * width)) / -rate)


def _place_of_share(piece: Piece, q: float) -> float:
    rate, width = piece.rate, piece.high - piece.low
    if abs(rate) * width < 1e-9:
        return piece.low + q * width
    if rate > 0:
        return piece.low - math.log(1 - q * (1 - math.exp(-rate * width))) / rate
    return piece.high + math.log(1 - (1 - q) * (1 - math.exp(rate * width))) / -rate


def _share_below(piece: Piece, s: float) -> float:
    x, width = s - piece.low, piece.high - piece.low
    if abs(piece.rate) * width < 1e-9:
        return x / width
    return math.expm1(-piece.rate * x) / math.expm1(-piece.rate * width)


def _slice_place(sketch: Sketch, r: int, now: Place, rng: np.random.Generator) -> Place:
    pieces = list_pieces(sketch, r)
    logs = np.array([piece.log_weight for piece in pieces])
    ends = np.exp(logs - logs.max()).cumsum()
    starts = np.append(0.0, ends[:-1])

    def surplus(i: int, s: float) -> float:
        piece = pieces[i]
        if piece.low == piece.high:
            return 0.0
        return sketch.worth(r, Place(piece.node, s))[1] - piece.fit

    here = _piece_holding(pieces, now, sketch.clock[now.node])
    node_itself = pieces[here].low == pieces[here].high
    share = rng.random() if node_itself else _share_below(pieces[here], now.clock)
    position = starts[here] + share * (ends[here] - starts[here])
    level = surplus(here, now.clock) + math.log(1 - rng.random())
    low, high = 0.0, ends[-1]
    while high - low > _SHRUNK * ends[-1]:
        u = low + (high - low) * rng.random()
        i = min(int(np.searchsorted(ends, u, side="right")), len(pieces) - 1)
        new = _place_at(pieces[i], u, starts[i], ends[i])
        if surplus(i, new) >= level:
            return Place(pieces[i].node, new)
        low, high = (u, high) if u < position else (low, u)
    return now


def _piece_holding(pieces: list[Piece], place: Place, clock_of_node: float) -> int:
    mine = [i for i, piece in enumerate(pieces) if piece.node == place.node]
    if place.clock == clock_of_node:
        return next(i for i in mine if pieces[i].low == pieces[i].high)
    edge = [i for i in mine if pieces[i].low < pieces[i].high]
    return next((i for i in edge if place.clock < pieces[i].high), edge[-1])


def _place_at(piece: Piece, u: float, start: float, end: float) -> float:
    if piece.low == piece.high:
        return piece.low
    s = _place_of_share(piece, min(max((u - start) / (end - start), 0.0), _ALMOST_1))
    return s if s < piece.high else 0.5 * (piece.low + piece.high)


def _pick_subtree(sketch: Sketch, rng: np.random.Generator) -> int | None:
    r = int(rng.random() * (2 * sketch.n - 1))
    return None if r == sketch.top or r not in sketch.children else r


def slice_moves(work: Work, n_moves: int, rng: np.random.Generator) -> None:
    """Cut a random subtree off and attach it again by the slice sampler, n_moves times."""
    sketch = Sketch(work)
    for _ in range(n_moves):
        r = _pick_subtree(sketch, rng)
        if r is not None:
            now = sketch.cut(r)
            new = _slice_place(sketch, r, now, rng)
            sketch.graft(r, new, rng.random())
    sketch.write()


def insert_leaves(work: Work, leaves: np.ndarray, rng: np.random.Generator) -> None:
    """Attach the leaves one after another, at random by the weights of the pieces."""
    sketch = Sketch(work)
    for leaf in leaves.tolist():
        sketch.children[leaf] = []
        if sketch.top == NONE:
            sketch.top = leaf
            continue
        pieces = list_pieces(sketch, leaf)
        logs = np.array([piece.log_weight for piece in pieces])
        ends = np.exp(logs - logs.max()).cumsum()
        u = rng.random() * ends[-1]
        i = min(int(np.searchsorted(ends, u, side="right")), len(pieces) - 1)
        s = _place_at(pieces[i], u, ends[i - 1] if i else 0.0, ends[i])
        sketch.graft(leaf, Place(pieces[i].node, s), rng.random())
    sketch.write()


# ---- Metropolis-Hastings ----


def mh_moves(work: Work, n_moves: int, rng: np.random.Generator) -> None:
    """Cut a random subtree off, walk it down, accept on the whole density, n_moves times."""
    sketch = Sketch(work)
    for _ in range(n_moves):
        r = _pick_subtree(sketch, rng)
        if r is None:
            continue
        place = sketch.cut(r)
        new = _walk_down(sketch, r, rng)
        if new is not None:
            gain = sum(sketch.worth(r, new)) - log_walk(sketch, r, new)
            gain -= sum(sketch.worth(r, place)) - log_walk(sketch, r, place)
            if math.log(1 - rng.random()) < gain:
                place = new
        sketch.graft(r, place, rng.random())
    sketch.write()


def _leaving(sketch: Sketch, b: int, r: int) -> float:
    """Rate at which r leaves the edge above b."""
    alpha, theta, c = sketch.rates[:3]
    m, n = sketch.size(b), sketch.size(r)
    log = math.lgamma(m - alpha) + math.lgamma(n - alpha) - math.lgamma(m + n + theta)
    return c * math.exp(log - math.lgamma(1 - alpha))


def _choices(sketch: Sketch, b: int, r: int) -> np.ndarray:
    """Probabilities of the branches of b and, last, of a new one."""
    alpha, theta = sketch.rates[:2]
    kids, n = sketch.children[b], sketch.size(r)
    sizes = [sketch.size(kid) for kid in kids]
    logs = [math.lgamma(m + n - alpha) - math.lgamma(m - alpha) for m in sizes]
    new = theta + alpha * len(kids)
    log_new = math.log(new) if new > 0 else -math.inf
    logs.append(log_new + math.lgamma(n - alpha) - math.lgamma(1 - alpha))
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


def _walk_down(sketch: Sketch, r: int, rng: np.random.Generator) -> Place | None:
    b = sketch.top
    while True:
        start = sketch.clock[sketch.parent(b)]
        s = start - math.log(1 - rng.random()) / _leaving(sketch, b, r)
        if min(s, sketch.clock[b]) >= min(sketch.clock[r], LATEST):
            return None
        if s < sketch.clock[b]:
            return Place(b, s)
        chances = _choices(sketch, b, r)
        which = int(np.searchsorted(chances.cumsum(), rng.random(), side="right"))
        if which >= len(sketch.children[b]):
            return Place(b, sketch.clock[b])
        b = sketch.children[b][which]


def log_walk(sketch: Sketch, r: int, place: Place) -> float:
    """log of the density (probability, at a node) of `_walk_down` ending at `place`."""
    b, s = place
    if s == sketch.clock[b]:
        total = math.log(_choices(sketch, b, r)[-1])
    else:
        total = math.log(_leaving(sketch, b, r))
    while b != NONE:
        above = sketch.parent(b)
        total -= (s - sketch.clock[above]) * _leaving(sketch, b, r)
        if above != NONE:
            total += math.log(_choices(sketch, above, r)[sketch.children[above].index(b)])
        b, s = above, sketch.clock[above]
    return total


# ---- Times of nodes ----


def redraw_times(work: Work, rng: np.random.Generator) -> None:
    """The times of all inner nodes, parents before children, the last child first."""
    sketch = Sketch(work)
    waiting = [sketch.top]
    while waiting:
        v = waiting.pop()
        _redraw_time(sketch, v, rng)
        waiting += [kid for kid in sketch.children[v] if kid >= sketch.n]
    sketch.write()


def _redraw_time(sketch: Sketch, v: int, rng: np.random.Generator) -> None:
    def log_target(x: float) -> float:
        sketch.clock[v] = -math.log(x)
        return sketch.log_prior() + sketch.log_likelihood() - math.log(x)  # ds = -dx / x

    x, high = sketch.rest(v), sketch.rest(sketch.parent(v))
    low = max(math.exp(-LATEST), *(sketch.rest(kid) for kid in sketch.children[v]))
    whole = high
    level = log_target(x) + math.log(1 - rng.random())
    while high - low > _SHRUNK * whole:
        new = low + (high - low) * rng.random()
        if new > 0 and log_target(new) >= level:
            return
        low, high = (new, high) if new < x else (low, new)
    sketch.clock[v] = -math.log(x)
