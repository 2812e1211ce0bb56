"""Greedy moves of blocks of rows that lower the expected variation of information.

n times the expected VI of a level to T draws is, up to what no move changes,

    sum over our nodes z of f(n_z) - (2 / T) sum over draws, z and clusters h of f(n_zh),

f(x) = x log x. A block of b rows that joins node z adds f(n_z + b) - f(n_z) to the first sum, and
f(n_zh + b_h) - f(n_zh) to the second, b_h being the block's rows in cluster h.
"""

from bhmc._compiled.decorators import compiled, merged
from bhmc.posterior.kernels.tables import close_node, count_in, count_out, open_node

# A move must gain more than rounding can: n times the expected VI, in nats.
_LEAST_GAIN = 1e-9


@merged
def fill_costs(tables, rows, start, end, depth, stays):
    """cost[l, z]: what it adds to levels 1..l to put the block below node z of level l.

    The sum of f(b_h) over clusters, which is the same for every place, is left out. Candidates are
    the block's old nodes, as far as they still exist, and all nodes that share a cluster with it:
    any other costs more than a new node. The parent of a candidate is one too.
    """
    scale = 2.0 / tables.cluster.shape[2]
    tables.cost[0, 0] = 0.0
    for level in range(1, depth + 1):
        tables.n_candidates[level] = 0
        if level <= stays:
            consider(tables, level, tables.chosen[level], end - start)
        n_touched = count_block(tables, rows, start, end, level)
        for i in range(n_touched):
            q = tables.touched[i]
            b_q = tables.moving[q]
            for place in range(tables.first[q], tables.first[q] + tables.used[q]):
                z, a = tables.met[place], tables.both[place]
                if not tables.is_candidate[level, z]:
                    consider(tables, level, z, end - start)
                gain = tables.f[a + b_q] - tables.f[a] - tables.f[b_q]
                tables.cost[level, z] -= scale * gain
            tables.moving[q] = 0
        for i in range(tables.n_candidates[level]):
            z = tables.candidates[level, i]
            tables.is_candidate[level, z] = False
            tables.cost[level, z] += tables.cost[level - 1, tables.parent[level, z]]


@merged
def consider(tables, level, z, b):
    """Node z becomes a candidate for a block of b rows; what its size costs."""
    tables.is_candidate[level, z] = True
    tables.candidates[level, tables.n_candidates[level]] = z
    tables.n_candidates[level] += 1
    size = tables.size[level, z]
    tables.cost[level, z] = tables.size_cost[size + b] - tables.size_cost[size]


@merged
def count_block(tables, rows, start, end, level):
    """moving[q] for the clusters of a level that hold rows of the block; returns how many do."""
    n_touched = 0
    for i in range(start, end):
        for t in range(tables.cluster.shape[2]):
            q = tables.cluster[level, rows[i], t]
            if tables.moving[q] == 0:
                tables.touched[n_touched] = q
                n_touched += 1
            tables.moving[q] += 1
    return n_touched


@merged
def take_out(tables, rows, start, end, depth):
    """The block leaves levels 1..depth; returns the last level at which its old node still is.

    `chosen` has the nodes that it leaves.
    """
    stays = depth
    for level in range(depth, 0, -1):
        node = tables.node[level, rows[start]]
        tables.chosen[level] = node
        for i in range(start, end):
            count_out(tables, level, rows[i])
        if tables.size[level, node] == 0:
            close_node(tables, level, node)
            stays = level - 1
    return stays


@merged
def put_in(tables, rows, start, end, level, depth):
    """The block joins chosen[level] and its ancestors, and new nodes from there down to depth."""
    node = tables.chosen[level]
    for up in range(level, 0, -1):
        tables.chosen[up] = node
        node = tables.parent[up, node]
    for down in range(level + 1, depth + 1):
        above = tables.chosen[down - 1] if down > 1 else 0
        tables.chosen[down] = open_node(tables, down, above)
    for at in range(1, depth + 1):
        for i in range(start, end):
            count_in(tables, at, rows[i], tables.chosen[at])
    if depth + 1 < tables.node.shape[0]:
        for i in range(start, end):
            tables.parent[depth + 1, tables.node[depth + 1, rows[i]]] = tables.chosen[depth]


@merged
def relocate(tables, rows, start, end, depth):
    """Put a block where it costs least: below any node, on a new branch from there on.

    The block is rows[start:end], all of them in one node of each of the levels 1..depth. What is
    below `depth` goes with it. Returns what is gained; 0 where the block stays.
    """
    stays = take_out(tables, rows, start, end, depth)
    fill_costs(tables, rows, start, end, depth, stays)
    alone = tables.size_cost[end - start]  # a new node, at each level
    best_level, best_node = stays, tables.chosen[stays] if stays else 0
    now = tables.cost[stays, best_node] + (depth - stays) * alone
    best = now - _LEAST_GAIN
    for level in range(depth, -1, -1):
        if level < depth and tables.n_nodes[level + 1] >= tables.most[level + 1]:
            break
        for i in range(tables.n_candidates[level]):
            z = tables.candidates[level, i]
            total = tables.cost[level, z] + (depth - level) * alone
            if total < best:
                best, best_level, best_node = total, level, z
    tables.chosen[best_level] = best_node
    put_in(tables, rows, start, end, best_level, depth)
    return max(now - _LEAST_GAIN - best, 0.0)


@compiled
def sweep(tables, rows, level, depth):
    """Every node of a level, or every row, goes where it costs least; returns what is gained.

    With `depth` = level - 1 a node keeps its rows and moves to another parent; so do single rows,
    which are as nodes of one level more. With `depth` = level a node's children, or the rows of a
    leaf, may join another node.

    Parameters
    ----------
    tables : Tables
        Changed in place.
    rows : (n,) array
        Row numbers; those of a node follow each other.
    level, depth : int
        Which nodes move, and the lowest level at which their rows are counted anew.
    """
    gained, start, leaves = 0.0, 0, tables.node.shape[0] - 1
    while start < rows.shape[0]:
        end = start + 1
        whole = level > leaves
        if level <= leaves:
            node = tables.node[level, rows[start]]
            while end < rows.shape[0] and tables.node[level, rows[end]] == node:
                end += 1
            # Not where other rows have joined it. A leaf of one row has moved as a row.
            whole = tables.size[level, node] == end - start and (depth < leaves or end > start + 1)
        if whole:
            gained += relocate(tables, rows, start, end, depth)
        start = end
    return gained
