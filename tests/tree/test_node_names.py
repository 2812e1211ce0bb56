"""Names on nodes: put on, taken away, and kept wherever a tree goes."""

import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from Bio import Phylo

from bhmc import Tree
from bhmc._io.archive import read
from tests.io.saving_values import edited
from tests.tree.tree_factory import small_tree
from tests.tree.trees import assert_same, full_tree


@pytest.fixture
def tree():
    """Node 1 and its only descendants hold 5 of 7 data, node 2 the others; see `small_state`."""
    return replace(full_tree(), heights=None, merged=None, node_names=None)


def test_rename_returns_a_new_tree(tree):
    named = tree.rename({1: "birds", 2: "fish"})
    assert tree.node_names is None
    assert named.node_names.tolist() == ["", "birds", "fish", *[""] * (tree.n_nodes - 3)]
    assert_same(replace(named, node_names=None), tree)
    again = named.rename({"birds": "songbirds", 2: None})
    assert again.node_names.tolist()[1:3] == ["songbirds", ""]
    assert again.rename({1: ""}).node_names is None


def test_names_are_in_text_table_newick_and_graph(tree):
    named = tree.rename({0: "animals", 1: "birds", 2: "sea fish"})
    lines = named.to_text().splitlines()
    assert lines[0].startswith("animals [root] 7")
    assert sum(line.startswith("├── birds [1] 5") for line in lines) == 1
    assert sum("sea fish [2 > " in line for line in lines) == 1
    assert "name" not in tree.nodes()
    assert named.nodes()["name"].tolist()[:4] == ["animals", "birds", "sea fish", ""]
    assert list(named.to_frame().columns[:2]) == ["id", "name"]
    clades = {
        clade.name for clade in Phylo.read(StringIO(named.to_newick()), "newick").find_clades()
    }
    assert {"animals", "birds", "sea fish", "n3"} <= clades
    assert not {"n0", "n1", "n2"} & clades
    leaf = int(np.flatnonzero(tree.levels == tree.n_levels)[0])
    assert "'a leaf'" in tree.rename({leaf: "a leaf"}).to_newick(items=False)
    graph = named.to_networkx()
    assert graph.nodes[1]["name"] == "birds"
    assert "name" not in graph.nodes[3]


def test_a_chain_says_every_name_once(tree):
    child = int(tree.children(2)[0])
    assert "fish [2 > " in tree.rename({2: "fish", child: "fish"}).to_text()
    assert "fish > eels [2 > " in tree.rename({2: "fish", child: "eels"}).to_text()


def test_names_survive_json_and_files(tree, tmp_path):
    named = tree.rename({1: "Vögel", 2: "it's fish"})
    assert_same(Tree.from_json(named.to_json()), named)
    named.save(tmp_path / "t")
    assert_same(Tree.load(tmp_path / "t"), named)
    content = json.loads(named.to_json())
    content["node_names"] = content["node_names"][1:]
    with pytest.raises(ValueError, match="'node_names' holds"):
        Tree.from_json(json.dumps(content))


def test_a_file_without_names_loads(tree, tmp_path):
    tree.save(tmp_path / "t")
    edited(tmp_path / "t", lambda header: header["value"].pop("node_names"))
    assert read(tmp_path / "t").node_names is None


def test_prune_keeps_the_names_of_nodes_that_keep_their_data():
    tree = small_tree(n=60, alpha=4.0)
    every = tree.rename({node: f"node {node}" for node in range(tree.n_nodes)})
    pruned = every.prune(4)
    assert pruned.n_nodes < tree.n_nodes
    for node, name in enumerate(pruned.node_names.tolist()):
        if name:
            members = tree.members(int(name.removeprefix("node ")))
            np.testing.assert_array_equal(pruned.members(node), members)
        else:
            assert pruned.merged[node] > 1
    assert (pruned.merged > 1).any()


def test_refusals(tree):
    for names, error, words in (
        ([(1, "a")], TypeError, "rename takes a dict"),
        ({1: 3}, TypeError, "must be text, or None"),
        ({1: "a\nb"}, ValueError, "one line without spaces at its ends"),
        ({1: " a"}, ValueError, "one line without spaces"),
        ({999: "a"}, ValueError, f"node must be at most {tree.n_nodes - 1}, got 999"),
        ({"birds": "a"}, ValueError, "no node of the tree is called 'birds'"),
        ({1.0: "a"}, TypeError, "the id or the name of a node, got 1.0"),
    ):
        with pytest.raises(error, match=words):
            tree.rename(names)
    twice = tree.rename({1: "same", 2: "same"})
    with pytest.raises(ValueError, match="2 nodes are called 'same', nodes 1, 2: give the id"):
        twice.rename({"same": "other"})
