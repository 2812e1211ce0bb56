"""Small pictures of items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Pixels of a side, and bytes of all pictures together, at most.
_MOST_PIXELS, _MOST_BYTES = 64, 4_000_000


class Pictures(NamedTuple):
    """Pictures of some items."""

    pixels: NDArray[np.uint8]
    """(m, height, width, channels), channels being 1 or 3."""
    item: NDArray[np.int64]
    """(m,) the item of each."""


def check_images(images: Any, n_rows: int) -> Any:
    """The images, an array or what indexes like one; refuses what does not fit the rows.

    Parameters
    ----------
    images : array-like
        Of shape (n, height, width) or (n, height, width, channels).
    n_rows : int
        Rows of the tree.
    """
    found = images if hasattr(images, "shape") else np.asarray(images)
    fits = len(found.shape) in (3, 4) and len(found) == n_rows and min(found.shape[1:]) > 0
    if not fits or (len(found.shape) == 4 and found.shape[3] not in (1, 3, 4)):
        raise ValueError(
            f"images must be an array of {n_rows} images, one for each row, of shape (n, height, "
            f"width) or (n, height, width, 3), got shape {tuple(found.shape)}."
        )
    if np.dtype(found.dtype).kind not in "buif":
        raise ValueError(f"images must be numbers, got an array of {found.dtype}.")
    return found


def pictures(images: Any, rows: NDArray[np.int64], order: NDArray[np.int64]) -> Pictures:
    """Pictures of as many items as there is room for.

    Grey images are dark on white, whatever their scale, as in `bhmc.plotting.plot_thumbnails`.

    Parameters
    ----------
    images : array
        As `check_images` returns it.
    rows : array of int
        The rows that are in the page.
    order : array of int
        Items, those first that should have a picture.
    """
    step = -(-max(images.shape[1:3]) // _MOST_PIXELS)
    channels = 3 if len(images.shape) == 4 and images.shape[3] > 1 else 1
    size = -(-images.shape[1] // step) * -(-images.shape[2] // step) * channels
    item = np.sort(order[: max(1, _MOST_BYTES // size)])
    some = np.asarray(images[rows[item]])
    some = (some if some.ndim == 4 else some[..., None])[..., :channels]
    small = _smaller(some.astype(np.float32), step)
    return Pictures(_bytes(small, grey=channels == 1, eight=some.dtype == np.uint8), item)


def _smaller(images: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Means of squares of pixels; the last row and column of squares may be smaller."""
    if step == 1:
        return images
    for axis in (1, 2):
        side = images.shape[axis]
        starts = np.arange(0, side, step)
        sizes = np.minimum(step, side - starts).astype(np.float32)
        sums = np.add.reduceat(images, starts, axis=axis)
        images = sums / (sizes[:, None, None] if axis == 1 else sizes[:, None])
    return images


def _bytes(images: NDArray[np.float32], *, grey: bool, eight: bool) -> NDArray[np.uint8]:
    finite = np.where(np.isfinite(images), images, 0.0)
    low, high = (0.0, 255.0) if eight else (float(finite.min()), float(finite.max()))
    share = np.clip((finite - low) / max(high - low, 1e-12), 0, 1)
    return np.rint(255 * (1 - share if grey else share)).astype(np.uint8)
