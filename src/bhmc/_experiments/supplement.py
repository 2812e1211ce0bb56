"""`bhmc reproduce ... --supplement`: the normal-inverse-Wishart settings of the supplement."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bhmc._experiments.job import Job
from bhmc._experiments.page import Page
from bhmc._experiments.run_details import describe_run
from bhmc._experiments.sheet import Sheet
from bhmc._experiments.store import Outcome
from bhmc._io.digest import digest_of_data
from bhmc.tree import Tree

# Components that are described one by one.
_MOST_COMPONENTS = 8


def run_supplement(
    job: Job,
    page: Page,
    settings: dict[str, dict[str, Any]],
    X: np.ndarray,
    classes: Sequence[str],
    draw: Callable[[Tree], Any],
) -> None:
    """Run every setting by exact path Gibbs and add its most likely draw to the page.

    `classes` describe the result and nothing else; `draw` makes the figure of a tree.
    """
    outcomes = {}
    for name, of_model in settings.items():
        part = f"supplement {name}"
        outcomes[part] = job.run(
            part, "bhmc-paper", of_model, X, digest_of_data(X), keep_draws=True
        )
    page.section("In short")
    page.text(
        "The family is normal-inverse-Wishart, mu0 and Sigma0 are the data's mean and covariance. "
        "Shown is the draw of the highest complete-data log likelihood. Classes are read to "
        "describe it, and for nothing else."
    )
    page.sheet("supplement", _summary(outcomes, settings, X))
    for part, outcome in outcomes.items():
        tree = outcome.tree
        assert tree is not None
        page.section(part.capitalize())
        page.figure(
            part.replace(" ", "-"), draw(tree), f"The tree of the most likely draw, {part}."
        )
        page.sheet(f"{part.replace(' ', '-')}-components", _components(tree, classes))
    describe_run(page, job, {f"supplement {name}": one for name, one in settings.items()}, outcomes)


def _summary(
    outcomes: dict[str, Outcome], settings: dict[str, dict[str, Any]], X: np.ndarray
) -> Sheet:
    sheet = Sheet(
        (
            "setting",
            "N, d",
            "sweeps",
            "nodes per level",
            "components",
            "of one row",
            "over the draws",
            "CPU seconds",
        ),
        digits=0,
    )
    for (part, outcome), of_model in zip(outcomes.items(), settings.values(), strict=True):
        tree, draws = outcome.tree, outcome.draws
        assert tree is not None
        assert draws is not None
        sizes = np.bincount(tree.components, minlength=tree.n_components)
        k = draws.n_components
        sheet.rows.append(
            (
                part,
                f"{X.shape[0]:,}, {X.shape[1]}",
                f"{of_model['n_warmup']:,} + {of_model['n_draws']:,}",
                " ".join(map(str, np.bincount(tree.levels))),
                tree.n_components,
                int((sizes == 1).sum()),
                f"{k.min()} to {k.max()}, {k.mean():.1f} on average",
                float(outcome.facts["cpu_seconds"]),
            )
        )
    return sheet


def _components(tree: Tree, classes: Sequence[str]) -> Sheet:
    """The largest components and what most of their rows are."""
    sheet = Sheet(("component", "rows", "commonest class", "its share"), digits=2)
    for component in range(min(_MOST_COMPONENTS, tree.n_components)):
        rows = np.flatnonzero(tree.components == component).tolist()
        name, times = Counter(classes[row] for row in rows).most_common(1)[0]
        sheet.rows.append((f"c{component}", len(rows), name, times / len(rows)))
    return sheet
