/** Paths that stay where they begin, links aside. */
import { LANG_LIMITS } from "../limits.ts";

/** Whether a relative path has no `..`, nothing absolute and `/` alone between its parts. */
export function isPlainPath(path: string): boolean {
  return path.length <= LANG_LIMITS.maximumPathLength && !path.includes("\0") && !path.includes("\\") &&
    !/^[A-Za-z]:/.test(path) && path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
