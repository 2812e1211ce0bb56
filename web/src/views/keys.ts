/** The tree by keyboard: arrows walk, Enter zooms in, Escape zooms out, Space collapses. */

import type { App } from "../app";
import { spoken } from "../names";
import { reveal } from "../reveal";
import type { Layout } from "./geometry";
import { lastShown, nextShown, previousShown } from "./walk";

export interface Drawn {
  /** How the tree stands when all motion has ended. */
  settled(): Layout;
  focus(): void;
}

export function handleKey(app: App, view: Drawn, event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const act = ACTIONS[event.key];
  if (!act) return;
  event.preventDefault();
  act(app, view);
  view.focus();
}

const ACTIONS: Record<string, (app: App, view: Drawn) => void> = {
  ArrowDown: (app, view) => go(app, nextShown(app.forest(), view.settled(), app.state.node)),
  ArrowUp: (app, view) => go(app, previousShown(app.forest(), view.settled(), app.state.node)),
  ArrowRight: (app, view) => down(app, view),
  ArrowLeft: (app) => up(app),
  Home: (app) => go(app, app.state.zoom),
  End: (app, view) => go(app, lastShown(app.forest(), view.settled(), app.state.zoom)),
  Enter: (app) => zoomIn(app),
  Escape: (app) => zoomOut(app),
  " ": (app) => toggle(app, app.state.node),
};

export function go(app: App, z: number | undefined): void {
  if (z === undefined) return;
  app.set({ ...reveal(app.forest(), app.state, z), item: null, panel: "node" });
  app.say(spoken(app, z));
}

function down(app: App, view: Drawn): void {
  const { node, collapsed, depth } = app.state;
  const forest = app.forest();
  if (collapsed.has(node)) toggle(app, node);
  else if (forest.levels[node] >= depth) go(app, forest.children(node)[0]);
  else if (forest.children(node).length) go(app, nextShown(forest, view.settled(), node));
}

function up(app: App): void {
  const parent = app.forest().parents[app.state.node];
  if (parent >= 0) go(app, parent);
}

export function zoomIn(app: App): void {
  const { node } = app.state;
  app.set({ ...reveal(app.forest(), app.state, node), zoom: node });
  app.say(`Zoomed to ${spoken(app, node)}`);
}

export function zoomOut(app: App): void {
  const parent = Math.max(0, app.forest().parents[app.state.zoom]);
  app.set({ zoom: parent });
  app.say(`Zoomed out to ${spoken(app, parent)}`);
}

export function toggle(app: App, z: number): void {
  if (!app.forest().children(z).length) return;
  const collapsed = new Set(app.state.collapsed);
  const open = collapsed.delete(z);
  if (!open) collapsed.add(z);
  app.set({ collapsed });
  app.say(open ? "Expanded" : "Collapsed");
}
