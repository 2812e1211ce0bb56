"""A Dask cluster as those see it who keep rows there: who is there, and with which versions."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from bhmc.rows.parted import PartLost, RowsGoneError

# Seconds that workers, or the scheduler, may be away.
MOST_AWAY = 60.0
_BETWEEN_TRIES, _BETWEEN_LOOKS = 0.2, 2.0

RESUMES = "With checkpoint=... the same fit resumes from its last sweep saved."

# Packages whose versions must be those of the client, for draws to be the same.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def workers_of(client: Any) -> dict[str, int]:
    """Threads of each worker that is there and has some, in the order of their addresses.

    A scheduler that does not answer may come back within a minute.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """
    started, error = time.monotonic(), None
    while time.monotonic() - started < MOST_AWAY:
        if client.status in ("closing", "closed"):
            raise RowsGoneError(
                f"The connection to the Dask scheduler is {client.status}: start the cluster, and "
                f"a client of it, again. {RESUMES}"
            )
        if client.status == "running":
            try:
                threads = client.nthreads()
                return {
                    address: threads[address] for address in sorted(threads) if threads[address]
                }
            except Exception as failed:  # the connection, in whatever layer it broke
                error = failed
        time.sleep(_BETWEEN_TRIES)
    raise RowsGoneError(
        f"The Dask scheduler has not answered for {MOST_AWAY:.0f} seconds: start the cluster "
        f"again. {RESUMES}"
    ) from error


def some_workers_of(client: Any) -> dict[str, int]:
    """The same, once there is one.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """
    started = time.monotonic()
    while not (workers := workers_of(client)):
        if time.monotonic() - started > MOST_AWAY:
            raise RowsGoneError(
                f"The Dask cluster has had no worker for {MOST_AWAY:.0f} seconds: start some. "
                f"{RESUMES}"
            )
        time.sleep(_BETWEEN_TRIES)
    return workers


def versions_here() -> dict[str, str]:
    """Versions of what draws depend on, in the process that calls this.

    Only what a part of the rows needs is imported: scikit-learn takes 100 MB.
    """
    from importlib import metadata

    import bhmc.rows.dask_parts  # noqa: F401 (an error here is an answer, too)
    from bhmc._version import __version__

    return {"bhmc": __version__} | {name: metadata.version(name) for name in _PACKAGES}


def _asked(client: Any, workers: Sequence[str], function: Callable[[], Any]) -> dict[str, Any]:
    """What a function returns, or raises, on each worker.

    `Client.run` waits for ever for a worker that was lost while it was asked. So a thread of its
    own waits, and here it is seen whether the workers are still there.
    """
    found: Future[dict[str, Any]] = Future()

    def ask() -> None:
        try:
            found.set_result(client.run(function, workers=list(workers), on_error="return"))
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    end = time.monotonic() + MOST_AWAY
    while True:
        try:
            return found.result(timeout=_BETWEEN_LOOKS)
        except TimeoutError:
            gone = set(workers) - set(workers_of(client))
            if gone or time.monotonic() > end:
                raise PartLost(f"worker {min(gone or workers)} is lost") from None


def check_versions(client: Any, workers: Sequence[str]) -> None:
    """Refuse workers that have other versions than the client.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    workers : sequence of str
        Their addresses.
    """
    here = versions_here()
    for worker, there in _asked(client, workers, versions_here).items():
        if isinstance(there, OSError):
            raise PartLost(f"worker {worker} is lost")
        if isinstance(there, ImportError | AttributeError):
            missing = (getattr(there, "name", None) or "bhmc").partition(".")[0]
            wanted = f"{missing} {here.get(missing, '')}".strip()
            raise RuntimeError(
                f"worker {worker} has no {wanted}, or an older one: install the version that this "
                f"process has ({there})."
            )
        if isinstance(there, Exception):
            raise RuntimeError(
                f"worker {worker} cannot run bhmc: install the version that this process has, "
                f"{here['bhmc']} ({there})."
            ) from there
        for name, version in here.items():
            if there[name] != version:
                raise RuntimeError(
                    f"worker {worker} has {name} {there[name]}, and this process has {version}: "
                    f"install the same version, because draws depend on it."
                )
