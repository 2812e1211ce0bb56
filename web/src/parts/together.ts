/** The panel that shows how often two items are in the same group. */

import type { App, Part, State } from "../app";
import { button, calmly, labelled, make, select, slider, tellSlider, whenResized } from "./build";
import { type DrawData, drawData, evenlyWith, positionsInView } from "./drawdata";
import { PairMap } from "./pairmap";
import { groupName, inside, itemName, percent } from "./words";

const MOST_ITEMS = 150;
const PAIRS_LISTED = 8;
const PARTNERS_LISTED = 5;

/** The panel "Together", or null where the page has no draws. */
export function togetherPart(app: App): Part | null {
  const draws = drawData(app);
  return draws ? new TogetherPanel(app, draws) : null;
}

class TogetherPanel implements Part {
  readonly element: HTMLElement;
  private readonly map: PairMap;
  private readonly view = make("p", { class: "part-note" });
  private readonly pointed = make("p", { class: "together-pointed" });
  private readonly pairs = make("div", { class: "together-pairs" });
  private readonly partners = make("div", { class: "together-partners" });
  private readonly itemSlider: HTMLInputElement;
  private readonly say: (sentence: string) => void;
  private row: number;
  private shown: number[] = [];
  private shares: Float32Array = new Float32Array(0);
  private nInView = 0;
  private key = "";

  constructor(
    private readonly app: App,
    private readonly draws: DrawData,
  ) {
    this.say = calmly((sentence) => app.say(sentence));
    this.row = Math.max(draws.nRows - 2, 0);
    this.map = new PairMap(app, draws);
    this.itemSlider = slider(1, (value) => this.choose(this.shown[value]));
    this.listen();
    this.element = make("section", { class: "part part-together", "aria-label": "Items that are together" }, ...this.contents());
    whenResized(this.map.element, () => this.draw());
    this.show();
  }

  show(_before?: Readonly<State>): void {
    if (this.app.state.panel !== "together") return;
    this.gather();
    this.view.textContent = this.viewWords(this.nInView);
    const chosen = this.chosen();
    const at = chosen === undefined ? -1 : this.shown.indexOf(chosen);
    this.itemSlider.disabled = this.shown.length === 0;
    tellSlider(this.itemSlider, Math.max(at, 0), Math.max(this.shown.length - 1, 0), at < 0 ? "no item is chosen" : this.name(this.shown[at]));
    this.partners.replaceChildren(...this.partnersOf(chosen));
    this.pointNowhere();
    this.draw();
  }

  private contents(): HTMLElement[] {
    const rows = Array.from({ length: this.draws.nRows }, (_, row): [string, string] => [String(row), this.draws.rowName(row)]);
    const level = select(rows, String(this.row), (value) => {
      this.row = Number(value);
      this.show();
    });
    return [
      make("p", { class: "part-lead" }, "How often are two items in the same group? Each square is a pair of items; its colour is the share of draws in which they are together."),
      make("div", { class: "part-controls" }, labelled("Same group at", level)),
      this.view,
      this.map.element,
      this.pointed,
      labelled("Item", this.itemSlider, "part-wide"),
      this.partners,
      this.pairs,
    ];
  }

  private listen(): void {
    const canvas = this.map.canvas;
    canvas.addEventListener("pointermove", (event) => {
      const pair = this.map.pairAt(event.offsetX, event.offsetY);
      if (pair) this.point(...pair);
      else this.pointNowhere();
    });
    canvas.addEventListener("pointerleave", () => this.pointNowhere());
    canvas.addEventListener("click", (event) => {
      const pair = this.map.pairAt(event.offsetX, event.offsetY);
      if (pair) this.choose(this.shown[pair[1]]);
    });
  }

  /** Shares of all pairs in view; anew only where the items or the level changed. */
  private gather(): void {
    const { tree, node } = this.app.state;
    const key = `${tree}:${node}:${this.row}`;
    const chosen = this.chosen();
    const seen = chosen === undefined || this.shown.length < MOST_ITEMS || this.shown.includes(chosen);
    if (key === this.key && seen) return;
    this.key = key;
    const inView = positionsInView(this.app, this.draws);
    this.shown = evenlyWith(inView, MOST_ITEMS, chosen);
    const n = this.shown.length;
    this.shares = new Float32Array(n * n);
    for (let a = 0; a < n; a++) {
      for (let b = a; b < n; b++) {
        this.shares[a * n + b] = this.shares[b * n + a] = this.draws.together(this.shown[a], this.shown[b], this.row);
      }
    }
    this.nInView = inView.length;
    this.pairs.replaceChildren(...this.uncertainPairs());
  }

  private viewWords(inView: number): string {
    const { tree, node } = this.app.state;
    const where = node > 0 ? `below the chosen group, ${inside(groupName(this.app, tree, node))}` : "of the whole tree";
    const n = this.shown.length;
    const items = n < inView ? `${n} of the ${inView.toLocaleString("en")} items ${where}, evenly spaced` : `The ${n} items ${where}`;
    return `${items}, in the order of the tree, over ${this.draws.nDraws} draws.${node > 0 ? "" : " Choose a group in the tree to see only its items."}`;
  }

  /** Pairs that are together in about half of the draws; an item stands in one pair only, so that the list covers more of the tree. */
  private uncertainPairs(): HTMLElement[] {
    const n = this.shown.length;
    const doubt: { a: number; b: number; share: number }[] = [];
    for (let a = 0; a < n; a++) {
      for (let b = a + 1; b < n; b++) {
        const share = this.shares[a * n + b];
        if (share > 0.05 && share < 0.95) doubt.push({ a, b, share });
      }
    }
    doubt.sort((one, other) => Math.abs(one.share - 0.5) - Math.abs(other.share - 0.5));
    const listed: typeof doubt = [];
    const used = new Set<number>();
    for (const pair of doubt) {
      if (listed.length === PAIRS_LISTED) break;
      if (used.has(pair.a) || used.has(pair.b)) continue;
      used.add(pair.a).add(pair.b);
      listed.push(pair);
    }
    const title = make("h3", {}, "The most uncertain pairs");
    if (listed.length === 0) return [title, make("p", {}, "No pair is in doubt: every two items are together in almost all draws, or in almost none.")];
    const of = `${doubt.length.toLocaleString("en")} of ${((n * (n - 1)) / 2).toLocaleString("en")} pairs are together in more than 5 % and fewer than 95 % of draws. Nearest to half:`;
    const entries = listed.map(({ a, b, share }) =>
      make("li", {}, this.link(this.shown[a]), " and ", this.link(this.shown[b]), `: ${percent(share)}`));
    return [title, make("p", {}, of), make("ul", { class: "part-list" }, ...entries)];
  }

  private partnersOf(j: number | undefined): HTMLElement[] {
    const { item } = this.app.state;
    if (item === null) return [make("p", {}, "Choose an item to see whom it is with most often.")];
    const title = make("h3", {}, `Most often together with ${inside(itemName(this.app, item))}`);
    if (j === undefined) return [title, make("p", {}, "This page has no draws of this item.")];
    const all: { k: number; share: number }[] = [];
    for (let k = 0; k < this.draws.nItems; k++) if (k !== j) all.push({ k, share: this.draws.together(j, k, this.row) });
    all.sort((one, other) => other.share - one.share);
    const top = all.slice(0, PARTNERS_LISTED);
    const ties = all.filter((one) => one.share === top[top.length - 1]?.share).length;
    const entries = top.map(({ k, share }) => make("li", {}, this.link(k), `: ${percent(share)} of draws`));
    const equal = ties > PARTNERS_LISTED ? [make("p", { class: "part-note" }, `${ties} items are together with it in ${percent(top[top.length - 1].share)} of draws.`)] : [];
    return [title, make("ol", { class: "part-list" }, ...entries), ...equal];
  }

  private link(j: number): HTMLElement {
    return button(this.name(j), () => this.choose(j), "part-link");
  }

  private point(a: number, b: number): void {
    const share = this.shares[a * this.shown.length + b];
    const draws = Math.round(share * this.draws.nDraws);
    const same = a === b ? "" : ` and ${inside(this.name(this.shown[b]))}: together in ${draws} of ${this.draws.nDraws} draws (${percent(share)})`;
    this.pointed.textContent = inside(this.name(this.shown[a])) + same;
  }

  private pointNowhere(): void {
    this.pointed.textContent = "Point at a square to see its pair; click to choose the item of its row.";
  }

  private draw(): void {
    const chosen = this.chosen();
    this.map.draw(this.shown, this.shares, this.row, chosen === undefined ? -1 : this.shown.indexOf(chosen));
  }

  private name(j: number): string {
    return itemName(this.app, this.draws.items[j]);
  }

  private chosen(): number | undefined {
    const { item } = this.app.state;
    return item === null ? undefined : this.draws.position.get(item);
  }

  private choose(j: number | undefined): void {
    if (j === undefined) return;
    this.app.set({ item: this.draws.items[j] });
    this.say(`${this.name(j)} is chosen.`);
  }
}
