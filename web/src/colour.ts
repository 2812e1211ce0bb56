/** Colours by lightness, chroma and hue (OKLCH), and how well text can be read on them. */

export interface Lch {
  l: number;
  c: number;
  h: number;
}

export type Rgb = [red: number, green: number, blue: number];

function linear({ l, c, h }: Lch): Rgb {
  const angle = (h * Math.PI) / 180;
  const [a, b] = [c * Math.cos(angle), c * Math.sin(angle)];
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
}

function gamma(value: number): number {
  return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

/** The colour on a screen; where the screen has none so vivid, the most vivid of its lightness and hue. */
export function toRgb(colour: Lch): Rgb {
  let { c } = colour;
  let rgb = linear(colour);
  for (let i = 0; i < 12 && rgb.some((one) => one < -0.001 || one > 1.001); i++) {
    c *= 0.88;
    rgb = linear({ ...colour, c });
  }
  return rgb.map((one) => Math.round(gamma(Math.min(1, Math.max(0, one))))) as Rgb;
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((one, i) => Math.round(one + (to[i] - one) * share)) as Rgb;
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red},${green},${blue})`;
}

/** Relative luminance, as WCAG defines it. */
export function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((one) => {
    const share = one / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** White where it has the contrast that WCAG asks of text, 4.5, else black, which then has more. */
export function inkOn(rgb: Rgb): string {
  return 1.05 / (luminance(rgb) + 0.05) >= 4.5 ? "#fff" : "#000";
}
