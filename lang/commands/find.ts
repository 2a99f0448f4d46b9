/** `find`: lines of the sources and of `docs/` that hold a text. */
import { moduleNameOf } from "../check/package_analysis.ts";
import type { PackageFiles } from "../package/package_files.ts";
import { CommandError } from "./command_error.ts";

/** A line that was found. */
export interface FindHit {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** What finding gives. */
export interface FindOutcome {
  /** The first of them, in the order of files and lines. */
  readonly hits: readonly FindHit[];
  readonly total: number;
}

/** How many hits are given when nobody says. */
export const DEFAULT_TOP = 10;

/** Finds lines, of one file where asked; small and capital letters are the same unless the query has a capital. */
export function find(
  workspace: { readonly files: Pick<PackageFiles, "list" | "read"> },
  options: { readonly query: string; readonly top?: number; readonly file?: string | null },
): FindOutcome {
  const { query, top = DEFAULT_TOP, file: only = null } = options;
  if (query === "") throw new CommandError("Cannot find: the query is empty");
  const ignoresCase = query === query.toLowerCase();
  const hits: FindHit[] = [];
  for (const file of workspace.files.list()) {
    if (!isSearched(file) || only !== null && file !== only) continue;
    const text = workspace.files.read(file);
    if (text === undefined || !contains(text, query, ignoresCase)) continue;
    for (const [index, line] of text.split("\n").entries()) {
      if (contains(line, query, ignoresCase)) {
        hits.push({ file, line: index + 1, text: line.replace(/\r$/, "") });
      }
    }
  }
  return { hits: hits.slice(0, top), total: hits.length };
}

function isSearched(path: string): boolean {
  return moduleNameOf(path) !== null ||
    path.startsWith("docs/") && path.endsWith(".md");
}

function contains(text: string, query: string, ignoresCase: boolean): boolean {
  return (ignoresCase ? text.toLowerCase() : text).includes(query);
}
