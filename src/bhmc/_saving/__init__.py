"""One file for everything: a versioned zip archive of JSON and `.npy`. Reading it runs no code.

docs/file-format.md describes it. From the outside in: `models` knows estimators, `files` the
header, its versions and kinds, `encoding` and `decoding` what a value is as JSON and arrays,
`archive` the zip with its damages.
"""

from bhmc._saving.decoding import decode
from bhmc._saving.encoding import encode
from bhmc._saving.errors import FileFormatError
from bhmc._saving.files import read, write
from bhmc._saving.models import load_model, save_model

__all__ = ["FileFormatError", "decode", "encode", "load_model", "read", "save_model", "write"]
