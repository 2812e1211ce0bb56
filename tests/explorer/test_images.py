"""Thumbnails of items."""

import numpy as np
import pytest

from bhmc import Tree
from bhmc._explorer import images as room
from tests.explorer.reading import read


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree.from_parents([-1, 0, 0], np.repeat([1, 2], 6))


def test_grey_images_are_dark_on_white(tree, tmp_path):
    images = np.zeros((12, 4, 3), dtype=np.uint8)
    images[5, 1, 2] = 255
    info, found = read(tree.explore(tmp_path / "a.html", images=images))
    assert info["images"] == {"height": 4, "width": 3, "channels": 1}
    np.testing.assert_array_equal(found["images.pixels"][..., 0], 255 - images)
    np.testing.assert_array_equal(found["images.item"], np.arange(12))


def test_coloured_images_keep_their_colours_and_lose_what_shines_through(tree, tmp_path):
    images = np.random.default_rng(0).random((12, 2, 2, 4))
    _, found = read(tree.explore(tmp_path / "a.html", images=images))
    low, high = images[..., :3].min(), images[..., :3].max()
    expected = 255 * (images[..., :3] - low) / (high - low)
    np.testing.assert_allclose(found["images.pixels"], expected, atol=0.51)


def test_large_images_become_means_of_squares(tree, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (12, 130, 4), dtype=np.uint8)
    info, found = read(tree.explore(tmp_path / "a.html", images=images))
    assert info["images"] == {"height": 44, "width": 2, "channels": 1}
    first, last = images[3, 3:6, :3].mean(), images[3, 129:, 3:].mean()
    assert found["images.pixels"][3, 1, 0, 0] == pytest.approx(255 - first, abs=0.51)
    assert found["images.pixels"][3, 43, 1, 0] == pytest.approx(255 - last, abs=0.51)


def test_only_as_many_images_as_there_is_room_for(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_MOST_BYTES", 5 * 9)
    images = np.arange(12, dtype=float)[:, None, None] * np.ones((3, 3))
    images[0, 0, 0] = np.nan
    _, found = read(tree.explore(tmp_path / "a.html", images=images, max_items=8))
    assert found["images.pixels"].shape == (5, 3, 3, 1)
    assert len(np.unique(found["images.item"])) == 5
    rows = found["items.row"][found["images.item"]]
    order = np.argsort(-found["images.pixels"][:, 1, 1, 0].astype(int))
    np.testing.assert_array_equal(order, np.argsort(rows))


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (np.zeros((11, 2, 2)), "an array of 12 images"),
        (np.zeros((12, 4)), "got shape \\(12, 4\\)"),
        (np.zeros((12, 2, 2, 2)), "\\(n, height, width, 3\\)"),
        (np.zeros((12, 0, 2)), "12 images"),
        (np.full((12, 2, 2), "a"), "must be numbers"),
    ],
)
def test_images_that_do_not_fit_are_refused(tree, tmp_path, images, words):
    with pytest.raises(ValueError, match=words):
        tree.explore(tmp_path / "a.html", images=images)
    assert not list(tmp_path.iterdir())
