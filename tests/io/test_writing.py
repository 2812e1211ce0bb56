"""The one atomic writer, the one digest and the one list of versions."""

import os
import stat

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bhmc
from bhmc._io import atomic_write
from bhmc._io.atomic_write import atomic_file, atomic_path, write_atomically
from bhmc._io.digest import digest_of_data, digest_of_file, digest_of_text
from bhmc._io.leftovers import leftovers
from bhmc._io.versions import versions


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, "old\n")

    def fail(opened):
        with opened(path) as target:
            if opened is atomic_path:
                target.write_text("half")
            else:
                target.write(b"half")
            raise KeyboardInterrupt

    for opened in (atomic_path, atomic_file):
        with pytest.raises(KeyboardInterrupt):
            fail(opened)
        assert path.read_bytes() == b"old\n"
        assert os.listdir(tmp_path) == ["file"]


def test_file_and_folder_are_on_the_disk_in_this_order(tmp_path, monkeypatch):
    """What is synced: the whole file before it gets its name, the folder after."""
    seen = []
    fsync, replace = os.fsync, os.replace

    def sync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        seen.append("folder" if folder else os.fstat(descriptor).st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", lambda a, b: (seen.append("replace"), replace(a, b)))
    write_atomically(tmp_path / "file", b"12345")
    assert seen == [5, "replace", "folder"]


def test_bytes_are_as_given_and_a_link_stays_a_link(tmp_path):
    write_atomically(tmp_path / "file", "é\r\n")
    assert (tmp_path / "file").read_bytes() == "é\r\n".encode()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_what_a_killed_process_leaves_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write.Path, "unlink", lambda *_, **__: None)  # as if killed
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_atomically(tmp_path / "file", b"half")
    (left,) = leftovers(tmp_path)
    assert left.read_bytes() == b"half"


def test_no_folder_and_a_folder_in_the_way(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        write_atomically(tmp_path / "no" / "file", "")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        write_atomically(tmp_path, "")


X = np.arange(12.0).reshape(6, 2)


def changed():
    other = X.copy()
    other[5, 1] += 1e-15 * 16
    return other


@pytest.mark.parametrize(
    "other",
    [changed(), X.T, X.ravel(), X.astype(np.float32), X.astype(int), -X, X.astype(object)],
    ids=["bit", "shape", "flat", "float32", "int", "sign", "object"],
)
def test_other_data_have_another_digest(other):
    assert digest_of_data(other) != digest_of_data(X)


def test_equal_data_have_one_digest_however_they_lie_in_memory():
    wide = np.random.default_rng(0).normal(size=(10_000, 3))  # more than one block
    assert digest_of_data(np.asfortranarray(wide)) == digest_of_data(wide)
    assert digest_of_data(pd.DataFrame(wide)) == digest_of_data(wide)
    assert digest_of_data(wide[:4096]) != digest_of_data(wide)
    text = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    assert digest_of_data(text) == digest_of_data(text.copy())
    assert digest_of_data(text) != digest_of_data(text.replace("x", "z"))


def test_digests_of_sparse_data():
    counts = sparse.csr_array(np.diag([1.0, 2.0, 0.0]))
    moved = sparse.csr_array(np.fliplr(np.diag([1.0, 2.0, 0.0])))
    assert digest_of_data(counts) == digest_of_data(counts.copy())
    assert len({digest_of_data(one) for one in (counts, moved, counts * 2, counts[:2])}) == 4


def test_a_digest_is_the_same_from_one_version_to_the_next():
    """Checkpoints hold it: chains must be gone on with after an upgrade."""
    assert digest_of_data(X).startswith("890acd4e5b3d94fc")


def test_digests_of_text_and_files_are_sha256(tmp_path):
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    (tmp_path / "abc").write_bytes(b"abc")
    assert digest_of_text("abc") == digest_of_file(tmp_path / "abc") == known


def test_versions_name_what_draws_depend_on():
    more = ["pytest", "no-such-package"]
    found = versions(*more)
    libraries = ["numpy", "scipy", "scikit-learn", "numba"]
    assert list(found) == ["bhmc", "python", *libraries, *more]
    assert (found["bhmc"], found["numpy"]) == (bhmc.__version__, np.__version__)
    assert (found["pytest"], found["no-such-package"]) == (pytest.__version__, "unknown")
