/**
 * The automaton and nearley's own parser read every source of the corpus alike, and each declaration in one way only.
 *
 * nearley's parser takes any grammar and finds all readings; that there is one, and that it is the automaton's, shows
 * that the tables are the grammar's.
 */
import assert from "node:assert/strict";
import nearley from "nearley";
import { expectedAfter, run, statesBefore, syntaxBuilders } from "../../lang/syntax/automaton.ts";
import { tables } from "../../lang/syntax/lalr_tables.ts";
import { lex } from "../../lang/syntax/lexer.ts";
import { declarationRanges, parse } from "../../lang/syntax/parser.ts";
import { TERMINALS, type Token } from "../../lang/syntax/token.ts";
import { mutatedSources } from "../fuzz/sources/mutated_sources.ts";
import { rightSources } from "./source_corpus.ts";

/** nearley's form of the rules, whose terminals are types of tokens. */
function nearleyGrammar(): nearley.Grammar {
  const rules = tables().rules.map((rule) => ({
    name: rule.name,
    symbols: rule.symbols.map((symbol) => symbol.startsWith("'") ? { type: symbol.slice(1) } : symbol),
    postprocess: (parts: unknown[]) => value(rule.maker, parts),
  }));
  return nearley.Grammar.fromCompiled({ Lexer: undefined, ParserRules: rules, ParserStart: "declaration" });
}

function value(maker: unknown, parts: unknown[]): unknown {
  if (typeof maker === "function") return maker(parts);
  if (maker === "id") return parts[0];
  if (maker === "nuller") return null;
  // Readings share their parts, so nothing is added to an array in place.
  return maker === "arrpush" ? [...parts[0] as unknown[], parts[1]] : parts;
}

const grammar = nearleyGrammar();

interface EarleyState {
  readonly rule: { readonly symbols: readonly (string | { readonly type: string })[] };
  readonly dot: number;
}

/** nearley's parser behind some tokens, or null when they are wrong. */
function parserBehind(tokens: readonly Token[]): nearley.Parser | null {
  let next = 0;
  const lexer = {
    reset: () => {},
    next: () => tokens[next++],
    save: () => undefined,
    formatError: () => "",
    has: () => true,
  };
  // @ts-ignore: the types do not know that a parser takes a lexer beside the grammar's.
  const parser = new nearley.Parser(grammar, { lexer });
  // What nearley says of an error is not asked for, and takes long to say.
  Object.assign(parser, { reportError: () => "wrong token" });
  try {
    parser.feed("");
  } catch (error) {
    if (error instanceof Error && error.message === "wrong token") return null;
    throw error;
  }
  return parser;
}

/** All readings of some tokens; none when they are wrong. */
function readings(tokens: readonly Token[]): unknown[] {
  return parserBehind(tokens)?.results ?? [];
}

/** Terminals that nearley's parser would take next. */
function expectedByNearley(tokens: readonly Token[]): string[] {
  const parser = parserBehind(tokens);
  assert.ok(parser !== null && "table" in parser && Array.isArray(parser.table));
  const column: { readonly scannable: readonly EarleyState[] } = parser.table.at(-1);
  const types = column.scannable.map((state) => {
    const symbol = state.rule.symbols[state.dot];
    return typeof symbol === "object" ? symbol.type : "";
  });
  if (parser.results.length > 0) types.push("$end");
  return [...new Set(types)].sort();
}

Deno.test("parse() finds no error in the sources of the corpus", () => {
  for (const file of rightSources()) {
    const { diagnostics } = parse(file);
    const errors = diagnostics.filter(({ severity, code }) => severity === "error" && code.startsWith("SY"));
    assert.deepEqual(
      errors.map(({ code, message, span }) => `${file.path} ${span.start} ${code} ${message}`),
      [],
    );
  }
});

Deno.test("nearley's parser has one reading of each declaration of the corpus, the automaton's", () => {
  let count = 0;
  for (const file of rightSources()) {
    const { tokens } = lex(file.text);
    for (const { from, to } of declarationRanges(tokens)) {
      const outcome = run(tokens, from, to, syntaxBuilders());
      assert.equal(outcome.kind, "done");
      const all = readings(tokens.slice(from, to));
      assert.equal(all.length, 1, `${file.path}: ${tokens[from]?.text} ${tokens[from + 1]?.text}`);
      if (outcome.kind === "done") assert.deepEqual(all[0], outcome.value);
      count++;
    }
  }
  assert.ok(count > 800, `${count} declarations`);
});

Deno.test("where the automaton finds an error, nearley's parser has no reading and expects the same terminals", () => {
  let wrong = 0;
  for (const text of mutatedSources(7)) {
    const { tokens } = lex(text);
    for (const { from, to } of declarationRanges(tokens)) {
      const outcome = run(tokens, from, to, syntaxBuilders());
      const count = readings(tokens.slice(from, to)).length;
      assert.equal(count, outcome.kind === "done" ? 1 : 0, text);
      if (outcome.kind !== "error") continue;
      wrong++;
      const expected = expectedAfter(statesBefore(tokens, from, outcome.index));
      assert.deepEqual(
        expected.map((terminal) => TERMINALS[terminal] ?? "").sort(),
        expectedByNearley(tokens.slice(from, outcome.index)),
        text,
      );
    }
    if (wrong >= 100) break;
  }
});
