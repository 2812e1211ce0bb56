"""Pages with one fault each, and the test that must see it."""

from dataclasses import dataclass
from typing import Any

from tests.browser import (
    test_accessible,
    test_hostile,
    test_large,
    test_panels,
    test_questions,
    test_tree,
)


@dataclass(frozen=True)
class Mutant:
    """A change of one line of `web/src`, and a test with its parameters."""

    file: str
    old: str
    new: str
    test: Any
    given: tuple[tuple[str, Any], ...] = ()


def of(file, old, new, test, **given):
    """A mutant."""
    return Mutant(file, old, new, test, tuple(given.items()))


MUTANTS = [
    # The tree
    of(
        "names.ts",
        "support ${percent(support)}",
        "support ${percent(1 - support)}",
        test_tree.test_the_page_shows_every_node,
    ),
    of(
        "views/geometry.ts",
        "Float64Array.from(forest.sizes)",
        "Float64Array.from(forest.sizes, Math.sqrt)",
        test_tree.test_boxes_are_as_large_as_their_groups,
    ),
    of("views/keys.ts", ", zoom: node }", " }", test_tree.test_zoom_in_and_out),
    of(
        "views/pointer.ts",
        "if (event.deltaY > 0) zoomOut(app);",
        "if (event.deltaY > 0) return;",
        test_tree.test_a_second_click_zooms_and_the_wheel_zooms_out,
    ),
    of(
        "parts/build.ts",
        'return window.matchMedia("(prefers-reduced-motion: reduce)").matches;',
        "return false;",
        test_tree.test_zoom_moves_smoothly_unless_the_reader_wants_no_motion,
    ),
    of(
        "views/tree.ts",
        "if (stillness() || !this.width) {",
        "if (this.width || !this.width) {",
        test_tree.test_zoom_moves_smoothly_unless_the_reader_wants_no_motion,
    ),
    of("views/keys.ts", "if (!open) collapsed.add(z);", "", test_tree.test_collapse_and_expand),
    of("views/geometry.ts", "forest.levels[z] < state.depth", "true", test_tree.test_levels_shown),
    of(
        "cut.ts",
        "clusters.size < k; z = queue",
        "clusters.size < k - 1; z = queue",
        test_tree.test_a_cut_has_exactly_k_clusters_those_of_python,
    ),
    of("views/marks.ts", "this.links.append(link);", "", test_tree.test_nodes_and_links),
    of(
        "views/tree.ts",
        "drawAxis(this.axis,",
        "if (!this.axis) drawAxis(this.axis,",
        test_tree.test_the_dendrogram_has_heights_in_nats,
    ),
    of("views/keys.ts", "Escape: (app) => zoomOut(app),", "", test_tree.test_keyboard_alone),
    of("page.ts", 'event.key !== "/"', 'event.key !== "?"', test_tree.test_keyboard_alone),
    of(
        "views/tree.ts",
        'z === tabbed ? "0" : "-1"',
        '"0"',
        test_tree.test_one_node_takes_part_in_the_order_of_tabs,
    ),
    of(
        "search.ts",
        "folded(own).includes(wanted)",
        "own === wanted",
        test_tree.test_search_finds_items_and_groups,
    ),
    of("theme.ts", 'theme === "dark";', "false;", test_tree.test_light_and_dark),
    of(
        "styles.ts",
        "@media print {",
        "@media speech {",
        test_tree.test_paper_has_the_tree_and_no_controls,
    ),
    of(
        "styles.ts",
        ".controls { display: flex; flex-wrap: wrap;",
        ".controls { min-width: 500px; display: flex;",
        test_tree.test_a_narrow_page_does_not_scroll_sideways,
    ),
    # Panels
    of(
        "panels/node.ts",
        "`Support ${percent(support)}`",
        "`Support ${percent(support - 0.02)}`",
        test_panels.test_the_panel_of_a_group,
    ),
    of(
        "panels/item.ts",
        "sure[item * levels + level]",
        "sure[item * levels + level - 1]",
        test_panels.test_the_panel_of_an_item,
    ),
    of(
        "panels/item.ts",
        "sure[item * levels + level]",
        "sure[level]",
        test_questions.test_which_group_does_the_platypus_belong_to_and_how_sure,
    ),
    of(
        "parts/draws.ts",
        "this.go(this.app.state.draw + by)",
        "this.go(this.app.state.draw)",
        test_panels.test_draws_can_be_played_and_stepped_through,
    ),
    of(
        "parts/draws.ts",
        "clearTimeout(this.timer);",
        "",
        test_panels.test_draws_can_be_played_and_stepped_through,
    ),
    of(
        "parts/drawdata.ts",
        "for (const j of among) if (this.fit(draw, j, row) !== this.estimate(j, row)) n++;",
        "for (const j of among) if (this.fit(draw, j, row) === this.estimate(j, row)) n++;",
        test_panels.test_counts_of_a_draw_are_those_of_the_draw,
    ),
    of(
        "parts/drawdata.ts",
        "this.groupOf(t, i, row) === this.groupOf(t, j, row)",
        "this.fit(t, i, row) === this.fit(t, j, row)",
        test_panels.test_pairs_of_items,
    ),
    of(
        "parts/chains.ts",
        "rhat: rhat[s],",
        "rhat: rhat[0] + 1,",
        test_panels.test_chains_say_what_python_says,
    ),
    of(
        "parts/compare.ts",
        'Array.from(app.data.ints("compare.moved"))',
        'Array.from(app.data.ints("compare.moved")).slice(1)',
        test_panels.test_two_trees_side_by_side,
    ),
    of(
        "exports.ts",
        "trees[key][id] = name;",
        "trees[key][Number(id) + 1] = name;",
        test_panels.test_a_new_name_is_shown_everywhere_and_can_be_taken_away,
    ),
    of(
        "exports.ts",
        "forest.ids[forest.leaf[item]]",
        "forest.leaf[item] - 1",
        test_panels.test_members_as_csv,
        level=1,
    ),
    # Four questions
    of(
        "panels/effects.ts",
        'make("span", {}, text)',
        'make("span", {}, text.slice(0, 12))',
        test_questions.test_what_sets_the_birds_apart,
    ),
    of(
        "panels/about.ts",
        "scores[b] - scores[a] || a - b",
        "scores[a] - scores[b] || a - b",
        test_questions.test_which_five_rows_are_the_oddest,
    ),
    of(
        "parts/compare.ts",
        "this.app.data.info.compare?.sentences ?? []",
        "[] as string[]",
        test_questions.test_how_two_seeds_differ,
    ),
    # Hostile names
    of(
        "parts/build.ts",
        "  element.append(...inside);\n  return element;\n}\n\nexport function makeSvg",
        "  element.append(...inside);\n"
        "  if (typeof inside[0] === 'string') element.innerHTML = inside[0];\n"
        "  return element;\n}\n\nexport function makeSvg",
        test_hostile.test_every_name_is_shown_as_text,
    ),
    of(
        "exports.ts",
        "? `'${text}` : text",
        "? text : text",
        test_hostile.test_members_as_csv_are_text_in_a_spreadsheet,
    ),
    # A million items
    of(
        "search.ts",
        "return found + more + sampled;",
        "return found + more;",
        test_large.test_search_and_tables_say_what_is_not_in_the_page,
    ),
    of(
        "views/visible.ts",
        "least = 0.5;\n  let boxes = atLeast(forest, frame, least);\n  while (boxes.length > MOST)",
        "least = 0;\n  let boxes = atLeast(forest, frame, least);\n  while (boxes.length < 0)",
        test_large.test_few_elements_are_drawn,
    ),
    of(
        "views/tree.ts",
        "this.marks.draw(this.boxes, this.view);",
        "this.marks.draw(this.boxes, this.view); "
        "for (const t = performance.now(); performance.now() - t < 150; );",
        test_large.test_zoom_is_smooth,
    ),
    of(
        "page.ts",
        "const tree = new TreeView(app);",
        "const tree = new TreeView(app); for (const t = Date.now(); Date.now() - t < 2500; );",
        test_large.test_it_opens_as_fast_as_an_empty_page_of_its_size,
    ),
    # Accessible
    of(
        "styles.ts",
        "--quiet: #555c66",
        "--quiet: #b5bcc6",
        test_accessible.test_axe_finds_no_serious_fault,
        view="desk",
        stops=("Group",),
    ),
    of(
        "views/tree.ts",
        'z === tabbed ? "0" : "-1"',
        '"-1"',
        test_accessible.test_the_tab_key_reaches_every_control,
        panel="Group",
    ),
    of(
        "styles.ts",
        ":focus-visible { outline: 2px solid var(--strong); outline-offset: 2px; }",
        ":focus-visible { outline: none; }",
        test_accessible.test_the_focus_can_be_seen,
    ),
]
