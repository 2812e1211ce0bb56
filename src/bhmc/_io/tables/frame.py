"""A frame from columns that were read: of pandas where it is installed, else a plain one."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from bhmc._validation.plain_frame import Frame


def frame_of(names: Sequence[str], columns: Sequence[NDArray], items: list[str] | None) -> Any:
    """A pandas frame, its index the names of the rows, where pandas is installed; else a `Frame`.

    With pandas the names of columns and rows travel into the model by scikit-learn's own ways.
    """
    try:
        import pandas
    except ImportError:
        return Frame(names, columns)
    data = dict(zip(names, columns, strict=True))
    return pandas.DataFrame(data, index=items, copy=False)
