/** Paths that stay where they begin, links aside. */

/** Longest path, in UTF-16 units. */
const MAX_LENGTH = 1_024;

/** Whether a relative path has no `..`, nothing absolute and `/` alone between its parts. */
export function isPlainPath(path: string): boolean {
  return path.length <= MAX_LENGTH && !path.includes("\0") && !path.includes("\\") &&
    !/^[A-Za-z]:/.test(path) && path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
