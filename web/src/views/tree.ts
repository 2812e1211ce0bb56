/** The tree itself: an icicle or nodes and links, with zoom, choice and collapse. */

import { easeCubicInOut } from "d3-ease";
import type { App, Part, State } from "../app";
import { make, makeSvg, stillness } from "../parts/build";
import { AXIS_HEIGHT, drawAxis } from "./axis";
import { between, blend, layOut, windowOf, type Layout, type Window } from "./geometry";
import { handleKey } from "./keys";
import { Marks } from "./marks";
import { Members } from "./members";
import { handlePointer } from "./pointer";
import { visible, type Box, type Frame } from "./visible";

const TIME = 420;

export class TreeView implements Part {
  readonly element: HTMLElement;
  /** What the last frame drew, in the order of the tree. */
  private boxes: Box[] = [];
  private readonly svg: SVGSVGElement;
  private readonly axis = makeSvg("g", { class: "axis", "aria-hidden": "true" });
  private readonly nodes = makeSvg("g", { role: "none" });
  private readonly memberLayer = makeSvg("g", { class: "members", "aria-hidden": "true" });
  /** Around the chosen box, above all others, because a box covers half of its neighbours' edges. */
  private readonly ring = makeSvg("g", { class: "ring", "aria-hidden": "true" }, makeSvg("rect"), makeSvg("rect"));
  private readonly marks: Marks;
  private readonly members: Members;
  private layout: Layout;
  private target: Layout;
  private window: Window = { a0: 0, a1: 1, d0: 0, d1: 1 };
  private width = 0;
  private height = 0;
  private frame = 0;

  constructor(private readonly app: App) {
    const links = makeSvg("g", { "aria-hidden": "true" });
    this.svg = makeSvg("svg", { role: "tree", tabindex: "-1", "aria-label": "Tree of groups", class: "tree", preserveAspectRatio: "xMinYMin" }, this.axis, links, this.nodes, this.ring, this.memberLayer);
    this.element = make("div", { class: "view" }, this.svg);
    this.marks = new Marks(app, this.nodes, links);
    this.members = new Members(app, this.memberLayer);
    this.layout = this.target = layOut(app.forest(), app.state);
    this.svg.addEventListener("keydown", (event) => handleKey(this.app, this, event));
    handlePointer(this.app, this.svg);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  show(before: Readonly<State>): void {
    const { state } = this.app;
    const is = (...keys: (keyof State)[]) => keys.some((key) => state[key] !== before[key]);
    const moved = is("depth", "collapsed", "zoom");
    const anew = state === before || is("tree", "layout", "clusters", "theme", "renamed");
    // The focused node may go; the tree keeps the keyboard until the chosen node is drawn.
    if ((anew || moved) && this.hasFocus) this.svg.focus({ preventScroll: true });
    if (anew) {
      this.marks.clear();
      if (is("tree", "layout")) this.jump();
      else if (moved) this.move();
      else this.draw();
    } else if (moved) this.move();
    else if (is("node", "item")) this.choose();
  }

  /** Puts the keyboard on the chosen node, at once or when it is drawn. */
  focus(): void {
    (this.marks.marks.get(this.app.state.node)?.group ?? this.svg).focus({ preventScroll: true });
  }

  private get hasFocus(): boolean {
    return this.svg.contains((this.svg.getRootNode() as ShadowRoot).activeElement);
  }

  private get treeHeight(): number {
    return this.height - (this.app.forest().heights ? AXIS_HEIGHT : 0);
  }

  private resize(): void {
    // On paper the picture is scaled as it is: there is no time to draw it anew.
    if (window.matchMedia("print").matches) return;
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight || (clientWidth === this.width && clientHeight === this.height)) return;
    [this.width, this.height] = [clientWidth, clientHeight];
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.jump();
  }

  settled(): Layout {
    return this.target;
  }

  private targetWindow(): Window {
    return windowOf(this.app.forest(), this.target, this.app.state, this.width);
  }

  private jump(): void {
    cancelAnimationFrame(this.frame);
    this.layout = this.target = layOut(this.app.forest(), this.app.state);
    this.window = this.targetWindow();
    this.draw();
  }

  private move(): void {
    if (stillness() || !this.width) {
      this.jump();
      return;
    }
    cancelAnimationFrame(this.frame);
    const [fromLayout, fromWindow] = [this.layout, this.window];
    const toLayout = layOut(this.app.forest(), this.app.state);
    this.target = toLayout;
    const toWindow = this.targetWindow();
    const same = toLayout.a0.every((one, i) => one === fromLayout.a0[i]);
    this.members.clear();
    let start = -1;
    const step = (now: number) => {
      if (start < 0) start = now;
      const t = easeCubicInOut(Math.min(1, (now - start) / TIME));
      this.layout = same || t === 1 ? toLayout : blend(fromLayout, toLayout, t);
      this.window = between(fromWindow, toWindow, t);
      if (t < 1) {
        this.drawNodes();
        this.frame = requestAnimationFrame(step);
      } else this.draw();
    };
    this.frame = requestAnimationFrame(step);
  }

  private get view(): Frame {
    return { layout: this.layout, window: this.window, width: this.width, height: this.treeHeight };
  }

  private drawNodes(): void {
    if (!this.width) return;
    this.boxes = visible(this.app.forest(), this.view);
    this.marks.draw(this.boxes, this.view);
    this.placeRing();
    drawAxis(this.axis, this.app.forest(), this.window, this.width, this.treeHeight);
  }

  private placeRing(): void {
    const box = this.app.state.layout === "icicle" ? this.boxes.find(({ z }) => z === this.app.state.node) : undefined;
    this.ring.toggleAttribute("hidden", !box);
    if (!box) return;
    const [x, y] = [Math.max(0, box.x), Math.max(0, box.y)];
    const width = Math.min(this.width, box.x + box.width) - x;
    const height = Math.min(this.treeHeight, box.y + box.height) - y;
    [...this.ring.children].forEach((rect, i) => {
      const inset = i ? 1 : 3;
      rect.setAttribute("x", (x + inset).toFixed(1));
      rect.setAttribute("y", (y + inset).toFixed(1));
      rect.setAttribute("width", Math.max(0.1, width - 2 * inset - 1).toFixed(1));
      rect.setAttribute("height", Math.max(0.1, height - 2 * inset - 1).toFixed(1));
    });
  }

  private draw(): void {
    if (!this.width) return;
    this.drawNodes();
    this.members.draw(this.boxes, this.view);
    this.sort();
    this.choose();
  }

  /** Elements in the order of the tree, because that is the order in which they are read aloud. */
  private sort(): void {
    const focused = (this.svg.getRootNode() as ShadowRoot).activeElement;
    let next = this.nodes.firstChild;
    for (const { z } of this.boxes) {
      const group = this.marks.marks.get(z)?.group;
      if (!group) continue;
      if (group === next) next = next.nextSibling;
      else this.nodes.insertBefore(group, next);
    }
    if (focused instanceof SVGGElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  private choose(): void {
    const { state } = this.app;
    const { marks } = this.marks;
    this.placeRing();
    const path = new Set(this.app.forest().path(state.node));
    // One node takes part in the order of the tab key: the chosen one, or the first where that is not drawn.
    const tabbed = marks.has(state.node) ? state.node : this.boxes[0]?.z;
    for (const [z, { group }] of marks) {
      group.setAttribute("aria-selected", String(z === state.node));
      group.setAttribute("tabindex", z === tabbed ? "0" : "-1");
      group.classList.toggle("chosen", z === state.node);
      group.classList.toggle("onpath", z !== state.node && path.has(z));
      if (this.app.forest().children(z).length) group.setAttribute("aria-expanded", String(!!this.layout.open[z]));
    }
    for (const text of this.memberLayer.children) {
      text.classList.toggle("chosen", (text as SVGElement).dataset.item === String(state.item));
    }
    if (this.hasFocus) this.focus();
  }
}
