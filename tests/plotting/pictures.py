"""New axes, and what is drawn on them."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

EVERYTHING = 10**6
SEEDS = range(5)


def new_axes(width=8.0, height=6.0):
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.1, 0.1, 0.8, 0.8))


def part(ax, gid):
    """The only artist with that id."""
    found = ax.findobj(lambda artist: artist.get_gid() == gid)
    assert len(found) == 1, gid
    return found[0]


def labels_on(ax, kind):
    """Text by the number of the mark, box or row it belongs to."""
    return {
        int(text.get_gid().split()[1]): text
        for text in ax.texts
        if (text.get_gid() or "").startswith(kind + " ")
    }


def members(tree, node):
    return np.flatnonzero(tree.paths[:, tree.levels[node]] == node)


def below(tree, node):
    """The node and all nodes under it."""
    found = [node]
    for one in found:
        found.extend(np.flatnonzero(tree.parents == one).tolist())
    return found


def boxes_of(texts):
    return [text.get_window_extent() for text in texts]


def much_overlap(a, b):
    """Whether they share more than a pixel or two, which rounding makes."""
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    high = min(a.y1, b.y1) - max(a.y0, b.y0)
    return wide > 2 and high > 2
