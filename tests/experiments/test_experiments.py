"""Experiments: parts are kept and found, labels stay out of fits, pages say what tables hold."""

import csv
import json
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bhmc
from bhmc import Tree, likelihoods, priors
from bhmc._cli import main
from bhmc._experiments import (
    comparing,
    comparison_page,
    groups,
    methods,
    settings,
    store,
    tree_changes,
)
from bhmc._experiments.methods import METHODS, Request
from bhmc._experiments.page import Page
from bhmc._experiments.store import Outcome, Store
from bhmc._experiments.tables import Table
from bhmc.posterior.draws import Partition
from tests.posterior.draws_factory import make_draws
from tests.shared_data import FOLDER
from tests.tree.tree_factory import small_tree

pytest.importorskip("matplotlib")

ANIMALS = FOLDER / "animals" / "animals_33x102.csv"


def rows_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


# ------------------------------------------------------------------------------------------------
# Parts that are kept
# ------------------------------------------------------------------------------------------------


class Maker:
    """Makes a part and counts how often it was asked to."""

    def __init__(self, **facts):
        self.times, self.facts = 0, {"seconds": 0.5, **facts}

    def __call__(self, going: Path) -> Outcome:
        self.times += 1
        return Outcome(small_tree(), self.facts, make_draws(), {"a": np.arange(3.0)})


def test_a_part_is_made_once_and_comes_back_whole(tmp_path):
    maker = Maker(learned=[0.25, 0.5])
    made = Store(tmp_path).part("one: part/two", {"alpha": 0.4}, maker)
    again = Store(tmp_path)
    found = again.part("one: part/two", {"alpha": 0.4}, maker)
    assert maker.times == 1
    assert again.found == ["one: part/two"]
    assert again.made == []
    assert found.facts == made.facts
    np.testing.assert_array_equal(found.tree.paths, made.tree.paths)
    np.testing.assert_array_equal(found.draws.log_joint, made.draws.log_joint)
    np.testing.assert_array_equal(found.series["a"], made.series["a"])


@pytest.mark.parametrize("recipe", [{"alpha": 0.5}, {"alpha": 0.4, "seed": 1}, {}])
def test_a_changed_recipe_is_made_anew(tmp_path, recipe):
    maker = Maker()
    Store(tmp_path).part("part", {"alpha": 0.4}, maker)
    Store(tmp_path).part("part", recipe, maker)
    assert maker.times == 2


def test_another_version_is_made_anew(tmp_path, monkeypatch):
    maker = Maker()
    Store(tmp_path).part("part", {}, maker)
    monkeypatch.setattr(store, "__version__", "99.0")
    Store(tmp_path).part("part", {}, maker)
    assert maker.times == 2


@pytest.mark.parametrize(
    ("stopped", "before", "now", "times"),
    [
        (True, 10.0, 20.0, 2),
        (True, 10.0, None, 2),
        (True, 10.0, 10.0, 1),
        (True, 10.0, 5.0, 1),
        (False, 10.0, 20.0, 1),
    ],
)
def test_only_a_part_that_was_stopped_wants_more_time(tmp_path, stopped, before, now, times):
    maker = Maker(stopped_early=stopped)
    Store(tmp_path).part("part", {}, maker, budget=before)
    Store(tmp_path).part("part", {}, maker, budget=now)
    assert maker.times == times


def test_a_damaged_record_is_made_anew(tmp_path):
    maker = Maker()
    Store(tmp_path).part("part", {}, maker)
    (tmp_path / "parts" / "part.json").write_text('{"recipe": {', encoding="utf-8")
    Store(tmp_path).part("part", {}, maker)
    assert maker.times == 2


def test_an_interrupt_keeps_other_parts_and_the_way_so_far(tmp_path):
    maker = Maker()
    Store(tmp_path).part("done", {}, maker)

    def interrupted(going):
        going.with_name(f"{going.name}.0").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).part("half", {}, interrupted)
    again = Store(tmp_path)
    again.part("done", {}, maker)
    assert maker.times == 1

    def going_on(going):
        assert going.with_name(f"{going.name}.0").read_text() == "half"
        return maker(going)

    again.part("half", {}, going_on)
    assert not list((tmp_path / "parts").glob("*.going*"))


def test_what_was_on_its_way_by_another_recipe_is_not_gone_on_with(tmp_path):
    names = []

    def interrupted(going):
        names.append(going)
        raise KeyboardInterrupt

    for alpha in (0.4, 0.5):
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path).part("part", {"alpha": alpha}, interrupted)
    assert names[0] != names[1]


# ------------------------------------------------------------------------------------------------
# Settings
# ------------------------------------------------------------------------------------------------


def test_settings_are_the_published_ones():
    """The table of the paper's settings, written again."""
    animals = settings.read_settings("animals")["model"]
    fashion = settings.read_settings("fashion")["model"]
    for found, wanted in ((animals, (4, 0.4, 1, 0.5)), (fashion, (5, 0.5, 1.5, 2))):
        assert [found[key] for key in ("n_levels", "alpha", "gamma0", "gamma")] == list(wanted)
        assert (found["n_warmup"], found["n_draws"], found["estimate"]) == (500, 5000, "map")
        family = settings.likelihood_of(found["likelihood"], np.eye(3))
        assert repr(family) == repr(likelihoods.Gaussian(sigma2=1.0, mu0=0.0, sigma0=1.0))
    amazon = settings.read_settings("amazon")["bhmc-paper"]
    assert (amazon["n_levels"], amazon["n_warmup"], amazon["n_draws"]) == (7, 500, 2500)
    assert amazon["hyper"] == "paper"
    family = settings.likelihood_of(amazon["likelihood"], np.eye(3))
    assert family.sigma2 == priors.Uniform(0.0, 0.1)


def test_settings_of_the_supplement_are_the_published_ones():
    wanted = {
        ("animals", "niw"): (4, 0.3, 1, 1.15, 0.1, 10),
        ("fashion", "a"): (4, 0.5, 5, 0.05, 0.01, 200),
        ("fashion", "b"): (4, 0.35, 5, 1.5, 0.02, 200),
        ("amazon", "niw"): (8, 1.65, 8.755, 0.5, 0.0373, 209.49),
    }
    for (experiment, name), numbers in wanted.items():
        found = settings.read_settings(experiment)["supplement"][name]
        family = found["likelihood"]
        four = [found[key] for key in ("n_levels", "alpha", "gamma0", "gamma")]
        assert (*four, family["lam"], family["nu"]) == numbers


@pytest.mark.parametrize("name", ["animals", "fashion", "amazon", "compare"])
def test_quick_is_quick_everywhere(name):
    def look(part):
        if isinstance(part, dict):
            assert part.get("n_draws", 0) <= 40
            for one in part.values():
                look(one)

    look(settings.read_settings(name, quick=True))


def test_every_model_of_the_settings_can_be_made():
    X = np.random.default_rng(0).normal(size=(30, 3))
    n_models = 0

    def look(part):
        nonlocal n_models
        if isinstance(part, dict) and "n_levels" in part:
            model = bhmc.BHMC(**settings.model_parameters(part, X))
            model.set_params(n_warmup=1, n_draws=1, n_chains=1, n_levels=1).fit(X)
            n_models += 1
        elif isinstance(part, dict):
            for one in part.values():
                look(one)

    for name in ("animals", "amazon", "compare"):
        part = settings.read_settings(name)
        part.pop("supplement", None)
        look(part)
    assert n_models == 7


# ------------------------------------------------------------------------------------------------
# Words for what was found; moves; tables
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def birds_and_fish() -> Tree:
    """root -> {0, 1, 2, 3} -> {0, 1}, {2, 3};  root -> {4, 5}, a chain; components 0 0 1 1 1 2."""
    parents = np.array([-1, 0, 0, 1, 1, 2])
    tree = Tree.from_parents(parents, tips=np.array([3, 3, 4, 4, 5, 5]))
    return replace(
        tree,
        components=np.array([1, 1, 0, 0, 0, 2], dtype=np.int32),
        theta=np.zeros((3, 1)),
        weights=np.full((tree.n_nodes, 4), 0.25),
    )


def test_a_named_group_is_at_the_node_most_like_it(birds_and_fish):
    names = ["crow", "jay", "owl", "tit", "cod", "eel"]
    wanted = {"birds": ["crow", "jay", "owl", "tit"], "fish": ["cod", "eel"], "none": ["yak"]}
    birds, fish = groups.find_groups(birds_and_fish, names, wanted)
    tree = birds_and_fish
    assert tree.members(birds.node).tolist() == [0, 1, 2, 3]
    assert (birds.size, birds.held, birds.asked, birds.f) == (4, 4, 4, 1.0)
    assert tree.members(fish.node).tolist() == [4, 5]
    assert tree.levels[fish.node] == 1  # the uppermost of a chain
    assert (birds.component, birds.component_size, birds.component_held) == (1, 2, 2)
    assert birds.said == "birds: 4 of 4"


def test_a_group_that_is_spread_is_not_said_to_be_whole(birds_and_fish):
    names = ["crow", "jay", "cod", "eel", "owl", "tit"]
    (found,) = groups.find_groups(birds_and_fish, names, {"birds": ["crow", "jay", "owl"]})
    assert birds_and_fish.members(found.node).tolist() == [0, 1]
    assert (found.held, found.size, found.asked) == (2, 2, 3)
    assert found.f == pytest.approx(2 * 2 / 5)


def partition(leaf, parents, component):
    return Partition(
        np.array(leaf, np.uint8), np.array(component, np.uint8), np.array(parents, np.int32)
    )


def test_moves_are_counted_without_labels():
    """Draw 1 is draw 0 with other labels; draw 2 parts two rows at level 2; draw 3 is as 2."""
    one = partition([3, 3, 4], [-1, 0, 0, 1, 2], [0, 0, 1])
    same = partition([4, 4, 3], [-1, 0, 0, 1, 2], [1, 1, 0])
    other = partition([3, 4, 5], [-1, 0, 0, 1, 1, 2], [0, 0, 1])
    draws = make_draws(n_chains=1, n_draws=4, n_rows=3, n_levels=2)
    draws = replace(draws, partitions=(one, same, other, other))
    moves = tree_changes.count_moves(draws)
    assert moves.tree == pytest.approx(1 / 3)
    assert moves.top == 0
    assert moves.components == 0
    assert moves.distinct == 2


def test_a_table_is_written_in_full_and_shown_in_short():
    table = Table(("name", "share"), [("a < b", 0.123456), ("c", None)], caption="1 < 2")
    assert table.to_csv() == "name,share\na < b,0.123456\nc,\n"
    html = table.to_html()
    assert "a &lt; b" in html
    assert "1 &lt; 2" in html
    assert ">0.123</td>" in html
    assert table.to_text().splitlines()[1] == "a < b  0.123"


def test_a_page_escapes_what_it_is_told(tmp_path):
    page = Page("1 < 2", "lead & more", tmp_path)
    page.text("<script>")
    page.note("a < b")
    page.code("x > y")
    text = page.write().read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "1 &lt; 2" in text


# ------------------------------------------------------------------------------------------------
# Methods
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)) + np.repeat(
        [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]], 10, 0
    )


FEW = {"n_levels": 2, "n_warmup": 3, "n_draws": 4, "n_chains": 2}


def test_bhmc_stops_in_time_and_says_so(blobs):
    slow = {**FEW, "n_draws": 30_000, "keep": "summary"}
    outcome = methods.run_bhmc(Request(blobs, slow, seed=0, budget=0.5))
    assert outcome.facts["stopped_early"]
    assert 0 < outcome.facts["n_draws"] < 30_000
    assert outcome.tree.paths.shape == (40, 3)
    assert outcome.facts["seconds"] < 20


def test_bhmc_without_a_draw_in_its_time_has_no_tree(blobs):
    slow = {**FEW, "n_warmup": 30_000}
    outcome = methods.run_bhmc(Request(blobs, slow, seed=0, budget=0.01))
    assert outcome.tree is None
    assert outcome.facts["stopped_early"]


def test_the_warm_up_is_noted(blobs):
    request = Request(blobs, FEW, seed=0, watch_warmup=True, keep_draws=True)
    outcome = methods.run_bhmc(request)
    assert outcome.series["n_nodes"].shape == (2, 3)
    longer = methods.run_bhmc(request._replace(settings={**FEW, "n_warmup": 0, "n_draws": 3}))
    for name in ("log_likelihood", "n_components", "nodes_at[2]"):
        np.testing.assert_array_equal(outcome.series[name], longer.draws.numbers()[name])


class Ringing:
    """In the place of the clock: Ctrl-C at the 30th sweep of the first chain."""

    rang = False

    def __init__(self, *arguments):
        pass

    def __call__(self, number, chain, made):
        if (number, made) == (0, 30):
            signal.raise_signal(signal.SIGINT)
        return False


def test_bhmc_goes_on_after_an_interrupt(blobs, tmp_path, monkeypatch):
    """The same tree as without it, and the seconds of both parts."""
    longer = {**FEW, "n_draws": 60}
    whole = methods.run_bhmc(Request(blobs, longer, seed=3))
    request = Request(blobs, longer, seed=3, going=tmp_path / "part.going", budget=1000.0)
    with monkeypatch.context() as patch:
        patch.setattr(methods, "Clock", Ringing)
        with pytest.raises(KeyboardInterrupt):
            methods.run_bhmc(request)
    assert (tmp_path / "part.going.0").exists()
    (tmp_path / "part.going.seconds").write_text("[100.0, 50.0]")
    rest = methods.run_bhmc(request)
    assert not rest.facts["stopped_early"]
    np.testing.assert_array_equal(rest.tree.paths, whole.tree.paths)
    assert 100 < rest.facts["seconds"] < 200
    assert 50 < rest.facts["cpu_seconds"] < 100


def test_a_seed_decides_and_jobs_do_not(blobs):
    one, two, other = (
        methods.run_bhmc(Request(blobs, FEW, seed=seed, n_jobs=jobs)).tree
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one.paths, two.paths)
    assert not np.array_equal(one.paths, other.paths)


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="'wards' is no method: choose from bhmc"):
        methods.check_methods(["bhmc", "wards"])
    with pytest.raises(ValueError, match="named twice"):
        methods.check_methods(["ward", "ward"])


def test_words_of_the_command_line_are_the_methods():
    from bhmc._cli import parser

    assert list(parser.METHODS) == list(METHODS)


# ------------------------------------------------------------------------------------------------
# Measures
# ------------------------------------------------------------------------------------------------


def entry(method, tree, seed=0, **facts):
    return comparing.Entry(
        method, seed, Outcome(tree, {"seconds": 1.0, "cpu_seconds": 1.0, **facts})
    )


def test_scores_are_those_of_the_metrics_and_means_of_runs():
    from bhmc import metrics

    trees = [small_tree(seed) for seed in (0, 1)]
    truth = np.column_stack([np.arange(40) % 2, np.arange(40) % 5])
    entries = [entry("random", trees[0], 0), entry("random", trees[1], 1), entry("ward", trees[0])]
    scores = comparing.score_runs(entries, truth)
    assert len(scores.rows) == 3 * 2 * 2
    means = comparing.mean_scores(scores)
    found = next(m for m in means if (m.method, m.cut, m.level) == ("random", "matched", 2))
    each = [metrics.ari(truth[:, 1], metrics.cut_matched(tree, 5)) for tree in trees]
    assert found.scores["ari"] == pytest.approx(np.mean(each))
    assert found.spread["ari"] == pytest.approx(np.std(each))
    assert found.n_runs == 2
    pure = [metrics.dendrogram_purity(tree, truth[:, 1]) for tree in trees]
    assert found.scores["dendrogram_purity"] == pytest.approx(np.mean(pure))
    assert comparing.cut_table(means, "depth").rows[0][:3] == (1, 2, METHODS["random"].words)


def test_a_method_without_a_result_is_in_the_table_of_runs_only():
    truth = np.arange(40)[:, None] % 2
    entries = [entry("ward", small_tree()), entry("bhmc", None, stopped_early=True)]
    assert {row[0] for row in comparing.score_runs(entries, truth).rows} == {"ward"}
    rows = comparing.run_table(entries, 60.0).rows
    assert [row[-1] for row in rows] == ["finished", "no result within its time"]


def mean(method, level, cut="depth", **scores):
    every = dict.fromkeys((*comparing.MEASURES, "dendrogram_purity"), 0.0)
    return comparing.Mean(method, cut, level, 3, 4.0, {**every, **scores}, every, 1)


def test_the_control_is_put_into_words():
    means = [
        mean("random", 1, nmi=0.2, purity=0.3),
        mean("random", 2, nmi=0.63, purity=0.78),
        mean("ward", 2, nmi=0.57),
        mean("bhmc", 2, nmi=0.7),
    ]
    said = comparison_page.control_sentence(means)
    assert "at level 2" in said
    assert "purity 0.78 and NMI 0.63" in said
    assert said.endswith("Its NMI is above that of Ward.")
    assert comparison_page.control_sentence(means[2:]) == ""
    low = [mean("random", 1, purity=0.6, ari=-0.001), mean("bhmc", 1, nmi=0.4, purity=0.7)]
    said = comparison_page.control_sentence(low)
    assert said.startswith("Read purity beside the control: at level 1")
    assert "purity 0.60 and NMI 0.00, with ARI 0.00" in said


def test_verdicts_go_by_chance_corrected_measures_and_leave_the_control_out():
    means = [
        mean("random", 1, ami=0.9, purity=0.9),
        mean("ward", 1, ami=0.4, purity=0.9),
        mean("bhmc", 1, ami=0.5, purity=0.2),
    ]
    assert comparison_page.verdicts(means) == [
        f"Highest AMI, cut by depth: {METHODS['bhmc'].words} at level 1 (0.50)."
    ]


def test_the_control_has_alpha_and_levels_of_the_fit():
    tree = replace(small_tree(), alpha=0.77)
    plan = comparing.control_plan(
        [entry("ward", small_tree(1)), entry("bhmc", tree)], np.zeros((40, 2)), 3
    )
    assert plan.settings == {"alpha": 0.77, "n_levels": 3}
    assert plan.repeats == 3
    alone = comparing.control_plan([], np.zeros((40, 2)), 3)
    assert alone.settings["n_levels"] == 2


# ------------------------------------------------------------------------------------------------
# From the command line
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    rng = np.random.default_rng(1)
    file = tmp_path_factory.mktemp("data") / "table.csv"
    lines = ["name,x,y,kind,path"]
    for i in range(24):
        x, y = rng.normal(size=2) + 9 * np.array([i % 2, i // 2 % 2])
        lines.append(f"n{i},{x:.4f},{y:.4f},k{i % 2},all > a{i % 2} > b{i // 2 % 2}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def compare(table, folder, *more, methods="bhmc,ward,random") -> int:
    common = ("--drop", "path", "--labels", "kind", "--quick", "-q", "--methods")
    return main(["compare", str(table), "-o", str(folder), *common, methods, *more])


def part_times(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("*.json")}


def test_compare_writes_tables_figures_and_a_page(table, tmp_path):
    assert compare(table, tmp_path / "out", "--repeats", "2", "--sizes", "10,20") == 0
    found = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"results.html", "levels.png", "levels-depth.csv", "scores.csv", "runs.csv"} <= found
    scores = rows_of(tmp_path / "out" / "scores.csv")
    assert {row["method"] for row in scores} == {"bhmc", "ward", "random"}
    assert {row["seed"] for row in scores if row["method"] == "bhmc"} == {"0", "1"}
    matched = [row for row in scores if row["method"] == "ward" and row["cut"] == "matched"]
    assert len(matched) == 1
    assert matched[0]["clusters"] == "2"
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert "a random tree that has never seen the data" in page
    assert page.count("<img") == 2
    assert "quick run" in page
    for row in scores:
        if row["method"] == "random":
            assert abs(float(row["ari"])) < 0.6


def test_compare_finds_what_is_done(table, tmp_path):
    folder = tmp_path / "out"
    assert compare(table, folder) == 0
    before = part_times(folder)
    assert len(before) == 4  # bhmc, ward, two random trees
    assert compare(table, folder) == 0
    assert part_times(folder) == before
    assert compare(table, folder, "--seed", "5") == 0
    after = part_times(folder)
    assert after["ward.json"] == before["ward.json"]  # no seed decides it
    assert after["bhmc.json"] != before["bhmc.json"]


def test_labels_reach_no_fit(table, tmp_path, monkeypatch):
    """Other labels, the same trees: their parts are found, and what methods get has no labels."""
    seen = []
    for name, method in list(METHODS.items()):

        def run(request, method=method):
            seen.append(request.X)
            return method.run(request)

        monkeypatch.setitem(METHODS, name, method._replace(run=run))
    assert compare(table, tmp_path / "out") == 0
    assert all(X.shape[1] == 2 for X in seen)
    n = len(seen)
    text = table.read_text(encoding="utf-8")
    other = tmp_path / "other.csv"
    other.write_text(re.sub(r",k(\d)", lambda m: f",k{len(m[0]) + hash(m.start()) % 3}", text))
    scores = rows_of(tmp_path / "out" / "scores.csv")
    assert compare(other, tmp_path / "out") == 0
    assert len(seen) == n
    assert rows_of(tmp_path / "out" / "scores.csv") != scores


def test_bhmc_is_the_same_in_any_company(table, tmp_path):
    """Rivals know numbers only; that must not take its family for every column from BHMC."""
    lines = table.read_text(
        encoding="utf-8"
    ).splitlines()  # with a column of 0 and 1 beside numbers
    mixed = tmp_path / "mixed.csv"
    ends = ["flag", *(str(i // 3 % 2) for i in range(len(lines) - 1))]
    mixed.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, ends, strict=True)) + "\n")
    scores = []
    for asked in ("bhmc", "bhmc,ward"):
        folder = tmp_path / asked
        assert compare(mixed, folder, methods=asked) == 0
        scores.append([row for row in rows_of(folder / "scores.csv") if row["method"] == "bhmc"])
    assert scores[0] == scores[1]


def test_paths_are_levels_of_classes(table, tmp_path):
    arguments = ["--drop", "kind", "--path", "path", "--quick", "-q", "--methods", "ward"]
    assert main(["compare", str(table), "-o", str(tmp_path / "out"), *arguments]) == 0
    rows = rows_of(tmp_path / "out" / "levels-matched.csv")
    assert [(row["level"], row["classes"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "4")]
    assert float(rows[2]["ARI"]) == 1.0


def refused(capsys, *arguments) -> str:
    assert main([str(one) for one in arguments]) == 2
    *_, line = capsys.readouterr().err.splitlines()
    return line


def test_refusals_are_one_sentence(table, tmp_path, capsys):
    out = tmp_path / "out"
    assert "name the classes" in refused(capsys, "compare", table, "-o", out)
    both = ("--labels", "kind", "--path", "path")
    assert "one of the two" in refused(capsys, "compare", table, "-o", out, *both)
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kinds")
    assert "Did you mean 'kind'?" in said
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kind", "--methods", "wards")
    assert "'wards' is no method" in said
    said = refused(capsys, "compare", table, "-o", out, "--labels", "kind", "--methods", "ward")
    assert "column 'path' holds text, which only bhmc can take" in said
    assert not out.exists()
    said = refused(capsys, "reproduce", "animals", "-o", out)
    assert "--data FILE is missing" in said
    said = refused(capsys, "reproduce", "animals", "--data", table, "-o", out)
    assert "which is not a number" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    said = refused(capsys, "reproduce", "animals", "--data", table, "-o", tmp_path / "mine")
    assert "no experiment is in it" in said


def test_without_matplotlib_it_is_said_before_any_work(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    more = ("--drop", "path", "--labels", "kind", "--methods", "ward")
    said = refused(capsys, "compare", table, "-o", tmp_path / "out", *more)
    assert said.endswith("needs matplotlib: install it with `pip install bhmc[plot]`.")
    assert not (tmp_path / "out").exists()


def test_missing_entries_are_for_bhmc_alone(tmp_path, capsys):
    file = tmp_path / "gaps.csv"
    file.write_text("x,y,kind\n1,2,a\n,3,b\n4,5,a\n2,2,b\n", encoding="utf-8")
    common = ("compare", file, "-o", tmp_path / "out", "--labels", "kind", "--quick", "-q")
    said = refused(capsys, *common, "--methods", "bhmc,ward")
    assert "line 3: column 'x' has no entry" in said
    assert main([str(one) for one in (*common, "--methods", "bhmc,random")]) == 0


def test_ctrl_c_keeps_what_is_done(table, tmp_path, monkeypatch, capsys):
    def interrupted(request):
        raise KeyboardInterrupt

    whole = METHODS["ward"]
    monkeypatch.setitem(METHODS, "ward", whole._replace(run=interrupted))
    assert compare(table, tmp_path / "out") == 130
    assert "The same command goes on from there" in capsys.readouterr().err
    before = part_times(tmp_path / "out")
    assert set(before) == {"bhmc.json"}
    monkeypatch.setitem(METHODS, "ward", whole)
    assert compare(table, tmp_path / "out") == 0
    assert part_times(tmp_path / "out")["bhmc.json"] == before["bhmc.json"]


# ------------------------------------------------------------------------------------------------
# What a newcomer got wrong
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--labels", "sort"), "--labels 'sort' is no column"),
        (("--labels", "kind,kind"), "names the column 'kind' twice"),
        (("--labels", "kind", "--words", "kind"), "which no method may see"),
        (("--labels", "kind", "--id", "kind"), "cannot be both"),
        (("--labels", "kind", "--methods", ""), "no method is named"),
        (("--labels", "name"), "a class of its own for every row"),
        (("--path", "path", "--separator", ""), "--separator is empty"),
        (("--path", "path", "--separator", "/"), "has the separator '/'"),
        (("--labels", "kind", "--words", "name"), "the words of 'name' give no numbers"),
    ],
)
def test_wrong_use_of_compare_is_said_in_a_sentence(table, tmp_path, capsys, more, said):
    drop = () if "--path" in more else ("--drop", "path")
    common = ("compare", table, "-o", tmp_path / "out", "--methods", "bhmc,random", "--quick", "-q")
    assert said in refused(capsys, *common, *drop, *more)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("lines", "methods", "said"),
    [
        ("1,2,k\n2,3,k\n4,5,k", "ward", "one class for all rows"),
        ("1,2,k\n2,inf,k\n4,5,l", "ward", "line 3: column 'y' has inf"),
        ("1,2,k\n1e200,3,k\n4,5,l", "bhmc", "line 3: column 'x' has 1e+200"),
        ("1,2,k\n,3,k\n4,5,l", "bhmc,bhmc-paper", "compare bhmc and random alone"),
        ("1,a,k\n2,b,k\n4,a,l", "bhmc,bhmc-paper", "compare bhmc and random alone"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(tmp_path, capsys, lines, methods, said):
    file = tmp_path / "t.csv"
    file.write_text(f"x,y,kind\n{lines}\n", encoding="utf-8")
    common = ("compare", file, "-o", tmp_path / "out", "--labels", "kind", "--quick", "-q")
    assert said in refused(capsys, *common, "--methods", methods)
    if methods != "ward" and "alone" in said:
        said = refused(capsys, *common, "--methods", "bhmc", "--standardise")
        assert said.endswith("leave out --standardise.")


def test_a_matrix_has_no_classes(tmp_path, capsys):
    np.save(tmp_path / "m.npy", np.eye(4))
    said = refused(capsys, "compare", tmp_path / "m.npy", "-o", tmp_path / "o", "--labels", "x1")
    assert "is a matrix of numbers" in said


@pytest.mark.parametrize("with_pandas", [True, False])
def test_times_of_a_table_with_text_and_gaps(tmp_path, monkeypatch, with_pandas):
    if not with_pandas:
        from bhmc._io.tables import frame
        from bhmc._io.tables import read as tables

        monkeypatch.setattr(tables, "frame_of", lambda names, cells, _: frame.Frame(names, cells))
    file = tmp_path / "mixed.csv"
    lines = [f"{'ab'[i % 2]},{i % 2 + i / 50 if i else ''},k{i % 2}" for i in range(20)]
    file.write_text("\n".join(["colour,x,kind", *lines]) + "\n", encoding="utf-8")
    common = ["compare", str(file), "-o", str(tmp_path / "out"), "--labels", "kind", "--quick"]
    assert main([*common, "-q", "--methods", "bhmc,random", "--sizes", "10,99"]) == 0
    assert list(rows_of(tmp_path / "out" / "times-by-rows.csv")[0]) == [
        "method",
        "N 10",
        "exponent",
    ]
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert "No time was taken at 99 rows: there are only 20." in page


def test_times_of_the_control_alone_are_not_asked_for(table, tmp_path):
    assert compare(table, tmp_path / "out", "--methods", "random", "--sizes", "10") == 0
    assert not (tmp_path / "out" / "times-by-rows.csv").exists()


def test_nobody_wins_a_tie_by_standing_first():
    means = [mean("bhmc", 1, ami=0.996), mean("ward", 1, ami=1.0), mean("perch", 1, ami=0.5)]
    (said,) = comparison_page.verdicts(means)
    words = METHODS["bhmc"].words
    assert said == f'Highest AMI, cut by depth: "{words}" and Ward at level 1 (1.00).'
    (said,) = comparison_page.verdicts(means[:2])
    assert said == "Highest AMI, cut by depth: all methods alike at level 1 (1.00)."


def test_a_level_of_one_class_is_not_judged():
    means = [
        mean("random", 1, nmi=1.0, purity=1.0)._replace(n_true=1),
        mean("ward", 1, ami=1.0)._replace(n_true=1),
        mean("bhmc", 1)._replace(n_true=1),
    ]
    assert comparison_page.verdicts(means) == []
    assert comparison_page.control_sentence(means) == ""


def test_the_page_has_the_settings_that_were_used():
    tree = replace(small_tree(), alpha=0.77)
    used = comparing.settings_used(
        ["perch-boxes", "pydt-mh", "random"],
        {"pydt-mh": {"n_draws": 5}, "random": {"repeats": 3}},
        [entry("bhmc", tree)],
        np.zeros((40, 2)),
    )
    assert list(used.values()) == [
        {"masking": "boxes"},
        {"sampler": "mh", "n_draws": 5},
        {"alpha": 0.77, "n_levels": 3, "repeats": 3},
    ]


def test_methods_that_never_finished_have_no_exponent(tmp_path):
    page = Page("Title", "lead", tmp_path)
    slow = entry("pydt-sl", small_tree(), stopped_early=True)
    comparison_page.tell_times(page, {10: [slow], 20: [slow]}, "told")
    assert rows_of(tmp_path / "times-by-rows.csv")[0]["exponent"] == "nan"


def test_a_damaged_part_is_made_anew(table, tmp_path):
    assert compare(table, tmp_path / "out", "--methods", "ward,random") == 0
    scores = rows_of(tmp_path / "out" / "scores.csv")
    part = tmp_path / "out" / "parts" / "ward.tree.bhmc"
    part.write_bytes(part.read_bytes()[:100])
    (tmp_path / "out" / "parts" / "random_seed_0.tree.bhmc").unlink()
    assert compare(table, tmp_path / "out", "--methods", "ward,random") == 0
    assert rows_of(tmp_path / "out" / "scores.csv") == scores


@pytest.fixture(scope="module")
def animals(tmp_path_factory) -> Path:
    """A quick run of the experiment; tests must not change it."""
    if not ANIMALS.exists():
        pytest.skip("NOT TESTED: the animals are not here; set BHMC_SHARED_DATA.")
    folder = tmp_path_factory.mktemp("animals") / "out"
    arguments = ["--data", str(ANIMALS), "-o", str(folder), "--quick", "-q"]
    assert main(["reproduce", "animals", *arguments]) == 0
    return folder


def test_animals_end_to_end(animals):
    found = {file.name for file in animals.iterdir()}
    assert {"results.html", "tree.png", "traces.png", "groups.csv", "traces.csv"} <= found
    named = [row["group"] for row in rows_of(animals / "groups.csv")]
    assert named == ["insects", "aggressive mammals", "herbivores", "water animals", "birds"]
    assert len(rows_of(animals / "traces.csv")) == 5
    record = json.loads((animals / "parts" / "bhmc.json").read_text(encoding="utf-8"))
    assert record["recipe"]["settings"]["alpha"] == 0.4
    assert record["facts"]["n_chains"] == 2
    page = (animals / "results.html").read_text(encoding="utf-8")
    assert "from one draw to the next the tree changes" in page


def test_groups_of_the_figure_are_those_of_the_saved_tree(animals):
    tree = Tree.load(animals / "parts" / "bhmc.tree.bhmc")
    for row in rows_of(animals / "groups.csv"):
        members = set(row["animals of the component"].split(", "))
        component = int(row["component"].removeprefix("c"))
        assert len(members) == int((tree.components == component).sum())
        assert int(row["its animals"]) == tree.sizes[int(row["node"])]


def test_animals_are_refused_where_they_are_not(tmp_path, capsys):
    said = refused(capsys, "reproduce", "animals", "--data", tmp_path / "no.csv")
    assert said.startswith("bhmc reproduce: there is no file")


def test_fashion_end_to_end(tmp_path):
    folder = tmp_path / "out"
    assert main(["reproduce", "fashion", "-o", str(folder), "--quick", "-q"]) == 0
    rows = rows_of(folder / "levels-depth.csv")
    assert {row["classes"] for row in rows} == {"3", "5", "10"}
    assert {row["method"] for row in rows} == {
        "BHMC, published settings",
        "control: random nCRP tree",
    }
    page = (folder / "results.html").read_text(encoding="utf-8")
    assert "The threshold for noise of unknown size" in page
    assert (folder / "tree.png").exists()


def test_fashion_has_the_dimensions_of_the_paper():
    """21 or 22 by the known noise, far more by the unknown."""
    from bhmc._experiments import fashion
    from bhmc._experiments.job import Job

    _, data = fashion.load(Job(Path(), ""))
    assert data.X.shape in ((1000, 21), (1000, 22))
    assert data.kept_unknown > 100
    assert data.truth.shape == (1000, 3)


@pytest.fixture(scope="module")
def products(tmp_path_factory) -> Path:
    """A shop of 60 products: two kinds, three of each, with their own words."""
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("shop") / "products.csv"
    lines = ["title,description,category_path,sample_2303"]
    for i in range(60):
        kind, sort = i % 2, i // 2 % 3
        words = " ".join(f"{'ab'[kind]}{'xyz'[sort]}{'klmn'[j]}" for j in rng.integers(4, size=5))
        more = " ".join(f"{'ab'[kind]}common{'pqr'[j]}" for j in rng.integers(3, size=3))
        lines.append(f"{words},{more},top{kind} > sort{sort},{int(i < 50)}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_amazon_end_to_end(products, tmp_path):
    folder = tmp_path / "out"
    arguments = ["--data", str(products), "-o", str(folder), "--quick", "-q"]
    assert main(["reproduce", "amazon", *arguments]) == 0
    rows = rows_of(folder / "scores.csv")
    wanted = settings.read_settings("amazon")["methods"]
    assert list(dict.fromkeys(row["method"] for row in rows)) == wanted
    assert {row["cut"] for row in rows} == {"depth", "matched"}
    ward = next(r for r in rows if (r["method"], r["cut"], r["level"]) == ("ward", "matched", "2"))
    assert float(ward["ari"]) > 0.5  # words tell the classes apart
    of_control = [float(r["ami"]) for r in rows if r["method"] == "random"]
    assert np.mean(of_control) < 0.25
    control = json.loads((folder / "parts" / "random_seed_0.json").read_text())
    fit = Tree.load(folder / "parts" / "bhmc-paper.tree.bhmc")
    assert control["recipe"]["settings"]["alpha"] == pytest.approx(fit.alpha, abs=1e-6)
    assert control["recipe"]["settings"]["n_levels"] == 7
    times = rows_of(folder / "times-by-rows.csv")
    assert len(times) == len(wanted) - 1  # all but the control
    page = (folder / "results.html").read_text(encoding="utf-8")
    assert "Purity and NMI alone prove nothing here" in page
    assert "50 products" in page  # those that are marked
    assert page.count("<img") == 2


def test_words_of_a_table_can_be_compared(products, tmp_path):
    arguments = ["--words", "title,description", "--path", "category_path", "--drop", "sample_2303"]
    arguments += ["--methods", "ward", "-q", "-o", str(tmp_path / "out")]
    assert main(["compare", str(products), *arguments]) == 0
    row = rows_of(tmp_path / "out" / "levels-matched.csv")[-1]
    assert float(row["ARI"]) > 0.5


def test_the_supplement_end_to_end(animals, tmp_path):
    folder = tmp_path / "out"
    arguments = ["--data", str(ANIMALS), "-o", str(folder), "--quick", "-q", "--supplement"]
    assert main(["reproduce", "animals", *arguments]) == 0
    (row,) = rows_of(folder / "supplement.csv")
    assert row["nodes per level"].split()[0] == "1"
    assert (folder / "supplement-niw.png").exists()


def test_next_to_nothing_has_no_sign():
    assert Table(("x",)).said(-1e-5) == "0.000"
    assert Table(("x",)).said(-0.25) == "-0.250"
