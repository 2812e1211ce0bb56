/** Cuts a tree into k clusters, by the rule of `Tree.cut` in Python. */

import type { Forest } from "./forest";

/**
 * The nodes that stand for k clusters, in the order of the tree; as many as there are leaves where k is more.
 *
 * The highest node is split first; without heights, the largest of the topmost level. A node with more children than
 * there are clusters left to make gives its largest children, and the node itself stands for the others.
 */
export function cutInto(forest: Forest, k: number): number[] {
  const clusters = new Set([0]);
  const queue = new Queue((a, b) => sooner(forest, a, b));
  const consider = (z: number) => {
    if (forest.children(z).length) queue.push(z);
  };
  consider(0);
  for (let z = queue.pop(); z !== undefined && clusters.size < k; z = queue.pop()) {
    let children = [...forest.children(z)];
    if (clusters.size + children.length - 1 > k) {
      children = largest(forest, children, k - clusters.size);
    } else {
      clusters.delete(z);
    }
    for (const child of children) {
      clusters.add(child);
      consider(child);
    }
  }
  return [...clusters].sort((a, b) => forest.first[a] - forest.first[b] || a - b);
}

/** For every node the cluster it lies in, or -1 above the cut. */
export function clusterOf(forest: Forest, cut: number[]): Int32Array {
  const clusters = new Set(cut);
  const of = new Int32Array(forest.nNodes).fill(-1);
  for (let z = 0; z < of.length; z++) of[z] = clusters.has(z) ? z : z > 0 ? of[forest.parents[z]] : -1;
  return of;
}

/** All rows of each cluster: those of the node without those of clusters further down. */
export function clusterSizes(forest: Forest, cut: number[]): Map<number, number> {
  const sizes = new Map(cut.map((z) => [z, forest.sizes[z]]));
  const of = clusterOf(forest, cut);
  for (const z of cut) {
    const above = z > 0 ? of[forest.parents[z]] : -1;
    if (above >= 0) sizes.set(above, (sizes.get(above) as number) - forest.sizes[z]);
  }
  return sizes;
}

export function nLeaves(forest: Forest): number {
  let leaves = 0;
  for (let z = 0; z < forest.nNodes; z++) if (!forest.children(z).length) leaves++;
  return leaves;
}

function sooner(forest: Forest, a: number, b: number): number {
  const { heights, levels, sizes } = forest;
  return (heights ? heights[b] - heights[a] : 0) || levels[a] - levels[b] || sizes[b] - sizes[a] || a - b;
}

function largest(forest: Forest, nodes: number[], n: number): number[] {
  return nodes.sort((a, b) => forest.sizes[b] - forest.sizes[a] || a - b).slice(0, n);
}

/** A binary heap. */
class Queue {
  private readonly heap: number[] = [];
  constructor(private readonly order: (a: number, b: number) => number) {}

  push(value: number): void {
    let at = this.heap.push(value) - 1;
    while (at > 0 && this.order(value, this.heap[(at - 1) >> 1]) < 0) {
      this.heap[at] = this.heap[(at - 1) >> 1];
      at = (at - 1) >> 1;
    }
    this.heap[at] = value;
  }

  pop(): number | undefined {
    const [top] = this.heap;
    const last = this.heap.pop();
    if (last === undefined || !this.heap.length) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < this.heap.length && this.order(this.heap[child + 1], this.heap[child]) < 0) child++;
      if (child >= this.heap.length || this.order(this.heap[child], last) >= 0) break;
      this.heap[at] = this.heap[child];
      at = child;
    }
    this.heap[at] = last;
    return top;
  }
}
