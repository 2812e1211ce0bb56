"""One BLAS thread while chains run: chains fill the cores, and draws must not depend on it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_limit = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; chains may be inside at once, and the last one out undoes it.

    (A limit set and undone by each of them would be undone under the others' feet.)
    """
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
            _limit.__enter__()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limit is not None:
                _limit.__exit__(None, None, None)
                _limit = None


@cache
def _controller() -> ThreadpoolController:
    """Made once: finding the loaded libraries takes a millisecond."""
    return ThreadpoolController()
