"""`bhmc reproduce animals`: 33 animals, the published settings, and the diffused transition."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from bhmc._experiments.figures.grouped_tree import draw_grouped_tree
from bhmc._experiments.figures.traces import TraceRow, draw_traces
from bhmc._experiments.groups import Found, find_groups
from bhmc._experiments.job import Job
from bhmc._experiments.own_levels import HOW
from bhmc._experiments.page import Page
from bhmc._experiments.run_details import describe_run
from bhmc._experiments.settings import read_settings
from bhmc._experiments.sheet import Sheet
from bhmc._experiments.store import Outcome
from bhmc._experiments.supplement import run_supplement
from bhmc._experiments.tree_changes import count_changes
from bhmc._io.digest import digest_of_data
from bhmc.datasets import load_animals
from bhmc.plotting.style import percent
from bhmc.posterior.diagnostics import diagnose
from bhmc.tree import Tree

NEEDS_DATA = "animals_33x102.csv: a name and 102 features of 0 and 1 in each of 33 lines"

_TRACES = {
    "log_likelihood": "log likelihood",
    "n_nodes": "nodes in the tree",
    "n_components": "components in use",
    "leaves": "leaves of the tree",
    "nodes_at[1]": "branches at level 1",
}


class Animals(NamedTuple):
    """The data as they are fitted."""

    names: list[str]
    X: np.ndarray
    n_features: int


def load(job: Job) -> tuple[dict[str, Any], Animals]:
    """Settings and data; a ValueError says what is wrong with the file."""
    settings = read_settings("animals", quick=job.quick)
    animals = load_animals(str(job.data))
    names, features = [str(name) for name in animals.names], np.asarray(animals.data)
    n_components = settings["n_components"]
    if min(features.shape) < n_components:
        raise ValueError(
            f"{job.data} has {features.shape[0]} rows and {features.shape[1]} features: "
            f"{n_components} principal components need as many of both."
        )
    reduced = PCA(n_components, svd_solver="full").fit_transform(features)
    return settings, Animals(names, reduced, features.shape[1])


def run(job: Job, settings: dict[str, Any], data: Animals) -> Page:
    """Fit, and write the page."""
    if job.supplement:
        return _run_supplement(job, settings, data)
    outcome = job.run(
        "bhmc",
        "bhmc-paper",
        settings["model"],
        data.X,
        digest_of_data(data.X),
        record_warmup=True,
        keep_draws=True,
    )
    assert outcome.tree is not None
    assert outcome.draws is not None
    diffused = job.run(
        "bhmc-diffused", "bhmc-diffused", settings["diffused"], data.X, digest_of_data(data.X)
    )
    groups = find_groups(outcome.tree, data.names, settings["groups"])
    page = Page(
        "Animals",
        f"{len(data.names)} animals with {data.n_features} features, reduced to "
        f"{data.X.shape[1]} principal components; the settings of the paper, exact path Gibbs.",
        job.folder,
    )
    _add_tree(page, outcome, data, groups)
    _add_traces(page, outcome)
    outcomes = {"bhmc": outcome, "bhmc-diffused": diffused}
    _add_diffused(page, diffused, data, settings["groups"])
    _add_models(page, outcomes, data, settings["groups"])
    used = {"the published model": settings["model"], "the diffused model": settings["diffused"]}
    describe_run(page, job, used, outcomes)
    return page


def _run_supplement(job: Job, settings: dict[str, Any], data: Animals) -> Page:
    page = Page(
        "Animals, setting of the supplement",
        f"{len(data.names)} animals in {data.X.shape[1]} principal components.",
        job.folder,
    )

    def draw(tree: Tree) -> Any:
        return draw_grouped_tree(tree, data.names, find_groups(tree, data.names, groups))

    groups = settings["groups"]
    classes = _classes(data.names, groups)
    run_supplement(job, page, settings["supplement"], data.X, classes, draw)
    return page


def _classes(names: list[str], groups: dict[str, list[str]]) -> list[str]:
    """The group of each animal; one that may count in two counts in the first."""
    words: dict[str, str] = {}
    for group, members in groups.items():
        for member in members:
            words.setdefault(member, group)
    return [words.get(name, "no named group") for name in names]


def _add_tree(page: Page, outcome: Outcome, data: Animals, groups: list[Found]) -> None:
    tree = outcome.tree
    assert tree is not None
    page.section("The tree")
    page.text(
        "This is the draw of the highest complete-data log likelihood among all draws of all "
        "chains, as the paper shows it. A circle is a node, its slices are components; beside a "
        "leaf are how many animals it holds, its component, in how many of the draws a node holds "
        "exactly these animals, and their names.",
        "The names of groups are words that the paper uses for what it found. They were put there "
        'after the fit, each at the node that is most like the group; "5 of 6" says that five '
        "of the node's six animals are of that group.",
    )
    page.figure(
        "tree",
        draw_grouped_tree(tree, data.names, groups),
        "The tree of the most likely draw, with the names of the animals; the named groups are "
        "pointed out at the nodes that are most like them.",
    )
    sheet = _group_sheet(groups, data.names, outcome)
    page.sheet("groups", sheet, shown=_short_sheet(sheet, groups))
    whole = _whole_components(groups)
    page.text(
        f"{len(whole)} of the {len(groups)} named groups have a component to themselves "
        f"({', '.join(whole) or 'none'}). Components are what the data speak of; where a "
        "component sits in the tree they say little about, which is why the support of nodes is "
        "low: the tree of the maximum is one of many that are nearly as likely."
    )
    page.code(tree.to_text(data.names, max_names=40))


def _add_diffused(page: Page, outcome: Outcome, data: Animals, wanted: dict) -> None:
    """The tree of the diffused transition, with the same groups pointed out."""
    tree = outcome.tree
    assert tree is not None
    groups = find_groups(tree, data.names, wanted)
    page.section("The same animals with the diffused transition")
    page.text(
        "This model is ours, not the paper's: every node has a location a Gaussian step away from "
        "its parent's, and components lie around the location of their leaf, so that animals share "
        "a branch because they are near each other. All settings but the number of levels are "
        "defaults. The tree is the one nearest to all draws.",
    )
    page.figure(
        "tree-diffused",
        draw_grouped_tree(tree, data.names, groups),
        "The tree of the diffused transition, with the names of the animals; the named groups are "
        "pointed out at the nodes that are most like them.",
    )
    sheet = _group_sheet(groups, data.names, outcome)
    page.sheet("groups-diffused", sheet, shown=_short_sheet(sheet, groups))
    page.code(tree.to_text(data.names, max_names=40))


def _add_models(page: Page, outcomes: dict[str, Outcome], data: Animals, wanted: dict) -> None:
    """Both models in one line each."""
    _, classes = np.unique(_classes(data.names, wanted), return_inverse=True)
    sheet = Sheet(
        (
            "model",
            "nodes per level",
            "components",
            "groups that are a component",
            "groups that are a node",
            "AMI, told the count",
            "AMI, own level",
            "AMI, components",
            "CPU seconds",
        ),
        caption="Both models. AMI is that with the named groups, as in the other experiments: the "
        "tree cut into as many clusters, its best level, and the components.",
        digits=2,
    )
    for name, outcome in outcomes.items():
        tree = outcome.tree
        assert tree is not None
        groups = find_groups(tree, data.names, wanted)
        sheet.rows.append(
            (
                "published" if name == "bhmc" else "diffused",
                " ".join(map(str, np.bincount(tree.levels))),
                tree.n_components,
                len(_whole_components(groups)),
                sum(one.held == one.size == one.asked for one in groups),
                *(way(tree, classes).ami for way in HOW.values()),
                float(outcome.facts["cpu_seconds"]),
            )
        )
    page.section("Both models side by side")
    page.sheet("models", sheet)


def _whole_components(groups: list[Found]) -> list[str]:
    """The groups that have a component to themselves."""
    return [one.name for one in groups if one.component_held == one.component_size]


def _group_sheet(groups: list[Found], names: list[str], outcome: Outcome) -> Sheet:
    tree = outcome.tree
    assert tree is not None
    sheet = Sheet(
        (
            "group",
            "members asked for",
            "node",
            "its animals",
            "of the group",
            "support of the node",
            "component",
            "its rows",
            "of the group (component)",
            "animals of the component",
        ),
        caption="Each named group, the node and the component that are most like it.",
        digits=2,
    )
    for one in groups:
        members = np.flatnonzero(tree.components == one.component)
        sheet.rows.append(
            (
                one.name,
                one.asked,
                one.node,
                one.size,
                one.held,
                one.support,
                f"c{one.component}",
                one.component_size,
                one.component_held,
                ", ".join(names[row] for row in members),
            )
        )
    return sheet


def _short_sheet(sheet: Sheet, groups: list[Found]) -> Sheet:
    """As much of the sheet as fits on a page."""
    short = Sheet(
        ("group", "node", "its support", "component", "animals of the component"),
        caption=sheet.caption,
        digits=2,
    )
    for one, row in zip(groups, sheet.rows, strict=True):
        component = f"c{one.component}: {one.component_held} of {one.component_size}"
        short.rows.append(
            (one.name, f"{one.held} of {one.size}", percent(one.support), component, row[-1])
        )
    return short


def _add_traces(page: Page, outcome: Outcome) -> None:
    draws = outcome.draws
    assert draws is not None
    numbers = draws.numbers()
    deepest = f"nodes_at[{draws.n_levels}]"
    judged = diagnose(draws).table
    at = {str(name): i for i, name in enumerate(judged["name"])}
    rows, sheet = [], Sheet(
        ("number", "mean", "standard deviation", "R-hat", "effective draws"),
        caption="The five numbers over all draws of all chains.",
    )  # fmt: skip
    for key, words in _TRACES.items():
        name = deepest if key == "leaves" else key
        i = at[name]
        rows.append(
            TraceRow(words, outcome.series.get(name), numbers[name], float(judged["rhat"][i]))
        )
        mean, sd, rhat = (float(judged[column][i]) for column in ("mean", "sd", "rhat"))
        sheet.rows.append((words, mean, sd, rhat, round(np.nan_to_num(judged["ess_bulk"][i]))))
    changes = count_changes(draws)
    page.section("Do the chains settle, and do they keep moving?")
    page.figure(
        "traces",
        draw_traces(rows),
        f"Five numbers of every sweep of {draws.n_chains} chains, which start from different "
        "draws of the prior; to the right how the draws of each chain are spread.",
    )
    page.sheet("traces", sheet)
    worst = max((row.rhat for row in rows if not np.isnan(row.rhat)), default=float("nan"))
    verdict = (
        "They settle: the chains, from different starts, have come to the same distribution"
        if worst <= 1.01
        else "They do not yet agree, as an R-hat above 1.01 says"
    )
    page.text(
        f"{verdict}; the largest R-hat of the five is {worst:.3f}. They keep moving: from one draw "
        f"to the next the tree changes in {percent(changes.tree)} of all cases, its branches at "
        f"level 1 in {percent(changes.top)} and the components in {percent(changes.components)}; "
        f"{changes.distinct:,} of the {draws.n_chains * draws.n_draws:,} trees are different."
    )
