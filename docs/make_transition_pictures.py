"""Make the picture of docs/transitions.md: `make pictures`.

The paper's Figure 1 sets a node that is one Gaussian against a node that is a mixture. Here both
come from fits of one table.
"""

import matplotlib.pyplot as plt
import numpy as np
from docs.cached_fits import cached_fit
from docs.sketch import COLORS, GREY, INK, bare, places, save
from matplotlib.patheffects import withStroke
from scipy import stats

from bhmc import likelihoods

# Six groups in two branches; in each branch two of the three are close to each other.
CENTRES = np.array(
    [[0.0, 0.0], [3.3, 0.7], [1.0, 6.6], [16.0, 0.8], [14.6, 7.4], [17.9, 6.6]],
)
SIZES = (45, 30, 40, 40, 45, 30)
NOISE = 0.75
LEVELS = 2
# Shares of a density's mass that are shaded, the darkest first.
SHARES = (0.5, 0.9)

LEGEND = (
    "Every small map is a node of a fitted tree. Dark dots are its rows, pale dots all other "
    "rows.\nShaded is where the node expects half (dark) and nine tenths (light) of its rows; + "
    "marks a mean."
)


def table(seed=1):
    """(230, 2) rows: x ~ N(centre, NOISE^2 I)."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(CENTRES, SIZES, axis=0)
    return centres + NOISE * rng.normal(size=centres.shape)


def fitted(X, transition):
    """The fit of one transition; the noise is given, so that both sides have the same."""
    family = likelihoods.Gaussian(sigma2=NOISE**2, mu0=float(X.mean()), sigma0=60.0)
    settings = {"n_warmup": 300, "n_draws": 300, "random_state": 0, "likelihood": family}
    name = f"nodes-{transition}"
    return cached_fit(name, X, n_levels=LEVELS, transition=transition, **settings)


def expected_locations(tree, X):
    """(nodes, 2) E[m | theta, v] of a tree of Gaussian nodes, whose leaves are the components.

    Given the leaves the locations are Gaussian: their precision has 1 / v_l for a step to level l.
    """
    steps = tree.step_variances[:, 0]
    precision, linear = np.zeros((tree.n_nodes,) * 2), np.zeros((tree.n_nodes, 2))
    precision[0, 0], linear[0] = 1 / steps[0], X.mean() / steps[0]
    for node in range(1, tree.n_nodes):
        weight, parent = 1 / steps[tree.levels[node]], tree.parents[node]
        precision[[node, parent], [node, parent]] += weight
        precision[[node, parent], [parent, node]] -= weight
    leaves = tree.levels == tree.n_levels
    inner = ~leaves
    linear[inner] -= precision[np.ix_(inner, leaves)] @ tree.locations[leaves]
    found = tree.locations.copy()
    found[inner] = np.linalg.solve(precision[np.ix_(inner, inner)], linear[inner])
    return found


def one_gaussian(tree, X):
    """For every node N(m_z, (1 + v_(l+1) + ... + v_L) sigma^2 I): its location, and all below."""
    steps = tree.step_variances[:, 0]
    return [
        ([1.0], [at], NOISE**2 * (1 + steps[level + 1 :].sum()))
        for at, level in zip(expected_locations(tree, X), tree.levels, strict=True)
    ]


def mixture(tree, X):
    """For every node sum_k w_zk N(theta_k, sigma^2 I): the share of a new component is left out."""
    found = []
    for weights in tree.weights[:, :-1]:
        used = np.flatnonzero(weights > 0)
        found.append((weights[used] / weights[used].sum(), tree.theta[used], NOISE**2))
    return found


def density(law, grid):
    """The density of a (weights, means, variance) at every point of a grid."""
    weights, means, variance = law
    parts = zip(weights, means, strict=True)
    return sum(w * stats.multivariate_normal(m, variance).pdf(grid) for w, m in parts)


def heights(law, seed=0):
    """The heights above which a density has the `SHARES` of its mass, by draws from it."""
    weights, means, variance = law
    rng = np.random.default_rng(seed)
    of = rng.choice(len(weights), 4000, p=weights)
    draws = np.asarray(means)[of] + np.sqrt(variance) * rng.normal(size=(4000, 2))
    return np.quantile(density(law, draws), [1 - share for share in SHARES])


def draw_node(ax, law, X, members, color, limits):
    """Rows of the node on those of the table, under the density of the node."""
    x, y = (np.linspace(*limit, 160) for limit in limits)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    value = density(law, grid)
    inner, outer = heights(law)
    for height, strength in ((outer, 0.22), (inner, 0.45)):
        ax.contourf(x, y, value, [height, value.max() * 2], colors=[color], alpha=strength)
        ax.contour(x, y, value, [height], colors=[color], linewidths=0.8)
    ax.scatter(*X.T, s=2, color="#BBBBBB", lw=0, zorder=0)
    ax.scatter(*X[members].T, s=3, color=INK, lw=0, zorder=3)
    centres = ax.scatter(*np.asarray(law[1]).T, s=24, marker="+", color="black", lw=1.1, zorder=5)
    centres.set_path_effects([withStroke(linewidth=2.6, foreground="white")])
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set(color=GREY, linewidth=0.8)


def draw_side(figure, box, tree, laws, X, color, words):
    """A tree from left to right, a small map in the place of every node."""
    left, bottom, width, height = box
    across = places(tree.parents.tolist(), tree.levels)[:, 0]
    slots = across.max() + 1
    wide = width * 0.29
    low, high = X.min(axis=0) - 2.6, X.max(axis=0) + 2.6
    limits = tuple(zip(low, high, strict=True))
    # As high as equal units of both columns need.
    tall = wide * np.divide(*figure.get_size_inches()) * np.divide(*(high - low)[::-1])
    middle = np.column_stack(
        [
            left + wide / 2 + tree.levels * (width - wide) / LEVELS,
            bottom + height * (1 - (across + 0.5) / slots),
        ]
    )
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            ends = middle[[parent, node]] + [[wide / 2, 0], [-wide / 2, 0]]
            line = plt.Line2D(*ends.T, color=GREY, lw=1.4, transform=figure.transFigure, zorder=0)
            figure.add_artist(line)
        ax = bare(figure.add_axes((*(middle[node] - [wide / 2, tall / 2]), wide, tall)))
        draw_node(ax, laws[node], X, tree.members(node), color, limits)
    top = bottom + height
    for level, word in enumerate(("root", "its children", "leaves")):
        x = left + wide / 2 + level * (width - wide) / LEVELS
        figure.text(x, top + 0.015, word, ha="center", fontsize=10, color=INK)
    title, note = words
    figure.text(left, 0.955, title, fontsize=12, fontweight="bold", color=color)
    figure.text(left, bottom - 0.025, note, fontsize=10, color=INK, va="top", linespacing=1.35)


def nodes():
    """A Gaussian node against a mixture node, as fits of one table have them."""
    X = table()
    trees = {name: fitted(X, name).tree_ for name in ("gaussian", "diffused")}
    figure = plt.figure(figsize=(10.0, 7.0))
    draw_side(
        figure,
        (0.015, 0.20, 0.465, 0.70),
        trees["gaussian"],
        one_gaussian(trees["gaussian"], X),
        X,
        COLORS[0],
        (
            'A node is one Gaussian: transition="gaussian"',
            "A node says where its rows are on average and how far they spread.\n"
            "The root is one wide hill, highest where there are no rows.\n"
            "Only leaves fit their rows, so a leaf is one cluster.",
        ),
    )
    draw_side(
        figure,
        (0.52, 0.20, 0.465, 0.70),
        trees["diffused"],
        mixture(trees["diffused"], X),
        X,
        COLORS[3],
        (
            'A node is a mixture: transition="diffused"',
            "A node is a mixture of the components below it (+), so every node\n"
            "fits its own rows: the root has six hills, each child three of them.\n"
            "A leaf may hold several components that are near each other.",
        ),
    )
    figure.text(0.015, 0.02, LEGEND, fontsize=10, color=INK, va="bottom", style="italic")
    save(figure, "gaussian-and-mixture-nodes", tight=False)


def main():
    """Fit, draw, write."""
    nodes()


if __name__ == "__main__":
    main()
