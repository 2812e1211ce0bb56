/** How items, groups, levels and numbers are called in these panels. */

import type { App } from "../app";
import type { Container, Texts, TreeKey } from "../container";

const namesOf = new WeakMap<Container, Texts | null>();

function itemNames(data: Container): Texts | null {
  let names = namesOf.get(data);
  if (names === undefined) {
    names = data.has("items.names") ? data.texts("items.names") : null;
    namesOf.set(data, names);
  }
  return names;
}

export function itemName(app: App, item: number): string {
  const name = itemNames(app.data)?.at(item) ?? "";
  return shorten(name || `row ${app.data.ints("items.row")[item]}`, 80);
}

/** What a person calls a group: the name given in this page, the name in the data, or its number. */
export function groupName(app: App, key: TreeKey, node: number, most = 60): string {
  if (node < 0) return "no group of the estimate";
  const forest = app.forest(key);
  const given = app.state.renamed.get(`${key}:${forest.ids[node]}`);
  return shorten(given || forest.names.at(node) || forest.phrases.at(node) || `group ${forest.ids[node]}`, most);
}

/** Cuts between characters, never within one that takes two places. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = Array.from(text.slice(0, 2 * most));
  return kept.length <= most && text.length <= 2 * most ? text : `${kept.slice(0, most - 1).join("")}…`;
}

const OTHER_DIRECTION = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name inside a sentence: one that is written from right to left must not turn the words around it. */
export function inside(name: string): string {
  return OTHER_DIRECTION.test(name) ? `\u2068${name}\u2069` : name;
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return "not known";
  return `${Math.round(100 * share)} %`;
}

/** "1 item", "12 items", "1,200 items". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function figure(value: number): string {
  if (!Number.isFinite(value)) return "not known";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100000 || size < 0.001) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: size >= 1000 ? 5 : 3 });
}
