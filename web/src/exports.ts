/** Files that a reader takes away: members of a group, names that were given. */

import type { App } from "./app";
import { nodeName } from "./names";
import { itemName } from "./parts/words";

/** A cell of a CSV. A spreadsheet would run a cell that begins like a formula, so such a cell gets a quote before it. */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function membersCsv(app: App, z: number): string {
  const forest = app.forest();
  const row = app.data.ints("items.row");
  const component = app.data.has("items.component") ? app.data.ints("items.component") : null;
  const names = app.data.has("items.names") ? app.data.texts("items.names") : null;
  const lines = ["item,row,node,component"];
  for (const item of forest.items(z)) {
    const name = names?.at(item) || itemName(app, item);
    lines.push([cell(name), row[item], forest.ids[forest.leaf[item]], component?.[item] ?? ""].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** {tree: {id: name}} of all names given in this page. */
export function namesJson(app: App): string {
  const trees: Record<string, Record<string, string>> = {};
  for (const [place, name] of app.state.renamed) {
    const [key, id] = place.split(":");
    trees[key] ??= {};
    trees[key][id] = name;
  }
  return `${JSON.stringify(trees, null, 2)}\n`;
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser has yet to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function fileName(app: App, z: number, ending: string): string {
  const plain = nodeName(app, z).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 40);
  return `${plain || "group"}-${app.forest().ids[z]}.${ending}`;
}
