/**
 * Texts from outside, for a terminal: without what it would take as a command or as an order to write from right
 * to left.
 */
import { REGISTRY_LIMITS } from "./limits.ts";

// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/** A text on one line, and not longer than a few lines of a terminal. */
export function printable(text: string): string {
  return text.replaceAll(COMMANDS, " ").slice(0, REGISTRY_LIMITS.quotedLength).trim();
}

/** A message of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map((line) => line.replaceAll(COMMANDS, " ")).join("\n");
}
