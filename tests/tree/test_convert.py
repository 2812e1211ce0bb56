"""What a tree is turned into, read back by the library it is for and compared value by value."""

import io
import json
import sys
import time
from dataclasses import fields, replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from Bio import Phylo
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from bhmc import Tree
from tests.tree.trees import (
    assert_same,
    full_random_trees,
    full_tree,
    large_tree,
    rows_under,
    shuffled,
    small_state,
    state_of,
)

COLUMNS = ["id", "parent", "level", "label", "size", "support", "exact_support"]
COLUMNS += ["n_components", "main_component", "main_share", "features"]


def trees():
    for tree in full_random_trees():
        yield tree
        yield shuffled(tree)


def bare_tree():
    """The small tree without anything optional."""
    return Tree.from_state(small_state())


# ---- Tables ----


def test_table_of_nodes():
    for tree in trees():
        table = replace(tree, merged=None, node_names=None).nodes()
        assert list(table) == COLUMNS
        np.testing.assert_array_equal(table["id"], np.arange(tree.n_nodes))
        np.testing.assert_array_equal(table["parent"], tree.parents)
        np.testing.assert_array_equal(table["level"], tree.levels)
        np.testing.assert_array_equal(table["size"], tree.sizes)
        np.testing.assert_array_equal(table["support"], tree.support)
        np.testing.assert_array_equal(table["exact_support"], tree.exact_support)
        for node in range(tree.n_nodes):
            counts = np.bincount(tree.components[rows_under(tree, node)])
            assert table["n_components"][node] == (counts > 0).sum()
            assert table["main_component"][node] == counts.argmax()  # the first of equals
            assert table["main_share"][node] == counts.max() / tree.sizes[node]


def slow_z(tree, node):
    """Differences of a node in standard deviations, by the definition."""
    means = tree.component_means[tree.components[rows_under(tree, node)]]
    return (means.mean(axis=0) - tree.feature_means) / tree.feature_scales


def test_top_features():
    for tree in trees():
        texts = tree.nodes(n_features=2)["features"]
        for node in range(tree.n_nodes):
            z = slow_z(tree, node)
            names, values = zip(*tree.top_features(node, n=3), strict=True)
            columns = [tree.feature_names.tolist().index(name) for name in names]
            assert sorted(columns) == [0, 1, 2]
            np.testing.assert_allclose(values, z[columns], atol=1e-12)
            assert (np.diff(np.abs(values)) <= 0).all()
            best = tree.top_features(node, n=2)
            assert best == tree.top_features(node, n=9)[:2]
            expected = ", ".join(f"{name} {v:+.1f}" for name, v in best if abs(v) >= 0.05)
            assert texts[node] == expected
        assert texts[0] == ""  # the root is all data


def test_features_by_hand():
    tree = replace(
        bare_tree(),
        component_means=np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, np.nan]]),
        feature_means=np.array([2.0, 4.0]),
        feature_scales=np.array([0.5, 2.0]),
    )
    # Node 1: four of component 0, one of component 1, which has no entry in column 1.
    assert tree.top_features(1) == [("x0", pytest.approx(-1.2)), ("x1", 0.5)]
    # Node 6: one of component 1, one of component 2; nobody has an entry in column 1.
    assert tree.top_features(6, n=1) == [("x0", 2.0)]
    assert tree.nodes()["features"][6] == "x0 +2.0"
    assert tree.nodes(n_features=0)["features"][6] == ""


def test_features_in_blocks(monkeypatch):
    tree = next(full_random_trees(1))
    whole = tree.nodes()["features"].tolist()
    monkeypatch.setattr("bhmc.tree.table._BLOCK", 7)
    assert tree.nodes()["features"].tolist() == whole


def test_what_is_not_known():
    table = bare_tree().nodes()
    assert np.isnan(table["support"]).all()
    assert np.isnan(table["exact_support"]).all()
    assert (table["features"] == "").all()
    with pytest.raises(ValueError, match="does not carry component_means"):
        bare_tree().top_features(0)


def test_frame_round_trip():
    for tree in trees():
        table, frame = tree.nodes(), tree.to_frame()
        assert list(frame.columns) == ["id", "name", *COLUMNS[1:], "merged"]
        text = frame.to_csv(index=False)
        again = pd.read_csv(io.StringIO(text), keep_default_na=False)
        for name, column in table.items():
            assert frame[name].tolist() == column.tolist()
            if column.dtype == float:  # older pandas read the last digit of a float roughly
                np.testing.assert_allclose(again[name], column, rtol=1e-15)
            else:
                assert again[name].tolist() == column.tolist()


# ---- Newick ----


def parsed(text):
    return Phylo.read(io.StringIO(text), "newick")


def compare_with_clades(tree, root, *, names, length):
    """Walk both from the root down; returns how many clades there are."""
    seen, stack = 0, [(0, root)]
    while stack:
        node, clade = stack.pop()
        seen += 1
        assert clade.branch_length == (length if node else None)
        if tree.levels[node] < tree.n_levels:
            children = tree.children(node)
            assert len(clade.clades) == len(children)
            stack.extend(zip(children.tolist(), clade.clades, strict=True))
            continue
        assert [tip.name for tip in clade.clades] == [names[i] for i in rows_under(tree, node)]
        assert all(tip.branch_length == length and not tip.clades for tip in clade.clades)
        seen += len(clade.clades)
    return seen


@pytest.mark.parametrize("lengths", [True, False])
def test_newick_round_trip(lengths):
    for tree in trees():
        root = parsed(tree.to_newick(lengths=lengths)).root
        length = 1.0 if lengths else None
        seen = compare_with_clades(tree, root, names=tree.names.tolist(), length=length)
        assert seen == tree.n_nodes + len(tree.paths)
        stack = [(0, root)]
        while stack:
            node, clade = stack.pop()
            assert clade.name == f"n{node}"
            if tree.levels[node] < tree.n_levels:
                stack.extend(zip(tree.children(node).tolist(), clade.clades, strict=True))


def test_newick_with_support():
    support = np.array([1, 1 / 3, np.nan, 0.1 + 0.2, 1e-5, 0, 0.5])
    tree = replace(full_tree(), support=support, heights=None)
    root = parsed(tree.to_newick(labels="support")).root
    clades = [root, *root.clades, *root.clades[0].clades, *root.clades[1].clades]
    found = [np.nan if clade.confidence is None else clade.confidence for clade in clades]
    np.testing.assert_array_equal(found, tree.support)
    assert "n" not in bare_tree().to_newick(labels="none")
    with pytest.raises(ValueError, match="labels='names' is not known"):
        tree.to_newick(labels="names")


def test_newick_by_hand():
    assert bare_tree().to_newick(lengths=False) == (
        "(((2,3,5)n3,(0)n4,(6)n5)n1,((1,4)n6)n2)n0;"  # rows by number, without names
    )
    assert bare_tree().to_newick("abcdefg", labels="none") == (
        "(((c:1,d:1,f:1):1,(a:1):1,(g:1):1):1,((b:1,e:1):1):1);"
    )
    assert bare_tree().to_newick(items=False) == "((n3:1,n4:1,n5:1)n1:1,(n6:1)n2:1)n0;"
    with pytest.raises(ValueError, match="names must hold 7 names, got 2"):
        bare_tree().to_newick("ab")


def test_newick_quotes_where_it_must():
    names = ["sea lion", "a,b", "(x)", "a:b;c", "[comment]", "under_score", "Bär"]
    root = parsed(bare_tree().to_newick(names)).root
    assert compare_with_clades(bare_tree(), root, names=names, length=1.0) == 14
    text = bare_tree().to_newick(["cat", "it's", "''", "_", "", "x-1.5", 'a"b'])
    # Bio.Phylo does not know the format's own word for a quote, two of them: so by eye.
    assert text == (
        "((('''''':1,'_':1,x-1.5:1)n3:1,(cat:1)n4:1,('a\"b':1)n5:1)n1:1,(('it''s':1,'':1)n6:1)n2:1)n0;"
    )


# ---- Linkage ----


def same_partition(one, other):
    pairs = {(a, b) for a, b in zip(one, other, strict=True)}
    return len(pairs) == len(set(one)) == len(set(other))


def many_rows(tree):
    return len(tree.paths) > 1


def test_linkage_has_every_level():
    for tree in filter(many_rows, trees()):
        linkage = tree.to_linkage()
        assert hierarchy.is_valid_linkage(linkage, throw=True)
        assert hierarchy.is_monotonic(linkage)
        for level in range(tree.n_levels + 1):
            height = tree.n_levels + 1.5 - level
            labels = hierarchy.fcluster(linkage, height, "distance")
            assert same_partition(labels, tree.labels_at(level))
        # Two rows merge where their paths part, for every pair.
        shared = (tree.paths[:, None] == tree.paths[None]).sum(axis=2) - 1
        heights = tree.n_levels + 1.0 - shared
        np.fill_diagonal(heights, 0)
        np.testing.assert_array_equal(squareform(hierarchy.cophenet(linkage)), heights)


def test_linkage_holds_every_node():
    """SciPy's own tree has a cluster for the members of each node, at the node's height."""
    for tree in filter(many_rows, trees()):
        _, clusters = hierarchy.to_tree(tree.to_linkage(), rd=True)
        found = {tuple(sorted(one.pre_order())): one for one in clusters}
        for node in range(tree.n_nodes):
            cluster = found[tuple(tree.members(node))]
            assert cluster.get_count() == tree.sizes[node]
            assert cluster.dist <= tree.n_levels + 1 - tree.levels[node]
            if len(tree.children(node)) > 1:
                assert cluster.dist == tree.n_levels + 1 - tree.levels[node]


def test_dendrogram_has_the_order_of_the_tree():
    for tree in filter(many_rows, trees()):
        leaves = hierarchy.dendrogram(tree.to_linkage(), no_plot=True)["leaves"]
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            stack.extend(tree.children(node)[::-1].tolist())
            order += tree.members(node).tolist() if tree.levels[node] == tree.n_levels else []
        assert leaves == order


def test_linkage_of_few_rows_and_of_one_full_leaf():
    one = Tree.from_state(state_of([[0, 1]], [0], [-1, 0]))
    assert one.to_linkage().shape == (0, 4)
    n = 3000
    full = Tree.from_state(state_of([[0, 1]] * n, [0] * n, [-1, 0]))
    # SciPy draws by recursion: merges one by one would end in a RecursionError.
    drawn = hierarchy.dendrogram(full.to_linkage(), no_plot=True)
    assert drawn["leaves"] == list(range(n))


# ---- networkx ----


def compare_with_graph(tree, graph, key=int):
    """Compare nodes and edges; `key` gives the id back from what a file made of it."""
    nodes = {key(node): about for node, about in graph.nodes.items() if about["kind"] == "node"}
    assert sorted(nodes) == list(range(tree.n_nodes))
    for name, column in tree.nodes().items():
        for node, value in enumerate(column.tolist()):
            if name in ("id", "parent") or value == "":
                assert name not in nodes[node]
            else:
                assert nodes[node][name] == value
                assert type(nodes[node][name]) is type(value)
    edges = {(key(a), key(b)) for a, b in graph.edges if graph.nodes[b]["kind"] == "node"}
    assert edges == {(int(tree.parents[z]), z) for z in range(1, tree.n_nodes)}


def test_graph_round_trip():
    for tree in trees():
        graph = tree.to_networkx()
        assert nx.is_arborescence(graph)
        compare_with_graph(tree, graph)
        file = io.BytesIO()
        nx.write_graphml(graph, file)
        file.seek(0)
        compare_with_graph(tree, nx.read_graphml(file))


def test_graph_with_items():
    tree = full_tree()
    graph = tree.to_networkx(items=True)
    assert nx.is_arborescence(graph)
    compare_with_graph(tree, graph)
    items = {key: about for key, about in graph.nodes.items() if about["kind"] == "item"}
    assert [about["row"] for about in items.values()] == list(range(7))
    assert [about["name"] for about in items.values()] == tree.names.tolist()
    assert [about["component"] for about in items.values()] == tree.components.tolist()
    for key, about in items.items():
        assert list(graph.predecessors(key)) == [tree.paths[about["row"], -1]]
    assert bare_tree().to_networkx(items=True).nodes["item 3"]["name"] == "3"


def test_graph_leaves_out_what_is_not_known():
    for about in bare_tree().to_networkx().nodes.values():
        assert not {"support", "exact_support", "features", "merged"} & set(about)


# ---- JSON ----


def test_json_round_trip():
    for tree in trees():
        assert_same(Tree.from_json(tree.to_json()), tree)
    assert_same(Tree.from_json(bare_tree().to_json()), bare_tree())


def test_support_in_json_of_version_1_was_exact():
    tree = full_tree()
    content = json.loads(tree.to_json())
    assert content["version"] == 2
    old = content | {"version": 1, "support": content["exact_support"]}
    del old["exact_support"]
    assert_same(Tree.from_json(json.dumps(old)), replace(tree, support=None))
    del old["support"]
    bare = replace(tree, support=None, exact_support=None)
    assert_same(Tree.from_json(json.dumps(old)), bare)


def test_json_keeps_odd_numbers():
    tree = replace(
        full_tree(),
        support=np.array([1, np.nan, 0.1 + 0.2, 1 / 3, 5e-324, -0.0, 1]),
        theta=np.array([[np.inf], [-np.inf], [1e308]]),
        shared=np.array([np.nan]),
        alpha=0.1 + 0.2,
    )
    text = tree.to_json()
    json.loads(text, parse_constant=pytest.fail)  # strict JSON has no NaN
    twin = Tree.from_json(text)
    assert_same(twin, tree)
    np.testing.assert_array_equal(np.signbit(twin.support), np.signbit(tree.support))


@pytest.mark.parametrize(
    "names",
    [
        np.array(["NaN", "Infinity", "ä", '"', "\n", "", "x"]),
        np.arange(7),
        np.array(["a", 1, 2.5, True, "b", "c", 7], dtype=object),
    ],
)
def test_json_keeps_names(names):
    twin = Tree.from_json(replace(full_tree(), names=names).to_json())
    assert twin.names.tolist() == names.tolist()
    assert [type(name) for name in twin.names.tolist()] == [type(name) for name in names.tolist()]


def test_names_that_json_does_not_know_become_text():
    days = np.array(["2024-05-01"] * 7, dtype="datetime64[ns]")
    assert Tree.from_json(replace(full_tree(), names=days).to_json()).names[0][:10] == "2024-05-01"
    pairs = np.empty(7, dtype=object)
    pairs[:] = [("a", i) for i in range(7)]
    assert Tree.from_json(replace(full_tree(), names=pairs).to_json()).names[2] == "('a', 2)"


def changed(**changes):
    content = json.loads(full_tree().to_json())
    content.update(changes)
    return json.dumps({key: value for key, value in content.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "this text is not JSON: .*line 1 column 2"),
        ("[1, 2]", "not a tree that Tree.to_json wrote"),
        ('{"parents": [-1]}', "not a tree that Tree.to_json wrote"),
        (changed(version=99), "of version 99 of the format and this bhmc reads versions 1 to 2"),
        (changed(parents=None), "not a whole tree: 'parents' is missing"),
        (changed(sizes=[1, 2]), "'sizes' holds 2 entries and should hold 7"),
        (changed(names=["a"] * 6), "'names' holds 6 entries and should hold 7"),
        (changed(paths=[[0, 1, 6]] * 7), "its paths do not follow its parents"),
        (changed(paths=[[0, 1, 99]] * 7), "its paths do not follow its parents"),
        (changed(paths=[[1, 3]] * 7), "its paths do not follow its parents"),
        (changed(theta=[[1.0], [1.0, 2.0]]), "'theta' of this JSON is not an array of numbers"),
    ],
)
def test_json_that_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        Tree.from_json(text)


def test_json_has_every_field():
    """A field added to `Tree` must be written too."""
    content = json.loads(full_tree().to_json())
    assert set(content) == {field.name for field in fields(Tree)} | {"format", "version"}


# ---- Without the extras, and in size ----


@pytest.mark.parametrize(
    ("package", "method"), [("pandas", "to_frame"), ("networkx", "to_networkx")]
)
def test_without_the_extra(package, method, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{method} needs {package}: .*bhmc\[{package}\]"):
        getattr(full_tree(), method)()
    full_tree().nodes()  # needs neither


@pytest.mark.parametrize(
    ("n", "n_nodes"),
    [(30_000, 20_061), pytest.param(150_000, 100_301, marks=pytest.mark.exact_long)],
)
def test_100_000_nodes(n, n_nodes):
    """Each view in a second for every 10,000 data; `make exact` has 100,301 nodes."""
    tree = large_tree(n)
    assert tree.n_nodes == n_nodes
    views = {
        "members": lambda: sum(len(tree.members(node)) for node in range(tree.n_nodes)),
        "table": lambda: len(tree.nodes()["features"]),
        "cut": lambda: tree.cut(n_clusters=n // 3).max() + 1,
        "cut by support": lambda: len(tree.cut(min_support=0.3)),
        "prune": lambda: tree.prune(min_size=3).sizes[0],
        "text": lambda: tree.to_text().count("\n"),
        "newick": lambda: tree.to_newick().count("item"),
        "linkage": lambda: len(tree.to_linkage()),
        "networkx": lambda: len(tree.to_networkx()),
        "JSON": lambda: Tree.from_json(tree.to_json()).n_nodes,
    }
    answers = {}
    for name, view in views.items():
        start = time.process_time()
        answers[name] = int(view())
        assert time.process_time() - start < n / 10_000, name
    chains = (np.bincount(tree.parents[1:], minlength=tree.n_nodes) == 1).sum()
    assert answers == {
        "members": 4 * n,
        "table": n_nodes,
        "cut": n // 3,
        "cut by support": n,
        "prune": n,
        "text": n_nodes - chains - 1,
        "newick": n,
        "linkage": n - 1,
        "networkx": n_nodes,
        "JSON": n_nodes,
    }


def test_3000_levels():
    """Two arms of 3,000 nodes: no view is recursive."""
    depth = 3000
    one = np.arange(1, 2 * depth, 2)
    parents = np.concatenate([[-1, 0, 0], np.arange(1, 2 * depth - 1)])
    state = state_of([[0, *one], [0, *one + 1], [0, *one]], [0, 1, 0], parents)
    tree = Tree.from_state(state)
    assert tree.to_newick(lengths=False).count("(") == 2 * depth + 1
    np.testing.assert_array_equal(tree.to_linkage()[:, 2], [1, depth + 1])
    np.testing.assert_array_equal(tree.cut(2), [0, 1, 0])
    assert len(tree.ancestors(tree.n_nodes - 1)) == depth
    assert tree.prune(2).n_nodes == tree.n_nodes
    assert tree.to_networkx().number_of_edges() == 2 * depth
    assert_same(Tree.from_json(tree.to_json()), tree)
