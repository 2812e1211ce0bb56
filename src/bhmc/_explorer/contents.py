"""`contents`: all that a page holds, as one block of bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bhmc._explorer.comparison import compare_arrays, compare_rows, compare_sentences
from bhmc._explorer.container import Arrays, pack
from bhmc._explorer.draws import (
    MOST_ITEMS,
    draw_arrays,
    second_arrays,
    second_places,
)
from bhmc._explorer.effects import Effect, Members, described, described_by_means
from bhmc._explorer.images import check_images, pictures
from bhmc._explorer.items import chosen_rows, first_different, item_arrays, oddest
from bhmc._explorer.nodes import (
    effect_arrays,
    largest,
    member_arrays,
    node_arrays,
    node_phrases,
)
from bhmc._explorer.shown import Shown, shown
from bhmc._explorer.sources import Extras, Source
from bhmc._explorer.traces import chain_sentences, trace_arrays
from bhmc._validation.parameters import check_whole
from bhmc.metrics._compare_trees import TreeComparison, compare_trees
from bhmc.posterior.summary import evenly_spaced
from bhmc.posterior.support import path_support
from bhmc.tree import Tree
from bhmc.tree.html import count
from bhmc.tree.node_features import NodeFeatures

# Nodes whose effects and members are told, the largest.
_MOST_DESCRIBED = 300
# Draws that `BHMC.describe` looks at, and rows from which on `path_support_` stands in for them.
_MOST_MEMBERSHIP, _MANY_ROWS = 100, 100_000
_SUPPORT = (
    "Support says how well the draws have a group: the best match of its rows with a group of a "
    "draw (rows in both over rows in either), on average over the draws. At 100 % every draw has "
    "exactly this group."
)


class _Page(NamedTuple):
    """The rows of a page."""

    rows: NDArray[np.int64]
    item_of: NDArray[np.int64]
    """(n,) the item of each row of the tree; -1 where it is not in the page."""
    order: NDArray[np.int64]
    """Items, those first that a person asks for first."""


class _Told(NamedTuple):
    """What is told of the nodes of one tree."""

    shown: Shown
    phrases: list[str]
    effects: dict[int, list[Effect]]
    members: dict[int, Members]


def contents(source: Source, extras: Extras) -> tuple[dict[str, Any], bytes]:
    """What a page says of itself, and the block of bytes that `web/FORMAT.md` describes.

    Parameters
    ----------
    source : Source
        What the page is made of.
    extras : Extras
        What a person gave beside.
    """
    tree = source.tree
    most = check_whole(extras.max_items, "max_items", 1)
    images = None if extras.images is None else check_images(extras.images, len(tree.paths))
    other = None if extras.compare is None else compare_trees(tree, extras.compare)
    support, membership = _memberships(source)
    told = _told(tree, source.features, membership)
    page = _page(source, most, told.members)
    info = _info(source, extras, told.shown, page)
    arrays = _tree_arrays("tree", told, page, page.rows)
    arrays |= item_arrays(source, page.rows, support)
    _add_dendrogram(source, page, info, arrays)
    if other is not None:
        _add_comparison(source, extras, other, told, page, info, arrays)
    _add_draws(source, told.shown, page, info, arrays)
    if images is not None:
        _add_images(images, page, info, arrays)
    return info, pack(info, arrays)


def _info(source: Source, extras: Extras, found: Shown, page: _Page) -> dict[str, Any]:
    """What the page says of itself; what is not known yet is None or empty."""
    n = len(source.tree.paths)
    return {
        "title": extras.title or f"Clusters of {count(n, 'row')}",
        "n_items": n,
        "n_embedded": len(page.rows),
        "trees": [_about_tree("tree", "fitted tree", found)],
        "opens_with": source.opens_with,
        "about": [*source.about, *_left_out(found, page)],
        "support_means": _SUPPORT,
        "chains": None,
        "compare": None,
        "images": None,
        "levels_shown": [],
    }


def _add_dendrogram(source: Source, page: _Page, info: dict[str, Any], arrays: Arrays) -> None:
    """The dendrogram of components, where a tree has one that branches."""
    if source.dendrogram is None or source.dendrogram.n_nodes == 1:
        return
    told = _told(source.dendrogram, None, None)
    arrays |= _tree_arrays("dendrogram", told, page, page.rows)
    info["trees"].append(_about_tree("dendrogram", "dendrogram", told.shown))


def _add_comparison(
    source: Source,
    extras: Extras,
    found: TreeComparison,
    told: _Told,
    page: _Page,
    info: dict[str, Any],
    arrays: Arrays,
) -> None:
    """The other tree, and how it differs."""
    beside = _told(found.b, extras.compare_features, None)
    arrays |= _tree_arrays("compare", beside, page, compare_rows(found, page.rows))
    arrays |= compare_arrays(found, told.shown, beside.shown, page.item_of)
    info["trees"].append(_about_tree("compare", extras.compare_label, beside.shown))
    info["compare"] = {
        "left": source.label,
        "right": extras.compare_label,
        "sentences": compare_sentences(found, _by_id(told), _by_id(beside)),
    }


def _add_images(images: Any, page: _Page, info: dict[str, Any], arrays: Arrays) -> None:
    found = pictures(images, page.rows, page.order)
    sides = ("height", "width", "channels")
    info["images"] = dict(zip(sides, found.pixels.shape[1:], strict=True))
    arrays |= {"images.pixels": found.pixels, "images.item": found.item.astype("<i4")}


def _add_draws(
    source: Source, nodes: Shown, page: _Page, info: dict[str, Any], arrays: Arrays
) -> None:
    """What the draws say, where a tree has any."""
    tree, draws = source.tree, source.draws
    if draws is not None and draws.partitions:
        arrays |= second_arrays(nodes, second_places(tree, draws, page.rows))
        arrays |= draw_arrays(nodes, draws, page.rows, np.sort(page.order[:MOST_ITEMS]))
        levels = [f"level {level}" for level in range(1, draws.n_levels + 1)]
        info["levels_shown"] = [*levels, "components"]
    if draws is not None and source.diagnostics is not None:
        arrays |= trace_arrays(tree, draws, source.diagnostics)
        info["chains"] = {
            "converged": source.diagnostics.converged,
            "sentences": chain_sentences(tree, draws, source.diagnostics),
        }


def _memberships(source: Source) -> tuple[NDArray | None, NDArray | None]:
    """(n, n_levels + 1) how sure rows' places are, and how firmly rows belong to their nodes.

    The second is the first, over the draws that `BHMC.describe` looks at.
    """
    if source.draws is None or not source.draws.partitions:
        return None, None
    tree, draws = source.tree, source.draws.partitions
    support = path_support(tree.paths, tree.n_nodes, draws)
    step = -(-len(draws) // _MOST_MEMBERSHIP)
    if step == 1 or len(tree.paths) > _MANY_ROWS:
        return support, support
    return support, path_support(tree.paths, tree.n_nodes, draws[::step])


def _told(tree: Tree, features: NodeFeatures | None, membership: NDArray | None) -> _Told:
    found = shown(tree)
    phrases = node_phrases(found, features)
    places = largest(found, _MOST_DESCRIBED)
    if features is None:
        return _Told(found, phrases, described_by_means(found, places), {})
    if membership is None:
        membership = np.full(tree.paths.shape, np.nan)
    return _Told(found, phrases, *described(found, places, features, membership))


def _page(source: Source, most: int, members: dict[int, Members]) -> _Page:
    tree = source.tree
    rows = chosen_rows(tree, most, source.outlier_scores, members.values())
    item_of = np.full(len(tree.paths), -1, dtype=np.int64)
    item_of[rows] = np.arange(len(rows))
    named = [row for one in members.values() for row in one.typical]
    in_tree_order = np.argsort(np.argsort(tree._index.rows)[rows], kind="stable")
    spaced = in_tree_order[evenly_spaced(len(rows), MOST_ITEMS)]
    wanted = item_of[np.concatenate([oddest(source.outlier_scores, 50), named]).astype(np.int64)]
    order = np.concatenate([wanted[wanted >= 0], spaced, np.arange(len(rows))])
    return _Page(rows, item_of, first_different(order, len(rows)))


def _tree_arrays(key: str, told: _Told, page: _Page, rows: NDArray[np.int64]) -> Arrays:
    n = len(told.shown.ids)
    return {
        **node_arrays(key, told.shown, told.phrases),
        f"{key}.leaf": told.shown.leaf_of(rows).astype("<i4"),
        **effect_arrays(key, n, told.effects),
        **member_arrays(key, n, told.members, page.item_of),
    }


def _about_tree(key: str, label: str, found: Shown) -> dict[str, Any]:
    unit = None
    if found.tree.heights is not None:
        unit = "nats" if key == "dendrogram" else "units"
    n_levels = int(found.levels.max())
    n_nodes = len(found.ids)
    return {"key": key, "label": label, "n_nodes": n_nodes, "n_levels": n_levels, "unit": unit}


def _left_out(found: Shown, page: _Page) -> list[str]:
    n, said = len(found.tree.paths), []
    if len(page.rows) < n:
        said.append(
            f"This page holds {len(page.rows):,} of {n:,} rows: numbers of nodes count all rows, "
            "names, search and tables have those that the page holds."
        )
    if found.tree.heights is None and len(found.ids) < found.tree.n_nodes:
        said.append(
            f"This page holds the {len(found.ids):,} largest of {found.tree.n_nodes:,} nodes."
        )
    return said


def _by_id(told: _Told) -> list[str]:
    """Phrases of all nodes of a tree, by id."""
    found = [""] * told.shown.tree.n_nodes
    for node, phrase in zip(told.shown.ids.tolist(), told.phrases, strict=True):
        found[node] = phrase
    return found
