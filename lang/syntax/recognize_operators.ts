/** Operators of other languages, and operators where they do not fit. */
import {
  type ErrorContext,
  insertion,
  type ProposedFix,
  quoted,
  type Recognizer,
  replacement,
  typeOf,
} from "./mistake.ts";
import type { Span } from "../source/source_file.ts";

const comparisons = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** Whether the wrong token follows another directly, as one operator of other languages. */
function joins(place: ErrorContext, first: string, second: string): boolean {
  return place.text(0) === second && place.text(-1) === first && place.at(-1).end === place.wrong.start;
}

function joined(place: ErrorContext): Span {
  return { start: place.at(-1).start, end: place.wrong.end };
}

function spaced(place: ErrorContext, span: Span, text: string): string {
  const before = /\s/.test(place.file.text[span.start - 1] ?? " ") ? "" : " ";
  const after = /\s/.test(place.file.text[span.end] ?? " ") ? "" : " ";
  return `${before}${text}${after}`;
}

const foreignOperators: readonly (readonly [string, string, string])[] = [
  ["&", "&", "and"],
  ["|", "|", "or"],
  ["==", "=", "=="],
  ["!=", "=", "!="],
  ["<", ">", "!="],
];

/** `&&`, `||`, `===`, `<>`. */
const foreignOperator: Recognizer = (place) => {
  for (const [first, second, operator] of foreignOperators) {
    if (!joins(place, first, second)) continue;
    const span = joined(place);
    return {
      code: "SY0011",
      span,
      message: `This language writes \`${operator}\`, not \`${first}${second}\`.`,
      expected: `\`${operator}\``,
      actual: `\`${first}${second}\``,
      fixes: [{
        title: `write \`${operator}\``,
        applicability: "safe",
        edits: [replacement(span, spaced(place, span, operator))],
      }],
    };
  }
  if (joins(place, "*", "*")) {
    return {
      code: "SY0011",
      span: joined(place),
      message: "There is no power operator.",
      hint: "Use `pow` from `std.math`.",
      fixes: [],
      isCertain: true,
    };
  }
  return null;
};

/** `x++`, `++x`. */
const increment: Recognizer = (place) => {
  for (const sign of ["+", "-"]) {
    if (joins(place, sign, sign) && (place.isFirstOfLine(1) || place.text(1) === "}")) {
      const span = joined(place);
      return incrementAt(span, sign, [replacement(withSpaceBefore(place, span), ` ${sign}= 1`)]);
    }
    // `x--` is read as `x - -`, and what follows does not fit.
    const [first, second] = [place.at(-2), place.at(-1)];
    if (first.text === sign && second.text === sign && first.end === second.start) {
      const span = { start: first.start, end: second.end };
      if (place.wrong.isFirstOfLine || place.text(0) === "}") {
        return incrementAt(span, sign, [replacement(withSpaceBefore(place, span), ` ${sign}= 1`)]);
      }
    }
    const [next, name] = [place.at(1), place.at(2)];
    if (
      place.text(0) === sign && next.text === sign && next.start === place.wrong.end &&
      typeOf(name) === "name"
    ) {
      const span = { start: place.wrong.start, end: next.end };
      return incrementAt(span, sign, [
        replacement(span, ""),
        insertion(name.end, ` ${sign}= 1`),
      ]);
    }
  }
  return null;
};

function withSpaceBefore(place: ErrorContext, span: Span): Span {
  let start = span.start;
  while (place.file.text[start - 1] === " ") start--;
  return { start, end: span.end };
}

function incrementAt(
  span: Span,
  sign: string,
  edits: ProposedFix["edits"],
): ReturnType<Recognizer> {
  return {
    code: "SY0012",
    span,
    message: `There is no \`${sign}${sign}\`; use an assignment.`,
    fixes: [{ title: `write \`${sign}= 1\``, applicability: "safe", edits }],
  };
}

/** `a < b < c`. */
const chainedComparison: Recognizer = (place) => {
  if (!comparisons.has(place.text(0)) || place.expects("<") || !place.expects("and")) return null;
  let depth = 0;
  for (let index = place.index - 1; index >= place.from; index--) {
    const token = place.token(index);
    if (/^[)\]}]$/.test(token.text)) depth++;
    if (/^[([{]$/.test(token.text) && --depth < 0) return null;
    if (depth > 0 || !comparisons.has(token.text)) continue;
    const middle = place.source(place.token(index + 1).start, place.at(-1).end);
    return {
      code: "SY0013",
      span: place.wrong,
      message:
        `Comparisons cannot be chained: the left operand is already a comparison with \`${token.text}\`.`,
      labels: [{ span: token.span, message: "the first comparison" }],
      fixes: [{
        title: `compare \`${middle}\` twice`,
        applicability: "safe",
        edits: [insertion(place.at(-1).end, ` and ${middle}`)],
      }],
    };
  }
  return null;
};

/** `if x = 1`, `f(x = 1)`, `a + b = c`. */
const assignmentAsValue: Recognizer = (place) => {
  if (place.text(0) !== "=" || !place.isAfterExpression) return null;
  const compare: ProposedFix = {
    title: "compare with `==`",
    applicability: "maybe",
    edits: [replacement(place.wrong, "==")],
  };
  const before = place.text(-2);
  if (typeOf(place.at(-1)) === "name" && (before === "(" || before === ",")) {
    const colon = replacement({ start: place.at(-1).end, end: place.wrong.end }, ":");
    return {
      code: "SY0014",
      span: place.wrong,
      message: "A named argument is written with `:`, and an assignment is not a value.",
      expected: "`:`",
      actual: "`=`",
      fixes: [{ title: "name the argument with `:`", applicability: "maybe", edits: [colon] }, compare],
    };
  }
  const start = place.token(place.lineStart(place.index - 1));
  const isCondition = place.open.length > 0 && place.token(place.open.at(-1) ?? 0).text !== "{" ||
    linesHaveCondition(place);
  if (isCondition || /(^|[^=<>!])=($|[^=>])/.test(place.source(start.start, place.at(-1).end))) {
    return {
      code: "SY0015",
      span: place.wrong,
      message: "An assignment is not an expression.",
      expected: "`==`",
      actual: "`=`",
      fixes: [compare],
    };
  }
  return {
    code: "SY0016",
    span: { start: start.start, end: place.at(-1).end },
    message: "Only a variable, or a field or element of one, can be assigned to.",
    fixes: [compare],
    isCertain: true,
  };
};

/** Whether `if` or `while` stands before the wrong token and its block does not. */
function linesHaveCondition(place: ErrorContext): boolean {
  for (let index = place.index - 1; index >= place.from; index--) {
    const text = place.token(index).text;
    if (text === "if" || text === "while") return true;
    if (text === "{" || text === "}" || text === "let" || text === "var") return false;
  }
  return false;
}

/** `a ? b : c`. */
const conditionalOperator: Recognizer = (place) => {
  const first = place.lineStart(Math.min(place.index, place.to - 1));
  let question = -1;
  for (let index = place.index - 1; index >= first; index--) {
    if (place.token(index).text === "?") {
      question = index;
      break;
    }
  }
  if (question < 0) return null;
  const colon = atDepth(place, question + 1, 1, (text) => text === ":");
  if (colon === null || colon < place.index) return null;
  const start = atDepth(
    place,
    question - 1,
    -1,
    (text) => /^(=|\(|\[|,|return|=>|[+\-*/%]=)$/.test(text),
  ) ?? first - 1;
  const end = endOfExpression(place, colon + 1);
  if (colon <= question + 1 || end <= colon + 1) return null;
  const between = (from: number, to: number) =>
    place.source(place.token(from).start, place.token(to - 1).end);
  const [condition, then, otherwise] = [
    between(start + 1, question),
    between(question + 1, colon),
    between(colon + 1, end),
  ];
  return {
    code: "SY0017",
    span: place.token(question),
    message: "There is no `? :`; `if` is an expression.",
    fixes: [{
      title: "write it with `if`",
      applicability: "safe",
      edits: [
        replacement(
          { start: place.token(start + 1).start, end: place.token(end - 1).end },
          `if ${condition} { ${then} } else { ${otherwise} }`,
        ),
      ],
    }],
  };
};

/** The first token on the same line and in the same brackets for which the test holds, in one direction. */
function atDepth(
  place: ErrorContext,
  from: number,
  step: 1 | -1,
  test: (text: string) => boolean,
): number | null {
  let depth = 0;
  const [inward, outward] = step === 1 ? [/^[([{]$/, /^[)\]}]$/] : [/^[)\]}]$/, /^[([{]$/];
  for (let index = from; index >= place.from && index < place.to; index += step) {
    const token = place.token(index);
    if (step === 1 && token.isFirstOfLine && index > from) return null;
    if (depth === 0 && test(token.text)) return index;
    if (inward.test(token.text)) depth++;
    if (outward.test(token.text) && --depth < 0) return null;
    if (step === -1 && token.isFirstOfLine) return null;
  }
  return null;
}

/** Index behind the expression that begins at a token: the end of its line, or what its brackets end with. */
export function endOfExpression(place: ErrorContext, from: number): number {
  let depth = 0;
  let index = from;
  for (; index < place.to; index++) {
    const token = place.token(index);
    if (depth === 0 && index > from && token.isFirstOfLine) break;
    if (depth === 0 && token.text === ",") break;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
  }
  return index;
}

/** `a::b`. */
const doubleColon: Recognizer = (place) => {
  const isSecond = joins(place, ":", ":");
  if (
    !isSecond && !(place.text(0) === ":" && place.text(1) === ":" && place.at(1).start === place.wrong.end)
  ) {
    return null;
  }
  const span = isSecond ? joined(place) : { start: place.wrong.start, end: place.at(1).end };
  return {
    code: "SY0018",
    span,
    message: "Access the members of a module or a type with a dot.",
    expected: "`.`",
    actual: "`::`",
    fixes: [{ title: "write `.`", applicability: "safe", edits: [replacement(span, ".")] }],
  };
};

/** `x => x + 1`, `|x| x + 1`. */
const foreignClosure: Recognizer = (place) => {
  const other = closureBetweenBars(place) ?? lambda(place);
  if (other !== null) return other;
  if (isClosureArrow(place, place.index - 2)) {
    // What stands behind `->` was taken for a type.
    const start = closureStart(place, place.index - 3);
    const end = endOfExpression(place, place.index - 1);
    const parameters = place.source(place.token(start + 1).end, place.at(-3).start);
    return closureProposal(place, { start, parameters, body: place.index - 1, end });
  }
  if (place.text(0) !== "=>" && place.text(0) !== "->") return null;
  if (place.text(0) === "=>" && place.expects("=>")) return null;
  let start = place.index - 1;
  let parameters = place.text(-1);
  if (place.text(-1) === ")") {
    for (let depth = 0; start >= place.from; start--) {
      const text = place.token(start).text;
      if (text === ")") depth++;
      if (text === "(" && --depth === 0) break;
    }
    if (start < place.from) return null;
    parameters = place.source(place.token(start).end, place.at(-1).start);
    if (place.token(start - 1).text === "fn") start--;
    else if (place.token(start - 2).text === "fn" || place.token(start - 1).text === "]") return null;
  } else if (typeOf(place.at(-1)) !== "name") return null;
  const end = endOfExpression(place, place.index + 1);
  if (end <= place.index + 1) return null;
  return closureProposal(place, { start, parameters, body: place.index + 1, end });
};

/** Index of the `fn` of the function value whose parameters end with a `)`, or -1. */
function closureStart(place: ErrorContext, close: number): number {
  if (close < place.from || place.token(close).text !== ")") return -1;
  for (let index = close, depth = 0; index >= place.from; index--) {
    const text = place.token(index).text;
    if (text === ")") depth++;
    if (text === "(" && --depth === 0) return place.token(index - 1).text === "fn" ? index - 1 : -1;
  }
  return -1;
}

/** Whether a token is the arrow behind the parameters of a function value. */
export function isClosureArrow(place: ErrorContext, index: number): boolean {
  return index > place.from && place.token(index).text === "->" &&
    closureStart(place, index - 1) > place.from;
}

/** `lambda x, y: x + y`. */
function lambda(place: ErrorContext): ReturnType<Recognizer> {
  if (place.text(-1) !== "lambda" || typeOf(place.wrong) !== "name") return null;
  let colon = place.index;
  while (colon < place.to && /^(name|,)$/.test(typeOf(place.token(colon)))) colon++;
  const end = endOfExpression(place, colon + 1);
  if (place.token(colon).text !== ":" || end <= colon + 1) return null;
  const parameters = place.source(place.wrong.start, place.token(colon - 1).end);
  return closureProposal(place, { start: place.index - 1, parameters, body: colon + 1, end });
}

function closureBetweenBars(place: ErrorContext): ReturnType<Recognizer> {
  if (place.text(0) !== "|" || !place.expectsExpression) return null;
  let close = place.index + 1;
  while (close < place.to && /^(name|,|:|type_name)$/.test(typeOf(place.token(close)))) close++;
  if (place.token(close).text !== "|") return null;
  const end = endOfExpression(place, close + 1);
  if (end <= close + 1) return null;
  const parameters = place.source(place.wrong.end, place.token(close).start);
  return closureProposal(place, { start: place.index, parameters, body: close + 1, end });
}

function closureProposal(
  place: ErrorContext,
  { start, parameters, body, end }: {
    readonly start: number;
    readonly parameters: string;
    readonly body: number;
    readonly end: number;
  },
): ReturnType<Recognizer> {
  const span = { start: place.token(start).start, end: place.token(end - 1).end };
  const text = place.source(place.token(body).start, span.end);
  const block = text.startsWith("{") ? text : `{ ${text} }`;
  return {
    code: "SY0019",
    span: { start: span.start, end: place.token(body - 1).end },
    message: "A function value is written `fn(x) { … }`.",
    actual: quoted(place.wrong),
    fixes: [{
      title: "write it with `fn`",
      applicability: "safe",
      edits: [replacement(span, `fn(${parameters.trim()}) ${block}`)],
    }],
  };
}

/** In the order in which they are asked. */
export const operatorRecognizers: readonly Recognizer[] = [
  foreignOperator,
  increment,
  chainedComparison,
  conditionalOperator,
  doubleColon,
  assignmentAsValue,
  foreignClosure,
];
