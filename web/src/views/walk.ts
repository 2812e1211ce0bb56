/** The order in which arrow keys walk through the nodes that are shown: parents before children, then the next sibling. */

import type { Forest } from "../forest";
import type { Layout } from "./geometry";

export function nextShown(forest: Forest, layout: Layout, z: number): number {
  if (layout.open[z]) return pastHidden(forest, layout, forest.children(z)[0]);
  for (let one = z; one > 0; one = forest.parents[one]) {
    const siblings = forest.children(forest.parents[one]);
    const at = siblings.indexOf(one);
    if (at + 1 < siblings.length) return pastHidden(forest, layout, siblings[at + 1]);
  }
  return z;
}

export function previousShown(forest: Forest, layout: Layout, z: number): number {
  if (z === 0) return 0;
  const parent = forest.parents[z];
  const at = forest.children(parent).indexOf(z);
  const before = at > 0 ? lastShown(forest, layout, forest.children(parent)[at - 1]) : parent;
  return flat(forest, layout, before) ? previousShown(forest, layout, before) : before;
}

/** The last node at or below `z`. */
export function lastShown(forest: Forest, layout: Layout, z: number): number {
  let last = z;
  while (layout.open[last]) last = forest.children(last)[forest.children(last).length - 1];
  return last;
}

/** Where there are heights, an only child may be as high as its parent, and has no area. */
function flat(forest: Forest, layout: Layout, z: number): boolean {
  return z > 0 && layout.open[z] === 1 && layout.d1[z] <= layout.d0[z] && forest.children(z).length === 1;
}

function pastHidden(forest: Forest, layout: Layout, z: number): number {
  let one = z;
  while (flat(forest, layout, one)) one = forest.children(one)[0];
  return one;
}
