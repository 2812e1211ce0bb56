"""A small reader of `web/FORMAT.md`, written from that page alone."""

import base64
import itertools
import json
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np


def unpack(block: bytes) -> tuple[dict, dict]:
    """What the block says of itself, and its arrays; lists of texts stand under their own name."""
    raw = zlib.decompress(block)
    (length,) = struct.unpack_from("<I", raw)
    head = json.loads(raw[4 : 4 + length])
    assert head["format"] == 1
    start = -(-(4 + length) // 8) * 8
    arrays = {}
    for name, (dtype, shape, offset) in head["arrays"].items():
        assert dtype in ("u1", "u2", "u4", "i4", "f4")
        assert offset % 8 == 0
        size = int(np.prod(shape))
        arrays[name] = np.frombuffer(raw, f"<{dtype}", size, start + offset).reshape(shape)
    lists = [name.removesuffix(".utf8") for name in arrays if name.endswith(".utf8")]
    return head["info"], arrays | {name: _texts(arrays, name) for name in lists}


def ragged(arrays: dict, name: str, what: str | None = None) -> list[list]:
    """The entries of each node, of arrays that stand one after another."""
    ends = [0, *arrays[f"{name}.ends"].tolist()]
    values = arrays[what or name]
    return [list(values[a:b]) for a, b in itertools.pairwise(ends)]


def _texts(arrays: dict, name: str) -> list[str]:
    ends = [0, *arrays[f"{name}.ends"].tolist()]
    every = arrays[f"{name}.utf8"].tobytes()
    return [every[a:b].decode("utf-8") for a, b in itertools.pairwise(ends)]


class Page(HTMLParser):
    """The elements of a page, as a browser without scripts would see them."""

    def __init__(self, path: Path):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.inside: list[str] = []
        self.text = path.read_text("utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append("")

    def handle_data(self, data):
        if self.inside:
            self.inside[-1] += data

    def elements(self, tag: str) -> list[tuple[dict, str]]:
        """Attributes of all elements of a kind, and the text right behind the tag."""
        both = zip(self.tags, self.inside, strict=True)
        return [(attributes, text) for (name, attributes), text in both if name == tag]

    @property
    def block(self) -> bytes:
        """The bytes of the data."""
        (found,) = re.findall(r'<script [^>]*id="bhmc-data">([^<]*)</script>', self.text)
        return base64.b64decode(found, validate=True)


def read(path: Path) -> tuple[dict, dict]:
    """`unpack` of a page."""
    return unpack(Page(path).block)
