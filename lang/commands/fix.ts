/**
 * `fix`: fixes errors by the fixes that their diagnostics suggest.
 *
 * All diagnostics of a code are fixed by the fix of one number, those of a file or line alone where asked. Fixes
 * that would change the same text are left for the next time. Nothing is written unless asked.
 */
import { CODE_PAGES, findCodePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import { applyToFiles, compatibleFixes } from "../diagnostics/edits.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { CommandError } from "./command_error.ts";
import { makePatch, type Patch, writePatches } from "./patch.ts";
import type { Workspace } from "./workspace.ts";

/** What is asked of `fix`. */
export interface FixOptions {
  readonly code: string;
  /** Which of the suggested fixes, from 0. */
  readonly alternative?: number;
  /** Only errors of this file, and on this line. */
  readonly file?: string | null;
  readonly line?: number | null;
  readonly write?: boolean;
}

/** What fixing would change. */
export interface FixPlan {
  /** Diagnostics that were fixed, or would be. */
  readonly fixed: readonly { readonly diagnostic: Diagnostic; readonly fix: Fix }[];
  /** Diagnostics of the code that stay: without such a fix, or in each other's way. */
  readonly left: readonly Diagnostic[];
  readonly patches: readonly Patch[];
}

/** What fixing gives. */
export interface FixOutcome extends FixPlan {
  readonly isWritten: boolean;
}

/** The page of a code; refuses what is none. */
export function knownCode(code: string): string {
  const wanted = code.toUpperCase();
  if (findCodePage(wanted) !== undefined) return wanted;
  const near = nearest(wanted, CODE_PAGES.map((page) => page.code));
  throw new CommandError(
    `Cannot find the code ${code}: there is no such code`,
    /^[A-Z]{2}\d{4}$/.test(wanted) && near.length > 0
      ? `Did you mean ${near.join(" or ")}?`
      : "Codes are two letters and four digits, as `lang check` prints them: TY0001.",
  );
}

/** Fixes the errors of a code. */
export function fix(workspace: Workspace, options: FixOptions): FixOutcome {
  const code = knownCode(options.code);
  const plan = planFix(workspace.check().diagnostics, { ...options, code });
  if (options.write === true) writePatches(workspace.files, plan.patches);
  return { ...plan, isWritten: options.write === true && plan.patches.length > 0 };
}

/** What a fix of diagnostics that are known already would change. */
export function planFix(diagnostics: readonly Diagnostic[], options: FixOptions): FixPlan {
  const code = knownCode(options.code);
  const alternative = options.alternative ?? 0;
  const found = diagnostics.filter((diagnostic) => diagnostic.code === code && isAsked(diagnostic, options));
  const choices = found.flatMap((diagnostic) => {
    const fix = diagnostic.fixes[alternative];
    return fix === undefined ? [] : [{ diagnostic, fix }];
  });
  const { taken } = compatibleFixes(choices.map(({ fix }) => fix));
  const fixed = choices.filter(({ fix }) => taken.includes(fix));
  const changes = applyToFiles(taken.flatMap((each) => each.edits));
  return {
    fixed,
    left: found.filter((diagnostic) => !fixed.some((each) => each.diagnostic === diagnostic)),
    patches: [...changes].map(([path, { before, after }]) => makePatch(path, before, after)),
  };
}

function isAsked({ file, span }: Diagnostic, options: FixOptions): boolean {
  if (options.file !== undefined && options.file !== null && file.path !== options.file) return false;
  return options.line === undefined || options.line === null || file.positionOf(span).line === options.line;
}
