/**
 * Names and fields as expressions: variables, functions as values, constants, variants without fields, fields of
 * records and tuples.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { ERROR_TYPE, isError, resolve } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import { chooseVariant } from "./variant_choice.ts";
import type { Body } from "./body.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { infer } from "./infer.ts";
import { instantiate, instantiateVariant } from "./instances.ts";
import { reportUnknownName, resolveStatic, type Static } from "./statics.ts";
import type { FunctionSymbol, ValueSymbol } from "./symbols.ts";
import { constructorFunction, functionSymbolType } from "./function_values.ts";

/** A bare name. */
export function inferName(body: Body, expression: ast.NameExpression, expected: Type | null): Expression {
  const variable = body.variable(expression.name);
  if (variable !== null) {
    body.read(variable);
    body.session.symbols?.refer(expression.span, variable);
    return body.node({ kind: "local", span: expression.span, type: variable.type, local: variable });
  }
  const found = resolveStatic(body, expression);
  if (found === null) {
    reportUnknownName(body, { text: expression.name, span: expression.span });
    return body.broken(expression.span);
  }
  return inferStatic(body, expression, found, expected);
}

/** The value of a name of a module, such as a function or a constant. */
export function inferStatic(
  body: Body,
  expression: ast.NameExpression | ast.FieldAccess,
  found: Static,
  expected: Type | null,
): Expression {
  const { span } = expression;
  const { reporter } = body;
  switch (found.kind) {
    case "broken":
      return body.broken(span);
    case "module":
      reporter.report("NM0014", span, `\`${found.import.alias}\` is a module, not a value.`, {
        hint: `Use a declaration of the module: \`${found.import.alias}.…\`.`,
      });
      return body.broken(span);
    case "parameter":
      reporter.report("NM0013", span, `\`${found.parameter.name}\` is a type, not a value.`);
      return body.broken(span);
    case "type": {
      const { entry } = found;
      if (entry.kind === "broken") return body.broken(span);
      const isRecord = entry.kind === "definition" && entry.definition.body.kind === "record";
      reporter.report("NM0013", span, `\`${reporter.text(span)}\` is a type, not a value.`, {
        hint: isRecord ? `A value of it is written \`${reporter.text(span)} { … }\`.` : undefined,
      });
      return body.broken(span);
    }
    case "variants":
      return inferVariantName(body, expression, found.variants, expected);
    case "value":
      return inferSymbol(body, expression, found.symbol);
    case "interface": {
      const each = found.interface.functions.find((other) => other.name === found.name);
      if (each === undefined) return body.broken(span);
      const put = (type: Type) => substitute(type, [found.interface.self], [found.self]);
      const nameSpan = expression.kind === "field" ? expression.name.span : span;
      body.session.symbols?.refer(nameSpan, {
        kind: "interface-function",
        interface: found.interface,
        name: found.name,
      });
      return body.node({
        kind: "function",
        span,
        type: {
          kind: "function",
          parameters: each.parameters.map((parameter) => ({
            isInout: parameter.isInout,
            type: put(parameter.type),
          })),
          result: put(each.result),
        },
        callee: { kind: "interface", interface: found.interface, name: found.name, self: found.self },
      });
    }
  }
}

function inferSymbol(body: Body, expression: ast.Expression, symbol: ValueSymbol): Expression {
  const { span } = expression;
  body.refer(symbol, span);
  if (symbol.kind === "constant") {
    if (!symbol.isTypeKnown) symbol.checkValue?.();
    return body.node({ kind: "constant", span, type: symbol.type, constant: symbol });
  }
  return functionValue(body, expression, symbol);
}

function functionValue(body: Body, expression: ast.Expression, symbol: FunctionSymbol): Expression {
  const { span } = expression;
  ensureResult(body, symbol);
  const instance = instantiate(body, symbol, span);
  return body.node({
    kind: "function",
    span,
    type: functionSymbolType(instance),
    callee: { kind: "function", function: symbol, typeArguments: instance.typeArguments },
  });
}

/** Checks the body of a function whose result is inferred, when that has not been done. */
export function ensureResult(body: Body, symbol: FunctionSymbol): void {
  if (symbol.isResultKnown || symbol.bodyState !== "unchecked") return;
  body.session.inferBody(symbol);
}

function inferVariantName(
  body: Body,
  expression: ast.NameExpression | ast.FieldAccess,
  variants: readonly VariantDefinition[],
  expected: Type | null,
): Expression {
  const { span } = expression;
  const variant = chooseVariant(body, variants, expected, span);
  if (variant === null) return body.broken(span);
  body.session.symbols?.refer(span, variant);
  const instance = instantiateVariant(body, variant);
  if (variant.fields.length > 0) return constructorFunction(body, variant, instance, span);
  return body.node({ kind: "variant", span, type: instance.type, variant, fields: [], order: [] });
}

/** `a.b`: a name of a module or type, or a field. */
export function inferField(body: Body, expression: ast.FieldAccess, expected: Type | null): Expression {
  const found = resolveStatic(body, expression);
  if (found !== null) return inferStatic(body, expression, found, expected);
  const target = infer(body, expression.target, null);
  return fieldOf(body, expression, target);
}

/** A field of a record or part of a tuple. */
export function fieldOf(body: Body, expression: ast.FieldAccess, target: Expression): Expression {
  const { name, span } = expression;
  const { reporter } = body;
  const type = resolve(target.type);
  if (isError(type)) return body.broken(span);
  if (type.kind === "tuple" && /^\d+$/.test(name.text)) {
    const index = Number(name.text);
    const element = type.elements[index];
    if (element !== undefined) return body.node({ kind: "field", span, type: element, target, index });
    reporter.report(
      "TY0028",
      name.span,
      type.elements.length === 0
        ? "`()` has no elements."
        : `\`${typeText(type)}\` has ${type.elements.length} parts, counted from 0: the last is \`.${
          type.elements.length - 1
        }\`.`,
    );
    return body.broken(span);
  }
  if (type.kind === "named" && type.definition.body.kind === "record") {
    const { definition } = type;
    const { fields } = type.definition.body;
    const index = fields.findIndex((field) => field.name === name.text);
    const field = fields[index];
    if (field !== undefined) {
      body.session.symbols?.refer(name.span, { kind: "field", definition, index });
      const fieldType = substitute(field.type, definition.typeParameters, type.arguments);
      return body.node({ kind: "field", span, type: fieldType, target, index });
    }
  }
  reportUnknownField(body, expression, type);
  return { ...body.broken(span), type: ERROR_TYPE };
}

function reportUnknownField(body: Body, expression: ast.FieldAccess, type: Type): void {
  const { name } = expression;
  const { reporter, graph } = body;
  if (type.kind === "variable" && type.literal === null) {
    reporter.report(
      "TY0012",
      expression.target.span,
      `Cannot access the field \`${name.text}\`, because the type of this value is not known yet.`,
      {
        hint: "Add a type annotation to the declaration, as in `fn(ball: Ball) { … }`.",
      },
    );
    return;
  }
  const text = typeText(type);
  const method = graph.membersOf(type)?.get(name.text);
  if (method?.kind === "function") {
    reporter.report("NM0004", name.span, `\`${name.text}\` of \`${text}\` is a method and must be called.`, {
      fixes: [reporter.insert("call it", "safe", name.span.end, "()")],
    });
    return;
  }
  const fields = type.kind === "named" && type.definition.body.kind === "record"
    ? type.definition.body.fields.flatMap((field) => field.name ?? [])
    : [];
  const names = nearest(name.text, fields);
  reporter.report("NM0004", name.span, `\`${text}\` has no field \`${name.text}\`.`, {
    hint: type.kind === "named" && type.definition.body.kind === "union"
      ? "Use `match` to access the fields of a variant."
      : fields.length > 0 && fields.length <= 8 && names.length === 0
      ? `Its fields are ${fields.map((field) => `\`${field}\``).join(", ")}.`
      : undefined,
    fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
}
