/** Search by the name of an item or of a group. */

import type { App, Part } from "./app";
import { nodeName, rows } from "./names";
import { button, make } from "./parts/build";
import { count, itemName } from "./parts/words";
import { chooseItem, swatch } from "./panels/parts";
import { reveal } from "./reveal";

const LISTED = 30;
const WAIT = 120;

/** Names in lower case, made at the first search: a page may have a hundred thousand. */
class Names {
  private items: string[] | null = null;
  constructor(private readonly app: App) {}

  matchingItems(wanted: string): number[] {
    this.items ??= this.lower();
    const found: number[] = [];
    this.items.forEach((name, i) => {
      if (name.includes(wanted)) found.push(i);
    });
    // Whole names first, then beginnings, then the rest.
    const rank = (i: number) => {
      const name = (this.items as string[])[i];
      return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
    };
    return found.length > 5000 ? found : found.sort((a, b) => rank(a) - rank(b) || a - b);
  }

  matchingNodes(wanted: string): number[] {
    const forest = this.app.forest();
    const found: number[] = [];
    for (let z = 0; z < forest.nNodes; z++) {
      const own = `${nodeName(this.app, z)}\n${forest.names.at(z)}\n${forest.phrases.at(z)}`;
      if (folded(own).includes(wanted)) found.push(z);
    }
    return found;
  }

  private lower(): string[] {
    const texts = this.app.data.has("items.names") ? this.app.data.texts("items.names") : null;
    const n = this.app.data.info.n_embedded;
    return Array.from({ length: n }, (_, i) => (texts?.at(i) || itemName(this.app, i)).slice(0, 2000)).map(folded);
  }
}

/** As a page shows it: a line break in a name is a space to the eye, and a search field takes none. */
const folded = (text: string) => text.toLowerCase().replace(/\s+/g, " ");

/** @param after called when a result was taken: the field must not keep the keyboard */
export function searchPart(app: App, after: () => void): Part & { focus(): void } {
  const names = new Names(app);
  const field = make("input", { type: "search", "aria-label": "Search", placeholder: "Search items and groups", autocomplete: "off", spellcheck: "false" });
  field.setAttribute("aria-describedby", "bhmc-found");
  const summary = make("p", { id: "bhmc-found", class: "quiet", role: "status" });
  const results = make("ul", { class: "list", "aria-label": "Search results" });
  const box = make("div", { class: "found" }, summary, results);
  box.hidden = true;
  const element = make("div", { class: "search", role: "search" }, field, box);
  const close = () => {
    box.hidden = true;
  };
  const take = (act: () => void) => {
    close();
    act();
    after();
  };
  const run = () => {
    const wanted = folded(field.value).trim();
    if (!wanted) return close();
    const [items, nodes] = [names.matchingItems(wanted), names.matchingNodes(wanted)];
    summary.textContent = told(app, items.length, nodes.length);
    results.replaceChildren(...entries(app, items, nodes, take));
    box.hidden = false;
  };
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(run, WAIT);
  });
  field.addEventListener("focus", () => field.value && run());
  element.addEventListener("keydown", (event) => walk(event, field, results, close, run));
  element.addEventListener("focusout", (event) => {
    // A press on the summary's words moves the focus to nowhere; only another control closes the list.
    if (event.relatedTarget && !element.contains(event.relatedTarget as Node)) close();
  });
  return { element, show: () => {}, focus: () => field.focus() };
}

function told(app: App, items: number, nodes: number): string {
  const { n_items, n_embedded } = app.data.info;
  const found = `${count(items, "item")} and ${count(nodes, "group")} found.`;
  const more = Math.max(items, 0) + nodes > LISTED ? ` The first ${LISTED} are listed.` : "";
  const sampled = n_embedded < n_items ? ` ${n_embedded.toLocaleString("en")} of ${n_items.toLocaleString("en")} items are in this page.` : "";
  return found + more + sampled;
}

function entries(app: App, items: number[], nodes: number[], take: (act: () => void) => void): HTMLElement[] {
  // Some room is kept for groups, so that many items do not push them out.
  const nodesShown = nodes.slice(0, Math.max(8, LISTED - items.length));
  const itemsShown = items.slice(0, LISTED - nodesShown.length);
  const groups = nodesShown.map((z) => {
    const one = button("", () => take(() => app.set({ ...reveal(app.forest(), app.state, z), item: null, panel: "node" })), "plain");
    one.append(swatch(app.palette.node(z)), nodeName(app, z), make("span", { class: "quiet" }, ` group, ${rows(app.forest().sizes[z])}`));
    return one;
  });
  const forest = app.forest();
  const members = itemsShown.map((item) => {
    const one = button("", () => take(() => chooseItem(app, item)), "plain");
    one.append(itemName(app, item), make("span", { class: "quiet" }, ` in ${nodeName(app, forest.leaf[item])}`));
    return one;
  });
  return [...members, ...groups].map((one) => make("li", {}, one));
}

/** Arrows walk through the results, Enter takes the first, Escape closes. */
function walk(event: KeyboardEvent, field: HTMLInputElement, results: HTMLElement, close: () => void, run: () => void): void {
  const buttons = [...results.querySelectorAll("button")];
  const at = buttons.indexOf((results.getRootNode() as ShadowRoot).activeElement as HTMLButtonElement);
  if (event.key === "ArrowDown") buttons[Math.min(at + 1, buttons.length - 1)]?.focus();
  else if (event.key === "ArrowUp") (at > 0 ? buttons[at - 1] : field).focus();
  else if (event.key === "Escape") {
    close();
    field.focus();
  } else if (event.key === "Enter" && at < 0) {
    run();
    results.querySelector("button")?.click();
  } else return;
  event.preventDefault();
}
