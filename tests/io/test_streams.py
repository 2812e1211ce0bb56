"""What is no file is written into, and stays what it is: devices, pipes, standard output."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from bhmc import Tree
from bhmc._io.atomic_write import atomic_path, is_stream, write_atomically
from bhmc._io.npy_file import new_npy, write_npy
from tests import disks
from tests.tree.tree_factory import small_tree


@contextmanager
def read_from(pipe):
    """What is read from a pipe, in a list, once somebody has written to it."""
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    yield found
    reader.join(10)


def test_a_device_is_written_into_and_never_replaced(tmp_path):
    device = disks.full_device(tmp_path)
    (tmp_path / "link").symlink_to(device)
    for path in (device, tmp_path / "link"):
        with pytest.raises(OSError, match="No space left on device") as caught:
            write_atomically(path, "text")
        assert caught.value.filename == str(path)
        assert stat.S_ISCHR(device.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["full", "link"]


def test_a_pipe_gets_the_whole_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    with read_from(pipe) as found:
        write_atomically(pipe, b"12" * 100_000)
    assert found == [b"12" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_tree_is_saved_into_a_pipe(tmp_path):
    """An archive is not written from its beginning to its end."""
    with read_from(tmp_path / "pipe") as found:
        small_tree().save(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(found[0])
    np.testing.assert_array_equal(Tree.load(tmp_path / "file").paths, small_tree().paths)


def test_an_error_sends_nothing_into_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody reads: to open it would wait

    def fail():
        with atomic_path(pipe) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert is_stream(pipe)


def test_files_and_what_is_not_there_are_no_streams(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    assert not any(is_stream(tmp_path / name) for name in ("file", "link", "no", "no/no", "."))


WRITE = """
import sys
from pathlib import Path
from bhmc._io.atomic_write import write_atomically
print("before")
write_atomically(Path(sys.argv[1]), "given\\n")
print("after")
"""


@pytest.mark.skipif(
    not os.path.exists("/dev/stdout"), reason="NOT TESTED: there is no /dev/stdout."
)
@pytest.mark.parametrize("goes_to", ["pipe", "file"])
def test_standard_output_gets_it_in_its_turn(tmp_path, goes_to):
    """A file that standard output goes to is not replaced either: what was in it stays."""
    file = tmp_path / "output"
    file.write_text("first\n")
    command = [sys.executable, "-c", WRITE, "/dev/stdout"]
    if goes_to == "pipe":
        written = (
            "first\n" + subprocess.run(command, check=True, capture_output=True).stdout.decode()
        )
    else:
        with file.open("a") as output:
            subprocess.run(command, check=True, stdout=output)
        written = file.read_text()
    assert written == "first\nbefore\ngiven\nafter\n"


# ---- Arrays on a full disk ----


@pytest.mark.parametrize("write", [write_npy, new_npy])
def test_an_array_without_room_is_an_error_that_says_so(tmp_path, write):
    """NumPy's own error does not name the cause; a memory map would end the process."""
    given = (np.zeros(50_000),) if write is write_npy else (np.dtype(float), (50_000,))
    with disks.small_disk(tmp_path / "disk", 64) as disk:
        with pytest.raises(OSError, match="No space left on device"):
            write(disk / "a.npy", *given)
        write(disk / "b.npy", *((np.arange(9.0),) if write is write_npy else (np.dtype(int), (9,))))
        assert len(np.load(disk / "b.npy")) == 9


def test_an_array_is_written_as_numpy_writes_it(tmp_path):
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", np.int32), ("b", float)])
    for array in (np.arange(12.0).reshape(3, 4).T, records, np.array(3)):
        write_npy(tmp_path / "ours.npy", array)
        np.save(tmp_path / "theirs.npy", array)
        assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
