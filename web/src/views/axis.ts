/** The axis of heights below a dendrogram. */

import { ticks } from "d3-array";
import type { Forest } from "../forest";
import { figure } from "../parts/words";
import { makeSvg } from "../parts/build";
import { heightScale, topHeight, type Window } from "./geometry";

export const AXIS_HEIGHT = 38;

export function drawAxis(layer: SVGGElement, forest: Forest, window: Window, width: number, height: number): void {
  layer.replaceChildren();
  if (!forest.heights) return;
  const top = topHeight(forest.heights);
  const down = width / (window.d1 - window.d0);
  const scale = heightScale(top);
  const place = (value: number) => (scale(value) - window.d0) * down;
  // The highest value that is seen: the view begins at window.d0.
  const most = top * (1 - Math.max(0, window.d0)) ** 2;
  let free = Infinity;
  for (const value of spaced(most)) {
    const x = place(value);
    if (x < 14 || free - x < 46) continue;
    free = x;
    layer.append(
      makeSvg("line", { x1: x, x2: x, y1: 0, y2: height, class: "rule" }),
      makeSvg("line", { x1: x, x2: x, y1: height, y2: height + 5, class: "tick" }),
      makeSvg("text", { x, y: height + 17, class: "value" }, figure(value)),
    );
  }
  const label = `Height in ${forest.unit} (drawn by its square root)`;
  layer.append(makeSvg("text", { x: 4, y: height + 33, class: "unit" }, label));
}

/** From 0 up, closer together near 0, where the root of a height changes fastest. */
function spaced(most: number): number[] {
  const values = new Set([0]);
  for (const part of [0.05, 0.25, 1]) for (const value of ticks(0, most * part, 4)) values.add(value);
  return [...values].sort((a, b) => a - b);
}
