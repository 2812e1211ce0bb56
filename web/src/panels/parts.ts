/** Pieces that several panels share: headings, buttons of nodes and items, swatches. */

import type { App } from "../app";
import { nodeName } from "../names";
import { button, make } from "../parts/build";
import { itemName } from "../parts/words";
import { reveal } from "../reveal";

export function section(title: string, ...inside: (Node | string)[]): HTMLElement {
  return make("section", {}, make("h3", {}, title), ...inside);
}

export function sentence(text: string): HTMLParagraphElement {
  return make("p", {}, text);
}

export function swatch(colour: string): HTMLSpanElement {
  const mark = make("span", { class: "swatch", "aria-hidden": "true" });
  mark.style.setProperty("background", colour);
  return mark;
}

export function nodeButton(app: App, z: number, more = ""): HTMLButtonElement {
  const one = button("", () => app.set({ ...reveal(app.forest(), app.state, z), item: null, panel: "node" }), "plain");
  one.append(swatch(app.palette.node(z)), nodeName(app, z) + more);
  return one;
}

/** Chooses an item and the lowest group of the tree shown that holds it. */
export function chooseItem(app: App, item: number): void {
  const forest = app.forest();
  app.set({ ...reveal(forest, app.state, forest.leaf[item]), item, panel: "item" });
}

export function itemButton(app: App, item: number): HTMLButtonElement {
  return button(itemName(app, item), () => chooseItem(app, item), "plain");
}

export function list(...entries: (Node | string)[]): HTMLUListElement {
  return make("ul", { class: "list" }, ...entries.map((one) => make("li", {}, one)));
}

/** A part that is drawn anew when what it shows has changed and it can be seen. */
export function onChange<T extends readonly unknown[]>(what: () => T, draw: () => void): () => void {
  let last: T | null = null;
  return () => {
    const now = what();
    if (last && now.every((one, i) => one === (last as T)[i])) return;
    last = now;
    draw();
  };
}
