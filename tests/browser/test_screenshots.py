"""Pictures to look at, in build/browser: five tables, two sizes of window, light and dark."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks import tables

from bhmc import BHMC, datasets
from tests.browser.chromium import VIEWS
from tests.browser.explorer import Explorer
from tests.browser.large import large_tree
from tests.browser.test_accessible import pixels
from tests.shared_data import FOLDER

pytestmark = pytest.mark.browser_long

OUTPUT = Path(__file__).parents[2] / "build" / "browser"
SHORT = {"n_levels": 3, "n_warmup": 100, "n_draws": 60, "random_state": 0}


def fashion():
    X, _ = tables.fashion()
    return BHMC(**SHORT).fit(X), {"images": datasets.load_fashion_mnist_sample().images}


def wordnet():
    things = datasets.load_wordnet_things(embedded=True)
    X = pd.DataFrame(things.embedding, index=[str(name) for name in things.names]).add_prefix("d")
    return BHMC(likelihood="shaped_gaussian", **SHORT).fit(X).add_words(things.data), {}


def products():
    """Products of a shop by their sentence embeddings; the data are never part of the checkout."""
    embeddings = FOLDER / "embeddings" / "flipkart_fashion_2303_minilm.npy"
    if not embeddings.exists():
        pytest.skip("NOT TESTED: products are not here; set BHMC_SHARED_DATA to their folder.")
    file = FOLDER / "flipkart_fashion" / "flipkart_fashion.csv.gz"
    bunch = datasets.load_products(file, where={"sample_2303": "1"})
    rows = np.load(embeddings).astype(float)
    rows = rows - rows.mean(axis=0)
    leading = rows @ np.linalg.svd(rows, full_matrices=False)[2][:40].T
    X = pd.DataFrame(leading, index=[str(name) for name in bunch.names]).add_prefix("d")
    return BHMC(likelihood="shaped_gaussian", **SHORT).fit(X).add_words(bunch.data), {}


TABLES = {"fashion": fashion, "wordnet": wordnet, "products": products}


@pytest.fixture(scope="module")
def files(zoo, tmp_path_factory):
    """A function that makes the page of a table, once."""
    folder, made = tmp_path_factory.mktemp("tables"), {"zoo": zoo.file}

    def file_of(name):
        if name not in made:
            model, more = (large_tree(), {}) if name == "million" else TABLES[name]()
            made[name] = model.explore(folder / f"{name}.html", **more)
        return made[name]

    return file_of


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["zoo", *TABLES, "million"])
def test_screenshots(name, view, files, opened):
    """The whole tree, and a group; a page that is one colour or wider than its window fails."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    person = Explorer(opened(files(name), view, reduced_motion="reduce"))
    for what in ("start", "group"):
        if what == "group":
            person.at(2).click()
        page = person.page
        page.screenshot(path=OUTPUT / f"{name}-{view}-{what}.png")
        assert len(np.unique(pixels(page).reshape(-1, 3), axis=0)) > 100
        assert page.evaluate("document.scrollingElement.scrollWidth") <= page.viewport_size["width"]
