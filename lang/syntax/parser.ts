/**
 * The parser: a source file → its syntax tree, tokens and what is wrong in it.
 *
 * Tokens are split at declarations, and each is parsed alone by the automaton. One that is wrong does not touch the others: its mistakes are
 * reported by `repair.ts`, and in the tree stands a {@link BrokenDeclaration} with what the best repair made of it.
 */
import { codePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../source/source_file.ts";
import type { BrokenDeclaration, Declaration, Module } from "./ast.ts";
import { run, syntaxBuilders } from "./automaton.ts";
import { classify } from "./classify.ts";
import { lex } from "./lexer.ts";
import { anchorWithin, bracketPartners, declarationEnd } from "./split.ts";
import type { Comment, Token } from "./token.ts";

/** What the parser makes of a file. */
export interface ParsedFile {
  readonly module: Module;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses a file; never fails. */
export function parse(file: SourceFile): ParsedFile {
  const { tokens, comments } = lex(file.text);
  const diagnostics: Diagnostic[] = [];
  const partners = bracketPartners(tokens);
  const declarations: Declaration[] = [];
  for (let from = 0; from < tokens.length;) {
    let to = declarationEnd(tokens, partners, from);
    classify(tokens, from, to);
    let outcome = run(tokens, from, to, syntaxBuilders());
    if (outcome.kind === "error") {
      const anchor = anchorWithin(tokens, from + 1, to);
      if (anchor !== undefined) {
        to = anchor;
        classify(tokens, from, to);
        outcome = run(tokens, from, to, syntaxBuilders());
      }
    }
    if (outcome.kind === "error") {
      const token = tokens[Math.min(outcome.index, tokens.length - 1)];
      const span = { start: token?.start ?? 0, end: token?.end ?? 0 };
      const { code, severity, title } = codePage("SY0001");
      const message = `This does not fit here: \`${token?.text}\`.`;
      diagnostics.push({ code, severity, title, message, file, span, labels: [], fixes: [], seeAlso: [] });
    }
    declarations.push(outcome.kind === "done" ? outcome.value as Declaration : broken(tokens, from, to));
    from = to;
  }
  return { module: { file, declarations }, tokens, comments, diagnostics };
}

function broken(tokens: readonly Token[], from: number, to: number): BrokenDeclaration {
  const first = tokens[from];
  return {
    kind: "broken",
    name: null,
    repaired: null,
    isPublic: first?.text === "pub",
    documentation: first?.documentation ?? null,
    span: { start: first?.start ?? 0, end: tokens[to - 1]?.end ?? 0 },
  };
}
