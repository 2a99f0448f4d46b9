/**
 * LIKE, SIMILAR TO and regular expressions: operators and functions. Compiled patterns are remembered, so that a
 * constant pattern is compiled once however many rows it is tested on.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import {
  compileLike,
  compileMatch,
  compileRegularExpression,
  replaceMatches,
  type TextTest,
} from "../../types/pattern.ts";
import type { Matcher } from "../../types/regular_expression/matcher.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { characterLength, hasSurrogates } from "../../types/text.ts";
import { padCharacters } from "../../types/text_io.ts";
import { sliceCharacters } from "./characters.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, eachRow, type Overload } from "./overload.ts";
import { longestCharacterLength } from "./type_family.ts";

/** The operators that test a text against a pattern. */
export type PatternOperator = "~~" | "~~*" | "~" | "~*" | "!~~" | "!~~*" | "!~" | "!~*";

/**
 * Compiles the pattern of an operator: LIKE is `~~`, ILIKE `~~*`, regular expressions are `~` and `~*`, `!` negates.
 */
export function compileMatcher(operator: PatternOperator, pattern: string): TextTest {
  switch (operator) {
    case "~~":
      return compileLike(pattern);
    case "~~*":
      return compileLike(pattern, "\\", true);
    case "~":
      return compileMatch(pattern);
    case "~*":
      return compileMatch(pattern, true);
    case "!~~":
    case "!~~*":
    case "!~":
    case "!~*": {
      const test = compileMatcher(positive(operator), pattern);
      return (text) => !test(text);
    }
  }
}

function positive(operator: "!~~" | "!~~*" | "!~" | "!~*"): "~~" | "~~*" | "~" | "~*" {
  switch (operator) {
    case "!~~":
      return "~~";
    case "!~~*":
      return "~~*";
    case "!~":
      return "~";
    case "!~*":
      return "~*";
  }
}

/** A test that keeps the compiled form of the pattern it saw last. */
function remembering(operator: PatternOperator): (text: string, pattern: string) => boolean {
  let last: string | undefined;
  let test: TextTest = () => false;
  return (text, pattern) => {
    if (pattern !== last) {
      test = compileMatcher(operator, pattern);
      last = pattern;
    }
    return test(text);
  };
}

const patternOperatorNames: readonly (readonly [PatternOperator, string, string])[] = [
  ["~~", "like", "Whether a text matches a LIKE pattern."],
  ["!~~", "notLike", "Whether a text does not match a LIKE pattern."],
  ["~~*", "ilike", "Whether a text matches a LIKE pattern, ignoring case."],
  ["!~~*", "notIlike", "Whether a text does not match a LIKE pattern, ignoring case."],
  ["~", "matches", "Whether a text matches a regular expression."],
  ["!~", "notMatches", "Whether a text does not match a regular expression."],
  ["~*", "matchesIgnoringCase", "Whether a text matches a regular expression, ignoring case."],
  ["!~*", "notMatchesIgnoringCase", "Whether a text does not match a regular expression, ignoring case."],
];

function testOverload(name: string, label: string, operator: PatternOperator, summary: string): Overload {
  return {
    name,
    takes: "text, text",
    returns: "bool",
    category: "text",
    summary,
    raises: "pattern",
    // Each use gets a memory of its own, so that two patterns in one statement do not displace each other.
    specialize: () => {
      const test = remembering(operator);
      return { run: test, inline: ([text, pattern], use) => `${use(label, test)}(${text}, ${pattern})` };
    },
  };
}

/** The operators see the padding of a `char(n)`, unlike comparisons. */
function paddedOverload(name: string, label: string, operator: PatternOperator, summary: string): Overload {
  return {
    name,
    takes: "char, text",
    returns: "bool",
    category: "text",
    summary,
    raises: "pattern",
    specialize: ([type]) => {
      const test = remembering(operator);
      const length = type?.kind === "char" ? type.length : 0;
      const padded = (text: string, pattern: string) =>
        test(length === longestCharacterLength ? text : padCharacters(text, length), pattern);
      return { run: padded, inline: ([text, pattern], use) => `${use(label, padded)}(${text}, ${pattern})` };
    },
  };
}

/** LIKE's pattern with another escape character as one with the backslash. */
function likeEscape(pattern: string, escape: string): string {
  checkEscape(escape);
  if (escape === "\\") return pattern;
  let result = "";
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === escape) {
      index++;
      // An escape at the end stays one; LIKE refuses the pattern when a text comes so far.
      result += `\\${characters[index] ?? ""}`;
    } else result += character === "\\" ? "\\\\" : character;
  }
  return result;
}

function checkEscape(escape: string): void {
  if (characterLength(escape) > 1) {
    throw new DatabaseError(SQLSTATE.invalidEscapeSequence, "invalid escape string", {
      hint: "Escape string must be empty or one character.",
    });
  }
}

/**
 * A SIMILAR TO pattern as a regular expression. Two separators (escape character and double quote) mark the part that
 * `substring(text similar pattern escape e)` returns: it becomes the only capturing group, and what is before it
 * matches as little as possible, the part itself as much as possible. Any character after the escape character stands
 * for what it means after a backslash in a regular expression. Raises 2200C for more than two separators.
 */
function similarEscape(pattern: string, escape: string): string {
  checkEscape(escape);
  let result = "^(?:";
  let separators = 0;
  let isEscaped = false;
  let isInBracket = false;
  for (const character of pattern) {
    if (isEscaped) {
      isEscaped = false;
      if (character !== '"' || isInBracket) result += `\\${character}`;
      else {
        if (separators === 2) {
          throw new DatabaseError(
            SQLSTATE.invalidUseOfEscapeCharacter,
            "SQL regular expression may not contain more than two escape-double-quote separators",
          );
        }
        result += separators === 0 ? "){1,1}?(" : "){1,1}(?:";
        separators++;
      }
    } else if (character === escape) isEscaped = true;
    else if (isInBracket) {
      result += character === "\\" ? "\\\\" : character;
      isInBracket = character !== "]";
    } else {
      isInBracket = character === "[";
      result += SIMILAR_TRANSLATIONS[character] ?? character;
    }
  }
  return `${result})$`;
}

/** What a character of a SIMILAR TO pattern is in a regular expression, when it is not itself. */
const SIMILAR_TRANSLATIONS: Readonly<Record<string, string>> = {
  "%": ".*",
  "_": ".",
  "(": "(?:",
  "\\": "\\\\",
  ".": "\\.",
  "^": "\\^",
  "$": "\\$",
};

/** The index in UTF-16 units of a position counted from 1 in characters. */
function unitIndex(text: string, position: number): number {
  if (position <= 0) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `invalid value for parameter "start": ${position}`,
    );
  }
  if (!hasSurrogates(text)) return position - 1;
  return position - 1 > characterLength(text) ? Infinity : sliceCharacters(text, 0, position - 1).length;
}

/** The options for compiling, without `g`, and whether `g` was among them. */
function splitOptions(options: string): { readonly compile: string; readonly all: boolean } {
  return { compile: options.replaceAll("g", ""), all: options.includes("g") };
}

function refuseGlobal(options: string, name: string, instead?: string): string {
  if (!options.includes("g")) return options;
  throw new DatabaseError(
    SQLSTATE.invalidParameterValue,
    `${name}() does not support the "global" option`,
    instead === undefined ? {} : { hint: `Use the ${instead} function instead.` },
  );
}

/** All matches from an index on; empty matches advance by one character. */
function* matchesOf(text: string, expression: Matcher, start = 0): Iterable<RegExpExecArray> {
  let from = start;
  while (from <= text.length) {
    // The expression is shared: another match may run between two steps.
    expression.lastIndex = from;
    const match = expression.exec(text);
    if (match === null) return;
    yield match;
    const end = match.index + match[0].length;
    from = match[0] === "" ? end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1) : end;
  }
}

function nthMatch(text: string, expression: Matcher, start: number, n: number): RegExpExecArray | undefined {
  let left = n;
  for (const match of matchesOf(text, expression, start)) if (--left === 0) return match;
  return undefined;
}

/** What a match returns: its groups, or the whole match when it has none. */
function groupsOf(match: RegExpExecArray): SqlArray {
  if (match.length === 1) return SqlArray.of([match[0]]);
  const groups: (string | undefined)[] = match.slice(1);
  return SqlArray.of(groups.map((group) => group ?? null));
}

function firstMatch(text: string, pattern: string, options: string): SqlArray | null {
  const expression = compileRegularExpression(
    pattern,
    refuseGlobal(options, "regexp_match", "regexp_matches"),
  );
  const match = nthMatch(text, expression, 0, 1);
  return match === undefined ? null : groupsOf(match);
}

function* matchRows(text: string, pattern: string, options: string): Iterable<readonly [SqlArray]> {
  const { compile, all } = splitOptions(options);
  for (const match of matchesOf(text, compileRegularExpression(pattern, compile))) {
    yield [groupsOf(match)];
    if (!all) return;
  }
}

/** Splits at matches; an empty match at the start, at the end or right after another match does not split. */
function splitAtMatches(text: string, pattern: string, options: string, name: string): Iterable<string> {
  return partsBetween(text, compileRegularExpression(pattern, refuseGlobal(options, name)));
}

function* partsBetween(text: string, expression: Matcher): Iterable<string> {
  let previousEnd = 0;
  for (const match of matchesOf(text, expression)) {
    const end = match.index + match[0].length;
    if (match.index >= text.length || end <= previousEnd) continue;
    yield text.slice(previousEnd, match.index);
    previousEnd = end;
  }
  yield text.slice(previousEnd);
}

function replacePattern(
  text: string,
  pattern: string,
  replacement: string,
  options: string,
  place: { readonly start: number; readonly occurrence: number | undefined },
): string {
  const start = unitIndex(text, place.start);
  const { compile, all } = splitOptions(options);
  const occurrence = place.occurrence ?? (all ? 0 : 1);
  checkParameter("n", occurrence, 0);
  return replaceMatches({
    text,
    expression: compileRegularExpression(pattern, compile),
    replacement,
    all: occurrence === 0,
    occurrence,
    start,
  });
}

function countMatches(text: string, pattern: string, start: number, options: string): number {
  const from = unitIndex(text, start);
  const expression = compileRegularExpression(pattern, refuseGlobal(options, "regexp_count"));
  let count = 0;
  for (const _match of matchesOf(text, expression, from)) count++;
  return count;
}

function checkParameter(name: string, value: number, least: number): void {
  if (value < least) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `invalid value for parameter "${name}": ${value}`,
    );
  }
}

/** The group that a caller means: the first of an expression without groups is the whole match. */
function groupNumber(match: RegExpExecArray, group: number): number {
  return group === 1 && match.length === 1 ? 0 : group;
}

/** Start and end of a group of a match in UTF-16 units; undefined when the group took no part. */
function groupPlace(match: RegExpExecArray, group: number): readonly [number, number] | undefined {
  const value = match[group];
  if (value === undefined) return undefined;
  if (group === 0) return [match.index, match.index + value.length];
  const indices = match.indices?.[group];
  if (indices !== undefined) return indices;
  const offset = match[0].indexOf(value);
  return [match.index + offset, match.index + offset + value.length];
}

function positionOfMatch(
  text: string,
  pattern: string,
  start = 1,
  n = 1,
  endOption = 0,
  options = "",
  group = 0,
): number {
  const from = unitIndex(text, start);
  checkParameter("n", n, 1);
  if (endOption !== 0 && endOption !== 1) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `invalid value for parameter "endoption": ${endOption}`,
    );
  }
  checkParameter("subexpr", group, 0);
  const expression = compileRegularExpression(pattern, refuseGlobal(options, "regexp_instr"));
  const match = nthMatch(text, expression, from, n);
  const place = match === undefined ? undefined : groupPlace(match, groupNumber(match, group));
  return place === undefined ? 0 : characterLength(text.slice(0, place[endOption])) + 1;
}

function matchedPart(
  text: string,
  pattern: string,
  start = 1,
  n = 1,
  options = "",
  group = 0,
): string | null {
  const from = unitIndex(text, start);
  checkParameter("n", n, 1);
  checkParameter("subexpr", group, 0);
  const match = nthMatch(
    text,
    compileRegularExpression(pattern, refuseGlobal(options, "regexp_substr")),
    from,
    n,
  );
  return match?.[groupNumber(match, group)] ?? null;
}

/** `substring(text from pattern)`: the first group, or the whole match when there is none. */
function substringOfPattern(text: string, pattern: string): string | null {
  const match = nthMatch(text, compileRegularExpression(pattern), 0, 1);
  if (match === undefined) return null;
  return (match.length > 1 ? match[1] : match[0]) ?? null;
}

const text = { category: "text", returns: "text" } as const;

/** The same function with one argument more each time. */
function withOptionals(
  required: string,
  optional: readonly string[],
  overload: Omit<Overload, "takes">,
): Overload[] {
  const result: Overload[] = [];
  for (let count = 0; count <= optional.length; count++) {
    result.push({ ...overload, takes: [required, ...optional.slice(0, count)].join(", ") });
  }
  return result;
}

const functions: readonly Overload[] = [
  {
    ...text,
    name: "like_escape",
    takes: "text, text",
    summary: "A LIKE pattern with another escape.",
    run: likeEscape,
  },
  {
    ...text,
    name: "similar_to_escape",
    takes: "text",
    summary: "A SIMILAR TO pattern as a regular expression.",
    run: (pattern: string) => similarEscape(pattern, "\\"),
  },
  {
    ...text,
    name: "similar_to_escape",
    takes: "text, text",
    summary: "A SIMILAR TO pattern with an escape as a regular expression.",
    run: similarEscape,
  },
  {
    ...text,
    name: "substring",
    takes: "text, text",
    summary: "The part that matches a regular expression.",
    mayReturnNull: true,
    run: substringOfPattern,
  },
  {
    ...text,
    name: "substring",
    takes: "text, text, text",
    summary: "The part that a SIMILAR TO pattern marks.",
    mayReturnNull: true,
    run: (value: string, pattern: string, escape: string) =>
      substringOfPattern(value, similarEscape(pattern, escape)),
  },
  ...withOptionals("text, text", ["text"], {
    name: "regexp_match",
    returns: "text[]",
    category: "text",
    summary: "The groups of the first match, or the match.",
    mayReturnNull: true,
    run: (value: string, pattern: string, options = "") => firstMatch(value, pattern, options),
  }),
  ...withOptionals("text, text", ["text"], {
    name: "regexp_matches",
    returns: "text[]",
    category: "set-returning",
    summary: "The groups of the first match, with the option g of all matches, as rows.",
    rows: (_context, value: string, pattern: string, options = "") => matchRows(value, pattern, options),
  }),
  ...withOptionals("text, text", ["text"], {
    name: "regexp_split_to_array",
    returns: "text[]",
    category: "text",
    summary: "The parts between matches.",
    run: (value: string, pattern: string, options = "") =>
      SqlArray.of([...splitAtMatches(value, pattern, options, "regexp_split_to_array")]),
  }),
  ...withOptionals("text, text", ["text"], {
    name: "regexp_split_to_table",
    returns: "text",
    category: "set-returning",
    summary: "The parts between matches as rows.",
    rows: (_context, value: string, pattern: string, options = "") =>
      eachRow(splitAtMatches(value, pattern, options, "regexp_split_to_table")),
  }),
  ...withOptionals("text, text, text", ["text"], {
    ...text,
    name: "regexp_replace",
    summary: "The first match, with the option g all matches, replaced.",
    run: (value: string, pattern: string, replacement: string, options = "") =>
      replacePattern(value, pattern, replacement, options, { start: 1, occurrence: undefined }),
  }),
  {
    ...text,
    name: "regexp_replace",
    takes: "text, text, text, i32",
    summary: "The first match from a position on replaced.",
    run: (value: string, pattern: string, replacement: string, start: number) =>
      replacePattern(value, pattern, replacement, "", { start, occurrence: 1 }),
  },
  ...withOptionals("text, text, text, i32, i32", ["text"], {
    ...text,
    name: "regexp_replace",
    summary: "The n-th match from a position on replaced; n 0: all.",
    run: (value: string, pattern: string, replacement: string, start: number, n: number, options = "") =>
      replacePattern(value, pattern, replacement, options, { start, occurrence: n }),
  }),
  ...withOptionals("text, text", ["i32", "text"], {
    name: "regexp_count",
    returns: "i32",
    category: "text",
    summary: "Number of matches.",
    run: (value: string, pattern: string, start = 1, options = "") =>
      countMatches(value, pattern, start, options),
  }),
  ...withOptionals("text, text", ["i32", "i32", "i32", "text", "i32"], {
    name: "regexp_instr",
    returns: "i32",
    category: "text",
    summary: "Where the n-th match begins, or ends; 0 when there is none.",
    run: positionOfMatch,
  }),
  ...withOptionals("text, text", ["text"], {
    name: "regexp_like",
    returns: "bool",
    category: "text",
    summary: "Whether a regular expression matches.",
    run: (value: string, pattern: string, options = "") =>
      nthMatch(value, compileRegularExpression(pattern, refuseGlobal(options, "regexp_like")), 0, 1) !==
        undefined,
  }),
  ...withOptionals("text, text", ["i32", "i32", "text", "i32"], {
    ...text,
    name: "regexp_substr",
    summary: "The n-th match, or a group of it.",
    mayReturnNull: true,
    run: matchedPart,
  }),
  testOverload("like", "like", "~~", "Whether a text matches a LIKE pattern."),
  testOverload("notlike", "notLike", "!~~", "Whether a text does not match a LIKE pattern."),
];

/** Functions on patterns. */
export const patternFunctions: readonly FunctionDefinition[] = functions.map(defineFunction);

/** LIKE and the regular expression operators, and `^@`. */
export const patternOperators: readonly FunctionDefinition[] = [
  ...patternOperatorNames.flatMap(([name, label, summary]) => [
    testOverload(name, label, name, summary),
    paddedOverload(name, label, name, summary),
  ]),
  {
    name: "^@",
    takes: "text, text",
    returns: "bool",
    category: "text",
    summary: "Whether the first text begins with the second.",
    run: (value: string, prefix: string) => value.startsWith(prefix),
    inline: ([value, prefix]: readonly string[]) => `${value}.startsWith(${prefix})`,
  } as const,
].map(defineFunction);
