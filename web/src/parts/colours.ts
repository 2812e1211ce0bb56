/** Colours of groups, components and shares in these panels. */

import type { App } from "../app";
import { css, mix, type Rgb } from "../colour";
import { Palette } from "../palette";

/** Okabe and Ito's colours, made a little darker or lighter so that they show on white and on black. */
const CHAINS = ["#0a77c4", "#d2640a", "#0f9a72", "#b75f97", "#8a7a14", "#3f9fd0", "#7b6bd0", "#8a8f98"];

export function chainColour(chain: number): string {
  return CHAINS[chain % CHAINS.length];
}

/** Colours by branch, also where the tree on the page is cut: a cut leaves the groups above it without colours. */
const uncut = new WeakMap<App, Palette>();

function palette(app: App): Palette {
  const known = uncut.get(app);
  if (known?.dark === app.palette.dark) return known;
  const made = new Palette((key) => app.forest(key), app.palette.dark, null);
  uncut.set(app, made);
  return made;
}

/** Grey, for a group that nothing in the estimate resembles. */
export function noGroup(app: App): string {
  return app.palette.muted;
}

export function nodeColour(app: App, node: number): string {
  return node < 0 ? noGroup(app) : palette(app).node(node, "tree");
}

export function componentColour(app: App, component: number): string {
  return component < 0 ? noGroup(app) : palette(app).component(component);
}

/** For lines and marks that must be seen on every colour: ink on a rim of paper. */
export function ink(app: App): string {
  return app.palette.dark ? "#f1f3f5" : "#16191d";
}

export function paper(app: App): string {
  return css(app.palette.background);
}

/** None, half, all. Lightness runs one way, so that the map can be read without seeing hues. */
const SHARES_LIGHT: Rgb[] = [[244, 243, 238], [94, 158, 190], [8, 38, 94]];
const SHARES_DARK: Rgb[] = [[30, 35, 42], [44, 122, 158], [246, 244, 190]];

export function shareColour(app: App, share: number): Rgb {
  const [none, half, all] = app.palette.dark ? SHARES_DARK : SHARES_LIGHT;
  const at = Math.min(Math.max(share, 0), 1) * 2;
  return at < 1 ? mix(none, half, at) : mix(half, all, at - 1);
}
