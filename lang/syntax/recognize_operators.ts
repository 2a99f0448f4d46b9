/** Operators of other languages, and operators where they do not fit. */
import {
  type ErrorContext,
  insertion,
  type ProposedFix,
  quoted,
  type Recognizer,
  replacement,
  typeOf,
} from "./error_context.ts";
import type { Span } from "../source/source_file.ts";

const comparisons = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** Whether the wrong token follows another directly, as one operator of other languages. */
function joins(context: ErrorContext, first: string, second: string): boolean {
  return context.text(0) === second && context.text(-1) === first &&
    context.at(-1).end === context.wrong.start;
}

function joined(context: ErrorContext): Span {
  return { start: context.at(-1).start, end: context.wrong.end };
}

function spaced(context: ErrorContext, span: Span, text: string): string {
  const before = /\s/.test(context.file.text[span.start - 1] ?? " ") ? "" : " ";
  const after = /\s/.test(context.file.text[span.end] ?? " ") ? "" : " ";
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
const foreignOperator: Recognizer = (context) => {
  for (const [first, second, operator] of foreignOperators) {
    if (!joins(context, first, second)) continue;
    const span = joined(context);
    return {
      code: "SY0011",
      span,
      message: `This language writes \`${operator}\`, not \`${first}${second}\`.`,
      expected: `\`${operator}\``,
      actual: `\`${first}${second}\``,
      fixes: [{
        title: `write \`${operator}\``,
        applicability: "safe",
        edits: [replacement(span, spaced(context, span, operator))],
      }],
    };
  }
  if (joins(context, "*", "*")) {
    return {
      code: "SY0011",
      span: joined(context),
      message: "There is no power operator.",
      hint: "Use `pow` from `std.math`.",
      fixes: [],
      isCertain: true,
    };
  }
  return null;
};

/** `x++`, `++x`. */
const increment: Recognizer = (context) => {
  for (const sign of ["+", "-"]) {
    if (joins(context, sign, sign) && (context.isFirstOfLine(1) || context.text(1) === "}")) {
      const span = joined(context);
      return incrementAt(span, sign, [replacement(withSpaceBefore(context, span), ` ${sign}= 1`)]);
    }
    // `x--` is read as `x - -`, and what follows does not fit.
    const [first, second] = [context.at(-2), context.at(-1)];
    if (first.text === sign && second.text === sign && first.end === second.start) {
      const span = { start: first.start, end: second.end };
      if (context.wrong.isFirstOfLine || context.text(0) === "}") {
        return incrementAt(span, sign, [replacement(withSpaceBefore(context, span), ` ${sign}= 1`)]);
      }
    }
    const [next, name] = [context.at(1), context.at(2)];
    if (
      context.text(0) === sign && next.text === sign && next.start === context.wrong.end &&
      typeOf(name) === "name"
    ) {
      const span = { start: context.wrong.start, end: next.end };
      return incrementAt(span, sign, [
        replacement(span, ""),
        insertion(name.end, ` ${sign}= 1`),
      ]);
    }
  }
  return null;
};

function withSpaceBefore(context: ErrorContext, span: Span): Span {
  let start = span.start;
  while (context.file.text[start - 1] === " ") start--;
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
const chainedComparison: Recognizer = (context) => {
  if (!comparisons.has(context.text(0)) || context.expects("<") || !context.expects("and")) return null;
  let depth = 0;
  for (let index = context.index - 1; index >= context.from; index--) {
    const token = context.token(index);
    if (/^[)\]}]$/.test(token.text)) depth++;
    if (/^[([{]$/.test(token.text) && --depth < 0) return null;
    if (depth > 0 || !comparisons.has(token.text)) continue;
    const middle = context.source(context.token(index + 1).start, context.at(-1).end);
    return {
      code: "SY0013",
      span: context.wrong,
      message:
        `Comparisons cannot be chained: the left operand is already a comparison with \`${token.text}\`.`,
      labels: [{ span: token.span, message: "the first comparison" }],
      fixes: [{
        title: `compare \`${middle}\` twice`,
        applicability: "safe",
        edits: [insertion(context.at(-1).end, ` and ${middle}`)],
      }],
    };
  }
  return null;
};

/** `if x = 1`, `f(x = 1)`, `a + b = c`. */
const assignmentAsValue: Recognizer = (context) => {
  if (context.text(0) !== "=" || !context.isAfterExpression) return null;
  const compare: ProposedFix = {
    title: "compare with `==`",
    applicability: "maybe",
    edits: [replacement(context.wrong, "==")],
  };
  const before = context.text(-2);
  if (typeOf(context.at(-1)) === "name" && (before === "(" || before === ",")) {
    const colon = replacement({ start: context.at(-1).end, end: context.wrong.end }, ":");
    return {
      code: "SY0014",
      span: context.wrong,
      message: "A named argument is written with `:`, and an assignment is not a value.",
      expected: "`:`",
      actual: "`=`",
      fixes: [{ title: "name the argument with `:`", applicability: "maybe", edits: [colon] }, compare],
    };
  }
  const start = context.token(context.lineStart(context.index - 1));
  const isCondition = context.open.length > 0 && context.token(context.open.at(-1) ?? 0).text !== "{" ||
    linesHaveCondition(context);
  if (isCondition || /(^|[^=<>!])=($|[^=>])/.test(context.source(start.start, context.at(-1).end))) {
    return {
      code: "SY0015",
      span: context.wrong,
      message: "An assignment is not an expression.",
      expected: "`==`",
      actual: "`=`",
      fixes: [compare],
    };
  }
  return {
    code: "SY0016",
    span: { start: start.start, end: context.at(-1).end },
    message: "Only a variable, or a field or element of one, can be assigned to.",
    fixes: [compare],
    isCertain: true,
  };
};

/** Whether `if` or `while` stands before the wrong token and its block does not. */
function linesHaveCondition(context: ErrorContext): boolean {
  for (let index = context.index - 1; index >= context.from; index--) {
    const text = context.token(index).text;
    if (text === "if" || text === "while") return true;
    if (text === "{" || text === "}" || text === "let" || text === "var") return false;
  }
  return false;
}

/** `a ? b : c`. */
const conditionalOperator: Recognizer = (context) => {
  const first = context.lineStart(Math.min(context.index, context.to - 1));
  let question = -1;
  for (let index = context.index - 1; index >= first; index--) {
    if (context.token(index).text === "?") {
      question = index;
      break;
    }
  }
  if (question < 0) return null;
  const colon = atDepth(context, question + 1, 1, (text) => text === ":");
  if (colon === null || colon < context.index) return null;
  const start = atDepth(
    context,
    question - 1,
    -1,
    (text) => /^(=|\(|\[|,|return|=>|[+\-*/%]=)$/.test(text),
  ) ?? first - 1;
  const end = endOfExpression(context, colon + 1);
  if (colon <= question + 1 || end <= colon + 1) return null;
  const between = (from: number, to: number) =>
    context.source(context.token(from).start, context.token(to - 1).end);
  const [condition, then, otherwise] = [
    between(start + 1, question),
    between(question + 1, colon),
    between(colon + 1, end),
  ];
  return {
    code: "SY0017",
    span: context.token(question),
    message: "There is no `? :`; `if` is an expression.",
    fixes: [{
      title: "write it with `if`",
      applicability: "safe",
      edits: [
        replacement(
          { start: context.token(start + 1).start, end: context.token(end - 1).end },
          `if ${condition} { ${then} } else { ${otherwise} }`,
        ),
      ],
    }],
  };
};

/** The first token on the same line and in the same brackets for which the test holds, in one direction. */
function atDepth(
  context: ErrorContext,
  from: number,
  step: 1 | -1,
  test: (text: string) => boolean,
): number | null {
  let depth = 0;
  const [inward, outward] = step === 1 ? [/^[([{]$/, /^[)\]}]$/] : [/^[)\]}]$/, /^[([{]$/];
  for (let index = from; index >= context.from && index < context.to; index += step) {
    const token = context.token(index);
    if (step === 1 && token.isFirstOfLine && index > from) return null;
    if (depth === 0 && test(token.text)) return index;
    if (inward.test(token.text)) depth++;
    if (outward.test(token.text) && --depth < 0) return null;
    if (step === -1 && token.isFirstOfLine) return null;
  }
  return null;
}

/** Index behind the expression that begins at a token: the end of its line, or what its brackets end with. */
export function endOfExpression(context: ErrorContext, from: number): number {
  let depth = 0;
  let index = from;
  for (; index < context.to; index++) {
    const token = context.token(index);
    if (depth === 0 && index > from && token.isFirstOfLine) break;
    if (depth === 0 && token.text === ",") break;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
  }
  return index;
}

/** `a::b`. */
const doubleColon: Recognizer = (context) => {
  const isSecond = joins(context, ":", ":");
  if (
    !isSecond &&
    !(context.text(0) === ":" && context.text(1) === ":" && context.at(1).start === context.wrong.end)
  ) {
    return null;
  }
  const span = isSecond ? joined(context) : { start: context.wrong.start, end: context.at(1).end };
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
const foreignClosure: Recognizer = (context) => {
  const other = closureBetweenBars(context) ?? lambda(context);
  if (other !== null) return other;
  if (isClosureArrow(context, context.index - 2)) {
    // What stands behind `->` was taken for a type.
    const start = closureStart(context, context.index - 3);
    const end = endOfExpression(context, context.index - 1);
    const parameters = context.source(context.token(start + 1).end, context.at(-3).start);
    return closureProposal(context, { start, parameters, body: context.index - 1, end });
  }
  if (context.text(0) !== "=>" && context.text(0) !== "->") return null;
  if (context.text(0) === "=>" && context.expects("=>")) return null;
  let start = context.index - 1;
  let parameters = context.text(-1);
  if (context.text(-1) === ")") {
    for (let depth = 0; start >= context.from; start--) {
      const text = context.token(start).text;
      if (text === ")") depth++;
      if (text === "(" && --depth === 0) break;
    }
    if (start < context.from) return null;
    parameters = context.source(context.token(start).end, context.at(-1).start);
    if (context.token(start - 1).text === "fn") start--;
    else if (context.token(start - 2).text === "fn" || context.token(start - 1).text === "]") return null;
  } else if (typeOf(context.at(-1)) !== "name") return null;
  const end = endOfExpression(context, context.index + 1);
  if (end <= context.index + 1) return null;
  return closureProposal(context, { start, parameters, body: context.index + 1, end });
};

/** Index of the `fn` of the function value whose parameters end with a `)`, or -1. */
function closureStart(context: ErrorContext, close: number): number {
  if (close < context.from || context.token(close).text !== ")") return -1;
  for (let index = close, depth = 0; index >= context.from; index--) {
    const text = context.token(index).text;
    if (text === ")") depth++;
    if (text === "(" && --depth === 0) return context.token(index - 1).text === "fn" ? index - 1 : -1;
  }
  return -1;
}

/** Whether a token is the arrow behind the parameters of a function value. */
export function isClosureArrow(context: ErrorContext, index: number): boolean {
  return index > context.from && context.token(index).text === "->" &&
    closureStart(context, index - 1) > context.from;
}

/** `lambda x, y: x + y`. */
function lambda(context: ErrorContext): ReturnType<Recognizer> {
  if (context.text(-1) !== "lambda" || typeOf(context.wrong) !== "name") return null;
  let colon = context.index;
  while (colon < context.to && /^(name|,)$/.test(typeOf(context.token(colon)))) colon++;
  const end = endOfExpression(context, colon + 1);
  if (context.token(colon).text !== ":" || end <= colon + 1) return null;
  const parameters = context.source(context.wrong.start, context.token(colon - 1).end);
  return closureProposal(context, { start: context.index - 1, parameters, body: colon + 1, end });
}

function closureBetweenBars(context: ErrorContext): ReturnType<Recognizer> {
  if (context.text(0) !== "|" || !context.expectsExpression) return null;
  let close = context.index + 1;
  while (close < context.to && /^(name|,|:|type_name)$/.test(typeOf(context.token(close)))) close++;
  if (context.token(close).text !== "|") return null;
  const end = endOfExpression(context, close + 1);
  if (end <= close + 1) return null;
  const parameters = context.source(context.wrong.end, context.token(close).start);
  return closureProposal(context, { start: context.index, parameters, body: close + 1, end });
}

function closureProposal(
  context: ErrorContext,
  { start, parameters, body, end }: {
    readonly start: number;
    readonly parameters: string;
    readonly body: number;
    readonly end: number;
  },
): ReturnType<Recognizer> {
  const span = { start: context.token(start).start, end: context.token(end - 1).end };
  const text = context.source(context.token(body).start, span.end);
  const block = text.startsWith("{") ? text : `{ ${text} }`;
  return {
    code: "SY0019",
    span: { start: span.start, end: context.token(body - 1).end },
    message: "A function value is written `fn(x) { … }`.",
    actual: quoted(context.wrong),
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
