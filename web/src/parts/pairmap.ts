/** A square map of pairs of items, with the groups of the estimate along its edges and a scale below. */

import type { App } from "../app";
import { css } from "../colour";
import { fitCanvas, make } from "./build";
import { componentColour, ink, nodeColour, paper, shareColour } from "./colours";
import type { DrawData } from "./drawdata";

const EDGE = 8;
const GAP = 2;
const LARGEST = 560;
const SCALE_TICKS = [0, 0.25, 0.5, 0.75, 1];

export class PairMap {
  readonly canvas = make("canvas", { class: "together-canvas", role: "img", "aria-label": "Map of pairs; the lists below say the same in words" });
  readonly element: HTMLElement;
  private readonly scale = make("canvas", { class: "together-scale", "aria-hidden": "true" });
  private side = 0;
  private n = 0;

  constructor(
    private readonly app: App,
    private readonly draws: DrawData,
  ) {
    const ticks = SCALE_TICKS.map((share) => make("span", {}, `${100 * share} %`));
    this.element = make("div", { class: "together-map" }, this.canvas, make("div", { class: "together-legend" }, make("p", {}, "Share of draws in which the two are in the same group"), this.scale, make("div", { class: "together-ticks" }, ...ticks)));
  }

  /** The two items under a point, or null beside the map. */
  pairAt(x: number, y: number): [a: number, b: number] | null {
    const at = (z: number) => Math.floor(((z - EDGE - GAP) / this.side) * this.n);
    const [b, a] = [at(x), at(y)];
    return a >= 0 && b >= 0 && a < this.n && b < this.n ? [b, a] : null;
  }

  draw(shown: readonly number[], shares: Float32Array, row: number, chosen: number): void {
    const full = Math.min(this.element.clientWidth, LARGEST);
    if (full <= EDGE + GAP) return;
    this.n = shown.length;
    this.side = full - EDGE - GAP;
    const brush = fitCanvas(this.canvas, full, full);
    if (this.n === 0) return;
    brush.imageSmoothingEnabled = false;
    brush.drawImage(this.picture(shares), EDGE + GAP, EDGE + GAP, this.side, this.side);
    this.paintEdges(brush, shown, row);
    if (chosen >= 0) this.cross(brush, chosen);
    this.paintScale();
  }

  private picture(shares: Float32Array): HTMLCanvasElement {
    const small = make("canvas", { width: String(this.n), height: String(this.n) });
    const brush = small.getContext("2d") as CanvasRenderingContext2D;
    const image = brush.createImageData(this.n, this.n);
    for (let i = 0; i < shares.length; i++) image.data.set([...shareColour(this.app, shares[i]), 255], 4 * i);
    brush.putImageData(image, 0, 0);
    return small;
  }

  private paintEdges(brush: CanvasRenderingContext2D, shown: readonly number[], row: number): void {
    const paint = this.draws.isComponents(row) ? componentColour : nodeColour;
    const step = this.side / this.n;
    shown.forEach((j, i) => {
      brush.fillStyle = paint(this.app, this.draws.estimate(j, row));
      const at = EDGE + GAP + i * step;
      brush.fillRect(at, 0, step + 0.5, EDGE);
      brush.fillRect(0, at, EDGE, step + 0.5);
    });
  }

  private cross(brush: CanvasRenderingContext2D, chosen: number): void {
    const step = this.side / this.n;
    const at = EDGE + GAP + chosen * step;
    const wide = Math.max(step, 2);
    for (const [colour, line] of [[paper(this.app), 3], [ink(this.app), 1]] as const) {
      brush.strokeStyle = colour;
      brush.lineWidth = line;
      brush.strokeRect(at - 0.5, 0.5, wide + 1, EDGE + GAP + this.side - 1);
      brush.strokeRect(0.5, at - 0.5, EDGE + GAP + this.side - 1, wide + 1);
    }
  }

  private paintScale(): void {
    const width = (this.scale.parentElement as HTMLElement).clientWidth;
    const brush = fitCanvas(this.scale, width, 12);
    for (let x = 0; x < width; x++) {
      brush.fillStyle = css(shareColour(this.app, x / Math.max(width - 1, 1)));
      brush.fillRect(x, 0, 1, 12);
    }
  }
}
