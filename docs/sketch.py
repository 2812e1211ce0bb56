"""Helpers of the pictures that explain the model: small trees, menus, one look for all."""

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

FOLDER = Path(__file__).parent / "pictures"

# The first five of the colours of bhmc.plotting: they can be told apart in grey print, too.
COLORS = ("#523687", "#E1A233", "#52AA61", "#9D3F01", "#21D8FE")
GREY, INK, PALE = "#9A9A9A", "#222222", "#DDDDDD"
CHOSEN = "#C1272D"


def panels(rows, columns, height, width=7.0, **kwargs):
    """A figure 700 pixels wide, as pages show it, with bare Axes in rows and columns."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, **kwargs)
    for ax in axes.ravel():
        bare(ax)
    return figure, axes


def bare(ax):
    """No ticks, no frame."""
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def save(figure, name, tight=True):
    """Write pictures/NAME.png, finer than pages show it, for large screens."""
    FOLDER.mkdir(exist_ok=True)
    if tight:
        figure.tight_layout()
    whole = BytesIO()
    figure.savefig(whole, dpi=150)
    plt.close(figure)
    # A palette makes a third of the size. The default method drops colours of small areas.
    full = Image.open(whole).convert("RGB")
    few = full.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(FOLDER / f"{name}.png", optimize=True)
    print(f"docs/pictures/{name}.png")


def title(ax, text):
    """What a panel shows, above it and to the left."""
    ax.set_title(text, loc="left", fontsize=10, color=INK)


def places(parents, depths):
    """(m, 2) where to draw nodes: leaves side by side, parents above the middle of their children.

    Parents come before their children.
    """
    below = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(node)
    x, free, waiting = np.zeros(len(parents)), 0, [0]
    while waiting:
        node = waiting.pop()
        if not below[node]:
            x[node], free = free, free + 1
        waiting.extend(reversed(below[node]))
    for node in reversed(range(len(parents))):
        if below[node]:
            x[node] = np.mean([x[below[node][0]], x[below[node][-1]]])
    return np.column_stack([x, -np.asarray(depths, dtype=float)])


def edges(ax, parents, where, color=GREY, **kwargs):
    """A line from every node to its parent."""
    for node, parent in enumerate(parents):
        if parent >= 0:
            ax.plot(*where[[parent, node]].T, color=color, zorder=1, **kwargs)


def pie(ax, at, shares, radius, colors=COLORS):
    """A pie at a place in data units, in an Axes of equal aspect."""
    start = 90.0
    for share, color in zip(shares, colors, strict=False):
        wedge = matplotlib.patches.Wedge(at, radius, start - 360 * share, start, color=color, lw=0)
        ax.add_patch(wedge).set_zorder(3)
        start -= 360 * share
    ax.add_patch(plt.Circle(at, radius, fill=False, color=INK, lw=0.8, zorder=4))


def menu(ax, at, weights, width, height, colors=COLORS, top=1.0):
    """Upright bars of weights up to `top` in a box whose lower left corner is `at`."""
    n = len(weights)
    ax.add_patch(
        plt.Rectangle(at, width, height, facecolor="white", edgecolor=INK, lw=0.8, zorder=2)
    )
    for i, (weight, color) in enumerate(zip(weights, colors, strict=False)):
        left = at[0] + width * (i + 0.2) / n
        ax.add_patch(
            plt.Rectangle(
                (left, at[1]), 0.6 * width / n, height * weight / top, color=color, lw=0, zorder=3
            )
        )
