"""Make the pictures of the gallery anew, by running its pages: `make pictures`.

    python -m docs.make_gallery_pictures [fashion zoo ...]

A page writes its picture itself, so the picture is what its code draws. Fits are kept in
build/fits.
"""

import doctest
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from docs.cached_fits import FOLDER

from tests.docs.shared_fits import share_fits

DOCS = Path(__file__).parent
PAGES = {page.stem: page for page in sorted(DOCS.glob("gallery/*.md")) if page.stem != "index"}


def run(page: Path) -> int:
    """Run a page in an empty folder, keep its pictures; how many examples were not as written."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        FOLDER.mkdir(parents=True, exist_ok=True)
        share_fits(patch, FOLDER, whole=True)
        patch.chdir(folder)
        patch.setenv("MPLBACKEND", "agg")
        failed, _ = doctest.testfile(
            str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
        )
        for picture in Path(folder).glob("gallery-*.png"):
            shutil.copy(picture, DOCS / "pictures" / picture.name)
    return failed


def main(names: list[str]) -> int:
    """Run the named pages, or all."""
    os.environ["MPLBACKEND"] = "agg"
    warnings.simplefilter("ignore")
    return sum(run(PAGES[name]) for name in names or PAGES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
