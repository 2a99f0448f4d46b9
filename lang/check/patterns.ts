/**
 * Patterns: held to the type of what they look at; their names become variables.
 */
import type * as ast from "../syntax/ast.ts";
import type { Pattern } from "../typed/tree.ts";
import { BOOL, CHAR, ERROR_TYPE, isError, isFloat, resolve, STRING } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { typeText, typeTexts } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { nearest } from "./edit_distance.ts";
import { chooseVariant } from "./names.ts";
import { reportUnknownVariant, resolveStatic } from "./statics.ts";
import type { Variable } from "./symbols.ts";

/** What is known while one pattern is gone through. */
interface Binding {
  readonly body: Body;
  readonly origin: Variable["origin"];
  /** Names of this pattern so far. */
  readonly names: Map<string, Variable>;
  /** Names that the first alternative gave; the others find their variables here. */
  readonly shared: ReadonlyMap<string, Variable> | null;
  /** Names that the alternative at hand has given. */
  readonly given: Set<string>;
}

/** The typed pattern; its names come into scope. */
export function bindPattern(
  body: Body,
  pattern: ast.Pattern,
  type: Type,
  origin: Variable["origin"],
): Pattern {
  return bind({ body, origin, names: new Map(), shared: null, given: new Set() }, pattern, type);
}

function keep<T extends Pattern>(binding: Binding, pattern: T): T {
  return binding.body.session.keep(pattern);
}

function wildcard(binding: Binding, pattern: ast.Pattern, type: Type): Pattern {
  return keep(binding, { kind: "wildcard", span: pattern.span, type });
}

function bind(binding: Binding, pattern: ast.Pattern, type: Type): Pattern {
  const { span } = pattern;
  switch (pattern.kind) {
    case "wildcard":
      return wildcard(binding, pattern, type);
    case "binding":
      return keep(binding, { kind: "binding", span, type, local: bindName(binding, pattern.name, type) });
    case "literal":
      return bindLiteral(binding, pattern, type);
    case "range-pattern":
      return bindRange(binding, pattern, type);
    case "tuple-pattern":
      return bindTuple(binding, pattern, type);
    case "variant-pattern":
      return bindVariant(binding, pattern, type);
    case "record-pattern":
      return bindRecord(binding, pattern, type);
    case "list-pattern":
      return bindList(binding, pattern, type);
    case "alternative-pattern":
      return bindAlternatives(binding, pattern, type);
  }
}

function bindName(binding: Binding, name: ast.Name, type: Type): Variable {
  const { body, names, shared } = binding;
  const other = shared?.get(name.text);
  if (binding.given.has(name.text)) {
    const first = names.get(name.text) ?? other;
    body.reporter.report("NM0011", name.span, `\`${name.text}\` stands in this pattern twice.`, {
      labels: first === undefined ? [] : [body.reporter.label(first.span, "the first is here")],
      hint: "A name takes one value. Compare two values with a guard: `(a, b) if a == b`.",
    });
  }
  binding.given.add(name.text);
  if (other !== undefined) {
    if (!body.unifier.unify(other.type, type)) {
      const [first, second] = typeTexts(other.type, type);
      body.reporter.report(
        "MX0005",
        name.span,
        `\`${name.text}\` is \`${first}\` in one alternative and \`${second}\` in another.`,
        { labels: [body.reporter.label(other.span, `\`${first}\` here`)] },
      );
    }
    return other;
  }
  if (shared !== null) reportUnshared(binding, name.text, name.span);
  const variable = body.makeVariable(name, type, "let", binding.origin);
  body.declare(variable);
  names.set(name.text, variable);
  return variable;
}

function reportUnshared(binding: Binding, name: string, span: ast.Name["span"]): void {
  binding.body.reporter.report(
    "MX0005",
    span,
    `\`${name}\` is named in some alternatives and not in others, so it would have no value when those fit.`,
    { hint: "Every alternative names the same." },
  );
}

/** Holds the type of a pattern to that of what it looks at. */
function expect(binding: Binding, pattern: ast.Pattern, subject: Type, own: Type): boolean {
  if (binding.body.unifier.unify(subject, own)) return true;
  const [expected, actual] = typeTexts(subject, own);
  binding.body.reporter.report(
    "TY0029",
    pattern.span,
    `What is looked at is \`${expected}\`, but this pattern is for \`${actual}\`.`,
    { expected, actual },
  );
  return false;
}

function bindLiteral(binding: Binding, pattern: ast.LiteralPattern, type: Type): Pattern {
  const { body } = binding;
  const { span, value } = pattern;
  switch (value.kind) {
    case "integer": {
      if (isFloat(type) && resolve(type).kind === "primitive") {
        body.reporter.report(
          "TY0029",
          span,
          `What is looked at is \`${typeText(type)}\`, but this is a whole number.`,
          {
            fixes: [body.reporter.insert(`write \`${body.reporter.text(span)}.0\``, "safe", span.end, ".0")],
          },
        );
        return wildcard(binding, pattern, type);
      }
      const literal = body.unifier.literal("integer");
      if (!expect(binding, pattern, type, literal)) return wildcard(binding, pattern, type);
      const made = keep(binding, { kind: "literal", span, type, value: value.value });
      body.session.finishers.push(() => checkFits(binding, pattern, made.type, value.value));
      return made;
    }
    case "float":
      if (!expect(binding, pattern, type, body.unifier.literal("float"))) {
        return wildcard(binding, pattern, type);
      }
      return keep(binding, { kind: "literal", span, type, value: value.value });
    case "character":
      if (!expect(binding, pattern, type, CHAR)) return wildcard(binding, pattern, type);
      return { kind: "literal", span, type: CHAR, value: BigInt(value.codePoint) };
    case "boolean":
      if (!expect(binding, pattern, type, BOOL)) return wildcard(binding, pattern, type);
      return { kind: "literal", span, type: BOOL, value: value.value };
    case "text":
      if (!expect(binding, pattern, type, STRING)) return wildcard(binding, pattern, type);
      return { kind: "literal", span, type: STRING, value: value.value };
  }
}

function checkFits(binding: Binding, pattern: ast.Pattern, type: Type, value: bigint): void {
  const [low, high] = limitsOf(type);
  if (value >= low && value <= high) return;
  binding.body.reporter.report(
    "TY0013",
    pattern.span,
    `${value} does not fit \`${typeText(type)}\`, which goes from ${low} to ${high}.`,
  );
}

/** The smallest and largest number of a type. */
export function limitsOf(type: Type): readonly [bigint, bigint] {
  const at = resolve(type);
  if (at.kind === "primitive" && at.name === "Int64") return [-(2n ** 63n), 2n ** 63n - 1n];
  if (at.kind === "primitive" && at.name === "Char") return [0n, 0x10ffffn];
  return [-(2n ** 31n), 2n ** 31n - 1n];
}

function bindRange(binding: Binding, pattern: ast.RangePattern, type: Type): Pattern {
  const { body } = binding;
  const { span, start, end } = pattern;
  const isCharacter = start.kind === "character";
  if (isCharacter !== (end.kind === "character")) {
    body.reporter.report(
      "TY0029",
      span,
      "A range goes from one number to another, or from one character to another.",
    );
    return wildcard(binding, pattern, type);
  }
  const own = isCharacter ? CHAR : body.unifier.literal("integer");
  if (!expect(binding, pattern, type, own)) return wildcard(binding, pattern, type);
  const number = (each: typeof start) => each.kind === "integer" ? each.value : BigInt(each.codePoint);
  const low = number(start);
  const high = pattern.isInclusive ? number(end) : number(end) - 1n;
  if (low > high) {
    body.reporter.report("MX0006", span, "This range holds nothing: its end is before its start.", {
      fixes: low === high + 1n && !pattern.isInclusive
        ? [body.reporter.fix("include the end", "maybe", span, body.reporter.text(span).replace("..", "..="))]
        : [
          body.reporter.fix(
            "swap start and end",
            "maybe",
            span,
            `${body.reporter.text(end.span)}${pattern.isInclusive ? "..=" : ".."}${
              body.reporter.text(start.span)
            }`,
          ),
        ],
    });
  }
  return keep(binding, { kind: "range", span, type, start: low, end: high });
}

function bindTuple(binding: Binding, pattern: ast.TuplePattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const at = resolve(type);
  if (at.kind === "tuple" && at.elements.length !== pattern.elements.length) {
    body.reporter.report(
      "TY0029",
      span,
      `What is looked at has ${at.elements.length} parts, \`${
        typeText(at)
      }\`, but this pattern has ${pattern.elements.length}.`,
      { expected: typeText(at) },
    );
    for (const element of pattern.elements) bind(binding, element, ERROR_TYPE);
    return wildcard(binding, pattern, type);
  }
  const types = at.kind === "tuple" ? at.elements : pattern.elements.map(() => body.unifier.fresh());
  const own: Type = { kind: "tuple", elements: types };
  const fits = at.kind === "tuple" || expect(binding, pattern, type, own);
  const elements = pattern.elements.map((element, index) =>
    bind(binding, element, fits ? types[index] ?? ERROR_TYPE : ERROR_TYPE)
  );
  return fits
    ? keep(binding, { kind: "tuple", span, type: own, elements })
    : wildcard(binding, pattern, type);
}

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
    `\`${body.reporter.text(expression.span)}\` is no variant.`,
    {
      hint: found.kind === "type" ? "The pattern of a record has braces: `Ball { x, y }`." : undefined,
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

function bindVariant(binding: Binding, pattern: ast.VariantPattern, type: Type): Pattern {
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
    ? [reporter.insert("leave the others out with `..`", "safe", lastField.pattern.span.end, ", ..")]
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

function bindRecord(binding: Binding, pattern: ast.RecordPattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const at = resolve(type);
  const expression = pathExpression(pattern.path);
  const last = pattern.path.at(-1);
  const own = pattern.path.length === 1 && last !== undefined
    ? body.world.typesNamed(body.scope, last.text)
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
      `\`${body.reporter.text(expression.span)}\` is no record type.`,
      {
        hint: found.kind === "variants" ? "The fields of a variant stand in parentheses." : undefined,
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
        local: bindName(binding, field.name, fieldType),
      })
      : bind(binding, field.pattern, fieldType);
    if (typed[index] === null) typed[index] = made;
    else {
      body.reporter.report(
        "TY0008",
        field.name.span,
        `The field \`${field.name.text}\` stands in this pattern twice.`,
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
      `This pattern leaves out ${
        missing.map((name) => `\`${name}\``).join(", ")
      } of \`${definition.name}\` without saying so.`,
      {
        fixes: [
          body.reporter.insert("leave them out with `..`", "safe", offset, `${separator}..${suffix}`),
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

function bindList(binding: Binding, pattern: ast.ListPattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const element = body.unifier.fresh();
  const own = body.world.coreNamed("List", element) ?? ERROR_TYPE;
  const fits = expect(binding, pattern, type, own);
  const elements = pattern.elements.map((each) => bind(binding, each, fits ? element : ERROR_TYPE));
  const rest = pattern.rest;
  const made = rest === undefined
    ? null
    : { local: rest === null ? null : bindName(binding, rest, fits ? own : ERROR_TYPE) };
  if (!fits) return wildcard(binding, pattern, type);
  return keep(binding, { kind: "list", span, type: own, elements, rest: made });
}

function bindAlternatives(binding: Binding, pattern: ast.AlternativePattern, type: Type): Pattern {
  const before = new Set(binding.given);
  const first = pattern.alternatives[0];
  if (first === undefined) return wildcard(binding, pattern, type);
  const firstGiven = new Set(before);
  const alternatives = [bind({ ...binding, given: firstGiven }, first, type)];
  const shared = new Map(binding.shared ?? []);
  for (const [name, variable] of binding.names) shared.set(name, variable);
  for (const each of pattern.alternatives.slice(1)) {
    const given = new Set(before);
    alternatives.push(bind({ ...binding, shared, given, names: new Map(binding.names) }, each, type));
    for (const name of firstGiven) {
      if (!given.has(name)) reportUnshared(binding, name, each.span);
    }
  }
  for (const name of firstGiven) binding.given.add(name);
  return keep(binding, { kind: "alternative", span: pattern.span, type, alternatives });
}
