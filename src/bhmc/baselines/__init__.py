"""Other makers of trees, to compare with: each is an estimator whose `tree_` is a `bhmc.Tree`."""

import typing

if typing.TYPE_CHECKING:
    from bhmc.baselines.perch.estimator import Perch
    from bhmc.baselines.pydt.estimator import PYDT
    from bhmc.baselines.random_tree import RandomTree
    from bhmc.baselines.ward import Ward

__all__ = ["PYDT", "Perch", "RandomTree", "Ward"]

# Imported when first asked for, as in `bhmc` itself: who wants Ward need not load PYDT's kernels.
_FILES = {
    "PYDT": "pydt.estimator",
    "Perch": "perch.estimator",
    "RandomTree": "random_tree",
    "Ward": "ward",
}


def __getattr__(name: str) -> typing.Any:
    if name not in _FILES:
        raise AttributeError(f"module 'bhmc.baselines' has no attribute {name!r}")
    module = __import__(f"bhmc.baselines.{_FILES[name]}", fromlist=[name])
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
