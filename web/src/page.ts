/** Puts the parts of the page together. */

import { breadcrumbPart } from "./breadcrumb";
import type { Container } from "./container";
import { controlsPart, pageButtons } from "./controls";
import { Explorer } from "./explorer";
import { aboutPart } from "./panels/about";
import { itemPart } from "./panels/item";
import { nodePart } from "./panels/node";
import { make } from "./parts/build";
import { chainsPart } from "./parts/chains";
import { comparePart } from "./parts/compare";
import { drawsPart } from "./parts/draws";
import { partStyles } from "./parts/styles";
import { togetherPart } from "./parts/together";
import { searchPart } from "./search";
import { styles } from "./styles";
import { tabsPart } from "./tabs";
import { isDark, watchTheme } from "./theme";
import { TreeView } from "./views/tree";

/** Shows the data inside the element, and returns the App and how to take it away again. */
export function mount(host: HTMLElement, data: Container): { app: Explorer; remove: () => void } {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles + partStyles);
  root.adoptedStyleSheets = [sheet];
  const live = make("p", { class: "spoken", "aria-live": "polite" });
  const app = new Explorer(data, live);
  const page = make("div", { class: "page" });
  const tree = new TreeView(app);
  const search = searchPart(app, () => page.querySelector<HTMLElement>("[role=tabpanel]:not([hidden])")?.focus());
  const controls = controlsPart(app);
  const breadcrumb = breadcrumbPart(app);
  const buttons = pageButtons(app);
  const tabs = tabsPart(app, [
    ["about", "About", aboutPart(app)],
    ["node", "Group", nodePart(app)],
    ["item", "Item", itemPart(app)],
    ["draws", "Draws", drawsPart(app)],
    ["together", "Together", togetherPart(app)],
    ["chains", "Chains", chainsPart(app)],
    ["compare", "Compare", comparePart(app)],
  ]);
  const title = make("h1", {}, data.info.title || "Tree");
  const head = make("header", {}, title, search.element, buttons.element);
  const main = make("section", { class: "main", "aria-label": "Picture of the tree" }, controls.element, breadcrumb.element, tree.element);
  page.append(head, main, tabs.element, live);
  root.replaceChildren(page);
  const paint = () => page.setAttribute("data-theme", isDark(app.state.theme) ? "dark" : "light");
  paint();
  for (const part of [tree, search, controls, breadcrumb, buttons, tabs]) app.listen((before) => part.show(before));
  app.listen(paint);
  page.addEventListener("keydown", (event) => {
    const inField = (event.target as Element).matches("input, select, textarea");
    if (event.key !== "/" || inField || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
  });
  const unwatch = watchTheme(() => app.repaint());
  const remove = () => {
    unwatch();
    root.replaceChildren();
  };
  return { app, remove };
}
