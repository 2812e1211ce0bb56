"""What a page says of a fit, against the fit's own methods and against counts by hand."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bhmc import BHMC, Tree
from bhmc._estimator.exploring import source_of_model
from bhmc._explorer.contents import _memberships
from bhmc._explorer.draws import best_matches, draw_arrays, second_arrays, second_places
from bhmc._explorer.shown import shown
from bhmc._explorer.sources import Extras, source_of_tree
from bhmc._explorer.traces import chain_sentences
from bhmc.posterior import node_membership
from bhmc.posterior.diagnostics import Finding
from bhmc.tree.describe import node_phrase
from tests.explorer.fits import zoo_model
from tests.explorer.reading import ragged, read


@pytest.fixture(scope="module")
def model() -> BHMC:
    return zoo_model(4)


def test_nodes_are_those_of_the_tree(page, model):
    info, found = page
    tree = model.tree_
    assert info["title"] == "Animals"
    assert info["n_items"] == info["n_embedded"] == 101
    assert info["trees"][0] == {
        "key": "tree", "label": "fitted tree", "n_nodes": tree.n_nodes, "n_levels": 3, "unit": None,
    }  # fmt: skip
    for name in ("parents", "levels", "sizes"):
        np.testing.assert_array_equal(found[f"tree.{name}"], getattr(tree, name))
    np.testing.assert_allclose(found["tree.support"], tree.support, rtol=1e-6)
    np.testing.assert_array_equal(found["tree.ids"], np.arange(tree.n_nodes))
    np.testing.assert_array_equal(found["tree.leaf"], tree.paths[:, -1])
    phrases = [node_phrase(tree, node, 3, model.node_features_) for node in range(tree.n_nodes)]
    assert found["tree.phrases"] == phrases
    assert any(phrases)


def test_weights_are_the_largest_of_each_node(page, model):
    _, found = page
    weights = model.tree_.weights[:, :-1]
    for node, (which, shares) in enumerate(
        zip(found["tree.weight_of"], found["tree.weights"], strict=True)
    ):
        own = np.sort(weights[node][weights[node] > 0])[::-1][:8]
        known = which >= 0
        np.testing.assert_allclose(shares[known], own, rtol=1e-6)
        np.testing.assert_allclose(shares[known], weights[node, which[known]], rtol=1e-6)
        assert np.isnan(shares[~known]).all()


def test_members_are_those_of_describe(page, model):
    _, found = page
    typical, borderline = ragged(found, "tree.typical"), ragged(found, "tree.borderline")
    for node in range(model.tree_.n_nodes):
        described = model.describe(node, n_members=8)
        assert typical[node] == [one.row for one in described.typical]
        assert borderline[node] == [one.row for one in described.borderline]
    assert any(borderline)


def test_how_firmly_members_belong_is_what_describe_says(model):
    """It is computed for all nodes at once here, by the same draws and to the last bit."""
    tree, draws = model.tree_, model.draws_.partitions
    support, membership = _memberships(source_of_model(model))
    assert (support != membership).any()
    np.testing.assert_array_equal(support, model.path_support_)
    for node in range(tree.n_nodes):
        rows = tree.members(node)
        expected = node_membership(rows, draws)[rows]
        np.testing.assert_array_equal(membership[rows, tree.levels[node]], expected)


def test_effects_are_those_of_describe(page, model):
    _, found = page
    texts = ragged(found, "tree.effects", "tree.effects.text")
    sizes = ragged(found, "tree.effects", "tree.effects.size")
    units = ragged(found, "tree.effects", "tree.effects.is_share")
    for node in range(1, model.tree_.n_nodes):
        one = model.describe(node)
        siblings = one.siblings if one.n_siblings not in (0, one.n_rows - one.size) else ()
        named = [effect.feature for effect in siblings]
        expected = [*siblings, *(effect for effect in one.rest if effect.feature not in named)]
        assert [text.partition(":")[0] for text in texts[node]] == [e.feature for e in expected]
        shares = [e.inside - e.outside if e.kind == "share" else e.effect for e in expected]
        np.testing.assert_allclose(sizes[node], shares, rtol=1e-5)
        assert list(units[node]) == [e.kind == "share" for e in expected]
    birds = next(node for node, said in enumerate(found["tree.phrases"]) if "feathers" in said)
    assert "feathers: 100 % here, 0 % in all other rows" in texts[birds]


def test_items_are_the_rows(page, model):
    _, found = page
    np.testing.assert_array_equal(found["items.row"], np.arange(101))
    assert found["items.names"] == list(model.tree_.names)
    np.testing.assert_array_equal(found["items.component"], model.component_labels_)
    np.testing.assert_allclose(found["items.outlier"], model.outlier_scores_, rtol=1e-6)
    np.testing.assert_allclose(found["items.support"], model.path_support_, rtol=1e-6)


def test_the_dendrogram_has_heights_and_no_only_children(page, model):
    info, found = page
    tree, ids = model.dendrogram_, found["dendrogram.ids"].astype(int)
    assert info["trees"][1]["unit"] == "nats"
    np.testing.assert_allclose(found["dendrogram.heights"], tree.heights[ids], rtol=1e-6)
    np.testing.assert_array_equal(found["dendrogram.sizes"], tree.sizes[ids])
    parents = found["dendrogram.parents"]
    assert (np.bincount(parents[1:]) != 1).all()
    assert (parents[1:] < np.arange(1, len(parents))).all()
    below = np.bincount(found["dendrogram.leaf"], minlength=len(ids))
    for place in range(len(ids) - 1, 0, -1):
        below[parents[place]] += below[place]
    np.testing.assert_array_equal(below, found["dendrogram.sizes"])
    levels = found["dendrogram.levels"]
    np.testing.assert_array_equal(levels[1:], levels[parents[1:]] + 1)


def _best(theirs: set, groups: dict[int, set]) -> int:
    """The group most like a set, counted by hand; -1 below 0.1."""
    jaccard = {node: len(theirs & own) / len(theirs | own) for node, own in groups.items()}
    best = max(jaccard, key=lambda node: (jaccard[node], -node))
    return best if jaccard[best] >= 0.1 else -1


def test_draws_have_the_groups_of_the_partitions(page, model):
    info, found = page
    draws, tree = model.draws_, model.tree_
    match, group = found["draws.match"], found["draws.group"]
    assert match.shape == group.shape == (30, 101, 4)
    assert info["levels_shown"] == ["level 1", "level 2", "level 3", "components"]
    which = np.linspace(0, len(draws.partitions) - 1, 30).round().astype(int)
    np.testing.assert_array_equal(found["draws.chain"], draws.partition_index[which, 0])
    assert set(found["draws.chain"]) == {0, 1}
    assert (match[:, :, 3] == -1).all()
    for t in (0, 13, 29):
        draw = draws.partitions[which[t]]
        labels = [*draw.paths(3).T[1:], draw.component]
        for level, own in enumerate(labels):
            pairs = set(zip(own.tolist(), group[t, :, level].tolist(), strict=True))
            assert len(pairs) == len(np.unique(own)) == len(np.unique(group[t, :, level]))
        nodes = labels[1]
        ours = {node: set(tree.members(node)) for node in np.flatnonzero(tree.levels == 2).tolist()}
        for node in np.unique(nodes):
            rows = set(np.flatnonzero(nodes == node).tolist())
            assert set(match[t, sorted(rows), 1]) == {_best(rows, ours)}


def test_best_matches_break_ties_by_the_lowest_and_leave_out_the_unlike():
    ours = np.repeat([3, 1, 2, 4], [2, 2, 20, 10])
    theirs = np.repeat([0, 1, 2, 3, 4], [4, 19, 1, 9, 1])
    # Group 2 is 1 of 20 rows, and group 4 is 1 of 10: a tenth is like it.
    assert best_matches(theirs, ours).tolist() == [1, 2, -1, 4, 4]
    many = np.arange(400)  # more pairs than are counted in a table
    np.testing.assert_array_equal(best_matches(many, many[::-1]), many[::-1])


def test_second_places_are_counted_over_draws(page, model):
    _, found = page
    draws, own = model.draws_.partitions, model.tree_.paths[:, -1]
    counted = np.linspace(0, len(draws) - 1, 100).round().astype(int)
    leaves = {node: set(model.tree_.members(node)) for node in model.tree_.leaves.tolist()}
    seen = []
    for one in counted:
        leaf = draws[one].leaf
        best = {
            node: _best(set(np.flatnonzero(leaf == node).tolist()), leaves)
            for node in np.unique(leaf)
        }
        seen.append([best[node] for node in leaf])
    elsewhere = 0
    for item in range(101):
        places = Counter(node for node in (row[item] for row in seen) if node >= 0)
        here = places.pop(int(own[item]), 0)
        np.testing.assert_allclose(found["items.own_share"][item], here / 100, atol=1e-6)
        best = max(places, key=lambda node: (places[node], -node)) if places else -1
        assert found["items.second"][item] == best
        share = places[best] / 100 if places else 0
        np.testing.assert_allclose(found["items.second_share"][item], share, atol=1e-6)
        elsewhere += bool(places)
    assert elsewhere > 0


def test_second_places_of_some_rows_are_those_of_all(model):
    rows = np.array([5, 63, 100])
    some = second_places(model.tree_, model.draws_, rows)
    every = second_places(model.tree_, model.draws_, np.arange(101))
    for part, whole in zip(some, every, strict=True):
        np.testing.assert_array_equal(part, whole[rows])


def test_draws_name_places_of_the_page_where_nodes_are_left_out(model):
    tree, draws = model.tree_, model.draws_
    nodes, rows = shown(tree, 6), np.arange(101)
    assert len(nodes.ids) == 6
    match = draw_arrays(nodes, draws, rows, rows)["draws.match"]
    every = draw_arrays(shown(tree), draws, rows, rows)["draws.match"]  # ids are places there
    assert match.max() < 6 <= every.max()
    np.testing.assert_array_equal(match, np.where(every < 0, -1, nodes.place[every]))
    second = second_places(tree, draws, rows)
    assert second_arrays(nodes, second)["items.second"].max() < 6 <= second.node.max()


def test_traces_and_what_is_said_of_chains(page, model):
    info, found = page
    numbers, table = model.draws_.numbers(), model.diagnostics_.table
    place = found["traces.names"].index("log joint density")
    np.testing.assert_allclose(found["traces.values"][place], numbers["log_joint"], rtol=1e-6)
    level = found["traces.names"].index("number of nodes at level 2")
    rhat = table["rhat"][list(table["name"]).index("nodes_at[2]")]
    np.testing.assert_allclose(found["traces.rhat"][level], rhat, rtol=1e-6)
    assert found["traces.values"].shape == (len(found["traces.names"]), 2, 60)
    assert not any("[" in name for name in found["traces.names"])
    assert info["chains"]["converged"] == model.diagnostics_.converged
    said = " ".join(info["chains"]["sentences"])
    assert f"The highest R-hat is {model.diagnostics_.worst_rhat:.2f}" in said
    assert "2 chains of 60 draws" in said
    assert "[" not in said


def test_numbers_are_called_by_words(model):
    """A pair of rows is called by their names."""
    what = "together[0] (rows 8 and 21) differs between chains (R-hat 1.30)"
    found = replace(model.diagnostics_, findings=(Finding(what, "run longer"),))
    one, two = model.tree_.names[model.draws_.pairs[0]]
    said = chain_sentences(model.tree_, model.draws_, found)
    assert said[0].startswith("2 chains of 60 draws have not converged.")
    sentence = f"{one} and {two} in one component differs between chains (R-hat 1.30)."
    assert f"{sentence[0].upper()}{sentence[1:]}" in said


def test_names_that_a_person_gave_are_there(tmp_path, model):
    tree = model.tree_.rename({1: "mammals </script>"})
    _, found = read(tree.explore(tmp_path / "a.html"))
    assert found["tree.names"][:3] == ["", "mammals </script>", ""]


def test_a_tree_alone_has_no_draws(tmp_path, model):
    info, found = read(model.tree_.explore(tmp_path / "a.html"))
    assert info["chains"] is None
    assert info["levels_shown"] == []
    assert not [name for name in found if name.startswith(("draws.", "traces.", "compare."))]
    assert np.isnan(found["items.support"]).all()
    assert not [name for name in found if name.startswith(("items.second", "items.own_share"))]
    assert found["tree.effects.text"][0].endswith("the mean of all rows")


def test_weights_that_are_no_numbers(tmp_path, model):
    weights = model.tree_.weights.copy()
    weights[1, :3] = np.nan, np.inf, -np.inf
    _, found = read(replace(model.tree_, weights=weights).explore(tmp_path / "a.html"))
    assert not set(found["tree.weight_of"][1].tolist()) & {0, 1, 2}
    assert np.isfinite(found["tree.weights"][found["tree.weight_of"] >= 0]).all()


def test_what_a_model_opens_with(monkeypatch):
    monkeypatch.setattr("bhmc._estimator.summary.opens_with", lambda model: "dendrogram")
    monkeypatch.setattr("bhmc._estimator.summary.opened_tree", lambda model: model.dendrogram_)
    assert source_of_model(zoo_model(4)).opens_with == "dendrogram"


def test_a_tree_of_merges_has_units_and_no_only_children(tmp_path):
    tree = Tree.from_parents([-1, 0, 0, 1, 1], [2, 3, 3, 4], heights=[5.0, 2.0, 0.0, 0.0, 0.0])
    assert tree.n_nodes == 6
    info, found = read(tree.explore(tmp_path / "a.html"))
    assert info["trees"][0]["unit"] == "units"
    assert found["tree.ids"].tolist() == [0, 1, 2, 3, 4]
    assert found["tree.heights"].tolist() == [5, 2, 0, 0, 0]
    assert source_of_tree(tree).about == ("Tree of 4 rows, 6 nodes.",)
    assert Extras().max_items == 20_000
