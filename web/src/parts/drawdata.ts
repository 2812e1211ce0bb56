/** The posterior draws of a page, with the estimate beside them. */

import type { App } from "../app";
import type { Container } from "../container";

export class DrawData {
  readonly nDraws: number;
  readonly nItems: number;
  /** Levels of the tree, and the components last. */
  readonly nRows: number;
  readonly chain: ArrayLike<number>;
  /** Embedded items that have draws. */
  readonly items: ArrayLike<number>;
  /** Where an embedded item stands among those with draws. */
  readonly position: ReadonlyMap<number, number>;
  private readonly nNodes: number;
  private readonly match: ArrayLike<number>;
  private readonly group: ArrayLike<number>;
  private readonly estimates: Int32Array;
  private readonly componentFits = new Map<number, Int32Array>();

  constructor(app: App) {
    const data = app.data;
    [this.nDraws, this.nItems, this.nRows] = data.shape("draws.match");
    this.nNodes = app.forest("tree").nNodes;
    this.items = data.ints("draws.items");
    this.chain = data.ints("draws.chain");
    this.match = data.ints("draws.match");
    this.group = data.ints("draws.group");
    const position = new Map<number, number>();
    for (let j = 0; j < this.nItems; j++) position.set(this.items[j], j);
    this.position = position;
    this.estimates = this.gatherEstimates(app);
  }

  rowName(row: number): string {
    return row === this.nRows - 1 ? "Components" : `Level ${row + 1}`;
  }

  isComponents(row: number): boolean {
    return row === this.nRows - 1;
  }

  /** The node of the tree (or the component) that the estimate gives; -1 if none. */
  estimate(j: number, row: number): number {
    return this.estimates[j * this.nRows + row];
  }

  /** The node of the tree (or the component) that fits a draw's group best; -1 if none. */
  fit(draw: number, j: number, row: number): number {
    if (draw < 0) return this.estimate(j, row);
    if (this.isComponents(row)) return this.fitOfComponents(draw)[j];
    const node = this.match[(draw * this.nItems + j) * this.nRows + row];
    return node < this.nNodes ? node : -1;
  }

  /** The draw's own number of the group: equal numbers, same group. */
  groupOf(draw: number, j: number, row: number): number {
    return this.group[(draw * this.nItems + j) * this.nRows + row];
  }

  /** How many of the items are elsewhere than in the estimate. */
  elsewhere(draw: number, row: number, among: readonly number[]): number {
    let n = 0;
    for (const j of among) if (this.fit(draw, j, row) !== this.estimate(j, row)) n++;
    return n;
  }

  /** In which share of draws an item is elsewhere. */
  shareElsewhere(j: number, row: number): number {
    let n = 0;
    for (let t = 0; t < this.nDraws; t++) if (this.fit(t, j, row) !== this.estimate(j, row)) n++;
    return n / this.nDraws;
  }

  /** In which share of draws two items are in the same group. */
  together(i: number, j: number, row: number): number {
    let n = 0;
    for (let t = 0; t < this.nDraws; t++) if (this.groupOf(t, i, row) === this.groupOf(t, j, row)) n++;
    return n / this.nDraws;
  }

  private gatherEstimates(app: App): Int32Array {
    const tree = app.forest("tree");
    const out = new Int32Array(this.nItems * this.nRows).fill(-1);
    const components = app.data.has("items.component") ? app.data.ints("items.component") : null;
    for (let j = 0; j < this.nItems; j++) {
      for (let z = tree.leaf[this.items[j]]; z >= 0; z = tree.parents[z]) {
        const row = tree.levels[z] - 1;
        if (row >= 0 && row < this.nRows - 1) out[j * this.nRows + row] = z;
      }
      if (components) out[j * this.nRows + this.nRows - 1] = components[this.items[j]];
    }
    return out;
  }

  /** Components have other numbers in each draw: each is matched to the estimate's with the largest Jaccard index, as nodes are. */
  private fitOfComponents(draw: number): Int32Array {
    const known = this.componentFits.get(draw);
    if (known) return known;
    const row = this.nRows - 1;
    const [ours, theirs] = [new Map<number, number>(), new Map<number, number>()];
    const both = new Map<number, Map<number, number>>();
    for (let j = 0; j < this.nItems; j++) {
      const [a, b] = [this.groupOf(draw, j, row), this.estimate(j, row)];
      const shared = both.get(a) ?? new Map<number, number>();
      both.set(a, shared.set(b, (shared.get(b) ?? 0) + 1));
      ours.set(a, (ours.get(a) ?? 0) + 1);
      theirs.set(b, (theirs.get(b) ?? 0) + 1);
    }
    const best = new Map<number, number>();
    for (const [a, shared] of both) {
      let most = 0.1;
      for (const [b, n] of shared) {
        const jaccard = n / ((ours.get(a) ?? 0) + (theirs.get(b) ?? 0) - n);
        if (b >= 0 && jaccard >= most) {
          most = jaccard;
          best.set(a, b);
        }
      }
    }
    const fits = Int32Array.from({ length: this.nItems }, (_, j) => best.get(this.groupOf(draw, j, row)) ?? -1);
    this.componentFits.set(draw, fits);
    return fits;
  }
}

const made = new WeakMap<Container, DrawData>();

/** The draws of the page, gathered once; null where it has none. */
export function drawData(app: App): DrawData | null {
  if (!app.data.info.trees.some(({ key }) => key === "tree")) return null;
  if (!app.data.has("draws.match") || app.data.shape("draws.match").some((n) => n === 0)) return null;
  const known = made.get(app.data) ?? new DrawData(app);
  made.set(app.data, known);
  return known;
}

/** Positions of the items below the chosen node, in the order of the estimate. */
export function positionsInView(app: App, draws: DrawData): number[] {
  const chosen = app.state.node > 0 ? new Set(app.forest(app.state.tree).items(app.state.node)) : null;
  const out: number[] = [];
  for (const item of app.forest("tree").order) {
    const j = draws.position.get(item);
    if (j !== undefined && (!chosen || chosen.has(item))) out.push(j);
  }
  return out;
}

/** At most `most` of the list, evenly spaced. */
export function evenly<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]);
}

/** The same, with one more in place of its nearest, so that a chosen item is always seen. */
export function evenlyWith<T>(list: readonly T[], most: number, wanted: T | undefined): T[] {
  const out = evenly(list, most);
  const at = wanted === undefined ? -1 : list.indexOf(wanted);
  if (at >= 0 && out.length < list.length && !out.includes(list[at])) out[Math.floor((at * most) / list.length)] = list[at];
  return out;
}
