/**
 * Patterns: held to the type of what they look at; their names become variables.
 */
import type * as ast from "../syntax/ast.ts";
import type { Pattern } from "../typed/tree.ts";
import { BOOL, CHAR, ERROR_TYPE, isFloat, resolve, STRING } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText, typeTexts } from "../types/type_text.ts";
import { limitsOf } from "./exhaustiveness.ts";
import type { Body } from "./body.ts";
import { bindRecord, bindVariant } from "./constructor_patterns.ts";
import type { Variable } from "./symbols.ts";

/** What is known while one pattern is gone through. */
export interface Binding {
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

/** Puts the type in once it is known. */
export function keep<T extends Pattern>(binding: Binding, pattern: T): T {
  return binding.body.session.keep(pattern);
}

/** A pattern that takes anything; also what a broken one becomes. */
export function wildcard(binding: Binding, pattern: ast.Pattern, type: Type): Pattern {
  return keep(binding, { kind: "wildcard", span: pattern.span, type });
}

/** The typed pattern inside of another one. */
export function bind(binding: Binding, pattern: ast.Pattern, type: Type): Pattern {
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

/** The variable of a name, which alternatives share. */
export function bindName(binding: Binding, name: ast.Name, type: Type): Variable {
  const { body, names, shared } = binding;
  const other = shared?.get(name.text);
  if (binding.given.has(name.text)) {
    const first = names.get(name.text) ?? other;
    body.reporter.report("NM0011", name.span, `\`${name.text}\` is bound twice in this pattern.`, {
      labels: first === undefined ? [] : [body.reporter.label(first.span, "the first is here")],
      hint: "Compare two values with a guard: `(a, b) if a == b`.",
    });
  }
  binding.given.add(name.text);
  if (other !== undefined) {
    body.session.symbols?.refer(name.span, other);
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

/** A field that is named by itself. */
export function bindField(binding: Binding, name: ast.Name, type: Type): Variable {
  const variable = bindName(binding, name, type);
  variable.isShorthand = true;
  return variable;
}

function reportUnshared(binding: Binding, name: string, span: ast.Name["span"]): void {
  binding.body.reporter.report(
    "MX0005",
    span,
    `\`${name}\` is not bound in all alternatives.`,
    { hint: "Bind the same names in every alternative." },
  );
}

/** Holds the type of a pattern to that of what it looks at. */
export function expect(binding: Binding, pattern: ast.Pattern, subject: Type, own: Type): boolean {
  if (binding.body.unifier.unify(subject, own)) return true;
  const [expected, actual] = typeTexts(subject, own);
  binding.body.reporter.report(
    "TY0029",
    pattern.span,
    `The matched value is \`${expected}\`, but this pattern is for \`${actual}\`.`,
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
          `The matched value is \`${typeText(type)}\`, but this pattern is an integer.`,
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
    `${value} is out of range for \`${typeText(type)}\`, which is from ${low} to ${high}.`,
  );
}

function bindRange(binding: Binding, pattern: ast.RangePattern, type: Type): Pattern {
  const { body } = binding;
  const { span, start, end } = pattern;
  const isCharacter = start.kind === "character";
  if (isCharacter !== (end.kind === "character")) {
    body.reporter.report(
      "TY0029",
      span,
      "The bounds of a range pattern must be two numbers or two characters.",
    );
    return wildcard(binding, pattern, type);
  }
  const own = isCharacter ? CHAR : body.unifier.literal("integer");
  if (!expect(binding, pattern, type, own)) return wildcard(binding, pattern, type);
  const number = (each: typeof start) => each.kind === "integer" ? each.value : BigInt(each.codePoint);
  const low = number(start);
  const high = pattern.isInclusive ? number(end) : number(end) - 1n;
  if (low > high) {
    body.reporter.report("MX0006", span, "This range is empty: its end is before its start.", {
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

function bindList(binding: Binding, pattern: ast.ListPattern, type: Type): Pattern {
  const { body } = binding;
  const { span } = pattern;
  const element = body.unifier.fresh();
  const own = body.graph.coreNamed("List", element) ?? ERROR_TYPE;
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
