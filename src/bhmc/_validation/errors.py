"""What a user got wrong, as exceptions."""

from collections.abc import Iterator
from contextlib import contextmanager


class RefusedError(Exception):
    """What was asked for cannot be done; the text is a sentence that says why and what to do."""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the library's refusals of data and settings into `RefusedError`.

    Only calls that check what a user gave belong in here: elsewhere the same exceptions mean a
    fault of ours, which must not look like a user's.
    """
    try:
        yield
    except (ValueError, TypeError, ImportError, OverflowError) as error:
        raise RefusedError(str(error)) from error


def reason_of(error: Exception) -> str:
    """Why the system refused, in its words, without number and file name."""
    return getattr(error, "strerror", None) or str(error)
