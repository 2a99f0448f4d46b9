/**
 * How long a backtracking matcher may take for an expression, from its syntax tree.
 *
 * The bound is coarse and on the safe side: each unlimited repetition may try every length, each optional part and each
 * alternative doubles the ways, and repetition of what can itself match in several ways has no bound.
 */
import type { Node } from "./syntax.ts";

/** See {@link backtrackingCost}. */
export interface BacktrackingCost {
  /** The steps for a text of n characters are at most n to this power … */
  readonly power: number;
  /** … times two to this power. */
  readonly doublings: number;
  /** Whether it searches at one place only. */
  readonly isAnchored: boolean;
}

type PartCost = Omit<BacktrackingCost, "isAnchored">;

/** The greatest count of a bounded repetition that is not taken as an unlimited one. */
const SMALL_COUNT = 4;

/** The bound of an expression that begins to search at every place unless it is anchored. */
export function backtrackingCost(root: Node): BacktrackingCost {
  const anchored = isAnchored(root);
  const { power, doublings } = costOf(anchored ? root : withoutLast(root));
  return { power: power + (anchored ? 0 : 1), doublings, isAnchored: anchored };
}

/**
 * An expression without the repetition at its end: when a match has come to that nothing can fail, so that nothing is
 * tried again.
 */
function withoutLast(root: Node): Node {
  const items = root.kind === "sequence" ? root.items : [root];
  const last = items.at(-1);
  const isRepeated = last?.kind === "repeat" && last.item.kind === "set" && last.minimum <= SMALL_COUNT &&
    last.maximum > SMALL_COUNT;
  return isRepeated ? { kind: "sequence", items: items.slice(0, -1) } : root;
}

/**
 * Whether the first match that a backtracking matcher finds might not be the longest: there are alternatives, groups
 * that repeat, or repetitions that prefer few.
 */
export function mayPreferShorter(node: Node): boolean {
  switch (node.kind) {
    case "choice":
      return true;
    case "repeat":
      return node.lazy || node.item.kind !== "set";
    case "sequence":
      return node.items.some(mayPreferShorter);
    case "capture":
      return mayPreferShorter(node.item);
    default:
      return false;
  }
}

function costOf(node: Node): PartCost {
  switch (node.kind) {
    case "set":
    case "assertion":
      return { power: 0, doublings: 0 };
    case "capture":
      return costOf(node.item);
    case "reference":
    case "look":
      return { power: Infinity, doublings: 0 };
    case "sequence":
      return sum(node.items.map(costOf));
    case "choice": {
      const { power, doublings } = sum(node.items.map(costOf));
      return { power, doublings: doublings + Math.log2(node.items.length) };
    }
    case "repeat": {
      const inner = costOf(node.item);
      const { minimum, maximum } = node;
      if (maximum <= 1) {
        return { power: inner.power, doublings: inner.doublings + (minimum < maximum ? 1 : 0) };
      }
      if (inner.power > 0 || inner.doublings > 0) return { power: Infinity, doublings: 0 };
      if (minimum === maximum) return inner;
      return maximum - minimum <= SMALL_COUNT
        ? { power: 0, doublings: Math.log2(maximum - minimum + 1) }
        : { power: 1, doublings: 0 };
    }
  }
}

function sum(costs: readonly PartCost[]): PartCost {
  return costs.reduce(
    (left, right) => ({ power: left.power + right.power, doublings: left.doublings + right.doublings }),
    { power: 0, doublings: 0 },
  );
}

function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case "assertion":
      return node.source === "^" || node.source === "(?<![\\s\\S])";
    case "sequence":
      return node.items[0] !== undefined && isAnchored(node.items[0]);
    case "capture":
      return isAnchored(node.item);
    case "choice":
      return node.items.every(isAnchored);
    default:
      return false;
  }
}
