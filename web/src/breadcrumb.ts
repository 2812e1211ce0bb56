/** The path to the node that fills the view; each step zooms back out. */

import type { App, Part } from "./app";
import { nodeName } from "./names";
import { button, make } from "./parts/build";
import { onChange } from "./panels/parts";

export function breadcrumbPart(app: App): Part {
  const steps = make("ol", {});
  const element = make("nav", { class: "breadcrumb", "aria-label": "Zoomed to" }, steps);
  const draw = () => {
    const path = app.forest().path(app.state.zoom);
    steps.replaceChildren(
      ...path.map((z) => {
        const one = button(nodeName(app, z), () => app.set({ zoom: z, node: z, item: null, panel: "node" }), "plain");
        if (z === app.state.zoom) one.setAttribute("aria-current", "true");
        return make("li", {}, one);
      }),
    );
  };
  const show = onChange(() => [app.state.zoom, app.state.tree, app.state.renamed] as const, draw);
  show();
  return { element, show };
}
