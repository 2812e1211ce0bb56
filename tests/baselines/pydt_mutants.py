"""Deliberately wrong kernels of the diffusion tree: source with lines replaced, run uncompiled."""

from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from tests.mutants import mutants
from tests.mutants.mutants import Edits

# The files of the kernels, in an order in which each takes names only from those before it.
_FILES = tuple(
    import_module(f"bhmc.baselines.pydt.kernels.{name}")
    for name in (
        "clocks",
        "tree_density",
        "messages",
        "cut_and_graft",
        "fit",
        "prior_weights",
        "pieces",
        "slice_places",
        "prior_places",
        "node_times",
    )
)
# The search for the best place may be short: any place leaves the sampler exact.
_QUICK = (("_BISECTIONS = 10", "_BISECTIONS = 3"),)


class Mutant(NamedTuple):
    """What is wrong, the test it must fail, and the lines that make it wrong."""

    name: str
    setting: str
    stage: str
    sampler: str
    n_draws: int
    edits: Edits


def build(edits: Edits, quick: Edits = _QUICK) -> ModuleType:
    """The kernels in plain Python with `edits` made; without `quick`, with no others."""
    return mutants.build((*edits, *quick), _FILES)


_H = "ws.H[i] = ws.H[i - 1] + math.exp(ws.log_gamma_less[i] - math.lgamma(i + 1.0 + theta))"
_JOIN = "new = ws.rates[THETA] + ws.rates[ALPHA] * ws.n_kids[b]"
_CROWD = "return ws.log_gamma_more[m] - ws.log_gamma_more[m + ws.size[r]]"
_OWN_MOTION = " + ws.up_var[r] + sigma2 * (x - ws.rest[r]), LEAST"
CORRECTION = "    total = own_edge(ws, r, s)\n"

QUICK = [
    Mutant(
        "H without theta", "pydt", "redraw_times", "slice", 700, ((_H, _H.replace(" + theta", "")),)
    ),
    Mutant("no Jacobian of times", "pydt", "redraw_times", "slice", 300, ((") + s\n", ")\n"),)),
    Mutant(
        "a subtree attached as if it were one particle, accepted by the likelihood alone",
        *("weak ddt", "move_subtrees", "mh", 600),
        (
            (CORRECTION, "    return 0.0\n" + CORRECTION),
            ("m, n = ws.size[b], ws.size[r]\n    weight", "m, n = ws.size[b], 1\n    weight"),
            ("return ws.log_gamma_less[m + ws.size[r]]", "return ws.log_gamma_less[m + 1]"),
            ("math.log(new) + ws.log_gamma_less[ws.size[r]]", "math.log(new)"),
        ),
    ),
    Mutant(
        "no likelihood",
        *("strong", "move_subtrees", "mh", 500),
        (("gain = fit_at(ws, r, new_b, new_s) - fit_at(ws, r, b, s)", "gain = 0.0"),),
    ),
    Mutant(
        "no motion on the subtree's own edge",
        *("strong", "move_subtrees", "slice", 200),
        ((_OWN_MOTION, " + ws.up_var[r], LEAST"),),
    ),
]
SLOW = [
    Mutant(
        "no prior of the subtree's own edge",
        *("weak ddt", "move_subtrees", "slice", 1000),
        (("    if ws.size[r] == 1:\n        return 0.0\n", "    return 0.0\n"),),
    ),
    Mutant(
        "one branch too few",
        *("weak", "move_subtrees", "slice", 1000),
        ((_JOIN, _JOIN + " - ws.rates[ALPHA]"),),
    ),
    Mutant(
        "a crowd of one",
        *("weak ddt", "move_subtrees", "slice", 600),
        ((_CROWD, _CROWD.replace("ws.size[r]", "1")),),
    ),
    Mutant(
        "no level, and an edge is one piece",
        *("ddt", "move_subtrees", "slice", 3000),
        (
            ("if surplus(ws, i, r, new) >= level:", "if True:"),
            ("_HOPELESS = 15.0", "_HOPELESS = -1e300"),
        ),
    ),
]
