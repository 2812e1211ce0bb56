/** The tree by mouse and touch: a click chooses, a second click zooms in, the wheel or two fingers zoom in and out. */

import type { App } from "../app";
import { makeSvg } from "../parts/build";
import { go, zoomOut } from "./keys";

/** Time in which one turn of the wheel counts once. */
const CALM = 380;

export function handlePointer(app: App, svg: SVGSVGElement): void {
  svg.addEventListener("click", (event) => click(app, event));
  svg.addEventListener("pointerover", (event) => explain(event));
  handleWheel(app, svg);
  handlePinch(app, svg);
}

function nodeAt(event: Event): number | null {
  const group = (event.target as Element).closest<SVGElement>("[data-z]");
  return group ? Number(group.dataset.z) : null;
}

/** The full name of what the pointer is on; made only then, because few of a thousand nodes are ever pointed at. */
function explain(event: Event): void {
  const group = (event.target as Element).closest<SVGElement>("[data-z]");
  if (!group || group.querySelector("title")) return;
  group.prepend(makeSvg("title", {}, group.getAttribute("aria-label") ?? ""));
}

function click(app: App, event: MouseEvent): void {
  const member = (event.target as SVGElement).dataset.item;
  if (member !== undefined) {
    app.set({ item: Number(member), node: app.forest().leaf[Number(member)], panel: "item" });
    return;
  }
  const z = nodeAt(event);
  if (z === null) return;
  const { state } = app;
  const wayBack = z !== state.zoom && app.forest().holds(z, state.zoom);
  if (wayBack || event.detail >= 2 || (z === state.node && state.panel === "node")) {
    app.set({ zoom: z, node: z, item: null, panel: "node" });
  } else go(app, z);
}

/** The node below `zoom` on the way to `z`. */
function stepTowards(app: App, z: number): number {
  const path = app.forest().path(z);
  const at = path.indexOf(app.state.zoom);
  return at < 0 || at + 1 >= path.length ? app.state.zoom : path[at + 1];
}

function handleWheel(app: App, svg: SVGSVGElement): void {
  let last = 0;
  svg.addEventListener(
    "wheel",
    (event) => {
      // In a notebook the wheel must go on scrolling the page, unless the reader works in the tree.
      if (!event.ctrlKey && document.scrollingElement !== null && scrolls() && !svg.matches(":focus-within")) return;
      event.preventDefault();
      if (event.timeStamp - last < CALM || Math.abs(event.deltaY) < 2) return;
      last = event.timeStamp;
      const z = nodeAt(event);
      if (event.deltaY > 0) zoomOut(app);
      else if (z !== null) app.set({ zoom: stepTowards(app, z) });
    },
    { passive: false },
  );
}

function scrolls(): boolean {
  const page = document.scrollingElement as HTMLElement;
  return page.scrollHeight > page.clientHeight + 4;
}

function handlePinch(app: App, svg: SVGSVGElement): void {
  let start = 0;
  let target: number | null = null;
  const spread = (touches: TouchList) =>
    Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
  svg.addEventListener("touchstart", (event) => {
    if (event.touches.length !== 2) return;
    start = spread(event.touches);
    target = nodeAt(event);
  });
  svg.addEventListener(
    "touchmove",
    (event) => {
      if (event.touches.length !== 2 || !start) return;
      event.preventDefault();
      const ratio = spread(event.touches) / start;
      if (ratio > 0.75 && ratio < 1.35) return;
      start = 0;
      if (ratio < 1) zoomOut(app);
      else if (target !== null) app.set({ zoom: stepTowards(app, target) });
    },
    { passive: false },
  );
}
