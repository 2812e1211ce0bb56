/** The panel "node": what a group is, what sets it apart, its mixture and its members. */

import type { App, Part } from "../app";
import { download, fileName, membersCsv, namesJson } from "../exports";
import { nodeName, rows } from "../names";
import { button, make } from "../parts/build";
import { percent } from "../parts/words";
import { embedded } from "./about";
import { effectsSection } from "./effects";
import { itemButton, list, nodeButton, onChange, section, sentence } from "./parts";
import { gallery } from "./thumbnails";
import { weightsSection } from "./weights";

const LISTED = 12;

export function nodePart(app: App): Part {
  const element = make("div", { class: "panel" });
  const draw = () => {
    // Typing a name redraws the panel on every change, and the reader must stay in the field.
    const typing = (element.getRootNode() as ShadowRoot).activeElement?.id === "bhmc-name";
    const z = app.state.node;
    const parts = [heading(app, z), facts(app, z), parents(app, z), effectsSection(app, z), pictures(app, z)];
    element.replaceChildren(...[...parts, weightsSection(app, z), ...members(app, z), rename(app, z)].filter((one) => one !== null));
    if (typing) element.querySelector<HTMLInputElement>("#bhmc-name")?.focus();
  };
  const seen = onChange(() => [app.state.node, app.state.tree, app.palette, app.state.renamed] as const, draw);
  return { element, show: () => app.state.panel === "node" && seen() };
}

function heading(app: App, z: number): HTMLElement {
  const title = make("h2", {}, nodeName(app, z));
  title.style.setProperty("border-color", app.palette.node(z));
  return title;
}

function facts(app: App, z: number): HTMLElement {
  const forest = app.forest();
  const share = forest.sizes[z] / forest.sizes[0];
  const lines = [`${rows(forest.sizes[z])}, ${percent(share)} of all.`, `Level ${forest.levels[z]}, id ${forest.ids[z]}.`];
  const phrase = forest.phrases.at(z);
  if (phrase && phrase !== nodeName(app, z)) lines.unshift(phrase.slice(0, 300));
  if (forest.heights && Number.isFinite(forest.heights[z])) lines.push(`Height ${forest.heights[z].toPrecision(4)} ${forest.unit}.`);
  const element = make("div", {}, ...lines.map(sentence));
  const support = forest.support[z];
  if (Number.isFinite(support)) {
    const words = make("p", {}, make("strong", {}, `Support ${percent(support)}`), `: ${inWords(support)} `);
    words.append(make("span", { class: "quiet" }, app.data.info.support_means));
    element.append(words);
  }
  return element;
}

function inWords(support: number): string {
  if (support >= 0.9) return "nearly all draws have a group like this one.";
  if (support >= 0.7) return "most draws have a group like this one.";
  if (support >= 0.4) return "draws have groups that are only partly like this one.";
  return "few draws have a group like this one.";
}

function parents(app: App, z: number): HTMLElement | null {
  const path = app.forest().path(z).slice(0, -1);
  if (!path.length) return null;
  return section("Lies in", list(...path.map((one) => nodeButton(app, one))));
}

function ragged(app: App, name: string, z: number): number[] {
  const { key } = app.forest();
  if (!app.data.has(`${key}.${name}.ends`)) return [];
  const ends = app.data.ints(`${key}.${name}.ends`);
  return [...app.data.ints(`${key}.${name}`).subarray(z > 0 ? ends[z - 1] : 0, ends[z])];
}

function pictures(app: App, z: number): HTMLElement | null {
  const typical = ragged(app, "typical", z);
  const others = [...app.forest().items(z).subarray(0, 2000)].filter((item) => !typical.includes(item));
  const element = gallery(app, [...typical, ...others], 18);
  return element && section("Pictures", element);
}

function members(app: App, z: number): HTMLElement[] {
  const typical = ragged(app, "typical", z);
  const borderline = ragged(app, "borderline", z);
  const parts: HTMLElement[] = [];
  const buttons = (items: number[]) => {
    const names = list(...items.slice(0, LISTED).map((item) => itemButton(app, item)));
    names.classList.add("inline");
    return names;
  };
  if (typical.length) parts.push(section("Typical members", buttons(typical)));
  if (borderline.length) parts.push(section("Borderline members", buttons(borderline)));
  if (!typical.length && !borderline.length) parts.push(section("Members", buttons([...app.forest().items(z).subarray(0, LISTED)])));
  parts.push(take(app, z));
  return parts;
}

function take(app: App, z: number): HTMLElement {
  const save = () => download(fileName(app, z, "csv"), "text/csv", membersCsv(app, z));
  const element = make("p", {}, button("Download members (CSV)", save));
  const [here, all] = [app.forest().items(z).length, app.forest().sizes[z]];
  if (here < all) {
    const note = `The file has the ${rows(here)} of this group that are in this page, of ${rows(all)}. ${embedded(app)}`;
    element.append(make("span", { class: "quiet" }, ` ${note}`));
  }
  return element;
}

function rename(app: App, z: number): HTMLElement {
  const forest = app.forest();
  const place = `${forest.key}:${forest.ids[z]}`;
  const field = make("input", { type: "text", id: "bhmc-name", maxlength: "200", placeholder: nodeName(app, z).slice(0, 80) });
  field.value = app.state.renamed.get(place) ?? forest.names.at(z);
  const give = () => {
    const renamed = new Map(app.state.renamed);
    const name = field.value.trim();
    if (name === (renamed.get(place) ?? forest.names.at(z))) return;
    if (name) renamed.set(place, name);
    else renamed.delete(place);
    app.set({ renamed });
  };
  field.addEventListener("change", give);
  const label = make("label", { for: "bhmc-name" }, "Name of this group");
  const save = () => download("names.json", "application/json", namesJson(app));
  const button_ = button("Download names", save);
  button_.disabled = !app.state.renamed.size;
  return section("Name", label, field, button_);
}
