/** The tree by keyboard: arrows walk, Enter zooms in, Escape zooms out, Space collapses. */

import type { App } from "../app";
import { spoken } from "../names";
import { reveal } from "../reveal";
import type { Box } from "./visible";

export interface Drawn {
  boxes: Box[];
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
  ArrowDown: (app, view) => step(app, view, 1),
  ArrowUp: (app, view) => step(app, view, -1),
  ArrowRight: (app) => down(app),
  ArrowLeft: (app) => up(app),
  Home: (app, view) => go(app, view.boxes[0]?.z),
  End: (app, view) => go(app, view.boxes[view.boxes.length - 1]?.z),
  Enter: (app) => zoomIn(app),
  Escape: (app) => zoomOut(app),
  " ": (app) => toggle(app, app.state.node),
};

export function go(app: App, z: number | undefined): void {
  if (z === undefined) return;
  app.set({ ...reveal(app.forest(), app.state, z), item: null, panel: "node" });
  app.say(spoken(app, z));
}

function step(app: App, { boxes }: Drawn, by: number): void {
  const at = boxes.findIndex(({ z }) => z === app.state.node);
  go(app, boxes[at < 0 ? 0 : Math.min(boxes.length - 1, Math.max(0, at + by))]?.z);
}

function down(app: App): void {
  const { node, collapsed } = app.state;
  if (collapsed.has(node)) toggle(app, node);
  else if (app.forest().children(node).length) go(app, app.forest().children(node)[0]);
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
