/**
 * Calls of methods: the receiver is worked out first, and its type says where the method is.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { ERROR_TYPE, isError, isUnit, resolve } from "../types/primitives.ts";
import type { InterfaceDefinition, Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import type { Receiver } from "./arguments.ts";
import type { Body } from "./body.ts";
import { brokenCall, callFunction, callInterface, callValue } from "./calls.ts";
import { misfit } from "./conformance.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { infer } from "./infer.ts";
import { fieldOf } from "./names.ts";
import { placeOf, reportUnwritable } from "./places.ts";
import { reportPrivate } from "./statics.ts";
import { ConstantSymbol, type FunctionSymbol } from "./symbols.ts";

/** `target.name(…)` where the target is a value. */
export function callMethod(
  body: Body,
  expression: ast.Call,
  callee: ast.FieldAccess,
  expected: Type | null,
): Expression {
  const target = infer(body, callee.target, null);
  const { name } = callee;
  const type = settle(body, target.type);
  if (isError(type)) return brokenCall(body, expression);
  const member = body.graph.membersOf(type)?.get(name.text);
  if (member !== undefined && member.kind === "function" && member.isMethod) {
    if (!member.isPublic && member.scope !== body.scope) {
      reportPrivate(body, name, member.scope, member.nameSpan);
    }
    const receiver = receiverOf(
      body,
      callee,
      target,
      member.parameters[0]?.kind === "inout",
      member.displayName,
    );
    const call = callFunction(body, expression, member, callee, expected, receiver, type);
    // Of a change that is lost, the result was meant to be what has changed.
    const isLost = receiver.argument.kind === "value" && member.parameters[0]?.kind === "inout";
    return isLost && isUnit(call.type) ? { ...call, type: ERROR_TYPE } : call;
  }
  if (type.kind === "named" && type.definition.body.kind === "record") {
    if (type.definition.body.fields.some((field) => field.name === name.text)) {
      return callValue(body, expression, fieldOf(body, callee, target));
    }
  }
  const bound = boundWith(body, type, name.text);
  if (bound !== null) {
    const isInout = bound.functions.find((each) => each.name === name.text)?.parameters[0]?.isInout ?? false;
    const receiver = receiverOf(body, callee, target, isInout, name.text);
    return callInterface(body, expression, bound, name.text, type, receiver);
  }
  reportUnknownMethod(body, callee, type, member instanceof ConstantSymbol ? null : member ?? null);
  return brokenCall(body, expression);
}

/** A literal becomes what it is by itself when a method is called on it. */
function settle(body: Body, type: Type): Type {
  const at = resolve(type);
  if (at.kind === "variable" && at.literal !== null) {
    const known = body.graph.coreType(at.literal === "integer" ? "Int" : "Float");
    if (known?.kind === "primitive") body.unifier.unify(at, known.type);
    return resolve(at);
  }
  return at;
}

function receiverOf(
  body: Body,
  callee: ast.FieldAccess,
  target: Expression,
  isInout: boolean,
  name: string,
): Receiver {
  const { span } = callee.target;
  if (!isInout) return { argument: { kind: "value", value: target }, span };
  const place = placeOf(body, callee.target, target);
  if (place === null) {
    reportUnwritable(body, callee.target, target, {
      kind: "receiver",
      method: name,
      instead: copyingMethod(body, target.type, callee.name.text),
    });
    return { argument: { kind: "value", value: target }, span };
  }
  body.writes.push({ place, span });
  return { argument: { kind: "inout", place }, span };
}

/** The method that gives a changed copy, by its name: `sorted_by` for `sort_by`. */
function copyingMethod(body: Body, type: Type, name: string): string | null {
  const members = body.graph.membersOf(type);
  const names = ["ed", "d"].map((ending) => name.replace(/^[a-z]+/, (verb) => verb + ending));
  return names.find((each) => members?.has(each) === true) ?? null;
}

/** The interface because of which a value of the type has a function: a bound, or one that is derived. */
function boundWith(body: Body, type: Type, name: string): InterfaceDefinition | null {
  const has = (each: InterfaceDefinition) =>
    each.functions.some((other) => other.name === name && other.parameters[0]?.name === "self");
  if (type.kind === "parameter") return type.parameter.bounds.find(has) ?? null;
  if (type.kind === "variable") return null;
  for (const derived of ["Eq", "Ord", "Hash", "Show"]) {
    const each = body.graph.coreInterface(derived);
    if (each !== null && has(each) && misfit(body.graph, type, each) === null) return each;
  }
  return null;
}

/** Names of methods in other languages, and what they are called here. */
const FOREIGN_METHODS: Readonly<Record<string, readonly string[]>> = {
  length: ["len"],
  size: ["len"],
  count: ["len"],
  append: ["push"],
  add: ["insert", "push"],
  put: ["set", "insert"],
  push_back: ["push"],
  add_all: ["append"],
  extend: ["append"],
  concat: ["append"],
  as_string: ["as_text"],
  as_str: ["as_text"],
  as_number: ["as_float"],
  as_array: ["as_list"],
  as_object: ["as_map"],
  substring: ["slice"],
  substr: ["slice"],
  to_str: ["show"],
  toFixed: ["to_fixed"],
  parseInt: ["parse_int"],
  parseFloat: ["parse_float"],
  unwrapOr: ["unwrap_or"],
  get_or_default: ["get_or"],
  keys_list: ["keys"],
  sort_by_value: ["sort_by_key"],
  toString: ["show"],
  to_string: ["show"],
  str: ["show"],
  has: ["contains", "contains_key"],
  includes: ["contains"],
  forEach: ["each"],
  reduce: ["fold"],
  indexOf: ["find", "index_of"],
  toUpperCase: ["to_upper"],
  toLowerCase: ["to_lower"],
  to_uppercase: ["to_upper"],
  to_lowercase: ["to_lower"],
  is_none_or: ["is_none"],
  expect: ["unwrap"],
  iter: [],
  clone: [],
};

function reportUnknownMethod(
  body: Body,
  callee: ast.FieldAccess,
  type: Type,
  member: FunctionSymbol | null,
): void {
  const { reporter, graph, scope } = body;
  const { name } = callee;
  if (type.kind === "variable") {
    reporter.report(
      "TY0012",
      callee.target.span,
      `Cannot call the method \`${name.text}\`, because the type of this value is not known yet.`,
      { hint: "Add a type annotation to the declaration, as in `fn(ball: Ball) { … }`." },
    );
    return;
  }
  const text = typeText(type);
  if (member !== null) {
    reporter.report(
      "NM0005",
      name.span,
      `\`${member.displayName}\` has no \`self\` parameter, so it cannot be called on a value.`,
      {
        labels: [{ file: member.file, span: member.nameSpan, message: "declared here" }],
        fixes: [reporter.fix(`write \`${member.displayName}\``, "maybe", callee.span, member.displayName)],
      },
    );
    return;
  }
  const members = [...(graph.membersOf(type)?.values() ?? [])]
    .filter((each) => each.kind === "function" && each.isMethod && (each.isPublic || each.scope === scope))
    .map((each) => each.name);
  const foreign = (FOREIGN_METHODS[name.text] ?? []).filter((each) => members.includes(each));
  const names = foreign.length > 0 ? foreign : nearest(name.text, members);
  const plain = graph.valueNamed(scope, name.text);
  const option = type.kind === "named" && graph.isCore(type, "Option")
    ? resolve(type.arguments[0] ?? ERROR_TYPE)
    : null;
  const isInside = option !== null && graph.membersOf(option)?.has(name.text) === true;
  reporter.report("NM0005", name.span, `\`${text}\` has no method \`${name.text}\`.`, {
    hint: name.text === "clone" || name.text === "iter"
      ? "Values are copied on assignment, and `for` iterates over them directly."
      : isInside
      ? "Unwrap the value first: with `match`, `?` or `unwrap_or`."
      : type.kind === "parameter"
      ? `A type parameter has only the methods of its bounds: \`[${text}: Show]\`.`
      : plain !== null && plain.kind === "function"
      ? `There is a function with this name: \`${name.text}(…)\`.`
      : undefined,
    fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
}
