"""Writes the sample files of the newest format, which every later version must read.

`python -m tests.data.make_files`, from the root of the checkout. Files of a format are not to be
written again once a version of bhmc with that format is released. `checkpoint-format-1.bhmc` is
what the fit in tests/io/test_saving_formats.py left with `checkpoint=`, in format 1.
"""

from pathlib import Path

from bhmc._io.archive import save_model, write
from bhmc._io.archive.files import FORMAT_VERSION
from tests.io.saving_values import everything, small_model

if __name__ == "__main__":
    here = Path(__file__).parent
    save_model(small_model(), here / f"model-format-{FORMAT_VERSION}.bhmc")
    write(here / f"everything-format-{FORMAT_VERSION}.bhmc", "checkpoint", everything())
