"""What a node says of its data: size, box, mean, spread."""

from bhmc._compiled.decorators import helper
from bhmc.baselines.perch.kernels.distances import distance


@helper
def refresh(nodes, node):
    """What a node says of its data, from its children."""
    left, right = nodes.left[node], nodes.right[node]
    count = nodes.size[left] + nodes.size[right]
    share = nodes.size[right] / count
    apart = distance(nodes, left, right)
    nodes.size[node] = count
    nodes.spread[node] = (
        (1.0 - share) * nodes.spread[left]
        + share * nodes.spread[right]
        + share * (1.0 - share) * apart
    )
    for j in range(nodes.center.shape[1]):
        gap = nodes.center[right, j] - nodes.center[left, j]
        nodes.center[node, j] = nodes.center[left, j] + share * gap
        nodes.box[node, 0, j] = min(nodes.box[left, 0, j], nodes.box[right, 0, j])
        nodes.box[node, 1, j] = max(nodes.box[left, 1, j], nodes.box[right, 1, j])


@helper
def add_datum(nodes, node, tip):
    """What a node says of its data, with that of `tip` among them."""
    count = nodes.size[node] + 1
    nodes.size[node] = count
    apart = 0.0
    for j in range(nodes.center.shape[1]):
        x = nodes.center[tip, j]
        gap = x - nodes.center[node, j]
        apart += gap * gap
        nodes.center[node, j] += gap / count
        nodes.box[node, 0, j] = min(nodes.box[node, 0, j], x)
        nodes.box[node, 1, j] = max(nodes.box[node, 1, j], x)
    nodes.spread[node] = (nodes.spread[node] + apart / count) * (count - 1) / count
