/** Small makers of elements. Text goes in as text alone, so that nothing in the data can become markup. */

type Inside = (Node | string)[];

const SVG = "http://www.w3.org/2000/svg";

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...inside: Inside
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

export function makeSvg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...inside: Inside
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...inside);
  return element;
}

export function button(text: string, onClick: () => void, className = ""): HTMLButtonElement {
  const element = make("button", { type: "button", class: className }, text);
  element.addEventListener("click", onClick);
  return element;
}

/** A control with its words. */
export function labelled(text: string, control: HTMLElement, className = ""): HTMLLabelElement {
  return make("label", { class: `part-field ${className}` }, make("span", {}, text), control);
}

export function select(options: [value: string, text: string][], value: string, onChange: (value: string) => void): HTMLSelectElement {
  const element = make("select", {}, ...options.map(([one, text]) => make("option", { value: one }, text)));
  element.value = value;
  element.addEventListener("change", () => onChange(element.value));
  return element;
}

/** A slider; its words for people who hear the page are set by `tellSlider`. */
export function slider(most: number, onInput: (value: number) => void): HTMLInputElement {
  const element = make("input", { type: "range", min: "0", max: String(most), step: "1", value: "0" });
  element.addEventListener("input", () => onInput(Number(element.value)));
  return element;
}

export function tellSlider(element: HTMLInputElement, value: number, most: number, words: string): void {
  element.max = String(most);
  element.value = String(value);
  element.setAttribute("aria-valuetext", words);
}

/** Calls `draw` when the element's width changes, once per frame at most. */
export function whenResized(element: HTMLElement, draw: () => void): void {
  let width = -1;
  const observer = new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    requestAnimationFrame(draw);
  });
  observer.observe(element);
}

/** A canvas of the wanted size in CSS pixels, sharp on dense screens, and its brush. */
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const dense = Math.min(window.devicePixelRatio || 1, 3);
  const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.setProperty("width", `${width}px`);
    canvas.style.setProperty("height", `${height}px`);
  }
  const brush = canvas.getContext("2d") as CanvasRenderingContext2D;
  brush.setTransform(dense, 0, 0, dense, 0, 0);
  brush.clearRect(0, 0, width, height);
  return brush;
}

/** Says sentences at most once a second; the last one is always said. */
export function calmly(say: (sentence: string) => void): (sentence: string) => void {
  let last = 0;
  let waiting = 0;
  return (sentence) => {
    clearTimeout(waiting);
    const rest = last + 1000 - Date.now();
    const now = () => {
      last = Date.now();
      say(sentence);
    };
    if (rest <= 0) now();
    else waiting = window.setTimeout(now, rest);
  };
}

export function stillness(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
