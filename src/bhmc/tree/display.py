"""`TreeDisplay`: how a tree shows itself. Thin methods, imports inside."""

from typing import Any

from bhmc._validation.parameters import check_choice

KINDS = ("tree", "icicle", "dendrogram")


class TreeDisplay:
    """The methods of `Tree` for pictures and notebooks."""

    heights: Any

    def plot(self, kind: str | None = None, **options) -> Any:
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

    def _repr_html_(self) -> str:
        from bhmc.tree.html import tree_html

        return tree_html(self)  # type: ignore[arg-type]
