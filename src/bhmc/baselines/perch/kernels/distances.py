"""Squared distances between nodes, points and boxes."""

from bhmc._compiled.decorators import helper


@helper
def distance(nodes, one, other):
    """Between the means of two nodes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        gap = nodes.center[one, j] - nodes.center[other, j]
        total += gap * gap
    return total


@helper
def nearest_in_box(nodes, node, point):
    """From the mean of `point` to the nearest place in the box of `node`: a lower bound."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[point, j]
        gap = max(nodes.box[node, 0, j] - x, x - nodes.box[node, 1, j], 0.0)
        total += gap * gap
    return total


@helper
def farthest_in_box(nodes, node, point):
    """From the mean of `point` to the farthest corner of the box of `node`: an upper bound."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[point, j]
        gap = max(x - nodes.box[node, 0, j], nodes.box[node, 1, j] - x)
        total += gap * gap
    return total


@helper
def between_boxes(nodes, one, other):
    """The least distance between two boxes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        below = nodes.box[one, 0, j] - nodes.box[other, 1, j]
        above = nodes.box[other, 0, j] - nodes.box[one, 1, j]
        gap = max(below, above, 0.0)
        total += gap * gap
    return total


@helper
def across_boxes(nodes, one, other):
    """The largest distance between two boxes."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        below = nodes.box[one, 1, j] - nodes.box[other, 0, j]
        above = nodes.box[other, 1, j] - nodes.box[one, 0, j]
        gap = max(below, above)
        total += gap * gap
    return total


@helper
def diagonal(nodes, node):
    """Of the box of a node: no two of its data are farther apart."""
    total = 0.0
    for j in range(nodes.center.shape[1]):
        gap = nodes.box[node, 1, j] - nodes.box[node, 0, j]
        total += gap * gap
    return total
