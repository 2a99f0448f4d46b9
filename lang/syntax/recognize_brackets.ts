/** Mistakes with brackets and separators. */
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
} from "./mistake.ts";
import type { Token } from "./token.ts";

const closerOf: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const isCloser = (token: Token) => /^[)\]}]$/.test(token.text) && typeOf(token) !== "interpolation_end";

/** A bracket that nothing closes: told at the bracket. */
const unclosedBracket: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (open === undefined) return null;
  const opening = place.token(open);
  const closer = closerOf[opening.text] ?? "";
  const wrong = place.wrong;
  const isOther = isCloser(wrong) && wrong.text !== closer &&
    place.open.some((index) => closerOf[place.token(index).text] === wrong.text);
  const ends = place.isAtEnd || isOther || (wrong.isFirstOfLine && !isCloser(wrong) && closer !== "}") ||
    (wrong.text === "{" && closer !== "}") || typeOf(wrong) === "interpolation_end";
  if (!ends || !place.expects(closer)) return null;
  // Where more than one is open, closing them all is what leaves none.
  const fixes = [
    ...closingAll(place),
    ...(closer === "}" ? closingBraces(place, open) : [closeAt(place, place.at(-1).end, closer)]),
  ];
  return {
    code: "SY0005",
    span: opening,
    message: `This \`${opening.text}\` is never closed.`,
    labels: place.isAtEnd
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
function closingAll(place: ErrorContext): ProposedFix[] {
  const end = place.token(place.to - 1).end;
  const edits: TextEdit[] = [];
  const close = (offset: number, indexes: readonly number[]) => {
    for (const index of indexes.toReversed()) {
      edits.push(insertion(offset, closerBefore(place, index, offset)));
    }
  };
  if (place.isAtEnd) {
    if (place.open.length < 2) return [];
    close(end, place.open);
  } else {
    const behind = openBehind(place);
    if (place.text(0) !== "{" || behind.length === 0 || place.open.length !== 1) return [];
    close(place.at(-1).end, place.open);
    close(end, behind);
  }
  return [{ title: "close all brackets", applicability: "maybe", edits }];
}

/** Indexes of the brackets from the wrong token on that nothing closes. */
function openBehind(place: ErrorContext): number[] {
  const open: number[] = [];
  for (let index = place.index; index < place.to; index++) {
    const { text } = place.token(index);
    if (/^[([{]$/.test(text)) open.push(index);
    else if (/^[)\]}]$/.test(text)) open.pop();
  }
  return open;
}

/** What closes a bracket at an offset: a brace on a line of its own, unless all is on one line. */
function closerBefore(place: ErrorContext, open: number, offset: number): string {
  const { text, start } = place.token(open);
  const closer = closerOf[text] ?? "";
  if (closer !== "}") return closer;
  const isSameLine = place.file.lineIndexAt(start) === place.file.lineIndexAt(offset);
  return isSameLine ? " }" : `\n${place.indentation(start)}}`;
}

function closeAt(place: ErrorContext, offset: number, text: string): ProposedFix {
  const line = place.file.lineIndexAt(offset) + 1;
  return {
    title: `close it on line ${line}`,
    applicability: "maybe",
    edits: [insertion(offset, text)],
  };
}

/** Where a `}` may have been forgotten: where the indentation says so, or at the end. */
function closingBraces(place: ErrorContext, open: number): ProposedFix[] {
  const fixes: ProposedFix[] = [];
  const culprit = badlyIndentedBlock(place) ?? open;
  const depth = place.indentation(place.token(culprit).start);
  for (let index = culprit + 1; index < place.to; index++) {
    const token = place.token(index);
    if (!token.isFirstOfLine || place.indentation(token.start).length > depth.length) continue;
    if (place.file.lineIndexAt(token.start) === place.file.lineIndexAt(place.token(culprit).start)) continue;
    fixes.push(closeAt(place, place.token(index - 1).end, `\n${depth}}`));
    break;
  }
  const last = place.at(-1).end;
  const indentation = place.indentation(place.token(open).start);
  const sameLine = place.file.lineIndexAt(place.token(open).start) === place.file.lineIndexAt(last);
  const atEnd = closeAt(place, last, sameLine ? " }" : `\n${indentation}}`);
  if (!fixes.some((fix) => fix.edits[0]?.start === last)) fixes.push(atEnd);
  return fixes;
}

/** A `{` whose `}` is indented less than the line of the `{`: it closes what stands around instead. */
function badlyIndentedBlock(place: ErrorContext): number | undefined {
  const open: number[] = [];
  for (let index = place.from; index < place.to; index++) {
    const token = place.token(index);
    if (token.text === "{") open.push(index);
    if (token.text !== "}") continue;
    const partner = open.pop();
    if (partner === undefined || !token.isFirstOfLine) continue;
    const inner = place.indentation(place.token(partner).start).length;
    if (place.indentation(token.start).length < inner) return partner;
  }
  return undefined;
}

/** A closing bracket that closes nothing, or another kind than was opened. */
const strayBracket: Recognizer = (place) => {
  const wrong = place.wrong;
  if (!isCloser(wrong)) return null;
  const open = place.open.at(-1);
  const opening = open === undefined ? null : place.token(open);
  const closer = opening === null ? "" : closerOf[opening.text] ?? "";
  const isKnown = place.open.some((index) => closerOf[place.token(index).text] === wrong.text);
  if (opening === null || (opening.text === "{" && !isKnown)) {
    return {
      code: "SY0006",
      span: wrong,
      message: `Unexpected ${quoted(wrong)}: there is no matching open bracket.`,
      fixes: [{ title: `remove ${quoted(wrong)}`, applicability: "maybe", edits: [deletion(place, wrong)] }],
      isCertain: true,
    };
  }
  if (closer === wrong.text || !place.expects(closer)) return null;
  return {
    code: "SY0007",
    span: wrong,
    message: `Expected \`${closer}\` to close \`${opening.text}\`, found ${quoted(wrong)}.`,
    labels: [{ span: opening.span, message: "opened here" }],
    expected: `\`${closer}\``,
    actual: quoted(wrong),
    fixes: [
      { title: `write \`${closer}\``, applicability: "maybe", edits: [replacement(wrong, closer)] },
      { title: `remove ${quoted(wrong)}`, applicability: "maybe", edits: [deletion(place, wrong)] },
    ],
  };
};

/** Elements without a comma between them. */
const missingComma: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (open === undefined || place.isAtEnd || !place.expects(",")) return null;
  if (isCloser(place.wrong) || /^[^\w"'(\[{.&-]/.test(place.wrong.text)) return null;
  const before = place.at(-1);
  const semicolon = /^\s*;/.exec(place.source(before.end, place.wrong.start))?.[0];
  return {
    code: "SY0008",
    span: place.wrong,
    message: `Missing comma between elements, before ${quoted(place.wrong)}.`,
    labels: [{ span: place.token(open).span, message: "in the brackets that begin here" }],
    expected: "`,`",
    actual: quoted(place.wrong),
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
const alternativesWithCommas: Recognizer = (place) => {
  if (place.text(0) !== "," || !place.expects("|") || !place.expects("=>")) return null;
  const edits = [];
  for (let index = place.index, depth = 0; index < place.to; index++) {
    const text = place.token(index).text;
    if (text === "=>" || text === "if") break;
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    if (depth === 0 && text === ",") edits.push(replacement(place.token(index), " |"));
  }
  return {
    code: "SY0070",
    span: place.wrong,
    message: "The alternatives of an arm are separated by `|`.",
    expected: "`|`",
    actual: "`,`",
    fixes: [{ title: "write `|`", applicability: "safe", edits }],
  };
};

/** Commas between statements or the arms of a match. */
const needlessComma: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (place.text(0) !== "," || (open !== undefined && place.token(open).text !== "{")) return null;
  const isMatch = open !== undefined && isMatchBrace(place, open);
  return {
    code: "SY0009",
    span: place.wrong,
    message: isMatch
      ? "The arms of a `match` are not separated by commas."
      : "Statements and declarations are not separated by commas.",
    fixes: [{
      title: "remove the comma",
      applicability: "safe",
      edits: everyComma(place, open).map((token) => deletion(place, token)),
    }],
  };
};

/** The comma, and those after the other arms of the same match. */
function everyComma(place: ErrorContext, open: number | undefined): Token[] {
  const commas = [place.wrong];
  if (open === undefined || !isMatchBrace(place, open)) return commas;
  let depth = 0;
  let isBehindArrow = false;
  for (let index = place.index + 1; index < place.to; index++) {
    const token = place.token(index);
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
export function isMatchBrace(place: ErrorContext, open: number): boolean {
  for (let index = open - 1; index >= place.from; index--) {
    const text = place.token(index).text;
    if (text === "match" || text === "switch") return true;
    if (text === "{" || text === "}" || text === "=>") return false;
  }
  return false;
}

/** `"{}"`. */
const emptyInterpolation: Recognizer = (place): Proposal | null => {
  if (typeOf(place.wrong) !== "interpolation_end" || typeOf(place.at(-1)) !== "interpolation_start") {
    return null;
  }
  return {
    code: "SY0010",
    span: { start: place.at(-1).start, end: place.wrong.end },
    message: "Expected an expression between `{` and `}` in this string.",
    fixes: [{
      title: "escape the braces",
      applicability: "maybe",
      edits: [replacement(place.at(-1), "\\{")],
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
