/** What must change so that a node can be seen: levels shown, collapsed groups and the zoom. */

import type { State } from "./app";
import type { Forest } from "./forest";

/** Below this share of the view a node is too small to be seen or hit. */
const LEAST = 0.015;

export function reveal(forest: Forest, state: Readonly<State>, node: number): Partial<State> {
  const path = forest.path(node);
  const above = path.slice(0, -1);
  const change: Partial<State> = { node };
  if (forest.levels[node] > state.depth) change.depth = forest.levels[node];
  if (above.some((z) => state.collapsed.has(z))) {
    change.collapsed = new Set([...state.collapsed].filter((z) => !above.includes(z)));
  }
  const zoom = zoomFor(forest, state.zoom, node, path);
  if (zoom !== state.zoom) change.zoom = zoom;
  return change;
}

/** The present zoom if the node is large enough in it, else the highest node of the path where it is. */
function zoomFor(forest: Forest, zoom: number, node: number, path: number[]): number {
  const enough = (z: number) => forest.sizes[node] >= LEAST * forest.sizes[z];
  if (forest.holds(zoom, node) && enough(zoom)) return zoom;
  if (path.includes(zoom)) return path.find((z) => z >= zoom && enough(z)) ?? node;
  return path.find(enough) ?? node;
}
