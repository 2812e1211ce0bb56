/** Which groups of two trees match. */

import type { Container } from "../container";
import type { Forest } from "../forest";

/** Two groups that share less are no match; Python's `compare_trees` says the same. */
const GOOD = 0.5;

export interface Match {
  a: number;
  b: number;
  jaccard: number;
}

export class Matches {
  private readonly ofLeft = new Map<number, Match>();
  private readonly ofRight = new Map<number, Match>();

  constructor(
    data: Container,
    private readonly left: Forest,
    private readonly right: Forest,
  ) {
    const [a, b, jaccard] = [data.ints("compare.a"), data.ints("compare.b"), data.floats("compare.match")];
    this.add({ a: 0, b: 0, jaccard: 1 });
    for (let i = 0; i < a.length; i++) if (jaccard[i] >= GOOD) this.add({ a: a[i], b: b[i], jaccard: jaccard[i] });
  }

  /** The match of a group of the left tree. */
  ofTree(node: number): Match | undefined {
    return this.ofLeft.get(uppermost(this.left, node));
  }

  ofOther(node: number): Match | undefined {
    return this.ofRight.get(uppermost(this.right, node));
  }

  /** Whether two groups are each other's match. */
  pair(a: number, b: number): boolean {
    const match = this.ofTree(a);
    return match !== undefined && match.b === uppermost(this.right, b);
  }

  private add(match: Match): void {
    this.ofLeft.set(match.a, match);
    this.ofRight.set(match.b, match);
  }
}

/** Groups of equal rows stand below one another; the pairs name the highest. */
function uppermost(forest: Forest, node: number): number {
  let z = node;
  while (z > 0 && forest.sizes[forest.parents[z]] === forest.sizes[z]) z = forest.parents[z];
  return z;
}
