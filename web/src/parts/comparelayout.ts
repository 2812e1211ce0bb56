/** Where groups and ribbons of two trees stand: each tree is a column of items, and a ribbon joins items that share both groups. */

import type { Forest } from "../forest";

export interface Box {
  node: number;
  level: number;
  begin: number;
  end: number;
}

export interface Ribbon {
  left: number;
  right: number;
  moved: boolean;
  items: number[];
  /** Where it begins, in items from the top. */
  leftAt: number;
  rightAt: number;
}

/** One tree down to a level, its items in an order. */
export class Side {
  /** The group of each embedded item: its node at the level, or its lowest node above. */
  readonly group: Int32Array;
  readonly begin: Float64Array;
  readonly size: Uint32Array;

  /** @param towards where each item stands in the other tree; groups are turned so that ribbons cross less */
  constructor(
    readonly forest: Forest,
    readonly level: number,
    towards: ArrayLike<number> | null = null,
  ) {
    this.group = Int32Array.from(forest.leaf, (leaf) => ancestorAt(forest, leaf, level));
    this.size = Uint32Array.from({ length: forest.nNodes }, (_, z) => forest.end[z] - forest.begin[z]);
    this.begin = this.arrange(towards ? meanPlace(forest, towards) : null);
  }

  /** Groups from the root's children down to the level. */
  boxes(): Box[] {
    const out: Box[] = [];
    for (let z = 1; z < this.forest.nNodes; z++) {
      const level = this.forest.levels[z];
      if (level <= this.level && this.size[z] > 0) out.push({ node: z, level, begin: this.begin[z], end: this.begin[z] + this.size[z] });
    }
    return out;
  }

  /** Groups that end a path at the level, from the top. A row that the tree does not have is in group -1. */
  ends(): number[] {
    return [...new Set(this.group)].filter((z) => z >= 0).sort((a, b) => this.begin[a] - this.begin[b]);
  }

  private arrange(place: Float64Array | null): Float64Array {
    const { forest } = this;
    const begin = new Float64Array(forest.nNodes);
    for (let z = 0; z < forest.nNodes; z++) {
      const children = [...forest.children(z)];
      if (place) children.sort((a, b) => place[a] - place[b]);
      const inChildren = children.reduce((sum, child) => sum + this.size[child], 0);
      let at = begin[z] + this.size[z] - inChildren;
      for (const child of children) {
        begin[child] = at;
        at += this.size[child];
      }
    }
    return begin;
  }
}

function ancestorAt(forest: Forest, leaf: number, level: number): number {
  let z = leaf;
  while (forest.levels[z] > level) z = forest.parents[z];
  return z;
}

function meanPlace(forest: Forest, towards: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: forest.nNodes }, (_, z) => {
    const items = forest.items(z);
    return items.reduce((sum, item) => sum + towards[item], 0) / Math.max(items.length, 1);
  });
}

/** Where each embedded item stands in a tree, from the top. */
export function places(forest: Forest): Uint32Array {
  const out = new Uint32Array(forest.order.length);
  forest.order.forEach((item, at) => (out[item] = at));
  return out;
}

/** Ribbons between the groups of two sides; rows that moved have ribbons of their own. */
export function ribbons(left: Side, right: Side, hasMoved: (item: number, a: number, b: number) => boolean): Ribbon[] {
  const found = new Map<string, Ribbon>();
  left.group.forEach((a, item) => {
    const b = right.group[item];
    if (b < 0) return;
    const moved = hasMoved(item, a, b);
    const key = `${a}:${b}:${moved}`;
    const ribbon = found.get(key) ?? { left: a, right: b, moved, items: [], leftAt: 0, rightAt: 0 };
    ribbon.items.push(item);
    found.set(key, ribbon);
  });
  const all = [...found.values()];
  stack(all, (one) => [left.begin[one.left], one.left, right.begin[one.right]], (one, at) => (one.leftAt = at), left.begin);
  stack(all, (one) => [right.begin[one.right], one.right, left.begin[one.left]], (one, at) => (one.rightAt = at), right.begin);
  return all;
}

/** Puts the ribbons of a group below one another in the order of their other ends. */
function stack(all: Ribbon[], key: (one: Ribbon) => [number, number, number], put: (one: Ribbon, at: number) => void, begin: Float64Array): void {
  const sorted = all.map((one) => ({ one, key: key(one) })).sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1] || a.key[2] - b.key[2] || Number(a.one.moved) - Number(b.one.moved));
  let group = -1;
  let at = 0;
  for (const { one, key: [, node] } of sorted) {
    if (node !== group) at = begin[node];
    group = node;
    put(one, at);
    at += one.items.length;
  }
}

