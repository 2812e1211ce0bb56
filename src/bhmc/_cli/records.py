"""What run.json says of the data and of the result."""

from pathlib import Path
from typing import Any

from bhmc import BHMC
from bhmc._io.digest import digest_of_file
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, reason_of


def data_record(table: Table, reading: Reading) -> dict[str, Any]:
    """The table: its place, its digest, and how it was read."""
    rows, columns = table.shape
    return {
        "file": table.path.name,
        "path": str(table.path.resolve()),
        "sha256": _digest_of(table.path),
        "rows": rows,
        "columns": columns,
        "names": table.names,
        "kinds": table.kinds,
        "item_column": table.item_column,
        "is_matrix": table.columns is None,
        "reading": reading.to_json(),
        "plan": table.plan.to_json(),
    }


def with_families(data: dict[str, Any], model: BHMC) -> dict[str, Any]:
    """The record of the data, its plan with the family that every fitted column has got."""
    families = {one.name: one.family for one in model.column_plan_.columns}
    plan = [
        {**column, "family": families.get(column["name"], column["family"])}
        for column in data.get("plan", ())
    ]
    return {**data, "plan": plan} if plan else data


def _digest_of(path: Path) -> str:
    """SHA-256 of a file; a file that cannot be read is refused."""
    try:
        return digest_of_file(path)
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {reason_of(error)}.") from None


def check_same_data(table: Table, record: dict[str, Any], folder: Path) -> None:
    """Refuse to go on with other data than the run was begun with."""
    if _digest_of(table.path) != record["data"]["sha256"]:
        raise RefusedError(
            f"{table.path} is not the file that the run in {folder} was begun with (its SHA-256 "
            "differs): name the right one, bhmc fit DATA --continue DIR, or begin another run."
        )


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
        "warmup": model.n_warmup_,
        "thin": model.thin_,
        "sweeps": model.n_sweeps_,
        "ended_by": model.ended_by_,
    }
