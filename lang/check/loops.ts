/**
 * Loops: over conditions, numbers, lists, and whatever has an iterator.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression, Place, Statement } from "../typed/tree.ts";
import {
  BOOL,
  ERROR_TYPE,
  INT,
  isError,
  isInteger,
  isNever,
  NEVER,
  resolve,
  UNIT,
} from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { checkMatch, missingText } from "./exhaustiveness.ts";
import { checkHeld } from "./exclusivity.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { instantiate } from "./instances.ts";
import { reportMismatch } from "./mismatch.ts";
import { noteEmptyRange } from "./operators.ts";
import { bindPattern } from "./patterns.ts";
import { placeOf, reportUnwritable } from "./places.ts";
import { type CheckedStatement, expressionStatement } from "./checked_statement.ts";
import { FunctionSymbol } from "./symbols.ts";

function checkLoopBody(
  body: Body,
  block: ast.Block,
): { readonly typed: Expression; readonly hasBreak: boolean } {
  const loop = { hasBreak: false };
  body.loops.push(loop);
  const typed = check(body, block, DISCARDED, null);
  body.loops.pop();
  return { typed, hasBreak: loop.hasBreak };
}

/** `while c { … }`. */
export function checkWhile(body: Body, statement: ast.WhileStatement): CheckedStatement {
  const { span } = statement;
  const condition = check(body, statement.condition, BOOL, {
    kind: "condition",
    what: "The condition of `while`",
  });
  const { typed, hasBreak } = checkLoopBody(body, statement.body);
  const isEndless = condition.kind === "boolean" && condition.value && !hasBreak;
  return {
    statement: { kind: "while", span, condition, body: typed },
    isOver: isEndless || isNever(condition.type),
  };
}

/** `for pattern in e { … }`, `for inout x in list { … }`. */
export function checkFor(body: Body, statement: ast.ForStatement): CheckedStatement {
  const { subject } = statement;
  if (statement.isInout) return checkForInout(body, statement);
  if (subject.kind === "range") return checkForRange(body, statement, subject);
  const typed = infer(body, subject, null);
  const type = resolve(typed.type);
  if (type.kind === "named" && body.graph.isCore(type, "List")) {
    const mark = body.enter();
    const pattern = bindLoopPattern(body, statement, type.arguments[0] ?? ERROR_TYPE);
    const { typed: loop } = checkLoopBody(body, statement.body);
    body.leave(mark);
    return {
      statement: { kind: "for-list", span: statement.span, pattern, list: typed, body: loop },
      isOver: isNever(typed.type),
    };
  }
  if (type.kind === "named" && body.graph.isCore(type, "Range")) {
    return checkForRangeValue(body, statement, typed);
  }
  return checkForIterator(body, statement, typed);
}

function bindLoopPattern(body: Body, statement: ast.ForStatement, type: Type) {
  const pattern = bindPattern(body, statement.pattern, type, "loop");
  if (statement.pattern.kind !== "binding" && statement.pattern.kind !== "wildcard") {
    body.session.finishers.push(() => {
      if (isError(type)) return;
      const [missing] = checkMatch(body.graph, [pattern], type).missing;
      if (missing === undefined) return;
      body.reporter.report(
        "MX0004",
        statement.pattern.span,
        `The pattern of a loop must match every element, but this one does not cover ${
          missingText(missing)
        }.`,
        { hint: "Use a name here, and test it inside of the loop with `if let` or `match`." },
      );
    });
  }
  return pattern;
}

/** The variable of a loop over numbers, and the pattern when it is more than a name. */
function checkForRange(
  body: Body,
  statement: ast.ForStatement,
  range: ast.RangeExpression,
): CheckedStatement {
  const start = infer(body, range.start, null);
  const end = infer(body, range.end, start.type);
  const fits = body.unifier.attempt(start.type, end.type);
  const type = start.type;
  if (!fits || !isInteger(type) && !isError(type)) {
    const isStart = !isInteger(start.type);
    const wrong = isStart ? start : end;
    if (!isError(wrong.type) && !isUnknown(wrong.type)) {
      reportMismatch(body, isStart ? range.start : range.end, isStart ? INT : start.type, wrong.type, {
        kind: "index",
        what: isStart ? "The start of a range" : "The end of a range",
      });
    } else body.unifier.unify(type, INT);
  }
  noteEmptyRange(body, range, start, end);
  return rangeLoop(body, statement, {
    start,
    end,
    isInclusive: range.isInclusive,
    type: isUnknown(type) ? INT : type,
  });
}

function isUnknown(type: Type): boolean {
  const at = resolve(type);
  return at.kind === "variable" && at.literal === null && at !== ERROR_TYPE;
}

function checkForRangeValue(body: Body, statement: ast.ForStatement, range: Expression): CheckedStatement {
  const { span } = range;
  const local = body.makeVariable({ text: "range", span }, range.type, "let", "compiler");
  const read = (index: number): Expression => ({
    kind: "field",
    span,
    type: INT,
    target: { kind: "local", span, type: range.type, local },
    index,
  });
  const loop = rangeLoop(body, statement, { start: read(0), end: read(1), isInclusive: false, type: INT });
  return expressionStatement({
    kind: "block",
    span: statement.span,
    type: UNIT,
    statements: [
      { kind: "let", span, pattern: { kind: "binding", span, type: range.type, local }, value: range },
      loop.statement,
    ],
    result: null,
  }, false);
}

interface RangeParts {
  readonly start: Expression;
  readonly end: Expression;
  readonly isInclusive: boolean;
  readonly type: Type;
}

function rangeLoop(body: Body, statement: ast.ForStatement, range: RangeParts): CheckedStatement {
  const { pattern, span } = statement;
  const mark = body.enter();
  const name = pattern.kind === "binding" ? pattern.name : { text: "_", span: pattern.span };
  if (pattern.kind !== "binding" && pattern.kind !== "wildcard") {
    body.reporter.report(
      "MX0004",
      pattern.span,
      "A loop over a range needs a pattern that matches every number.",
      {
        hint: "Use a name here, and test it inside of the loop with `match`.",
      },
    );
  }
  const local = body.makeVariable(name, range.type, "let", "counter");
  body.declare(local);
  const { typed } = checkLoopBody(body, statement.body);
  body.leave(mark);
  return {
    statement: {
      kind: "for-range",
      span,
      local,
      start: range.start,
      end: range.end,
      isInclusive: range.isInclusive,
      body: typed,
    },
    isOver: false,
  };
}

function methodOf(body: Body, type: Type, name: string): FunctionSymbol | null {
  const member = body.graph.membersOf(type)?.get(name);
  return member instanceof FunctionSymbol && member.isMethod && member.parameters.length === 1
    ? member
    : null;
}

/** Over what has `next`, or `iterator` whose result has: a loop that asks until there is no more. */
function checkForIterator(body: Body, statement: ast.ForStatement, subject: Expression): CheckedStatement {
  const { span } = statement;
  const type = resolve(subject.type);
  let iterator = subject;
  let next = methodOf(body, type, "next");
  if (next === null) {
    const make = methodOf(body, type, "iterator");
    if (make !== null) {
      const instance = instantiate(body, make, subject.span);
      body.uses(make, subject.span);
      body.unifier.unify(instance.parameters[0]?.type ?? ERROR_TYPE, type);
      iterator = body.node({
        kind: "call",
        span: subject.span,
        type: instance.result,
        callee: { kind: "function", function: make, typeArguments: instance.typeArguments },
        arguments: [{ kind: "value", value: subject }],
      });
      next = methodOf(body, resolve(instance.result), "next");
    }
  }
  const item = next === null ? null : itemType(body, next, iterator.type, subject.span);
  if (next === null || item === null || next.parameters[0]?.kind !== "inout") {
    reportNotIterable(body, statement, type);
    const mark = body.enter();
    bindPattern(body, statement.pattern, ERROR_TYPE, "loop");
    checkLoopBody(body, statement.body);
    body.leave(mark);
    return expressionStatement(subject, false);
  }
  body.uses(next, subject.span);
  const option = body.graph.coreDefinition("Option");
  const variants = option?.body.kind === "union" ? option.body.variants : [];
  const some = variants.find((variant) => variant.name === "Some");
  const none = variants.find((variant) => variant.name === "None");
  const local = body.makeVariable({ text: "iterator", span: subject.span }, iterator.type, "var", "compiler");
  const mark = body.enter();
  const pattern = bindLoopPattern(body, statement, item.element);
  const { typed } = checkLoopBody(body, statement.body);
  body.leave(mark);
  if (some === undefined || none === undefined) return expressionStatement(subject, false);
  const call: Expression = body.node({
    kind: "call",
    span: subject.span,
    type: item.option,
    callee: { kind: "function", function: next, typeArguments: item.typeArguments },
    arguments: [{
      kind: "inout",
      place: body.session.keep({ kind: "local", span: subject.span, type: iterator.type, local }),
    }],
  });
  const optionPattern = body.session.keep({
    kind: "variant" as const,
    span: statement.pattern.span,
    type: item.option,
    variant: some,
    fields: [pattern],
  });
  const nonePattern = body.session.keep({
    kind: "variant" as const,
    span: subject.span,
    type: item.option,
    variant: none,
    fields: [],
  });
  const loop: Statement = {
    kind: "while",
    span,
    condition: { kind: "boolean", span: subject.span, type: BOOL, value: true },
    body: {
      kind: "match",
      span,
      type: UNIT,
      subject: call,
      arms: [
        { pattern: optionPattern, guard: null, body: typed },
        { pattern: nonePattern, guard: null, body: { kind: "break", span: subject.span, type: NEVER } },
      ],
    },
  };
  return expressionStatement({
    kind: "block",
    span,
    type: UNIT,
    statements: [{ kind: "var", span: subject.span, local, value: iterator }, loop],
    result: null,
  }, false);
}

interface ItemType {
  readonly option: Type;
  readonly element: Type;
  readonly typeArguments: Type[];
}

function itemType(
  body: Body,
  next: FunctionSymbol,
  iterator: Type,
  span: ast.Expression["span"],
): ItemType | null {
  const instance = instantiate(body, next, span);
  body.unifier.unify(instance.parameters[0]?.type ?? ERROR_TYPE, iterator);
  const option = resolve(instance.result);
  if (option.kind !== "named" || !body.graph.isCore(option, "Option")) return null;
  return { option, element: option.arguments[0] ?? ERROR_TYPE, typeArguments: instance.typeArguments };
}

function reportNotIterable(body: Body, statement: ast.ForStatement, type: Type): void {
  if (isError(type)) return;
  const { reporter } = body;
  const { span } = statement.subject;
  if (type.kind === "variable" && type.literal === null) {
    reporter.report("TY0012", span, "Cannot iterate over this value, because its type is not known yet.", {
      hint: "Add a type annotation to the declaration.",
    });
    return;
  }
  reporter.report("TY0022", span, `Cannot iterate over a value of type \`${typeText(type)}\`.`, {
    hint:
      "`for` iterates over ranges, lists, maps, sets, pools, strings, and types with a method `next(self: inout T) -> Option[X]`.",
    fixes: isInteger(type) ? [reporter.insert("iterate over a range", "maybe", span.start, "0..")] : [],
  });
}

/** The place that `for inout` goes over: of a pool the list of its values, of a list itself. */
function listOfPool(place: Place, type: Type): Place {
  if (type.kind !== "named" || type.definition.body.kind !== "record") return place;
  const { fields } = type.definition.body;
  const index = fields.findIndex((field) => field.name === "values");
  const list = fields[index]?.type;
  if (list?.kind !== "named") return place;
  return {
    kind: "field",
    span: place.span,
    type: { kind: "named", definition: list.definition, arguments: type.arguments },
    target: place,
    index,
  };
}

function checkForInout(body: Body, statement: ast.ForStatement): CheckedStatement {
  const { span, subject, pattern } = statement;
  const typed = infer(body, subject, null);
  const type = resolve(typed.type);
  const isList = type.kind === "named" &&
    (body.graph.isCore(type, "List") || body.graph.isCore(type, "Pool"));
  if (!isList && !isError(type)) {
    body.reporter.report(
      "TY0022",
      subject.span,
      `\`for inout\` needs a list, but this is \`${typeText(type)}\`.`,
      {
        hint: "Change the values of a map or pool by key: `for (key, _) in map { map[key].x += 1 }`.",
      },
    );
  }
  const owner = isList ? placeOf(body, subject, typed) : null;
  const place = owner === null ? null : listOfPool(owner, type);
  if (isList && place === null) reportUnwritable(body, subject, typed, { kind: "loop" });
  if (place !== null) body.writes.push({ place, span: subject.span });
  const element = type.kind === "named" && isList ? type.arguments[0] ?? ERROR_TYPE : ERROR_TYPE;
  if (pattern.kind !== "binding") {
    body.reporter.report("MX0004", pattern.span, "`for inout` needs a name for the element, not a pattern.", {
      hint: "Change its fields through the name: `ball.x += 1.0`.",
    });
  }
  const name = pattern.kind === "binding" ? pattern.name : { text: "_", span: pattern.span };
  const mark = body.enter();
  const local = body.makeInout(name, element);
  body.declare(local);
  const { typed: loop } = checkLoopBody(body, statement.body);
  body.leave(mark);
  if (place === null) return expressionStatement(typed, false);
  body.session.finishers.push(() => checkHeld(body, place, subject.span, loop));
  return { statement: { kind: "for-inout", span, local, list: place, body: loop }, isOver: false };
}
