/** The panel "about": what was fitted, the clusters of the cut, the oddest rows. */

import type { App, Part } from "../app";
import { clusterSizes } from "../cut";
import { rows } from "../names";
import { make } from "../parts/build";
import { count, percent } from "../parts/words";
import { itemButton, list, nodeButton, onChange, section, sentence } from "./parts";

const ODD = 5;

export function aboutPart(app: App): Part {
  const element = make("div", { class: "panel" });
  const odd = oddest(app, ODD);
  const draw = () => {
    element.replaceChildren(make("h2", {}, app.data.info.title || "The tree"));
    for (const words of app.data.info.about) element.append(sentence(words));
    element.append(sentence(groups(app)));
    if (app.cut.length) element.append(clusters(app));
    if (odd.length) element.append(oddRows(app, odd));
    if (app.forest().support.some((one) => Number.isFinite(one))) element.append(section("What support is", sentence(app.data.info.support_means)));
  };
  const show = onChange(() => [app.cut, app.palette, app.state.tree, app.state.renamed] as const, draw);
  show();
  return { element, show };
}

function groups(app: App): string {
  const forest = app.forest();
  return `This view has ${count(forest.nNodes - 1, "group")} below the root, on ${count(forest.depth, "level")}.`;
}

export function embedded(app: App): string {
  const { n_items, n_embedded } = app.data.info;
  return `${n_embedded.toLocaleString("en")} of ${n_items.toLocaleString("en")} items are in this page.`;
}

function clusters(app: App): HTMLElement {
  const sizes = clusterSizes(app.forest(), [...app.cut]);
  const shown = app.cut.slice(0, 100).map((z) => {
    const size = sizes.get(z) ?? 0;
    // A node may stand for those of its rows that are in no other cluster.
    const rest = size < app.forest().sizes[z] ? ": the rest" : "";
    return make("span", { class: "line" }, nodeButton(app, z, rest), make("span", { class: "quiet" }, rows(size)));
  });
  const title = app.cut.length === 1 ? "1 cluster" : `${app.cut.length.toLocaleString("en")} clusters`;
  const more = app.cut.length > shown.length ? [sentence(`The first ${shown.length} are listed.`)] : [];
  return section(title, list(...shown), ...more);
}

function oddRows(app: App, items: number[]): HTMLElement {
  const scores = app.data.floats("items.outlier");
  const lines = items.map((item) =>
    make("span", { class: "line" }, itemButton(app, item), make("span", { class: "quiet" }, `score ${percent(scores[item])}`)),
  );
  return section("Oddest rows", sentence("The fit finds these rows the least likely."), list(...lines));
}

function oddest(app: App, n: number): number[] {
  if (!app.data.has("items.outlier")) return [];
  const scores = app.data.floats("items.outlier");
  const best: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    if (!Number.isFinite(scores[i]) || (best.length === n && scores[i] <= scores[best[n - 1]])) continue;
    best.push(i);
    best.sort((a, b) => scores[b] - scores[a] || a - b);
    best.length = Math.min(best.length, n);
  }
  return best;
}
