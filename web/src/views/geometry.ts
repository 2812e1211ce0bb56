/** Where nodes stand: across (a, from 0 to 1) and down the tree (d, in levels, or from 0 to 1 where there are heights). */

import type { State } from "../app";
import type { Forest } from "../forest";

export interface Layout {
  /** Where each node begins and ends across the tree. */
  a0: Float64Array;
  a1: Float64Array;
  /** Where each node begins and ends down the tree. */
  d0: Float64Array;
  d1: Float64Array;
  /** Nodes that have something drawn below them. */
  open: Uint8Array;
  /** Nodes that are neither below a collapsed node nor deeper than the levels shown. */
  shown: Uint8Array;
}

/** The part of the layout that fills the view. */
export interface Window {
  a0: number;
  a1: number;
  d0: number;
  d1: number;
}

/** Narrower columns cannot hold a word. */
const LEAST_COLUMN = 62;
/** How wide the names of members are, in columns; in the node-link view names of groups stand there too. */
const MEMBERS = { icicle: 1.25, links: 1.6 };

export function layOut(forest: Forest, state: Readonly<State>): Layout {
  const n = forest.nNodes;
  const layout: Layout = {
    a0: new Float64Array(n),
    a1: new Float64Array(n),
    d0: new Float64Array(n),
    d1: new Float64Array(n),
    open: new Uint8Array(n),
    shown: new Uint8Array(n),
  };
  for (let z = 0; z < n; z++) {
    const parent = forest.parents[z];
    layout.shown[z] = parent < 0 || layout.open[parent] ? 1 : 0;
    const may = layout.shown[z] && forest.levels[z] < state.depth && !state.collapsed.has(z);
    layout.open[z] = may && forest.children(z).length ? 1 : 0;
  }
  spread(forest, layout, state.layout === "links" ? slots(forest, layout) : Float64Array.from(forest.sizes));
  if (forest.heights) byHeight(forest, layout, forest.heights);
  else byLevel(forest, layout);
  return layout;
}

/** In the node-link view large groups get more room, but less than their size, so that small ones can be read. */
function slots(forest: Forest, layout: Layout): Float64Array {
  const weight = new Float64Array(forest.nNodes);
  for (let z = forest.nNodes - 1; z >= 0; z--) {
    if (layout.shown[z] && !layout.open[z]) weight[z] = Math.sqrt(forest.sizes[z]);
    if (z > 0 && layout.shown[z]) weight[forest.parents[z]] += weight[z];
  }
  return weight;
}

function spread(forest: Forest, { a0, a1 }: Layout, weight: Float64Array): void {
  a1[0] = 1;
  for (let z = 0; z < forest.nNodes; z++) {
    const children = forest.children(z);
    const unit = weight[z] > 0 ? (a1[z] - a0[z]) / weight[z] : 0;
    let at = a1[z];
    for (const child of children) at -= unit * weight[child];
    // Rows that end in the node itself come before its children.
    at = Math.max(a0[z], at);
    for (const child of children) {
      a0[child] = at;
      at += unit * weight[child];
      a1[child] = at;
    }
  }
}

function byLevel(forest: Forest, { d0, d1 }: Layout): void {
  for (let z = 0; z < forest.nNodes; z++) {
    d0[z] = forest.levels[z];
    d1[z] = forest.levels[z] + 1;
  }
}

/** Roots of heights, because merges near the leaves are often a thousandth of the last one. */
function byHeight(forest: Forest, { d0, d1, open, shown }: Layout, heights: Float32Array): void {
  const scale = heightScale(topHeight(heights));
  for (let z = 0; z < forest.nNodes; z++) {
    const parent = forest.parents[z];
    d0[z] = parent < 0 ? -0.08 : d1[parent];
    d1[z] = Math.max(parent < 0 ? 0 : d0[z], scale(Number.isFinite(heights[z]) ? heights[z] : 0));
  }
  // Only after all children are placed: a node whose children are not drawn reaches down to the members.
  for (let z = 0; z < forest.nNodes; z++) if (shown[z] && !open[z] && forest.children(z).length) d1[z] = 1;
}

export function topHeight(heights: Float32Array): number {
  let top = 0;
  for (const height of heights) if (Number.isFinite(height)) top = Math.max(top, height);
  return top || 1;
}

/** Where a height stands down the tree: the top at 0, height 0 at 1. */
export function heightScale(top: number): (height: number) => number {
  return (height) => 1 - Math.sqrt(Math.min(1, Math.max(0, height / top)));
}

/** What is seen when a node fills the view, with a strip of its parent as the way back. */
export function windowOf(forest: Forest, layout: Layout, state: Readonly<State>, width: number): Window {
  const z = state.zoom;
  const across = { a0: layout.a0[z], a1: Math.max(layout.a1[z], layout.a0[z] + 1e-9) };
  if (forest.heights) {
    const d0 = z === 0 ? -0.05 : Math.min(layout.d0[z], 0.98) - 0.02;
    return { ...across, d0, d1: 1 + (state.layout === "links" ? 0.6 : 0.45) * (1 - d0) };
  }
  const level = forest.levels[z];
  const deepest = Math.min(state.depth, deepestBelow(forest, z));
  const d0 = z === 0 ? (state.layout === "links" ? 0.1 : 0.3) : level - 0.14;
  const wanted = Math.max(deepest, level) + 1 - d0 + MEMBERS[state.layout];
  return { ...across, d0, d1: d0 + Math.min(wanted, Math.max(2.2, width / LEAST_COLUMN)) };
}

function deepestBelow(forest: Forest, top: number): number {
  let deepest = forest.levels[top];
  const stack = [top];
  for (let z = stack.pop(); z !== undefined; z = stack.pop()) {
    deepest = Math.max(deepest, forest.levels[z]);
    for (const child of forest.children(z)) stack.push(child);
  }
  return deepest;
}

/** Between two windows; the span changes by equal factors in equal times, which looks like steady motion. */
export function between(from: Window, to: Window, t: number): Window {
  const [start, stop] = [from.a1 - from.a0, to.a1 - to.a0];
  const span = start * (stop / start) ** t;
  const share = Math.abs(stop - start) < 1e-12 ? t : (span - start) / (stop - start);
  const a0 = from.a0 + (to.a0 - from.a0) * share;
  return { a0, a1: a0 + span, d0: from.d0 + (to.d0 - from.d0) * t, d1: from.d1 + (to.d1 - from.d1) * t };
}

/** Between two layouts of the same tree. */
export function blend(from: Layout, to: Layout, t: number): Layout {
  const mixed = (a: Float64Array, b: Float64Array) => a.map((one, i) => one + (b[i] - one) * t);
  return { ...to, a0: mixed(from.a0, to.a0), a1: mixed(from.a1, to.a1), d0: mixed(from.d0, to.d0), d1: mixed(from.d1, to.d1) };
}
