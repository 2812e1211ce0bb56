"""What reading a file may cost: 5 seconds, and 64 MB beside four times the file."""

import contextlib
import resource
import signal
from collections.abc import Iterator

SECONDS = 5
FREE_BYTES, TIMES = 64 * 2**20, 4

# Pages that allocators and Python itself take in one go.
_SLACK = 32 * 2**20


class TooSlowError(Exception):
    """The time is over."""


@contextlib.contextmanager
def limited(n_bytes: int) -> Iterator[None]:
    """Raise MemoryError or TooSlowError beyond the limits of a file of so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = _address_space() + FREE_BYTES + TIMES * n_bytes + _SLACK
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    handler = signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _too_slow(*_):
    raise TooSlowError


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
