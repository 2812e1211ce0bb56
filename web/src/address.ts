/** What the address asks for: `tree.html#tree:12` opens the group with id 12 of that tree. */

import type { App, State } from "./app";

/** Shows what stands behind the # of the address, if the page has it. */
export function goToAddress(app: App, hash: string): void {
  const change = asked(app, hash);
  if (change) app.set(change);
}

function asked(app: App, hash: string): Partial<State> | null {
  const found = /^#(tree|dendrogram):(\d+)$/.exec(hash);
  if (!found) return null;
  const tree = found[1] as State["tree"];
  if (!app.data.info.trees.some(({ key }) => key === tree)) return null;
  const node = app.forest(tree).ids.indexOf(Number(found[2]));
  return node < 0 ? null : { tree, node, panel: "node" };
}
