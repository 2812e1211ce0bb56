"""Rows of 0 and 1 choose between two atoms by the Beta law that the kernel says."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from bhmc.model.diffused.row_numbers import row_numbers, split_room
from tests.exact.discrete_trees import SETTINGS as DISCRETE
from tests.mutants.diffused_parts import plain

PLAIN = plain()


def test_odds_of_sides_of_logits():
    """Given one row they are exact; given more, those of a Beta law with the same two moments."""
    setting, rng = DISCRETE["bits, holes"], np.random.default_rng(9)
    state, X = setting.prior_draw(rng)
    chain = setting.chain(state, X, "gibbs", rng)
    forest, n, leaf = chain.forest, len(X), int(chain.forest.leaf[0])
    numbers, room = row_numbers(chain.family, slice(0, n)), split_room(n, 1)
    room.member[:] = np.arange(n)
    at, v = forest.location[leaf], forest.variance[-1][forest.column]
    x, seen = numbers.value, numbers.seen
    assert (seen == 0).any()
    assert 0 < x[2:].sum() < seen[2:].sum()  # ones and zeros

    def log_integral(d, ones, rows):
        def density(theta):
            p = expit(theta)
            return p**ones * (1 - p) ** (rows - ones) * norm.pdf(theta, at[d], np.sqrt(v[d]))

        return np.log(quad(density, at[d] - 12 * v[d] ** 0.5, at[d] + 12 * v[d] ** 0.5)[0])

    PLAIN.weigh_alone(forest, numbers, room, n, leaf, 0, 1)
    for r in range(2, n):
        exact = 0.0
        for d, other in product(range(x.shape[1]), (0, 1)):
            both = log_integral(d, x[r, d] + x[other, d], seen[r, d] + seen[other, d])
            exact += (1 - 2 * other) * (both - log_integral(d, x[other, d], seen[other, d]))
        assert room.odds[r] == pytest.approx(exact, rel=1e-6, abs=1e-6)

    room.side[:] = np.arange(n) % 2
    first = PLAIN.add_to_sides(forest, numbers, room, n)
    PLAIN.weigh_sides(forest, numbers, room, n, first, leaf)
    for r in range(2, n):
        slow = 0.0
        for side in (0, 1):
            others = [i for i in range(n) if i != r and room.side[i] == side]
            slow += (1 - 2 * side) * np.log(len(others))
            for d in range(x.shape[1]):
                mean, square = np.exp([log_integral(d, k, k) for k in (1, 2)])
                rows = (mean - square) / (square - mean**2)
                a, b = mean * rows, (1 - mean) * rows
                ones, zeros = x[others, d].sum(), (seen - x)[others, d].sum()
                p = (ones + a) / (ones + zeros + a + b)
                slow += (1 - 2 * side) * seen[r, d] * np.log(p if x[r, d] else 1 - p)
        assert room.odds[r] == pytest.approx(slow, rel=1e-5, abs=1e-5)
