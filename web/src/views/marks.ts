/** Elements of the nodes that are drawn; an element stays with its node while it can be seen. */

import { linkHorizontal } from "d3-shape";
import type { App } from "../app";
import { nodeName, shortSize, spoken } from "../names";
import { makeSvg } from "../parts/build";
import { textWidth, wrap } from "./text";
import type { Box, Frame } from "./visible";

export interface Mark {
  readonly group: SVGGElement;
  readonly shape: SVGElement;
  readonly title: SVGTextElement;
  readonly detail: SVGTextElement;
  readonly link: SVGPathElement | null;
  /** Room of the text at the last frame, so that text is set only when the room has changed. */
  room: number;
  lines: number;
  /** How many lines were written, and where they begin. */
  written: number;
  left: number;
  drawn: number;
  radius: number;
}

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const LINE = 15;
/** Less room holds no word. */
const LEAST_ROOM = 24;
/** How wide the name of a group without children may be in the node-link view; its members' names stand beside it. */
export const LEAF_ROOM = 160;
const curve = linkHorizontal();

export class Marks {
  readonly marks = new Map<number, Mark>();
  private frame = 0;

  constructor(
    private readonly app: App,
    private readonly nodes: SVGGElement,
    private readonly links: SVGGElement,
  ) {}

  /** Forgets all elements, because the tree, its colours or its names have changed. */
  clear(): void {
    this.marks.clear();
    this.nodes.replaceChildren();
    this.links.replaceChildren();
  }

  draw(boxes: Box[], frame: Frame): void {
    this.frame++;
    const linked = this.app.state.layout === "links";
    for (const box of boxes) {
      const mark = this.mark(box.z, linked);
      mark.drawn = this.frame;
      if (linked) this.placeLinked(mark, box, frame);
      else this.placeBox(mark, box, frame);
    }
    if (linked) this.labelLinked(boxes, frame);
    else this.shadeGaps(boxes, frame);
    for (const [z, mark] of this.marks) if (mark.drawn !== this.frame) this.remove(z, mark);
  }

  /** Where children are too small to be drawn, a pale area says that there is something. */
  private shadeGaps(boxes: Box[], { layout, width }: Frame): void {
    const forest = this.app.forest();
    const drawn = new Map<number, number>();
    for (const { z } of boxes) drawn.set(forest.parents[z], (drawn.get(forest.parents[z]) ?? 0) + 1);
    const gaps = forest.heights ? [] : boxes.filter(({ z, height }) => layout.open[z] && height > 2 && (drawn.get(z) ?? 0) < forest.children(z).length);
    while (this.links.childElementCount > gaps.length) this.links.lastChild?.remove();
    gaps.forEach((box, i) => {
      const shade = this.links.children[i] ?? this.links.appendChild(makeSvg("rect", { class: "gap" }));
      const x = box.x + box.width;
      shade.setAttribute("x", x.toFixed(1));
      shade.setAttribute("y", box.y.toFixed(1));
      shade.setAttribute("width", Math.max(0, Math.min(box.width, width - x) - 1).toFixed(1));
      shade.setAttribute("height", Math.max(0, box.height - 1).toFixed(1));
      (shade as SVGElement).style.setProperty("fill", this.app.palette.node(box.z));
    });
  }

  private remove(z: number, mark: Mark): void {
    mark.group.remove();
    mark.link?.remove();
    this.marks.delete(z);
  }

  private mark(z: number, linked: boolean): Mark {
    const known = this.marks.get(z);
    if (known) return known;
    const { palette } = this.app;
    const shape = linked ? makeSvg("circle", { class: "mark" }) : makeSvg("rect", { class: "mark" });
    shape.style.setProperty("fill", palette.area(z));
    if (linked) shape.style.setProperty("stroke", palette.node(z));
    const title = makeSvg("text", { class: "title" });
    const detail = makeSvg("text", { class: "detail" });
    if (!linked) for (const text of [title, detail]) text.style.setProperty("fill", palette.ink(z));
    const group = makeSvg("g", { role: "treeitem", class: "node", tabindex: "-1" }, shape, title, detail);
    group.dataset.z = String(z);
    describe(this.app, group, z);
    let link: SVGPathElement | null = null;
    if (linked && z > 0) {
      link = makeSvg("path", { class: "link" });
      link.style.setProperty("stroke", palette.area(z));
      this.links.append(link);
    }
    this.nodes.append(group);
    const mark = { group, shape, title, detail, link, room: -1, lines: -1, written: 0, left: 5, drawn: 0, radius: 0 };
    this.marks.set(z, mark);
    return mark;
  }

  private placeBox(mark: Mark, box: Box, frame: Frame): void {
    // What sticks out of the view is cut off, so that text begins where the eye sees the box begin.
    const [x, y] = [Math.max(box.x, 0), Math.max(box.y, 0)];
    const width = Math.min(box.x + box.width, frame.width) - x;
    const height = Math.min(box.y + box.height, frame.height) - y;
    mark.group.setAttribute("transform", `translate(${x.toFixed(2)},${y.toFixed(2)})`);
    mark.shape.setAttribute("width", Math.max(0.5, width - 1).toFixed(2));
    mark.shape.setAttribute("height", Math.max(0.4, height > 4 ? height - 1 : height - 0.2).toFixed(2));
    this.writeBox(mark, box.z, Math.floor(width - 11), height);
  }

  /** The name, in as many lines as it needs and the box has, with the size below it, in the middle of the box. */
  private writeBox(mark: Mark, z: number, room: number, height: number): void {
    const lines = Math.min(5, Math.floor((height - 1) / LINE));
    const written = this.write(mark, z, room, lines);
    if (!written) return;
    const top = (height - LINE * written) / 2 + 12;
    place(mark.title, 5, top);
    place(mark.detail, 5, top + LINE * (written - 1));
  }

  private placeLinked(mark: Mark, box: Box, frame: Frame): void {
    const forest = this.app.forest();
    const { x, y } = joint(box, !!forest.heights);
    const share = forest.sizes[box.z] / forest.sizes[0];
    const radius = Math.max(1.5, Math.min(box.height / 2, 3 + 17 * Math.sqrt(share)));
    mark.group.setAttribute("transform", `translate(${x.toFixed(2)},${y.toFixed(2)})`);
    mark.shape.setAttribute("r", radius.toFixed(2));
    mark.radius = radius;
    this.placeLink(mark, box, frame, x, y);
  }

  /** Names beside circles, those of large groups first; a name that would lie on another is left out. */
  private labelLinked(boxes: Box[], frame: Frame): void {
    const { sizes, heights } = this.app.forest();
    const taken: Area[] = [];
    const circles = boxes.map((box) => circleArea(box, (this.marks.get(box.z) as Mark).radius, !!heights));
    for (const box of [...boxes].sort((a, b) => sizes[b.z] - sizes[a.z])) {
      const mark = this.marks.get(box.z) as Mark;
      const open = frame.layout.open[box.z];
      // Up to the circle of a child, which is no larger.
      const room = Math.floor((open && !heights ? box.width - mark.radius : LEAF_ROOM) - mark.radius - 10);
      let lines = box.height < LINE - 3 || room < LEAST_ROOM ? 0 : box.height < 2 * LINE + 6 ? 1 : 2;
      const { x, y } = joint(box, !!heights);
      const needed = lines ? Math.min(room, textWidth(nodeName(this.app, box.z))) : 0;
      const area = { x: x + mark.radius + 4, y: y - 14, width: needed, height: lines === 2 ? 29 : 15 };
      if (lines && (taken.some((one) => overlap(one, area)) || circles.some((one) => overlap(one, area)))) lines = 0;
      if (lines) taken.push(area);
      this.write(mark, box.z, room, lines);
      // A line to the children leaves the circle at its middle: one text stands above it, one below.
      const rise = open || lines === 2 ? 4 : -4;
      place(mark.title, mark.radius + 5, -rise);
      place(mark.detail, mark.radius + 5, 13);
    }
  }

  private placeLink(mark: Mark, box: Box, { layout, window, width, height }: Frame, x: number, y: number): void {
    if (!mark.link) return;
    const forest = this.app.forest();
    const parent = forest.parents[box.z];
    const down = width / (window.d1 - window.d0);
    const across = height / (window.a1 - window.a0);
    const start = forest.heights ? layout.d1[parent] : layout.d0[parent] + 0.3;
    const x0 = (start - window.d0) * down;
    const y0 = ((layout.a0[parent] + layout.a1[parent]) / 2 - window.a0) * across;
    const line = forest.heights ? `M${x0.toFixed(1)},${y0.toFixed(1)}V${y.toFixed(1)}H${x.toFixed(1)}` : curve({ source: [x0, y0], target: [x, y] });
    mark.link.setAttribute("d", line ?? "");
    const share = forest.sizes[box.z] / forest.sizes[0];
    mark.link.setAttribute("stroke-width", Math.max(1, Math.min(box.height, 24 * share)).toFixed(2));
  }

  private label(z: number, room: number): string {
    const closed = this.app.state.collapsed.has(z) ? "+ " : "";
    const name = nodeName(this.app, z);
    // The word "group" says nothing; its number does.
    const number = /^group (\d+)$/.exec(name);
    return closed + (number && textWidth(closed + name) > room ? number[1] : name);
  }

  /** Writes at most so many lines, the last one the size; returns how many there are. */
  private write(mark: Mark, z: number, room: number, lines: number): number {
    if (mark.lines === lines && (lines === 0 || mark.room === room)) return mark.written;
    mark.lines = lines;
    mark.room = room;
    const title = lines > 0 && room >= LEAST_ROOM ? wrap(this.label(z, room), room, Math.max(1, lines - 1)) : [];
    const detail = lines > 1 && room >= LEAST_ROOM ? shortSize(this.app, z, (text) => textWidth(text) <= room + 6) : "";
    mark.title.replaceChildren(...title.map((one, i) => makeSvg("tspan", i ? { x: mark.left, dy: LINE } : {}, one)));
    mark.detail.textContent = detail;
    mark.written = title.length + (detail ? 1 : 0);
    return mark.written;
  }
}

/** Where the links of a node meet. */
export function joint(box: Box, heights: boolean): { x: number; y: number } {
  return { x: box.x + (heights ? box.width : 0.3 * box.width), y: box.y + box.height / 2 };
}

function circleArea(box: Box, radius: number, heights: boolean): Area {
  const { x, y } = joint(box, heights);
  return { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
}

function overlap(one: Area, other: Area): boolean {
  const apart = one.x + one.width < other.x || other.x + other.width < one.x || one.y + one.height < other.y || other.y + other.height < one.y;
  return !apart;
}

function place(text: SVGTextElement, x: number, y: number): void {
  text.setAttribute("x", x.toFixed(1));
  text.setAttribute("y", y.toFixed(1));
}

/** What people who hear the page are told of a node. */
function describe(app: App, group: SVGGElement, z: number): void {
  const forest = app.forest();
  const parent = forest.parents[z];
  const siblings = parent < 0 ? Uint32Array.of(0) : forest.children(parent);
  group.setAttribute("aria-label", spoken(app, z));
  group.setAttribute("aria-level", String(forest.levels[z] + 1));
  group.setAttribute("aria-setsize", String(siblings.length));
  group.setAttribute("aria-posinset", String(siblings.indexOf(z) + 1));
}
