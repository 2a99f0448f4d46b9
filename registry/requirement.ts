/**
 * Versions and requirements: semantic versioning as the reference implementation compares it, in a narrower notation.
 *
 * A requirement is one comparison or several with commas, which all hold: `0.3.2` and `^0.3.2` (compatible),
 * `~0.3.2`, `=0.3.2`, `>=0.3, <0.5`, `*`, `0.3.*`. Numbers may be left out from the right. What the reference reads
 * loosely (`v1`, `1.2-beta`, `||`, ranges with a dash) is refused.
 */
import { compare, minVersion, Range, SemVer } from "semver";
import { REGISTRY_LIMITS } from "./limits.ts";
import { RegistryError } from "./registry_error.ts";

const NUMBER = "(?:0|[1-9]\\d{0,14})";
const WORD = "(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const SUFFIX = `(?:-${WORD}(?:\\.${WORD})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?`;
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}${SUFFIX}$`);
const COMPARISON = new RegExp(
  `^(\\^|~|>=|<=|=|>|<)?\\s*(${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}${SUFFIX})?)?)$`,
);
const WILDCARD = new RegExp(`^(?:\\*|${NUMBER}\\.\\*|${NUMBER}\\.${NUMBER}\\.\\*)$`);

/** Whether it is a semantic version (semver.org 2.0.0), of numbers that are exact. */
export function isVersion(text: string): boolean {
  return text.length <= REGISTRY_LIMITS.requirementLength && VERSION.test(text);
}

const versions = new Map<string, SemVer>();
const CACHE_SIZE = 20_000;

function semVer(text: string): SemVer {
  const known = versions.get(text);
  if (known !== undefined) return known;
  const version = new SemVer(text);
  if (versions.size >= CACHE_SIZE) versions.clear();
  versions.set(text, version);
  return version;
}

/**
 * Below zero when the left version comes before the right one; what follows `+` decides between equals, so that
 * the order is total.
 */
export function compareVersions(left: string, right: string): number {
  return compare(semVer(left), semVer(right)) || (left < right ? -1 : left > right ? 1 : 0);
}

/**
 * The line that a version is compatible within: `1` for 1.4.0, `0.3` for 0.3.2, `0.0.7` for 0.0.7. One version of
 * each line is in a program.
 */
export function compatibleLine(version: string): string {
  const { major, minor, patch } = semVer(version);
  if (major > 0) return `${major}`;
  return minor > 0 ? `0.${minor}` : `0.0.${patch}`;
}

/** Whether the version is one before a release, such as 1.0.0-beta.1. */
export function isPrerelease(version: string): boolean {
  return semVer(version).prerelease.length > 0;
}

/** A requirement. */
export interface Requirement {
  /** As it was written. */
  readonly text: string;
  /** Whether a version satisfies it. */
  allows(version: string): boolean;
  /** The version that is taken when no release is known: the lowest that it allows. */
  readonly floor: string;
}

const requirements = new Map<string, Requirement>();

/** Reads a requirement; null when it is none. */
export function parseRequirement(text: string): Requirement | null {
  const known = requirements.get(text);
  if (known !== undefined) return known;
  if (text.length > REGISTRY_LIMITS.requirementLength) return null;
  const parts = text.split(",").map((part) => comparison(part.trim()));
  if (parts.includes(null)) return null;
  let range: Range;
  let floor: string;
  try {
    range = new Range(parts.join(" "));
    floor = minVersion(range)?.version ?? "0.0.0";
  } catch {
    return null;
  }
  const answers = new Map<string, boolean>();
  const requirement: Requirement = {
    text,
    floor,
    allows(version) {
      const before = answers.get(version);
      if (before !== undefined) return before;
      const answer = range.test(semVer(version));
      answers.set(version, answer);
      return answer;
    },
  };
  if (requirements.size >= CACHE_SIZE) requirements.clear();
  requirements.set(text, requirement);
  return requirement;
}

/** Requirements that were looked at: an index of thousands of releases has but a few different ones. */
const accepted = new Set<string>();

/** Whether it is a requirement. */
export function isRequirement(text: string): boolean {
  if (accepted.has(text)) return true;
  const isGood = text.length <= REGISTRY_LIMITS.requirementLength &&
    text.split(",").every((part) => comparison(part.trim()) !== null);
  if (!isGood) return false;
  if (accepted.size >= CACHE_SIZE) accepted.clear();
  accepted.add(text);
  return true;
}

function comparison(text: string): string | null {
  if (WILDCARD.test(text)) return text;
  const [match, operator = "^", version = ""] = COMPARISON.exec(text) ?? [];
  return match === undefined ? null : `${operator}${version}`;
}

/** Reads a requirement, or says why it is none. */
export function checkRequirement(text: string): Requirement {
  const requirement = parseRequirement(text);
  if (requirement !== null) return requirement;
  throw new RegistryError("bad-requirement", `Cannot use the requirement "${text}": it is none`, {
    kind: "usage",
    hint: "Write `^0.3.2`, `~0.3.2`, `=0.3.2`, `>=0.3, <0.5` or `*`.",
  });
}
