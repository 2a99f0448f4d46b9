/**
 * Mutants of a source: copies that differ by one small mistake, of the kind that people make.
 *
 * Mutated are comparisons, NULL tests, logic, arithmetic, constants, conditions and statements, in code and in the
 * strings and templates from which code is generated; never comments, types, assertions or what belongs to an error.
 * A mutant is found again by its file, line, column and kind, and over changes of other lines by the text of its own
 * line (see {@link sameMutant}).
 */
import { type Token, tokensOf } from "./source_tokens.ts";

/** One mistake to be made in a file. */
export interface Mutant {
  /** `file:line:column:kind`. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** Both count from 1. */
  readonly column: number;
  readonly kind: string;
  /** What is replaced, from which offset, and by what. */
  readonly start: number;
  readonly before: string;
  readonly after: string;
  /** The whole line, trimmed; with the line before it when it is short. */
  readonly text: string;
  /** Where in the text it is. */
  readonly at: number;
}

/** What a mutant is called where line numbers change. */
export type MutantName = Pick<Mutant, "file" | "kind" | "text" | "before" | "after"> & {
  /** Needed where the same could be done in several places of the line. */
  readonly at?: number;
};

/** Whether both are the same mistake in the same line, wherever that now is. */
export function sameMutant(one: MutantName, other: MutantName): boolean {
  return one.file === other.file && one.kind === other.kind && one.text === other.text &&
    one.before === other.before && one.after === other.after &&
    (one.at === undefined || other.at === undefined || one.at === other.at);
}

/** The source with the mistake. */
export function mutate(source: string, { start, before, after, id }: Mutant): string {
  if (source.slice(start, start + before.length) !== before) {
    throw new Error(`Cannot make mutant ${id}: the source has changed`);
  }
  return source.slice(0, start) + after + source.slice(start + before.length);
}

const comparisons: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
};
const equalities: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };
const logic: Readonly<Record<string, string>> = { "&&": "||", "||": "&&" };
const arithmetic: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "+=": "-=",
  "-=": "+=",
  "<<": ">>",
  ">>": "<<",
  ">>>": ">>",
};
const extremes: Readonly<Record<string, string>> = { min: "max", max: "min", floor: "ceil", ceil: "floor" };

function replacementOf(operator: string): { kind: string; after: string } | undefined {
  const tables = { comparison: comparisons, equality: equalities, logic, arithmetic };
  for (const [kind, table] of Object.entries(tables)) {
    const after = Object.hasOwn(table, operator) ? table[operator] : undefined;
    if (after !== undefined) return { kind, after };
  }
  return undefined;
}

/** Calls whose arguments are for people or for bugs. */
const notMutated = /error|assert|throw|unreachable|message|overflow|outOf|notImplemented|summary/i;

/** Folders in which strings hold generated code. */
const generatesCode = /^engine\/(execution\/(codegen|operators|modify)|sql\/functions)\//;

interface Site {
  readonly start: number;
  readonly before: string;
  readonly after: string;
  readonly kind: string;
}

/** All mutants of a source, in its order. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const tokens = tokensOf(source);
  const isCode = codeTokens(tokens);
  const sites: Site[] = [];
  tokens.forEach((token, index) => {
    if (!isCode[index]) return;
    if (token.kind === "string" || token.kind === "template") {
      if (generatesCode.test(file)) sites.push(...stringSites(token));
    } else sites.push(...codeSites({ source, tokens, index }));
  });
  sites.push(...statementSites(source, tokens, isCode));
  return located(file, source, sites);
}

/** Lines like `return true;` are told apart by the line before. */
const SHORT_LINE = 25;

function located(file: string, source: string, sites: readonly Site[]): Mutant[] {
  const lineStarts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  let line = 0;
  const ordered = [...sites].sort((a, b) => a.start - b.start || (a.kind < b.kind ? -1 : 1));
  return ordered.map((site) => {
    while ((lineStarts[line + 1] ?? Infinity) <= site.start) line++;
    const lineStart = lineStarts[line] ?? 0;
    const column = site.start - lineStart + 1;
    const own = source.slice(lineStart, (lineStarts[line + 1] ?? source.length + 1) - 1).trim();
    const before = own.length < SHORT_LINE
      ? `${source.slice(lineStarts[line - 1] ?? 0, Math.max(0, lineStart - 1)).trim()}\n`
      : "";
    const at = before.length + column - 1 - (source.slice(lineStart).search(/\S/));
    const id = `${file}:${line + 1}:${column}:${site.kind}`;
    return { id, file, line: line + 1, column, text: before + own, at, ...site };
  });
}

/** Whether each token belongs to code that is run: neither to a type nor to an import, an assertion or an error. */
function codeTokens(tokens: readonly Token[]): boolean[] {
  const callees: boolean[] = [];
  /** The depth of brackets at which a declaration of a type, an import or a `throw` ends. */
  let endsAt = -1;
  let endsWithBrace = false;
  return tokens.map((token, index) => {
    const { text } = token;
    const previous = tokens[index - 1];
    const isPunctuation = token.kind === "punctuation";
    if (isPunctuation && (text === "(" || text === "{" || text === "[")) {
      const isExcluded = text === "(" && previous?.kind === "word" && notMutated.test(previous.text) &&
        tokens[index - 2]?.text !== "function" && tokens[index - 2]?.text !== ".";
      callees.push(isExcluded || callees.at(-1) === true);
    }
    if (isPunctuation && (text === ")" || text === "}" || text === "]")) {
      callees.pop();
      if (endsAt > callees.length || (endsAt === callees.length && text === "}" && endsWithBrace)) {
        endsAt = -1;
      }
    }
    if (endsAt < 0 && token.kind === "word" && startsExcluded(tokens, index)) {
      endsAt = callees.length;
      endsWithBrace = text === "interface";
    }
    const isExcluded = endsAt >= 0 || callees.at(-1) === true;
    if (endsAt === callees.length && isPunctuation && text === ";") endsAt = -1;
    return !isExcluded;
  });
}

function startsExcluded(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  const previous = tokens[index - 1];
  const next = tokens[index + 1];
  if (token === undefined || next === undefined) return false;
  const begins = previous === undefined || [";", "}", "{", "export", "default", ")"].includes(previous.text);
  switch (token.text) {
    case "throw":
    case "interface":
      return next.kind !== "punctuation" || token.text === "throw";
    case "type":
      return begins && next.kind === "word" && ["=", "<"].includes(tokens[index + 2]?.text ?? "");
    case "import":
      return begins && next.text !== "." && next.text !== "(";
    case "export":
      return next.text === "{" || next.text === "*" ||
        next.text === "type" && tokens[index + 2]?.text === "{";
    default:
      return false;
  }
}

interface Place {
  readonly source: string;
  readonly tokens: readonly Token[];
  readonly index: number;
}

function* codeSites({ source, tokens, index }: Place): Generator<Site> {
  const token = tokens[index];
  const previous = tokens[index - 1];
  const next = tokens[index + 1];
  if (token === undefined || previous === undefined || next === undefined) return;
  const { start, text } = token;
  if (token.kind === "number") {
    // A number between bars belongs to a type.
    if (previous.text === "|" || next.text === "|" || previous.text === ":" && next.text === ";") return;
    for (const [kind, after] of neighbors(text)) yield { start, before: text, after, kind };
    return;
  }
  if (token.kind === "word") {
    if (text === "if" && next.text === "(") yield* branchSites(source, tokens, index + 1);
    if (text === "true" || text === "false") {
      if (previous.text === "|" || next.text === "|" || next.text === ";" && previous.text === ":") return;
      yield { start, before: text, after: text === "true" ? "false" : "true", kind: "truth" };
    }
    const extreme = Object.hasOwn(extremes, text) ? extremes[text] : undefined;
    if (extreme !== undefined && previous.text === "." && tokens[index - 2]?.text === "Math") {
      yield { start, before: text, after: extreme, kind: "extreme" };
    }
    return;
  }
  if (text === "!" && previous.text !== ")") yield { start, before: "!", after: "", kind: "negation" };
  if (text === "-" && next.start === token.end && !isOperand(previous)) {
    yield { start, before: "-", after: "", kind: "sign" };
  }
  const isBinary = /\s/.test(source[start - 1] ?? "") && /\s/.test(source[token.end] ?? "");
  if (!isBinary) return;
  const replacement = replacementOf(text);
  if (replacement === undefined) return;
  if (
    replacement.kind === "arithmetic" && [previous, next].some(({ kind }) => /string|template/.test(kind))
  ) {
    return;
  }
  yield { start, before: text, ...replacement };
}

function isOperand(token: Token): boolean {
  return token.kind === "punctuation"
    ? /^[)\]}]$/.test(token.text)
    : !/^(return|case|yield)$/.test(token.text);
}

/** Numbers that are off by one. */
function* neighbors(text: string): Generator<[kind: string, after: string]> {
  const digits = text.replaceAll("_", "").replace(/n$/, "");
  if (!/^(0x[\da-f]+|\d+)$/i.test(digits)) return;
  const suffix = text.endsWith("n") ? "n" : "";
  const value = BigInt(digits);
  yield ["plus_one", `${value + 1n}${suffix}`];
  if (value > 0n) yield ["minus_one", `${value - 1n}${suffix}`];
}

/** A condition that always and that never holds. */
function* branchSites(source: string, tokens: readonly Token[], open: number): Generator<Site> {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind !== "punctuation") continue;
    if (token.text === "(") depth++;
    if (token.text === ")" && --depth === 0) {
      const start = tokens[open]?.end ?? 0;
      const before = source.slice(start, token.start);
      yield { start, before, after: "true", kind: "always" };
      yield { start, before, after: "false", kind: "never" };
      return;
    }
  }
}

/** Operators, numbers and conditions of generated code. */
function* stringSites({ text, start }: Token): Generator<Site> {
  for (
    const { 1: operator = "", index } of text.matchAll(/ (===|!==|<=|>=|<|>|&&|\|\||[-+*/%]|>>>|>>|<<) /g)
  ) {
    const replacement = replacementOf(operator);
    if (replacement !== undefined) yield { start: start + index + 1, before: operator, ...replacement };
  }
  if (/^(===|!==|<=|>=|<|>|&&|\|\|)$/.test(text)) {
    const replacement = replacementOf(text);
    if (replacement !== undefined) yield { start, before: text, ...replacement };
  }
  for (const { index } of text.matchAll(/!(?=[\w(]|$)/g)) {
    yield { start: start + index, before: "!", after: "", kind: "negation" };
  }
  for (const { index } of text.matchAll(/\bif \(/g)) {
    yield { start: start + index, before: "if (", after: "if (true || ", kind: "always" };
    yield { start: start + index, before: "if (", after: "if (false && ", kind: "never" };
  }
  for (const { 0: number, index } of text.matchAll(/(?<=[=<>+*/&|(] )\d+\b(?![\w.])/g)) {
    for (const [kind, after] of neighbors(number)) {
      yield { start: start + index, before: number, after, kind };
    }
  }
}

/** Statements on one line that call or assign, left out. */
function* statementSites(
  source: string,
  tokens: readonly Token[],
  isCode: readonly boolean[],
): Generator<Site> {
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    const previous = tokens[index - 1];
    if (token?.kind !== "word" || previous === undefined || !isCode[index]) continue;
    if (!/^[;{}]$/.test(previous.text) || previous.kind !== "punctuation") continue;
    const end = source.indexOf("\n", token.start);
    const line = source.slice(token.start, end);
    if (!/^(continue|break|[\w.#]+(\[.*\])? (=|[-+*|]=) .*|[\w.#]+\(.*\));$/.test(line)) continue;
    if (notMutated.test(/^[\w.]*/.exec(line)?.[0] ?? "") || line.includes("`") && !line.endsWith("`);")) {
      continue;
    }
    yield { start: token.start, before: line, after: ";", kind: "omission" };
  }
}
