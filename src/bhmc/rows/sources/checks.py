"""What every table of numbers must be."""

from typing import Any


def check_table(shape: tuple[int, ...], dtype: Any, said: str) -> None:
    """Refuse what has no rows and columns, or does not hold numbers.

    Parameters
    ----------
    shape : tuple of int
        Of the array.
    dtype : numpy.dtype
        Of the array.
    said : str
        What it is, for the message.
    """
    if len(shape) != 2:
        raise ValueError(f"{said} must have two dimensions, rows and columns, got {len(shape)}.")
    if dtype.kind not in "fiub":
        raise TypeError(f"{said} must hold numbers, got {dtype}.")
    if not shape[1]:
        raise ValueError(f"{said} has no columns.")


def in_one_line(error: Exception) -> str:
    """What another package says of an error.

    Parameters
    ----------
    error : Exception
        Whose text may have several lines.
    """
    return " ".join(str(error).split())
