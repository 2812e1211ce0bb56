"""`Displays`: how a fitted `BHMC` shows itself. Thin methods; the work is in other files."""

import os
from pathlib import Path
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from bhmc._estimator.summary import Summary, summarise
from bhmc._estimator.view import opened_tree, opens_with
from bhmc._validation.parameters import check_choice
from bhmc.tree.html import tree_html

PICTURES = {
    "tree": "plot_tree",
    "dendrogram": "plot_dendrogram",
    "icicle": "plot_icicle",
    "thumbnails": "plot_thumbnails",
    "trace": "plot_trace",
    "coclustering": "plot_coclustering",
    "prior": "plot_prior_posterior",
}

# Where pages of the documentation will be; there is no public site yet, so there is no link.
_DOCS_ADDRESS = ""


class Displays:
    """The methods of `BHMC` for pictures, text, pages and notebooks."""

    # scikit-learn's diagram links to the documentation of estimators of this module.
    _doc_link_module = "bhmc"
    _doc_link_template = f"{_DOCS_ADDRESS}/api/{{estimator_name}}.html" if _DOCS_ADDRESS else ""

    @property
    def view_(self) -> str:
        """What `plot`, `summary` and `report` open with: "tree" or "dendrogram".

        It is "dendrogram" where `transition="auto"` came to "hdp" on numbers: components with
        variances of their own have no place on the tree, and the dendrogram says which of them are
        near each other.
        """
        check_is_fitted(self)
        return opens_with(self)

    def plot(self, kind: str | None = None, **options: Any) -> Any:
        """A picture of the fit, with matplotlib (`pip install bhmc[plot]`).

        Parameters
        ----------
        kind : str, optional
            "tree" (nodes and lines), "dendrogram" (which components are near each other), "icicle"
            (nested boxes), "thumbnails" (a tree of images, with `images=`), "trace" (numbers of the
            draws), "coclustering" (how often rows are together) or "prior" (priors against draws).
            Default: `view_`, the tree or the dendrogram.
        **options
            Those of the function `bhmc.plotting.plot_...` of that kind, such as `ax`, `names`,
            `max_nodes` or `features`.

        Returns
        -------
        matplotlib Axes, or an array of them
            What was drawn on. `model.plot().figure.savefig("tree.png")` keeps the picture.
        """
        check_is_fitted(self)
        from bhmc import plotting

        kind = kind or self.view_
        check_choice(kind, "kind", tuple(PICTURES))
        return getattr(plotting, PICTURES[kind])(self, **options)

    def summary(self) -> Summary:
        """What was found, in a few lines: data, tree, top branches, chains and the oddest rows.

        Returns
        -------
        Summary
            Prints as text and shows as a table in a notebook; its fields hold the parts.
        """
        check_is_fitted(self)
        return summarise(self)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one page of HTML about the fit (needs matplotlib).

        The page needs no network and no other file. It has the tree and the dendrogram as pictures,
        what sets the top branches apart, whether the chains agree, the oddest rows, settings and
        versions. The file is written whole or not at all.

        Parameters
        ----------
        path : path
            The file to write, such as "page.html"; an existing file is replaced.
        title : str, optional
            Title of the page.

        Returns
        -------
        path : Path
            The file.
        """
        check_is_fitted(self)
        from bhmc._estimator.report import write_report

        return write_report(self, path, title)

    def explore(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        compare: Any = None,
        images: Any = None,
        max_items: int = 20_000,
        title: str | None = None,
    ) -> Any:
        """An explorer of the fit: one page of HTML, or a widget in a notebook.

        It has the tree and the dendrogram to zoom into, what sets nodes apart, typical and odd
        rows, how sure the place of each row is, draws to play through, and whether the chains
        agree. The page needs no network and no other file, and is written whole or not at all.

        Parameters
        ----------
        path : path, optional
            The file to write, such as "tree.html"; an existing file is replaced. Without a path a
            widget is returned, which needs anywidget (`pip install bhmc[notebook]`).
        compare : fitted model, Tree or array of shape (n,) or (n, m), optional
            Another fit, another tree of the same rows, or labels, to stand beside the tree; see
            `bhmc.compare_trees`.
        images : array-like of shape (n, height, width) or (n, height, width, 3), optional
            An image of each row.
        max_items : int, default=20_000
            Most rows in the page; of more rows it has a sample with the oddest rows, the typical
            members of nodes and rows of every leaf. Sizes of nodes count all rows in any case.
        title : str, optional
            Title of the page.

        Returns
        -------
        Path or widget
            The file; without a path the widget, whose `selected` says what is chosen.
        """
        check_is_fitted(self)
        from bhmc._estimator.exploring import source_of_model
        from bhmc._explorer.explore import explore
        from bhmc._explorer.sources import extras_of

        extras = extras_of(compare, images, max_items, title)
        return explore(source_of_model(self), path, extras)

    def _html_repr(self) -> str:
        """Summary and tree of a fit, then scikit-learn's diagram."""
        diagram = estimator_html_repr(self)
        if not hasattr(self, "tree_"):
            return diagram
        tree = opened_tree(self)
        features = getattr(self, "node_features_", None) if tree is self.tree_ else None  # type: ignore[attr-defined]
        return summarise(self).around(tree_html(tree, features)) + diagram

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown
