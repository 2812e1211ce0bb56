/** One level of the draws player: the estimate as a thin line, the draw below it, a mark where the two differ. */

import type { App } from "../app";
import { fitCanvas, make } from "./build";
import { componentColour, ink, nodeColour, paper } from "./colours";
import type { DrawData } from "./drawdata";

const ESTIMATE = 5;
const GAP = 2;
const CELL = 22;
const MARK = 4;
export const ROW_HEIGHT = ESTIMATE + GAP + CELL + GAP + MARK;

export class DrawRow {
  readonly element: HTMLElement;
  readonly canvas = make("canvas", { class: "draws-canvas", role: "img" });
  private readonly label = make("span", {});
  private readonly colours = new Map<number, string>();
  private width = 0;
  private nColumns = 0;

  constructor(
    private readonly app: App,
    private readonly draws: DrawData,
    private readonly row: number,
  ) {
    this.element = make("div", { class: "draws-row" }, make("p", { class: "draws-label" }, make("strong", {}, `${draws.rowName(row)}:`), this.label), this.canvas);
  }

  tell(draw: number, inView: readonly number[]): void {
    const moved = draw < 0 ? 0 : this.draws.elsewhere(draw, this.row, inView);
    this.label.textContent = draw < 0 ? "the estimate" : `${moved} of ${inView.length} elsewhere`;
    this.canvas.setAttribute("aria-label", `${this.draws.rowName(this.row)}: ${this.label.textContent}`);
  }

  columnAt(x: number): number {
    return Math.min(Math.max(Math.floor((x / this.width) * this.nColumns), 0), this.nColumns - 1);
  }

  /** Paints the way from one draw to another; `way` runs from 0 to 1. */
  draw(columns: readonly number[], from: number, to: number, way: number, chosen: number | undefined): void {
    this.width = this.element.clientWidth;
    this.nColumns = columns.length;
    if (this.width === 0) return;
    this.colours.clear();
    const brush = fitCanvas(this.canvas, this.width, ROW_HEIGHT);
    const top = ESTIMATE + GAP;
    columns.forEach((j, c) => {
      const [x, w] = this.span(c);
      const estimate = this.draws.estimate(j, this.row);
      const [old, now] = [this.draws.fit(from, j, this.row), this.draws.fit(to, j, this.row)];
      brush.fillStyle = this.colour(estimate);
      brush.fillRect(x, 0, w, ESTIMATE);
      brush.fillStyle = this.colour(old);
      brush.fillRect(x, top, w, CELL);
      if (old !== now) {
        brush.globalAlpha = way;
        brush.fillStyle = this.colour(now);
        brush.fillRect(x, top, w, CELL);
        brush.globalAlpha = 1;
      }
      if (now !== estimate) {
        brush.fillStyle = ink(this.app);
        brush.fillRect(x, top + CELL + GAP, w, MARK);
      }
    });
    const at = chosen === undefined ? -1 : columns.indexOf(chosen);
    if (at >= 0) this.outline(brush, at);
  }

  private outline(brush: CanvasRenderingContext2D, column: number): void {
    const [x, w] = this.span(column);
    const wide = Math.max(w, 4);
    const left = Math.min(Math.max(x + (w - wide) / 2, 1), this.width - wide - 1);
    for (const [colour, grow, line] of [[paper(this.app), 1.5, 3], [ink(this.app), 0.5, 1.5]] as const) {
      brush.strokeStyle = colour;
      brush.lineWidth = line;
      brush.strokeRect(left - grow, 1, wide + 2 * grow, ROW_HEIGHT - 2);
    }
  }

  /** Edges on whole pixels, so that neighbours of one colour show no seam. A wide column keeps a hair's breadth of room. */
  private span(column: number): [x: number, width: number] {
    const x = Math.round((column * this.width) / this.nColumns);
    const next = Math.round(((column + 1) * this.width) / this.nColumns);
    return [x, Math.max(next - x - (this.width / this.nColumns > 6 ? 1 : 0), 1)];
  }

  private colour(group: number): string {
    let colour = this.colours.get(group);
    if (colour === undefined) {
      colour = this.draws.isComponents(this.row) ? componentColour(this.app, group) : nodeColour(this.app, group);
      this.colours.set(group, colour);
    }
    return colour;
  }
}
