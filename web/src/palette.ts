/** Colours of groups and components. Branches differ in hue and in lightness, because some readers see few hues. */

import { css, inkOn, mix, toRgb, type Lch, type Rgb } from "./colour";
import { clusterOf } from "./cut";
import type { Forest } from "./forest";

/** After Okabe and Ito, whose colours differ for all common kinds of colour blindness. */
const BASE: Lch[] = [
  { l: 0.5, c: 0.13, h: 247 },
  { l: 0.77, c: 0.16, h: 72 },
  { l: 0.62, c: 0.13, h: 166 },
  { l: 0.69, c: 0.12, h: 347 },
  { l: 0.78, c: 0.11, h: 233 },
  { l: 0.6, c: 0.18, h: 44 },
  { l: 0.89, c: 0.16, h: 106 },
  { l: 0.46, c: 0.08, h: 310 },
];
const GREY: Lch = { l: 0.72, c: 0.012, h: 250 };

/** The share of all rows above which a group is as good as the whole. */
const DOMINANT = 0.75;

/** The i-th of many colours: the base colours, then the same hues lighter and darker. */
function base(i: number): Lch {
  const { l, c, h } = BASE[i % BASE.length];
  const round = Math.floor(i / BASE.length) % 3;
  const shift = [0, 0.14, -0.14][round];
  return { l: Math.min(0.92, Math.max(0.36, l + shift)), c: round ? 0.75 * c : c, h: h + 16 * round };
}

export class Palette {
  readonly background: Rgb;
  private readonly cache = new Map<Forest, Rgb[]>();

  /**
   * @param forestOf finds a tree by its key
   * @param dark whether the page is dark
   * @param cut the clusters of the tree shown, or null where it is not cut
   */
  constructor(
    private readonly forestOf: (key?: Forest["key"]) => Forest,
    readonly dark: boolean,
    private readonly cut: { forest: Forest; nodes: number[] } | null,
  ) {
    this.background = dark ? [18, 21, 26] : [255, 255, 255];
  }

  /** The full colour of a node, as a mark or a line has it. */
  node(z: number, key?: Forest["key"]): string {
    return css(this.rgb(z, this.forestOf(key)));
  }

  /** The colour of a node's area: paler where fewer draws have such a group. */
  area(z: number, key?: Forest["key"]): string {
    return css(this.areaRgb(z, this.forestOf(key)));
  }

  /** Black or white, for text on `area`. */
  ink(z: number, key?: Forest["key"]): string {
    return inkOn(this.areaRgb(z, this.forestOf(key)));
  }

  component(k: number): string {
    return css(this.themed(base(Math.max(0, k))));
  }

  /** A colour of a scale from nothing (0) to all (1). */
  scale(share: number): string {
    return css(mix(this.background, this.themed({ l: 0.42, c: 0.13, h: 255 }), Math.min(1, Math.max(0, share))));
  }

  get muted(): string {
    return css(this.themed(GREY));
  }

  private themed(colour: Lch): Rgb {
    return toRgb(this.dark ? { ...colour, l: 0.16 + 0.78 * colour.l } : colour);
  }

  private areaRgb(z: number, forest: Forest): Rgb {
    const support = forest.support[z];
    const share = Number.isFinite(support) ? 0.3 + 0.7 * Math.min(1, Math.max(0, support)) : 1;
    return mix(this.background, this.rgb(z, forest), share);
  }

  private rgb(z: number, forest: Forest): Rgb {
    let colours = this.cache.get(forest);
    if (!colours) {
      const cut = this.cut?.forest === forest ? this.cut.nodes : null;
      colours = (cut ? byCluster(forest, cut) : byBranch(forest)).map((one) => this.themed(one));
      this.cache.set(forest, colours);
    }
    return colours[z] ?? this.background;
  }
}

/** A hue for every branch; deeper nodes stay near their branch's colour. */
function byBranch(forest: Forest): Lch[] {
  const colours: Lch[] = new Array(forest.nNodes).fill(GREY);
  branches(forest).forEach((z, i) => {
    colours[z] = base(i);
    shadeBelow(forest, z, colours);
  });
  return colours;
}

/** A child that holds most rows is no branch of its own, as the root is none: its children are, or all would be of one hue. */
function branches(forest: Forest): number[] {
  const found: number[] = [];
  let top = 0;
  for (;;) {
    const [first, ...others] = largestFirst(forest, forest.children(top));
    if (first === undefined) break;
    found.push(...others);
    if (forest.sizes[first] <= DOMINANT * forest.sizes[0] || !forest.children(first).length) {
      found.push(first);
      break;
    }
    top = first;
  }
  return found.sort((a, b) => forest.sizes[b] - forest.sizes[a] || a - b);
}

function largestFirst(forest: Forest, nodes: Uint32Array): number[] {
  return [...nodes].sort((a, b) => forest.sizes[b] - forest.sizes[a] || a - b);
}

function shadeBelow(forest: Forest, top: number, colours: Lch[]): void {
  const { l } = colours[top];
  const stack: [z: number, span: number][] = [[top, 1]];
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const [z, span] = entry;
    const children = forest.children(z);
    const next = children.length > 1 ? 0.62 * span : span;
    children.forEach((child, i) => {
      colours[child] = shade(colours[z], l, children.length, i, span);
      stack.push([child, next]);
    });
  }
}

/** The first child keeps its parent's colour, the others are lighter and darker by turns, so that neighbours differ. */
function shade(parent: Lch, branch: number, n: number, i: number, span: number): Lch {
  if (n === 1) return parent;
  const place = ((i % 2 ? 1 : -1) * Math.ceil(i / 2)) / n;
  const l = Math.min(branch + 0.13, Math.max(branch - 0.13, parent.l + 0.3 * span * place));
  return { l: Math.min(0.93, l), c: parent.c, h: parent.h + 36 * span * place };
}

function byCluster(forest: Forest, cut: number[]): Lch[] {
  const place = new Map(cut.map((z, i) => [z, i]));
  return Array.from(clusterOf(forest, cut), (cluster) => (cluster < 0 ? GREY : base(place.get(cluster) as number)));
}
