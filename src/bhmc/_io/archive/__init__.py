"""One file for everything: a versioned zip archive of JSON and `.npy`. Reading it runs no code.

docs/file-format.md describes it. From the outside in: `models` knows estimators, `files` the
header, its versions and kinds, `encoding` and `decoding` what a value is as JSON and arrays,
`archive` the zip with its damages.
"""

from bhmc._io.archive.decoding import decode
from bhmc._io.archive.encoding import encode
from bhmc._io.archive.errors import FileFormatError
from bhmc._io.archive.files import read, write
from bhmc._io.archive.models import load_model, save_model

__all__ = ["FileFormatError", "decode", "encode", "load_model", "read", "save_model", "write"]
