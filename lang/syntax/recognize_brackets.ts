/** Errors with brackets and separators. */
import {
  deletion,
  type ErrorContext,
  insertion,
  type Proposal,
  type ProposedFix,
  quoted,
  type Recognizer,
  replacement,
  type TextEdit,
  typeOf,
} from "./error_context.ts";
import type { Token } from "./token.ts";

const closerOf: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const isCloser = (token: Token) => /^[)\]}]$/.test(token.text) && typeOf(token) !== "interpolation_end";

/** A bracket that nothing closes: told at the bracket. */
const unclosedBracket: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (open === undefined) return null;
  const opening = context.token(open);
  const closer = closerOf[opening.text] ?? "";
  const wrong = context.wrong;
  const isOther = isCloser(wrong) && wrong.text !== closer &&
    context.open.some((index) => closerOf[context.token(index).text] === wrong.text);
  const ends = context.isAtEnd || isOther || (wrong.isFirstOfLine && !isCloser(wrong) && closer !== "}") ||
    (wrong.text === "{" && closer !== "}") || typeOf(wrong) === "interpolation_end";
  if (!ends || !context.expects(closer)) return null;
  // Where more than one is open, closing them all is what leaves none.
  const fixes = [
    ...closingAll(context),
    ...(closer === "}" ? closingBraces(context, open) : [closeAt(context, context.at(-1).end, closer)]),
  ];
  return {
    code: "SY0005",
    span: opening,
    message: `This \`${opening.text}\` is never closed.`,
    labels: context.isAtEnd
      ? []
      : [{ span: wrong.span, message: `expected \`${closer}\` before ${quoted(wrong)}` }],
    expected: `\`${closer}\``,
    actual: quoted(wrong),
    fixes,
    isCertain: true,
  };
};

/**
 * Closes all that is open: at the end of the declaration, or here what is in parentheses and at the end a `{` that
 * stands here.
 */
function closingAll(context: ErrorContext): ProposedFix[] {
  const end = context.token(context.to - 1).end;
  const edits: TextEdit[] = [];
  const close = (offset: number, indexes: readonly number[]) => {
    for (const index of indexes.toReversed()) {
      edits.push(insertion(offset, closerBefore(context, index, offset)));
    }
  };
  if (context.isAtEnd) {
    if (context.open.length < 2) return [];
    close(end, context.open);
  } else {
    const behind = openBehind(context);
    if (context.text(0) !== "{" || behind.length === 0 || context.open.length !== 1) return [];
    close(context.at(-1).end, context.open);
    close(end, behind);
  }
  return [{ title: "close all brackets", applicability: "maybe", edits }];
}

/** Indexes of the brackets from the wrong token on that nothing closes. */
function openBehind(context: ErrorContext): number[] {
  const open: number[] = [];
  for (let index = context.index; index < context.to; index++) {
    const { text } = context.token(index);
    if (/^[([{]$/.test(text)) open.push(index);
    else if (/^[)\]}]$/.test(text)) open.pop();
  }
  return open;
}

/** What closes a bracket at an offset: a brace on a line of its own, unless all is on one line. */
function closerBefore(context: ErrorContext, open: number, offset: number): string {
  const { text, start } = context.token(open);
  const closer = closerOf[text] ?? "";
  if (closer !== "}") return closer;
  const isSameLine = context.file.lineIndexAt(start) === context.file.lineIndexAt(offset);
  return isSameLine ? " }" : `\n${context.indentation(start)}}`;
}

function closeAt(context: ErrorContext, offset: number, text: string): ProposedFix {
  const line = context.file.lineIndexAt(offset) + 1;
  return {
    title: `close it on line ${line}`,
    applicability: "maybe",
    edits: [insertion(offset, text)],
  };
}

/** Where a `}` may have been forgotten: where the indentation says so, or at the end. */
function closingBraces(context: ErrorContext, open: number): ProposedFix[] {
  const fixes: ProposedFix[] = [];
  const culprit = badlyIndentedBlock(context) ?? open;
  const depth = context.indentation(context.token(culprit).start);
  for (let index = culprit + 1; index < context.to; index++) {
    const token = context.token(index);
    if (!token.isFirstOfLine || context.indentation(token.start).length > depth.length) continue;
    if (context.file.lineIndexAt(token.start) === context.file.lineIndexAt(context.token(culprit).start)) {
      continue;
    }
    fixes.push(closeAt(context, context.token(index - 1).end, `\n${depth}}`));
    break;
  }
  const last = context.at(-1).end;
  const indentation = context.indentation(context.token(open).start);
  const sameLine = context.file.lineIndexAt(context.token(open).start) === context.file.lineIndexAt(last);
  const atEnd = closeAt(context, last, sameLine ? " }" : `\n${indentation}}`);
  if (!fixes.some((fix) => fix.edits[0]?.start === last)) fixes.push(atEnd);
  return fixes;
}

/** A `{` whose `}` is indented less than the line of the `{`: it closes what stands around instead. */
function badlyIndentedBlock(context: ErrorContext): number | undefined {
  const open: number[] = [];
  for (let index = context.from; index < context.to; index++) {
    const token = context.token(index);
    if (token.text === "{") open.push(index);
    if (token.text !== "}") continue;
    const partner = open.pop();
    if (partner === undefined || !token.isFirstOfLine) continue;
    const inner = context.indentation(context.token(partner).start).length;
    if (context.indentation(token.start).length < inner) return partner;
  }
  return undefined;
}

/** A closing bracket that closes nothing, or another kind than was opened. */
const strayBracket: Recognizer = (context) => {
  const wrong = context.wrong;
  if (!isCloser(wrong)) return null;
  const open = context.open.at(-1);
  const opening = open === undefined ? null : context.token(open);
  const closer = opening === null ? "" : closerOf[opening.text] ?? "";
  const isKnown = context.open.some((index) => closerOf[context.token(index).text] === wrong.text);
  if (opening === null || (opening.text === "{" && !isKnown)) {
    return {
      code: "SY0006",
      span: wrong,
      message: `Unexpected ${quoted(wrong)}: there is no matching open bracket.`,
      fixes: [{
        title: `remove ${quoted(wrong)}`,
        applicability: "maybe",
        edits: [deletion(context, wrong)],
      }],
      isCertain: true,
    };
  }
  if (closer === wrong.text || !context.expects(closer)) return null;
  return {
    code: "SY0007",
    span: wrong,
    message: `Expected \`${closer}\` to close \`${opening.text}\`, found ${quoted(wrong)}.`,
    labels: [{ span: opening.span, message: "opened here" }],
    expected: `\`${closer}\``,
    actual: quoted(wrong),
    fixes: [
      { title: `write \`${closer}\``, applicability: "maybe", edits: [replacement(wrong, closer)] },
      { title: `remove ${quoted(wrong)}`, applicability: "maybe", edits: [deletion(context, wrong)] },
    ],
  };
};

/** Elements without a comma between them. */
const missingComma: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (open === undefined || context.isAtEnd || !context.expects(",")) return null;
  if (isCloser(context.wrong) || /^[^\w"'(\[{.&-]/.test(context.wrong.text)) return null;
  const before = context.at(-1);
  const semicolon = /^\s*;/.exec(context.source(before.end, context.wrong.start))?.[0];
  return {
    code: "SY0008",
    span: context.wrong,
    message: `Missing comma between elements, before ${quoted(context.wrong)}.`,
    labels: [{ span: context.token(open).span, message: "in the brackets that begin here" }],
    expected: "`,`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "insert a comma",
      applicability: "maybe",
      edits: [
        semicolon === undefined
          ? insertion(before.end, ",")
          : replacement({ start: before.end, end: before.end + semicolon.length }, ","),
      ],
    }],
  };
};

/** `1, 2 => …` */
const alternativesWithCommas: Recognizer = (context) => {
  if (context.text(0) !== "," || !context.expects("|") || !context.expects("=>")) return null;
  const edits = [];
  for (let index = context.index, depth = 0; index < context.to; index++) {
    const text = context.token(index).text;
    if (text === "=>" || text === "if") break;
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    if (depth === 0 && text === ",") edits.push(replacement(context.token(index), " |"));
  }
  return {
    code: "SY0070",
    span: context.wrong,
    message: "The alternatives of an arm are separated by `|`.",
    expected: "`|`",
    actual: "`,`",
    fixes: [{ title: "write `|`", applicability: "safe", edits }],
  };
};

/** Commas between statements or the arms of a match. */
const needlessComma: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (context.text(0) !== "," || (open !== undefined && context.token(open).text !== "{")) return null;
  const isMatch = open !== undefined && isMatchBrace(context, open);
  return {
    code: "SY0009",
    span: context.wrong,
    message: isMatch
      ? "The arms of a `match` are not separated by commas."
      : "Statements and declarations are not separated by commas.",
    fixes: [{
      title: "remove the comma",
      applicability: "safe",
      edits: everyComma(context, open).map((token) => deletion(context, token)),
    }],
  };
};

/** The comma, and those after the other arms of the same match. */
function everyComma(context: ErrorContext, open: number | undefined): Token[] {
  const commas = [context.wrong];
  if (open === undefined || !isMatchBrace(context, open)) return commas;
  let depth = 0;
  let isBehindArrow = false;
  for (let index = context.index + 1; index < context.to; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth === 0 && token.text === "=>") isBehindArrow = true;
    if (depth !== 0 || token.text !== "," || !isBehindArrow) continue;
    commas.push(token);
    isBehindArrow = false;
  }
  return commas;
}

/** Whether a brace holds the arms of a match. */
export function isMatchBrace(context: ErrorContext, open: number): boolean {
  for (let index = open - 1; index >= context.from; index--) {
    const text = context.token(index).text;
    if (text === "match" || text === "switch") return true;
    if (text === "{" || text === "}" || text === "=>") return false;
  }
  return false;
}

/** `"{}"`. */
const emptyInterpolation: Recognizer = (context): Proposal | null => {
  if (typeOf(context.wrong) !== "interpolation_end" || typeOf(context.at(-1)) !== "interpolation_start") {
    return null;
  }
  return {
    code: "SY0010",
    span: { start: context.at(-1).start, end: context.wrong.end },
    message: "Expected an expression between `{` and `}` in this string.",
    fixes: [{
      title: "escape the braces",
      applicability: "maybe",
      edits: [replacement(context.at(-1), "\\{")],
    }],
  };
};

/** In the order in which they are asked. */
export const bracketRecognizers: readonly Recognizer[] = [
  emptyInterpolation,
  alternativesWithCommas,
  needlessComma,
  unclosedBracket,
  strayBracket,
];

/** Asked when all others have found nothing. */
export const lateBracketRecognizers: readonly Recognizer[] = [missingComma];
