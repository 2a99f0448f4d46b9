/**
 * Patterns of variants and records: which one is meant, and whether its fields are all there.
 */
import type * as ast from "../syntax/ast.ts";
import type { Pattern } from "../typed/tree.ts";
import { ERROR_TYPE, isError, resolve } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { chooseVariant } from "./variant_choice.ts";
import { bind, bindField, type Binding, bindName, expect, keep, wildcard } from "./patterns.ts";
import { reportUnknownVariant, resolveStatic } from "./statics.ts";

function pathExpression(path: readonly ast.Name[]): ast.NameExpression | ast.FieldAccess {
  let expression: ast.NameExpression | ast.FieldAccess | null = null;
  for (const name of path) {
    expression = expression === null ? { kind: "name", name: name.text, span: name.span } : {
      kind: "field",
      target: expression,
      name,
      span: { start: expression.span.start, end: name.span.end },
    };
  }
  return expression ?? { kind: "name", name: "_", span: { start: 0, end: 0 } };
}

/** The variant that a pattern names: the looked at type's first, then what the name stands for. */
function variantOf(
  binding: Binding,
  pattern: ast.VariantPattern,
  type: Type,
): VariantDefinition | "broken" | null {
  const { body } = binding;
  const at = resolve(type);
  const last = pattern.path.at(-1);
  if (last === undefined) return "broken";
  if (pattern.path.length === 1 && at.kind === "named" && at.definition.body.kind === "union") {
    const own = at.definition.body.variants.find((variant) => variant.name === last.text);
    if (own !== undefined) {
      markImport(body, own);
      return own;
    }
  }
  const expression = pathExpression(pattern.path);
  const found = resolveStatic(body, expression);
  if (found === null) {
    const own = at.kind === "named" && at.definition.body.kind === "union" ? at.definition.body.variants : [];
    if (own.length > 0 && pattern.path.length === 1) {
      const names = nearest(last.text, own.map((variant) => variant.name));
      body.reporter.report("NM0003", last.span, `\`${typeText(at)}\` has no variant \`${last.text}\`.`, {
        hint: own.length <= 8
          ? `Its variants are ${own.map((each) => `\`${each.name}\``).join(", ")}.`
          : undefined,
        fixes: names.map((other) => body.reporter.fix(`use \`${other}\``, "maybe", last.span, other)),
      });
    } else reportUnknownVariant(body, last);
    return "broken";
  }
  if (found.kind === "broken") return "broken";
  if (found.kind === "variants") {
    return chooseVariant(body, found.variants, type, expression.span) ?? "broken";
  }
  body.reporter.report(
    "TY0029",
    expression.span,
    `\`${body.reporter.text(expression.span)}\` is not a variant.`,
    {
      hint: found.kind === "type" ? "A record pattern is written with braces: `Ball { x, y }`." : undefined,
    },
  );
  return "broken";
}

/** A variant that is found by the type of what is looked at uses the module that it comes from. */
function markImport(body: Body, variant: VariantDefinition): void {
  if (variant.definition.module === body.scope.name) return;
  for (const through of body.scope.imports.values()) {
    if (through.path === variant.definition.module) through.isUsed = true;
  }
}

/** `Some(x)`, `Phase.Over(score: s)`. */
export function bindVariant(binding: Binding, pattern: ast.VariantPattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const variant = variantOf(binding, pattern, type);
  if (variant === "broken" || variant === null) {
    for (const field of pattern.fields) bind(binding, field.pattern, ERROR_TYPE);
    return wildcard(binding, pattern, ERROR_TYPE);
  }
  const { definition } = variant;
  const last = pattern.path.at(-1);
  if (last !== undefined) body.session.symbols?.refer(last.span, variant);
  const types = definition.typeParameters.map((): Type => body.unifier.fresh());
  const own: Type = { kind: "named", definition, arguments: types };
  if (!expect(binding, pattern, type, own)) {
    for (const field of pattern.fields) bind(binding, field.pattern, ERROR_TYPE);
    return wildcard(binding, pattern, ERROR_TYPE);
  }
  const fieldTypes = variant.fields.map((field) => substitute(field.type, definition.typeParameters, types));
  const fields: (Pattern | null)[] = variant.fields.map(() => null);
  let next = 0;
  let surplus = 0;
  for (const field of pattern.fields) {
    let index = -1;
    if (field.name === null) index = next++;
    else {
      const { name } = field;
      index = variant.fields.findIndex((each) => each.name === name.text);
      if (index < 0) {
        const names = nearest(name.text, variant.fields.flatMap((each) => each.name ?? []));
        body.reporter.report("NM0004", name.span, `\`${variant.name}\` has no field \`${name.text}\`.`, {
          fixes: names.map((other) => body.reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
        });
        bind(binding, field.pattern, ERROR_TYPE);
        surplus = -1000;
        continue;
      }
    }
    const fieldType = fieldTypes[index];
    const typed = bind(binding, field.pattern, fieldType ?? ERROR_TYPE);
    if (fieldType === undefined) surplus++;
    else if (fields[index] === null) fields[index] = typed;
  }
  const missing = fields.filter((field) => field === null).length;
  if (surplus > 0 || surplus === 0 && missing > 0 && !pattern.hasRest) {
    reportFieldCount(binding, pattern, variant, missing);
  }
  return keep(binding, {
    kind: "variant",
    span,
    type: own,
    variant,
    fields: fields.map((field, index) =>
      field ?? keep(binding, { kind: "wildcard", span, type: fieldTypes[index] ?? ERROR_TYPE })
    ),
  });
}

function reportFieldCount(
  binding: Binding,
  pattern: ast.VariantPattern,
  variant: VariantDefinition,
  missing: number,
): void {
  const { reporter } = binding.body;
  const { span } = pattern;
  const wanted = variant.fields.length;
  const nameEnd = pattern.path.at(-1)?.span.end ?? span.end;
  const count = wanted === 0 ? "no fields" : wanted === 1 ? "one field" : `${wanted} fields`;
  const given = pattern.fields.length;
  const underscores = variant.fields.map((field) => field.name === null ? "_" : `${field.name}: _`).join(
    ", ",
  );
  const lastField = pattern.fields.at(-1);
  const fixes = wanted === 0
    ? [reporter.fix("remove the fields", "maybe", { start: nameEnd, end: span.end }, "")]
    : given === 0
    ? [reporter.fix("add the fields", "safe", { start: nameEnd, end: span.end }, `(${underscores})`)]
    : missing > 0 && lastField !== undefined
    ? [reporter.insert("ignore the other fields with `..`", "safe", lastField.pattern.span.end, ", ..")]
    : [];
  reporter.report(
    "TY0030",
    span,
    `\`${variant.name}\` has ${count}, but this pattern takes ${given === 0 ? "none" : given}.`,
    {
      fixes,
    },
  );
}

/** `Ball { x, .. }`. */
export function bindRecord(binding: Binding, pattern: ast.RecordPattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const at = resolve(type);
  const expression = pathExpression(pattern.path);
  const last = pattern.path.at(-1);
  const own = pattern.path.length === 1 && last !== undefined
    ? body.graph.typesNamed(body.scope, last.text)
    : [];
  const [candidate] = own;
  const found = own.length === 1 && candidate !== undefined
    ? { kind: "type" as const, entry: candidate.item }
    : resolveStatic(body, expression);
  if (candidate?.through !== null && candidate !== undefined) candidate.through.isUsed = true;
  const brokenPattern = (): Pattern => {
    for (const field of pattern.fields) {
      if (field.pattern === null) bindName(binding, field.name, ERROR_TYPE);
      else bind(binding, field.pattern, ERROR_TYPE);
    }
    return wildcard(binding, pattern, ERROR_TYPE);
  };
  if (found === null) {
    if (last !== undefined) reportUnknownVariant(body, last);
    return brokenPattern();
  }
  if (found.kind === "broken") return brokenPattern();
  const entry = found.kind === "type" ? found.entry : null;
  const aliased = entry?.kind === "alias" ? resolve(entry.alias.type) : null;
  const definition = entry?.kind === "definition"
    ? entry.definition
    : aliased?.kind === "named"
    ? aliased.definition
    : null;
  if (definition === null || definition.body.kind !== "record") {
    body.reporter.report(
      "TY0020",
      expression.span,
      `\`${body.reporter.text(expression.span)}\` is not a record type.`,
      {
        hint: found.kind === "variants" ? "The fields of a variant are written in parentheses." : undefined,
      },
    );
    return brokenPattern();
  }
  const types = definition.typeParameters.map((): Type => body.unifier.fresh());
  const recordType: Type = { kind: "named", definition, arguments: types };
  if (!expect(binding, pattern, isError(at) ? recordType : type, recordType)) return brokenPattern();
  const { fields } = definition.body;
  const typed: (Pattern | null)[] = fields.map(() => null);
  let hasUnknown = false;
  for (const field of pattern.fields) {
    const index = fields.findIndex((each) => each.name === field.name.text);
    const definitionField = fields[index];
    if (definitionField === undefined) {
      hasUnknown = true;
      const names = nearest(field.name.text, fields.flatMap((each) => each.name ?? []));
      body.reporter.report(
        "NM0004",
        field.name.span,
        `\`${definition.name}\` has no field \`${field.name.text}\`.`,
        {
          fixes: names.map((other) => body.reporter.fix(`use \`${other}\``, "maybe", field.name.span, other)),
        },
      );
      if (field.pattern === null) bindName(binding, field.name, ERROR_TYPE);
      else bind(binding, field.pattern, ERROR_TYPE);
      continue;
    }
    const fieldType = substitute(definitionField.type, definition.typeParameters, types);
    const made: Pattern = field.pattern === null
      ? keep(binding, {
        kind: "binding",
        span: field.name.span,
        type: fieldType,
        local: bindField(binding, field.name, fieldType),
      })
      : bind(binding, field.pattern, fieldType);
    if (typed[index] === null) typed[index] = made;
    else {
      body.reporter.report(
        "TY0008",
        field.name.span,
        `The field \`${field.name.text}\` is bound twice in this pattern.`,
      );
    }
  }
  const missing = fields.filter((_, index) => typed[index] === null).flatMap((field) => field.name ?? []);
  if (missing.length > 0 && !pattern.hasRest && !hasUnknown) {
    const lastField = pattern.fields.at(-1);
    const offset = lastField === undefined
      ? span.end - 1
      : lastField.pattern?.span.end ?? lastField.name.span.end;
    const separator = lastField === undefined ? " " : ", ";
    const suffix = lastField === undefined ? " " : "";
    body.reporter.report(
      "MX0010",
      span,
      `This pattern leaves out ${missing.map((name) => `\`${name}\``).join(", ")} of \`${definition.name}\`.`,
      {
        fixes: [
          body.reporter.insert("ignore them with `..`", "safe", offset, `${separator}..${suffix}`),
          body.reporter.insert("name them", "maybe", offset, `${separator}${missing.join(", ")}${suffix}`),
        ],
      },
    );
  }
  return keep(binding, {
    kind: "record",
    span,
    type: recordType,
    fields: typed.map((field, index) =>
      field ?? keep(binding, {
        kind: "wildcard",
        span,
        type: substitute(fields[index]?.type ?? ERROR_TYPE, definition.typeParameters, types),
      })
    ),
  });
}
