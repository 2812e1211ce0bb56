/** Panels behind tabs. A tab whose data the page lacks is not there. */

import type { App, Part, State } from "./app";
import { make } from "./parts/build";

type Panel = State["panel"];

export function tabsPart(app: App, panels: [panel: Panel, label: string, part: Part | null][]): Part {
  const shown = panels.filter((one): one is [Panel, string, Part] => one[2] !== null);
  const list = make("div", { role: "tablist", "aria-label": "Panels", class: "tabs" });
  const body = make("div", { class: "bodies" });
  const tabs = new Map<Panel, { tab: HTMLElement; body: HTMLElement }>();
  for (const [panel, label, part] of shown) {
    const tab = make("button", { type: "button", role: "tab", id: `bhmc-tab-${panel}`, "aria-controls": `bhmc-panel-${panel}` }, label);
    tab.addEventListener("click", () => app.set({ panel }));
    const one = make("div", { role: "tabpanel", id: `bhmc-panel-${panel}`, "aria-labelledby": `bhmc-tab-${panel}`, tabindex: "0" }, part.element);
    tabs.set(panel, { tab, body: one });
    list.append(tab);
    body.append(one);
  }
  list.addEventListener("keydown", (event) => walk(app, shown.map(([panel]) => panel), event, (panel) => tabs.get(panel)?.tab.focus()));
  const show = (before: Readonly<State>) => {
    for (const [panel, { tab, body: one }] of tabs) {
      const open = panel === app.state.panel;
      tab.setAttribute("aria-selected", String(open));
      tab.setAttribute("tabindex", open ? "0" : "-1");
      one.hidden = !open;
    }
    for (const [, , part] of shown) part.show(before);
    if (before.panel !== app.state.panel || before.node !== app.state.node) body.scrollTop = 0;
  };
  show(app.state);
  return { element: make("section", { class: "side", "aria-label": "Details" }, list, body), show };
}

function walk(app: App, order: Panel[], event: KeyboardEvent, focus: (panel: Panel) => void): void {
  const at = order.indexOf(app.state.panel);
  const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: order.length - 1 };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const panel = order[(steps[event.key] + order.length) % order.length];
  app.set({ panel });
  focus(panel);
}
