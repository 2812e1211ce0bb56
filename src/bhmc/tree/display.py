"""`TreeDisplay`: how a tree shows itself. Thin methods, imports inside."""

import os
from typing import Any

from bhmc._validation.parameters import check_choice

KINDS = ("tree", "icicle", "dendrogram")


class TreeDisplay:
    """The methods of `Tree` for pictures and notebooks."""

    heights: Any

    def plot(self, kind: str | None = None, **options: Any) -> Any:
        """A picture of the tree, with matplotlib (`pip install bhmc[plot]`).

        Parameters
        ----------
        kind : {"tree", "icicle", "dendrogram"}, optional
            "tree" draws nodes and lines, "icicle" nested boxes, "dendrogram" a tree with heights
            along an axis. Default: "dendrogram" where heights are known, else "tree".
        **options
            Those of `bhmc.plotting.plot_tree`, `plot_icicle` or `plot_dendrogram`, such as `ax`,
            `names`, `max_nodes` or `features`.

        Returns
        -------
        ax : matplotlib Axes
            What was drawn on. `ax.figure.savefig("tree.png")` keeps it.
        """
        from bhmc import plotting

        kind = kind or ("tree" if self.heights is None else "dendrogram")
        check_choice(kind, "kind", KINDS)
        return getattr(plotting, f"plot_{kind}")(self, **options)

    def explore(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        compare: Any = None,
        images: Any = None,
        max_items: int = 20_000,
        title: str | None = None,
    ) -> Any:
        """An explorer of the tree: one page of HTML, or a widget in a notebook.

        The page needs no network and no other file, and is written whole or not at all. It has the
        20,000 largest nodes at most, and a sample of the rows where they are many.

        Parameters
        ----------
        path : path, optional
            The file to write, such as "tree.html"; an existing file is replaced. Without a path a
            widget is returned, which needs anywidget (`pip install bhmc[notebook]`).
        compare : Tree, fitted model or array of shape (n,) or (n, m), optional
            Another tree of the same rows, or labels, to stand beside this one; see
            `bhmc.compare_trees`.
        images : array-like of shape (n, height, width) or (n, height, width, 3), optional
            An image of each row.
        max_items : int, default=20_000
            Most rows in the page. Sizes of nodes count all rows in any case.
        title : str, optional
            Title of the page.

        Returns
        -------
        Path or widget
            The file; without a path the widget, whose `selected` says what is chosen.
        """
        from bhmc._explorer.explore import explore
        from bhmc._explorer.sources import extras_of, source_of_tree

        extras = extras_of(compare, images, max_items, title)
        return explore(source_of_tree(self), path, extras)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from bhmc.tree.html import tree_html

        return tree_html(self)  # type: ignore[arg-type]
