/** The panel "item": where a row lies, how sure that is, and where else draws have it. */

import type { App, Part } from "../app";
import { nodeName } from "../names";
import { make } from "../parts/build";
import { count, groupName, itemName, percent } from "../parts/words";
import { list, nodeButton, onChange, section, sentence } from "./parts";
import { thumbnail } from "./thumbnails";

export function itemPart(app: App): Part {
  const element = make("div", { class: "panel" });
  const draw = () => {
    const { item } = app.state;
    if (item === null) {
      element.replaceChildren(make("h2", {}, "No item is chosen"), sentence("Search for a name, or choose a member of a group."));
      return;
    }
    const parts = [make("h2", {}, itemName(app, item)), basics(app, item), thumbnail(app, item), outlier(app, item)];
    element.replaceChildren(...[...parts, path(app, item), second(app, item), otherDraws(app, item)].filter((one) => one !== null));
  };
  const seen = onChange(() => [app.state.item, app.state.tree, app.palette, app.state.renamed] as const, draw);
  return { element, show: () => app.state.panel === "item" && seen() };
}

function basics(app: App, item: number): HTMLElement {
  const row = app.data.ints("items.row")[item];
  const component = app.data.has("items.component") ? app.data.ints("items.component")[item] : -1;
  return sentence(`Row ${row} of the table${component >= 0 ? `, component ${component}` : ""}.`);
}

function outlier(app: App, item: number): HTMLElement | null {
  if (!app.data.has("items.outlier")) return null;
  const score = app.data.floats("items.outlier")[item];
  if (!Number.isFinite(score)) return null;
  const words = score >= 0.99 ? "a very odd row" : score >= 0.95 ? "an odd row" : score >= 0.8 ? "somewhat unusual" : "an ordinary row";
  return make("p", {}, make("strong", {}, `Outlier score ${percent(score)}`), `: ${words}.`);
}

/** How sure the place at each level is; only the fitted tree has that. */
function path(app: App, item: number): HTMLElement {
  const forest = app.forest();
  const sure = forest.key === "tree" && app.data.has("items.support") ? app.data.floats("items.support") : null;
  const levels = sure ? app.data.shape("items.support")[1] : 0;
  const lines = forest.path(forest.leaf[item]).map((z) => {
    const line = make("span", { class: "line" }, nodeButton(app, z));
    const level = forest.levels[z];
    const share = sure && level < levels ? sure[item * levels + level] : NaN;
    if (level > 0 && Number.isFinite(share)) line.append(make("span", { class: "quiet" }, `${percent(share)} sure`));
    return line;
  });
  const means = "Sure: how well the draws' groups around this row match the group, on average.";
  return section("Path", list(...lines), ...(sure ? [make("p", { class: "quiet" }, means)] : []));
}

function second(app: App, item: number): HTMLElement | null {
  if (!app.data.has("items.second")) return null;
  const z = app.data.ints("items.second")[item];
  if (z < 0) return section("Second-best place", sentence("Draws have this row nowhere else."));
  const share = app.data.floats("items.second_share")[item];
  const own = app.data.floats("items.own_share")[item];
  const words = `${percent(share)} of draws have it there, ${percent(own)} in the lowest group of its path.`;
  const where = app.state.tree === "tree" ? nodeButton(app, z) : groupName(app, "tree", z);
  return section("Second-best place", list(where), sentence(words));
}

/** Counted from the draws: which group of the tree the row's group in a draw is most like. */
function otherDraws(app: App, item: number): HTMLElement | null {
  if (!app.data.has("draws.match") || app.state.tree !== "tree") return null;
  const at = app.data.ints("draws.items").indexOf(item);
  if (at < 0) return section("In other draws", sentence("The draws in this page hold a sample of rows, and this row is not in it."));
  const [draws, items, levels] = app.data.shape("draws.match");
  const match = app.data.ints("draws.match");
  const body = make("tbody");
  // The last level is that of components, which match no node.
  for (let level = 0; level < levels - 1; level++) {
    const counts = new Map<number, number>();
    for (let t = 0; t < draws; t++) {
      const z = match[(t * items + at) * levels + level];
      counts.set(z, (counts.get(z) ?? 0) + 1);
    }
    for (const [z, n] of [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4)) body.append(drawRow(app, level + 1, z, n / draws));
  }
  const head = make("thead", {}, make("tr", {}, ...["Level", "Group", "Draws"].map((one) => make("th", { scope: "col" }, one))));
  const table = make("table", {}, make("caption", {}, `In ${count(draws, "draw")}, this row lies in a group like:`), head, body);
  return section("In other draws", table);
}

function drawRow(app: App, level: number, z: number, share: number): HTMLElement {
  const name = z < 0 ? "like no group of the tree" : nodeName(app, z, "tree");
  return make("tr", {}, ...[String(level), name, percent(share)].map((one) => make("td", {}, one)));
}
