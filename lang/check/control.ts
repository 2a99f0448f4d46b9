/**
 * Blocks, `if` and `match`: what they give, and whether they end at all.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression, MatchArm, Pattern, Statement } from "../typed/tree.ts";
import { BOOL, ERROR_TYPE, isNever, isUnit, NEVER, resolve, UNIT } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText, typeWithArticle } from "../types/type_text.ts";
import type { Body, Reason } from "./body.ts";
import { checkMatch, missingText } from "./exhaustiveness.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { reportMismatch } from "./mismatch.ts";
import { bindPattern } from "./patterns.ts";
import { checkStatement } from "./statements.ts";

/** `{ … }`. */
export function inferBlock(
  body: Body,
  expression: ast.Block,
  expected: Type | null,
  reason: Reason | null,
): Expression {
  const { span, statements } = expression;
  const mark = body.enter();
  const typed: Statement[] = [];
  let isOver = false;
  let isReported = false;
  let result: Expression | null = null;
  const last = statements.at(-1);
  for (const statement of statements) {
    if (isOver && !isReported) {
      isReported = true;
      noteUnreachable(body, statement, last ?? statement);
    }
    if (statement === last && statement.kind === "expression") {
      const { expression: tail } = statement;
      if (isOver) result = infer(body, tail, null);
      else if (expected === null) result = infer(body, tail, null, reason);
      else result = check(body, tail, expected, reason);
      break;
    }
    const made = checkStatement(body, statement);
    if (made === null) continue;
    typed.push(made.statement);
    if (made.isOver) isOver = true;
  }
  body.leave(mark);
  if (isOver) {
    if (result !== null) typed.push({ kind: "expression", span: result.span, expression: result });
    return { kind: "block", span, type: NEVER, statements: typed, result: null };
  }
  if (result === null) {
    if (expected !== null && expected !== DISCARDED && !isUnit(expected)) {
      if (!body.unifier.attempt(expected, UNIT)) reportMissingResult(body, expression, expected, reason);
      return { kind: "block", span, type: expected, statements: typed, result: null };
    }
    return { kind: "block", span, type: UNIT, statements: typed, result: null };
  }
  if (expected === DISCARDED && !isNever(result.type)) {
    typed.push({ kind: "expression", span: result.span, expression: result });
    return { kind: "block", span, type: UNIT, statements: typed, result: null };
  }
  return body.node({
    kind: "block",
    span,
    // A mismatch has been reported inside.
    type: expected === null || isNever(result.type) ? result.type : expected,
    statements: typed,
    result,
  });
}

function noteUnreachable(body: Body, first: ast.Statement, last: ast.Statement): void {
  const span = { start: first.span.start, end: last.span.end };
  const { reporter } = body;
  reporter.report(
    "LI0004",
    first.span,
    "This code is unreachable, because the code before it never completes.",
    {
      fixes: [reporter.fix("remove it", "maybe", withLineStart(body, span), "")],
    },
  );
}

/** The span with the white space before it, back to the end of the line above. */
function withLineStart(body: Body, span: ast.Statement["span"]): ast.Statement["span"] {
  const { text } = body.reporter.file;
  let start = span.start;
  while (start > 0 && (text[start - 1] === " " || text[start - 1] === "\t")) start--;
  if (start > 0 && text[start - 1] === "\n") start--;
  else start = span.start;
  return { start, end: span.end };
}

function reportMissingResult(body: Body, expression: ast.Block, expected: Type, reason: Reason | null): void {
  const { reporter } = body;
  const text = typeText(expected);
  const brace = { start: expression.span.end - 1, end: expression.span.end };
  const last = expression.statements.at(-1);
  // A last statement that is broken may be meant to be the value.
  if (last !== undefined && reporter.hasErrorWithin(last.span)) return;
  reporter.report(
    "TY0026",
    last?.kind === "assign" || last?.kind === "var" || last?.kind === "let" ? last.span : brace,
    `This block has no value, but ${typeWithArticle(expected)} is expected.`,
    {
      labels: reason?.kind === "result" && reason.isWritten
        ? [reporter.label(reason.span, "because of this result type")]
        : reason?.kind === "annotation"
        ? [reporter.label(reason.span, "because of this type")]
        : [],
      hint: "The value of a block is its last expression.",
      expected: text,
      actual: "()",
      fixes: endFixes(body, last),
    },
  );
}

/** A block that ends by naming or changing a variable may be meant to give it. */
function endFixes(body: Body, last: ast.Statement | undefined) {
  if (last === undefined) return [];
  const name = last.kind === "var"
    ? last.name.text
    : last.kind === "let" && last.pattern.kind === "binding"
    ? last.pattern.name.text
    : last.kind === "assign" && last.place.kind === "name"
    ? last.place.name
    : null;
  if (name === null) return [];
  const { text } = body.reporter.file;
  const line = text.slice(text.lastIndexOf("\n", last.span.start) + 1, last.span.start);
  const indentation = /^[ \t]*/.exec(line)?.[0] ?? "";
  return [body.reporter.insert(`end with \`${name}\``, "maybe", last.span.end, `\n${indentation}${name}`)];
}

/** The common type of branches, told one by one. */
class Branches {
  readonly #body: Body;
  readonly #expected: Type | null;
  readonly #reason: Reason | null;
  readonly #what: "arm" | "branch";
  #type: Type | null = null;
  #first: ast.Expression | null = null;
  #isSilent = true;
  /** Whether some branches have values and others have none. */
  #isMixed = false;

  constructor(
    body: Body,
    options: {
      readonly expected: Type | null;
      readonly reason: Reason | null;
      readonly what: "arm" | "branch";
    },
  ) {
    this.#body = body;
    this.#expected = options.expected;
    this.#reason = options.reason;
    this.#what = options.what;
  }

  add(expression: ast.Expression): Expression {
    const body = this.#body;
    if (this.#expected !== null) {
      const typed = check(body, expression, this.#expected, this.#reason);
      if (!isNever(typed.type)) this.#isSilent = false;
      return typed;
    }
    if (this.#type === null || this.#first === null) {
      const typed = infer(body, expression, null, this.#reason?.kind === "tail" ? this.#reason : null);
      if (!isNever(typed.type)) {
        this.#isSilent = false;
        this.#type = typed.type;
        this.#first = tailOf(expression);
      }
      return typed;
    }
    const reason: Reason = { kind: "branch", span: this.#first.span, what: this.#what };
    if (this.#reason?.kind !== "tail") return check(body, expression, this.#type, reason);
    return this.#addToTail(expression, this.#type, reason);
  }

  /** At the end of a function that says nothing of a result, a branch without a value means that there is none. */
  #addToTail(expression: ast.Expression, type: Type, reason: Reason): Expression {
    const body = this.#body;
    const typed = infer(body, expression, null, this.#reason);
    if (isUnit(typed.type) !== isUnit(type)) this.#isMixed = true;
    else if (!isNever(typed.type) && !body.unifier.unify(type, typed.type)) {
      reportMismatch(body, tailOf(expression), type, typed.type, reason);
    }
    return typed;
  }

  /** The branch as it stands in the tree: without its value when nobody takes it. */
  seal(typed: Expression): Expression {
    const isThrownAway = this.#expected === DISCARDED || this.#isMixed;
    if (!isThrownAway || isUnit(typed.type) || isNever(typed.type)) return typed;
    const { span } = typed;
    return {
      kind: "block",
      span,
      type: UNIT,
      statements: [{ kind: "expression", span, expression: typed }],
      result: null,
    };
  }

  get type(): Type {
    if (this.#isSilent) return NEVER;
    if (this.#isMixed) return UNIT;
    if (this.#expected === DISCARDED) return UNIT;
    return this.#expected ?? this.#type ?? UNIT;
  }
}

/** The expression that gives a block its value. */
function tailOf(expression: ast.Expression): ast.Expression {
  if (expression.kind !== "block") return expression;
  const last = expression.statements.at(-1);
  return last?.kind === "expression" ? tailOf(last.expression) : expression;
}

/** `if c { … } else { … }`, `if let p = e { … }`. */
export function inferIf(
  body: Body,
  expression: ast.If,
  expected: Type | null,
  reason: Reason | null,
): Expression {
  const { span, otherwise } = expression;
  if (expression.pattern !== null) return inferIfLet(body, expression, expression.pattern, expected, reason);
  const condition = check(body, expression.condition, BOOL, {
    kind: "condition",
    what: "The condition of `if`",
  });
  if (otherwise === null) {
    const isMissing = reportMissingElse(body, expression, expected);
    const then = isMissing
      ? infer(body, expression.then, expected)
      : check(body, expression.then, DISCARDED, null);
    return { kind: "if", span, type: isMissing ? ERROR_TYPE : UNIT, condition, then, otherwise: null };
  }
  const branches = new Branches(body, { expected, reason, what: "branch" });
  const then = branches.add(expression.then);
  const other = branches.add(otherwise);
  return body.node({
    kind: "if",
    span,
    type: branches.type,
    condition,
    then: branches.seal(then),
    otherwise: branches.seal(other),
  });
}

function reportMissingElse(body: Body, expression: ast.If, expected: Type | null): boolean {
  if (expected === null || expected === DISCARDED || isUnit(expected)) return false;
  if (body.unifier.attempt(expected, UNIT)) return false;
  const { reporter } = body;
  const text = typeText(expected);
  reporter.report(
    "TY0016",
    { start: expression.span.start, end: expression.condition.span.end },
    `Without \`else\` this \`if\` gives nothing when its condition is false, but ${
      typeWithArticle(expected)
    } is needed.`,
    {
      fixes: [
        reporter.insert(
          "add an `else`",
          "placeholder",
          expression.span.end,
          ' else { panic("not written yet") }',
        ),
      ],
      expected: text,
      actual: "()",
    },
  );
  return true;
}

function inferIfLet(
  body: Body,
  expression: ast.If,
  written: ast.Pattern,
  expected: Type | null,
  reason: Reason | null,
): Expression {
  const { span, otherwise } = expression;
  const subject = infer(body, expression.condition, null);
  const isMissing = otherwise === null && reportMissingElse(body, expression, expected);
  const mark = body.enter();
  const pattern = bindPattern(body, written, subject.type, "pattern");
  const branches = new Branches(body, {
    expected: otherwise === null ? DISCARDED : expected,
    reason: otherwise === null ? null : reason,
    what: "branch",
  });
  const then = branches.add(expression.then);
  body.leave(mark);
  const other: Expression = otherwise === null
    ? { kind: "tuple", span: { start: span.end, end: span.end }, type: UNIT, elements: [] }
    : branches.add(otherwise);
  const rest: Pattern = body.session.keep({ kind: "wildcard", span: other.span, type: subject.type });
  body.session.finishers.push(() => noteAlways(body, written, pattern, subject.type, "if let"));
  return body.node({
    kind: "match",
    span,
    type: isMissing ? ERROR_TYPE : otherwise === null ? UNIT : branches.type,
    subject,
    arms: [
      { pattern, guard: null, body: branches.seal(then) },
      { pattern: rest, guard: null, body: branches.seal(other) },
    ],
  });
}

/** Warns of a pattern that fits every value where a choice is meant. */
export function noteAlways(
  body: Body,
  written: ast.Pattern,
  pattern: Pattern,
  type: Type,
  what: "if let" | "let-else",
): void {
  if (resolve(type) === ERROR_TYPE || checkMatch(body.graph, [pattern], type).missing.length > 0) return;
  body.reporter.report(
    what === "if let" ? "MX0009" : "MX0007",
    written.span,
    what === "if let"
      ? "This pattern fits every value, so the condition is always true."
      : "This pattern fits every value, so the `else` block never runs.",
    { hint: "Use a `let` without `else`." },
  );
}

/** `match e { … }`. */
export function inferMatch(
  body: Body,
  expression: ast.Match,
  expected: Type | null,
  reason: Reason | null,
): Expression {
  const { span } = expression;
  const subject = infer(body, expression.subject, null);
  const branches = new Branches(body, { expected, reason, what: "arm" });
  const arms: MatchArm[] = [];
  for (const arm of expression.arms) {
    const mark = body.enter();
    const pattern = bindPattern(body, arm.pattern, subject.type, "pattern");
    const guard = arm.guard === null
      ? null
      : check(body, arm.guard, BOOL, { kind: "condition", what: "The guard of an arm" });
    const typed = branches.add(arm.body);
    body.leave(mark);
    arms.push({ pattern, guard, body: typed });
  }
  body.session.finishers.push(() => reportMatch(body, expression, subject, arms));
  return body.node({
    kind: "match",
    span,
    type: isNever(subject.type) ? NEVER : branches.type,
    subject,
    arms: arms.map((arm) => ({ ...arm, body: branches.seal(arm.body) })),
  });
}

/** Reports cases that a match misses, and arms that are never reached. */
function reportMatch(
  body: Body,
  expression: ast.Match,
  subject: Expression,
  arms: readonly MatchArm[],
): void {
  const type = resolve(subject.type);
  if (type === ERROR_TYPE || isNever(type)) return;
  const { reporter } = body;
  const found = checkMatch(
    body.graph,
    arms.flatMap((arm) => arm.guard === null ? [arm.pattern] : []),
    type,
    arms.map((arm) => ({ pattern: arm.pattern, isGuarded: arm.guard !== null })),
  );
  for (const index of found.unreachable) {
    const arm = expression.arms[index];
    if (arm === undefined) continue;
    reporter.report(
      "MX0002",
      arm.pattern.span,
      "This arm is unreachable: the arms before it match all of its values.",
      {
        fixes: [
          reporter.fix("remove the arm", "maybe", withLineStart(body, armSpan(body, expression, index)), ""),
        ],
      },
    );
  }
  if (found.missing.length === 0) return;
  const list = found.missing.slice(0, 3).map(missingText).join(", ");
  const more = found.missing.length > 3 ? ` and ${found.missing.length - 3} more` : "";
  reporter.report(
    "MX0001",
    { start: expression.span.start, end: expression.subject.span.end },
    `This \`match\` on \`${typeText(type)}\` does not cover ${list}${more}.`,
    {
      labels: [reporter.label(expression.subject.span, typeWithArticle(type))],
      fixes: [
        ...(found.missing.includes("_")
          ? []
          : [addArms(body, expression, "add the missing cases", found.missing)]),
        addArms(body, expression, "add a `_` arm", ["_"]),
      ],
    },
  );
}

function armSpan(body: Body, expression: ast.Match, index: number): ast.Match["span"] {
  const arm = expression.arms[index];
  if (arm === undefined) return expression.span;
  const { text } = body.reporter.file;
  let end = arm.span.end;
  if (text[end] === ",") end++;
  return { start: arm.span.start, end };
}

function addArms(body: Body, expression: ast.Match, title: string, patterns: readonly string[]) {
  const { reporter } = body;
  const { text } = reporter.file;
  const closing = expression.span.end - 1;
  const lineStart = text.lastIndexOf("\n", closing) + 1;
  const isOnOwnLine = text.slice(lineStart, closing).trim() === "";
  const indentation = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", expression.span.start) + 1))?.[0] ??
    "";
  const lines = patterns.map((pattern) => `${pattern} => panic("not handled yet")`);
  if (isOnOwnLine) {
    return reporter.insert(
      title,
      "placeholder",
      lineStart,
      lines.map((line) => `${indentation}  ${line}\n`).join(""),
    );
  }
  return reporter.insert(
    title,
    "placeholder",
    closing,
    `\n${lines.map((line) => `${indentation}  ${line}\n`).join("")}${indentation}`,
  );
}
