/** What sets a node apart from its siblings, with a bar for the size of every difference. */

import type { App } from "../app";
import { make } from "../parts/build";
import { figure } from "../parts/words";
import { section } from "./parts";

export function effectsSection(app: App, z: number): HTMLElement | null {
  const { key } = app.forest();
  if (!app.data.has(`${key}.effects.text`)) return null;
  const ends = app.data.ints(`${key}.effects.ends`);
  const texts = app.data.texts(`${key}.effects.text`);
  const sizes = app.data.floats(`${key}.effects.size`);
  const isShare = app.data.ints(`${key}.effects.is_share`);
  const [begin, end] = [z > 0 ? ends[z - 1] : 0, ends[z]];
  if (end <= begin) return null;
  let most = 0;
  for (let e = begin; e < end; e++) if (Number.isFinite(sizes[e])) most = Math.max(most, Math.abs(sizes[e]));
  const lines: HTMLElement[] = [];
  for (let e = begin; e < end; e++) lines.push(effect(texts.at(e), sizes[e], amount(sizes[e], isShare[e] === 1), most || 1));
  return section("What sets it apart", make("ul", { class: "list effects" }, ...lines));
}

/** The size of a difference with its unit: percentage points, or standard deviations. */
function amount(size: number, isShare: boolean): string {
  if (!Number.isFinite(size)) return figure(size);
  const sign = size > 0 ? "+" : size < 0 ? "−" : "";
  return isShare ? `${sign}${Math.round(100 * Math.abs(size))} points` : `${sign}${Math.abs(size).toFixed(1)} sd`;
}

function effect(text: string, size: number, words: string, most: number): HTMLElement {
  const bar = make("span", { class: size < 0 ? "effect less" : "effect", role: "img", "aria-label": `size ${words}` });
  const share = Number.isFinite(size) ? Math.abs(size) / most : 0;
  const piece = make("span");
  piece.style.setProperty("width", `${(100 * share).toFixed(1)}%`);
  bar.append(piece);
  return make("li", {}, make("span", {}, text), make("span", { class: "line" }, bar, make("span", { class: "quiet" }, words)));
}
