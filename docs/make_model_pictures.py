"""Make the pictures of docs/model-in-pictures.md: `make pictures`.

Those of data and draws are here, those of what the model says before data in `prior_pictures`.
"""

import matplotlib.pyplot as plt
import numpy as np
from docs import prior_pictures
from docs.prior_pictures import prior_tree
from docs.sketch import (
    CHOSEN,
    COLORS,
    GREY,
    INK,
    PALE,
    edges,
    menu,
    panels,
    pie,
    places,
    save,
    title,
)
from scipy import stats

import bhmc
from bhmc.posterior.summary import coclustering

# ---- One row ----


def one_row():
    """Where a number comes from: a leaf by the walk, a component by its menu, then the number."""
    figure, axes = panels(1, 3, 2.5)
    parents, depths = [-1, 0, 0, 1, 1, 2], [0, 1, 1, 2, 2, 2]
    walk, weights = [0, 1, 4], [0.15, 0.6, 0.25]
    where = places(parents, depths)
    ax = axes[0, 0]
    edges(ax, parents, where, lw=1.2)
    ax.plot(*where[walk].T, color=CHOSEN, lw=2.4, zorder=1)
    faces = [CHOSEN if node in walk else PALE for node in range(len(parents))]
    ax.scatter(*where.T, s=170, color=faces, edgecolor=INK, lw=0.8, zorder=2)
    ax.margins(0.25)
    title(ax, "1. It walks to a leaf")
    ax = axes[0, 1]
    menu(ax, (0, 0), weights, 1, 1, top=0.8)
    ax.plot([1 / 2], [0.8], marker="v", color=CHOSEN, ms=9)
    for k in range(3):
        ax.annotate(f"c{k}", ((k + 0.5) / 3, -0.05), ha="center", va="top", fontsize=9, color=INK)
    ax.set(xlim=(-0.1, 1.1), ylim=(-0.2, 1.05))
    title(ax, "2. The leaf's menu: c1")
    _three_curves(axes[0, 2])
    save(figure, "one-row")


def _three_curves(ax):
    """Densities of three components; the row's number lies under the second."""
    x = np.linspace(-4, 6, 300)
    for k, mean in enumerate((-2.0, 1.0, 3.6)):
        ax.plot(x, stats.norm.pdf(x, mean, 0.7), color=COLORS[k], lw=2.5 if k == 1 else 1.2)
        ax.annotate(f"c{k}", (mean, 0.6), ha="center", fontsize=9, color=INK)
    ax.plot([1.6], [0], marker="o", color=CHOSEN, ms=8, clip_on=False, zorder=3)
    ax.annotate("x = 1.6", (1.6, -0.03), ha="center", va="top", fontsize=9, color=CHOSEN)
    ax.axhline(0, color=INK, lw=0.8)
    ax.set(ylim=(-0.15, 0.72))
    title(ax, "3. c1 makes the number")


# ---- Components and nodes ----


def component_and_node(seed=2628):
    """One draw from the model twice: its rows by component, and its tree."""
    tree, X = prior_tree(60, 2, seed, alpha=0.5, gamma0=1.2, gamma=1.5)
    figure, axes = panels(1, 2, 3.0, width_ratios=(1, 1.5))
    ax = axes[0, 0]
    for k in range(tree.n_components):
        ax.scatter(*X[tree.components == k].T, s=16, color=COLORS[k], lw=0, label=f"c{k}")
    ax.legend(fontsize=9, frameon=False, handletextpad=0.1, borderpad=0)
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_color(PALE)
    title(ax, "The rows, by component")
    ax = axes[0, 1]
    where = places(tree.parents.tolist(), tree.levels)
    edges(ax, tree.parents, where, lw=1.2)
    for node, at in enumerate(where):
        members = tree.components[tree.paths[:, tree.levels[node]] == node]
        shares = np.bincount(members, minlength=tree.n_components) / len(members)
        radius = 0.13 + 0.2 * np.sqrt(tree.sizes[node] / len(X))
        pie(ax, at, shares, radius)
        ax.annotate(
            str(tree.sizes[node]),
            (at[0] + radius + 0.05, at[1]),
            va="center",
            fontsize=9,
            color=INK,
        )
    wide = where[:, 0].max()
    ax.set(xlim=(-0.5, wide + 0.6), ylim=(-2.5, 0.5), aspect="equal")
    title(ax, "The same rows, by node")
    save(figure, "component-and-node")


# ---- Draws ----

# Three groups on a plane, and one row (g) between two of them.
ROWS = np.array(
    [
        *([0.0, 0.0], [0.7, 0.3], [0.1, 0.9]),
        *([4.0, 0.0], [4.7, 0.5], [4.0, 1.0], [2.3, 0.5]),
        *([2.0, 4.0], [2.7, 4.4], [2.6, 3.4]),
    ]
)
LETTERS = "abcdefghij"
DRAWN = (100, 400, 1200, 1600)


def draws():
    """Four draws of one posterior, and what all draws together say."""
    family = bhmc.likelihoods.Gaussian(sigma2=0.5, mu0=2.0, sigma0=9.0)
    model = bhmc.BHMC(
        n_levels=2, likelihood=family, n_draws=1000, thin=5, n_chains=2, random_state=0
    ).fit(ROWS)
    figure, axes = panels(2, 3, 4.8)
    ax = axes[0, 0]
    for at, letter in zip(ROWS, LETTERS, strict=True):
        ax.annotate(letter, at, ha="center", va="center", fontsize=11, color=INK)
    ax.set(xlim=(-1, 5.5), ylim=(-0.8, 5))
    title(ax, "Ten rows")
    for i, ax in enumerate(axes.ravel()[1:5]):
        _one_draw(ax, model.draws_.partitions[DRAWN[i]])
        title(ax, f"Draw {i + 1}")
    _together(axes[1, 2], coclustering(model.draws_))
    save(figure, "draws")


def _one_draw(ax, partition):
    """A tree with the letters of the rows at its leaves, coloured by component."""
    parents = partition.parents.tolist()
    depths = [0] * len(parents)
    for node in range(1, len(parents)):
        depths[node] = depths[parents[node]] + 1
    where = places(parents, depths)
    # The number of a component means nothing from draw to draw: colours go by its first row.
    first = {k: int(np.argmax(partition.component == k)) for k in set(partition.component.tolist())}
    colors = {k: i for i, k in enumerate(sorted(first, key=first.__getitem__))}
    edges(ax, parents, where, lw=1.0)
    ax.scatter(*where.T, s=18, color=GREY, zorder=2)
    for leaf in np.unique(partition.leaf):
        members = np.flatnonzero(partition.leaf == leaf)
        for i, row in enumerate(members):
            across = 0.27 * (i % 3 - (min(len(members), 3) - 1) / 2)
            at = where[leaf] + [across, -0.28 - 0.3 * (i // 3)]
            color = COLORS[colors[partition.component[row]]]
            ax.annotate(
                LETTERS[row], at, ha="center", va="center", fontsize=10, color=color, weight="bold"
            )
    middle, half = where[:, 0].max() / 2, max(where[:, 0].max() / 2, 2.0) + 0.6
    ax.set(xlim=(middle - half, middle + half), ylim=(-3.4, 0.2))


def _together(ax, shares):
    """Shares of draws in which two rows are in one component, as a grid of greys."""
    ax.imshow(shares, cmap="Greys", vmin=0, vmax=1)
    ax.set_xticks(range(len(shares)), LETTERS, fontsize=9)
    ax.set_yticks(range(len(shares)), LETTERS, fontsize=9)
    ax.tick_params(length=0)
    title(ax, "Together, all draws")


# ---- A sweep ----


def sweep():
    """The steps of one sweep as boxes."""
    figure, axes = panels(1, 1, 3.1)
    ax = axes[0, 0]
    rows = [
        ("take row n out of the tree", 0.0, 1.0),
        ("choose its component:\nlikelihood × room in the tree", 1.15, 1.0),
        ("choose its place:\na leaf, or a new branch", 2.3, 1.0),
    ]
    rest = [
        ("count tables,\nleaves first", 0.0, 0.72),
        ("concentrations\nα, γ₀, γ", 0.86, 0.72),
        ("menus of nodes,\nroot first", 1.72, 0.72),
        ("components:\nmeans, variances ...", 2.58, 0.72),
    ]
    _boxes(ax, rows, 1.0, COLORS[0])
    _boxes(ax, rest, 0.0, COLORS[2])
    arrow = {"arrowstyle": "->", "color": INK, "lw": 1.2}
    ax.annotate(
        "",
        (0.5, 1.46),
        (2.8, 1.46),
        arrowprops=arrow | {"connectionstyle": "bar,fraction=0.08"},
    )
    ax.annotate("for every row", (1.65, 1.78), ha="center", fontsize=9, color=INK)
    ax.annotate("then, once", (0.0, 0.52), fontsize=9, color=INK)
    ax.set(xlim=(-0.05, 3.35), ylim=(-0.05, 1.9))
    save(figure, "sweep")


def _boxes(ax, boxes, y, color):
    """Boxes of text in a line, an arrow from each to the next."""
    for i, (text, x, width) in enumerate(boxes):
        ax.add_patch(plt.Rectangle((x, y), width, 0.45, facecolor="white", edgecolor=color, lw=1.6))
        ax.annotate(
            text, (x + width / 2, y + 0.225), ha="center", va="center", fontsize=8.5, color=INK
        )
        if i:
            before = boxes[i - 1]
            ax.annotate(
                "",
                (x, y + 0.225),
                (before[1] + before[2], y + 0.225),
                arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.2},
            )


PICTURES = (
    prior_pictures.walk,
    prior_pictures.menus,
    prior_pictures.tables,
    prior_pictures.alpha,
    prior_pictures.gamma0,
    prior_pictures.gamma,
    one_row,
    component_and_node,
    draws,
    sweep,
)

if __name__ == "__main__":
    for picture in PICTURES:
        picture()
