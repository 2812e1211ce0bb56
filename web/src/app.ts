/** What every part of the explorer sees: the data, what is shown now, and how to change that. */

import type { Container, TreeKey } from "./container";
import type { Forest } from "./forest";
import type { Palette } from "./palette";

/** What a person looks at. A part reads it, and changes it by `App.set` alone. */
export interface State {
  /** Which tree. */
  tree: "tree" | "dendrogram";
  /** How it is drawn. */
  layout: "icicle" | "links";
  /** Which panel is open. */
  panel: "about" | "node" | "item" | "draws" | "together" | "chains" | "compare";
  /** The node that is chosen, an index of the tree shown. */
  node: number;
  /** The embedded item that is chosen, or null. */
  item: number | null;
  /** The node that fills the view. */
  zoom: number;
  /** Nodes whose children are not drawn. */
  collapsed: ReadonlySet<number>;
  /** The deepest level that is drawn. */
  depth: number;
  /** Into how many clusters the tree is cut; 0: not cut. */
  clusters: number;
  /** The draw that is shown, -1: the estimate. */
  draw: number;
  theme: "auto" | "light" | "dark";
  /** Names a person gave in this page, by tree and Python's node id: "tree:12". */
  renamed: ReadonlyMap<string, string>;
}

export interface App {
  readonly data: Container;
  readonly state: Readonly<State>;
  forest(key?: TreeKey): Forest;
  readonly palette: Palette;
  /** The nodes that stand for the clusters of the cut, in the order of the tree; none where the tree is not cut. */
  readonly cut: readonly number[];
  /** Changes what is shown; every part is told once. */
  set(change: Partial<State>): void;
  /** Says a sentence to people who hear the page. */
  say(sentence: string): void;
}

/** A part of the page. `show` is called after every change with what was before. */
export interface Part {
  readonly element: HTMLElement;
  show(before: Readonly<State>): void;
}
