"""Trees of `transition="diffused"`, and what is in their branches: `make pictures`.

    python -m docs.make_branch_pictures [zoo fashion wordnet]

For every top branch this prints what sets it apart without any label: features, words, typical
members; the picture of images has the images. Only then come the known classes of its rows.
"""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from benchmarks import tables
from docs.cached_fits import cached_fit
from docs.sketch import save
from sklearn.feature_extraction.text import CountVectorizer

from bhmc import datasets, plotting
from bhmc.posterior.membership import node_membership
from bhmc.tree import describe
from bhmc.tree.node_features import node_features

# 500 sweeps a chain: a first look. n_draws="auto" would go on until the chains agree.
SETTINGS = {"transition": "diffused", "n_levels": 3, "n_draws": 300, "random_state": 0}
MOST_BRANCHES = 12
MOST_WORDS = 1500


@dataclass(frozen=True)
class Table:
    """Data to fit, and what is only looked at afterwards."""

    X: Any
    classes: list[str]
    """The class of each row, for the last lines of a branch."""
    names: list[str] | None = None
    texts: list[str] | None = None
    images: Any = None


def zoo():
    """101 animals with names; 7 types."""
    bunch = datasets.load_zoo(as_frame=True)
    names = [str(name) for name in bunch.names]
    classes = [str(bunch.target_names[code]) for code in bunch.target]
    return Table(bunch.data.set_axis(names), classes, names=names)


def fashion():
    """1,000 images of clothes in 22 singular directions; 10 kinds."""
    X, _ = tables.fashion()
    bunch = datasets.load_fashion_mnist_sample()
    classes = [str(bunch.level_names[-1][code]) for code in bunch.levels[:, -1]]
    return Table(X, classes, images=bunch.images)


def wordnet():
    """2,775 things and their glosses in 40 singular directions of words; 8 kinds of thing."""
    X, _ = tables.wordnet()
    bunch = datasets.load_wordnet_things()
    classes = [str(bunch.level_names[0][code]) for code in bunch.levels[:, 0]]
    return Table(X, classes, names=[str(name) for name in bunch.names], texts=bunch.data)


TABLES = {"zoo": zoo, "fashion": fashion, "wordnet": wordnet}


def top_branches(tree):
    """The nodes of the first level that parts the rows, largest first; chains above are skipped."""
    for level in range(1, tree.n_levels + 1):
        nodes = np.unique(tree.paths[:, level])
        if len(nodes) > 1:
            break
    return nodes[np.argsort(-tree.sizes[nodes], kind="stable")].tolist()


def of_words(model, texts, names=None):
    """The tree of a model with words for features, and what words set its nodes apart."""
    counts = CountVectorizer(binary=True, stop_words="english", min_df=5, max_features=MOST_WORDS)
    has_word = counts.fit_transform(texts).toarray().astype(float)
    words = counts.get_feature_names_out()
    names = None if names is None else np.array(names)
    tree = replace(model.tree_, feature_names=words, names=names)
    features = node_features(tree, lambda: iter([has_word]), np.zeros(has_word.shape[1], bool))
    return tree, features


def by_words(model, texts, names=None):
    """A function as `model.describe`, of the words that are in the texts of a node."""
    tree, features = of_words(model, texts, names)

    def described(node):
        members = node_membership(tree.members(node), model.draws_.partitions)
        return describe.describe_node(tree, node, features, members, 8, 5)

    return described


def main_class(classes, members):
    """(name, share) of the commonest class of some rows."""
    (name, count), *_ = Counter(classes[row] for row in members).most_common(1)
    return name, count / len(members)


def told(model, table):
    """Lines on every top branch: what sets it apart, and after that its classes."""
    has_texts = table.texts is not None
    describe_node = by_words(model, table.texts, table.names) if has_texts else model.describe
    tree, branches = model.tree_, top_branches(model.tree_)
    lines = [f"{len(branches)} top branches, the {MOST_BRANCHES} largest at most are described."]
    shown = branches[:MOST_BRANCHES]
    if table.images is None:
        lines += [line for node in shown for line in ("", str(describe_node(node)))]
    else:
        lines += [f"Node {node}: {tree.sizes[node]:,} images" for node in shown]
    lines += ["", "The known classes of these branches, which no fit has seen:"]
    for node in shown:
        name, share = main_class(table.classes, tree.members(node))
        lines.append(f"  node {node:4}: {tree.sizes[node]:5,} rows, {share:4.0%} {name}")
    return lines


def draw(model, table, name):
    """The tree as a picture; images in the place of names where there are images."""
    if table.images is not None:
        ax = plotting.plot_thumbnails(model, table.images, max_nodes=40, min_size=15, per_node=14)
    else:
        if table.texts is not None:
            tree, features = of_words(model, table.texts, table.names)
            model = SimpleNamespace(tree_=tree, node_features_=features)
        ax = plotting.plot_tree(model, names=table.names, max_nodes=32)
    save(ax.figure, f"diffused-{name}", tight=False)


def main(names=()):
    """Fit or find the fit, print, draw."""
    for name in names or TABLES:
        table = TABLES[name]()
        model = cached_fit(f"diffused-{name}", table.X, **SETTINGS)
        print(f"\n==== {name}: {'/'.join(map(str, np.bincount(model.tree_.levels)))} nodes ====")
        print("\n".join(told(model, table)))
        draw(model, table, name)


if __name__ == "__main__":
    main(sys.argv[1:])
