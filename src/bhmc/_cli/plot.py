"""`bhmc plot`: pictures of a run."""

from pathlib import Path
from typing import Any

import numpy as np

from bhmc import BHMC, Tree
from bhmc._cli.export import put_in_place, said_where
from bhmc._cli.show import load_run, tree_of
from bhmc._validation.errors import RefusedError, refusals

_ENDINGS = ("png", "svg", "pdf", "jpg", "webp")


def plot(options) -> int:
    """Draw a picture and write it to a file."""
    folder, _, model = load_run(options.folder)
    kind = _kind(options)
    path = folder.path / f"{kind}.png" if options.output is None else Path(options.output)
    ending = path.suffix.lower().removeprefix(".")
    if ending not in _ENDINGS:
        raise RefusedError(
            f"{path} should end in .{', .'.join(_ENDINGS)}: the ending is the format."
        )
    level = _level(options.level, model)
    with refusals():
        figure = _figure(kind, model, tree_of(model, options), level)
    put_in_place(path, lambda part: figure.savefig(part, format=ending, dpi=options.dpi))
    return said_where(options, path)


def _kind(options) -> str:
    """The picture that is asked for."""
    if not options.dendrogram:
        return options.kind
    if options.kind not in ("tree", "icicle"):
        raise RefusedError(f"--kind {options.kind} draws no tree: leave --dendrogram out.")
    return "dendrogram" if options.kind == "tree" else options.kind


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

    draw = {
        "tree": lambda: plotting.plot_tree(model.tree_),
        "dendrogram": lambda: plotting.plot_dendrogram(tree),
        "icicle": lambda: plotting.plot_icicle(tree),
        "trace": lambda: plotting.plot_trace(model.draws_),
        "coclustering": lambda: plotting.plot_coclustering(model.draws_, level, tree=model.tree_),
        "prior": lambda: plotting.plot_prior_posterior(model),
    }
    return np.ravel(np.asarray(draw[kind](), dtype=object))[0].figure
