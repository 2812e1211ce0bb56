"""Packages that bhmc can do without, imported where they are needed."""

from typing import Any


def import_pandas(what: str) -> Any:
    """pandas, or a sentence that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{what} needs pandas: install it with `pip install bhmc[pandas]`."
        ) from error
    return pandas


def import_networkx(what: str) -> Any:
    """networkx, or a sentence that says how to get it."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(
            f"{what} needs networkx: install it with `pip install bhmc[networkx]`."
        ) from error
    return networkx


def import_arviz_base(what: str) -> Any:
    """The part of ArviZ that holds draws, or a sentence that says how to get it."""
    try:
        import arviz_base
    except ImportError as error:
        raise ImportError(
            f"{what} needs ArviZ: install it with `pip install bhmc[arviz]`."
        ) from error
    return arviz_base


def import_shtab(what: str) -> Any:
    """shtab, or a sentence that says how to get it."""
    try:
        import shtab
    except ImportError as error:
        raise ImportError(
            f"{what} needs shtab: install it with `pip install bhmc[completion]`."
        ) from error
    return shtab


def import_matplotlib(what: str) -> Any:
    """matplotlib, or a sentence that says how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            f"{what} needs matplotlib: install it with `pip install bhmc[plot]`."
        ) from error
    return matplotlib
