"""What a wrong version of the diffused transition is: a part, an edit, and where it must show."""

from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from bhmc._compiled import (
    distributions,
    exponential,
    log_concave,
    logistic_normal,
    random_source,
)
from tests.mutants.mutants import Edits, build, build_plain

_HOME = "bhmc.model.diffused"

# Kernels, in an order in which each takes names only from those before it.
SOURCES = (
    random_source,
    distributions,
    exponential,
    log_concave,
    logistic_normal,
    *(
        import_module(f"{_HOME}.kernels.{name}")
        for name in (
            "messages",
            "locations",
            "places",
            "order",
            "coordinates",
            "row_prior",
            "row_births",
            "row_pass",
            "weighted_sides",
            "logit_sides",
            "atom_sides",
            "atom_splits",
            "branch_splits",
            "tree_moves",
            "regroup",
            "shift",
            "steps",
        )
    ),
)


def plain(edits: Edits = ()) -> ModuleType:
    """All kernels and their helpers in plain Python, with `edits` made."""
    return build(edits, SOURCES)


class Part(NamedTuple):
    """What is replaced: a name, dotted where it is a class's, of a module; and who uses it."""

    module: str
    name: str
    user: str = ""

    def replace(self, edits: Edits, monkeypatch) -> None:
        """Put the part of the edited module where the true one is used."""
        *owners, last = self.name.split(".")
        original = import_module(self.module)
        wrong = build_plain(original, edits)
        for name, value in vars(original).items():
            # Numba compiles anew for other named tuples.
            if hasattr(value, "_fields") and name not in owners:
                setattr(wrong, name, value)
        place = _within(import_module(self.user or self.module), owners)
        monkeypatch.setattr(place, last, getattr(_within(wrong, owners), last))


def _within(module: Any, names: list[str]) -> Any:
    return reduce(getattr, names, module)


_SAMPLER = f"{_HOME}.sampler"
KERNELS = None
ROW_STAGE = Part(f"{_HOME}.row_stage", "RowStage", _SAMPLER)
SPLITS = Part(f"{_HOME}.atom_splits", "split_and_merge", _SAMPLER)
TREE_STAGE = Part(f"{_HOME}.tree_stage", "redraw_tree", _SAMPLER)
VARIANCES = Part(f"{_HOME}.prior", "StepPrior.draw")
BOUNDS = Part(f"{_HOME}.prior", "StepPrior.bounds")
LOG_TREE = Part(f"{_HOME}.prior", "log_tree", _SAMPLER)
SAMPLER = Part(_SAMPLER, "DiffusedSampler")
NOISE = Part("bhmc.likelihoods.shared_gaussian", "SharedGaussianFamily.draw_shared_at")
FULL_NOISE = Part("bhmc.likelihoods.tied_gaussian", "TiedGaussianFamily.draw_shared_at")


class DiffusedMutant(NamedTuple):
    """What is wrong, in which part, what makes it wrong, and in how many draws that must show.

    Exact draws at `setting` go through `stage`, `times` times; only `moves` are made. 0 draws where
    they would be too many. `in_weights`: the slow twin weighs otherwise, too.
    """

    name: str
    part: Part | None
    edits: Edits
    stage: str
    setting: str
    n_draws: int = 500
    moves: tuple[str, ...] = ()
    times: int = 1
    in_weights: bool = False

    def put_in(self, monkeypatch) -> ModuleType | None:
        """The wrong part in the place of the true one; the kernels, if it is they."""
        if self.part is None:
            return plain(self.edits)
        self.part.replace(self.edits, monkeypatch)
        return None
