"""`bhmc export`: a run for other programs."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bhmc import BHMC, Tree
from bhmc._cli.exit_codes import OK
from bhmc._cli.folder import written
from bhmc._cli.output import print_json, say
from bhmc._cli.show import load_run, tree_of
from bhmc._io.csv_text import csv_text
from bhmc._io.npy_file import write_npy
from bhmc._validation.errors import RefusedError, refusals


def export(options) -> int:
    """Write the tree or the draws in another program's format."""
    _, _, model = load_run(options.folder)
    path = Path(options.output)
    with refusals():
        write = _writer(options, model)
    put_in_place(path, write)
    return said_where(options, path)


def _writer(options, model: BHMC) -> Callable[[Path], Any]:
    """What writes the tree, or the draws."""
    if options.to != "arviz":
        tree = tree_of(model, options)
        return _csv(tree, options.raw) if options.to == "csv" else _WRITERS[options.to](tree)
    if options.dendrogram:
        raise RefusedError("--to arviz writes the draws, which have no dendrogram.")
    return _arviz(model)


def put_in_place(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file in one step, into a folder that is there."""
    check_place(path)
    with written(path) as part:
        write(part)


def check_place(path: Path) -> None:
    """Refuse a place where no file can be."""
    if path.is_dir():
        raise RefusedError(f"{path} is a folder; name a file.")
    if not path.parent.exists():
        raise RefusedError(f"there is no folder {path.parent} to write {path.name} into.")


def said_where(options, path: Path) -> int:
    """Say that the file is written."""
    if options.json:
        print_json({"written": str(path)})
    else:
        say(f"Wrote {path}")
    return OK


def text_writer(text: str) -> Callable[[Path], Any]:
    """What writes a text with one line end at its end."""
    return lambda path: path.write_text(text.rstrip("\n") + "\n", "utf-8", newline="\n")


def _newick(tree: Tree) -> Callable[[Path], Any]:
    return text_writer(tree.to_newick())


def _linkage(tree: Tree) -> Callable[[Path], Any]:
    matrix = tree.to_linkage()
    return lambda path: write_npy(path, matrix)


def _json(tree: Tree) -> Callable[[Path], Any]:
    return text_writer(tree.to_json())


def _csv(tree: Tree, raw: bool) -> Callable[[Path], Any]:
    table = tree.nodes()
    rows = zip(*(values.tolist() for values in table.values()), strict=True)
    return text_writer(csv_text(list(table), rows, raw=raw))


def _graphml(tree: Tree) -> Callable[[Path], Any]:
    graph = tree.to_networkx()
    from networkx import write_graphml

    for _, attributes in graph.nodes(data=True):
        for name in [name for name, value in attributes.items() if value is None]:
            del attributes[name]  # GraphML has no word for nothing
    return lambda path: write_graphml(graph, path)


def _arviz(model: BHMC) -> Callable[[Path], Any]:
    data = model.draws_.to_arviz()
    if not (find_spec("netCDF4") or (find_spec("h5netcdf") and find_spec("h5py"))):
        raise RefusedError(
            "writing NetCDF, ArviZ's file format, needs h5netcdf and h5py: install them with `pip "
            "install h5netcdf h5py`."
        )
    return lambda path: data.to_netcdf(path)


_WRITERS = {
    "newick": _newick,
    "linkage": _linkage,
    "json": _json,
    "graphml": _graphml,
}
