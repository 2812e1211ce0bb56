"""Wrote the files of format 1, which every later version must read.

`python -m tests.data.make_format_1`, from the root of the checkout. They are not to be written
again once a version of bhmc with format 1 is released.
"""

from pathlib import Path

from bhmc._io.archive import save_model, write
from tests.io.saving_values import everything, small_model

if __name__ == "__main__":
    here = Path(__file__).parent
    save_model(small_model(), here / "model-format-1.bhmc")
    write(here / "everything-format-1.bhmc", "checkpoint", everything())
