"""Makes the pictures of docs/pictures anew: `python docs/make_pictures.py`, about a minute.

Zoo is fitted as in the README. The large tree is made up, to show what becomes of many rows.
"""

import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the made-up tree of the tests
FOLDER = ROOT / "docs" / "pictures"


def save(axes, name: str) -> None:
    """Write a picture to the folder, small enough for a page."""
    from matplotlib import pyplot
    from PIL import Image

    figure, whole = np.ravel(axes)[0].figure, BytesIO()
    figure.savefig(whole, dpi=100)
    # A few colours are enough, and half the size.
    image = Image.open(whole).convert("RGB")
    # The default method drops colours of small areas, such as those of a legend.
    few = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(FOLDER / f"{name}.png", optimize=True)
    pyplot.close(figure)


def main() -> None:
    """Fit, draw, write."""
    mpl.use("Agg")
    from bhmc import BHMC, datasets, plotting
    from tests.tree_factory import large_tree

    FOLDER.mkdir(exist_ok=True)
    zoo = datasets.load_zoo()
    model = BHMC(n_levels=3, random_state=0).fit(zoo.data)
    save(plotting.plot_tree(model.tree_, names=zoo.names), "zoo-tree")
    save(plotting.plot_icicle(model.tree_, names=zoo.names), "zoo-icicle")
    save(plotting.plot_trace(model.draws_), "zoo-trace")
    save(plotting.plot_coclustering(model, names=zoo.names), "zoo-coclustering")
    save(plotting.plot_prior_posterior(model), "zoo-prior")
    large = large_tree()
    save(plotting.plot_tree(large, max_nodes=40), "large-tree")
    save(plotting.plot_icicle(large), "large-icicle")


if __name__ == "__main__":
    main()
