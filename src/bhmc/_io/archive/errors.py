"""What a file that cannot be read raises."""

import contextlib
from collections.abc import Iterator


class FileFormatError(ValueError):
    """A file is not what it should be; the message says in a sentence in which way."""


@contextlib.contextmanager
def in_a_sentence(beginning: str) -> Iterator[None]:
    """Raise whatever goes wrong within as FileFormatError, with its own words after `beginning`.

    Values that nobody wrote so make constructors raise what they like. Too little memory is no
    fault of the file.
    """
    try:
        yield
    except (FileFormatError, MemoryError):
        raise
    except RecursionError:
        raise FileFormatError(f"{beginning}: it is nested too deep.") from None
    except Exception as error:
        words = (str(error) or type(error).__name__).rstrip(".")
        raise FileFormatError(f"{beginning}: {words}.") from error
