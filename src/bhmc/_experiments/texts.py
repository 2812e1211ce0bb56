"""Texts as numbers: TF-IDF, reduced by the optimal threshold for singular values."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def reduce_texts(texts: Sequence[str], *, min_df: int) -> tuple[NDArray[np.float64], str]:
    """(n, d) numbers, and a sentence that says how they were made."""
    from bhmc.preprocessing import text_pipeline

    pipeline = text_pipeline(min_df=min_df)
    X = np.ascontiguousarray(pipeline.fit_transform(list(texts)), dtype=np.float64)
    n_words = len(pipeline[0].get_feature_names_out())
    return X, (
        f"TF-IDF of {n_words:,} words that are in at least {min_df} texts; the optimal hard "
        f"threshold for singular values (unknown noise) keeps {X.shape[1]} directions."
    )
