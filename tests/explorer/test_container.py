"""The block of bytes against a reader that was written from `web/FORMAT.md` alone."""

import numpy as np
import pytest

from bhmc._explorer.container import floats, pack, texts, whole
from tests.explorer.reading import unpack


def test_arrays_of_every_type_come_back():
    arrays = {
        "bytes": np.arange(5, dtype="u1"),
        "short": np.arange(7, dtype="<u2"),
        "unsigned": np.array([0, 2**32 - 1], dtype="<u4"),
        "signed": np.array([[-1, 2], [3, -(2**31)]], dtype="<i4"),
        "real": np.array([0.5, -np.inf, np.nan], dtype="<f4"),
        "empty": np.empty((0, 4), dtype="<i4"),
    }
    info, found = unpack(pack({"title": "a"}, arrays))
    assert info == {"title": "a"}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_an_array_that_is_not_in_order_of_memory_comes_back():
    array = np.arange(6, dtype="<i4").reshape(2, 3).T
    np.testing.assert_array_equal(unpack(pack({}, {"a": array}))[1]["a"], array)


def test_other_types_are_refused():
    with pytest.raises(KeyError):
        pack({}, {"a": np.zeros(3)})


def test_texts_come_back():
    names = ["", "</script>", "`'\"\\", "\u05d0\u05d1", "\U0001f600", "x" * 10_000, 17]
    _, found = unpack(pack({}, texts("names", names)))
    assert found["names"] == [str(name) for name in names]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\ud800\ud800x", "\ufffd\ufffdx"),
        ("\ud83d\ude00", "\U0001f600"),  # two halves of one character
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_lone_surrogates_become_replacement_characters(text, expected):
    assert whole(text) == expected
    info, found = unpack(pack({"title": text, "list": [text]}, texts("names", [text])))
    assert found["names"] == [expected]
    assert info == {"title": expected, "list": [expected]}


def test_numbers_that_no_bar_can_show_are_not_known():
    found = floats([1.5, np.inf, -np.inf, np.nan, 1e300])
    assert found.dtype == np.dtype("<f4")
    np.testing.assert_array_equal(found, np.array([1.5, *[np.nan] * 4], dtype="f4"))


def test_nan_in_what_the_page_says_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        pack({"a": np.nan}, {})


def test_the_same_contents_are_the_same_bytes():
    arrays = {"a": np.arange(1000, dtype="<i4")}
    assert pack({"t": "x"}, arrays) == pack({"t": "x"}, dict(arrays))
