/** The controls above the tree. */

import type { App, Part, State } from "./app";
import { nLeaves } from "./cut";
import { button, make, select } from "./parts/build";
import { isDark } from "./theme";
import { go, toggle, zoomIn, zoomOut } from "./views/keys";

/** A slider for more clusters than this cannot be set by hand; the field beside it takes any number. */
const SLIDER = 50;

/** A control and its label. The label stands beside it, not around it, so that its words are the control's whole name. */
function field(words: string, control: HTMLElement): HTMLElement {
  control.id = `bhmc-${words.toLowerCase().replaceAll(" ", "-")}`;
  return make("div", { class: "field" }, make("label", { for: control.id }, words), control);
}

export function controlsPart(app: App): Part {
  const parts = [trees(app), layouts(app), zooming(app), levels(app), clusters(app)].filter((one) => one !== null);
  const element = make("div", { class: "controls", role: "group", "aria-label": "Controls of the tree" }, ...parts.map((one) => one.element));
  return { element, show: (before) => parts.forEach((one) => one.show(before)) };
}

function trees(app: App): Part | null {
  const options = app.data.info.trees.filter(({ key }) => key !== "compare").map(({ key, label }): [string, string] => [key, label.charAt(0).toUpperCase() + label.slice(1)]);
  if (options.length < 2) return null;
  const control = select(options, app.state.tree, (key) => app.set({ tree: key as State["tree"] }));
  const show = () => {
    control.value = app.state.tree;
  };
  return { element: field("Tree", control), show };
}

function layouts(app: App): Part {
  const options: [string, string][] = [["icicle", "Boxes (icicle)"], ["links", "Nodes and links"]];
  const control = select(options, app.state.layout, (layout) => app.set({ layout: layout as State["layout"] }));
  const show = () => {
    control.value = app.state.layout;
  };
  return { element: field("Drawn as", control), show };
}

function zooming(app: App): Part {
  const named = (sign: string, name: string, act: () => void) => {
    const one = button(sign, act);
    one.setAttribute("aria-label", name);
    one.title = name;
    return one;
  };
  const near = named("+", "Zoom in", () => {
    // At the chosen node already: on to its largest child, so that the button always leads further in.
    if (app.state.zoom === app.state.node) go(app, largestChild(app, app.state.node));
    zoomIn(app);
  });
  const far = named("−", "Zoom out", () => zoomOut(app));
  const whole = button("Whole tree", () => app.set({ zoom: 0 }));
  const fold = button("Collapse", () => toggle(app, app.state.node));
  const element = make("div", { class: "buttons" }, near, far, whole, fold);
  const show = () => {
    const { state } = app;
    near.disabled = state.zoom === state.node && !app.forest().children(state.node).length;
    far.disabled = whole.disabled = state.zoom === 0;
    fold.disabled = !app.forest().children(state.node).length;
    fold.textContent = state.collapsed.has(state.node) ? "Expand" : "Collapse";
  };
  show();
  return { element, show };
}

function largestChild(app: App, z: number): number | undefined {
  const { sizes } = app.forest();
  return [...app.forest().children(z)].sort((a, b) => sizes[b] - sizes[a])[0];
}

function range(least: number, onInput: (value: number) => void): HTMLInputElement {
  const control = make("input", { type: "range", min: String(least), step: "1" });
  control.addEventListener("input", () => onInput(Number(control.value)));
  return control;
}

function levels(app: App): Part {
  const control = range(1, (depth) => app.set({ depth }));
  const out = make("output", {});
  const show = () => {
    const most = app.forest().depth;
    control.max = String(Math.max(1, most));
    control.value = String(app.state.depth);
    control.disabled = most < 2;
    out.textContent = `${app.state.depth} of ${most}`;
    control.setAttribute("aria-valuetext", `${app.state.depth} of ${most} levels`);
  };
  show();
  const element = field("Levels shown", control);
  element.append(out);
  return { element, show };
}

function clusters(app: App): Part {
  // The list of clusters stands in the panel "about".
  const cut = (n: number) => app.set({ clusters: n, panel: "about" });
  const control = range(0, cut);
  const exact = make("input", { type: "number", min: "0", step: "1", "aria-label": "Number of clusters" });
  exact.addEventListener("change", () => cut(Math.min(Number(exact.max), Math.max(0, Math.round(Number(exact.value) || 0)))));
  const show = () => {
    const leaves = nLeaves(app.forest());
    control.max = String(Math.min(leaves, SLIDER));
    exact.max = String(leaves);
    control.value = exact.value = String(app.state.clusters);
    const words = app.state.clusters ? `${app.cut.length} clusters` : "not cut";
    control.setAttribute("aria-valuetext", words);
  };
  show();
  const element = make("div", { class: "pair" }, field("Clusters", control), exact);
  return { element, show };
}

/** Light or dark, print, and the list of keys. */
export function pageButtons(app: App): Part {
  const dark = button("Dark", () => app.set({ theme: isDark(app.state.theme) ? "light" : "dark" }));
  dark.setAttribute("aria-label", "Dark colours");
  const print = button("Print", () => window.print());
  const show = () => dark.setAttribute("aria-pressed", String(isDark(app.state.theme)));
  show();
  return { element: make("div", { class: "buttons" }, dark, print, keysHelp()), show };
}

const KEYS: [key: string, what: string][] = [
  ["↑ ↓", "previous or next group"],
  ["→ ←", "first child or parent"],
  ["Home End", "first or last group in view"],
  ["Enter", "zoom in"],
  ["Escape", "zoom out"],
  ["Space", "collapse or expand"],
  ["/", "search"],
];

function keysHelp(): HTMLElement {
  const rows = KEYS.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, what)));
  const table = make("table", {}, make("caption", {}, "Keys in the tree"), make("tbody", {}, ...rows));
  return make("details", { class: "keys" }, make("summary", {}, "Keys"), table);
}
