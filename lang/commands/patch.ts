/**
 * Changes of files before they are made: each carries the SHA-256 of the text that it was made for, and is written
 * only where that is still the text.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { unifiedDiff } from "../diagnostics/unified_diff.ts";
import type { PackageFiles } from "../package/package_files.ts";
import { CommandError } from "./command_error.ts";

/** A change of one file. */
export interface Patch {
  readonly path: string;
  /** The new text. */
  readonly after: string;
  /** SHA-256 of the old text in UTF-8, in hexadecimal digits. */
  readonly sha256: string;
  /** The change in the unified format. */
  readonly diff: string;
}

/** SHA-256 of a text in UTF-8, in hexadecimal digits. */
export function textDigest(text: string): string {
  return Array.from(sha256(new TextEncoder().encode(text)), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** The change of a file from one text to another. */
export function makePatch(path: string, before: string, after: string): Patch {
  return { path, after, sha256: textDigest(before), diff: unifiedDiff(path, before, after) };
}

/** Writes all changes, or none when one of the files is not what its change was made for. */
export function writePatches(files: PackageFiles, patches: readonly Patch[]): void {
  for (const { path, sha256 } of patches) {
    const now = files.read(path);
    if (now === undefined || textDigest(now) !== sha256) {
      throw new CommandError(
        `Cannot change ${path}: it changed meanwhile`,
        "Check again and take the new fix.",
      );
    }
  }
  for (const { path, after } of patches) files.write(path, after);
}
