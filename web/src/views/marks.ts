/** Elements of the nodes that are drawn; an element stays with its node while it can be seen. */

import type { App } from "../app";
import { nodeName, sizeAndSupport, spoken } from "../names";
import { makeSvg } from "../parts/build";
import { fit } from "./text";
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
  drawn: number;
}

const LINE = 15;

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
    for (const [z, mark] of this.marks) if (mark.drawn !== this.frame) this.remove(z, mark);
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
    const mark = { group, shape, title, detail, link, room: -1, lines: -1, drawn: 0 };
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
    const lines = height < LINE ? 0 : height < 2 * LINE + 4 ? 1 : 2;
    this.write(mark, box.z, Math.floor(width - 11), lines);
    if (lines) {
      const middle = height / 2 + (lines === 2 ? -LINE / 2 : 0) + 4;
      place(mark.title, 5, middle);
      place(mark.detail, 5, middle + LINE);
    }
  }

  private placeLinked(mark: Mark, box: Box, frame: Frame): void {
    const forest = this.app.forest();
    const { x, y } = joint(box, !!forest.heights);
    const share = forest.sizes[box.z] / forest.sizes[0];
    const radius = Math.max(1.5, Math.min(box.height / 2, 3 + 17 * Math.sqrt(share)));
    mark.group.setAttribute("transform", `translate(${x.toFixed(2)},${y.toFixed(2)})`);
    mark.shape.setAttribute("r", radius.toFixed(2));
    const open = frame.layout.open[box.z];
    const room = open && !forest.heights ? 0.92 * box.width - radius : 170;
    const lines = box.height < LINE ? 0 : box.height < 2 * LINE + 4 ? 1 : 2;
    this.write(mark, box.z, Math.floor(Math.max(0, room - 8)), lines);
    place(mark.title, radius + 4, lines === 2 ? -2 : 4);
    place(mark.detail, radius + 4, LINE - 3);
    this.placeLink(mark, box, frame, x, y);
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
    const middle = (x0 + x) / 2;
    const curve = forest.heights ? `V${y.toFixed(1)}H${x.toFixed(1)}` : `C${middle.toFixed(1)},${y0.toFixed(1)} ${middle.toFixed(1)},${y.toFixed(1)} ${x.toFixed(1)},${y.toFixed(1)}`;
    mark.link.setAttribute("d", `M${x0.toFixed(1)},${y0.toFixed(1)}${curve}`);
    const share = forest.sizes[box.z] / forest.sizes[0];
    mark.link.setAttribute("stroke-width", Math.max(1, Math.min(box.height, 24 * share)).toFixed(2));
  }

  private write(mark: Mark, z: number, room: number, lines: number): void {
    if (mark.lines === lines && (lines === 0 || mark.room === room)) return;
    mark.lines = lines;
    mark.room = room;
    const closed = this.app.state.collapsed.has(z) ? "+ " : "";
    mark.title.textContent = lines ? fit(closed + nodeName(this.app, z), room) : "";
    mark.detail.textContent = lines > 1 ? fit(sizeAndSupport(this.app, z), room) : "";
  }
}

/** Where the links of a node meet. */
export function joint(box: Box, heights: boolean): { x: number; y: number } {
  return { x: box.x + (heights ? box.width : 0.3 * box.width), y: box.y + box.height / 2 };
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
