/** `fmt`: brings the sources of a package into the one style. */
import { SourceFile } from "../source/source_file.ts";
import { format } from "../syntax/format.ts";
import { makePatch, type Patch, writePatches } from "./patch.ts";
import type { Workspace } from "./workspace.ts";

/** What formatting gives. */
export interface FmtOutcome {
  readonly fileCount: number;
  /** Files that are not in the style, or were not. */
  readonly patches: readonly Patch[];
}

/** Formats the sources, or one of them; with `check` nothing is written. */
export function fmt(
  workspace: Workspace,
  options: { readonly file?: string | null; readonly check?: boolean } = {},
): FmtOutcome {
  const { file = null, check = false } = options;
  const sources = [...workspace.sources()].filter(([path]) => file === null || path === file);
  const patches = sources.flatMap(([path, before]) => {
    const after = format(new SourceFile(path, before));
    return after === before ? [] : [makePatch(path, before, after)];
  });
  if (!check) writePatches(workspace.files, patches);
  return { fileCount: sources.length, patches };
}
