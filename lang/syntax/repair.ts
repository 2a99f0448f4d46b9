/**
 * Reports what is wrong in a piece of a file, and repairs it by trial.
 *
 * At each error the recognizers propose what error it may be, and edits are made of the terminals that fit (put in,
 * in place of the wrong token, or the wrong token taken away). Each edit is tried: the piece is read again with it,
 * and how far that goes ranks them. The best become the fixes, the very best is taken for granted and reading goes on
 * behind it, so that several errors in one declaration are all told; when nothing leads on, the rest of the
 * declaration is not judged. Limits: {@link ERRORS_PER_PIECE}, {@link REPAIRED_PIECES}, and {@link TRIED_TOKENS} read
 * in trials for one file, after which errors are reported without fixes.
 */
import { codePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../source/source_file.ts";
import type { Declaration } from "./ast.ts";
import { buildersOf, builtDeclaration, expectedAfter, statesBefore, syntaxBuilders } from "./automaton.ts";
import { readEdited, type Reading } from "./edited_text.ts";
import { generalProposal } from "./general_repairs.ts";
import { ErrorContext, type Proposal, type ProposedFix, quoted, type TextEdit } from "./error_context.ts";
import type { Token } from "./token.ts";
import { recognizers } from "./recognizers.ts";

/** How many errors are told of one piece. */
const ERRORS_PER_PIECE = 5;

/** How many tokens may be read in trials for one file. */
const TRIED_TOKENS = 400_000;

/** How many tokens behind an edit have to fit before it counts as one that leads on. */
const CONVINCING_TOKENS = 4;

/** How many when the error was recognized. */
const CONVINCING_TOKENS_WHEN_RECOGNIZED = 2;

/** How many ways to repair an error are offered. */
const OFFERED_FIXES = 4;

/** How many pieces of a file are repaired; of more errors only the places are reported. */
const REPAIRED_PIECES = 100;

/** What is spent on trials in one file. */
export interface TrialBudget {
  tokens: number;
  pieces: number;
}

/** A budget for a file. */
export function trialBudget(): TrialBudget {
  return { tokens: TRIED_TOKENS, pieces: REPAIRED_PIECES };
}

/** Tells where a piece is wrong, without trying to repair it. */
export function briefDiagnostic(file: SourceFile, wrong: Token | undefined, end: number): Diagnostic {
  const { code, severity, title } = codePage("SY0001");
  const span = wrong === undefined ? { start: end, end } : wrong.span;
  const message = wrong === undefined
    ? "The declaration is incomplete."
    : `${quoted(wrong)} is not expected here.`;
  const hint = "This file has many errors; details are given only for the others.";
  return { code, severity, title, message, file, span, labels: [], hint, fixes: [], seeAlso: [] };
}

/** What became of a piece. */
export interface Repaired {
  readonly diagnostics: readonly Diagnostic[];
  /** What the repaired text holds; empty when it could not be repaired. */
  readonly declarations: readonly Declaration[];
}

const nothing = () => null;
const checkOnly = () => buildersOf((rule) => typeof rule.maker === "string" ? rule.maker : nothing);

/** Repairs a piece of a file that has an error in it. */
export function repair(
  file: SourceFile,
  piece: { readonly start: number; readonly end: number },
  budget: TrialBudget,
): Repaired {
  return new Repair(file, piece, budget).result();
}

interface Trial {
  readonly fix: ProposedFix;
  /** Tokens that fit behind the edit; infinite when all of them do. */
  readonly progress: number;
}

class Repair {
  readonly #file: SourceFile;
  readonly #piece: { readonly start: number; readonly end: number };
  readonly #budget: TrialBudget;
  readonly #diagnostics: Diagnostic[] = [];
  #edits: readonly TextEdit[] = [];
  #hasMadeUpNames = false;

  constructor(
    file: SourceFile,
    piece: { readonly start: number; readonly end: number },
    budget: TrialBudget,
  ) {
    this.#file = file;
    this.#piece = piece;
    this.#budget = budget;
  }

  result(): Repaired {
    for (let count = 0; count < ERRORS_PER_PIECE; count++) {
      const reading = this.#read(this.#edits);
      const context = placeOf(this.#file, reading);
      if (context === null) {
        // A name that was made up would be reported as unknown.
        return {
          diagnostics: this.#diagnostics,
          declarations: this.#hasMadeUpNames ? [] : this.#declarations(),
        };
      }
      if (context === "too deep") {
        this.#reportDepth(reading);
        break;
      }
      // What a repair has put in and does not fit is no error of the writer's.
      if (context.wrong.text !== "" && context.wrong.start === context.wrong.end) break;
      const before = this.#diagnostics.at(-1);
      const best = this.#report(context);
      const last = this.#diagnostics.at(-1);
      if (before?.code === last?.code && before?.span.start === last?.span.start && before !== last) {
        // The repair has not helped, so the same would be reported again and again.
        this.#diagnostics.pop();
        break;
      }
      if (best === null) break;
      this.#edits = withEdits(this.#edits, best.fix.edits) ?? this.#edits;
      if (
        best.fix.applicability === "placeholder" &&
        best.fix.edits.some(({ text }) => /^\s*(name|Type)\b/.test(text))
      ) {
        this.#hasMadeUpNames = true;
      }
    }
    return { diagnostics: this.#diagnostics, declarations: [] };
  }

  #read(edits: readonly TextEdit[]): Reading {
    const reading = readEdited(this.#file.text, this.#piece, edits, checkOnly());
    this.#budget.tokens -= reading.tokens.length;
    return reading;
  }

  #declarations(): Declaration[] {
    const reading = readEdited(this.#file.text, this.#piece, this.#edits, syntaxBuilders());
    return reading.declarations.map(({ outcome }) => builtDeclaration(outcome)).filter((built) =>
      built !== null
    );
  }

  /** Tells one error; the best way to repair it, or null when nothing leads on. */
  #report(context: ErrorContext): Trial | null {
    for (const recognize of recognizers) {
      const proposal = recognize(context);
      if (proposal === null) continue;
      const trials = this.#tried(context, proposal.fixes);
      // What is certain may be followed by the next error at once.
      const needed = proposal.isCertain === true && !context.isAtEnd
        ? 0
        : Math.min(CONVINCING_TOKENS_WHEN_RECOGNIZED, remaining(context));
      const good = trials.filter((trial) => trial.progress >= needed);
      if (good.length > 0) {
        this.#push(proposal, good.map((trial) => trial.fix));
        return best(good);
      }
      if (proposal.isCertain === true) {
        this.#push(proposal, []);
        return null;
      }
    }
    const general = generalProposal(context);
    const trials = this.#tried(context, general.fixes).filter((trial) => trial.progress > 0);
    const most = Math.max(0, ...trials.map((trial) => trial.progress));
    const good = trials.filter((trial) => trial.progress === most).slice(0, OFFERED_FIXES - 1);
    this.#push(general.describe(good[0]?.fix ?? null), good.map((trial) => trial.fix));
    return convincing(good[0] ?? null, CONVINCING_TOKENS, context);
  }

  #tried(context: ErrorContext, fixes: readonly ProposedFix[]): Trial[] {
    return fixes.flatMap((fix) => {
      const edits = withEdits(this.#edits, fix.edits);
      if (edits === null || this.#budget.tokens <= 0) return [];
      return [{ fix, progress: progressOf(context, this.#read(edits)) }];
    });
  }

  #push(proposal: Proposal, fixes: readonly ProposedFix[]): void {
    const file = this.#file;
    const page = codePage(proposal.code);
    this.#diagnostics.push({
      code: proposal.code,
      severity: page.severity,
      title: page.title,
      message: proposal.message,
      file,
      span: { start: proposal.span.start, end: proposal.span.end },
      labels: (proposal.labels ?? []).map((label) => ({ ...label, file })),
      ...(proposal.hint === undefined ? {} : { hint: proposal.hint }),
      ...(proposal.expected === undefined ? {} : { expected: proposal.expected }),
      ...(proposal.actual === undefined ? {} : { actual: proposal.actual }),
      fixes: fixes.map((fix) => ({
        title: fix.title,
        applicability: fix.applicability,
        edits: fix.edits.map((edit) => ({
          file,
          span: { start: edit.start, end: edit.end },
          text: edit.text,
        })),
      })),
      seeAlso: [],
    });
  }

  #reportDepth(reading: Reading): void {
    const last = reading.declarations.at(-1);
    const index = last?.outcome.kind === "error" ? last.outcome.index : 0;
    const token = reading.tokens[Math.min(index, reading.tokens.length - 1)];
    this.#push({
      code: "SY0050",
      span: { start: token?.start ?? 0, end: token?.end ?? 0 },
      message: "This is nested too deeply.",
      hint: "Bind a part of it to a name with `let`, or move it into a function.",
      fixes: [],
    }, []);
  }
}

/** The first error of a reading, or null. */
function placeOf(file: SourceFile, reading: Reading): ErrorContext | "too deep" | null {
  const last = reading.declarations.at(-1);
  if (last === undefined || last.outcome.kind === "done") return null;
  if (last.outcome.isTooDeep) return "too deep";
  const { from, to } = last;
  const { index } = last.outcome;
  const expected = expectedAfter(statesBefore(reading.tokens, from, index));
  return new ErrorContext(file, reading.tokens, { from, to, index }, expected);
}

function remaining(context: ErrorContext): number {
  return context.isAtEnd ? Infinity : context.to - context.index;
}

/** How many tokens fit behind the wrong one after an edit; -1 when that itself does not. */
function progressOf(context: ErrorContext, reading: Reading): number {
  const last = reading.declarations.at(-1);
  if (last === undefined || last.outcome.kind === "done") return Infinity;
  if (last.outcome.isTooDeep) return -1;
  const error = last.outcome.index;
  const behind = context.wrong.end;
  let index = reading.tokens.findIndex((token) => token.start >= behind);
  if (index < 0) index = reading.tokens.length;
  return error < index ? -1 : error - index;
}

/** Edits and some more, sorted; null where they touch one another. */
function withEdits(before: readonly TextEdit[], added: readonly TextEdit[]): readonly TextEdit[] | null {
  const all = [...before, ...added].map((edit, order) => ({ edit, order }))
    .sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end || a.order - b.order)
    .map(({ edit }) => edit);
  for (let index = 1; index < all.length; index++) {
    if ((all[index]?.start ?? 0) < (all[index - 1]?.end ?? 0)) return null;
  }
  return all;
}

function convincing(trial: Trial | null, tokens: number, context: ErrorContext): Trial | null {
  return trial !== null && trial.progress >= Math.min(tokens, remaining(context)) ? trial : null;
}

function best(trials: readonly Trial[]): Trial | null {
  return trials.reduce<Trial | null>(
    (found, trial) => found === null || trial.progress > found.progress ? trial : found,
    null,
  );
}
