"""What run.json says of the data and of the result."""

from pathlib import Path
from typing import Any

from bhmc import BHMC
from bhmc._cli.blocks import TableInBlocks
from bhmc._io.digest import digest_of_file, digest_of_folder
from bhmc._io.tables.read import Reading, Table
from bhmc._validation.errors import RefusedError, reason_of


def data_record(table: Table, reading: Reading) -> dict[str, Any]:
    """The table: its place, its digest, and how it was read."""
    rows, columns = table.shape
    return {
        "file": table.path.name,
        "path": str(table.path.resolve()),
        "sha256": digest_of(table.path),
        "rows": rows,
        "columns": columns,
        "names": table.names,
        "kinds": table.kinds,
        "item_column": table.item_column,
        "is_matrix": table.columns is None,
        "reading": reading.to_json(),
        "plan": table.plan.to_json(),
        **_of_blocks(table),
    }


def _of_blocks(table: Table) -> dict[str, Any]:
    """What is said of a table whose rows are read in blocks: how many are in the tree, too."""
    if not isinstance(table, TableInBlocks):
        return {}
    shown = len(table.rows_in_tree)
    fewer = {"rows_in_tree": shown} if shown < table.shape[0] else {}
    return {"in_blocks": True, **fewer}


def said_of_sample(data: dict[str, Any]) -> str:
    """That the tree holds some of the rows.

    Parameters
    ----------
    data : dict
        What run.json says of a table of which the tree holds some rows.
    """
    return (
        f"All {data['rows']:,} rows were fitted; the tree holds {data['rows_in_tree']:,} of them, "
        f"evenly spaced, and its sizes count these."
    )


def with_families(data: dict[str, Any], model: BHMC) -> dict[str, Any]:
    """The record of the data, its plan with the family that every fitted column has got."""
    families = {one.name: one.family for one in model.column_plan_.columns}
    plan = [
        {**column, "family": families.get(column["name"], column["family"])}
        for column in data.get("plan", ())
    ]
    return {**data, "plan": plan} if plan else data


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of a folder of files; what cannot be read is refused.

    Parameters
    ----------
    path : Path
        The file or folder.
    """
    try:
        return digest_of_folder(path) if path.is_dir() else digest_of_file(path)
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {reason_of(error)}.") from None


def check_same_data(path: Path, record: dict[str, Any], folder: Path, remedy: str) -> None:
    """Refuse other data than the run was begun with.

    Parameters
    ----------
    path : Path
        The data now.
    record : dict
        run.json of the run.
    folder : Path
        Where it is.
    remedy : str
        What to do instead.
    """
    if digest_of(path) != record["data"]["sha256"]:
        raise RefusedError(
            f"{path} is not the file that the run in {folder} was begun with (its SHA-256 "
            f"differs): {remedy}."
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
