"""Images of digits and of clothes."""

import io
from typing import Any

import numpy as np

from bhmc.datasets._files import bundled_bytes, bundled_text, numbers_bunch


def load_digits(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load scikit-learn's digits: 1,797 images of 8 x 8 pixels, 10 classes without a hierarchy.

    Parameters
    ----------
    return_X_y, as_frame
        As in `load_zoo`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        That of `sklearn.datasets.load_digits`, with `levels` (1797, 1) and `level_names` as in the
        other loaders.
    """
    from sklearn.datasets import load_digits as load

    digits: Any = load(return_X_y=return_X_y, as_frame=as_frame)
    if return_X_y:
        return digits
    digits.levels = np.asarray(digits.target, dtype=np.int64)[:, None]
    digits.level_names = [np.array([str(name) for name in digits.target_names])]
    return digits


def load_fashion_mnist_sample(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 1,000 images of Fashion-MNIST, 100 of each class, 28 x 28 pixels from 0 to 255.

    Parameters
    ----------
    return_X_y, as_frame
        As in `load_zoo`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With the entries

        - `data`: float64 array (1000, 784), or a DataFrame; nothing is scaled;
        - `images`: uint8 array (1000, 28, 28), for pictures;
        - `target`, `target_names`: the 10 classes, in the order of their source;
        - `levels`: integer array (1000, 3): 3 kinds, 5 parts of the body, 10 classes; the first two
          are an annotation added here;
        - `level_names`: names of the classes of each level;
        - `source_index`: where each image is in the source;
        - `frame`, `feature_names`, `DESCR`: as in `load_zoo`.

    Examples
    --------
    >>> from bhmc.datasets import load_fashion_mnist_sample
    >>> fashion = load_fashion_mnist_sample()
    >>> [len(names) for names in fashion.level_names]
    [3, 5, 10]
    """
    with np.load(io.BytesIO(bundled_bytes("fashion_mnist_1000.npz"))) as file:
        stored = {name: file[name] for name in file.files}
    images = stored["images"]
    target = stored["labels"].astype(np.int64)
    levels, names = [target], [stored["class_names"]]
    for coarser in ("level2", "level1"):
        kinds, first, codes = np.unique(stored[coarser], return_index=True, return_inverse=True)
        order = np.argsort(first)  # in the order they are met, as the classes are
        levels.insert(0, np.argsort(order)[codes])
        names.insert(0, kinds[order])
    return numbers_bunch(
        images.reshape(len(images), -1).astype(np.float64),
        target,
        [f"pixel_{row}_{column}" for row in range(28) for column in range(28)],
        return_X_y=return_X_y,
        as_frame=as_frame,
        images=images,
        target_names=stored["class_names"],
        levels=np.column_stack(levels).astype(np.int64),
        level_names=names,
        source_index=stored["source_index"],
        DESCR=bundled_text("fashion_mnist.md", "fashion_mnist-LICENSE.txt"),
    )
