/** The lines of one answer, as they are written: JSON without spaces, `kind` first, then `id`. */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnosticToJson } from "../../diagnostics/json.ts";
import type { Patch } from "../../commands/patch.ts";
import { LANG_LIMITS } from "../../limits.ts";
import type { ErrorCode, ResultFields } from "./lines.ts";
import type { Op, RequestId } from "./requests.ts";

/** What a request is answered. */
export interface Answer {
  readonly lines: readonly string[];
  /** That of the `done` line. */
  readonly exitCode: number;
  /** Why the session ends with it; null when it goes on. */
  readonly end: "halt" | "failure" | null;
}

/** What all results say. */
export interface Summary {
  readonly ok: boolean;
  readonly diagnosticsCount?: number;
  readonly fixCount?: number;
}

/** JSON of diagnostics, which are asked for again and again. */
const ENVELOPES = new WeakMap<Diagnostic, string>();

/** Makes an answer. */
export class AnswerLines {
  readonly #lines: string[] = [];
  /** What follows the kind. */
  readonly #id: string;
  readonly #ignored: readonly string[];

  constructor(id: RequestId | undefined, ignored: readonly string[] = []) {
    this.#id = id === undefined ? "" : `,"id":${JSON.stringify(id)}`;
    this.#ignored = ignored;
  }

  /** What a command wrote; nothing when that is nothing. */
  log(stream: "stdout" | "stderr", text: string): void {
    if (text !== "") this.#add("log", JSON.stringify({ stream, text }));
  }

  /** Diagnostics up to a budget; gives how many were left out. */
  envelopes(
    diagnostics: readonly Diagnostic[],
    options: { readonly maximum?: number | undefined; readonly withSource?: boolean | undefined } = {},
  ): number {
    const shown = diagnostics.slice(0, options.maximum);
    for (const diagnostic of shown) {
      let json = ENVELOPES.get(diagnostic);
      if (json === undefined) {
        json = JSON.stringify(diagnosticToJson(diagnostic));
        ENVELOPES.set(diagnostic, json);
      }
      this.#add(
        "envelope",
        options.withSource === true
          ? `${json.slice(0, -1)},"source":${JSON.stringify(sourceOf(diagnostic))}}`
          : json,
      );
    }
    return diagnostics.length - shown.length;
  }

  /** A change that was not written. */
  patch({ path, sha256, diff }: Patch): void {
    this.#add("patch", JSON.stringify({ path, sha256, diff }));
  }

  /** The summary of an op. */
  result<Name extends Op>(
    op: Name,
    { ok, diagnosticsCount = 0, fixCount = 0 }: Summary,
    fields: ResultFields[Name],
  ): void {
    this.#add(
      "result",
      JSON.stringify({
        op,
        ok,
        diagnostics_count: diagnosticsCount,
        fix_count: fixCount,
        ...fields,
        ...(this.#ignored.length === 0 ? {} : { ignored: this.#ignored }),
      }),
    );
  }

  /** Why there is no result. */
  error(code: ErrorCode, message: string, hint: string | null = null): void {
    this.#add("error", JSON.stringify({ message, code, ...(hint === null ? {} : { hint }) }));
  }

  /** Ends the answer. */
  done(exitCode: number, end: Answer["end"] = null): Answer {
    this.#add("done", JSON.stringify({ exit_code: exitCode }));
    return { lines: this.#lines, exitCode, end };
  }

  /** Adds a line whose fields are given as an object in JSON that is not empty. */
  #add(kind: string, object: string): void {
    this.#lines.push(`{"kind":"${kind}"${this.#id},${object.slice(1)}`);
  }
}

/** The lines that a diagnostic's place touches. */
function sourceOf({ file, span }: Diagnostic): string {
  const first = file.lineIndexAt(span.start);
  const last = Math.min(
    first + LANG_LIMITS.answeredSourceLines - 1,
    span.end > span.start ? file.lineIndexAt(span.end - 1) : first,
  );
  const lines: string[] = [];
  for (let index = first; index <= last; index++) lines.push(file.lineText(index));
  return lines.join("\n");
}

/** How many fixes diagnostics suggest. */
export function fixCountOf(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.reduce((sum, { fixes }) => sum + fixes.length, 0);
}

/** The answer to what is no request. */
export function failureAnswer(
  failure: { readonly code: ErrorCode; readonly message: string; readonly id?: RequestId | undefined },
): Answer {
  const answer = new AnswerLines(failure.id);
  answer.error(failure.code, failure.message);
  return answer.done(2, "failure");
}
