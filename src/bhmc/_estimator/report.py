"""`report`: one page of HTML with all that a person asks of a fit first."""

from __future__ import annotations

import os
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bhmc import plotting
from bhmc._estimator.summary import MOST_BRANCHES, Summary, summarise
from bhmc._estimator.view import DENDROGRAM, WHY_DENDROGRAM, opened_tree
from bhmc._extras import import_matplotlib
from bhmc._io import html_page
from bhmc._io.atomic_write import write_atomically
from bhmc._io.versions import versions
from bhmc.tree.html import count, short, table, tree_html

_DPI = 110
_MOST_ODD, _MOST_TRACES = 15, 6
_WORDS = {
    "tree": (
        "The tree. A node is a pie of its components; beside it are its id in brackets, its rows, "
        "its support and what sets it apart. Components of one branch have one hue."
    ),
    "dendrogram": (
        "The dendrogram of components: which are near each other. Where two lines meet is the log "
        "likelihood, in nats, that is lost when the groups share one parameter."
    ),
    "trace": (
        "Numbers of the draws, chain by chain. Where chains agree, their lines overlap, and the "
        "lines to the right are flat."
    ),
}


def write_report(
    model: Any,
    path: str | os.PathLike,
    title: str | None = None,
    *,
    explorer: str | None = None,
) -> Path:
    """Write the page of a fitted model, whole or not at all.

    Parameters
    ----------
    model : BHMC
        Fitted.
    path : path
        The file to write; an existing file is replaced.
    title : str, optional
        Title of the page.
    explorer : str, optional
        Name of the file beside the page that holds the explorer of the model, to link to.

    Returns
    -------
    path : Path
        The file.
    """
    import_matplotlib("report")
    summary, path = summarise(model), Path(path)
    heading = title or f"Clusters of {count(len(model.tree_.paths), 'row')}"
    blocks = [
        *_link(explorer),
        *_first_picture(model, summary),
        *_branches(model, summary, explorer),
        *_second_picture(model, summary),
        *_chains(model, summary),
        *_odd_rows(model),
        *_whole_tree(model),
        *_settings(model),
    ]
    write_atomically(path, html_page.page(heading, f"{summary.data} {summary.tree}", blocks))
    return path


def _link(explorer: str | None) -> list[str]:
    words = "Look around in the tree: zoom, search, rows, draws"
    return [] if explorer is None else [html_page.link(explorer, words)]


def _first_picture(model: Any, summary: Summary) -> list[str]:
    said = [html_page.note(WHY_DENDROGRAM)] if summary.view == DENDROGRAM else []
    return [*said, _drawn(model, summary.view)]


def _second_picture(model: Any, summary: Summary) -> list[str]:
    """The dendrogram below the tree, or the tree below the dendrogram."""
    if summary.view == DENDROGRAM:
        return [html_page.heading("The tree"), _drawn(model, "tree")]
    if not hasattr(model, "dendrogram_") or model.dendrogram_.n_nodes == 1:
        return []
    return [html_page.heading("Which components are near each other"), _drawn(model, "dendrogram")]


def _branches(model: Any, summary: Summary, explorer: str | None) -> list[str]:
    found = [html_page.heading("Top branches"), f'<div class="wide">{summary.branch_table()}</div>']
    found += [html_page.paragraph(summary.others + ".")] if summary.others else []
    if opened_tree(model) is not model.tree_ or not hasattr(model, "node_features_"):
        return found
    for branch in summary.branches[:MOST_BRANCHES]:
        found.append(model.describe(branch.node)._repr_html_())
        if explorer is not None:
            found.append(html_page.link(explorer, "Open this group", f"tree:{branch.node}"))
    return found


def _chains(model: Any, summary: Summary) -> list[str]:
    found = model.diagnostics_
    tell = html_page.paragraph if found.converged else html_page.note
    told = [tell(line) for line in summary.chains]
    detail = f"<details><summary>All numbers</summary>{found._repr_html_()}</details>"
    return [html_page.heading("Do the chains agree?"), *told, _drawn(model, "trace"), detail]


def _odd_rows(model: Any) -> list[str]:
    scores = getattr(model, "outlier_scores_", None)
    if scores is None:
        return []
    scores, tree = np.nan_to_num(np.asarray(scores), nan=-1.0), model.tree_
    order = np.argsort(-scores, kind="stable")[:_MOST_ODD].tolist()
    rows = [
        [
            str(row) if tree.names is None else escape(f"{short(tree.names[row])} (row {row})"),
            f"{scores[row]:.3f}",
            str(tree.paths[row, -1]),
            f"c{tree.components[row]}",
        ]
        for row in order
    ]
    words = (
        "The outlier score of a row says how many of all new rows would be more probable than it, "
        "as the other rows see it: 0.99 is one in a hundred."
    )
    return [
        html_page.heading("The oddest rows"),
        html_page.paragraph(words),
        table(["row", "outlier score", "leaf", "component"], rows),
    ]


def _whole_tree(model: Any) -> list[str]:
    tree = opened_tree(model)
    features = getattr(model, "node_features_", None) if tree is model.tree_ else None
    inner = f'<div class="wide">{tree_html(tree, features)}</div>'
    return [html_page.heading("The largest nodes"), inner]


def _settings(model: Any) -> list[str]:
    values = {name: short(repr(value)) for name, value in model.get_params().items()}
    more = {
        "ended by": getattr(model, "ended_by_", "unknown"),
        "sweeps of each chain": getattr(model, "n_sweeps_", "unknown"),
        "sweeps before the kept draws": getattr(model, "n_warmup_", "unknown"),
        **versions("matplotlib"),
    }
    return [
        html_page.heading("Settings and versions"),
        html_page.settings("Settings of the model", values),
        html_page.settings("The run, and versions of this page", more),
    ]


def _first_traces(model: Any) -> list[str]:
    """The numbers that people look at first, as many as fit on a screen."""
    return [trace.name for trace in plotting.trace_data(model)][:_MOST_TRACES]


def _drawn(model: Any, kind: str) -> str:
    """A picture of the page, its figure closed again."""
    from matplotlib import pyplot

    draw = {
        "tree": lambda: plotting.plot_tree(model),
        "dendrogram": lambda: plotting.plot_dendrogram(model),
        "trace": lambda: plotting.plot_trace(model, _first_traces(model)),
    }
    figure = np.ravel(np.asarray(draw[kind](), dtype=object))[0].figure
    file = BytesIO()
    figure.savefig(file, format="png", dpi=_DPI)
    pyplot.close(figure)
    return html_page.picture(file.getvalue(), _WORDS[kind])
