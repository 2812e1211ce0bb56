"""Deliberately wrong kernels. A mutant is the source of the kernels with a few lines replaced.

The mutated source runs uncompiled (the conditionals are plain Python once the decorators do
nothing), so a mutant costs no compilation and cannot get into the compile cache.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from bhmc._compiled import distributions, exponential, random_source

Edits = tuple[tuple[str, str], ...]

# The files of the kernels, in an order in which each takes names only from those before it.
SOURCES = (
    random_source,
    distributions,
    exponential,
    *(
        import_module(f"bhmc.model.hdp.kernels.{name}")
        for name in (
            "numbers",
            "nodes",
            "mass",
            "births",
            "row_weights",
            "gibbs",
            "proposal",
            "concentrations",
            "weights",
            "branches",
            "relocate",
            "regraft",
            "dishes",
            "splits",
        )
    ),
)

# Imports of one kernel file from another: all stand in one module here.
_INNER = re.compile(
    r"^from bhmc\.(?:_compiled|[\w.]+\.kernels)[\w.]* import (?:\([^)]*\)|[^\n(]+)\n", re.M
)


class Mutant(NamedTuple):
    """What is wrong, where and in how many draws that must show, and what makes it wrong."""

    name: str
    sampler: str
    stage: str
    setting: str
    n_draws: int
    edits: Edits
    n_components: int | None = None


def find(name: str) -> Mutant:
    """The first mutant of that name."""
    return next(mutant for mutant in MUTANTS if mutant.name == name)


@cache
def plain_source(files: tuple[ModuleType, ...] = SOURCES) -> str:
    """The source of all kernels as one module, without imports of each other."""
    parts = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in files]
    return "\n".join(_INNER.sub("", part) for part in parts)


def build(edits: Edits, files: tuple[ModuleType, ...] = SOURCES) -> ModuleType:
    """The kernels in plain Python with `edits` made; each must fit exactly one place."""
    module = ModuleType("mutated_kernels")
    for name in ("helper", "merged", "summing"):
        setattr(module, name, lambda function: function)
    module.compiled = np.errstate(all="ignore")  # a decorator: compiled code does not warn either
    source = edited(plain_source(files), edits)
    exec(compile(source, "mutated_kernels.py", "exec"), module.__dict__)
    module.__dict__.update(random_source.PLAIN)  # what the source has in machine code
    if hasattr(module, "plain_power_of_two"):
        module.power_of_two = module.plain_power_of_two
    return module


def build_plain(original: ModuleType, edits: Edits) -> ModuleType:
    """A module like `original`, which holds nothing compiled, with `edits` made."""
    source = edited(Path(str(original.__file__)).read_text(encoding="utf-8"), edits)
    module = ModuleType(original.__name__)  # dataclasses look their module up by name
    exec(compile(source, "mutated.py", "exec"), module.__dict__)
    return module


def edited(source: str, edits: Edits) -> str:
    """`source` with `edits` made; each must fit exactly one place."""
    for old, new in edits:
        assert source.count(old) == 1, f"{source.count(old)} places fit: {old!r}"
        source = source.replace(old, new)
    return source


_GIBBS_END = """        ws.events[PATHS_ACCEPTED] += 1
        if born > 0:
            return i + 1, born
    return order.shape[0], DONE
"""

# Path Gibbs draws every datum by logarithms, as it does those far from everything.
ALWAYS_FAR = (("    if total > TOO_SMALL:\n        k, target", "    if False:\n        k, target"),)

_NO_PLUS_ONE = ((" if ws.node_scratch[0, z] > 0.0:\n", " if False:\n"),)
_WALK_SEES_THE_DATUM = (("counted = NONE if lone else ws.on_path[1]\n", "counted = NONE\n"),)
_MASS_LOST = ("            ws.mass[z, 0] += ws.mass[z, k]\n", "")

MUTANTS = (
    Mutant(
        "raw counts in inner weights",
        "gibbs",
        "redraw_weights",
        "deep",
        250,
        (("if tables > 0 and not literal:", "if False:"),),
    ),
    Mutant(
        "no +1 on the path of a new component", "gibbs", "redraw_data", "loose", 500, _NO_PLUS_ONE
    ),
    Mutant("no +1 on the path of a new component", "mh", "redraw_data", "loose", 250, _NO_PLUS_ONE),
    Mutant(
        "a lone component kept until the sweep ends",
        "gibbs",
        "redraw_data",
        "loose",
        3_000,
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
        "two",
        2_500,
        (
            ("math.inf if lone else root_mass_without(ws, k)", "math.inf"),
            *_WALK_SEES_THE_DATUM,
        ),
    ),
    Mutant(
        "the walk sees the datum itself",
        "gibbs",
        "redraw_data",
        "deep",
        250,
        _WALK_SEES_THE_DATUM,
    ),
    Mutant(
        "a component proposed with the datum counted is never refused",
        "gibbs",
        "redraw_data",
        "deep",
        500,
        (("else root_mass_without(ws, k)\n", "else root_mass_without(ws, k) + math.inf\n"),),
    ),
    Mutant(
        "the share of an inner node is N",
        "gibbs",
        "redraw_data",
        "three",
        1_200,
        (("else n / (n + rates.alpha)", "else n"),),
    ),
    Mutant(
        "what is left of the random number not divided by the share",
        "gibbs",
        "redraw_data",
        "loose",
        250,
        (
            ("            target /= ws.kept[1, level]\n", ""),
            ("            target /= ws.share[z]\n", ""),
        ),
    ),
    Mutant(
        "U of the root not brought up to date",
        "gibbs",
        "redraw_data",
        "deep",
        2_500,
        (("        ws.mass[0, k] += ws.scratch[GAIN, k]\n", "        pass\n"),),
    ),
    Mutant(
        "U not summed anew where a node dies",
        "gibbs",
        "redraw_data",
        "deep",
        500,
        (("    while z != NONE:\n        sum_mass(ws, rates, z)\n", "    while z != NONE:\n"),),
    ),
    Mutant(
        "new branches forgotten",
        "gibbs",
        "redraw_data",
        "few",
        150,
        (("ws.room[DEPTH] else rates.alpha\n", "ws.room[DEPTH] else 0.0\n"),),
    ),
    Mutant(
        "alpha forgotten in the weight of a new branch",
        "gibbs",
        "redraw_data",
        "deep",
        300,
        (("ws.room[DEPTH] else rates.alpha\n", "ws.room[DEPTH] else 1.0\n"),),
    ),
    Mutant(
        "alpha forgotten in the weight of a new branch, far from everything",
        "gibbs",
        "redraw_data",
        "deep",
        300,
        (*ALWAYS_FAR, ("math.log(rates.alpha / (", "math.log(1.0 / (")),
    ),
    Mutant(
        "a datum not removed before it is redrawn, far from everything",
        "gibbs",
        "redraw_data",
        "few",
        3_000,
        (
            *ALWAYS_FAR,
            (
                "draw_far(ws, rates, tile.log_f, row, NONE if lone else leaf,",
                "draw_far(ws, rates, tile.log_f, row, NONE,",
            ),
        ),
    ),
    Mutant(
        "alpha forgotten in the proposal",
        "mh",
        "redraw_data",
        "deep",
        250,
        (("uniform(rng) * (ws.n_under[z] + rates.alpha)", "uniform(rng) * (ws.n_under[z] + 1.0)"),),
    ),
    Mutant(
        "a Hastings term that does not cancel",
        "mh",
        "redraw_data",
        "deep",
        250,
        (
            (
                "math.log(s_new / s_old)",
                "math.log(s_new / s_old * (ws.n_under[new] + 1) / (ws.n_under[old] + 1))",
            ),
        ),
    ),
    Mutant(
        "every proposal accepted",
        "mh",
        "redraw_data",
        "loose",
        250,
        (
            (
                "    if math.log1p(-uniform(rng)) < log_ratio(ws, tile.log_f, new, old, row):\n",
                "    if True:\n",
            ),
        ),
    ),
    Mutant(
        "a new node's weights ignore the datum that opened it",
        "gibbs",
        "redraw_data",
        "loose",
        250,
        (("        if k >= 0:\n", "        if False:\n"),),
    ),
    Mutant(
        "the weight of a dead component is lost",
        "gibbs",
        "redraw_data",
        "loose",
        200,
        (
            ("            ws.log_beta[z, 0] = log_add(ws.log_beta[z, 0], ws.log_beta[z, k])\n", ""),
            ("            ws.beta[z, 0] += ws.beta[z, k]\n", ""),
            _MASS_LOST,
        ),
    ),
    Mutant(
        "the U of a dead component is lost", "gibbs", "redraw_data", "two", 3_000, (_MASS_LOST,)
    ),
    Mutant(
        "one table too few",
        "gibbs",
        "redraw_weights",
        "loose",
        2_000,
        (("        for i in range(1, customers):\n", "        for i in range(2, customers):\n"),),
    ),
    Mutant(
        "gamma0 not shared among the components of the finite form",
        "gibbs",
        "redraw_weights",
        "loose",
        200,
        (("each = rates.gamma0 / rates.n_fixed if", "each = rates.gamma0 if"),),
        n_components=4,
    ),
    Mutant(
        "a remainder broken with its parent's remainder before the break",
        "gibbs",
        "redraw_data",
        "loose",
        1_200,
        (
            (
                "rates.gamma * ws.beta[up, k], rates.gamma * ws.beta[up, 0]\n",
                "rates.gamma * ws.beta[up, k], rates.gamma * (ws.beta[up, 0] + ws.beta[up, k])\n",
            ),
        ),
    ),
)
