"""What a file may be and may cost: a regular file, and no more memory than its size explains."""

import os
import stat
from pathlib import Path

# What the smallest file may become in memory.
FREE_BYTES = 64 * 2**20

# Tables of zeros and ones shrink to a hundredth; deflate shrinks nothing to less than 1 / 1032.
TIMES_COMPRESSED = 100

# For a person who trusts a file that holds more.
LIMIT_NAME = "BHMC_MOST_BYTES"


class TooLargeError(ValueError):
    """A small file says that it holds much; the message is a clause without a full stop."""

    @classmethod
    def of(cls, needed: int, size: int) -> "TooLargeError":
        """The error of a file of so many bytes that would need so many.

        Parameters
        ----------
        needed, size : int
            Bytes.
        """
        return cls(
            f"{size:,} bytes that say they hold {needed:,} or more are what a forged file has; if "
            f"you trust it, set the environment variable {LIMIT_NAME}={needed}"
        )


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def irregular(path: Path) -> str | None:
    """What stands at a path in place of a regular file, in words; None where all is well.

    A pipe may wait for ever, and a device may never end.

    Parameters
    ----------
    path : Path
        Something that exists.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return None
    return next((words for is_one, words in _KINDS if is_one(mode)), "no file")


def most_bytes(size: int, times: int, free: int = FREE_BYTES) -> int:
    """Bytes that a file may become in memory; the variable `BHMC_MOST_BYTES` may allow more.

    Parameters
    ----------
    size : int
        Bytes of the file.
    times : int
        How many times its size is allowed.
    free : int, default=67108864
        What is allowed to the smallest file.
    """
    said = os.environ.get(LIMIT_NAME, "")
    return max(free, times * size, int(said) if said.isdecimal() else 0)


def check_bytes(needed: int, size: int, times: int, free: int = FREE_BYTES) -> None:
    """Refuse what would become more than `most_bytes`, with a clause.

    Parameters
    ----------
    needed : int
        Bytes that its contents say they are.
    size, times, free : int
        As in `most_bytes`.
    """
    if needed > most_bytes(size, times, free):
        raise TooLargeError.of(needed, size)
