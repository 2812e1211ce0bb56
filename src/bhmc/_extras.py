"""Packages that bhmc can do without, imported where they are needed."""

from typing import Any


def import_pandas(what: str) -> Any:
    """pandas, or a sentence that says how to get it for `what`."""
    return _import_extra("pandas", "pandas", "pandas", what)


def import_networkx(what: str) -> Any:
    """networkx, likewise."""
    return _import_extra("networkx", "networkx", "networkx", what)


def import_arviz_base(what: str) -> Any:
    """The part of ArviZ that holds draws, likewise."""
    return _import_extra("arviz_base", "ArviZ", "arviz", what)


def import_shtab(what: str) -> Any:
    """shtab, likewise."""
    return _import_extra("shtab", "shtab", "completion", what)


def import_calamine(what: str) -> Any:
    """python-calamine, which reads spreadsheets, likewise."""
    return _import_extra("python_calamine", "python-calamine", "excel", what)


def import_matplotlib(what: str) -> Any:
    """matplotlib, likewise."""
    return _import_extra("matplotlib", "matplotlib", "plot", what)


def import_anywidget(what: str) -> Any:
    """anywidget, which shows the explorer in notebooks, likewise."""
    return _import_extra("anywidget", "anywidget", "notebook", what)


def import_distributed(what: str) -> Any:
    """The scheduler and workers of Dask, likewise."""
    return _import_extra("distributed", "Dask", "dask", what)


def import_pyarrow_parquet(what: str) -> Any:
    """The part of pyarrow that reads Parquet files by row groups, likewise."""
    return _import_extra("pyarrow.parquet", "pyarrow", "blocks", what).parquet


def import_zarr(what: str) -> Any:
    """zarr, likewise."""
    return _import_extra("zarr", "zarr", "blocks", what)


def _import_extra(package: str, name: str, extra: str, what: str) -> Any:
    try:
        return __import__(package)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {name}: install it with `pip install bhmc[{extra}]`."
        ) from error
