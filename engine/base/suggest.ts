/**
 * Did-you-mean: the closest of the known names to one that is not known.
 *
 * Distance is the optimal string alignment variant of Damerau-Levenshtein (F. J. Damerau, "A technique for computer
 * detection and correction of spelling errors", CACM 7(3), 1964): insertions, deletions, substitutions and swaps of
 * neighbors cost 1. A candidate is close at distance 2 or less, or a third of the name's length when that is more,
 * and always nearer than half of the longer name, so that short names do not suggest unrelated short names.
 */

/** The number of edits between two texts, or `limit + 1` when there are more than `limit`. */
export function editDistance(left: string, right: string, limit: number = Infinity): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= right.length; column++) {
      const same = left.charCodeAt(row - 1) === right.charCodeAt(column - 1);
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 &&
        left.charCodeAt(row - 1) === right.charCodeAt(column - 2) &&
        left.charCodeAt(row - 2) === right.charCodeAt(column - 1);
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(cost);
      if (cost < smallest) smallest = cost;
    }
    if (smallest > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** The candidate closest to the name, ignoring case, or undefined when none is close; the first of equals wins. */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase();
    const distance = editDistance(wanted, lower, Math.min(limit, bestDistance));
    if (distance >= bestDistance || distance * 2 > Math.max(wanted.length, lower.length)) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** The hint for an unknown name, `Did you mean "x"?`, or undefined when no candidate is close. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const found = closest(name, candidates);
  return found === undefined ? undefined : `Did you mean "${found}"?`;
}
