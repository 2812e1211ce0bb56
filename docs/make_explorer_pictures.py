"""Screenshots of the explorer for docs/explorer.md: `make pictures`.

    python -m docs.make_explorer_pictures [zoo draws ...]

Needs Chromium (CHROMIUM=... names its program) and Playwright, which is an extra of the tests.
"""

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks import tables
from docs.cached_fits import cached_fit
from docs.sketch import FOLDER
from PIL import Image
from playwright.sync_api import sync_playwright

from bhmc import datasets
from tests.browser import chromium
from tests.browser.explorer import Explorer
from tests.browser.large import large_tree

# A first look: n_draws="auto" would go on until the chains agree.
SETTINGS: dict[str, Any] = {"n_levels": 3, "n_draws": 300}


def zoo(seed=4):
    """101 animals."""
    bunch = datasets.load_zoo(as_frame=True)
    return cached_fit("zoo", bunch.data.set_axis(bunch.names), n_levels=3, random_state=seed)


def zoo_page(file):
    """The tree of a seed, and beside it that of another."""
    return zoo().explore(file, compare=zoo(5), title="101 animals")


def fashion_page(file):
    """1,000 images of clothes in 22 singular directions."""
    X, _ = tables.fashion()
    model = cached_fit("fashion", X, random_state=0, **SETTINGS)
    images = datasets.load_fashion_mnist_sample().images
    return model.explore(file, images=images, title="1,000 pictures of clothes")


def wordnet_page(file):
    """2,775 glosses by their sentence embeddings; words of the glosses say what a branch is."""
    things = datasets.load_wordnet_things(embedded=True)
    X = pd.DataFrame(things.embedding, index=[str(name) for name in things.names]).add_prefix("d")
    settings = {"likelihood": "shaped_gaussian", "random_state": 0, **SETTINGS}
    model = cached_fit("wordnet-embedded", X, **settings).add_words(things.data)
    return model.explore(file, title="2,775 things by their glosses")


def large_page(file):
    """A made-up tree of a million rows."""
    return large_tree().explore(file, title="A million rows in 5,000 groups")


def birds(person):
    """What sets the birds apart."""
    person.node("feathers").click()


def draws(person):
    """A draw of the posterior."""
    person.open("Draws")
    person.slide("Draw", 12)


def compare(person):
    """Two seeds."""
    person.open("Compare")


def clothes(person):
    """A branch of clothes with its pictures."""
    person.at(2).click()


def vehicles(person):
    """A branch of glosses with its words."""
    person.at(3).click()


def inside(person):
    """Inside the second branch."""
    person.at(2).click()
    person.press("Zoom in")


def item(person):
    """The platypus."""
    person.search("platypus")
    person.found().first.click()


# Name of the picture: the page, the view and what is done first.
PICTURES = {
    "explorer-zoo": (zoo_page, "desk", birds),
    "explorer-draws": (zoo_page, "desk-dark", draws),
    "explorer-compare": (zoo_page, "desk", compare),
    "explorer-fashion": (fashion_page, "desk", clothes),
    "explorer-wordnet": (wordnet_page, "desk-dark", vehicles),
    "explorer-million": (large_page, "desk-dark", inside),
    "explorer-phone": (zoo_page, "phone", item),
}


def save(shot: bytes, name: str) -> None:
    """Write pictures/NAME.png with 128 colours: a third of the bytes, and no eye sees it."""
    picture = Image.open(BytesIO(shot)).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(FOLDER / f"{name}.png", optimize=True)
    print(f"{name}.png: {(FOLDER / f'{name}.png').stat().st_size / 1000:.0f} kB")


def main(names=()) -> None:
    """Make the pages and their pictures."""
    wanted = {f"explorer-{name}" for name in names} or set(PICTURES)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program(), args=chromium.ARGUMENTS
        )
        for name in sorted(wanted):
            make, view, act = PICTURES[name]
            file = Path(folder) / f"{make.__name__}.html"
            if not file.exists():
                make(file)
            context = browser.new_context(**chromium.options(view), reduced_motion="reduce")
            page = context.new_page()
            page.goto(file.as_uri())
            person = Explorer(page)
            act(person)
            person.settle()
            page.mouse.move(0, 0)
            save(page.screenshot(), name)
            context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
