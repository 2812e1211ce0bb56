/** Component weights of every node on the path from the root: how the mixture sharpens downwards. */

import type { App } from "../app";
import { nodeName } from "../names";
import { make } from "../parts/build";
import { percent } from "../parts/words";
import { section, sentence, swatch } from "./parts";

const SHOWN = 8;

export function weightsSection(app: App, z: number): HTMLElement | null {
  const { key } = app.forest();
  if (!app.data.has(`${key}.weights`) || !app.data.has(`${key}.weight_of`)) return null;
  const path = app.forest().path(z);
  const used = new Map<number, number>();
  const bars = path.map((one) => {
    const parts = weightsOf(app, one);
    for (const { component, weight } of parts) used.set(component, Math.max(weight, used.get(component) ?? 0));
    return make("div", { class: "weights" }, make("span", { class: "quiet" }, nodeName(app, one)), bar(app, one, parts));
  });
  if (!used.size) return null;
  const words = sentence("Each bar is a group on the path, from the root down. Each colour is a component: rows that look alike. Pale: all other components.");
  return section("Components along the path", words, ...bars, legend(app, used));
}

interface Weight {
  component: number;
  weight: number;
}

function weightsOf(app: App, z: number): Weight[] {
  const { key } = app.forest();
  const of = app.data.ints(`${key}.weight_of`);
  const weights = app.data.floats(`${key}.weights`);
  const parts: Weight[] = [];
  for (let i = SHOWN * z; i < SHOWN * (z + 1); i++) {
    if (of[i] >= 0 && Number.isFinite(weights[i]) && weights[i] > 0) parts.push({ component: of[i], weight: Math.min(1, weights[i]) });
  }
  return parts;
}

function bar(app: App, z: number, parts: Weight[]): HTMLElement {
  const words = parts.map(({ component, weight }) => `component ${component} ${percent(weight)}`).join(", ");
  const line = make("span", { class: "bar", role: "img", "aria-label": `${nodeName(app, z)}: ${words || "no weights"}` });
  for (const { component, weight } of parts) {
    const piece = make("span", { title: `Component ${component}: ${percent(weight)}` });
    piece.style.setProperty("width", `${(100 * weight).toFixed(2)}%`);
    piece.style.setProperty("background", app.palette.component(component));
    line.append(piece);
  }
  return line;
}

function legend(app: App, used: Map<number, number>): HTMLElement {
  const largest = [...used].sort((a, b) => b[1] - a[1]).slice(0, 12);
  const entries = largest.map(([component]) =>
    make("span", { class: "key" }, swatch(app.palette.component(component)), `component ${component}`),
  );
  return make("p", { class: "legend" }, ...entries);
}
