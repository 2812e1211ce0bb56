/** Colours of groups, components and shares in these panels. */

import type { App } from "../app";
import { css, mix, type Rgb } from "../colour";
import { Palette } from "../palette";

/** Okabe and Ito's colours, dark enough for lines on white and light enough for lines on black. */
const CHAINS_LIGHT = ["#0a6fb8", "#c85a00", "#0b8a64", "#a94f88", "#7d6c00", "#3a93c4", "#6a58c8", "#6b717a"];
const CHAINS_DARK = ["#5ab4f0", "#ff9d4d", "#3fcf9f", "#e59bc8", "#e0cf4f", "#9bd6f5", "#b3a6ff", "#b9bec6"];

export function chainColour(app: App, chain: number): string {
  const colours = app.palette.dark ? CHAINS_DARK : CHAINS_LIGHT;
  return colours[chain % colours.length];
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
