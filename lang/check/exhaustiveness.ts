/**
 * Whether patterns take every value, and whether each takes one that those before it leave: usefulness of pattern
 * matrices (L. Maranget, "Warnings for pattern matching", Journal of Functional Programming 17, 2007).
 *
 * Whole numbers and characters are cut into the intervals that the column's patterns tell apart; lists are pairs of a
 * first element and a rest. The work is bounded: a match too large to be decided counts as one that misses something.
 */
import { LANG_LIMITS } from "../limits.ts";
import type { Pattern } from "../typed/tree.ts";
import { ERROR_TYPE, resolve } from "../types/primitives.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";

import type { ModuleGraph } from "./module_graph.ts";

/** What a record's pattern is written with. */
interface RecordFields {
  readonly name: string;
  readonly names: readonly string[];
}

/** A constructor with as many columns as it has parts. */
type Constructor =
  | { readonly kind: "variant"; readonly variant: VariantDefinition }
  /** A tuple, or a record. */
  | { readonly kind: "single"; readonly fields: RecordFields | null }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "empty" | "element" };

/** A pattern as far as matching goes. */
type Shape =
  | { readonly kind: "any" }
  | { readonly kind: "constructor"; readonly constructor: Constructor; readonly parts: readonly Shape[] }
  | { readonly kind: "interval"; readonly low: bigint; readonly high: bigint }
  | { readonly kind: "constant"; readonly value: string | number }
  | { readonly kind: "either"; readonly alternatives: readonly Shape[] };

const ANY: Shape = { kind: "any" };
const MAX_WITNESSES = 12;

/** What a match leaves out, as patterns to be written, and which of its arms are never reached. */
export interface MatchFindings {
  readonly missing: readonly string[];
  readonly unreachable: readonly number[];
}

/** Looks at the unguarded patterns for what is missing, and at all arms for what is never reached. */
export function checkMatch(
  graph: ModuleGraph,
  unguarded: readonly Pattern[],
  type: Type,
  arms: readonly { readonly pattern: Pattern; readonly isGuarded: boolean }[] = [],
): MatchFindings {
  const matcher = new Matcher(graph);
  const rows = unguarded.map((pattern) => [shapeOf(pattern)]);
  const missing = matcher.missing(rows, [type]).map((witness) => witnessText(witness[0] ?? ANY));
  const unreachable: number[] = [];
  const before: Shape[][] = [];
  for (const [index, arm] of arms.entries()) {
    const shape = shapeOf(arm.pattern);
    if (before.length > 0 && !matcher.isUseful(before, [shape], [type])) unreachable.push(index);
    if (!arm.isGuarded) before.push([shape]);
  }
  // What takes everything takes the others as well.
  return { missing: missing.includes("_") ? ["_"] : [...new Set(missing)], unreachable };
}

/** What is missing, for a message. */
export function missingText(missing: string): string {
  return missing === "_" ? "other values" : `\`${missing}\``;
}

function shapeOf(pattern: Pattern): Shape {
  switch (pattern.kind) {
    case "wildcard":
    case "binding":
      return ANY;
    case "literal": {
      const { value } = pattern;
      if (typeof value === "bigint") return { kind: "interval", low: value, high: value };
      if (typeof value === "boolean") {
        return { kind: "constructor", constructor: { kind: "boolean", value }, parts: [] };
      }
      return { kind: "constant", value };
    }
    case "range":
      return { kind: "interval", low: pattern.start, high: pattern.end };
    case "tuple":
      return {
        kind: "constructor",
        constructor: { kind: "single", fields: null },
        parts: pattern.elements.map(shapeOf),
      };
    case "record":
      return {
        kind: "constructor",
        constructor: { kind: "single", fields: null },
        parts: pattern.fields.map(shapeOf),
      };
    case "variant":
      return {
        kind: "constructor",
        constructor: { kind: "variant", variant: pattern.variant },
        parts: pattern.fields.map(shapeOf),
      };
    case "list": {
      let shape: Shape = pattern.rest === null
        ? { kind: "constructor", constructor: { kind: "empty" }, parts: [] }
        : ANY;
      for (const element of pattern.elements.toReversed()) {
        shape = { kind: "constructor", constructor: { kind: "element" }, parts: [shapeOf(element), shape] };
      }
      return shape;
    }
    case "alternative":
      return { kind: "either", alternatives: pattern.alternatives.map(shapeOf) };
  }
}

type Row = readonly Shape[];

function takesAll(row: Row): boolean {
  return row.every((shape) => shape.kind === "any");
}

function isSame(left: Constructor, right: Constructor): boolean {
  if (left.kind === "variant") return right.kind === "variant" && left.variant === right.variant;
  if (left.kind === "boolean") return right.kind === "boolean" && left.value === right.value;
  return left.kind === right.kind;
}

/** Rows whose first shape is an alternative become several rows. */
function expand(rows: readonly Row[]): Row[] {
  return rows.flatMap((row): Row[] => {
    const [first, ...rest] = row;
    if (first?.kind !== "either") return [row];
    return expand(first.alternatives.map((alternative) => [alternative, ...rest]));
  });
}

/** Rows without a first column, of those that take anything in it. */
function defaults(rows: readonly Row[]): Row[] {
  return rows.filter((row) => row[0]?.kind === "any").map((row) => row.slice(1));
}

function specialize(rows: readonly Row[], wanted: Constructor, arity: number): Row[] {
  return rows.flatMap((row): Row[] => {
    const [first, ...rest] = row;
    if (first === undefined || first.kind === "any") return [[...Array<Shape>(arity).fill(ANY), ...rest]];
    if (first.kind !== "constructor" || !isSame(first.constructor, wanted)) return [];
    return [[...first.parts, ...rest]];
  });
}

function within(rows: readonly Row[], low: bigint, high: bigint): Row[] {
  return rows.filter(([first]) =>
    first?.kind === "any" || first?.kind === "interval" && first.low <= low && first.high >= high
  ).map((row) => row.slice(1));
}

function equalTo(rows: readonly Row[], value: string | number): Row[] {
  return rows.filter(([first]) =>
    first?.kind === "any" || first?.kind === "constant" && first.value === value
  )
    .map((row) => row.slice(1));
}

/** The pieces of the type's numbers that the column's patterns tell apart. */
function pieces(rows: readonly Row[], type: Type): { readonly low: bigint; readonly high: bigint }[] {
  const [lowest, highest] = limitsOf(type);
  const starts = new Set<bigint>([lowest]);
  for (const [first] of rows) {
    if (first?.kind !== "interval" || first.low > first.high) continue;
    if (first.low > lowest && first.low <= highest) starts.add(first.low);
    if (first.high >= lowest && first.high < highest) starts.add(first.high + 1n);
  }
  const sorted = [...starts].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map((low, index) => ({ low, high: (sorted[index + 1] ?? highest + 1n) - 1n }));
}

class Matcher {
  readonly #graph: ModuleGraph;
  #steps = 0;

  constructor(graph: ModuleGraph) {
    this.#graph = graph;
  }

  /** Values that no row takes, as rows of shapes. */
  missing(rows: readonly Row[], types: readonly Type[]): Row[] {
    const [type, ...rest] = types;
    if (type === undefined) return rows.length === 0 ? [[]] : [];
    if (rows.some(takesAll)) return [];
    if (++this.#steps > LANG_LIMITS.exhaustivenessSteps) return [types.map(() => ANY)];
    const all = expand(rows);
    const heads = all.flatMap(([first]) => first === undefined || first.kind === "any" ? [] : [first]);
    if (heads.length === 0) {
      return this.missing(defaults(all), rest).map((witness) => [ANY, ...witness]);
    }
    if (heads.some((head) => head.kind === "interval")) {
      return limited(pieces(all, type), ({ low, high }) => {
        const [lowest, highest] = limitsOf(type);
        const shape: Shape = low === lowest || high === highest ? ANY : { kind: "interval", low, high };
        return this.missing(within(all, low, high), rest).map((witness) => [shape, ...witness]);
      });
    }
    if (heads.some((head) => head.kind === "constant")) {
      const values = new Set(heads.flatMap((head) => head.kind === "constant" ? [head.value] : []));
      return limited<string | number | null>([...values, null], (value) => {
        const left = value === null ? defaults(all) : equalTo(all, value);
        const shape: Shape = value === null ? ANY : { kind: "constant", value };
        return this.missing(left, rest).map((witness) => [shape, ...witness]);
      });
    }
    return limited(this.#constructors(type, heads), ({ constructor, types: parts }) => {
      const isUsed = heads.some((head) =>
        head.kind === "constructor" && isSame(head.constructor, constructor)
      );
      if (!isUsed) {
        const shape: Shape = { kind: "constructor", constructor, parts: parts.map(() => ANY) };
        return this.missing(defaults(all), rest).map((witness) => [shape, ...witness]);
      }
      return this.missing(specialize(all, constructor, parts.length), [...parts, ...rest]).map((witness) => [
        { kind: "constructor", constructor, parts: witness.slice(0, parts.length) },
        ...witness.slice(parts.length),
      ]);
    });
  }

  /** Whether a row takes something that the rows before it leave. */
  isUseful(rows: readonly Row[], row: Row, types: readonly Type[]): boolean {
    const [type, ...rest] = types;
    const [first, ...others] = row;
    if (type === undefined || first === undefined) return rows.length === 0;
    if (rows.some(takesAll)) return false;
    if (++this.#steps > LANG_LIMITS.exhaustivenessSteps) return true;
    const all = expand(rows);
    switch (first.kind) {
      case "either":
        return first.alternatives.some((alternative) => this.isUseful(all, [alternative, ...others], types));
      case "constructor": {
        const found = this.#constructors(type, [first]).find((each) =>
          isSame(each.constructor, first.constructor)
        );
        if (found === undefined) return true;
        return this.isUseful(
          specialize(all, first.constructor, found.types.length),
          [...first.parts, ...others],
          [...found.types, ...rest],
        );
      }
      case "interval":
        if (first.low === first.high) return this.isUseful(within(all, first.low, first.high), others, rest);
        return pieces([...all, row], type)
          .filter(({ low, high }) => low >= first.low && high <= first.high)
          .some(({ low, high }) => this.isUseful(within(all, low, high), others, rest));
      case "constant":
        return this.isUseful(equalTo(all, first.value), others, rest);
      case "any": {
        const heads = all.flatMap(([head]) => head === undefined || head.kind === "any" ? [] : [head]);
        if (heads.length === 0) return this.isUseful(defaults(all), others, rest);
        if (heads.some((head) => head.kind === "interval")) {
          return pieces(all, type).some(({ low, high }) =>
            this.isUseful(within(all, low, high), others, rest)
          );
        }
        if (heads.some((head) => head.kind === "constant")) return this.isUseful(defaults(all), others, rest);
        return this.#constructors(type, heads).some(({ constructor, types: parts }) =>
          this.isUseful(
            specialize(all, constructor, parts.length),
            [...Array<Shape>(parts.length).fill(ANY), ...others],
            [...parts, ...rest],
          )
        );
      }
    }
  }

  /** All constructors of a type, with the types of their parts. */
  #constructors(
    type: Type,
    heads: readonly Shape[],
  ): { readonly constructor: Constructor; readonly types: readonly Type[] }[] {
    const at = resolve(type);
    if (at.kind === "primitive" && at.name === "Bool") {
      return [true, false].map((value) => ({ constructor: { kind: "boolean", value }, types: [] }));
    }
    if (at.kind === "tuple") return [{ constructor: { kind: "single", fields: null }, types: at.elements }];
    if (at.kind === "named") {
      const { definition } = at;
      const put = (each: Type) => substitute(each, definition.typeParameters, at.arguments);
      if (this.#graph.isCore(at, "List")) {
        return [
          { constructor: { kind: "empty" }, types: [] },
          { constructor: { kind: "element" }, types: [at.arguments[0] ?? ERROR_TYPE, at] },
        ];
      }
      if (definition.body.kind === "record") {
        const { fields } = definition.body;
        return [{
          constructor: {
            kind: "single",
            fields: { name: definition.name, names: fields.map((field) => field.name ?? "_") },
          },
          types: fields.map((field) => put(field.type)),
        }];
      }
      if (definition.body.kind === "union") {
        return definition.body.variants.map((variant) => ({
          constructor: { kind: "variant", variant },
          types: variant.fields.map((field) => put(field.type)),
        }));
      }
    }
    // A broken type: what the patterns have is all there is.
    return heads.flatMap((head) =>
      head.kind === "constructor"
        ? [{ constructor: head.constructor, types: head.parts.map((): Type => ERROR_TYPE) }]
        : []
    );
  }
}

function limited<T>(items: readonly T[], find: (item: T) => Row[]): Row[] {
  const found: Row[] = [];
  for (const item of items) {
    found.push(...find(item));
    if (found.length >= MAX_WITNESSES) return found.slice(0, MAX_WITNESSES);
  }
  return found;
}

/** A shape as a pattern that takes it. */
function witnessText(shape: Shape): string {
  switch (shape.kind) {
    case "any":
    case "either":
      return "_";
    case "interval":
      return shape.low === shape.high ? `${shape.low}` : `${shape.low}..=${shape.high}`;
    case "constant":
      return typeof shape.value === "string" ? JSON.stringify(shape.value) : `${shape.value}`;
    case "constructor": {
      const { constructor } = shape;
      const parts = shape.parts.map(witnessText);
      switch (constructor.kind) {
        case "boolean":
          return `${constructor.value}`;
        case "variant":
          return parts.length === 0
            ? constructor.variant.name
            : `${constructor.variant.name}(${parts.join(", ")})`;
        case "single":
          if (parts.length > 0 && parts.every((part) => part === "_")) return "_";
          return constructor.fields === null
            ? `(${parts.join(", ")})`
            : recordText(constructor.fields, parts);
        case "empty":
          return "[]";
        case "element":
          return `[${listParts(shape).join(", ")}]`;
      }
    }
  }
}

function recordText({ name, names }: RecordFields, parts: readonly string[]): string {
  const given = parts.flatMap((part, index) => part === "_" ? [] : [`${names[index]}: ${part}`]);
  const rest = given.length < parts.length ? [".."] : [];
  return `${name} { ${[...given, ...rest].join(", ")} }`;
}

function listParts(shape: Shape): string[] {
  if (shape.kind !== "constructor") return [".."];
  if (shape.constructor.kind === "empty") return [];
  const [head, tail] = shape.parts;
  return [witnessText(head ?? ANY), ...listParts(tail ?? ANY)];
}

/** The smallest and largest number of a type. */
export function limitsOf(type: Type): readonly [bigint, bigint] {
  const at = resolve(type);
  if (at.kind === "primitive" && at.name === "Int64") return [-(2n ** 63n), 2n ** 63n - 1n];
  if (at.kind === "primitive" && at.name === "Char") return [0n, 0x10ffffn];
  return [-(2n ** 31n), 2n ** 31n - 1n];
}
