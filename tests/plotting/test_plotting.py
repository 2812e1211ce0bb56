"""Pictures: their arrays equal the tree and the draws, and their artists equal the arrays."""

import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from scipy import stats

import bhmc
from bhmc import BHMC, Tree, plotting, priors
from bhmc.plotting import _colors, _text
from bhmc.plotting._collapse import collapse
from bhmc.plotting._icicle import bands
from bhmc.plotting._tree_layout import node_radii
from bhmc.posterior import summary
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import large_tree, small_tree

EVERYTHING = 10**6
SEEDS = range(5)


@pytest.fixture(autouse=True)
def no_windows():
    """Pictures need no screen, and none is left open."""
    mpl.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def big():
    tree = large_tree()
    assert len(tree.paths) == 100_000
    assert tree.n_nodes > 20_000
    return tree


@pytest.fixture
def model():
    """A model that looks fitted, with draws and a tree of the same rows."""
    model = BHMC(n_levels=2, gamma=0.5, gamma0=priors.Gamma(3, 2))
    model.draws_ = make_draws(n_rows=30, n_levels=2)
    model.tree_ = small_tree(n=30, n_levels=2)
    return model


def new_axes(width=8.0, height=6.0):
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.1, 0.1, 0.8, 0.8))


def part(ax, gid):
    """The only artist with that id."""
    found = ax.findobj(lambda artist: artist.get_gid() == gid)
    assert len(found) == 1, gid
    return found[0]


def labels_on(ax, kind):
    """Text by the number of the mark, box or row it belongs to."""
    return {
        int(text.get_gid().split()[1]): text
        for text in ax.texts
        if (text.get_gid() or "").startswith(kind + " ")
    }


def members(tree, node):
    return np.flatnonzero(tree.paths[:, tree.levels[node]] == node)


def below(tree, node):
    """The node and all nodes under it."""
    found = [node]
    for one in found:
        found.extend(np.flatnonzero(tree.parents == one).tolist())
    return found


# ------------------------------------------------------------------------------------------------
# What is shown
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_all_nodes_are_shown_as_they_are(seed):
    tree = small_tree(seed)
    marks = collapse(tree, max_nodes=EVERYTHING)
    np.testing.assert_array_equal(marks.node, np.arange(tree.n_nodes))
    np.testing.assert_array_equal(marks.parent, tree.parents)
    np.testing.assert_array_equal(marks.level, tree.levels)
    np.testing.assert_array_equal(marks.size, tree.sizes)
    np.testing.assert_array_equal(marks.support, tree.support)
    np.testing.assert_array_equal(marks.mark_of, tree.paths[:, -1])
    assert not marks.hidden.any()
    assert not marks.is_rest.any()


def naive_shown(tree, allowed, max_nodes):
    """Shown nodes, one more at a time, counting marks from scratch."""
    shown, best = {0}, {0}
    order = sorted(np.flatnonzero(allowed), key=lambda z: (-tree.sizes[z], z))
    for node in order:
        shown = shown | {int(node)}
        rests = 0
        for one in shown:
            children = set(np.flatnonzero(tree.parents == one).tolist())
            rests += bool(children & shown) and bool(children - shown)
        if len(shown) + rests <= max_nodes:
            best = shown
    return best


def naive_allowed(tree, min_size=1, min_support=0.0, max_depth=99):
    allowed = []
    for node in range(tree.n_nodes):
        good = tree.sizes[node] >= min_size and tree.levels[node] <= max_depth
        good = good and tree.support[node] >= min_support
        allowed.append(node == 0 or (good and allowed[tree.parents[node]]))
    return np.array(allowed)


LIMITS = [
    {},
    {"min_size": 3},
    {"min_support": 0.5},
    {"max_depth": 2},
    {"min_size": 2, "min_support": 0.3, "max_depth": 1},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_nodes", [1, 2, 7, 15, EVERYTHING])
def test_the_largest_nodes_are_shown_and_the_rest_is_counted(seed, max_nodes, limits):
    tree = small_tree(seed)
    marks = collapse(tree, max_nodes=max_nodes, **limits)
    shown = naive_shown(tree, naive_allowed(tree, **limits), max_nodes)
    assert set(marks.node[~marks.is_rest].tolist()) == shown
    assert len(marks.node) <= max_nodes
    for one, node in enumerate(marks.node):
        if node >= 0:
            inside = [node]
            assert marks.size[one] == tree.sizes[node]
            assert marks.level[one] == tree.levels[node]
            assert one == 0 or marks.node[marks.parent[one]] == tree.parents[node]
            hidden = below(tree, node)[1:] if marks.is_last[one] else []
        else:
            above = marks.node[marks.parent[one]]
            inside = [z for z in np.flatnonzero(tree.parents == above) if z not in shown]
            assert inside
            assert marks.size[one] == tree.sizes[inside].sum()
            assert marks.level[one] == tree.levels[above] + 1
            hidden = [z for top in inside for z in below(tree, top)]
        rows = np.concatenate([members(tree, z) for z in inside])
        held = np.bincount(tree.components[rows], minlength=tree.n_components)
        assert marks.hidden[one] == len(hidden)
        np.testing.assert_array_equal(marks.counts[one, :-1], held[marks.components])
        assert marks.counts[one].sum() == len(rows)
        assert (marks.main[one], marks.main_size[one]) == (held.argmax(), held.max())
        if marks.is_last[one]:
            assert set(np.flatnonzero(marks.mark_of == one)) == set(rows)
    assert len(shown) + marks.hidden.sum() == tree.n_nodes


def test_rows_are_in_the_order_of_the_marks():
    marks = collapse(small_tree(3), max_nodes=20)
    for one in np.flatnonzero(marks.is_last):
        start = marks.placed(marks.size)[one]
        rows = marks.row_order[start : start + marks.size[one]]
        assert (marks.mark_of[rows] == one).all()


def test_the_largest_components_have_the_colours():
    tree = large_tree(n=3_000, fans=(4, 3), n_components=15)
    sizes = np.bincount(tree.components, minlength=15)
    marks = collapse(tree)
    assert set(marks.components) == set(np.argsort(-sizes, kind="stable")[:8])
    colors = _colors.component_colors(marks.components, marks.counts[0])
    assert colors[np.argmax(marks.counts[0, :-1])] == _colors.PALETTE[0]
    assert len(set(colors)) == 9
    assert colors[-1] == _colors.OTHER


# ------------------------------------------------------------------------------------------------
# Trees
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_are_in_levels_and_slots(seed):
    layout = plotting.tree_layout(small_tree(seed), max_nodes=25)
    marks, last = layout.marks, layout.marks.is_last
    np.testing.assert_array_equal(layout.depth, marks.level)
    assert sorted(layout.across[last]) == list(range(layout.n_slots))
    slots = {one: {layout.across[one]} for one in np.flatnonzero(last).tolist()}
    for one in range(len(marks.node) - 1, -1, -1):
        children = np.flatnonzero(marks.parent == one).tolist()
        if children:
            across = layout.across[children]
            assert (np.diff(across) > 0).all()
            assert layout.across[one] == (across[0] + across[-1]) / 2
            slots[one] = set().union(*(slots[child] for child in children))
            assert max(slots[one]) - min(slots[one]) + 1 == len(slots[one])  # no line crosses


@pytest.mark.parametrize("slot", [14.0, 7.0])
def test_areas_are_in_proportion_and_nodes_do_not_touch(slot):
    layout = plotting.tree_layout(small_tree(1), max_nodes=25)
    radii = node_radii(layout, 90.0, slot)
    assert slot == 14.0 or radii.max() < 14  # smaller because neighbours need it
    large = radii > radii.min()
    assert large.sum() > 3
    ratio = radii[large] ** 2 / layout.marks.size[large]
    np.testing.assert_allclose(ratio, ratio[0])
    for depth in np.unique(layout.depth):
        here = np.flatnonzero(layout.depth == depth)
        here = here[np.argsort(layout.across[here])]
        assert (np.diff(layout.across[here]) * slot >= radii[here][1:] + radii[here][:-1]).all()


@pytest.mark.parametrize("direction", ["right", "down"])
def test_the_picture_of_a_tree_is_its_layout(direction):
    tree = small_tree(2)
    layout = plotting.tree_layout(tree, max_nodes=20, min_support=0.1)
    marks, rest = layout.marks, layout.marks.is_rest
    assert rest.any()
    ax = plotting.plot_tree(tree, max_nodes=20, min_support=0.1, direction=direction)
    places = np.column_stack([layout.depth, layout.across])
    places = places if direction == "right" else places[:, ::-1]

    nodes, rests, pies = part(ax, "nodes"), part(ax, "rests"), part(ax, "pies")
    np.testing.assert_array_equal(nodes.get_offsets(), places[~rest])
    np.testing.assert_array_equal(rests.get_offsets(), places[rest])
    radii = np.sqrt(nodes.get_sizes())
    assert radii[0] == radii.max()
    bigger = radii > radii.min()
    np.testing.assert_allclose(
        radii[bigger] / radii[0], np.sqrt(marks.size[~rest][bigger] / marks.size[0])
    )
    owner, column = np.nonzero(marks.counts[~rest])
    np.testing.assert_array_equal(pies.get_offsets(), places[~rest][owner])
    colors = _colors.component_colors(marks.components, marks.counts[0])
    np.testing.assert_allclose(pies.get_facecolors(), [to_rgba(colors[i]) for i in column])
    shares = (marks.counts / marks.size[:, None])[~rest][owner, column]
    np.testing.assert_allclose(
        [_area(path) / np.pi for path in pies.get_paths()], shares, atol=2e-3
    )

    lines = part(ax, "lines").get_paths()
    assert len(lines) == len(marks.node) - 1
    for one, line in enumerate(lines, start=1):
        np.testing.assert_array_equal(line.vertices[0], places[marks.parent[one]])
        np.testing.assert_array_equal(line.vertices[-1], places[one])


def _area(path):
    """Area within a path of curves, by the shoelace formula on its polygon."""
    big = path.transformed(mpl.transforms.Affine2D().scale(1000))  # curves are cut into pixels
    x, y = big.to_polygons()[0].T / 1000
    return abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2


def test_labels_say_rows_support_components_and_names():
    tree = small_tree(2)
    ax = plotting.plot_tree(tree, max_nodes=20)
    marks = collapse(tree, max_nodes=20)
    labels = labels_on(ax, "mark")
    assert set(np.flatnonzero(marks.is_last)) <= set(labels)  # a new figure has room for them
    for one, label in labels.items():
        text = label.get_text()
        if marks.is_rest[one]:
            nodes, rows = text.split(" · ")[0].split(", ")
            assert nodes.startswith(f"{marks.hidden[one]} more node")
            assert rows in (f"{marks.size[one]} row", f"{marks.size[one]} rows")
        elif one:
            assert _text.percent(marks.support[one]) in text
        if marks.is_last[one] and not marks.is_rest[one]:
            assert text.startswith(f"{marks.size[one]} (c")
            rows = members(tree, marks.node[one])
            assert f"item {rows[0]}" in text
            held = np.bincount(tree.components[rows])
            assert f"c{held.argmax()}" in text


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_nothing_is_cut_off_at_the_edge_of_a_new_figure(seed):
    tree = small_tree(seed)
    for ax in (
        plotting.plot_tree(tree),
        plotting.plot_tree(tree, direction="down"),
        plotting.plot_icicle(tree),
        plotting.plot_coclustering(np.eye(40), names=tree.names),
    ):
        ax.figure.canvas.draw()
        edge = ax.figure.bbox.padded(1)
        for text in ax.figure.findobj(mpl.text.Text):
            box = text.get_window_extent()
            if text.get_text() and text.get_visible():
                assert edge.x0 <= box.x0 <= box.x1 <= edge.x1, text
                assert edge.y0 <= box.y0 <= box.y1 <= edge.y1, text


def test_names_are_given_or_the_tree_s_own_and_never_mathematics():
    tree = replace(small_tree(4, n=5), names=None)
    plain = plotting.plot_tree(tree)
    assert not any("$" in text.get_text() for text in plain.texts)
    named = plotting.plot_tree(tree, names=[r"a$\nosuch$c", "d\ne", "f_g", "h%", "$"])
    said = " ".join(text.get_text() for text in named.texts)
    assert r"a$\nosuch$c" in said
    assert "d e" in said
    icicle = plotting.plot_icicle(tree, names=[r"$\nosuch$"] * 5)
    share = plotting.plot_coclustering(np.eye(5), names=[r"$\nosuch$"] * 5)
    icicle.figure.canvas.draw()
    share.figure.canvas.draw()
    named.figure.canvas.draw()  # mathematics would fail here


@pytest.mark.parametrize("plot", [plotting.plot_tree, plotting.plot_icicle])
def test_colours_by_support(plot):
    tree = small_tree(2)
    ax = plot(tree, color="support", max_nodes=20)
    marks = collapse(tree, max_nodes=20)
    artist = part(ax, "pies" if plot is plotting.plot_tree else "boxes")
    expected = mpl.colormaps["cividis"](marks.support[~marks.is_rest])
    np.testing.assert_allclose(artist.get_facecolors(), expected)


def test_transparency_by_support():
    tree = small_tree(2)
    ax = plotting.plot_tree(tree, support="transparency", max_nodes=EVERYTHING)
    owner, _ = np.nonzero(collapse(tree, max_nodes=EVERYTHING).counts)
    np.testing.assert_allclose(
        part(ax, "pies").get_facecolors()[:, 3], 0.2 + 0.8 * tree.support[owner]
    )
    assert not any("%" in text.get_text() for text in ax.texts)


def boxes_of(texts):
    return [text.get_window_extent() for text in texts]


@pytest.mark.parametrize("seed", SEEDS[:3])
@pytest.mark.parametrize("size", [(8, 6), (3, 2)])
def test_labels_of_trees_do_not_overlap(seed, size):
    tree = small_tree(seed)
    for direction in ("right", "down"):
        ax = new_axes(*size)
        plotting.plot_tree(tree, ax=ax, direction=direction)
        ax.figure.canvas.draw()
        boxes = boxes_of(text for text in ax.texts if text.get_text())
        assert boxes
        for i, box in enumerate(boxes):
            assert not any(_much_overlap(box, other) for other in boxes[:i])


def _much_overlap(a, b):
    """Whether they share more than a pixel or two, which rounding makes."""
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    high = min(a.y1, b.y1) - max(a.y0, b.y0)
    return wide > 2 and high > 2


# ------------------------------------------------------------------------------------------------
# Icicles
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_nodes", [10, EVERYTHING])
def test_boxes_are_as_wide_as_their_nodes_and_lie_in_their_parents(seed, max_nodes):
    tree = small_tree(seed)
    boxes = plotting.icicle_boxes(tree, max_nodes=max_nodes)
    marks = boxes.marks
    np.testing.assert_array_equal(boxes.width, marks.size)
    np.testing.assert_array_equal(boxes.top, marks.level)
    assert boxes.left[0] == 0
    for one in range(len(marks.node)):
        inside = marks.row_order[boxes.left[one] : boxes.left[one] + boxes.width[one]]
        if marks.node[one] >= 0:
            assert set(inside) == set(members(tree, marks.node[one]))
        children = np.flatnonzero(marks.parent == one)
        if len(children):  # side by side, from the left edge of the parent to its right one
            edges = np.append(boxes.left[children], boxes.left[one] + boxes.width[one])
            np.testing.assert_array_equal(np.diff(edges), boxes.width[children])
            assert edges[0] == boxes.left[one]


def test_the_picture_of_an_icicle_is_its_boxes():
    tree = small_tree(2)
    boxes = plotting.icicle_boxes(tree, max_nodes=20)
    marks, rest = boxes.marks, boxes.marks.is_rest
    assert rest.any()
    ax = plotting.plot_icicle(tree, max_nodes=20)
    sides = np.column_stack([boxes.left, boxes.left + boxes.width, boxes.top, boxes.top + 1])
    np.testing.assert_array_equal(_sides(part(ax, "boxes")), sides[~rest])
    np.testing.assert_array_equal(_sides(part(ax, "rests")), sides[rest])
    colors = dict(
        zip(
            [*marks.components, -1],
            _colors.component_colors(marks.components, marks.counts[0]),
            strict=True,
        )
    )
    for fill, main in zip(part(ax, "boxes").get_facecolors(), marks.main[~rest], strict=True):
        color = np.array(to_rgb(colors.get(main, _colors.OTHER)))
        np.testing.assert_allclose(fill[:3], 1 - 0.28 * (1 - color))
    assert ax.get_xlim() == (0, 40)
    assert ax.get_ylim() == (4, 0)


def test_bands_are_the_shares_of_components():
    tree = small_tree(2)
    boxes = plotting.icicle_boxes(tree, max_nodes=20)
    ax = plotting.plot_icicle(tree, max_nodes=20)
    owner, column, ends = bands(boxes)
    drawn = _sides(part(ax, "bands"))
    np.testing.assert_array_equal(drawn[:, :2], ends)
    np.testing.assert_array_equal(drawn[:, 3], boxes.top[owner] + 1)
    np.testing.assert_array_equal(np.diff(ends)[:, 0], boxes.marks.counts[owner, column])
    for one in np.unique(owner):
        parts = ends[owner == one]
        assert parts[0, 0] == boxes.left[one]
        assert parts[-1, 1] == boxes.left[one] + boxes.width[one]
        np.testing.assert_array_equal(parts[1:, 0], parts[:-1, 1])


def _sides(collection):
    """(left, right, top, bottom) of every rectangle."""
    extents = [path.get_extents() for path in collection.get_paths()]
    return np.array([(box.x0, box.x1, box.y0, box.y1) for box in extents])


@pytest.mark.parametrize("seed", SEEDS[:3])
@pytest.mark.parametrize("size", [(10, 3), (3, 3)])
def test_labels_of_boxes_stay_inside_them(seed, size):
    tree = small_tree(seed)
    ax = new_axes(*size)
    plotting.plot_icicle(tree, ax=ax)
    boxes = plotting.icicle_boxes(tree)
    ax.figure.canvas.draw()
    for one, label in labels_on(ax, "box").items():
        assert f"{boxes.marks.size[one]:,}" in label.get_text()
        corners = [
            (boxes.left[one], boxes.top[one] + 1),
            (boxes.left[one] + boxes.width[one], boxes.top[one]),
        ]
        (left, bottom), (right, top) = ax.transData.transform(corners)
        text = label.get_window_extent()
        assert text.x0 >= left - 1
        assert text.x1 <= right + 1
        assert text.y0 >= bottom - 1
        assert text.y1 <= top + 1


def test_names_below_boxes_are_in_the_order_of_the_rows():
    tree = small_tree(2)
    ax = plotting.plot_icicle(tree)
    named = labels_on(ax, "row")
    assert len(named) == 40
    order = plotting.icicle_boxes(tree).marks.row_order
    for place, row in enumerate(order):
        assert named[row].get_text() == f"item {row}"
        assert named[row].xy[0] == place + 0.5
    assert not labels_on(plotting.plot_icicle(tree, ax=new_axes(2, 2)), "row")  # no room


# ------------------------------------------------------------------------------------------------
# Many rows
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plot", [plotting.plot_tree, plotting.plot_icicle])
def test_a_hundred_thousand_rows_and_twenty_thousand_nodes(plot, big):
    start = time.process_time()
    ax = plot(big, max_nodes=100, names=map(str, range(100_000)))
    ax.figure.canvas.draw()
    assert time.process_time() - start < 8  # a second or two
    shown = "nodes" if plot is plotting.plot_tree else "boxes"
    count = sum(
        len(part(ax, gid).get_offsets() if shown == "nodes" else part(ax, gid).get_paths())
        for gid in (shown, "rests")
    )
    assert 90 < count <= 100
    marks = collapse(big, max_nodes=100)
    assert (~marks.is_rest).sum() + marks.hidden.sum() == big.n_nodes
    assert marks.size[marks.is_last].sum() == 100_000
    boxes = boxes_of(text for text in ax.texts if text.get_text())
    assert len(boxes) > 20
    for i, box in enumerate(boxes):
        assert not any(_much_overlap(box, other) for other in boxes[:i])


# ------------------------------------------------------------------------------------------------
# Traces
# ------------------------------------------------------------------------------------------------


def test_traces_are_the_numbers_of_the_draws():
    draws = make_draws(n_chains=3, n_draws=12, gamma=np.full((3, 12), 0.5))
    traces = plotting.trace_data(draws)
    names = [trace.name for trace in traces]
    assert names == ["log_joint", "n_components", "nodes_at[1]", "nodes_at[2]", "alpha", "gamma0"]
    axes = plotting.plot_trace(draws)
    assert axes.shape == (6, 2)
    for (left, right), trace in zip(axes, traces, strict=True):
        np.testing.assert_array_equal(trace.values, draws.numbers()[trace.name])
        for chain in range(3):
            line = part(left, f"chain {chain}")
            np.testing.assert_array_equal(line.get_ydata(), trace.values[chain])
            np.testing.assert_array_equal(
                right.patches[chain].get_data().values, trace.ranks[chain]
            )


def test_traces_that_are_asked_for():
    draws = make_draws()
    axes = plotting.plot_trace(draws, ["together[1]", "gamma"], panel="histogram", n_bins=4)
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["together[1]", "gamma"]
    trace = plotting.trace_data(draws, ["gamma"], n_bins=4)[0]
    for chain in range(2):
        counts, edges, _ = axes[1, 1].patches[chain].get_data()
        held, _ = np.histogram(draws.gamma[chain], edges)
        np.testing.assert_allclose(counts * np.diff(edges), held / held.sum())
        np.testing.assert_allclose(counts, trace.shares[chain])
    with pytest.raises(ValueError, match=r"names must be of log_joint, .*; got 'gama'"):
        plotting.plot_trace(draws, ["gama"])
    with pytest.raises(ValueError, match="ax must hold 2 x 2 Axes, got 1"):
        plotting.plot_trace(draws, ["alpha", "gamma"], ax=new_axes())


def test_ranks_without_ties_are_counts_of_ranks():
    values = np.random.default_rng(0).normal(size=(3, 40))
    ranks = stats.rankdata(values).reshape(values.shape)  # 1 to 120
    expected = [np.histogram(chain - 0.5, np.linspace(0, 120, 7))[0] for chain in ranks]
    np.testing.assert_allclose(plotting._trace.rank_counts(values, 6), expected, atol=1e-9)


def test_ranks_with_ties_are_those_of_ties_broken_at_random():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, size=(2, 30))
    total = np.zeros((2, 7))
    for _ in range(4_000):
        order = np.lexsort((rng.random(60), values.ravel()))
        ranks = np.argsort(order).reshape(2, 30)
        # A rank r takes the whole range from r to r + 1, bins share it.
        for chain in range(2):
            edges = np.linspace(0, 60, 8)
            low = np.clip(edges[None, 1:] - ranks[chain][:, None], 0, 1)
            total[chain] += (low - np.clip(edges[None, :-1] - ranks[chain][:, None], 0, 1)).sum(0)
    np.testing.assert_allclose(plotting._trace.rank_counts(values, 7), total / 4_000, atol=0.15)


# ------------------------------------------------------------------------------------------------
# Co-clustering
# ------------------------------------------------------------------------------------------------


def naive_share(draws, level, i, j):
    """Share of the kept draws in which rows i and j are together."""
    return np.mean(
        [
            one.component[i] == one.component[j]
            if level == "component"
            else one.paths(draws.n_levels)[i, level] == one.paths(draws.n_levels)[j, level]
            for one in draws.partitions
        ]
    )


@pytest.mark.parametrize("level", ["component", 1, 2])
def test_shares_are_those_of_the_draws_in_the_order_of_the_tree(level, model):
    draws, tree = model.draws_, model.tree_
    grid = plotting.coclustering_grid(draws, level, tree=tree)
    naive = [[naive_share(draws, level, i, j) for j in grid.rows] for i in grid.rows]
    np.testing.assert_allclose(grid.share, naive)
    paths = [(*tree.paths[row], tree.components[row], row) for row in grid.rows]
    assert paths == sorted(paths)
    depth = 1 if level == "component" else level
    nodes = tree.paths[grid.rows, depth]
    np.testing.assert_array_equal(grid.blocks, np.flatnonzero(nodes[1:] != nodes[:-1]) + 1)
    image = part(plotting.plot_coclustering(model, level), "shares")
    np.testing.assert_array_equal(image.get_array().reshape(30, 30), grid.share)


@pytest.mark.parametrize("level", ["component", 1, 2])
@pytest.mark.parametrize("few", [0, 500], ids=["many clusters", "few clusters"])
def test_cells_of_many_rows_are_means_over_pairs(level, few, model, monkeypatch):
    monkeypatch.setattr(summary, "_FEW_CLUSTERS", few)
    draws = model.draws_
    grid = plotting.coclustering_grid(draws, level, tree=model.tree_, max_cells=7)
    assert grid.share.shape == (7, 7)
    assert set(np.diff(grid.bounds)) == {4, 5}
    share = summary.coclustering(draws, level)
    groups = np.split(grid.rows, grid.bounds[1:-1])
    for a, first in enumerate(groups):
        for b, second in enumerate(groups):
            pairs = [share[i, j] for i in first for j in second if i != j]
            assert grid.share[a, b] == pytest.approx(np.mean(pairs))
    by_matrix = plotting.coclustering_grid(share, level, tree=model.tree_, max_cells=7)
    np.testing.assert_allclose(by_matrix.share, grid.share)


def test_some_rows_and_no_tree(model):
    share = summary.coclustering(model.draws_, 1)
    grid = plotting.coclustering_grid(model.draws_, 1, rows=[9, 3, 4])
    np.testing.assert_array_equal(grid.rows, [3, 4, 9])
    np.testing.assert_allclose(grid.share, share[np.ix_([3, 4, 9], [3, 4, 9])])
    ax = plotting.plot_coclustering(share, rows=[3, 4, 9], names=range(30))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["3", "4", "9"]


def test_shares_of_many_rows_need_no_matrix_of_them(big):
    one = bhmc.posterior.draws.Partition(
        big.paths[:, -1].astype(np.uint16),
        big.components.astype(np.uint8),
        big.parents.astype(np.int32),
    )
    draws = make_draws(n_chains=1, n_draws=3, n_levels=4, partitions=(one,) * 3)
    tracemalloc.start()
    grid = plotting.coclustering_grid(draws, 1, tree=big, max_cells=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # rows x rows would be 80 GB
    assert grid.share.shape == (200, 200)
    largest = np.flatnonzero(grid.bounds[1:] <= grid.blocks[0])
    np.testing.assert_allclose(grid.share[np.ix_(largest, largest)], 1.0)


# ------------------------------------------------------------------------------------------------
# Priors
# ------------------------------------------------------------------------------------------------


def test_priors_against_draws(model):
    panels = {panel.name: panel for panel in plotting.prior_posterior_data(model)}
    assert list(panels) == ["alpha", "gamma0", "n_components", "nodes_at[1]", "nodes_at[2]"]
    for name, shape, rate in (("alpha", 2, 10), ("gamma0", 3, 2)):
        panel = panels[name]
        np.testing.assert_array_equal(panel.draws, getattr(model.draws_, name))
        expected = stats.gamma.pdf(panel.x, shape, scale=1 / rate)
        np.testing.assert_allclose(panel.density, expected)
        assert panel.x[-1] >= panel.draws.max()
    prior = bhmc.describe_prior(
        30, n_levels=2, gamma0=priors.Gamma(3, 2), gamma=0.5, n_samples=100, random_state=0
    )
    for name, what in (("n_components", "components"), ("nodes_at[2]", "nodes at level 2")):
        panel, line = panels[name], prior[what]
        np.testing.assert_array_equal(panel.draws, model.draws_.numbers()[name])
        assert (panel.prior_mean, panel.prior_interval) == (line.mean, (line.low, line.high))


def test_the_picture_of_priors_is_their_numbers(model):
    panels = plotting.prior_posterior_data(model)
    axes = plotting.plot_prior_posterior(model)
    assert [ax.get_title() for ax in axes] == [panel.name for panel in panels]
    for ax, panel in zip(axes, panels, strict=True):
        counts, edges, _ = part(ax, "posterior").get_data()
        held, _ = np.histogram(panel.draws, edges)
        assert held.sum() == panel.draws.size  # none is left out
        np.testing.assert_allclose(counts * np.diff(edges), held / held.sum())
        if panel.density is not None:
            np.testing.assert_array_equal(part(ax, "prior").get_xydata()[:, 1], panel.density)
        else:
            assert part(ax, "prior mean").get_xdata()[0] == panel.prior_mean
            box = part(ax, "prior interval").get_extents().transformed(ax.transData.inverted())
            np.testing.assert_allclose((box.x0, box.x1), panel.prior_interval)


def test_priors_of_the_paper_and_fixed_ones(model):
    model.set_params(hyper="paper", gamma0="learn", gamma="learn")
    panel = plotting.prior_posterior_data(model, max_rows=10)[2]
    assert panel.name == "gamma"
    np.testing.assert_allclose(panel.density, np.where(panel.x <= 1.5, 1 / 1.5, 0))
    model.set_params(hyper="exact", alpha=1.0, gamma0=1.0, gamma=1.0)
    with pytest.raises(ValueError, match="there is nothing to compare"):
        plotting.plot_prior_posterior(model, max_rows=10)
    assert len(plotting.plot_prior_posterior(model)) == 3
    model.set_params(fixed_components=4)
    assert len(plotting.plot_prior_posterior(model)) == 2  # the number of components is given


# ------------------------------------------------------------------------------------------------
# A fitted model, and where to draw
# ------------------------------------------------------------------------------------------------


def every_picture(model, new=lambda n: [None] * n):
    """Every kind of picture; `new` gives Axes, or None for a new figure each."""
    one, two, three, four, five = new(5)
    plotting.plot_tree(model.tree_, ax=one)
    plotting.plot_icicle(model.tree_, ax=two)
    plotting.plot_coclustering(model, 1, ax=three)
    plotting.plot_trace(model.draws_, ["alpha"], ax=None if four is None else [four, new(1)[0]])
    plotting.plot_prior_posterior(model, ax=five, max_rows=0)


def test_pictures_of_a_real_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(25, 3)) + np.repeat([[0], [6]], [12, 13], axis=0)
    model = BHMC(n_levels=2, n_warmup=5, n_draws=8, alpha=1.0, gamma0=1.0, random_state=0)
    model.fit(X)
    every_picture(model)
    from matplotlib import pyplot

    numbers = pyplot.get_fignums()
    assert len(numbers) == 5
    for number in numbers:
        for kind in ("pdf", "svg"):
            pyplot.figure(number).savefig(tmp_path / f"{number}.{kind}")
    marks = plotting.tree_layout(model.tree_, max_nodes=EVERYTHING).marks
    np.testing.assert_array_equal(marks.size, model.tree_.sizes)
    np.testing.assert_array_equal(marks.support, model.tree_.support)


def test_given_axes_are_used_and_no_setting_is_changed(model):
    from matplotlib import pyplot

    before = dict(mpl.rcParams)
    own, other = pyplot.subplots()
    axes = [new_axes() for _ in range(7)]
    children = len(other.get_children())
    given = iter(axes)
    every_picture(model, lambda n: [next(given) for _ in range(n)] if n < 5 else _five(given))
    assert dict(mpl.rcParams) == before
    assert pyplot.get_fignums() == [own.number]
    assert pyplot.gca() is other
    assert len(other.get_children()) == children


def _five(given):
    """Four Axes and a list of one, for the picture of priors of the one that is learned."""
    found = [next(given) for _ in range(4)]
    return [*found, [next(given), next(given)]]


def test_each_picture_returns_the_axes_it_was_given():
    tree, ax = small_tree(), new_axes()
    assert plotting.plot_tree(tree, ax=ax) is ax
    assert plotting.plot_icicle(tree, ax=ax) is ax
    assert plotting.plot_coclustering(np.eye(4), ax=ax) is ax


ABSENT = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
import bhmc
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import small_tree
tree, draws = small_tree(), make_draws()
bhmc.plotting.tree_layout(tree), bhmc.plotting.icicle_boxes(tree)
bhmc.plotting.trace_data(draws), bhmc.plotting.coclustering_grid(draws)
model = bhmc.BHMC()
model.draws_, model.tree_ = draws, tree
for name, thing in [
    ("plot_tree", tree), ("plot_icicle", tree), ("plot_trace", draws),
    ("plot_coclustering", draws), ("plot_prior_posterior", model),
]:
    try:
        getattr(bhmc.plotting, name)(thing)
    except ImportError as error:
        assert str(error) == f"{name} needs matplotlib: install it with `pip install bhmc[plot]`."
    else:
        raise AssertionError(name)
"""
LATE = """
import sys
import bhmc
assert "bhmc.plotting" not in sys.modules
bhmc.plotting
assert "matplotlib" not in sys.modules
assert not hasattr(bhmc, "plots")
from matplotlib.figure import Figure
from tests.tree.tree_factory import small_tree
bhmc.plotting.plot_tree(small_tree(), ax=Figure().add_axes((0, 0, 1, 1)))
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.mark.parametrize("code", [ABSENT, LATE], ids=["absent", "late"])
def test_matplotlib_is_imported_late_and_may_be_absent(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------
# Odd trees, wrong use
# ------------------------------------------------------------------------------------------------


def test_odd_trees():
    one = small_tree(n=2, n_levels=1, alpha=1e-6)
    deep = small_tree(n=6, n_levels=25)
    unsupported = replace(small_tree(), support=None, names=None)
    for tree in (one, deep):
        for plot in (plotting.plot_tree, plotting.plot_icicle):
            plot(tree).figure.canvas.draw()
            plot(tree, max_nodes=1).figure.canvas.draw()
            plot(tree, ax=new_axes(0.3, 0.3)).figure.canvas.draw()
    assert not any("%" in text.get_text() for text in plotting.plot_tree(unsupported).texts)


def test_wrong_use():
    tree, draws = small_tree(), make_draws()
    for plot in (plotting.plot_tree, plotting.plot_icicle):
        with pytest.raises(ValueError, match="max_nodes must be at least 1, got 0"):
            plot(tree, max_nodes=0)
        with pytest.raises(ValueError, match="min_support must be between 0 and 1, got 50"):
            plot(tree, min_support=50)
        with pytest.raises(ValueError, match="min_support needs a tree whose support is known"):
            plot(replace(tree, support=None), min_support=0.5)
        with pytest.raises(ValueError, match="color='size' is not known"):
            plot(tree, color="size")
        with pytest.raises(ValueError, match="color='support' needs a tree whose support is known"):
            plot(replace(tree, support=None), color="support")
        with pytest.raises(ValueError, match="names must hold 40 names, got 2"):
            plot(tree, names=["a", "b"])
    with pytest.raises(ValueError, match="level must be at most 2, got 3"):
        plotting.plot_coclustering(draws, 3)
    with pytest.raises(ValueError, match="level must be 'component' or a whole number, got 'row'"):
        plotting.plot_coclustering(draws, "row")
    with pytest.raises(ValueError, match="rows must be between 0 and 6, got -1"):
        plotting.plot_coclustering(draws, rows=[1, -1])
    with pytest.raises(ValueError, match=r"got an array of shape \(2, 3\)"):
        plotting.plot_coclustering(np.ones((2, 3)))
    with pytest.raises(ValueError, match="tree must hold the same 7 rows, got 40"):
        plotting.plot_coclustering(draws, tree=tree)
    empty = replace(draws, partitions=(), partition_index=np.empty((0, 2), dtype=np.int64))
    with pytest.raises(ValueError, match="no partitions were kept"):
        plotting.plot_coclustering(empty)


# ------------------------------------------------------------------------------------------------
# Colours and text
# ------------------------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes 2009: what colour-blind people see, on linear RGB.
SIGHTS = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(colors, sight="all"):
    """CIELAB of colours as someone sees them."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(SIGHTS[sight]), 0, 1)
    xyz = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])]
    )


def least_distance(colors, sight):
    points = lab(colors, sight)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return apart[np.triu_indices(len(colors), 1)].min()


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_can_be_told_apart(sight):
    ours = (*_colors.PALETTE, _colors.OTHER)
    assert least_distance(ours, sight) > 20
    if sight == "deuteranopia":  # the alarm rings: matplotlib's own colours do not pass
        assert least_distance([f"C{i}" for i in range(8)], sight) < 10


def test_colours_are_steps_of_grey():
    assert np.diff(np.sort(lab(_colors.PALETTE)[:, 0])).min() > 7
    neighbours = np.abs(np.diff(lab(_colors.PALETTE)[:4, 0]))
    assert neighbours.min() > 7


def test_widths_are_those_of_the_picture():
    ax = new_axes()
    for text in ("58 · 82 %", "crow, duck and 12 more", "WWW", "iii"):
        drawn = ax.text(0, 0, text, fontsize=8).get_window_extent().width * 72 / 100
        assert drawn <= _text.width_of(text) + 0.3
        assert _text.width_of(text) < 1.1 * drawn


def test_texts_that_are_too_long_are_cut():
    names = ["crow", "duck", "flamingo", "gull"]
    room = _text.width_of("crow, duck and 2 more") + 0.1
    assert _text.listing(names, 1_000) == "crow, duck, flamingo, gull"
    assert _text.listing(names, room) == "crow, duck and 2 more"
    assert _text.listing(names, 5) == ""
    room = _text.width_of("flamin…") + 0.01
    assert room < _text.width_of("flamingo")
    assert _text.shorten("flamingo", room) == "flamin…"
    assert [_text.percent(x) for x in (0, 0.004, 0.5, 0.996, 1)] == [
        "0 %", "<1 %", "50 %", ">99 %", "100 %",
    ]  # fmt: skip


def test_boxes_apart():
    boxes = np.array([[0, 2, 0, 1], [1, 3, 0, 1], [2, 4, 0, 1], [5, 6, 0, 1]], dtype=float)
    blocked = np.array([[5.5, 7, 0.5, 2]])
    assert _text.apart(boxes, blocked).tolist() == [True, False, True, False]


def test_a_tree_of_one_component_says_so():
    tree = small_tree(n=4)
    tree = Tree(
        parents=tree.parents,
        levels=tree.levels,
        sizes=tree.sizes,
        weights=tree.weights,
        paths=tree.paths,
        components=np.zeros(4, dtype=np.int32),
        theta=tree.theta,
    )
    ax = plotting.plot_tree(tree)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c0 (4)"]
