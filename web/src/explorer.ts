/** The App: holds what is shown, and tells all parts of every change. */

import type { App, State } from "./app";
import type { Container, TreeKey } from "./container";
import { cutInto } from "./cut";
import { Forest } from "./forest";
import { Palette } from "./palette";
import { isDark } from "./theme";

export class Explorer implements App {
  state: Readonly<State>;
  palette: Palette;
  cut: readonly number[] = [];
  private readonly forests = new Map<TreeKey, Forest>();
  private readonly listeners: ((before: Readonly<State>) => void)[] = [];
  private readonly waiting: Partial<State>[] = [];
  private telling = false;

  /** @param live the element whose text is read aloud when it changes */
  constructor(
    readonly data: Container,
    private readonly live: HTMLElement,
  ) {
    const tree = data.info.trees.some(({ key }) => key === data.info.opens_with) ? data.info.opens_with : "tree";
    this.state = {
      tree,
      layout: "icicle",
      panel: "about",
      node: 0,
      item: null,
      zoom: 0,
      collapsed: new Set(),
      depth: 0,
      clusters: 0,
      draw: -1,
      theme: "auto",
      renamed: new Map(),
    };
    this.state = { ...this.state, depth: this.forest().depth };
    this.palette = this.paint();
  }

  forest(key: TreeKey = this.state.tree): Forest {
    let forest = this.forests.get(key);
    if (!forest) {
      const info = this.data.info.trees.find((one) => one.key === key);
      if (!info) throw new Error(`This page has no tree named ${key}.`);
      forest = new Forest(this.data, key, info.unit);
      this.forests.set(key, forest);
    }
    return forest;
  }

  listen(listener: (before: Readonly<State>) => void): void {
    this.listeners.push(listener);
  }

  set(change: Partial<State>): void {
    this.waiting.push(change);
    // A part that changes something while it is told must not tell the others in the middle of the round.
    if (this.telling) return;
    this.telling = true;
    try {
      for (let next = this.waiting.shift(); next; next = this.waiting.shift()) this.apply(next);
    } finally {
      this.telling = false;
      this.waiting.length = 0;
    }
  }

  say(sentence: string): void {
    this.live.textContent = sentence;
  }

  /** Colours anew, because the reader's system has changed between light and dark. */
  repaint(): void {
    this.palette = this.paint();
    for (const listener of this.listeners) listener(this.state);
  }

  private apply(change: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...this.onOtherTree(change), ...change };
    const changed = (Object.keys(this.state) as (keyof State)[]).filter((key) => this.state[key] !== before[key]);
    if (!changed.length) return;
    if (changed.includes("tree") || changed.includes("clusters")) {
      this.cut = this.state.clusters > 0 ? cutInto(this.forest(), this.state.clusters) : [];
      this.palette = this.paint();
    } else if (changed.includes("theme")) {
      this.palette = this.paint();
    }
    for (const listener of this.listeners) listener(before);
  }

  /** Nodes of one tree mean nothing in the other, so the view starts anew; a chosen item stays chosen. */
  private onOtherTree(change: Partial<State>): Partial<State> {
    const key = change.tree;
    if (!key || key === this.state.tree) return {};
    const forest = this.forest(key);
    const item = change.item === undefined ? this.state.item : change.item;
    const node = item === null ? 0 : forest.leaf[item];
    return { node, zoom: 0, collapsed: new Set(), depth: forest.depth };
  }

  private paint(): Palette {
    const cut = this.cut.length ? { forest: this.forest(), nodes: [...this.cut] } : null;
    return new Palette((key) => this.forest(key), isDark(this.state.theme), cut);
  }
}
