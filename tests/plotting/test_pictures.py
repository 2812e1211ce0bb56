"""All pictures: a real fit, given axes, many rows, odd trees, wrong use, no matplotlib."""

import subprocess
import sys
import time
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bhmc import BHMC, plotting
from bhmc.plotting._collapse import collapse
from tests.plotting.pictures import (
    EVERYTHING,
    boxes_of,
    much_overlap,
    new_axes,
    part,
)
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import small_tree


@pytest.mark.parametrize("plot", [plotting.plot_tree, plotting.plot_icicle])
def test_a_hundred_thousand_rows_and_twenty_thousand_nodes(plot, big):
    start = time.process_time()
    ax = plot(big, max_nodes=100, names=map(str, range(100_000)))
    ax.figure.canvas.draw()
    assert time.process_time() - start < 8  # a second or two
    shown = "nodes" if plot is plotting.plot_tree else "boxes"
    count = sum(
        len(part(ax, gid).get_offsets() if shown == "nodes" else part(ax, gid).get_paths())
        for gid in (shown, "rests")
    )
    assert 90 < count <= 100
    marks = collapse(big, max_nodes=100)
    assert (~marks.is_rest).sum() + marks.hidden.sum() == big.n_nodes
    assert marks.size[marks.is_last].sum() == 100_000
    boxes = boxes_of(text for text in ax.texts if text.get_text())
    assert len(boxes) > 20
    for i, box in enumerate(boxes):
        assert not any(much_overlap(box, other) for other in boxes[:i])


def every_picture(model, new=lambda n: [None] * n):
    """Every kind of picture; `new` gives Axes, or None for a new figure each."""
    one, two, three, four, five = new(5)
    plotting.plot_tree(model.tree_, ax=one)
    plotting.plot_icicle(model.tree_, ax=two)
    plotting.plot_coclustering(model, 1, ax=three)
    plotting.plot_trace(model.draws_, ["alpha"], ax=None if four is None else [four, new(1)[0]])
    plotting.plot_prior_posterior(model, ax=five, max_rows=0)


def test_pictures_of_a_real_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(25, 3)) + np.repeat([[0], [6]], [12, 13], axis=0)
    settings = {"alpha": 1.0, "gamma": "learn", "random_state": 0}
    model = BHMC(n_levels=2, n_warmup=5, n_draws=8, **settings)
    model.fit(X)
    every_picture(model)
    from matplotlib import pyplot

    numbers = pyplot.get_fignums()
    assert len(numbers) == 5
    for number in numbers:
        for kind in ("pdf", "svg"):
            pyplot.figure(number).savefig(tmp_path / f"{number}.{kind}")
    marks = plotting.tree_layout(model.tree_, max_nodes=EVERYTHING).marks
    np.testing.assert_array_equal(marks.size, model.tree_.sizes)
    np.testing.assert_array_equal(marks.support, model.tree_.support)


def test_given_axes_are_used_and_no_setting_is_changed(model):
    from matplotlib import pyplot

    before = dict(mpl.rcParams)
    own, other = pyplot.subplots()
    axes = [new_axes() for _ in range(7)]
    children = len(other.get_children())
    given = iter(axes)
    every_picture(model, lambda n: [next(given) for _ in range(n)] if n < 5 else _five(given))
    assert dict(mpl.rcParams) == before
    assert pyplot.get_fignums() == [own.number]
    assert pyplot.gca() is other
    assert len(other.get_children()) == children


def _five(given):
    """Four Axes and a list of one, for the picture of priors of the one that is learned."""
    found = [next(given) for _ in range(4)]
    return [*found, [next(given), next(given)]]


def test_each_picture_returns_the_axes_it_was_given():
    tree, ax = small_tree(), new_axes()
    assert plotting.plot_tree(tree, ax=ax) is ax
    assert plotting.plot_icicle(tree, ax=ax) is ax
    assert plotting.plot_coclustering(np.eye(4), ax=ax) is ax


ABSENT = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
import bhmc
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import small_tree
tree, draws = small_tree(), make_draws()
bhmc.plotting.tree_layout(tree), bhmc.plotting.icicle_boxes(tree)
bhmc.plotting.trace_data(draws), bhmc.plotting.coclustering_grid(draws)
model = bhmc.BHMC()
model.draws_, model.tree_ = draws, tree
for name, thing in [
    ("plot_tree", tree), ("plot_icicle", tree), ("plot_trace", draws),
    ("plot_coclustering", draws), ("plot_prior_posterior", model),
]:
    try:
        getattr(bhmc.plotting, name)(thing)
    except ImportError as error:
        assert str(error) == f"{name} needs matplotlib: install it with `pip install bhmc[plot]`."
    else:
        raise AssertionError(name)
"""
LATE = """
import sys
import bhmc
assert "bhmc.plotting" not in sys.modules
bhmc.plotting
assert "matplotlib" not in sys.modules
assert not hasattr(bhmc, "plots")
from matplotlib.figure import Figure
from tests.tree.tree_factory import small_tree
bhmc.plotting.plot_tree(small_tree(), ax=Figure().add_axes((0, 0, 1, 1)))
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.mark.parametrize("code", [ABSENT, LATE], ids=["absent", "late"])
def test_matplotlib_is_imported_late_and_may_be_absent(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


def test_odd_trees():
    one = small_tree(n=2, n_levels=1, alpha=1e-6)
    deep = small_tree(n=6, n_levels=25)
    unsupported = replace(small_tree(), support=None, names=None)
    for tree in (one, deep):
        for plot in (plotting.plot_tree, plotting.plot_icicle):
            plot(tree).figure.canvas.draw()
            plot(tree, max_nodes=1).figure.canvas.draw()
            plot(tree, ax=new_axes(0.3, 0.3)).figure.canvas.draw()
    assert not any("%" in text.get_text() for text in plotting.plot_tree(unsupported).texts)


WITH_TREE = ("plot_tree", "plot_icicle", "plot_dendrogram")


@pytest.mark.parametrize("name", [*WITH_TREE, "plot_trace", "plot_coclustering"])
def test_a_picture_takes_the_model_or_says_what_it_takes(name):
    plot = getattr(plotting, name)
    wanted = "fitted model or a Tree" if name in WITH_TREE else "fitted BHMC or its draws_"
    wrong = make_draws() if name in WITH_TREE else small_tree()
    article = "a Draws" if name in WITH_TREE else "a Tree"
    with pytest.raises(TypeError, match=f"^{name} takes a {wanted}, got {article}.$"):
        plot(wrong)
    with pytest.raises(TypeError, match=f"^{name} takes a {wanted}, got None.$"):
        plot(None)
    with pytest.raises(TypeError, match="got the class BHMC itself"):
        plot(BHMC)
    with pytest.raises(NotFittedError, match="this BHMC is not fitted yet, call fit first"):
        plot(BHMC())


def test_other_pictures_say_what_they_take():
    with pytest.raises(TypeError, match="plot_prior_posterior takes a fitted BHMC, got a Tree"):
        plotting.plot_prior_posterior(small_tree())
    with pytest.raises(TypeError, match=r"takes what compare_trees\(a, b\) returned, got a Tree"):
        plotting.plot_comparison(small_tree())
    with pytest.raises(TypeError, match="plot_thumbnails takes a fitted model or a Tree, got a Dr"):
        plotting.plot_thumbnails(make_draws(), np.zeros((40, 2, 2)))


def test_a_model_is_drawn_as_its_tree(model):
    drawn = plotting.plot_tree(model, ax=new_axes())
    alone = plotting.plot_tree(model.tree_, ax=new_axes())
    assert [one.get_text() for one in drawn.texts] == [one.get_text() for one in alone.texts]
    assert len(plotting.trace_data(model)) == len(plotting.trace_data(model.draws_))


def test_features_are_said_at_nodes():
    """Where columns have names: at inner nodes below them, at the last ones before the rows."""
    tree = small_tree(2)
    rng = np.random.default_rng(0)
    known = replace(
        tree,
        feature_names=np.array(["<b>legs", "milk"]),
        component_means=rng.normal(size=(tree.n_components, 2)) * 3,
        feature_means=np.zeros(2),
        feature_scales=np.ones(2),
    )
    for plot in (plotting.plot_tree, plotting.plot_icicle):
        said = [text.get_text() for text in plot(known, ax=new_axes(16, 12)).texts]
        assert any("milk +" in text or "milk -" in text for text in said)
        none = [text.get_text() for text in plot(known, ax=new_axes(16, 12), features=0).texts]
        assert not any("milk" in text for text in none)
        unnamed = replace(known, feature_names=None)
        plain = [text.get_text() for text in plot(unnamed, ax=new_axes(16, 12)).texts]
        assert not any("x1" in text for text in plain)
    inner = plotting.plot_tree(known, ax=new_axes(16, 12)).findobj(
        lambda one: (one.get_gid() or "").startswith("features")
    )
    assert inner


def test_wrong_use():
    tree, draws = small_tree(), make_draws()
    for plot in (plotting.plot_tree, plotting.plot_icicle):
        with pytest.raises(ValueError, match="max_nodes must be at least 1, got 0"):
            plot(tree, max_nodes=0)
        with pytest.raises(ValueError, match="min_support must be from 0 to 1, got 50"):
            plot(tree, min_support=50)
        with pytest.raises(ValueError, match="min_support needs the support of the nodes"):
            plot(replace(tree, support=None), min_support=0.5)
        with pytest.raises(ValueError, match="color='size' is not known"):
            plot(tree, color="size")
        with pytest.raises(ValueError, match="color='support' needs the support of the nodes"):
            plot(replace(tree, support=None), color="support")
        with pytest.raises(ValueError, match="names must hold 40 names, got 2"):
            plot(tree, names=["a", "b"])
    with pytest.raises(ValueError, match="level must be at most 2, got 3"):
        plotting.plot_coclustering(draws, 3)
    with pytest.raises(ValueError, match="level must be 'component' or a whole number, got 'row'"):
        plotting.plot_coclustering(draws, "row")
    with pytest.raises(ValueError, match="rows must be between 0 and 6, got -1"):
        plotting.plot_coclustering(draws, rows=[1, -1])
    with pytest.raises(ValueError, match=r"got an array of shape \(2, 3\)"):
        plotting.plot_coclustering(np.ones((2, 3)))
    with pytest.raises(ValueError, match="tree must hold the same 7 rows, got 40"):
        plotting.plot_coclustering(draws, tree=tree)
    empty = replace(draws, partitions=(), partition_index=np.empty((0, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="no partitions were kept"):
        plotting.plot_coclustering(empty)
