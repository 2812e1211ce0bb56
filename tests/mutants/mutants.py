"""Deliberately wrong kernels. A mutant is the source of `_kernels` with a few lines replaced.

The mutated source runs uncompiled (the conditionals are plain Python once `compiled` does nothing),
so a mutant costs no compilation and cannot get into the compile cache.
"""

from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from bhmc import _kernels

_HEADER = "from bhmc._compile import compiled\n"


class Mutant(NamedTuple):
    """What is wrong, where the ladder must notice, and the replacements that make it wrong."""

    name: str
    sampler: str
    stage: str
    n_components: int | None
    edits: tuple[tuple[str, str], ...]


def find(name: str) -> Mutant:
    """The first mutant of that name."""
    return next(mutant for mutant in MUTANTS if mutant.name == name)


def build(edits: tuple[tuple[str, str], ...]) -> ModuleType:
    """A module like `_kernels` with `edits` made; each must fit exactly one place."""
    source = Path(_kernels.__file__).read_text(encoding="utf-8")
    for old, new in ((_HEADER, "def compiled(function):\n    return function\n"), *edits):
        assert source.count(old) == 1, f"{source.count(old)} places fit: {old!r}"
        source = source.replace(old, new)
    module = ModuleType("mutated_kernels")
    exec(compile(source, "mutated_kernels.py", "exec"), module.__dict__)
    return module


_GIBBS_END = """        ws.events[PATHS_ACCEPTED] += 1
        if born:
            return i + 1, k
    return order.shape[0], DONE
"""
_PLACE = "        z = draw_place(ws, rates, n, rng)\n"

MUTANTS = (
    Mutant(
        "raw counts in inner weights",
        "gibbs",
        "redraw_weights",
        None,
        (("                if not literal:\n", "                if False:\n"),),
    ),
    Mutant(
        "no +1 on the path of a new component",
        "gibbs",
        "redraw_data",
        None,
        (("                if on_path[z]:\n", "                if False:\n"),),
    ),
    Mutant(
        "no +1 on the path of a new component",
        "mh",
        "redraw_data",
        None,
        (("                if on_path[z]:\n", "                if False:\n"),),
    ),
    Mutant(
        "a lone component kept until the sweep ends",
        "gibbs",
        "redraw_data",
        None,
        (
            ("    if rates.n_fixed == 0 and ws.held[k] == 0:\n", "    if False:\n"),
            (
                _GIBBS_END,
                _GIBBS_END.replace("    return order", "    release_empty(ws)\n    return order"),
            ),
        ),
    ),
    Mutant(
        "a datum not removed before it is redrawn",
        "gibbs",
        "redraw_data",
        None,
        (
            (
                _PLACE,
                "        here = [z for l, z in enumerate(ws.path[n]) if ws.level[z] == l]\n"
                "        ws.n_under[here] += 1\n" + _PLACE + "        ws.n_under[here] -= 1\n",
            ),
        ),
    ),
    Mutant(
        "new branches forgotten",
        "gibbs",
        "redraw_data",
        None,
        (
            (
                "log_option[z] += math.log(rates.alpha / (ws.n_under[z] + rates.alpha))",
                "log_option[z] = -math.inf",
            ),
        ),
    ),
    Mutant(
        "alpha forgotten in the weight of a new branch",
        "gibbs",
        "redraw_data",
        None,
        (("math.log(rates.alpha / (", "math.log(1.0 / ("),),
    ),
    Mutant(
        "alpha forgotten in the proposal",
        "mh",
        "redraw_data",
        None,
        (("rng.random() * (ws.n_under[z] + rates.alpha)", "rng.random() * (ws.n_under[z] + 1.0)"),),
    ),
    Mutant(
        "a Hastings term that does not cancel",
        "mh",
        "redraw_data",
        None,
        (
            (
                "log_likelihood_at(ws, new, n) - log_likelihood_at(ws, old, n)",
                "log_likelihood_at(ws, new, n) - log_likelihood_at(ws, old, n)"
                " + math.log((ws.n_under[new] + 1) / (ws.n_under[old] + 1))",
            ),
        ),
    ),
    Mutant(
        "every proposal accepted",
        "mh",
        "redraw_data",
        None,
        (("        if math.log1p(-rng.random()) < log_ratio:\n", "        if True:\n"),),
    ),
    Mutant(
        "a new node's weights ignore the datum that opened it",
        "gibbs",
        "redraw_data",
        None,
        (("    if k >= 0:\n", "    if False:\n"),),
    ),
    Mutant(
        "the weight of a dead component is lost",
        "gibbs",
        "redraw_data",
        None,
        (
            (
                "            ws.log_rest[z] = log_add(ws.log_rest[z], ws.log_beta[z, k])\n",
                "",
            ),
        ),
    ),
    Mutant(
        "one table too few",
        "gibbs",
        "redraw_weights",
        None,
        (("    for i in range(1, customers):\n", "    for i in range(2, customers):\n"),),
    ),
    Mutant(
        "gamma0 not shared among the components of the finite form",
        "gibbs",
        "redraw_weights",
        4,
        (("math.log(rates.gamma0) - math.log(rates.n_fixed)", "math.log(rates.gamma0)"),),
    ),
    Mutant(
        "a remainder broken with its parent's remainder before the break",
        "gibbs",
        "redraw_data",
        None,
        (
            (
                "                pair[1] = log_gamma + ws.log_rest[ws.parent[z]]\n",
                "                pair[1] = log_gamma + log_add("
                "ws.log_rest[ws.parent[z]], ws.log_beta[ws.parent[z], k])\n",
            ),
        ),
    ),
)
