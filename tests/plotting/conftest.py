"""Pictures without a screen, and things to draw."""

import matplotlib as mpl
import pytest

from bhmc import BHMC, priors
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import large_tree, small_tree


@pytest.fixture(autouse=True)
def no_windows():
    """Pictures need no screen, and none is left open."""
    mpl.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def big():
    tree = large_tree()
    assert len(tree.paths) == 100_000
    assert tree.n_nodes > 20_000
    return tree


@pytest.fixture
def model():
    """A model that looks fitted, with draws and a tree of the same rows."""
    model = BHMC(n_levels=2, alpha="learn", gamma=0.5, gamma0=priors.Gamma(3, 2))
    model.draws_ = make_draws(n_rows=30, n_levels=2)
    model.tree_ = small_tree(n=30, n_levels=2)
    return model
