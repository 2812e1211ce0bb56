/** Two trees side by side with ribbons between them, as one picture. */

import type { App } from "../app";
import { inkOn, type Rgb } from "../colour";
import { makeSvg } from "./build";
import { ink, nodeColour } from "./colours";
import { type Box, type Ribbon, Side } from "./comparelayout";
import type { Matches } from "./matches";
import { count, groupName, inside, itemName } from "./words";

const MOST_RIBBONS = 400;
// A screen shows no more boxes than this; smaller groups are left to the colour of the group above, which lies below them.
const MANY_BOXES = 300;
const TITLE = 22;

export interface Scene {
  left: Side;
  right: Side;
  ribbons: Ribbon[];
  matches: Matches;
}

interface Plan {
  width: number;
  height: number;
  unit: number;
  outer: number;
  inner: number;
}

/** @returns the picture, and how many ribbons it leaves out */
export function picture(app: App, scene: Scene, width: number, chooseItem: (item: number) => void): { svg: SVGSVGElement; left_out: number } {
  const n = Math.max(scene.left.group.length, 1);
  const groups = Math.max(scene.left.ends().length, scene.right.ends().length);
  const height = Math.min(Math.max(360, 16 * groups, width * 0.6), 720);
  const inner = Math.min(Math.max(width * 0.22, 56), 170);
  const plan = { width, height, unit: height / n, outer: Math.min(Math.max(width * 0.025, 6), 16), inner };
  const svg = makeSvg("svg", { class: "compare-svg", viewBox: `0 0 ${width} ${height + TITLE}`, width, height: height + TITLE, role: "group", "aria-label": "Two trees side by side; tables below say the same in words" });
  svg.append(hatch(app), ...headings(app, plan));
  const drawn = chosenRibbons(app, scene.ribbons);
  const middle = makeSvg("g", { transform: `translate(0 ${TITLE})` });
  middle.append(...drawn.map((one) => ribbonPath(app, scene, plan, one, chooseItem)));
  middle.append(...side(app, scene, plan, true), ...side(app, scene, plan, false));
  svg.append(middle);
  return { svg, left_out: scene.ribbons.length - drawn.length };
}

/** The widest ribbons and all that moved, as far as a screen can take them; those to be seen best come last, on top. */
function chosenRibbons(app: App, all: Ribbon[]): Ribbon[] {
  const { item } = app.state;
  const rank = (one: Ribbon) => (item !== null && one.items.includes(item) ? 2 : one.moved ? 1 : 0);
  const ranked = all.map((one) => ({ one, rank: rank(one) }));
  ranked.sort((a, b) => b.rank - a.rank || b.one.items.length - a.one.items.length);
  return ranked.slice(0, MOST_RIBBONS).map(({ one }) => one).reverse();
}

/** Pale, so that a name on it can be read. */
function hatch(app: App): SVGElement {
  const line = makeSvg("path", { d: "M-1,1L1,-1M0,8L8,0M7,9L9,7", stroke: app.palette.dark ? "#4d545e" : "#c3c8cf", "stroke-width": 1.5 });
  const ground = makeSvg("rect", { width: 8, height: 8, fill: app.palette.dark ? "#2a2f37" : "#eef0f2" });
  return makeSvg("defs", {}, makeSvg("pattern", { id: "bhmc-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse" }, ground, line));
}

function headings(app: App, plan: Plan): SVGElement[] {
  const names = app.data.info.compare ?? { left: "Left", right: "Right" };
  const fits = Math.floor(plan.width / 2 / 7.5);
  const short = (text: string) => (text.length > fits ? `${text.slice(0, fits - 1)}…` : text);
  return [
    makeSvg("text", { class: "compare-heading", x: 0, y: 14 }, short(names.left)),
    makeSvg("text", { class: "compare-heading", x: plan.width, y: 14, "text-anchor": "end" }, short(names.right)),
  ];
}

/** From the outer edge inwards: upper levels are narrow, the chosen level is wide and has names. */
function side(app: App, scene: Scene, plan: Plan, isLeft: boolean): SVGElement[] {
  const one = isLeft ? scene.left : scene.right;
  const ends = new Set(one.ends());
  const first = Math.max(1, one.level - 4);
  const out: SVGElement[] = [];
  const edge = (one.level - first) * plan.outer + plan.inner;
  const boxes = one.boxes();
  const least = boxes.length > MANY_BOXES ? 1.5 : 0.5;
  for (const box of boxes) {
    const tall = (box.end - box.begin) * plan.unit;
    if (tall < least || (box.level < first && !ends.has(box.node))) continue;
    const from = Math.max(box.level - first, 0) * plan.outer;
    out.push(boxOf(app, scene, plan, box, isLeft, from, edge - from, tall, ends.has(box.node)));
  }
  return out;
}

function boxOf(app: App, scene: Scene, plan: Plan, box: Box, isLeft: boolean, from: number, wide: number, tall: number, named: boolean): SVGElement {
  const key = isLeft ? "tree" : "compare";
  const match = isLeft ? scene.matches.ofTree(box.node) : scene.matches.ofOther(box.node);
  const partner = isLeft ? box.node : match?.a;
  const unmatched = match === undefined;
  const colour = partner === undefined ? "url(#bhmc-hatch)" : nodeColour(app, partner);
  const x = isLeft ? from : plan.width - from - wide;
  const y = box.begin * plan.unit;
  const chosen = isLeft && app.state.tree === "tree" && app.state.node === box.node;
  const rect = makeSvg("rect", { class: `compare-box${tall < 4 ? " compare-small" : ""}${unmatched ? " compare-unmatched" : ""}${chosen ? " compare-chosen" : ""}`, x, y, width: wide, height: tall, fill: colour });
  const size = (isLeft ? scene.left : scene.right).forest.sizes[box.node];
  const name = groupName(app, key, box.node);
  const group = makeSvg("g", {}, makeSvg("title", {}, `${name}: ${count(size, "item")}, level ${box.level}${unmatched ? ", no match in the other tree" : ""}`), rect);
  if (named && tall >= 13 && wide > 40) group.append(...labelOf(name, size, partner === undefined ? ink(app) : textOn(colour), x, y, wide, tall));
  if (isLeft && app.state.tree === "tree") group.addEventListener("click", () => app.set({ node: box.node }));
  return group;
}

function labelOf(name: string, size: number, fill: string, x: number, y: number, wide: number, tall: number): SVGElement[] {
  const room = Math.floor((wide - 8) / 6.1);
  const number = size.toLocaleString("en");
  const left = room - number.length - 1;
  const text = name.length <= left ? name : left > 4 ? `${name.slice(0, left - 1)}…` : "";
  const line = y + tall / 2 + 4;
  return [
    makeSvg("text", { class: "compare-label", x: x + 4, y: line, fill }, text),
    makeSvg("text", { class: "compare-label", x: x + wide - 4, y: line, fill, "text-anchor": "end" }, number),
  ];
}

function textOn(colour: string): string {
  const parts = colour.match(/\d+/g) ?? ["0", "0", "0"];
  return inkOn(parts.slice(0, 3).map(Number) as Rgb);
}

function ribbonPath(app: App, scene: Scene, plan: Plan, one: Ribbon, chooseItem: (item: number) => void): SVGElement {
  const edge = (level: number) => (level - Math.max(1, level - 4)) * plan.outer + plan.inner;
  const [x0, x1] = [edge(scene.left.level) + 1, plan.width - edge(scene.right.level) - 1];
  const [y0, y1, tall] = [one.leftAt * plan.unit, one.rightAt * plan.unit, Math.max(one.items.length * plan.unit, 0.75)];
  const middle = (x0 + x1) / 2;
  const d = `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}V${y1 + tall}C${middle},${y1 + tall} ${middle},${y0 + tall} ${x0},${y0 + tall}Z`;
  const { item } = app.state;
  const chosen = item !== null && one.items.includes(item);
  const kind = `${one.moved ? " compare-moved" : ""}${tall < 4 ? " compare-thin" : ""}${chosen ? " compare-chosen" : ""}`;
  const path = makeSvg("path", { class: `compare-ribbon${kind}`, d, fill: nodeColour(app, one.left) }, makeSvg("title", {}, ribbonWords(app, one)));
  path.addEventListener("click", () => chooseItem(one.items[0]));
  return path;
}

function ribbonWords(app: App, one: Ribbon): string {
  const names = one.items.slice(0, 6).map((item) => inside(itemName(app, item))).join(", ");
  const more = one.items.length > 6 ? ` and ${one.items.length - 6} more` : "";
  const verb = one.moved ? "moved" : "stayed together";
  return `${inside(groupName(app, "tree", one.left))} → ${inside(groupName(app, "compare", one.right))}: ${count(one.items.length, "item")} ${verb} (${names}${more})`;
}
