"""`--scheduler`: the rows of a file with the workers of a Dask cluster, which read the file."""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bhmc._cli.blocks import TableInBlocks
from bhmc._extras import import_distributed
from bhmc._validation.errors import RefusedError, refusals
from bhmc.likelihoods.block_sums import ROWS_PER_BLOCK
from bhmc.rows import open_rows
from bhmc.rows.sources import Source

# Seconds in which a scheduler has to answer.
_PATIENCE = 5.0

# A worker reads about so many bytes at a time.
_BYTES_READ = 2**25


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """While it is open, fits of Dask arrays run with the workers of the scheduler at this address.

    Parameters
    ----------
    address : str or None
        Such as tcp://host:8786; None: there is no scheduler.
    """
    if address is None:
        yield
        return
    with refusals():
        distributed = import_distributed("--scheduler")
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)  # what matters is said in words
    try:
        with _client(distributed, address):
            yield
    finally:
        log.setLevel(before)


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=True)
    except (OSError, TimeoutError):
        raise RefusedError(
            f"--scheduler {address}: no Dask scheduler answers there within {_PATIENCE:.0f} "
            f"seconds. Start one with: dask scheduler"
        ) from None
    except (ValueError, TypeError, ImportError) as error:
        raise RefusedError(
            f"--scheduler {address} is no address such as tcp://host:8786 ({error})."
        ) from None


def spread_out(table: TableInBlocks) -> TableInBlocks:
    """The table with its rows as a Dask array, whose chunks workers read from the file.

    Parameters
    ----------
    table : TableInBlocks
        Its file must be under the same path where the workers are.
    """
    with refusals():
        import_distributed("--scheduler")
        try:
            import dask.array
            from dask.delayed import delayed
        except ImportError as error:
            raise ImportError(
                "--scheduler needs dask.array: install it with `pip install bhmc[dask]`."
            ) from error
    (n, d), path = table.shape, str(table.path.resolve())
    height = ROWS_PER_BLOCK * max(1, math.floor(_BYTES_READ / (8 * d * ROWS_PER_BLOCK)))
    read = delayed(rows_of_file, pure=True)
    chunks = [
        dask.array.from_delayed(
            read(path, table.column_names, first, min(first + height, n)),
            shape=(min(first + height, n) - first, d),
            dtype=np.float64,
        )
        for first in range(0, n, height)
    ]
    return replace(table, spread=dask.array.concatenate(chunks))


def rows_of_file(
    path: str, names: tuple[str, ...] | None, first: int, end: int
) -> NDArray[np.float64]:
    """Some rows of a file, where the worker is.

    Parameters
    ----------
    path : str
        The file or folder.
    names : tuple of str or None
        Which columns, where they have names.
    first, end : int
        The first row, and the one after the last.
    """
    return _opened(path, names).read(slice(first, end))


@lru_cache(maxsize=1)
def _opened(path: str, names: tuple[str, ...] | None) -> Source:
    """The table, opened once: a row group of Parquet is larger than a chunk."""
    return open_rows(Path(path), names)
