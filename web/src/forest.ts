/** One tree of the page, with what is looked up often. */

import type { Container, Texts, TreeKey } from "./container";

export class Forest {
  readonly parents: Int32Array;
  readonly levels: Uint16Array;
  readonly sizes: Uint32Array;
  readonly support: Float32Array;
  readonly heights: Float32Array | null;
  readonly ids: Uint32Array;
  readonly names: Texts;
  readonly phrases: Texts;
  /** The lowest node of each embedded item. */
  readonly leaf: Int32Array;
  /** Children of node z: `childList[firstChild[z]] .. childList[firstChild[z + 1] - 1]`. */
  private readonly firstChild: Uint32Array;
  private readonly childList: Uint32Array;
  /** Embedded items in the order of the leaves from left to right, and where each node's begin and end. */
  readonly order: Uint32Array;
  readonly begin: Uint32Array;
  readonly end: Uint32Array;
  /** Where each node's rows begin in the order of the tree, all rows counted. */
  readonly first: Float64Array;

  constructor(
    readonly data: Container,
    readonly key: TreeKey,
    readonly unit: string | null,
  ) {
    this.parents = data.ints(`${key}.parents`) as Int32Array;
    this.levels = data.ints(`${key}.levels`) as Uint16Array;
    this.sizes = data.ints(`${key}.sizes`) as Uint32Array;
    this.support = data.floats(`${key}.support`);
    this.heights = unit ? data.floats(`${key}.heights`) : null;
    this.ids = data.ints(`${key}.ids`) as Uint32Array;
    this.names = data.texts(`${key}.names`);
    this.phrases = data.texts(`${key}.phrases`);
    this.leaf = data.ints(`${key}.leaf`) as Int32Array;
    const n = this.parents.length;
    this.firstChild = new Uint32Array(n + 1);
    for (let z = 1; z < n; z++) this.firstChild[this.parents[z] + 1]++;
    for (let z = 0; z < n; z++) this.firstChild[z + 1] += this.firstChild[z];
    this.childList = new Uint32Array(Math.max(n - 1, 0));
    const next = this.firstChild.slice();
    for (let z = 1; z < n; z++) this.childList[next[this.parents[z]]++] = z;
    this.begin = new Uint32Array(n);
    this.end = new Uint32Array(n);
    this.order = this.arrange();
    this.first = this.firstRows();
  }

  get nNodes(): number {
    return this.parents.length;
  }

  get depth(): number {
    return this.levels.reduce((most, one) => Math.max(most, one), 0);
  }

  /** Whether `above` is `z` or one of the nodes on its path. */
  holds(above: number, z: number): boolean {
    let one = z;
    while (one > above) one = this.parents[one];
    return one === above;
  }

  children(z: number): Uint32Array {
    return this.childList.subarray(this.firstChild[z], this.firstChild[z + 1]);
  }

  /** Embedded items below a node. */
  items(z: number): Uint32Array {
    return this.order.subarray(this.begin[z], this.end[z]);
  }

  /** From the root to the node. */
  path(z: number): number[] {
    const path: number[] = [];
    for (let one = z; one >= 0; one = this.parents[one]) path.push(one);
    return path.reverse();
  }

  private firstRows(): Float64Array {
    const first = new Float64Array(this.nNodes);
    for (let z = 0; z < this.nNodes; z++) {
      const children = this.children(z);
      let at = first[z] + this.sizes[z];
      // Rows that end in the node itself come before those of its children.
      for (const child of children) at -= this.sizes[child];
      for (const child of children) {
        first[child] = at;
        at += this.sizes[child];
      }
    }
    return first;
  }

  private arrange(): Uint32Array {
    const n = this.nNodes;
    const own = new Uint32Array(n);
    for (const z of this.leaf) own[z]++;
    const below = own.slice();
    for (let z = n - 1; z > 0; z--) below[this.parents[z]] += below[z];
    for (let z = 0; z < n; z++) {
      // A node's own items come first, then those of its children.
      if (z === 0) this.begin[0] = 0;
      let at = this.begin[z] + own[z];
      for (const child of this.children(z)) {
        this.begin[child] = at;
        at += below[child];
      }
      this.end[z] = this.begin[z] + below[z];
    }
    const order = new Uint32Array(this.leaf.length);
    const next = this.begin.slice();
    for (let i = 0; i < this.leaf.length; i++) order[next[this.leaf[i]]++] = i;
    return order;
  }
}
