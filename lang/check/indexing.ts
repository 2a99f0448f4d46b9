/**
 * `a[i]`: elements of lists, values of maps and pools by their keys.
 *
 * A type other than a list is read by its method `at`, written by `set`, or changed inside at the index that `slot`
 * gives in one of its lists.
 */
import type * as ast from "../syntax/ast.ts";
import type { Span } from "../source/source_file.ts";
import type { Argument, Expression, Place } from "../typed/tree.ts";
import { ERROR_TYPE, INT, isError, resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { check, infer } from "./infer.ts";
import { instantiate } from "./instances.ts";
import { FunctionSymbol } from "./symbols.ts";

/** An element that is read. */
export function inferIndex(body: Body, expression: ast.Index): Expression {
  const target = infer(body, expression.target, null);
  return elementOf(body, expression, target);
}

function method(body: Body, type: Type, name: string): FunctionSymbol | null {
  const member = body.graph.membersOf(type)?.get(name);
  return member instanceof FunctionSymbol && member.isMethod ? member : null;
}

function elementOf(body: Body, expression: ast.Index, target: Expression): Expression {
  const { span } = expression;
  const type = resolve(target.type);
  if (isError(type)) {
    infer(body, expression.index, null);
    return body.broken(span);
  }
  if (type.kind === "named" && body.graph.isCore(type, "List")) {
    if (expression.index.kind === "range") {
      body.reporter.report(
        "TY0021",
        expression.index.span,
        "A list cannot be indexed by a range.",
        {
          hint: "Use `list.slice(start, end)` for a part of a list.",
        },
      );
      return body.broken(span);
    }
    const index = check(body, expression.index, INT, { kind: "index", what: "The index of a list" });
    return body.node({ kind: "element", span, type: type.arguments[0] ?? ERROR_TYPE, target, index });
  }
  const at = method(body, type, "at");
  if (at === null || at.parameters.length !== 2 || at.parameters[1]?.kind === "inout") {
    infer(body, expression.index, null);
    reportNotIndexed(body, expression, type);
    return body.broken(span);
  }
  const instance = instantiate(body, at, span);
  body.uses(at, span);
  body.unifier.unify(instance.parameters[0]?.type ?? ERROR_TYPE, type);
  const key = check(body, expression.index, instance.parameters[1]?.type ?? ERROR_TYPE, {
    kind: "index",
    what: type.kind === "named" && body.graph.isCore(type, "Pool")
      ? "The id of a pool's value"
      : "The key of a map",
  });
  const call: Expression = body.node({
    kind: "call",
    span,
    type: instance.result,
    callee: { kind: "function", function: at, typeArguments: instance.typeArguments },
    arguments: [{ kind: "value", value: target }, { kind: "value", value: key }],
  });
  body.indexed.set(call, { container: target, key });
  return call;
}

function reportNotIndexed(body: Body, expression: ast.Index, type: Type): void {
  const { reporter } = body;
  if (type.kind === "variable" && type.literal === null) {
    reporter.report(
      "TY0012",
      expression.target.span,
      "Cannot index this value, because its type is not known yet.",
      {
        hint: "Add a type annotation to the declaration.",
      },
    );
    return;
  }
  const text = typeText(type);
  const literal = expression.index.kind === "integer" ? expression.index.value : null;
  reporter.report("TY0021", expression.span, `\`${text}\` cannot be indexed.`, {
    hint: type.kind === "primitive" && type.name === "String"
      ? "The characters of a string have different lengths; `text.chars()` returns the list of them."
      : type.kind === "tuple"
      ? "The elements of a tuple are `.0`, `.1` and so on."
      : type.kind === "named" && body.graph.isCore(type, "Set")
      ? "Use `set.contains(value)` to test whether a value is in a set."
      : undefined,
    fixes:
      type.kind === "tuple" && literal !== null && literal >= 0n && literal < BigInt(type.elements.length)
        ? [
          reporter.fix(`write \`.${literal}\``, "safe", {
            start: expression.target.span.end,
            end: expression.span.end,
          }, `.${literal}`),
        ]
        : [],
  });
}

/**
 * The list inside a map or pool that holds its values, and the field of its elements that is the value, if they are
 * records.
 */
function storage(type: Type): { readonly list: number; readonly value: number | null } | null {
  if (type.kind !== "named" || type.definition.body.kind !== "record") return null;
  const { fields } = type.definition.body;
  const entries = fields.findIndex((field) => field.name === "entries");
  if (entries >= 0) {
    const list = resolve(fields[entries]?.type ?? ERROR_TYPE);
    const element = list.kind === "named" ? resolve(list.arguments[0] ?? ERROR_TYPE) : list;
    if (element.kind !== "named" || element.definition.body.kind !== "record") return null;
    const value = element.definition.body.fields.findIndex((field) => field.name === "value");
    return value < 0 ? null : { list: entries, value };
  }
  const values = fields.findIndex((field) => field.name === "values");
  return values < 0 ? null : { list: values, value: null };
}

/** The place of a map's or pool's value: an element of its list, at the index that `slot` finds. */
export function slotPlace(
  body: Body,
  expression: ast.Index,
  container: Place,
  key: Expression,
): Place | null {
  const { span } = expression;
  const type = resolve(container.type);
  const slot = method(body, type, "slot");
  const where = storage(type);
  if (slot === null || where === null || type.kind !== "named" || type.definition.body.kind !== "record") {
    return null;
  }
  const instance = instantiate(body, slot, span);
  body.uses(slot, span);
  body.unifier.unify(instance.parameters[0]?.type ?? ERROR_TYPE, type);
  body.unifier.unify(instance.parameters[1]?.type ?? ERROR_TYPE, key.type);
  const isInout = slot.parameters[0]?.kind === "inout";
  const first: Argument = isInout
    ? { kind: "inout", place: container }
    : { kind: "value", value: readOf(body, container) };
  const index: Expression = {
    kind: "call",
    span,
    type: INT,
    callee: { kind: "function", function: slot, typeArguments: instance.typeArguments },
    arguments: [first, { kind: "value", value: key }],
  };
  const listType = fieldType(type, where.list);
  const list: Place = body.place({
    kind: "field",
    span,
    type: listType,
    target: container,
    index: where.list,
  });
  const resolved = resolve(listType);
  const elementType = resolved.kind === "named" ? resolved.arguments[0] ?? ERROR_TYPE : ERROR_TYPE;
  const element: Place = body.place({ kind: "element", span, type: elementType, target: list, index });
  if (where.value === null) return element;
  return body.place({
    kind: "field",
    span,
    type: fieldType(resolve(elementType), where.value),
    target: element,
    index: where.value,
  });
}

function fieldType(type: Type, index: number): Type {
  if (type.kind !== "named" || type.definition.body.kind !== "record") return ERROR_TYPE;
  const field = type.definition.body.fields[index];
  return field === undefined
    ? ERROR_TYPE
    : substitute(field.type, type.definition.typeParameters, type.arguments);
}

/** Reads a place. */
function readOf(body: Body, place: Place): Expression {
  const { span, type } = place;
  switch (place.kind) {
    case "local":
      return body.node({ kind: "local", span, type, local: place.local });
    case "field":
      return body.node({ kind: "field", span, type, target: readOf(body, place.target), index: place.index });
    case "element":
      return body.node({
        kind: "element",
        span,
        type,
        target: readOf(body, place.target),
        index: place.index,
      });
  }
}

/** The call that stores a value under a key, for types that have `set`; null for those that have not. */
export function storeCall(
  body: Body,
  container: Place,
  key: Expression,
  makeValue: (type: Type) => Expression,
  span: Span,
): Expression | null {
  const type = resolve(container.type);
  const set = method(body, type, "set");
  if (set === null || set.parameters.length !== 3 || set.parameters[0]?.kind !== "inout") return null;
  const instance = instantiate(body, set, span);
  body.uses(set, span);
  body.unifier.unify(instance.parameters[0]?.type ?? ERROR_TYPE, type);
  body.unifier.unify(instance.parameters[1]?.type ?? ERROR_TYPE, key.type);
  const value = makeValue(instance.parameters[2]?.type ?? ERROR_TYPE);
  return body.node({
    kind: "call",
    span,
    type: instance.result,
    callee: { kind: "function", function: set, typeArguments: instance.typeArguments },
    arguments: [{ kind: "inout", place: container }, { kind: "value", value: key }, { kind: "value", value }],
  });
}
