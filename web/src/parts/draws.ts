/** The panel that plays through posterior draws. Items keep their place; only their colours change. */

import type { App, Part, State } from "../app";
import { button, calmly, labelled, make, select, slider, stillness, tellSlider, whenResized } from "./build";
import { type DrawData, drawData, evenlyWith, positionsInView } from "./drawdata";
import { DrawRow } from "./drawrow";
import { count, groupName, inside, itemName, percent } from "./words";

const SPEEDS: [string, string][] = [["1600", "slow"], ["800", "normal"], ["300", "fast"]];
const FADE = 220;

/** The panel "Draws", or null where the page has no draws. */
export function drawsPart(app: App): Part | null {
  const draws = drawData(app);
  return draws ? new DrawsPanel(app, draws) : null;
}

class DrawsPanel implements Part {
  readonly element: HTMLElement;
  private readonly rows: DrawRow[];
  private readonly rowBox = make("div", { class: "draws-rows" });
  private readonly sentence = make("p", { class: "draws-sentence" });
  private readonly view = make("p", { class: "part-note" });
  private readonly pointed = make("p", { class: "draws-pointed" });
  private readonly restless = make("div", { class: "draws-restless" });
  private readonly drawSlider: HTMLInputElement;
  private readonly itemSlider: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly say: (sentence: string) => void;
  private level: number;
  private pause = 800;
  private timer = 0;
  private frame = 0;
  /** Positions among the draws' items: those below the chosen node, and those that have a column. */
  private inView: number[] = [];
  private columns: number[] = [];
  private viewKey = "";

  constructor(
    private readonly app: App,
    private readonly draws: DrawData,
  ) {
    this.say = calmly((sentence) => app.say(sentence));
    this.level = Math.max(draws.nRows - 2, 0);
    this.drawSlider = slider(draws.nDraws, (value) => this.go(value - 1));
    this.itemSlider = slider(1, (value) => this.choose(this.columns[value]));
    this.play = button("Play", () => (this.timer ? this.stop() : this.start()), "draws-play");
    this.rows = Array.from({ length: draws.nRows }, (_, row) => new DrawRow(app, draws, row));
    for (const row of this.rows) this.listen(row);
    this.rowBox.append(...this.rows.map((row) => row.element));
    this.element = make("section", { class: "part part-draws", "aria-label": "Posterior draws" }, ...this.contents());
    whenResized(this.rowBox, () => this.draw());
    this.show();
  }

  show(before?: Readonly<State>): void {
    if (this.app.state.panel !== "draws") {
      this.stop();
      return;
    }
    this.arrange();
    const moved = before !== undefined && before.draw !== this.app.state.draw && before.panel === "draws";
    this.tell();
    if (moved && !stillness()) this.fade(before.draw);
    else this.draw();
    if (moved) this.say(this.sentence.textContent ?? "");
  }

  private contents(): HTMLElement[] {
    const levels = this.rows.map((_, row): [string, string] => [String(row), this.draws.rowName(row).toLowerCase()]);
    const level = select(levels, String(this.level), (value) => {
      this.level = Number(value);
      this.viewKey = "";
      this.show();
    });
    const speed = select(SPEEDS, String(this.pause), (value) => (this.pause = Number(value)));
    const step = (by: number) => this.go(this.app.state.draw + by);
    return [
      make("p", { class: "part-lead" }, "The fit kept many trees, called draws. A group that stays the same from draw to draw is sure; a group that changes is not."),
      make("div", { class: "part-controls" },
        this.play, button("Previous", () => step(-1)), button("Next", () => step(1)),
        labelled("Speed", speed), labelled("Count at", level)),
      labelled("Draw", this.drawSlider, "part-wide"),
      this.sentence,
      this.rowBox,
      labelled("Item", this.itemSlider, "part-wide"),
      this.pointed,
      make("p", { class: "part-note" }, "Each column is an item, in the order of the tree. The thin line on top is the estimate. The colour below is the group of the estimate that resembles the item's group in this draw most; grey: none does. A mark under a column: the item is in another group than in the estimate."),
      this.view,
      this.restless,
    ];
  }

  private listen(row: DrawRow): void {
    const at = (event: PointerEvent | MouseEvent) => this.columns[row.columnAt(event.offsetX)];
    row.canvas.addEventListener("pointermove", (event) => this.point(at(event)));
    row.canvas.addEventListener("pointerleave", () => this.point(this.chosen()));
    row.canvas.addEventListener("click", (event) => this.choose(at(event)));
  }

  /** Which items stand in which columns; anew only where the chosen node or the width changed. */
  private arrange(): void {
    const { tree, node } = this.app.state;
    const width = Math.max(this.rowBox.clientWidth, 200);
    const key = `${tree}:${node}:${width}`;
    if (key === this.viewKey && this.hasColumn(this.chosen())) return;
    if (key !== this.viewKey) this.inView = positionsInView(this.app, this.draws);
    this.viewKey = key;
    this.columns = evenlyWith(this.inView, Math.floor(width), this.chosen());
    this.restless.replaceChildren(...this.mostRestless());
  }

  private hasColumn(j: number | undefined): boolean {
    return j === undefined || this.columns.length === this.inView.length || this.columns.includes(j);
  }

  private viewWords(): string {
    const { tree, node } = this.app.state;
    const where = node > 0 ? `Items below the chosen group, ${inside(groupName(this.app, tree, node))}: ${this.inView.length.toLocaleString("en")}.` : `Items with draws: ${this.inView.length.toLocaleString("en")}.`;
    const fewer = this.columns.length < this.inView.length ? ` ${this.columns.length.toLocaleString("en")} of them, evenly spaced, have a column; counts cover all of them.` : "";
    const absent = this.app.data.info.n_items - this.draws.nItems;
    return where + fewer + (absent > 0 ? ` ${count(absent, "row")} of the table have no draws in this page.` : "");
  }

  private mostRestless(): HTMLElement[] {
    const shares = this.inView.map((j) => ({ j, share: this.draws.shareElsewhere(j, this.level) }));
    const top = shares.filter((one) => one.share > 0).sort((a, b) => b.share - a.share).slice(0, 5);
    const where = this.draws.rowName(this.level).toLowerCase();
    if (top.length === 0) return [make("p", {}, `No item changes its group in any draw (${where}).`)];
    const entries = top.map(({ j, share }) =>
      make("li", {}, button(itemName(this.app, this.draws.items[j]), () => this.choose(j), "part-link"), ` is elsewhere in ${percent(share)} of draws`));
    return [make("h3", {}, `Items that change group most often (${where})`), make("ul", { class: "part-list" }, ...entries)];
  }

  private tell(): void {
    const { draw } = this.app.state;
    this.sentence.textContent = this.drawWords(draw);
    this.view.textContent = this.viewWords();
    tellSlider(this.drawSlider, draw + 1, this.draws.nDraws, draw < 0 ? "the estimate" : `draw ${draw + 1} of ${this.draws.nDraws}, chain ${this.draws.chain[draw] + 1}`);
    for (const row of this.rows) row.tell(draw, this.inView);
    const chosen = this.chosen();
    const column = chosen === undefined ? -1 : this.columns.indexOf(chosen);
    this.itemSlider.disabled = this.columns.length === 0;
    tellSlider(this.itemSlider, Math.max(column, 0), Math.max(this.columns.length - 1, 0), column < 0 ? "no item is chosen" : itemName(this.app, this.draws.items[this.columns[column]]));
    this.point(chosen);
  }

  private drawWords(draw: number): string {
    if (this.inView.length === 0) return "No item below the chosen group has draws in this page.";
    if (draw < 0) return `This is the estimate. There are ${this.draws.nDraws} draws: press Play or Next.`;
    const moved = this.draws.elsewhere(draw, this.level, this.inView);
    const where = this.draws.isComponents(this.level) ? "(components)" : `at level ${this.level + 1}`;
    const verb = moved === 1 ? "is" : "are";
    return `Draw ${draw + 1} of ${this.draws.nDraws} (chain ${this.draws.chain[draw] + 1}): ${moved} of ${count(this.inView.length, "item")} ${verb} in another group than in the estimate ${where}.`;
  }

  /** Words on the item under the pointer, or on the chosen one. */
  private point(j: number | undefined): void {
    if (j === undefined) {
      this.pointed.textContent = "Point at a column to see its item; click to choose it.";
      return;
    }
    const { draw } = this.app.state;
    const name = itemName(this.app, this.draws.items[j]);
    const places: string[] = [];
    for (let row = 0; row < this.draws.nRows - 1; row++) {
      const fit = this.draws.fit(draw, j, row);
      const same = fit === this.draws.estimate(j, row);
      places.push(`level ${row + 1}: ${inside(groupName(this.app, "tree", fit, 36))}${draw < 0 || same ? "" : " (elsewhere)"}`);
    }
    const often = percent(this.draws.shareElsewhere(j, this.level));
    this.pointed.replaceChildren(make("strong", {}, name), ` · ${places.join(" · ")}. It is elsewhere in ${often} of draws (${this.draws.rowName(this.level).toLowerCase()}).`);
  }

  private draw(): void {
    this.arrange();
    cancelAnimationFrame(this.frame);
    for (const row of this.rows) row.draw(this.columns, this.app.state.draw, this.app.state.draw, 1, this.chosen());
  }

  private fade(from: number): void {
    cancelAnimationFrame(this.frame);
    const to = this.app.state.draw;
    const lasts = Math.min(FADE, this.timer ? this.pause * 0.6 : FADE);
    const begin = performance.now();
    const paint = (now: number) => {
      const way = Math.min(Math.max((now - begin) / lasts, 0), 1);
      for (const row of this.rows) row.draw(this.columns, from, to, way, this.chosen());
      if (way < 1) this.frame = requestAnimationFrame(paint);
    };
    this.frame = requestAnimationFrame(paint);
  }

  private chosen(): number | undefined {
    const { item } = this.app.state;
    return item === null ? undefined : this.draws.position.get(item);
  }

  private choose(j: number | undefined): void {
    if (j === undefined) return;
    this.app.set({ item: this.draws.items[j] });
    this.say(this.pointed.textContent ?? "");
  }

  /** Shows a draw; -1 is the estimate, and the ends meet. */
  private go(draw: number): void {
    const n = this.draws.nDraws;
    this.app.set({ draw: draw >= n ? -1 : draw < -1 ? n - 1 : draw });
  }

  private start(): void {
    this.play.textContent = "Pause";
    const step = () => {
      if (!this.element.isConnected || this.app.state.draw + 1 >= this.draws.nDraws) {
        this.stop();
        return;
      }
      this.go(this.app.state.draw + 1);
      this.timer = window.setTimeout(step, this.pause);
    };
    if (this.app.state.draw + 1 >= this.draws.nDraws) this.go(-1);
    this.timer = window.setTimeout(step, 0);
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }
}
