/** Which nodes are worth drawing, and where they are on the screen. */

import type { Forest } from "../forest";
import type { Layout, Window } from "./geometry";

export interface Box {
  z: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Frame {
  layout: Layout;
  window: Window;
  width: number;
  height: number;
}

const MOST = 1500;

/** Boxes of the nodes that are at least half a pixel high, parents before children; fewer where they would be too many. */
export function visible(forest: Forest, frame: Frame): Box[] {
  let least = 0.5;
  let boxes = atLeast(forest, frame, least);
  while (boxes.length > MOST) {
    least *= 1.5;
    boxes = atLeast(forest, frame, least);
  }
  return boxes;
}

export function boxOf({ layout, window, width, height }: Frame, z: number): Box {
  const across = height / (window.a1 - window.a0);
  const down = width / (window.d1 - window.d0);
  return {
    z,
    x: (layout.d0[z] - window.d0) * down,
    y: (layout.a0[z] - window.a0) * across,
    width: (layout.d1[z] - layout.d0[z]) * down,
    height: (layout.a1[z] - layout.a0[z]) * across,
  };
}

function atLeast(forest: Forest, frame: Frame, least: number): Box[] {
  const boxes: Box[] = [];
  const stack = [0];
  for (let z = stack.pop(); z !== undefined; z = stack.pop()) {
    const box = boxOf(frame, z);
    if (box.height < least || box.y > frame.height || box.y + box.height < 0 || box.x > frame.width) continue;
    if (box.x + box.width > 0 && (box.width >= 0.5 || !forest.children(z).length)) boxes.push(box);
    if (!frame.layout.open[z]) continue;
    const children = forest.children(z);
    for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]);
    if (boxes.length > MOST) break;
  }
  return boxes;
}
