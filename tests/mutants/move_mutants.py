"""Deliberately wrong block moves, and where each must show."""

from typing import NamedTuple

from tests.mutants.mutants import Edits


class MoveMutant(NamedTuple):
    """What is wrong, in which move, what makes it wrong, and which judge must reject it.

    `where`: "weights" (one comparison with the joint density), "inner nodes" or "seating" (the law
    of what is drawn beside the choice). `n_draws`: exact draws at `setting` that show it, too; 0
    where they would be too many.
    """

    name: str
    move: str
    where: str
    edits: Edits
    setting: str = ""
    n_draws: int = 0
    n_components: int | None = None


_CHAIN_FACTOR = (("+ d * log_node", "+ 0 * log_node"),)
_OWN_CHAIN = (("n_new > 0 and a != own", "n_new > 0"),)

MOVE_MUTANTS = (
    MoveMutant(
        "a block that could not be picked on the way back",
        "relocate",
        "weights",
        (
            (
                "            if share == 1.0:\n                continue\n"
                "            value += there * math.log1p(-share)\n",
                "            value += 0.0\n",
            ),
        ),
        "branches",
        200,
    ),
    MoveMutant(
        "new nodes of a branch without their nCRP factor", "relocate", "weights", _CHAIN_FACTOR
    ),
    MoveMutant(
        "a branch of several nodes weighed as one node",
        "relocate",
        "weights",
        (("total += powers[e - 1, t] * ratio", "total += (t == n) * ratio"),),
    ),
    MoveMutant(
        "rows of a leaf as independent draws of its parent's weights",
        "relocate",
        "weights",
        (
            (
                "rates.gamma * ws.beta[up, k], log_gamma + ws.log_beta[up, k], there, n",
                "1.0, n * ws.log_beta[up, k], 0, 1",
            ),
            ("value -= log_rising(rates.gamma + ws.n_under[z], float(n))", "value -= 0.0"),
        ),
        "branches",
        800,
    ),
    MoveMutant(
        "new inner nodes drawn as if all rows were their customers",
        "relocate",
        "inner nodes",
        (("        ws.scratch[SHAPE, k] += m\n", "        ws.scratch[SHAPE, k] += n\n"),),
    ),
    MoveMutant("the chain that died with a block not kept", "relocate", "weights", _OWN_CHAIN),
    MoveMutant(
        "a new component at no table",
        "split",
        "weights",
        (
            (
                "math.lgamma(n) + math.log(rates.gamma), ws.room[DEPTH], -math.inf",
                "math.lgamma(n), ws.room[DEPTH], -math.inf",
            ),
        ),
    ),
    MoveMutant("a split branch without its nCRP factor", "split", "weights", _CHAIN_FACTOR),
    MoveMutant(
        "a component that is gone lost to the remainder",
        "split",
        "weights",
        (("        if gone != NONE:\n            left", "        if False:\n            left"),),
    ),
    MoveMutant(
        "customers of a parent forgotten",
        "regraft",
        "weights",
        (
            (
                "log_rising_at(shape, log_shape, ws.customers[a, k], space.block[k])",
                "log_rising_at(shape, log_shape, 0, space.block[k])",
            ),
            ("rates.gamma + space.totals[a], float(total)", "rates.gamma, float(total)"),
        ),
        "subtrees",
        250,
    ),
    MoveMutant(
        "new nodes above a subtree without their nCRP factor",
        "regraft",
        "weights",
        _CHAIN_FACTOR,
        "subtrees",
        500,
    ),
    MoveMutant("the chain that died with a subtree not kept", "regraft", "weights", _OWN_CHAIN),
    MoveMutant(
        "a table that counts itself at the root",
        "dishes",
        "weights",
        (
            (
                "        count_customer(ws, seats, ws.parent[seats.node[t]], k, np.int64(-1))\n",
                "        up = ws.parent[seats.node[t]]\n"
                "        count_customer(ws, seats, up, k, np.int64(-1 if up > 0 else 0))\n",
            ),
        ),
    ),
    MoveMutant(
        "a new table at no cost",
        "dishes",
        "weights",
        (("        share *= gamma / (seats.totals[z] + gamma)\n", ""),),
    ),
    MoveMutant(
        "a lone component kept beside the candidate",
        "dishes",
        "weights",
        (
            ("ws.alive[k] and k != lone and", "ws.alive[k] and"),
            ("log_f[i, lone] if k == 0 and lone != NONE else", "log_f[i, 0] if k == 0 else"),
        ),
        "tables",
        400,
    ),
    MoveMutant(
        "gamma0 not shared among the dishes of the finite form",
        "dishes",
        "weights",
        (("return n + gamma0 / n_fixed if", "return n + gamma0 if"),),
        n_components=4,
    ),
    MoveMutant(
        "seats with a concentration of 1",
        "dishes",
        "seating",
        (
            (
                "        target = uniform(rng) * (a + seated) - a\n",
                "        target = uniform(rng) * (1.0 + seated) - 1.0\n",
            ),
        ),
    ),
)
