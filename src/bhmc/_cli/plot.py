"""`bhmc plot`: pictures of a run."""

from pathlib import Path
from typing import Any

import numpy as np

from bhmc import BHMC
from bhmc._cli.export import put_in_place, said_where
from bhmc._cli.show import load_run
from bhmc._validation.errors import RefusedError, refusals

_ENDINGS = ("png", "svg", "pdf", "jpg", "webp")


def plot(options) -> int:
    """Draw a picture and write it to a file."""
    folder, _, model = load_run(options.folder)
    path = folder.path / f"{options.kind}.png" if options.output is None else Path(options.output)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _ENDINGS:
        raise RefusedError(
            f"{path} should end in .{', .'.join(_ENDINGS)}: the ending is the format."
        )
    level = _level(options.level, model)
    with refusals():
        figure = _figure(options.kind, model, level)
    put_in_place(path, lambda part: figure.savefig(part, format=kind, dpi=options.dpi))
    return said_where(options, path)


def _level(text: str | None, model: BHMC) -> int | str:
    """A level of the tree, or "component"."""
    deepest = model.tree_.n_levels
    if text is None or text == "component":
        return "component"
    if text.isascii() and text.isdigit() and 1 <= int(text) <= deepest:
        return int(text)
    raise RefusedError(f"--level must be 1 to {deepest}, or the word component, got {text[:40]!r}.")


def _figure(kind: str, model: BHMC, level: int | str) -> Any:
    from bhmc._extras import import_matplotlib

    import_matplotlib("bhmc plot").use("Agg")  # no window, also where there is no screen
    from bhmc import plotting

    draw = {
        "tree": lambda: plotting.plot_tree(model.tree_),
        "icicle": lambda: plotting.plot_icicle(model.tree_),
        "trace": lambda: plotting.plot_trace(model.draws_),
        "coclustering": lambda: plotting.plot_coclustering(model.draws_, level, tree=model.tree_),
        "prior": lambda: plotting.plot_prior_posterior(model),
    }
    return np.ravel(np.asarray(draw[kind](), dtype=object))[0].figure
