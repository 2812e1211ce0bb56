"""Pictures of what the model says before it sees data: the walk, the franchise, concentrations.

Trees and data are drawn from the model by `bhmc.sample_prior`; seeds were chosen so that a picture
shows what its caption says, in few nodes.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from docs.sketch import CHOSEN, COLORS, GREY, INK, PALE, edges, menu, panels, places, save, title

import bhmc

GAUSSIAN = bhmc.likelihoods.Gaussian(sigma2=0.15, mu0=0.0, sigma0=9.0)


def prior_tree(n, n_levels, seed, *, alpha=1.0, gamma0=1.0, gamma=1.0):
    """A tree and data in two columns, drawn from the model."""
    state, X = bhmc.sample_prior(
        n,
        n_levels=n_levels,
        hyper=bhmc.Hyper(alpha, gamma0, gamma),
        likelihood=GAUSSIAN,
        rng=np.random.default_rng(seed),
        n_features=2,
    )
    return bhmc.Tree.from_state(state), X


# ---- The walk ----

# Two steps a guest: the number of a child that is there, or None for a new one.
GUESTS = [(None, None), (0, None), (None, None), (0, 0), (0, 1), (1, 0), (0, None)]


def walk():
    """A tree that grows guest by guest, with the probabilities of every choice."""
    figure, axes = panels(2, 2, 5.6)
    tree = {(): 0}
    for number, steps in enumerate(GUESTS, start=1):
        panel = {2: 0, 3: 1, 4: 2, 7: 3}.get(number)
        if panel is not None:
            _walk_panel(axes.ravel()[panel], tree, steps, number)
        _seat(tree, steps)
    save(figure, "walk")


def _children(tree, node):
    return [other for other in tree if len(other) == len(node) + 1 and other[:-1] == node]


def _seat(tree, steps):
    """One more guest at every node of the walk."""
    for node in _path(tree, steps):
        tree[node] = tree.get(node, 0) + 1


def _path(tree, steps):
    node, path = (), [()]
    for step in steps:
        node = (*node, len(_children(tree, node)) if step is None else step)
        path.append(node)
    return path


def _walk_panel(ax, tree, steps, number, alpha=1):
    """The tree before a guest comes, every choice with its probability, the walk in red."""
    taken = _path(tree, steps)
    shown = dict(tree)
    for node in taken[:-1]:  # where the guest chooses, a new branch could begin
        shown.setdefault((*node, len(_children(tree, node))), 0)
    nodes = sorted(shown, key=lambda node: (len(node), node))
    parents = [nodes.index(node[:-1]) if node else -1 for node in nodes]
    where = places(parents, [len(node) for node in nodes])
    for node, parent, at in zip(nodes, parents, where, strict=True):
        new, on_walk = node not in tree, node in taken
        color = CHOSEN if on_walk else GREY
        if parent >= 0:
            style = {"ls": (0, (3, 2)) if new else "-", "lw": 2.2 if on_walk else 1.2}
            ax.plot(*np.array([where[parent], at]).T, color=color, zorder=1, **style)
            if node[:-1] in taken:
                _say_chance(ax, (where[parent] + at) / 2, tree, node, alpha, color)
        face = "white" if new else PALE
        ax.scatter(*at, s=330, color=face, edgecolor=color, lw=1.4, zorder=2)
        ax.annotate(tree.get(node, "new"), at, ha="center", va="center", fontsize=8, color=INK)
    low, high = where[:, 0].min(), where[:, 0].max()
    middle, half = (low + high) / 2, max(2.0, high - low) / 2
    ax.set(xlim=(middle - half - 0.5, middle + half + 0.5), ylim=(-2.4, 0.35))
    title(ax, f"Guest {number} comes")


def _say_chance(ax, at, tree, node, alpha, color):
    """N_child / (N + alpha) for a child, alpha / (N + alpha) for a new one."""
    all_guests = tree.get(node[:-1], 0)
    chance = Fraction(tree.get(node, alpha), all_guests + alpha)
    text = f"{tree.get(node, alpha)}/{all_guests + alpha}" if chance != 1 else "1"
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    ax.annotate(text, at, ha="center", va="center", fontsize=9, color=color, bbox=box)


# ---- The franchise ----

MENU_SEED = 4


def menus():
    """Menus down a small tree: each follows its parent's, and none adds a dish of its own."""
    rng = np.random.default_rng(MENU_SEED)
    parents, depths = [-1, 0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 2, 2]
    weights = [np.array([0.38, 0.27, 0.17, 0.1, 0.08])]
    for parent in parents[1:]:
        weights.append(rng.dirichlet(4 * weights[parent]))
    figure, axes = panels(1, 1, 4.2)
    ax = axes[0, 0]
    where = places(parents, depths) * [1.0, 0.9]
    edges(ax, parents, where, lw=1.2)
    for at, shares in zip(where, weights, strict=True):
        menu(ax, at - [0.36, 0.26], shares, 0.72, 0.52, colors=[*COLORS[:4], PALE], top=0.8)
    notes = [
        "head office\n~ GEM(γ₀)",
        "a region\n~ DP(γ, head office)",
        "a restaurant\n~ DP(γ, region)",
    ]
    for depth, note in enumerate(notes):
        ax.annotate(note, (-0.62, -0.9 * depth), ha="right", va="center", fontsize=9, color=INK)
    dishes = ["dish 0", "dish 1", "dish 2", "dish 3", "all other dishes"]
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in [*COLORS[:4], PALE]]
    ax.legend(handles, dishes, loc="upper right", fontsize=9, frameon=False)
    ax.set(xlim=(-1.75, 3.5), ylim=(-2.15, 0.35))
    save(figure, "menus")


def tables():
    """Guests at tables, and a guest upstairs for every table."""
    figure, axes = panels(1, 1, 3.6)
    ax = axes[0, 0]
    # (x of the table, dish, guests), restaurant by restaurant.
    left, right = [(0.0, 0, 4), (1.0, 0, 1), (2.0, 1, 2)], [(4.0, 1, 3), (5.0, 2, 2)]
    upstairs = [(1.0, 0, 2), (2.5, 1, 2), (4.2, 2, 1)]
    seat_of = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    seats = [_table(ax, x, 1.6, dish, guests) for x, dish, guests in upstairs]
    for (x, dish, guests), (table, seat) in zip(left + right, seat_of, strict=True):
        _table(ax, x, 0.0, dish, guests)
        arrow = {"arrowstyle": "->", "color": COLORS[dish], "lw": 1.3, "shrinkB": 5}
        ax.annotate("", seats[table][seat], (x, 0.42), arrowprops=arrow)
    for x0, x1, y, name in [
        (-0.5, 2.5, 0.0, "restaurant A: 7 guests, 3 tables"),
        (3.5, 5.5, 0.0, "restaurant B: 5 guests, 2 tables"),
        (0.3, 4.9, 1.6, "their region: 5 guests, one for each table below"),
    ]:
        box = plt.Rectangle((x0, y - 0.5), x1 - x0, 1.0, fill=False, ec=GREY, lw=1.0)
        ax.add_patch(box)
        below = y < 1
        ax.annotate(
            name,
            ((x0 + x1) / 2, y + (-0.58 if below else 0.58)),
            ha="center",
            va="top" if below else "bottom",
            fontsize=9,
            color=INK,
        )
    ax.set(xlim=(-0.7, 5.7), ylim=(-0.85, 2.45), aspect="equal")
    save(figure, "tables")


def _table(ax, x, y, dish, guests):
    """A round table with its dish, guests around it; returns where they sit."""
    ax.add_patch(plt.Circle((x, y), 0.2, color=COLORS[dish], zorder=2))
    color = "white" if dish in (0, 3) else INK
    ax.annotate(str(dish), (x, y), ha="center", va="center", fontsize=9, color=color)
    turns = np.pi / 2 + 2 * np.pi * (np.arange(guests) + (0.5 if guests == 2 else 0)) / guests
    if guests == 1:
        turns = np.array([-np.pi / 2])
    seats = np.column_stack([x + 0.32 * np.cos(turns), y + 0.32 * np.sin(turns)])
    ax.scatter(*seats.T, s=34, color=INK, zorder=3)
    return seats


# ---- The three concentrations ----

GAMMA_SEED = 3


def alpha():
    """Trees of forty data for a small, a middling and a large alpha."""
    figure, axes = panels(1, 3, 2.6)
    for ax, value in zip(axes[0], (0.2, 1.0, 5.0), strict=True):
        tree, _ = prior_tree(40, 3, seed=3, alpha=value)
        where = places(tree.parents.tolist(), tree.levels)
        edges(ax, tree.parents, where, lw=0.8)
        ax.scatter(*where.T, s=4 + 4 * tree.sizes, color=COLORS[0], zorder=2)
        ax.margins(0.12)
        title(ax, f"α = {value:g}: {tree.n_leaves} leaves")
    save(figure, "alpha")


def gamma0():
    """Two hundred data by component, for three values of gamma0."""
    figure, axes = panels(1, 3, 2.6)
    for ax, value in zip(axes[0], (0.3, 1.5, 8.0), strict=True):
        tree, X = prior_tree(200, 1, seed=12, gamma0=value, gamma=50.0, alpha=0.1)
        for k in range(tree.n_components):
            color = COLORS[k] if k < len(COLORS) else GREY
            ax.scatter(*X[tree.components == k].T, s=7, color=color, lw=0)
        for spine in ax.spines.values():
            spine.set_visible(True)
            spine.set_color(PALE)
        title(ax, f"γ₀ = {value:g}: {tree.n_components} component" + "s" * (tree.n_components > 1))
    save(figure, "gamma0")


def gamma():
    """Menus of the root and of its seven largest children, for three values of gamma."""
    figure, axes = panels(1, 3, 2.7)
    for ax, value in zip(axes[0], (0.2, 2.0, 50.0), strict=True):
        tree, _ = prior_tree(300, 1, seed=GAMMA_SEED, alpha=3.0, gamma0=2.0, gamma=value)
        for i, shares in enumerate(tree.weights[:8]):
            _stack(ax, i + (0.6 if i else 0.0), _first(shares, tree.weights[0], 4))
        ax.set(ylim=(0, 1))
        ax.set_xticks([0, 4.6], ["root", "seven children"], fontsize=9)
        ax.tick_params(length=0)
        title(ax, f"γ = {value:g}")
    save(figure, "gamma")


def _first(shares, of_root, n):
    """The shares of the root's n heaviest components, and of all others together."""
    heaviest = np.argsort(-of_root[:-1])[:n]
    return [*shares[heaviest], 1 - shares[heaviest].sum()]


def _stack(ax, x, shares):
    """Shares on top of each other, the last one grey."""
    base = np.cumsum([0, *shares[:-1]])
    for share, low, color in zip(shares, base, [*COLORS[: len(shares) - 1], PALE], strict=True):
        ax.bar(x, share, bottom=low, width=0.8, color=color)
