"""Files for readers of other packages, written in other languages: tried in a process of their own.

Such a reader may end its process, or print a traceback of its own, where a file is damaged. So a
child reads the file first. Only a file that the child has read whole is read here.
"""

import os
import subprocess
import sys
from pathlib import Path

from bhmc._validation.plain_files import TIMES_COMPRESSED, TooLargeError, most_bytes

# What a child answers.
_READ, _REFUSED, _LARGE, _NO_READER = 0, 3, 4, 5

# The child knows nothing of bhmc, so that it starts quickly.
_CHILD = """
import os, sys
path, most = sys.argv[2], int(sys.argv[3])
answer = os.dup(1)
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def end(code, words=""):
    os.write(answer, str(words).encode("utf-8", "replace")[:2000])
    os._exit(code)


def check(needed):
    if needed > most:
        end(4, int(needed))


def by_polars():
    import polars
    n = polars.scan_parquet(path).select(polars.len()).collect().item()
    check(8 * n * len(polars.read_parquet_schema(path)))
    frame = polars.read_parquet(path)
    check(frame.estimated_size())
    texts = [column for column in frame.get_columns() if column.dtype == polars.String]
    check(sum(int(column.str.len_bytes().sum() or 0) for column in texts))


def by_pyarrow():
    from pyarrow import parquet
    with parquet.ParquetFile(path) as file:
        check(8 * file.metadata.num_rows * file.metadata.num_columns)
        check(file.read().nbytes)


def by_calamine():
    import python_calamine
    book = python_calamine.CalamineWorkbook.from_path(path)
    if book.sheet_names:
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True)
        check(8 * sum(map(len, rows)))


try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.argv[1] == "calamine":
        resource.setrlimit(resource.RLIMIT_AS, (2**30 + 8 * most,) * 2)
except (ImportError, ValueError, OSError):
    pass
try:
    {"polars": by_polars, "pyarrow": by_pyarrow, "calamine": by_calamine}[sys.argv[1]]()
except ImportError:
    end(5)
except BaseException as error:
    end(3, error)
end(0)
"""


def try_reader(reader: str, path: Path) -> None:
    """Raise ValueError, with the reader's words, where it cannot read the file.

    Parameters
    ----------
    reader : {"polars", "pyarrow", "calamine"}
        Who is to read it.
    path : Path
        The file.
    """
    if not sys.executable:  # Python inside another program: there is no child to be had
        return
    size = path.stat().st_size
    most = most_bytes(size, TIMES_COMPRESSED)
    command = [sys.executable, "-P", "-c", _CHILD, reader, os.fspath(path.resolve()), str(most)]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    words = done.stdout.decode("utf-8", "replace")
    if done.returncode == _LARGE and words.isdecimal():
        raise TooLargeError.of(int(words), size)
    if done.returncode not in (_READ, _NO_READER):
        raise ValueError(words if done.returncode == _REFUSED and words else "its reader gave up")
