/** Names of members to the right of the lowest nodes that are drawn: one a line where there is room, else as many as fit. */

import type { App } from "../app";
import { itemName } from "../parts/words";
import { hasPicture, pictureAddress } from "../panels/thumbnails";
import { makeSvg } from "../parts/build";
import { LEAF_ROOM, joint } from "./marks";
import { fit, textWidth } from "./text";
import type { Box, Frame } from "./visible";

const LINE = 14;
/** The least height of a line. */
const LEAST = LINE - 2;
const MOST = 400;
/** Sides of pictures in pixels, and how many members are searched for pictures. */
const LARGEST = 40;
const SMALLEST = 24;
const SEARCHED = 3000;

export class Members {
  private drawn = 0;

  constructor(
    private readonly app: App,
    private readonly layer: SVGGElement,
  ) {}

  clear(): void {
    this.layer.replaceChildren();
  }

  draw(boxes: Box[], frame: Frame): void {
    this.clear();
    this.drawn = 0;
    const edge = boxes.reduce((most, box) => Math.max(most, this.left(box)), 0);
    for (const box of this.lowest(boxes)) {
      if (this.drawn > MOST) break;
      // Names of many small groups together stand at the right of all of them.
      const left = frame.layout.open[box.z] ? edge : this.left(box);
      const top = Math.max(0, box.y);
      const height = Math.min(box.y + box.height, frame.height) - top;
      if (height < LEAST || frame.width - left < 40) continue;
      this.names({ ...box, x: left, width: frame.width - left }, top, height);
    }
  }

  /** Nodes that are high enough for a line, and whose children are not. */
  private lowest(boxes: Box[]): Box[] {
    const { parents } = this.app.forest();
    const high = boxes.filter(({ height }) => height >= LEAST);
    const above = new Set(high.map(({ z }) => parents[z]));
    return high.filter(({ z }) => !above.has(z));
  }

  private left(box: Box): number {
    const forest = this.app.forest();
    if (this.app.state.layout === "icicle") return Math.max(0, box.x + box.width) + 6;
    // Beside the circle stands the group's own name.
    return joint(box, !!forest.heights).x + LEAF_ROOM;
  }

  private names(box: Box, top: number, height: number): void {
    const items = this.app.forest().items(box.z);
    if (this.app.data.info.images && this.pictures(box, items, top, height)) return;
    const step = box.height / Math.max(1, items.length);
    if (step >= LEAST) this.oneEach(box, items, step, top, height);
    else this.asManyAsFit(box, items, top, height);
  }

  /** Pictures in rows, as large as lets all be seen; false where no member has one. */
  private pictures(box: Box, items: Uint32Array, top: number, height: number): boolean {
    const shown = [...items.subarray(0, SEARCHED)].filter((item) => hasPicture(this.app, item));
    if (!shown.length) return false;
    let side = Math.min(LARGEST, height - 2);
    const room = (size: number) => Math.floor((box.width - 2) / (size + 2)) * Math.floor(height / (size + 2));
    while (side > SMALLEST && room(side) < shown.length) side -= 2;
    const across = Math.max(1, Math.floor((box.width - 2) / (side + 2)));
    shown.slice(0, Math.max(1, room(side))).forEach((item, i) => {
      if (this.drawn++ > MOST) return;
      const x = box.x + (i % across) * (side + 2);
      const y = top + 1 + Math.floor(i / across) * (side + 2);
      const picture = makeSvg("image", { x, y, width: side, height: side, href: pictureAddress(this.app, item) ?? "" });
      picture.dataset.item = String(item);
      this.layer.append(picture);
    });
    return true;
  }

  private oneEach(box: Box, items: Uint32Array, step: number, top: number, height: number): void {
    const first = Math.max(0, Math.floor((top - box.y) / step));
    const last = Math.min(items.length, Math.ceil((top + height - box.y) / step));
    for (let i = first; i < last && this.drawn <= MOST; i++) {
      const text = this.line(itemName(this.app, items[i]), box.x, box.y + (i + 0.5) * step + 4, box.width);
      text.classList.add("member");
      text.dataset.item = String(items[i]);
      text.classList.toggle("chosen", items[i] === this.app.state.item);
    }
  }

  private asManyAsFit(box: Box, items: Uint32Array, top: number, height: number): void {
    const lines = Math.max(1, Math.floor((height - 2) / LINE));
    const begin = top + (height - lines * LINE) / 2 + 11;
    const packed = pack(items, (item) => itemName(this.app, item), lines, box.width);
    packed.forEach((words, i) => this.line(words, box.x, begin + i * LINE, box.width));
  }

  private line(words: string, x: number, y: number, room: number): SVGTextElement {
    const text = makeSvg("text", { x: x.toFixed(1), y: y.toFixed(1) }, fit(words, room - 4));
    this.layer.append(text);
    this.drawn++;
    return text;
  }
}

/** Names in lines; the last line says how many are left. */
function pack(items: Uint32Array, name: (item: number) => string, lines: number, width: number): string[] {
  const packed: string[] = [];
  let line = "";
  for (let i = 0; i < items.length; i++) {
    const last = packed.length === lines - 1;
    const left = items.length - i;
    const next = line ? `${line}, ${name(items[i])}` : name(items[i]);
    const tail = last && left > 1 ? `, +${left - 1}` : ",";
    if (line && textWidth(next + tail) > width - 6) {
      if (last) return [...packed, `${line}, +${left}`];
      packed.push(`${line},`);
      line = name(items[i]);
    } else line = next;
  }
  return [...packed, line];
}
