/** Keeps what is chosen in a notebook's widget and in Python the same. */

import type { Explorer } from "./explorer";
import { reveal } from "./reveal";

export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
}

interface Selected {
  tree?: string;
  node?: number;
  item?: number | null;
}

/** Python's words for what is chosen: its own node id, and the row in the table. */
function selected(app: Explorer): Selected {
  const { tree, node, item } = app.state;
  return { tree, node: app.forest().ids[node], item: item === null ? null : app.data.ints("items.row")[item] };
}

/** Tells Python of every choice, and follows what Python chooses; returns how to stop. */
export function connect(app: Explorer, model: Model): () => void {
  let told = "";
  app.listen((before) => {
    const { tree, node, item } = app.state;
    if (before.tree === tree && before.node === node && before.item === item) return;
    const now = selected(app);
    if (JSON.stringify(now) === told) return;
    told = JSON.stringify(now);
    model.set("selected", now);
    model.save_changes();
  });
  const follow = () => {
    const wanted = (model.get("selected") ?? {}) as Selected;
    if (JSON.stringify(wanted) === JSON.stringify(selected(app))) return;
    told = JSON.stringify(wanted);
    choose(app, wanted);
  };
  model.on("change:selected", follow);
  follow();
  return () => model.off("change:selected", follow);
}

function choose(app: Explorer, wanted: Selected): void {
  const known = app.data.info.trees.find((one) => one.key === wanted.tree && one.key !== "compare")?.key;
  const tree = (known ?? app.state.tree) as Explorer["state"]["tree"];
  const forest = app.forest(tree);
  const state = tree === app.state.tree ? app.state : { ...app.state, zoom: 0, depth: forest.depth, collapsed: new Set<number>() };
  if (typeof wanted.item === "number") {
    const item = app.data.ints("items.row").indexOf(wanted.item);
    if (item >= 0) app.set({ tree, ...reveal(forest, state, forest.leaf[item]), item, panel: "item" });
  } else if (typeof wanted.node === "number") {
    const z = forest.ids.indexOf(wanted.node);
    if (z >= 0) app.set({ tree, ...reveal(forest, state, z), item: null, panel: "node" });
  }
}
