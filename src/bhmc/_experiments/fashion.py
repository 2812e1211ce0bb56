"""`bhmc reproduce fashion`: 1,000 images of clothes, the published and the diffused model."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.comparison import Entry, control_plan, run_plans
from bhmc._experiments.comparison_page import add_comparison
from bhmc._experiments.figures import quiet_pyplot
from bhmc._experiments.job import Job
from bhmc._experiments.page import Page
from bhmc._experiments.run_details import describe_run
from bhmc._experiments.settings import read_settings
from bhmc._experiments.supplement import run_supplement
from bhmc._io.digest import digest_of_data
from bhmc.datasets import load_fashion_mnist_sample
from bhmc.plotting import plot_thumbnails
from bhmc.preprocessing import OptimalThresholdPCA
from bhmc.tree import Tree

NEEDS_DATA = ""
# What the figure shows: more nodes, or smaller ones, nobody reads.
_MOST_NODES, _LEAST_ROWS = 60, 20


class Images(NamedTuple):
    """The images and what they are reduced to."""

    images: NDArray
    """(n, 28, 28)"""
    X: NDArray[np.float64]
    truth: NDArray[np.int64]
    """(n, 3) classes, for measurements after the fit."""
    finest: list[str]
    kept_unknown: int
    """Directions that the threshold for noise of unknown size keeps."""


def load(job: Job) -> tuple[dict[str, Any], Images]:
    """Settings and the bundled images, standardised pixels above the threshold."""
    settings = read_settings("fashion", quick=job.quick)
    sample = load_fashion_mnist_sample()
    n = settings.get("rows", len(sample.data))
    order = np.random.default_rng(0).permutation(len(sample.data))[:n]
    pixels = sample.data[order]
    known = OptimalThresholdPCA(noise=settings["noise"], standardise=True)
    X = np.ascontiguousarray(known.fit_transform(pixels))
    unknown = OptimalThresholdPCA(standardise=True).fit(pixels)
    levels = np.asarray(sample.levels)[order]
    names = [str(sample.level_names[-1][code]) for code in levels[:, -1]]
    return settings, Images(sample.images[order], X, levels, names, int(unknown.n_components_))


def run(job: Job, settings: dict[str, Any], data: Images) -> Page:
    """Fit, and write the page."""
    n, d = data.X.shape
    lead = (
        f"{n:,} images of clothes in {d} dimensions: standardised pixels, reduced by the optimal "
        "threshold for singular values with noise of size 1."
    )
    if job.supplement:
        page = Page("Fashion images, settings of the supplement", lead, job.folder)
        draw = _figure_of(data)
        run_supplement(job, page, settings["supplement"], data.X, data.finest, draw)
        return page
    page = Page("Fashion images", lead, job.folder)
    digest = digest_of_data(data.X)
    outcome = job.run("bhmc", "bhmc-paper", settings["model"], data.X, digest)
    diffused = job.run("bhmc-diffused", "bhmc-diffused", settings["diffused"], data.X, digest)
    entries = [
        Entry("bhmc-paper", job.seed, outcome),
        Entry("bhmc-diffused", job.seed, diffused),
    ]
    entries += run_plans(
        job, [control_plan(entries, data.truth, settings["random"]["repeats"])], data.X
    )
    assert outcome.tree is not None
    assert diffused.tree is not None
    _add_tree(page, outcome.tree, data)
    _add_diffused(page, diffused.tree, data)
    add_comparison(page, entries, data.truth, job.budget)
    _add_reduction(page, data)
    page.section("Have the chains converged?")
    n_warmup = settings["model"]["n_warmup"]
    page.text(
        f"Published settings: {_chains(outcome.facts)} The {n_warmup:,} sweeps of warm-up do not "
        "count. The first tree above is the most likely draw that they found, not the summit of "
        "the posterior.",
        f"Diffused transition: {_chains(diffused.facts)} The second tree is the one nearest to all "
        "draws.",
    )
    outcomes = {"bhmc": outcome, "bhmc-diffused": diffused}
    used = {"the published model": settings["model"], "the diffused model": settings["diffused"]}
    describe_run(page, job, used, outcomes)
    return page


def _add_tree(page: Page, tree: Tree, data: Images) -> None:
    sizes = np.bincount(tree.components, minlength=tree.n_components)
    page.section("The tree")
    page.text(
        "The draw of the highest complete-data log likelihood, as the paper shows it. To the right "
        "is a strip of images for every node with nothing below: some of its images, drawn at "
        "random, in order of component. An inner node shows four. Grey marks stand for small "
        f"nodes (fewer than {_LEAST_ROWS} images) that are not shown one by one."
    )
    page.figure(
        "tree",
        _figure_of(data)(tree),
        "The tree of the most likely draw with images of every node; numbers count images.",
    )
    page.text(
        f"The tree has {' '.join(map(str, np.bincount(tree.levels)))} nodes at levels 0 to "
        f"{tree.n_levels} and {tree.n_components} components, the largest of {sizes.max()} images. "
        "A node may hold several components that look nothing alike: in this model, what images "
        "look like is said by components, and a node says which components go together."
    )


def _add_diffused(page: Page, tree: Tree, data: Images) -> None:
    page.section("The tree of the diffused transition")
    page.text(
        "This model is ours, not the paper's: every node has a location a Gaussian step away from "
        "its parent's, and components lie around the location of their leaf, so that images share "
        "a branch because they are alike. All settings but the number of levels are defaults. "
        f"The tree has {' '.join(map(str, np.bincount(tree.levels)))} nodes at levels 0 to "
        f"{tree.n_levels} and {tree.n_components} components."
    )
    page.figure(
        "tree-diffused",
        _figure_of(data)(tree),
        "The tree of the diffused transition with images of every node; numbers count images.",
    )


def _figure_of(data: Images) -> Any:
    def draw(tree: Tree) -> Any:
        quiet_pyplot()
        return plot_thumbnails(
            tree, data.images, max_nodes=_MOST_NODES, min_size=_LEAST_ROWS
        ).figure

    return draw


def _add_reduction(page: Page, data: Images) -> None:
    page.section("How many dimensions")
    page.text(
        f"The optimal hard threshold for singular values (Gavish and Donoho 2014) for noise of "
        f"size 1 keeps {data.X.shape[1]} directions of these standardised pixels; the paper "
        "has 22. The threshold for noise of unknown size, which is taken from the median singular "
        f"value, keeps {data.kept_unknown}: pixels of such images hold far less noise than 1, so "
        "that the two disagree. The paper's number is near the first."
    )


def _chains(facts: dict[str, Any]) -> str:
    """How many chains of how many draws, and whether they agree."""
    rhat = "not known" if facts["worst_rhat"] is None else f"{facts['worst_rhat']:.2f}"
    verdict = "Nothing speaks against it." if facts["converged"] else "They do not agree."
    return (
        f"{facts['n_chains']} chains of {facts['n_draws']:,} draws; the largest R-hat of any "
        f"label-free number is {rhat}. {verdict}"
    )
