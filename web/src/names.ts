/** What groups are called, in a line for the eye and in a sentence for the ear. */

import type { App } from "./app";
import type { TreeKey } from "./container";
import { count, groupName, itemName, percent } from "./parts/words";

export function rows(n: number): string {
  return count(n, "row");
}

export function nodeName(app: App, z: number, key: TreeKey = app.state.tree): string {
  const forest = app.forest(key);
  const plain = !app.state.renamed.get(`${key}:${forest.ids[z]}`) && !forest.names.at(z);
  if (z === 0 && plain) return "All rows";
  const alone = plain && forest.sizes[z] === 1 ? forest.items(z) : null;
  if (alone?.length) return itemName(app, alone[0]);
  return groupName(app, key, z, 120);
}

/** "20 rows, support 97 %". */
export function sizeAndSupport(app: App, z: number): string {
  const forest = app.forest();
  const support = forest.support[z];
  const size = rows(forest.sizes[z]);
  return Number.isFinite(support) && z > 0 ? `${size}, support ${percent(support)}` : size;
}

/** The same, in fewer words where there is little room; `fits` says whether a text does. */
export function shortSize(app: App, z: number, fits: (text: string) => boolean): string {
  const forest = app.forest();
  const [n, support] = [forest.sizes[z].toLocaleString("en"), forest.support[z]];
  const choices = [sizeAndSupport(app, z), rows(forest.sizes[z]), n];
  if (Number.isFinite(support) && z > 0) choices.splice(1, 0, `${n}, ${percent(support)}`);
  return choices.find(fits) ?? "";
}

export function spoken(app: App, z: number): string {
  const forest = app.forest();
  return `${nodeName(app, z)}, ${sizeAndSupport(app, z)}, level ${forest.levels[z]}`;
}
