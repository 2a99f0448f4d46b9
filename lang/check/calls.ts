/**
 * Calls: of functions and methods, of variants, of function values, and of what the compiler knows itself (`panic`,
 * `expect`).
 *
 * The receiver of a method is worked out first; its type says which module the method is in.
 */
import type * as ast from "../syntax/ast.ts";
import type { Argument, Callee, Expression } from "../typed/tree.ts";
import { BOOL, ERROR_TYPE, isError, isNever, NEVER, resolve, STRING, UNIT } from "../types/primitives.ts";
import type { InterfaceDefinition, Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import { type CalledThing, checkArguments, inWrittenOrder, type Receiver } from "./arguments.ts";
import type { Body } from "./body.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { instantiate, instantiateVariant } from "./instances.ts";
import { callMethod } from "./method_calls.ts";
import { ensureResult, inferStatic } from "./names.ts";
import { chooseVariant } from "./variant_choice.ts";
import { isCapital, reportUnknownName, resolveStatic } from "./statics.ts";
import type { FunctionSymbol, SignatureParameter } from "./symbols.ts";

/** `f(a, b)`. */
export function inferCall(body: Body, expression: ast.Call, expected: Type | null): Expression {
  const { callee } = expression;
  if (callee.kind === "name" && !isCapital(callee.name) && body.variable(callee.name) === null) {
    const known = inferKnown(body, expression, callee.name);
    if (known !== null) return known;
  }
  if (callee.kind === "name" || callee.kind === "field") {
    const found = resolveStatic(body, callee);
    if (found !== null) {
      switch (found.kind) {
        case "value":
          if (found.symbol.kind === "function") {
            return callFunction(body, expression, found.symbol, callee, expected);
          }
          break;
        case "variants":
          return callVariant(body, expression, found.variants, callee, expected);
        case "interface":
          return callInterface(body, expression, found.interface, found.name, found.self, null);
        case "broken":
          return brokenCall(body, expression);
        case "type":
          if (found.entry.kind !== "broken") return callType(body, expression, callee);
          return brokenCall(body, expression);
        default:
          break;
      }
      return callValue(body, expression, inferStatic(body, callee, found, null));
    }
    if (callee.kind === "field") return callMethod(body, expression, callee, expected);
    if (body.variable(callee.name) === null) {
      reportUnknownName(body, { text: callee.name, span: callee.span });
      return brokenCall(body, expression);
    }
  }
  return callValue(body, expression, infer(body, callee, null));
}

/** A call whose arguments are looked at for errors of their own. */
export function brokenCall(body: Body, expression: ast.Call): Expression {
  for (const { value } of expression.arguments) {
    // Nothing tells what a function value would be given: that is no second error.
    const { type } = infer(body, value, value.kind === "closure" ? ERROR_TYPE : null);
    body.session.forgive(type);
  }
  return body.broken(expression.span);
}

/** `Ball(x: 1.0)`: a record is written with braces. */
function callType(body: Body, expression: ast.Call, callee: ast.Expression): Expression {
  const text = body.reporter.text(callee.span);
  const isNamed = expression.arguments.every((argument) => argument.name !== null);
  const inside = expression.arguments.map((argument) =>
    argument.name === null
      ? body.reporter.text(argument.value.span)
      : `${argument.name.text}: ${body.reporter.text(argument.value.span)}`
  );
  body.reporter.report("TY0009", callee.span, `\`${text}\` is a type, which cannot be called.`, {
    hint: `A record is written \`${text} { … }\`.`,
    fixes: isNamed && inside.length > 0
      ? [
        body.reporter.fix(
          "write it with braces",
          "maybe",
          expression.span,
          `${text} { ${inside.join(", ")} }`,
        ),
      ]
      : [],
  });
  return brokenCall(body, expression);
}

/** `panic`, `expect` and `expect_snapshot`; null when the name is something else. */
function inferKnown(body: Body, expression: ast.Call, name: string): Expression | null {
  if (name !== "panic" && name !== "expect" && name !== "expect_snapshot") return null;
  const own = body.graph.valueNamed(body.scope, name);
  if (own !== null && own.scope.name !== "std.prelude") return null;
  const { span } = expression;
  const wanted = name === "expect_snapshot" ? 2 : 1;
  const [first, second] = expression.arguments;
  if (first === undefined || expression.arguments.length !== wanted) {
    body.reporter.report(
      "TY0005",
      span,
      `\`${name}\` takes ${
        wanted === 1 ? "one argument" : "two arguments"
      }, ${expression.arguments.length} given.`,
    );
    return brokenCall(body, expression);
  }
  if (name === "panic") {
    return { kind: "panic", span, type: NEVER, message: check(body, first.value, STRING, { kind: "text" }) };
  }
  if (name === "expect") {
    const condition = check(body, first.value, BOOL, { kind: "condition", what: "What `expect` takes" });
    return { kind: "expect", span, type: UNIT, condition, source: body.reporter.text(first.value.span) };
  }
  const value = infer(body, first.value, null);
  const show = body.graph.coreInterface("Show");
  if (show !== null) {
    body.session.require({
      type: value.type,
      interface: show,
      span: first.value.span,
      asker: "A snapshot",
      body,
    });
  }
  const text = second?.value;
  const isPlain = text?.kind === "string" && text.parts.every((part) => typeof part === "string");
  if (text === undefined || !isPlain) {
    body.reporter.report(
      "TY0035",
      text?.span ?? span,
      "The snapshot must be a string literal without interpolation.",
      {
        hint: "`lang test --update` writes the string.",
      },
    );
    return body.broken(span);
  }
  return {
    kind: "snapshot",
    span,
    type: UNIT,
    value,
    expected: text.parts.join(""),
    expectedSpan: text.span,
  };
}

/** What messages say of a function. */
function calledFunction(symbol: FunctionSymbol): CalledThing {
  return {
    name: symbol.displayName,
    noun: "function",
    file: symbol.file,
    parameterSpan: (index) => symbol.parameters[index]?.span ?? null,
  };
}

/** With what is wanted of the result, types of arguments are known better. */
function hintResult(body: Body, result: Type, expected: Type | null): void {
  if (expected === null || expected === DISCARDED) return;
  const want = resolve(expected);
  if (want.kind === "variable" || isNever(result) || isError(want)) return;
  // A bare `T` would take the type that is wanted even where a conversion is missing, and blame the argument.
  if (resolve(result).kind === "variable") return;
  body.unifier.attempt(result, want);
}

/** A call of a function; of a method with its receiver. */
export function callFunction(
  body: Body,
  expression: ast.Call,
  symbol: FunctionSymbol,
  callee: ast.Expression,
  expected: Type | null,
  receiver: Receiver | null = null,
  receiverType: Type | null = null,
): Expression {
  const nameSpan = callee.kind === "field" ? callee.name.span : callee.span;
  body.uses(symbol, nameSpan);
  const instance = instantiate(body, symbol, callee.span);
  if (receiverType !== null) {
    const first = instance.parameters[0];
    if (first !== undefined && !body.unifier.unify(first.type, receiverType)) {
      body.reporter.report(
        "TY0034",
        nameSpan,
        `\`${symbol.displayName}\` is for \`${
          typeText(symbol.parameters[0]?.type ?? ERROR_TYPE)
        }\`, not for \`${typeText(receiverType)}\`.`,
      );
    }
  }
  hintResult(body, instance.result, expected);
  const before = body.reporter.diagnostics.length;
  const checked = checkArguments(
    body,
    expression.arguments,
    instance.parameters,
    calledFunction(symbol),
    expression.span,
    receiver,
  );
  ensureResult(body, symbol);
  // What an inferred function gives follows from its arguments: with wrong ones nothing is known.
  const isBroken = !symbol.areParametersKnown && body.reporter.diagnostics.length > before;
  return inWrittenOrder(body, checked, (values) =>
    body.node({
      kind: "call",
      span: expression.span,
      type: isBroken ? ERROR_TYPE : instance.result,
      callee: { kind: "function", function: symbol, typeArguments: instance.typeArguments },
      arguments: values,
    }));
}

function callVariant(
  body: Body,
  expression: ast.Call,
  variants: readonly VariantDefinition[],
  callee: ast.Expression,
  expected: Type | null,
): Expression {
  const variant = chooseVariant(body, variants, expected, callee.span);
  if (variant === null) return brokenCall(body, expression);
  body.session.symbols?.refer(callee.span, variant);
  const instance = instantiateVariant(body, variant);
  if (expected !== null && expected !== DISCARDED) body.unifier.attempt(instance.type, expected);
  if (variant.fields.length === 0) {
    body.reporter.report("TY0005", expression.span, `The variant \`${variant.name}\` has no fields.`, {
      fixes: [
        body.reporter.fix("remove the parentheses", "maybe", {
          start: callee.span.end,
          end: expression.span.end,
        }, ""),
      ],
    });
  }
  const parameters: SignatureParameter[] = instance.fields.map((field) => ({ ...field, isInout: false }));
  const checked = checkArguments(
    body,
    expression.arguments,
    variant.fields.length === 0 ? [] : parameters,
    { name: variant.name, noun: "variant", file: variant.definition.file, parameterSpan: () => null },
    expression.span,
  );
  return body.node({
    kind: "variant",
    span: expression.span,
    type: instance.type,
    variant,
    fields: checked.arguments.flatMap((argument) => argument.kind === "value" ? [argument.value] : []),
    order: checked.order,
  });
}

/** A call of a function that a type has because of an interface. */
export function callInterface(
  body: Body,
  expression: ast.Call,
  wanted: InterfaceDefinition,
  name: string,
  self: Type,
  receiver: Receiver | null,
): Expression {
  const each = wanted.functions.find((other) => other.name === name);
  if (each === undefined) return brokenCall(body, expression);
  const put = (type: Type) => substitute(type, [wanted.self], [self]);
  const { callee } = expression;
  const nameSpan = callee.kind === "field" ? callee.name.span : callee.span;
  body.session.symbols?.refer(nameSpan, { kind: "interface-function", interface: wanted, name });
  for (const effect of each.effects) {
    if (!body.sources.direct.has(effect)) {
      body.sources.direct.set(effect, { span: callee.span, through: `${wanted.name}.${name}` });
    }
  }
  const checked = checkArguments(
    body,
    expression.arguments,
    each.parameters.map((parameter) => ({ ...parameter, type: put(parameter.type) })),
    { name, noun: "function", file: wanted.file, parameterSpan: () => null },
    expression.span,
    receiver,
  );
  const target = body.session.keep<
    { kind: "interface"; interface: InterfaceDefinition; name: string; type: Type }
  >({
    kind: "interface",
    interface: wanted,
    name,
    type: self,
  });
  const interfaceCallee: Callee = {
    kind: "interface",
    interface: wanted,
    name,
    get self() {
      return target.type;
    },
  };
  return inWrittenOrder(body, checked, (values) =>
    body.node({
      kind: "call",
      span: expression.span,
      type: put(each.result),
      callee: interfaceCallee,
      arguments: values,
    }));
}

/** A call of a function value. */
export function callValue(body: Body, expression: ast.Call, callee: Expression): Expression {
  const type = resolve(callee.type);
  if (isError(type)) return brokenCall(body, expression);
  if (type.kind === "variable" && type.literal === null) return callUnknown(body, expression, callee);
  if (type.kind !== "function") {
    body.reporter.report(
      "TY0009",
      expression.callee.span,
      `A value of type \`${typeText(type)}\` cannot be called.`,
      {
        fixes: expression.arguments.length === 0
          ? [
            body.reporter.fix("remove the parentheses", "maybe", {
              start: expression.callee.span.end,
              end: expression.span.end,
            }, ""),
          ]
          : [],
      },
    );
    return brokenCall(body, expression);
  }
  const isName = expression.callee.kind === "name" || expression.callee.kind === "field";
  const checked = checkArguments(
    body,
    expression.arguments,
    type.parameters.map((parameter) => ({ name: null, ...parameter })),
    {
      name: isName ? body.reporter.text(expression.callee.span) : "this function value",
      noun: "function",
      file: body.scope.file,
      parameterSpan: () => null,
    },
    expression.span,
  );
  return body.node({
    kind: "call",
    span: expression.span,
    type: type.result,
    callee: { kind: "value", expression: callee },
    arguments: checked.arguments,
  });
}

/** A call of a value whose type is not known: it becomes a function of what it is given. */
function callUnknown(body: Body, expression: ast.Call, callee: Expression): Expression {
  const values = expression.arguments.map((argument) => infer(body, argument.value, null));
  const result = body.unifier.fresh();
  body.unifier.unify(callee.type, {
    kind: "function",
    parameters: values.map((value) => ({ isInout: false, type: value.type })),
    result,
  });
  return body.node({
    kind: "call",
    span: expression.span,
    type: result,
    callee: { kind: "value", expression: callee },
    arguments: values.map((value): Argument => ({ kind: "value", value })),
  });
}
