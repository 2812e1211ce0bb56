/** Text that fits a width. Widths of letters are measured once, because measuring every label in every frame is slow. */

/** Titles are bold; other text is a little narrower, so it fits as well. */
const FONT = "600 12px system-ui, sans-serif";
const widths = new Map<string, number>();
let brush: CanvasRenderingContext2D | null = null;

function letterWidth(letter: string): number {
  let width = widths.get(letter);
  if (width === undefined) {
    brush ??= document.createElement("canvas").getContext("2d");
    if (brush) brush.font = FONT;
    width = brush ? brush.measureText(letter).width : 7;
    widths.set(letter, width);
  }
  return width;
}

/** The text, or its beginning and "…", or "" where not even three letters fit. */
export function fit(text: string, room: number): string {
  let used = 0;
  let end = 0;
  const dots = letterWidth("…");
  let letters = 0;
  let short = "";
  for (const letter of text) {
    used += letterWidth(letter);
    if (used + dots <= room) {
      short += letter;
      letters++;
    }
    if (used > room) return letters >= 3 ? `${short.trimEnd()}…` : "";
    end += letter.length;
    if (end > 400) return `${short}…`;
  }
  return text;
}

export function textWidth(text: string): number {
  let used = 0;
  for (const letter of text.slice(0, 400)) used += letterWidth(letter);
  return used;
}

/** The text in at most `most` lines, broken between words; the last line ends with "…" where there is more. */
export function wrap(text: string, room: number, most: number): string[] {
  if (most < 2 || textWidth(text) <= room) return [fit(text, room)];
  const words = text.slice(0, 400).split(" ");
  const lines: string[] = [];
  while (words.length && lines.length < most - 1) {
    let line = words.shift() as string;
    while (words.length && textWidth(`${line} ${words[0]}`) <= room) line += ` ${words.shift()}`;
    lines.push(fit(line, room));
  }
  if (words.length) lines.push(fit(words.join(" "), room));
  return lines.filter((line) => line);
}
