"""Likelihood families: what a component looks like. One family a file, behind one protocol.

Classes and functions are imported when they are first asked for. The classes of likelihoods are
those of `_registry`: a new one needs no line here.
"""

import typing
from importlib import import_module

from bhmc.likelihoods import _registry

# ruff: noqa: F401 - `__all__` is made from the registry.
if typing.TYPE_CHECKING:
    # For editors and type checkers alone. A family that is missing here works.
    from bhmc.likelihoods._auto import choose
    from bhmc.likelihoods._located import Located
    from bhmc.likelihoods._protocol import (
        BaseMeasure,
        ConjugateFamily,
        Family,
        Likelihood,
    )
    from bhmc.likelihoods._registry import by_name, names_with_places
    from bhmc.likelihoods._resolve import (
        allows_sparse,
        categorical_columns,
        kind_of,
        resolve,
        word_columns,
    )
    from bhmc.likelihoods._summary import ColumnSummary
    from bhmc.likelihoods.adaptive_gaussian import AdaptiveGaussian
    from bhmc.likelihoods.bernoulli import Bernoulli
    from bhmc.likelihoods.categorical import Categorical
    from bhmc.likelihoods.free_gaussian import FreeGaussian
    from bhmc.likelihoods.full_gaussian import FullGaussian
    from bhmc.likelihoods.gaussian import Gaussian
    from bhmc.likelihoods.multinomial import Multinomial
    from bhmc.likelihoods.poisson import Poisson
    from bhmc.likelihoods.product import Product
    from bhmc.likelihoods.shaped_gaussian import ShapedGaussian
    from bhmc.likelihoods.shared_gaussian import SharedGaussian

    NAMES: tuple[str, ...]

# Where names other than those of likelihoods come from.
_ROOMS = {
    "BaseMeasure": "_protocol",
    "ColumnSummary": "_summary",
    "ConjugateFamily": "_protocol",
    "Family": "_protocol",
    "Likelihood": "_protocol",
    "Located": "_located",
    "allows_sparse": "_resolve",
    "by_name": "_registry",
    "categorical_columns": "_resolve",
    "choose": "_auto",
    "kind_of": "_resolve",
    "names_with_places": "_registry",
    "numbers_on_a_tree": "_auto",
    "registered_classes": "_registry",
    "resolve": "_resolve",
    "rows_that_lack_numbers": "_auto",
    "word_columns": "_resolve",
}

__all__ = sorted([*_ROOMS, *_registry.public_classes()])  # pyright: ignore


def __getattr__(name: str) -> typing.Any:
    if name == "NAMES":
        return _registry.names()
    if name in _ROOMS:
        value = getattr(import_module(f"bhmc.likelihoods.{_ROOMS[name]}"), name)
    else:
        value = _registry.public_class(name)
    if value is None:
        raise AttributeError(f"module 'bhmc.likelihoods' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "NAMES"})
