/**
 * Tuples, lists, records and updates of records.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { ERROR_TYPE, isError, isNever, resolve, UNIT } from "../types/primitives.ts";
import type { Type, TypeDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { placeholderFor } from "./placeholder.ts";
import type { Body } from "./body.ts";
import { resolveAlias } from "./declare.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { check, infer } from "./infer.ts";
import { reportUnknownVariant, resolveStatic } from "./statics.ts";
import type { TypeEntry } from "./symbols.ts";

/** `(a, b)`. */
export function inferTuple(body: Body, expression: ast.TupleLiteral, expected: Type | null): Expression {
  const { span } = expression;
  if (expression.elements.length === 0) return { kind: "tuple", span, type: UNIT, elements: [] };
  const want = expected === null ? null : resolve(expected);
  const hints = want?.kind === "tuple" ? want.elements : [];
  const elements = expression.elements.map((element, index) => infer(body, element, hints[index] ?? null));
  return body.node({
    kind: "tuple",
    span,
    type: { kind: "tuple", elements: elements.map((element) => element.type) },
    elements,
  });
}

/** `[a, b]`. */
export function inferList(body: Body, expression: ast.ListLiteral, expected: Type | null): Expression {
  const { span } = expression;
  const definition = body.graph.coreDefinition("List");
  if (definition === null) return body.broken(span);
  const want = expected === null ? null : resolve(expected);
  let element: Type | null = want?.kind === "named" && want.definition === definition
    ? want.arguments[0] ?? ERROR_TYPE
    : null;
  const isHinted = element !== null;
  const first = expression.elements[0];
  const elements = expression.elements.map((each) => {
    if (element === null) {
      const typed = infer(body, each, null);
      if (!isNever(typed.type)) element = typed.type;
      return typed;
    }
    const isFirst = each === first;
    const before = body.reporter.diagnostics.length;
    const typed = check(
      body,
      each,
      element,
      isFirst || isHinted || first === undefined ? null : { kind: "element", span: first.span },
    );
    // A whole list of another type is one error.
    const reported = body.reporter.diagnostics.slice(before);
    if (isHinted && reported.some((each) => each.severity === "error")) element = ERROR_TYPE;
    return typed;
  });
  element ??= body.session.freshAt(span, "the elements of this list");
  return body.node({
    kind: "list",
    span,
    type: { kind: "named", definition, arguments: [element] },
    elements,
  });
}

/** The fields of a record as those of a variant. */
function inParentheses(reporter: Body["reporter"], { fields }: ast.RecordLiteral): string {
  const texts = fields.map(({ name, value }) => `${name.text}: ${reporter.text(value.span)}`);
  return texts.length === 0 ? "" : `(${texts.join(", ")})`;
}

/** The record that a literal names; null after a report. */
function recordDefinition(body: Body, expression: ast.RecordLiteral): TypeDefinition | Type | null {
  const { reporter } = body;
  const named = expression.type;
  if (named.kind !== "name" && named.kind !== "field") return null;
  const name = named.kind === "name" ? { text: named.name, span: named.span } : named.name;
  let entry: TypeEntry | null = null;
  if (named.kind === "name") {
    // A record may have the name of a variant: braces mean the record.
    const own = body.graph.typesNamed(body.scope, name.text);
    const candidate = own[0];
    if (own.length === 1 && candidate !== undefined) {
      if (candidate.through !== null) candidate.through.isUsed = true;
      entry = candidate.item;
    }
  }
  if (entry === null) {
    const found = resolveStatic(body, named);
    if (found === null) {
      reportUnknownVariant(body, name);
      return null;
    }
    if (found.kind === "broken") return null;
    if (found.kind === "variants") {
      const variant = found.variants[0];
      reporter.report(
        "TY0020",
        named.span,
        `\`${name.text}\` is a variant; its fields are written in parentheses.`,
        {
          hint: variant === undefined || variant.fields.length === 0
            ? undefined
            : `Write \`${name.text}(${
              variant.fields.map((field) => `${field.name ?? "…"}${field.name === null ? "" : ": …"}`).join(
                ", ",
              )
            })\`.`,
          fixes: expression.base === null
            ? [
              reporter.fix(
                expression.fields.length === 0 ? "remove the braces" : "write it with parentheses",
                "maybe",
                expression.span,
                reporter.text(named.span) + inParentheses(reporter, expression),
              ),
            ]
            : [],
        },
      );
      return null;
    }
    if (found.kind !== "type") {
      reporter.report("TY0020", named.span, `\`${reporter.text(named.span)}\` is not a record type.`);
      return null;
    }
    entry = found.entry;
  }
  if (entry.kind === "broken") return null;
  if (entry.kind === "alias") {
    resolveAlias(body.graph, entry.scope, entry.alias);
    const { typeParameters } = entry.alias;
    const types = typeParameters.map((each) => body.session.freshAt(named.span, `\`${each.name}\``));
    const type = resolve(substitute(entry.alias.type, typeParameters, types));
    if (type.kind === "named" && type.definition.body.kind === "record") return type;
    if (isError(type)) return null;
  } else if (entry.kind === "definition" && entry.definition.body.kind === "record") return entry.definition;
  reporter.report("TY0020", named.span, `\`${name.text}\` is not a record, so it has no fields.`, {
    labels: entry.scope === body.scope ? [reporter.label(entry.span, "declared here")] : [],
  });
  return null;
}

/** `Ball { x: 1.0 }`, `Ball { ..base, x: 1.0 }`. */
export function inferRecord(body: Body, expression: ast.RecordLiteral, expected: Type | null): Expression {
  const { span } = expression;
  const found = recordDefinition(body, expression);
  if (found === null) {
    if (expression.base !== null) infer(body, expression.base, null);
    for (const field of expression.fields) infer(body, field.value, null);
    return body.broken(span);
  }
  const type = "kind" in found ? found : recordType(body, expression, found, expected);
  if (type.kind !== "named" || type.definition.body.kind !== "record") return body.broken(span);
  const { definition } = type;
  const { fields } = type.definition.body;
  body.session.symbols?.refer(expression.type.span, definition);
  const base = expression.base === null ? null : check(body, expression.base, type, null);
  const values = new Map<number, Expression>();
  const order: number[] = [];
  const spans = new Map<number, ast.Name>();
  for (const written of expression.fields) {
    const index = fields.findIndex((field) => field.name === written.name.text);
    const field = fields[index];
    if (field === undefined) {
      infer(body, written.value, null);
      reportUnknownRecordField(body, definition, written.name, spans);
      continue;
    }
    const fieldType = substitute(field.type, definition.typeParameters, type.arguments);
    const typed = check(body, written.value, fieldType, {
      kind: "field",
      name: written.name.text,
      file: definition.file,
      span: fieldSpan(body, definition, written.name.text) ?? written.name.span,
    });
    const other = spans.get(index);
    if (other !== undefined) {
      body.reporter.report(
        "TY0008",
        written.name.span,
        `The field \`${written.name.text}\` is given twice.`,
        {
          labels: [body.reporter.label(other.span, "the first is here")],
        },
      );
      continue;
    }
    spans.set(index, written.name);
    values.set(index, typed);
    order.push(index);
    body.session.symbols?.refer(written.name.span, { kind: "field", definition, index });
  }
  if (base !== null) {
    if (order.length === fields.length && fields.length > 0 && expression.base !== null) {
      const next = expression.fields[0];
      body.reporter.report(
        "LI0011",
        expression.base.span,
        "All fields are given, so this base record is not used.",
        {
          fixes: next === undefined ? [] : [
            body.reporter.fix(
              "remove it",
              "maybe",
              { start: baseStart(body, expression.base), end: next.name.span.start },
              "",
            ),
          ],
        },
      );
    }
    return body.node({
      kind: "update",
      span,
      type,
      base,
      fields: order.flatMap((index) => {
        const value = values.get(index);
        return value === undefined ? [] : [{ index, value }];
      }),
    });
  }
  const missing = fields.filter((_, index) => !values.has(index)).flatMap((field) => field.name ?? []);
  if (missing.length > 0) reportMissingFields(body, expression, definition, missing);
  return body.node({
    kind: "record",
    span,
    type,
    fields: fields.map((_, index) => values.get(index) ?? body.broken(span)),
    order,
  });
}

function baseStart(body: Body, base: ast.Expression): number {
  return body.reporter.file.text.lastIndexOf("..", base.span.start);
}

function recordType(
  body: Body,
  expression: ast.RecordLiteral,
  definition: TypeDefinition,
  expected: Type | null,
): Type {
  const type: Type = {
    kind: "named",
    definition,
    arguments: definition.typeParameters.map((parameter) =>
      body.session.freshAt(expression.type.span, `\`${parameter.name}\` of \`${definition.name}\``)
    ),
  };
  if (expected !== null && definition.typeParameters.length > 0) body.unifier.attempt(type, expected);
  return type;
}

function fieldSpan(body: Body, definition: TypeDefinition, name: string): ast.Name["span"] | null {
  if (definition.file !== body.scope.file) return null;
  for (const declaration of body.scope.module.declarations) {
    if (declaration.kind !== "type" || declaration.name.text !== definition.name) continue;
    if (declaration.body.kind !== "record") continue;
    return declaration.body.fields.find((field) => field.name.text === name)?.span ?? null;
  }
  return null;
}

function reportUnknownRecordField(
  body: Body,
  definition: TypeDefinition,
  name: ast.Name,
  given: ReadonlyMap<number, ast.Name>,
): void {
  const { reporter } = body;
  const fields = definition.body.kind === "record" ? definition.body.fields : [];
  const left = fields.filter((_, index) => !given.has(index)).flatMap((field) => field.name ?? []);
  const names = nearest(name.text, left);
  reporter.report("NM0004", name.span, `\`${definition.name}\` has no field \`${name.text}\`.`, {
    hint: names.length === 0 && left.length > 0 && left.length <= 8
      ? `Its fields are ${left.map((field) => `\`${field}\``).join(", ")}.`
      : undefined,
    fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
  });
}

function reportMissingFields(
  body: Body,
  expression: ast.RecordLiteral,
  definition: TypeDefinition,
  missing: readonly string[],
): void {
  const { reporter } = body;
  // A misspelt field is told once: its right name is not missing as well.
  const fields = definition.body.kind === "record" ? definition.body.fields : [];
  const hasUnknown = expression.fields.some((written) =>
    !fields.some((field) => field.name === written.name.text)
  );
  if (hasUnknown) return;
  const last = expression.fields.at(-1);
  const texts = missing.map((name) => {
    const field = fields.find((each) => each.name === name);
    return `${name}: ${placeholderFor(field?.type ?? ERROR_TYPE)}`;
  });
  const list = missing.map((name) => `\`${name}\``).join(", ");
  const closing = expression.span.end - 1;
  reporter.report(
    "TY0007",
    expression.type.span,
    `\`${definition.name}\` needs a value for ${list}.`,
    {
      fixes: [
        last === undefined
          ? reporter.insert("add the missing fields", "placeholder", closing, ` ${texts.join(", ")} `)
          : reporter.insert(
            "add the missing fields",
            "placeholder",
            last.value.span.end,
            `, ${texts.join(", ")}`,
          ),
      ],
    },
  );
}
