/**
 * Arguments of calls: by position, then by name; values held to the parameters' types, places borrowed by `inout`
 * parameters.
 *
 * Function values are checked last, when the other arguments have told the types of their parameters. The order of
 * evaluation stays as written: where names change the order, the values are taken before the call.
 */
import type * as ast from "../syntax/ast.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Argument, Expression, Place, Statement } from "../typed/tree.ts";
import type { Body } from "./body.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { type Borrow, checkExclusive } from "./exclusivity.ts";
import { check, infer } from "./infer.ts";
import type { SignatureParameter } from "./symbols.ts";
import { borrowPlace } from "./places.ts";

/** What is called, for messages. */
export interface CalledThing {
  /** `Ball.move`, or "this function value". */
  readonly name: string;
  /** "function" or "variant". */
  readonly noun: string;
  readonly file: SourceFile;
  /** Spans of the parameters in that file, where they have some. */
  readonly parameterSpan: (index: number) => Span | null;
}

/** Typed arguments in the order of the parameters, and what must be evaluated before the call. */
export interface CheckedArguments {
  readonly arguments: readonly Argument[];
  /** In the order in which they were written, as positions of parameters. */
  readonly order: readonly number[];
  readonly isComplete: boolean;
}

/** A receiver that is already typed and stands for the first parameter. */
export interface Receiver {
  readonly argument: Argument;
  readonly span: Span;
}

const NO_WRITES: Borrow["writes"] = [];

/** Checks the arguments against the parameters; what is wrong in number or names is reported. */
export function checkArguments(
  body: Body,
  written: readonly ast.Argument[],
  parameters: readonly SignatureParameter[],
  called: CalledThing,
  callSpan: Span,
  receiver: Receiver | null = null,
): CheckedArguments {
  const offset = receiver === null ? 0 : 1;
  const targets = matchParameters(body, written, parameters, called, callSpan, offset);
  const typed: (Argument | null)[] = parameters.map(() => null);
  const borrows: Borrow[] = [];
  if (receiver !== null) {
    typed[0] = receiver.argument;
    borrows.push({
      place: receiver.argument.kind === "inout" ? receiver.argument.place : null,
      span: receiver.span,
      writes: NO_WRITES,
    });
  }
  const hasClosures = written.some((argument) => argument.value.kind === "closure");
  for (const isSecondPass of hasClosures ? [false, true] : [false]) {
    for (const [index, argument] of written.entries()) {
      if ((argument.value.kind === "closure") !== isSecondPass) continue;
      const target = targets.positions[index] ?? -1;
      const parameter = parameters[target];
      const mark = body.writes.length;
      if (parameter === undefined) {
        infer(body, argument.value, null);
        continue;
      }
      const span = called.parameterSpan(target);
      const result = checkArgument(body, argument, parameter, {
        name: parameter.name ?? `${target + 1}`,
        callee: called.name,
        file: called.file,
        span: span ?? argument.span,
      });
      typed[target] = result;
      const place: Place | null = result.kind === "inout" ? result.place : null;
      borrows.push({
        place,
        span: argument.span,
        writes: body.writes.length === mark
          ? NO_WRITES
          : body.writes.slice(mark).filter((each) => each.place !== place),
      });
    }
  }
  if (borrows.some(({ place }) => place !== null)) checkExclusive(body, borrows);
  const order = targets.positions.filter((target) => target >= 0);
  return {
    arguments: typed.flatMap((argument) => argument ?? []),
    order: offset === 0 ? order : [0, ...order],
    isComplete: targets.isComplete && typed.every((argument) => argument !== null),
  };
}

interface ArgumentReason {
  readonly name: string;
  readonly callee: string;
  readonly file: SourceFile;
  readonly span: Span;
}

function checkArgument(
  body: Body,
  argument: ast.Argument,
  parameter: SignatureParameter,
  reason: ArgumentReason,
): Argument {
  const { reporter } = body;
  if (parameter.isInout) {
    if (!argument.isInout) {
      const { start } = argument.value.span;
      reporter.report(
        "MV0004",
        argument.value.span,
        `\`${reason.callee}\` changes \`${reason.name}\`, so the argument must be marked with \`&\`.`,
        { fixes: [reporter.insert("add `&`", "safe", start, "&")] },
      );
    }
    const place = borrowPlace(body, argument.value, parameter.type, { kind: "argument", ...reason });
    if (place === null) return { kind: "value", value: body.broken(argument.span) };
    return { kind: "inout", place };
  }
  if (argument.isInout) {
    reporter.report(
      "MV0005",
      argument.span,
      `\`${reason.callee}\` does not take \`${reason.name}\` as \`inout\`, so the argument has no \`&\`.`,
      {
        labels: reason.file === body.scope.file && reason.span !== argument.span
          ? [reporter.label(reason.span, "this parameter is not `inout`")]
          : [],
        fixes: [
          reporter.fix("remove the `&`", "safe", {
            start: argument.value.span.start - ampersandDistance(body, argument),
            end: argument.value.span.start,
          }, ""),
        ],
      },
    );
  }
  return {
    kind: "value",
    value: check(body, argument.value, parameter.type, { kind: "argument", ...reason }),
  };
}

function ampersandDistance(body: Body, argument: ast.Argument): number {
  const text = body.reporter.file.text.slice(argument.span.start, argument.value.span.start);
  const at = text.lastIndexOf("&");
  return at < 0 ? 0 : text.length - at;
}

/** The parameter's position for each argument as written; -1 for one too many. */
function matchParameters(
  body: Body,
  written: readonly ast.Argument[],
  parameters: readonly SignatureParameter[],
  called: CalledThing,
  callSpan: Span,
  offset: number,
): { readonly positions: readonly number[]; readonly isComplete: boolean } {
  const { reporter } = body;
  const taken = new Map<number, ast.Argument>();
  let isComplete = true;
  let hasNamed = false;
  let next = offset;
  const surplus: ast.Argument[] = [];
  const positions = written.map((argument): number => {
    const { name } = argument;
    if (name === null) {
      if (hasNamed) {
        reporter.report(
          "TY0006",
          argument.span,
          "A positional argument cannot follow a named argument.",
          {
            hint: "Write the positional arguments first.",
          },
        );
        isComplete = false;
      }
      const position = next++;
      if (position >= parameters.length) {
        surplus.push(argument);
        return -1;
      }
      taken.set(position, argument);
      return position;
    }
    hasNamed = true;
    const position = parameters.findIndex((parameter) => parameter.name === name.text);
    if (position < offset) {
      isComplete = false;
      reportUnknownParameter(body, name, parameters.slice(offset), called);
      return -1;
    }
    const other = taken.get(position);
    if (other !== undefined) {
      isComplete = false;
      reporter.report("TY0006", argument.span, `\`${name.text}\` of \`${called.name}\` is given twice.`, {
        labels: [reporter.label(other.span, "the first is here")],
      });
      return -1;
    }
    taken.set(position, argument);
    return position;
  });
  if (!isComplete) return { positions, isComplete };
  const missing = parameters.map((parameter, index) => ({ parameter, index }))
    .filter(({ index }) => index >= offset && !taken.has(index));
  if (surplus.length > 0 || missing.length > 0) {
    isComplete = false;
    reportCount(body, written, surplus, missing.map(({ parameter }) => parameter), called, callSpan, {
      wanted: parameters.length - offset,
    });
  }
  return { positions, isComplete };
}

function reportUnknownParameter(
  body: Body,
  name: ast.Name,
  parameters: readonly SignatureParameter[],
  called: CalledThing,
): void {
  const { reporter } = body;
  const names = parameters.flatMap((parameter) => parameter.name ?? []);
  const similar = nearest(name.text, names);
  reporter.report("NM0020", name.span, `\`${called.name}\` has no parameter \`${name.text}\`.`, {
    hint: names.length > 0
      ? `It has ${names.map((each) => `\`${each}\``).join(", ")}.`
      : "It has no named parameters.",
    fixes: similar.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
}

function reportCount(
  body: Body,
  written: readonly ast.Argument[],
  surplus: readonly ast.Argument[],
  missing: readonly SignatureParameter[],
  called: CalledThing,
  callSpan: Span,
  count: { readonly wanted: number },
): void {
  const { reporter } = body;
  const plural = (n: number) => (n === 1 ? "one argument" : n === 0 ? "no arguments" : `${n} arguments`);
  const names = missing.flatMap((parameter) => parameter.name === null ? [] : [`\`${parameter.name}\``]);
  const first = surplus[0];
  const last = surplus.at(-1);
  if (first !== undefined && last !== undefined) {
    const before = written[written.indexOf(first) - 1];
    const start = before?.span.end ?? first.span.start;
    reporter.report(
      "TY0005",
      { start: first.span.start, end: last.span.end },
      `\`${called.name}\` takes ${plural(count.wanted)}, but ${written.length} ${
        written.length === 1 ? "was" : "were"
      } given.`,
      { fixes: [reporter.fix("remove the extra arguments", "maybe", { start, end: last.span.end }, "")] },
    );
    return;
  }
  reporter.report(
    "TY0005",
    callSpan,
    `\`${called.name}\` takes ${plural(count.wanted)}, ${written.length} given${
      names.length === 0 ? "" : `: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing`
    }.`,
    {},
  );
}

/** Whether evaluating it earlier or later makes no difference. */
function isInert(expression: Expression): boolean {
  switch (expression.kind) {
    case "integer":
    case "float":
    case "boolean":
    case "character":
    case "string":
    case "constant":
    case "function":
      return true;
    case "closure":
      return expression.captures.length === 0;
    default:
      return false;
  }
}

/**
 * The call with its values taken in the order in which they were written. Most calls have that order already; for the
 * others a block takes the values first.
 */
export function inWrittenOrder(
  body: Body,
  checked: CheckedArguments,
  make: (values: readonly Argument[]) => Expression,
): Expression {
  const isInOrder = checked.order.every((position, index) =>
    index === 0 || (checked.order[index - 1] ?? 0) <= position
  );
  if (isInOrder || !checked.isComplete) return make(checked.arguments);
  const statements: Statement[] = [];
  const values = [...checked.arguments];
  for (const position of checked.order) {
    const argument = values[position];
    if (argument === undefined || argument.kind === "inout" || isInert(argument.value)) continue;
    const { value } = argument;
    const local = body.makeVariable(
      { text: `argument${position}`, span: value.span },
      value.type,
      "let",
      "compiler",
    );
    const pattern = body.session.keep({
      kind: "binding" as const,
      span: value.span,
      type: value.type,
      local,
    });
    statements.push({ kind: "let", span: value.span, pattern, value });
    values[position] = {
      kind: "value",
      value: body.node({ kind: "local", span: value.span, type: value.type, local }),
    };
  }
  const call = make(values);
  if (statements.length === 0) return call;
  return body.node({ kind: "block", span: call.span, type: call.type, statements, result: call });
}
