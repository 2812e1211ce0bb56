"""What run.json holds: the data, the versions, the result in a few numbers."""

import hashlib
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from bhmc import BHMC
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, reason_of
from bhmc._version import __version__

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def data_record(table: Table, reading: Reading) -> dict[str, Any]:
    """The table: where it was, a fingerprint of it, and how it was read."""
    rows, columns = table.shape
    return {
        "file": table.path.name,
        "path": str(table.path.resolve()),
        "sha256": fingerprint(table.path),
        "rows": rows,
        "columns": columns,
        "names": table.names,
        "kinds": table.kinds,
        "item_column": table.item_column,
        "is_matrix": table.columns is None,
        "reading": reading.to_json(),
    }


def fingerprint(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {reason_of(error)}.") from None


def check_same_data(table: Table, record: dict[str, Any], folder: Path) -> None:
    """Refuse to go on with other data than the run was begun with."""
    if fingerprint(table.path) != record["data"]["sha256"]:
        raise RefusedError(
            f"{table.path} is not the file that the run in {folder} was begun with (its SHA-256 "
            "differs): name the right one, bhmc fit DATA --continue DIR, or begin another run."
        )


def versions() -> dict[str, str]:
    """Versions of what the draws depend on."""
    found = {name: metadata.version(name) for name in _LIBRARIES}
    return {"bhmc": __version__, "python": platform.python_version(), **found}


def summary(model: BHMC) -> dict[str, Any]:
    """The result in a few numbers."""
    tree, draws = model.tree_, model.draws_
    return {
        "likelihood": model.likelihood_.describe(),
        "levels": tree.n_levels,
        "nodes": tree.n_nodes,
        "leaves": tree.n_leaves,
        "components": tree.n_components,
        "chains": draws.n_chains,
        "draws": draws.n_draws,
    }
