/**
 * Did-you-mean: the known names closest to one that is not known, by {@link editDistance}.
 *
 * SQL and the command line suggest one name, by `closest`, which ignores case; options are known by their first
 * words. A candidate is close at distance 2 or less, or a third of the name's length when that is more, and always
 * nearer than half of the longer name, so that short names do not suggest unrelated short names. The compiler suggests
 * up to three names, by `nearest`.
 */
import { editDistance } from "./edit_distance.ts";

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

/** The same for an option of a command line, which may be left out in the end: `--http` means `--http-addr`. */
export function closestOption(name: string, options: readonly string[]): string | undefined {
  const words = name.split("-").length;
  const begins = options.map((option) => option.split("-").slice(0, words).join("-"));
  const found = closest(name, begins);
  return found === undefined || options.includes(found) ? found : options[begins.indexOf(found)];
}

/** The hint for an unknown name, `Did you mean "x"?`, or undefined when no candidate is close. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const found = closest(name, candidates);
  return found === undefined ? undefined : `Did you mean "${found}"?`;
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
