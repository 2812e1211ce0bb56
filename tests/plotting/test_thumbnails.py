"""Thumbnails: the images of a node are its own; what is not shown is counted."""

import numpy as np
import pytest

from bhmc.plotting import plot_thumbnails, tree_layout
from bhmc.plotting._thumbnails import shown_images, strip
from tests.tree.tree_factory import small_tree

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def images(n=40, shape=(6, 5)):
    """Image i has the brightness i everywhere."""
    return np.broadcast_to(np.arange(n, dtype=float)[:, None, None], (n, *shape))


def test_a_mark_shows_rows_of_its_own():
    tree = small_tree()
    layout = tree_layout(tree, max_nodes=12, min_size=2)
    marks = layout.marks
    assert marks.is_rest.any()
    chosen = shown_images(tree, layout, 5, 0)
    for one, rows in enumerate(chosen):
        assert len(set(rows.tolist())) == len(rows)
        most = 5 if marks.is_last[one] else 4
        assert len(rows) == min(most, marks.size[one])
        if marks.node[one] >= 0:
            assert set(rows.tolist()) <= set(tree.members(int(marks.node[one])).tolist())
        else:
            assert set(marks.mark_of[rows].tolist()) == {one}
        assert (np.diff(tree.components[rows]) >= 0).all()


def test_images_do_not_depend_on_the_global_seed_and_follow_their_own():
    tree, layout = small_tree(), tree_layout(small_tree(), max_nodes=12)
    first, again, other = (shown_images(tree, layout, 3, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_a_strip_puts_images_in_order():
    pictures = np.repeat(images(4, (2, 3))[..., None], 3, axis=-1)
    found = strip(pictures, np.array([3, 1, 2]), 2)
    assert found.shape == (5, 7, 3)
    assert (found[:2, :3] == 3).all()
    assert (found[:2, 4:] == 1).all()
    assert (found[3:, :3] == 2).all()
    assert (found[3:, 4:] == 1.0).all()  # white: there is no fourth
    assert (found[2] == 1.0).all()  # white between


def test_the_picture_counts_every_row():
    tree = small_tree()
    ax = plot_thumbnails(tree, images(), max_nodes=12, min_size=2)
    layout = tree_layout(tree, max_nodes=12, min_size=2)
    said = {text.get_gid(): text.get_text() for text in ax.texts}
    total = 0
    for one in np.flatnonzero(layout.marks.is_last):
        words = said[f"mark {one}"]
        total += int(words.split("row")[0].split()[-1].replace(",", ""))
    assert total == 40
    ax.figure.savefig("/dev/null", format="png")


def test_coloured_images_and_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plot_thumbnails(small_tree(), np.zeros((40, 4, 4, 3)), ax=ax, per_node=2) is ax


def test_a_wrong_number_of_images_is_refused():
    with pytest.raises(ValueError, match=r"images must be an array of 40 images.*got shape \(39, "):
        plot_thumbnails(small_tree(), images(39))
    with pytest.raises(ValueError, match="per_node"):
        plot_thumbnails(small_tree(), images(), per_node=0)
