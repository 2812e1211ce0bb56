/** The panel that says whether the chains agree: a small chart for each number that was watched. */

import type { App, Part, State } from "../app";
import { make, makeSvg } from "./build";
import { chainColour } from "./colours";
import { evenly } from "./drawdata";
import { count, figure } from "./words";

const WIDTH = 320;
const HEIGHT = 90;
const MARGIN = { left: 54, right: 6, top: 8, bottom: 18 };
const MOST_POINTS = 300;

interface Trace {
  name: string;
  rhat: number;
  /** Values by chain. */
  chains: Float32Array[];
}

/** The panel "Chains", or null where the page has no traces. */
export function chainsPart(app: App): Part | null {
  const hasTraces = app.data.has("traces.values") && app.data.shape("traces.values").every((n) => n > 0);
  if (!hasTraces && !app.data.info.chains) return null;
  const traces = hasTraces ? readTraces(app) : [];
  const element = make("section", { class: "part part-chains", "aria-label": "Chains" }, ...contents(app, traces));
  const nChains = traces[0]?.chains.length ?? 0;
  const show = (_before?: Readonly<State>) => {
    for (let c = 0; c < nChains; c++) element.style.setProperty(`--chain-${c}`, chainColour(app, c));
  };
  show();
  return { element, show };
}

function readTraces(app: App): Trace[] {
  const [nTraces, nChains, nDraws] = app.data.shape("traces.values");
  const names = app.data.texts("traces.names");
  const values = app.data.floats("traces.values");
  const rhat = app.data.floats("traces.rhat");
  return Array.from({ length: nTraces }, (_, s) => ({
    name: names.at(s),
    rhat: rhat[s],
    chains: Array.from({ length: nChains }, (_, c) => values.subarray((s * nChains + c) * nDraws, (s * nChains + c + 1) * nDraws)),
  }));
}

function contents(app: App, traces: Trace[]): HTMLElement[] {
  const sentences = app.data.info.chains?.sentences ?? [];
  const top = make("div", { class: "part-lead" }, ...sentences.map((one) => make("p", {}, one)));
  if (traces.length === 0) return [top];
  // Numbers on which the chains disagree come first: they are what a reader must not miss.
  const worse = ["poor", "fair", "none", "good"];
  const rank = (one: Trace) => Math.min(worse.indexOf(verdict(one.rhat)[1]), 2);
  const sorted = [...traces].sort((one, other) => rank(one) - rank(other));
  const nChains = traces[0].chains.length;
  const legend = make("ul", { class: "chains-legend" }, ...Array.from({ length: nChains }, (_, c) => legendEntry(c)));
  const note = make("p", { class: "part-note" }, `${count(nChains, "chain")}, ${count(traces[0].chains[0].length, "draw")} each. R-hat compares chains: near 1, they agree. Lines that lie on top of each other are a good sign; lines that drift or stay apart are not.`);
  return [top, legend, make("div", { class: "chains-charts" }, ...sorted.map(chart)), note];
}

function legendEntry(chain: number): HTMLElement {
  const line = makeSvg("svg", { width: 22, height: 10, "aria-hidden": "true" }, inked(makeSvg("line", { x1: 0, x2: 22, y1: 5, y2: 5, "stroke-width": 3 }), chain));
  return make("li", {}, line, ` Chain ${chain + 1}`);
}

/** In the colour of a chain, which follows the theme. */
function inked<T extends SVGElement>(mark: T, chain: number): T {
  mark.style.setProperty("stroke", `var(--chain-${chain})`);
  return mark;
}

/** R-hat in words; [1] sorts it into good, fair and poor. */
export function verdict(rhat: number): [words: string, kind: "good" | "fair" | "poor" | "none"] {
  if (Number.isNaN(rhat)) return ["R-hat is not known: it needs two chains that vary", "none"];
  if (rhat < 1.05) return ["The chains agree", "good"];
  if (rhat < 1.1) return ["The chains differ a little", "fair"];
  return ["The chains disagree: do not trust this number yet", "poor"];
}

function chart(trace: Trace): HTMLElement {
  const [words, kind] = verdict(trace.rhat);
  const rhat = Number.isNaN(trace.rhat) ? "" : `R-hat ${Number.isFinite(trace.rhat) ? trace.rhat.toFixed(3) : "is infinite"}. `;
  return make("figure", { class: "chains-chart" },
    make("figcaption", {},
      make("strong", {}, trace.name),
      make("span", { class: `chains-verdict chains-${kind}` }, `${rhat}${words}.`)),
    lines(trace, words),
    make("p", { class: "part-note" }, trace.chains.map((values, c) => `Chain ${c + 1}: mean ${figure(mean(values))}`).join(" · ")));
}

function mean(values: Float32Array): number {
  const known = values.filter(Number.isFinite);
  return known.reduce((sum, one) => sum + one, 0) / known.length;
}

function lines(trace: Trace, words: string): SVGSVGElement {
  const known = trace.chains.flatMap((values) => Array.from(values).filter(Number.isFinite));
  const low = known.reduce((least, one) => Math.min(least, one), Infinity);
  const high = known.reduce((most, one) => Math.max(most, one), -Infinity);
  const n = trace.chains[0].length;
  const x = (t: number) => MARGIN.left + (t / Math.max(n - 1, 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const room = HEIGHT - MARGIN.top - MARGIN.bottom;
  const y = (value: number) => MARGIN.top + (high > low ? (high - value) / (high - low) : 0.5) * room;
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${trace.name} by draw, from ${figure(low)} to ${figure(high)}. ${words}.` });
  if (known.length === 0) {
    svg.append(text(WIDTH / 2, HEIGHT / 2, "no values", "middle"));
    return svg;
  }
  svg.append(
    makeSvg("path", { class: "chains-axis", d: `M${MARGIN.left},${MARGIN.top}V${HEIGHT - MARGIN.bottom}H${WIDTH - MARGIN.right}` }),
    text(MARGIN.left - 4, MARGIN.top + 6, figure(high), "end"),
    ...(high > low ? [text(MARGIN.left - 4, HEIGHT - MARGIN.bottom, figure(low), "end")] : []),
    text(MARGIN.left, HEIGHT - 5, "draw 1", "start"),
    text(WIDTH - MARGIN.right, HEIGHT - 5, `draw ${n}`, "end"),
    ...trace.chains.map((values, c) => inked(makeSvg("path", { class: "chains-line", d: path(values, x, y) }), c)),
  );
  return svg;
}

/** A line through at most 300 values; a value that is not known leaves a gap. */
function path(values: Float32Array, x: (t: number) => number, y: (value: number) => number): string {
  const steps = evenly(Array.from(values.keys()), MOST_POINTS);
  let pen = "M";
  let d = "";
  for (const t of steps) {
    if (Number.isFinite(values[t])) {
      d += `${pen}${x(t).toFixed(1)},${y(values[t]).toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  }
  return d;
}

function text(x: number, y: number, words: string, anchor: string): SVGTextElement {
  return makeSvg("text", { class: "chains-text", x, y, "text-anchor": anchor }, words);
}
