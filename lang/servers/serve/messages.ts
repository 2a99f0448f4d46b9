/**
 * What goes over `/_events`: one JSON object for each build, and for whoever connects the last of them again, with
 * `isFirst`.
 *
 *     {"state": "built", "version": "k3x-2", "reload": "module", "isFirst": false, "milliseconds": 31, "diagnostics": [warnings]}
 *     {"state": "failed", "version": …, "reload": null, "isFirst": false, "title": "2 errors in pong", "isBuilt": true,
 *      "diagnostics": [as `check --format json`], "truncated": 0, "report": [["error", "error[TY0001]"], ["", "\n …"], …]}
 *
 * `reload` says what the page has to take: `module` when the program alone is another one, `page` when files of the
 * page are, null when nothing is. `report` is what the terminal shows, in pieces; `isBuilt` says whether there is a
 * good build to stay with.
 */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { countText } from "../../diagnostics/human.ts";
import { diagnosticToJson, type JsonDiagnostic } from "../../diagnostics/json.ts";
import { LANG_LIMITS } from "../../limits.ts";
import type { BuildAttempt } from "./build_page.ts";
import { type ReportPiece, reportPieces } from "./report_pieces.ts";

/** What a page has to take. */
export type ReloadKind = "module" | "page" | null;

/** A message of `/_events`. */
export type BuildMessage =
  & {
    readonly version: string;
    readonly reload: ReloadKind;
    readonly isFirst: boolean;
    readonly diagnostics: readonly JsonDiagnostic[];
    /** Diagnostics that were left out. */
    readonly truncated: number;
  }
  & (
    | { readonly state: "built"; readonly milliseconds: number }
    | {
      readonly state: "failed";
      readonly title: string;
      readonly isBuilt: boolean;
      readonly report: readonly ReportPiece[];
    }
  );

/** The message of a build. */
export function buildMessage(
  attempt: BuildAttempt,
  options: {
    readonly version: string;
    readonly reload: ReloadKind;
    readonly milliseconds: number;
    /** Whether there is a good build. */
    readonly isBuilt: boolean;
  },
): BuildMessage {
  const { version, reload, milliseconds, isBuilt } = options;
  const all: readonly Diagnostic[] = attempt.kind === "failed" ? [] : attempt.diagnostics;
  const told = [...all].sort((left, right) => rank(left) - rank(right)).slice(
    0,
    LANG_LIMITS.servedDiagnostics,
  );
  const common = {
    version,
    reload,
    isFirst: false,
    diagnostics: told.map(diagnosticToJson),
    truncated: all.length - told.length,
  };
  switch (attempt.kind) {
    case "built":
      return { ...common, state: "built", milliseconds };
    case "errors": {
      const report = reportPieces(told);
      if (common.truncated > 0) report.push(["", `and ${common.truncated} more\n`]);
      return { ...common, state: "failed", title: countText(all), isBuilt, report };
    }
    case "failed": {
      const title = attempt.fault !== null ? "The compiler has failed" : "The package cannot be built";
      const report: ReportPiece[] = [["error", attempt.fault !== null ? "internal error" : "error"], [
        "",
        `: ${attempt.message}\n`,
      ]];
      return { ...common, state: "failed", title, isBuilt, report };
    }
  }
}

/** Errors come first, in their order. */
function rank({ severity }: Diagnostic): number {
  return severity === "error" ? 0 : 1;
}
