"""`plot_coclustering`: the shares of the draws, in the order of the tree."""

import tracemalloc

import numpy as np
import pytest

import bhmc
from bhmc import plotting
from bhmc.posterior import summary
from tests.plotting.pictures import part
from tests.posterior.draws_factory import make_draws


def naive_share(draws, level, i, j):
    """Share of the kept draws in which rows i and j are together."""
    return np.mean(
        [
            one.component[i] == one.component[j]
            if level == "component"
            else one.paths(draws.n_levels)[i, level] == one.paths(draws.n_levels)[j, level]
            for one in draws.partitions
        ]
    )


@pytest.mark.parametrize("level", ["component", 1, 2])
def test_shares_are_those_of_the_draws_in_the_order_of_the_tree(level, model):
    draws, tree = model.draws_, model.tree_
    grid = plotting.coclustering_grid(draws, level, tree=tree)
    naive = [[naive_share(draws, level, i, j) for j in grid.rows] for i in grid.rows]
    np.testing.assert_allclose(grid.share, naive)
    paths = [(*tree.paths[row], tree.components[row], row) for row in grid.rows]
    assert paths == sorted(paths)
    depth = 1 if level == "component" else level
    nodes = tree.paths[grid.rows, depth]
    np.testing.assert_array_equal(grid.blocks, np.flatnonzero(nodes[1:] != nodes[:-1]) + 1)
    image = part(plotting.plot_coclustering(model, level), "shares")
    np.testing.assert_array_equal(image.get_array().reshape(30, 30), grid.share)


@pytest.mark.parametrize("level", ["component", 1, 2])
@pytest.mark.parametrize("few", [0, 500], ids=["many clusters", "few clusters"])
def test_cells_of_many_rows_are_means_over_pairs(level, few, model, monkeypatch):
    monkeypatch.setattr(summary, "_FEW_CLUSTERS", few)
    draws = model.draws_
    grid = plotting.coclustering_grid(draws, level, tree=model.tree_, max_cells=7)
    assert grid.share.shape == (7, 7)
    assert set(np.diff(grid.bounds)) == {4, 5}
    share = summary.coclustering(draws, level)
    groups = np.split(grid.rows, grid.bounds[1:-1])
    for a, first in enumerate(groups):
        for b, second in enumerate(groups):
            pairs = [share[i, j] for i in first for j in second if i != j]
            assert grid.share[a, b] == pytest.approx(np.mean(pairs))
    by_matrix = plotting.coclustering_grid(share, level, tree=model.tree_, max_cells=7)
    np.testing.assert_allclose(by_matrix.share, grid.share)


def test_some_rows_and_no_tree(model):
    share = summary.coclustering(model.draws_, 1)
    grid = plotting.coclustering_grid(model.draws_, 1, rows=[9, 3, 4])
    np.testing.assert_array_equal(grid.rows, [3, 4, 9])
    np.testing.assert_allclose(grid.share, share[np.ix_([3, 4, 9], [3, 4, 9])])
    ax = plotting.plot_coclustering(share, rows=[3, 4, 9], names=range(30))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["3", "4", "9"]


def test_shares_of_many_rows_need_no_matrix_of_them(big):
    one = bhmc.posterior.draws.Partition(
        big.paths[:, -1].astype(np.uint16),
        big.components.astype(np.uint8),
        big.parents.astype(np.int32),
    )
    draws = make_draws(n_chains=1, n_draws=3, n_levels=4, partitions=(one,) * 3)
    tracemalloc.start()
    grid = plotting.coclustering_grid(draws, 1, tree=big, max_cells=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # rows x rows would be 80 GB
    assert grid.share.shape == (200, 200)
    largest = np.flatnonzero(grid.bounds[1:] <= grid.blocks[0])
    np.testing.assert_allclose(grid.share[np.ix_(largest, largest)], 1.0)
