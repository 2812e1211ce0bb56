"""`bhmc reproduce amazon`: products with category paths, all methods side by side."""

import csv
import gzip
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._experiments.compare import run_all, time_methods
from bhmc._experiments.comparison import Entry, settings_used
from bhmc._experiments.comparison_page import add_comparison, add_times
from bhmc._experiments.figures import quiet_pyplot
from bhmc._experiments.job import Job
from bhmc._experiments.methods import BHMC_METHODS, METHODS
from bhmc._experiments.page import Page
from bhmc._experiments.run_details import describe_run
from bhmc._experiments.settings import read_settings
from bhmc._experiments.supplement import run_supplement
from bhmc._experiments.texts import reduce_texts
from bhmc.datasets import load_products
from bhmc.model.state import CONCENTRATIONS
from bhmc.plotting import plot_icicle
from bhmc.tree import Tree

NEEDS_DATA = (
    "a CSV file of products with the columns title, description and category_path, such as "
    "flipkart_fashion.csv.gz"
)

# The column of the Flipkart file that marks as many products as the paper has.
_MARK = "sample_2303"


class Products(NamedTuple):
    """Products as they are fitted, and their categories for measurements after the fits."""

    X: NDArray[np.float64]
    truth: NDArray[np.int64]
    classes: list[str]
    """The first two levels of each path, in words."""
    said: str
    """How the numbers were made."""


def load(job: Job) -> tuple[dict[str, Any], Products]:
    """Settings and data; a ValueError says what is wrong with the file."""
    settings = read_settings("amazon", quick=job.quick)
    products = load_products(str(job.data), where=_marked(str(job.data)))
    n = min(settings.get("rows", len(products.data)), len(products.data))
    rows = np.sort(np.random.default_rng(0).permutation(len(products.data))[:n])
    min_df = settings["min_df"] if n > 1000 else 2
    X, said = reduce_texts([products.data[row] for row in rows], min_df=min_df)
    truth = np.asarray(products.levels)[rows]
    second = min(1, truth.shape[1] - 1)
    classes = [str(products.level_names[second][code]) for code in truth[:, second]]
    return settings, Products(X, _from_zero(truth), classes, said)


def run(job: Job, settings: dict[str, Any], data: Products) -> Page:
    """Run all methods, and write the page that compares them."""
    n, depth = data.truth.shape
    numbers = " / ".join(str(len(np.unique(column))) for column in data.truth.T)
    lead = f"{n:,} products with category paths of {depth} levels ({numbers} classes). {data.said}"
    if job.supplement:
        page = Page("Products, setting of the supplement", lead, job.folder)
        X = np.ascontiguousarray(data.X[:, : settings["most_directions"]])
        run_supplement(job, page, settings["supplement"], X, data.classes, _icicle)
        return page
    page = Page("Products of a shop: all methods side by side", lead, job.folder)
    page.text(
        "The paper's 2,303 items of Amazon are not public; products of another shop stand in for "
        'them. Its settings are those of "BHMC, published settings": concentrations and noise '
        "walk during the warm-up and then stay. The other two of BHMC know only the number of "
        'levels: "hdp transition" is the paper\'s model with the defaults of this library, '
        '"diffused transition" the model in which locations diffuse from parent to child.'
    )
    methods = settings["methods"]
    entries = run_all(job, methods, settings, data.X, data.truth, unlimited=BHMC_METHODS)
    add_comparison(page, entries, data.truth, job.budget)
    _add_learned(page, entries)
    timing = read_settings("compare", quick=job.quick)["timing"]
    for name in set(BHMC_METHODS) & settings.keys():  # this experiment's model, the study's sweeps
        sweeps = {key: timing[name][key] for key in ("n_warmup", "n_draws", "n_chains")}
        timing[name] = {**settings[name], **sweeps}
    times = time_methods(job, methods, timing, data.X, tuple(settings["sizes"]))
    add_times(page, times, timing["told"])
    used = settings_used(methods, settings, entries, data.truth)
    outcomes = {f"{METHODS[one.method].words}, seed {one.seed}": one.outcome for one in entries}
    describe_run(page, job, used, outcomes)
    return page


def _marked(path: str) -> dict[str, str] | None:
    """The rows to take: of the Flipkart file those that are marked as the sample of 2,303."""
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines), [])
    except (OSError, UnicodeDecodeError, EOFError):
        return None  # the loader says what is wrong
    return {_MARK: "1"} if _MARK in header else None


def _add_learned(page: Page, entries: list[Entry]) -> None:
    """What the fits of BHMC have learned, in words."""
    page.section("What BHMC learned")
    for entry in entries:
        facts, tree = entry.outcome.facts, entry.outcome.tree
        if entry.method not in BHMC_METHODS or tree is None:
            continue
        learned = ", ".join(f"{name} {facts[name]:.2f}" for name in CONCENTRATIONS if name in facts)
        if "step_variances" in facts:
            steps = ", ".join(f"{value:.3g}" for value in facts["step_variances"])
            learned += f", variances of the steps in units of the noise {steps}"
        shared = ", ".join(f"{value:.4f}" for value in facts.get("shared", []))
        agree = "" if facts["n_chains"] < 2 else (
            " Its chains agree." if facts["converged"] else " Its chains do not agree."
        )  # fmt: skip
        page.text(
            f"{METHODS[entry.method].words}: {learned}"
            + (f", shared numbers {shared}" if shared else "")
            + f"; {tree.n_components} components and "
            f"{' '.join(map(str, np.bincount(tree.levels)))} nodes at levels 0 to {tree.n_levels}."
            + agree
        )


def _icicle(tree: Tree) -> Any:
    quiet_pyplot()
    ax: Any = plot_icicle(tree)
    return ax.figure


def _from_zero(truth: NDArray) -> NDArray[np.int64]:
    """Codes 0, 1, ... in every column: a part of the rows may leave classes out."""
    columns = [np.unique(column, return_inverse=True)[1] for column in truth.T]
    return np.column_stack(columns).astype(np.int64)
