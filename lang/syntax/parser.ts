/**
 * The parser: a source file → its syntax tree, tokens and what is wrong in it.
 *
 * Tokens are split at declarations, and each is parsed alone by the automaton. One that is wrong does not touch the
 * others: its errors are reported by `repair.ts`, and in the tree stands a {@link BrokenDeclaration} with what the
 * best repair made of it. Linear in the size of the file but for what repairs try, which is bounded.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../source/source_file.ts";
import type { BrokenDeclaration, Declaration, Module, Name } from "./ast.ts";
import { builtDeclaration, run, syntaxBuilders } from "./automaton.ts";
import { classify } from "./classify.ts";
import { lex } from "./lexer.ts";
import { isMacroSign, lexicalDiagnostics } from "./lexical_diagnostics.ts";
import type { LexicalError } from "./lexical_errors.ts";
import { briefDiagnostic, repair, type TrialBudget, trialBudget } from "./repair.ts";
import { anchorWithin, bracketPartners, declarationEnd } from "./split.ts";
import { terminalNumber, Token } from "./token.ts";
import type { Comment } from "./token.ts";
import { usageDiagnostics } from "./usage.ts";

/** What the parser makes of a file. */
export interface ParsedFile {
  readonly module: Module;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  /** In the order of their places. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses a file; never fails. */
export function parse(file: SourceFile): ParsedFile {
  const { tokens, comments, errors } = lex(file.text);
  const found: Diagnostic[] = [];
  const budget = trialBudget();
  const declarations: Declaration[] = [];
  for (const range of declarationRanges(tokens)) {
    const outcome = run(tokens, range.from, range.to, syntaxBuilders());
    const built = builtDeclaration(outcome);
    if (built !== null) declarations.push(built);
    if (outcome.kind === "done") continue;
    if (budget.pieces-- <= 0) {
      const wrong = outcome.index < range.to ? tokens[outcome.index] : undefined;
      found.push(briefDiagnostic(file, wrong, tokens[range.to - 1]?.end ?? 0));
      declarations.push(brokenDeclaration(tokens, range));
      continue;
    }
    const broken = recover(file, tokens, range, budget);
    const start = tokens[range.from]?.start ?? 0;
    const end = tokens[range.to - 1]?.end ?? 0;
    const inside = errors.filter((error) => start <= error.start && error.start <= end);
    found.push(...withoutConsequences(file, broken.diagnostics, inside));
    declarations.push(...broken.declarations);
  }
  const lexical = lexicalDiagnostics(file, errors.filter((error) => !isExplained(error, found)));
  const usage = usageDiagnostics(file, declarations, tokens, comments);
  const diagnostics = [...lexical, ...found, ...usage].sort((a, b) => a.span.start - b.span.start);
  return { module: { file, declarations }, tokens, comments, diagnostics };
}

/** Where a declaration's tokens stand. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** The declarations of a file; their terminals are settled. */
export function* declarationRanges(tokens: readonly Token[]): Generator<TokenRange> {
  const partners = bracketPartners(tokens);
  // Brackets that are sound by chance may hide declarations: when the whole is wrong, those that begin a line are
  // believed up to its end.
  let unsound = 0;
  for (let from = 0; from < tokens.length;) {
    let to: number;
    if (from < unsound) {
      to = anchorWithin(tokens, from + 1, unsound) ?? unsound;
      classify(tokens, from, to);
    } else {
      to = declarationEnd(tokens, partners, from);
      classify(tokens, from, to);
      const anchor = anchorWithin(tokens, from + 1, to);
      const outcome = anchor === undefined ? null : run(tokens, from, to, syntaxBuilders());
      if (anchor !== undefined && outcome?.kind === "error" && outcome.index >= anchor) {
        unsound = to;
        to = anchor;
        classify(tokens, from, to);
      }
    }
    yield { from, to };
    from = to;
  }
}

function recover(
  file: SourceFile,
  tokens: readonly Token[],
  { from, to }: TokenRange,
  budget: TrialBudget,
): { readonly diagnostics: readonly Diagnostic[]; readonly declarations: readonly BrokenDeclaration[] } {
  const first = tokens[from];
  const span = { start: first?.start ?? 0, end: tokens[to - 1]?.end ?? 0 };
  const { diagnostics, declarations } = repair(file, span, budget);
  const alone = brokenDeclaration(tokens, { from, to });
  if (declarations.length === 0) {
    return { diagnostics, declarations: [{ ...alone, repaired: headingAlone(tokens, from, to) }] };
  }
  // What was one piece may have become several declarations; each stands for its part.
  return {
    diagnostics,
    declarations: declarations.map((repaired, index) => ({
      kind: "broken",
      name: nameOf(repaired) ?? alone.name,
      repaired,
      isPublic: repaired.isPublic,
      documentation: index === 0 ? alone.documentation : repaired.documentation,
      span: {
        start: index === 0 ? span.start : repaired.span.start,
        end: declarations[index + 1]?.span.start ?? span.end,
      },
    })),
  };
}

function brokenDeclaration(tokens: readonly Token[], { from, to }: TokenRange): BrokenDeclaration {
  const first = tokens[from];
  return {
    kind: "broken",
    name: nameIn(tokens, from, to),
    repaired: null,
    isPublic: first?.text === "pub",
    documentation: first?.documentation ?? null,
    span: { start: first?.start ?? 0, end: tokens[to - 1]?.end ?? 0 },
  };
}

/** A function whose heading is right, with an empty body in place of its own. */
function headingAlone(tokens: readonly Token[], from: number, to: number): Declaration | null {
  const brace = terminalNumber("{");
  let depth = 0;
  for (let index = from; index < to; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    if (/^[([]$/.test(token.text)) depth++;
    if (/^[)\]]$/.test(token.text)) depth--;
    if (depth !== 0 || token.terminal !== brace) continue;
    const end = new Token(terminalNumber("}"), "}", token.end, token.end, false, false);
    const outcome = run([...tokens.slice(from, index + 1), end], 0, index + 2 - from, syntaxBuilders());
    return builtDeclaration(outcome);
  }
  return null;
}

/** The name that a declaration seems to have. */
function nameIn(tokens: readonly Token[], from: number, to: number): Name | null {
  for (let index = from; index < Math.min(to, from + 6); index++) {
    const keyword = tokens[index]?.text ?? "";
    if (!/^(fn|type|interface|const)$/.test(keyword)) continue;
    const isMember = tokens[index + 2]?.text === "." && index + 3 < to;
    const token = tokens[isMember ? index + 3 : index + 1];
    if (token === undefined || index + 1 >= to || !/^[A-Za-z_]/.test(token.text)) return null;
    return { text: token.text, span: token.span };
  }
  return null;
}

function nameOf(declaration: Declaration): Name | null {
  return "name" in declaration && declaration.name !== null && "text" in declaration.name
    ? declaration.name
    : null;
}

/**
 * What the lexer has repaired need not fit as the writer meant it: on its line, and behind an open text, nothing else
 * is reported.
 */
function withoutConsequences(
  file: SourceFile,
  diagnostics: readonly Diagnostic[],
  errors: readonly LexicalError[],
): Diagnostic[] {
  // A text that nothing closes may have swallowed anything.
  if (errors.some((error) => error.kind === "long_text")) return [];
  return diagnostics.filter((diagnostic) =>
    !errors.some((error) => {
      if (isHarmless(file, error) || isExplained(error, [diagnostic])) return false;
      const line = file.lineIndexAt(error.start);
      const distance = file.lineIndexAt(diagnostic.span.start) - line;
      return (distance === 0 && error.start <= diagnostic.span.start) ||
        (distance > 0 && distance <= 1 && /text|interpolation/.test(error.kind));
    })
  );
}

/** Whether leaving an error out leaves what was meant. */
function isHarmless(file: SourceFile, error: LexicalError): boolean {
  if (isMacroSign(file, error)) return false;
  return error.kind === "escape" || error.kind === "number" || error.kind === "comment" ||
    (error.kind === "character" && /^[;!]+$/.test(error.text));
}

/** Whether an error of the lexer is a part of one that has been reported: the semicolons of `for (i = 0; …)`. */
function isExplained(error: LexicalError, diagnostics: readonly Diagnostic[]): boolean {
  return error.kind === "character" &&
    diagnostics.some(({ span, fixes }) =>
      (span.start <= error.start && error.end <= span.end) ||
      fixes.some((fix) =>
        fix.edits.some((edit) => edit.span.start <= error.start && error.end <= edit.span.end)
      )
    );
}
