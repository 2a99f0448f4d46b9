/**
 * A graph of dependencies between transactions, its strongly connected components (Tarjan 1972) and short cycles in
 * them.
 *
 * All walks keep their own stack: a component may have as many transactions as the history.
 */

/** Which dependency an edge is: write-write, write-read, read-write (an anti-dependency), or real time. */
export type EdgeKind = "ww" | "wr" | "rw" | "rt";

/** One transaction came before another. */
export interface Edge {
  readonly kind: EdgeKind;
  readonly from: number;
  readonly to: number;
  /** Whether an rw edge comes from a read by condition. */
  readonly predicate: boolean;
  /** Why, for people. */
  readonly reason: string;
}

/**
 * A graph of dependencies between transactions, its strongly connected components (Tarjan 1972) and short cycles in
 * them. Transactions are numbered from 0.
 */
export class DependencyGraph {
  readonly size: number;
  readonly #out: Edge[][];
  #count = 0;

  constructor(size: number) {
    this.size = size;
    this.#out = Array.from({ length: size }, () => []);
  }

  get edgeCount(): number {
    return this.#count;
  }

  /** Adds an edge; one from a transaction to itself says nothing and is left out. */
  add(edge: Edge): void {
    if (edge.from === edge.to) return;
    const out = this.#out[edge.from];
    if (out === undefined) throw new Error(`no transaction ${edge.from}`);
    if (
      out.some(({ to, kind, predicate }) =>
        to === edge.to && kind === edge.kind && predicate === edge.predicate
      )
    ) {
      return;
    }
    out.push(edge);
    this.#count++;
  }

  /** The edges of these kinds out of a transaction. */
  edges(from: number, kinds: ReadonlySet<EdgeKind>): Edge[] {
    return (this.#out[from] ?? []).filter(({ kind }) => kinds.has(kind));
  }

  /** The components of more than one transaction, by edges of these kinds only. */
  components(kinds: ReadonlySet<EdgeKind>): number[][] {
    const order = new Int32Array(this.size).fill(-1);
    const low = new Int32Array(this.size);
    const open: number[] = [];
    const isOpen = new Uint8Array(this.size);
    const found: number[][] = [];
    let next = 0;
    for (let root = 0; root < this.size; root++) {
      if (order[root] !== -1) continue;
      const walk: { readonly node: number; readonly edges: readonly Edge[]; at: number }[] = [];
      const enter = (node: number): void => {
        order[node] = low[node] = next++;
        open.push(node);
        isOpen[node] = 1;
        walk.push({ node, edges: this.edges(node, kinds), at: 0 });
      };
      enter(root);
      for (let top = walk.at(-1); top !== undefined; top = walk.at(-1)) {
        const edge = top.edges[top.at++];
        if (edge !== undefined) {
          if (order[edge.to] === -1) enter(edge.to);
          else if (isOpen[edge.to] === 1) {
            low[top.node] = Math.min(low[top.node] ?? 0, order[edge.to] ?? 0);
          }
          continue;
        }
        walk.pop();
        const parent = walk.at(-1);
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node] ?? 0, low[top.node] ?? 0);
        if (low[top.node] !== order[top.node]) continue;
        const component = open.splice(open.lastIndexOf(top.node));
        for (const node of component) isOpen[node] = 0;
        if (component.length > 1) found.push(component);
      }
    }
    return found;
  }

  /** A shortest way from one transaction to another within a set, by edges of these kinds; null when there is none. */
  path(
    from: number,
    to: number,
    within: ReadonlySet<number>,
    kinds: ReadonlySet<EdgeKind>,
  ): readonly Edge[] | null {
    const cameBy = new Map<number, Edge>();
    let frontier = [from];
    while (frontier.length > 0) {
      const following: number[] = [];
      for (const node of frontier) {
        for (const edge of this.edges(node, kinds)) {
          if (!within.has(edge.to) || cameBy.has(edge.to)) continue;
          cameBy.set(edge.to, edge);
          if (edge.to === to) return wayBack(cameBy, from, to);
          following.push(edge.to);
        }
      }
      frontier = following;
    }
    return null;
  }
}

function wayBack(cameBy: ReadonlyMap<number, Edge>, from: number, to: number): Edge[] {
  const way: Edge[] = [];
  for (let node = to; way.length === 0 || node !== from;) {
    const edge = cameBy.get(node);
    if (edge === undefined) throw new Error("a way leads back to its start");
    way.push(edge);
    node = edge.from;
  }
  return way.reverse();
}
