/**
 * "Did you mean": the names nearest to one that does not exist, by the distance of Damerau and Levenshtein (adjacent
 * letters may swap).
 */

/** How many letters must be added, taken, changed or swapped with their neighbor; at most `limit` + 1. */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= right.length; column++) {
      const isSame = left.charCodeAt(row - 1) === right.charCodeAt(column - 1);
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && left.charCodeAt(row - 1) === right.charCodeAt(column - 2) &&
        left.charCodeAt(row - 2) === right.charCodeAt(column - 1);
      if (isSwap) distance = Math.min(distance, (before[column - 2] ?? 0) + 1);
      current.push(distance);
      if (distance < best) best = distance;
    }
    if (best > limit) return limit + 1;
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? limit + 1;
}

/** The nearest of the names, nearest first, at most three; none when all are far. */
export function nearest(name: string, candidates: Iterable<string>): string[] {
  const limit = name.length <= 2 ? 1 : name.length <= 5 ? 2 : 3;
  const found: { name: string; distance: number }[] = [];
  const seen = new Set<string>();
  for (const candidate of candidates) {
    if (candidate === name || seen.has(candidate)) continue;
    seen.add(candidate);
    // Another spelling of the same words is nearer than any slip of the finger.
    const distance = plain(candidate) === plain(name) ? 0.5 : editDistance(name, candidate, limit);
    // A short name of which most letters would change is another name.
    if (distance <= limit && distance < Math.max(candidate.length, name.length) * 0.6) {
      found.push({ name: candidate, distance });
    }
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  const best = found[0]?.distance ?? 0;
  return found.filter((each) => each.distance <= best + 0.5).slice(0, 3).map((each) => each.name);
}

function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
