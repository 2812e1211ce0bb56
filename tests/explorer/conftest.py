"""A page of a fit, written once."""

import pytest

from tests.explorer.fits import zoo_model
from tests.explorer.reading import read


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """(info, arrays) of Zoo beside a second seed; tests must not change them."""
    path = tmp_path_factory.mktemp("page") / "zoo.html"
    assert zoo_model(4).explore(path, compare=zoo_model(3), title="Animals") == path
    return read(path)
