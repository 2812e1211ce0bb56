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
  const element = make("section", { class: "side", "aria-label": "Details" }, list, body);
  const show = (before: Readonly<State>) => {
    const focusInside = body.contains(focused(body));
    for (const [panel, { tab, body: one }] of tabs) {
      const open = panel === app.state.panel;
      tab.setAttribute("aria-selected", String(open));
      tab.setAttribute("tabindex", open ? "0" : "-1");
      one.hidden = !open;
    }
    for (const [, , part] of shown) part.show(before);
    const now = tabs.get(app.state.panel)?.body;
    // What was pressed may be gone: the keyboard goes on in the panel, not at the top of the page.
    if (focusInside && !now?.contains(focused(body))) now?.focus({ preventScroll: true });
    const turned = before.panel !== app.state.panel || before.node !== app.state.node || before.item !== app.state.item;
    if (!turned) return;
    body.scrollTop = 0;
    // On a phone the page itself scrolls, and a reader deep in one panel would land deep in the next.
    if (focusInside && element.getBoundingClientRect().top < 0) element.scrollIntoView();
  };
  show(app.state);
  return { element, show };
}

function focused(inside: HTMLElement): Element | null {
  const root = inside.getRootNode();
  return root instanceof ShadowRoot ? root.activeElement : null;
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
