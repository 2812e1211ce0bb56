"""How well nodes of one tree match nodes of another, by the rows they share."""

from bhmc._compiled.decorators import compiled


@compiled
def add_best_matches(rows, nodes, sizes, leaf, parents, their_sizes, shared, of_node, of_row):
    """of_node[A] += max over B of J(A, B); of_row[i] += the same over the B that hold row i.

    J(A, B) = |A & B| / |A | B|. The nodes A are those of one level of our tree, B all nodes of
    theirs: only those that share a row with A can be best.

    Parameters
    ----------
    rows : (n,) array
        Row numbers; those of a node A follow each other.
    nodes : (n,) array
        Our node of each row.
    sizes : (n_nodes,) array
        Rows of each of our nodes.
    leaf : (n,) array
        Their leaf of each row.
    parents, their_sizes : (m,) arrays
        Parent (-1: none) and rows of each of their nodes.
    shared : (m,) array
        Scratch space, all 0 before and after.
    of_node, of_row : (n_nodes,) and (n,) arrays
        What is added to; `of_row` may be empty.
    """
    start = 0
    while start < rows.shape[0]:
        node = nodes[rows[start]]
        end = start + sizes[node]
        for i in range(start, end):
            other = leaf[rows[i]]
            while other >= 0:
                shared[other] += 1
                other = parents[other]
        best = 0.0
        for i in range(start, end):
            best_here = 0.0
            other = leaf[rows[i]]
            while other >= 0:
                both = shared[other]
                match = both / (sizes[node] + their_sizes[other] - both)
                if match > best_here:
                    best_here = match
                other = parents[other]
            if of_row.shape[0]:
                of_row[rows[i]] += best_here
            if best_here > best:
                best = best_here
        of_node[node] += best
        for i in range(start, end):
            other = leaf[rows[i]]
            while other >= 0:
                shared[other] = 0
                other = parents[other]
        start = end
