/** The panel that compares two trees: side by side as a picture, and the same facts in words and tables. */

import type { App, Part, State } from "../app";
import { button, labelled, make, select, whenResized } from "./build";
import { nodeColour, paper } from "./colours";
import { places, type Ribbon, ribbons, Side } from "./comparelayout";
import { picture, type Scene } from "./comparepicture";
import { type Match, Matches } from "./matches";
import { count, groupName, inside, itemName, percent } from "./words";

const MOVED_LISTED = 40;
const TABLE_ROWS = 200;
// The rest stands below the picture, so that a reader sees the picture first.
const FIRST_SENTENCES = 4;

/** The panel "Compare", or null where the page has no second tree. */
export function comparePart(app: App): Part | null {
  const { info } = app.data;
  const both = info.trees.some((one) => one.key === "compare") && info.trees.some((one) => one.key === "tree");
  if (!both || !app.data.has("compare.a")) return null;
  const element = make("section", { class: "part part-compare", "aria-label": "Two trees" });
  let panel: ComparePanel | null = null;
  // Large trees take a moment to lay out, so the panel is made when it is opened.
  const show = (_before?: Readonly<State>) => {
    if (app.state.panel !== "compare") return;
    panel ??= new ComparePanel(app, element);
    panel.show();
  };
  show();
  return { element, show };
}

class ComparePanel {
  private readonly matches: Matches;
  private readonly moved: number[];
  private readonly movedSet: ReadonlySet<number>;
  private readonly box = make("div", { class: "compare-picture" });
  private readonly note = make("p", { class: "part-note" });
  private readonly chosen = make("p", { class: "compare-item" });
  private readonly movedBox = make("div", {});
  private readonly matchBox = make("div", { class: "compare-matches" });
  private readonly flowBox = make("details", { class: "compare-flows" });
  private level: number;
  private allMoved = false;
  private scene: Scene | null = null;
  private told: unknown[] = [];

  constructor(
    private readonly app: App,
    private readonly element: HTMLElement,
  ) {
    this.matches = new Matches(app.data, app.forest("tree"), app.forest("compare"));
    this.moved = app.data.has("compare.moved") ? Array.from(app.data.ints("compare.moved")) : [];
    this.movedSet = new Set(this.moved);
    this.level = this.firstLevel();
    this.element.append(...this.contents());
    whenResized(this.box, () => this.draw());
  }

  show(): void {
    const { renamed } = this.app.state;
    this.chosen.textContent = this.itemWords();
    // Tables depend on the level, names and colours alone; a chosen item changes only the picture.
    const told = [this.level, renamed, this.app.palette.dark];
    if (told.some((one, i) => one !== this.told[i])) this.fillTables();
    this.told = told;
    this.draw();
  }

  /** The deepest level at which both trees are still easy to look at. */
  private firstLevel(): number {
    let level = 1;
    for (let next = 2; next <= this.deepest(); next++) {
      const groups = (["tree", "compare"] as const).map((key) => new Side(this.app.forest(key), next).ends().length);
      if (Math.max(...groups) > 24) break;
      level = next;
    }
    return level;
  }

  private deepest(): number {
    return Math.max(this.app.forest("tree").depth, this.app.forest("compare").depth, 1);
  }

  private contents(): HTMLElement[] {
    const levels = Array.from({ length: this.deepest() }, (_, i): [string, string] => [String(i + 1), i + 1 === this.deepest() ? `${i + 1} (lowest groups)` : String(i + 1)]);
    const level = select(levels, String(this.level), (value) => {
      this.level = Number(value);
      this.scene = null;
      this.show();
    });
    const sentences = this.app.data.info.compare?.sentences ?? [];
    const rest = sentences.slice(FIRST_SENTENCES).map((one) => make("p", {}, one));
    const more = rest.length > 0 ? [make("div", { class: "part-lead" }, make("h3", {}, "What changed"), ...rest)] : [];
    return [
      make("div", { class: "part-lead" }, ...sentences.slice(0, FIRST_SENTENCES).map((one) => make("p", {}, one))),
      make("div", { class: "part-controls" }, labelled("Level", level)),
      this.box,
      this.note,
      this.chosen,
      this.movedBox,
      ...more,
      this.matchBox,
      this.flowBox,
    ];
  }

  private gather(): Scene {
    if (this.scene) return this.scene;
    const [tree, other] = [this.app.forest("tree"), this.app.forest("compare")];
    const left = new Side(tree, this.level);
    const right = new Side(other, this.level, places(tree));
    const moved = (item: number, a: number, b: number) => this.movedSet.has(item) && !this.matches.pair(a, b);
    this.scene = { left, right, matches: this.matches, ribbons: ribbons(left, right, moved) };
    return this.scene;
  }

  private draw(): void {
    if (this.app.state.panel !== "compare" || this.box.clientWidth === 0) return;
    const { svg, left_out } = picture(this.app, this.gather(), this.box.clientWidth, (item) => this.app.set({ item }));
    this.box.replaceChildren(svg);
    this.element.style.setProperty("--part-paper", paper(this.app));
    const hidden = left_out > 0 ? ` ${count(left_out, "thin ribbon")} are not drawn; the table of groups has them.` : "";
    this.note.textContent = `A ribbon joins the items that two groups share; its width is their number. Equal colours: groups that match. Grey and hatched: no match. Strong ribbons with an outline: rows that moved.${hidden}`;
  }

  private itemWords(): string {
    const { item } = this.app.state;
    if (item === null) return "Choose an item to see its place in both trees.";
    const { left, right } = this.gather();
    const name = inside(itemName(this.app, item));
    if (right.group[item] < 0) return `${name} is only in the left tree.`;
    return `${name} at level ${this.level}: ${this.way(left.group[item], right.group[item], 60)}. ${this.movedSet.has(item) ? "It moved." : "It did not move."}`;
  }

  /** From a group of the left tree to one of the right. */
  private way(a: number, b: number, most: number): string {
    if (b < 0) return "is only in the left tree";
    const words = `${inside(groupName(this.app, "tree", a, most))} → ${inside(groupName(this.app, "compare", b, most))}`;
    return this.matches.pair(a, b) ? `${words} (these match)` : words;
  }

  private fillTables(): void {
    const scene = this.gather();
    this.movedBox.replaceChildren(...this.movedRows(scene));
    this.matchBox.replaceChildren(...this.matchTable(scene));
    this.flowBox.replaceChildren(make("summary", {}, "Ribbons as a table"), this.flowTable(scene.ribbons));
  }

  private movedRows(scene: Scene): HTMLElement[] {
    const title = make("h3", {}, `Rows that moved: ${this.moved.length.toLocaleString("en")}`);
    if (this.moved.length === 0) return [title, make("p", {}, "No row moved.")];
    const listed = this.allMoved ? this.moved : this.moved.slice(0, MOVED_LISTED);
    const entries = listed.map((item) =>
      make("li", {}, button(itemName(this.app, item), () => this.app.set({ item }), "part-link"),
        `: ${this.way(scene.left.group[item], scene.right.group[item], 30)}`));
    const how = make("p", { class: "part-note" }, `Their group at level ${this.level}: left → right.`);
    const list = make("ul", { class: "part-list compare-moved-list" }, ...entries);
    if (listed.length === this.moved.length) return [title, how, list];
    const more = button(`Show all ${this.moved.length.toLocaleString("en")}`, () => {
      this.allMoved = true;
      this.movedBox.replaceChildren(...this.movedRows(scene));
    });
    return [title, how, list, more];
  }

  private matchTable(scene: Scene): HTMLElement[] {
    const [tree, other] = [scene.left.forest, scene.right.forest];
    const [lefts, rights] = [scene.left.ends(), scene.right.ends()];
    const matched = lefts.filter((z) => z > 0 && this.matches.ofTree(z));
    const rows = matched.slice(0, TABLE_ROWS).map((a) => this.matchRow(a, this.matches.ofTree(a) as Match));
    const alone = [
      ...lefts.filter((z) => !this.matches.ofTree(z)).map((z) => `${inside(groupName(this.app, "tree", z, 40))} (left, ${tree.sizes[z].toLocaleString("en")})`),
      ...rights.filter((z) => !this.matches.ofOther(z)).map((z) => `${inside(groupName(this.app, "compare", z, 40))} (right, ${other.sizes[z].toLocaleString("en")})`),
    ];
    const note = alone.length === 0 ? "Every group at this level has a match." : `Groups without a match: ${alone.slice(0, 30).join("; ")}${alone.length > 30 ? `; and ${alone.length - 30} more` : ""}.`;
    return [
      make("h3", {}, "Groups that match"),
      table(["Left", "Items", "Right", "Items", "Overlap"], rows),
      make("p", { class: "part-note" }, `${cutShort(matched.length)}Overlap is the Jaccard index: items in both groups, as a share of items in either. Below 50 % there is no match. ${note}`),
    ];
  }

  private matchRow(a: number, { b, jaccard }: Match): HTMLElement {
    const [tree, other] = [this.app.forest("tree"), this.app.forest("compare")];
    return make("tr", {}, make("td", {}, this.swatch(a), groupName(this.app, "tree", a, 40)), cell(tree.sizes[a]),
      make("td", {}, this.swatch(a), groupName(this.app, "compare", b, 40)), cell(other.sizes[b]), make("td", { class: "part-number" }, percent(jaccard)));
  }

  private flowTable(all: Ribbon[]): HTMLElement {
    const sorted = [...all].sort((one, other) => other.items.length - one.items.length).slice(0, TABLE_ROWS);
    const rows = sorted.map((one) =>
      make("tr", {}, make("td", {}, groupName(this.app, "tree", one.left, 40)), make("td", {}, groupName(this.app, "compare", one.right, 40)),
        cell(one.items.length), make("td", {}, one.moved ? "moved" : "did not move")));
    return make("div", {}, table(["Left", "Right", "Items", "Rows"], rows), make("p", { class: "part-note" }, cutShort(all.length)));
  }

  private swatch(node: number): HTMLElement {
    const mark = make("span", { class: "compare-swatch", "aria-hidden": "true" });
    mark.style.setProperty("background", nodeColour(this.app, node));
    return mark;
  }
}

function cutShort(n: number): string {
  return n > TABLE_ROWS ? `The table has ${TABLE_ROWS} of ${n.toLocaleString("en")} lines. ` : "";
}

function cell(n: number): HTMLElement {
  return make("td", { class: "part-number" }, n.toLocaleString("en"));
}

/** A table that scrolls sideways by itself where the page is narrow. */
function table(heads: string[], rows: HTMLElement[]): HTMLElement {
  const head = make("thead", {}, make("tr", {}, ...heads.map((one) => make("th", { scope: "col" }, one))));
  return make("div", { class: "part-scroll", tabindex: "0", role: "group", "aria-label": "Table" }, make("table", {}, head, make("tbody", {}, ...rows)));
}
