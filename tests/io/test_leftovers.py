"""What a killed process leaves behind is removed; what somebody is writing is not."""

import os
import subprocess
import sys
import time

import pytest

from bhmc._io import leftovers as module
from bhmc._io.atomic_write import atomic_file, atomic_path, write_atomically
from bhmc._io.leftovers import leftovers, remove_leftovers

WRITE = """
import sys, time
from pathlib import Path
from bhmc._io.atomic_write import atomic_file
with atomic_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def test_only_what_nobody_writes_any_more(tmp_path):
    command = [sys.executable, "-c", WRITE, str(tmp_path / "file")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        with atomic_path(tmp_path / "ours") as part:
            part.touch()
            remove_leftovers(tmp_path)
            assert len(list(tmp_path.iterdir())) == 2
        process.kill()
        process.wait()
    (left,) = leftovers(tmp_path)
    assert left.read_bytes() == b"half"
    remove_leftovers(tmp_path)
    assert os.listdir(tmp_path) == ["ours"]


def test_only_those_of_one_name(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "is_alive", lambda process: False)
    monkeypatch.setattr(os, "getpid", lambda: 7)
    for name in ("chain.0", "chain.1", "[*].0"):
        (tmp_path / module.name_beside(name)).touch()
    monkeypatch.undo()
    monkeypatch.setattr(module, "is_alive", lambda process: False)
    remove_leftovers(tmp_path, "[*].0")
    remove_leftovers(tmp_path, "chain.1")
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".chain.0.")


@pytest.mark.parametrize("name", [".run.json.00000000-1-00112233.tmp", ".run.json.0011aabb.tmp"])
def test_of_other_machines_only_what_is_old(tmp_path, name):
    """Theirs cannot be asked; nor can a bhmc of before, whose names had no number of a process."""
    (tmp_path / name).touch()
    assert list(leftovers(tmp_path)) == []
    two_days_ago = time.time() - 2 * 86_400
    os.utime(tmp_path / name, (two_days_ago, two_days_ago))
    assert len(list(leftovers(tmp_path))) == 1


def test_a_long_name_has_room_beside_it(tmp_path):
    name = "é" * 127
    write_atomically(tmp_path / name, "whole")
    assert os.listdir(tmp_path) == [name]


def test_the_file_before_is_kept(tmp_path):
    path, kept = tmp_path / "file", tmp_path / "file.before"
    for text in (b"1", b"2", b"3"):
        with atomic_file(path, kept) as file:
            file.write(text)
            assert path.exists() == (text != b"1")
    assert (path.read_bytes(), kept.read_bytes()) == (b"3", b"2")
    path.unlink()  # it begins anew, and what was before is of something else
    with atomic_file(path, kept) as file:
        file.write(b"4")
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_that_was_killed_once_both_names_were_there(tmp_path):
    """Then both are names of one file, of which a system renames neither."""
    path, kept = tmp_path / "file", tmp_path / "file.before"
    path.write_bytes(b"1")
    os.link(path, kept)
    with atomic_file(path, kept) as file:
        file.write(b"2")
    assert (path.read_bytes(), kept.read_bytes()) == (b"2", b"1")
    assert sorted(os.listdir(tmp_path)) == ["file", "file.before"]


def test_the_file_before_is_kept_where_a_file_has_one_name(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    test_the_file_before_is_kept(tmp_path)
