"""`bhmc plot`: pictures of a run."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bhmc import BHMC, Tree
from bhmc._cli.export import put_in_place, said_where
from bhmc._cli.show import dendrogram_of, load_run, say_view
from bhmc._validation.errors import RefusedError, refusals

_ENDINGS = ("png", "svg", "pdf", "jpg", "webp")


def plot(options) -> int:
    """Draw a picture and write it to a file."""
    folder, _, model = load_run(options.folder)
    kind = _kind(options, model)
    path = folder.path / f"{kind}.png" if options.output is None else Path(options.output)
    ending = path.suffix.lower().removeprefix(".")
    if ending not in _ENDINGS:
        raise RefusedError(
            f"{path} should end in .{', .'.join(_ENDINGS)}: the ending is the format."
        )
    level = _level(options.level, model)
    with refusals():
        as_dendrogram = kind == "dendrogram" or options.dendrogram
        tree = dendrogram_of(model) if as_dendrogram else model.tree_
        figure = _figure(kind, model, tree, level)
    picture = BytesIO()  # a library that writes files itself does not say why it could not
    figure.savefig(picture, format=ending, dpi=options.dpi)
    put_in_place(path, lambda part: part.write_bytes(picture.getvalue()))
    return said_where(options, path)


def _kind(options, model: BHMC) -> str:
    """The picture that is asked for, or what the model opens with."""
    if options.dendrogram:
        if options.kind not in (None, "tree", "dendrogram", "icicle"):
            raise RefusedError(f"--kind {options.kind} draws no tree: leave --dendrogram out.")
        return options.kind if options.kind == "icicle" else "dendrogram"
    if options.kind is None:
        say_view(model, "--kind tree")
    return options.kind or model.view_


def _level(text: str | None, model: BHMC) -> int | str:
    """A level of the tree, or "component"."""
    deepest = model.tree_.n_levels
    if text is None or text == "component":
        return "component"
    if text.isascii() and text.isdigit() and 1 <= int(text) <= deepest:
        return int(text)
    raise RefusedError(f"--level must be 1 to {deepest}, or the word component, got {text[:40]!r}.")


def _figure(kind: str, model: BHMC, tree: Tree, level: int | str) -> Any:
    from bhmc._extras import import_matplotlib

    import_matplotlib("bhmc plot").use("Agg")  # no window, also where there is no screen
    from bhmc import plotting

    if kind == "icicle" and tree is not model.tree_:
        drawn: Any = plotting.plot_icicle(tree)
    else:
        drawn = model.plot(kind, **({"level": level} if kind == "coclustering" else {}))
    return np.ravel(np.asarray(drawn, dtype=object))[0].figure
