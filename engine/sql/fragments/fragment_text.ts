/**
 * Plans as text and back: JSON of their nodes, in which tables, indexes, functions, casts and aggregates are named. The
 * same names give the same functions in every process of one build.
 */
import { assertDefined } from "../../base/assert.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { decodeValueBytes, encodeValueBytes } from "../../types/value_codec.ts";
import { comparedCast, findCast } from "../functions/casts.ts";
import type { BoundAggregate, BoundCast, BoundFunction } from "../functions/definition.ts";
import { resolveAggregate, resolveFunction, resolveOperator } from "../functions/registry.ts";
import { aggregateOfPart, MERGING, mergingAggregate, partOf } from "../plan/part_aggregates.ts";
import type { Fragment } from "../plan/plan.ts";

/** Something in a plan that has no text. */
export class NoText extends Error {}

/** What stands for a thing that has a name; the mark is no name of a field of a node. */
type Named =
  | { readonly $: "table"; readonly id: number }
  | { readonly $: "index"; readonly table: number; readonly id: number }
  | { readonly $: "function" | "operator"; readonly name: string; readonly types: readonly SqlType[] }
  | { readonly $: "cast"; readonly from: SqlType; readonly to: SqlType; readonly as: BoundCast["requested"] }
  | {
    readonly $: "compared";
    readonly from: SqlType;
    readonly to: SqlType;
    readonly as: BoundCast["requested"];
  }
  /** `part`: only this one of what a part of the rows answers, or all of them merged. */
  | {
    readonly $: "aggregate";
    readonly name: string;
    readonly types: readonly SqlType[];
    readonly part: number;
  }
  | { readonly $: "number" | "bigint"; readonly text: string }
  | { readonly $: "value"; readonly type: SqlType; readonly hex: string };

/** The text of a fragment. Raises {@link NoText}. */
export function fragmentText(
  { plan, columns, parameters }: Pick<Fragment, "plan" | "columns" | "parameters">,
): string {
  return JSON.stringify(pack({ plan, columns, parameters }));
}

function pack(value: unknown): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return named({ $: "number", text: Object.is(value, -0) ? "-0" : String(value) });
    case "bigint":
      return named({ $: "bigint", text: String(value) });
    case "object":
      break;
    default:
      throw new NoText(`a ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(pack);
  if ("evaluate" in value) {
    return named("from" in value ? nameOfCast(value as BoundCast) : nameOfFunction(value as BoundFunction));
  }
  if ("step" in value) return named(nameOfAggregate(value as BoundAggregate));
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new NoText("an object of a class");
  const node = value as Record<string, unknown>;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(node).sort()) {
    const field = node[key];
    if (field === undefined) continue;
    if (key === "table") result[key] = named({ $: "table", id: (field as { readonly id: number }).id });
    else if (key === "index" && node.kind === "index_scan") {
      const table = (node.table as { readonly id: number }).id;
      result[key] = named({ $: "index", table, id: (field as { readonly id: number }).id });
    } else if (key === "value" && node.kind === "constant" && typeof field === "object" && field !== null) {
      const type = node.type as SqlType;
      result[key] = named({ $: "value", type, hex: encodeValueBytes(type, field as SqlValue).toHex() });
    } // Estimates change from day to day; their order of magnitude is enough.
    else if (key === "rows" && typeof field === "number") result[key] = magnitude(field);
    else result[key] = pack(field);
  }
  return result;
}

function magnitude(rows: number): number {
  return rows < 1 ? 0 : 2 ** Math.ceil(Math.log2(rows));
}

function named(name: Named): Named {
  return name;
}

const names = new WeakMap<BoundFunction, Named>();

function nameOfFunction(bound: BoundFunction): Named {
  const known = names.get(bound);
  if (known !== undefined) return known;
  if (bound.userFunctionId !== undefined || bound.rows !== undefined) throw new NoText(bound.name);
  const { name, argumentTypes, writtenTypes = [] } = bound;
  // To look for a function that is called "=" takes as long as to make the mistake's message.
  const kinds = /^\w/.test(name) ? ["function", "operator"] as const : ["operator"] as const;
  const candidates = [writtenTypes, argumentTypes].flatMap((types) =>
    kinds.map((kind): Named => ({ $: kind, name, types }))
  );
  const found = candidates.find((each) => {
    const again = resolved(each);
    return again !== null && isSame(again, bound);
  });
  if (found === undefined) throw new NoText(name);
  names.set(bound, found);
  return found;
}

/** The function or operator of a name; null: there is none. */
function resolved(named: Named): BoundFunction | null {
  if (named.$ !== "function" && named.$ !== "operator") return null;
  const { name, types } = named;
  try {
    if (named.$ === "function") return resolveFunction(name, types);
    const [first, second] = types;
    if (first === undefined || types.length > 2) return null;
    return second === undefined
      ? resolveOperator(name, undefined, first)
      : resolveOperator(name, first, second);
  } catch {
    return null;
  }
}

/** Whether two were made by the same definition for the same types. */
function isSame(left: BoundFunction, right: BoundFunction): boolean {
  return left.name === right.name && left.strict === right.strict && left.volatility === right.volatility &&
    left.mayReturnNull === right.mayReturnNull && String(left.evaluate) === String(right.evaluate) &&
    String(left.inline) === String(right.inline) && sameTypes([left.returnType], [right.returnType]) &&
    sameTypes(left.argumentTypes, right.argumentTypes);
}

function sameTypes(left: readonly SqlType[], right: readonly SqlType[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function nameOfCast(cast: BoundCast): Named {
  const { from, to, requested } = cast;
  const again = findCast(from, to, requested);
  const name: Named = { $: cast.isCompared === true ? "compared" : "cast", from, to, as: requested };
  if (again === undefined || String(again.evaluate) !== String(cast.evaluate) && cast.isCompared !== true) {
    throw new NoText(`a cast to ${to.kind}`);
  }
  return name;
}

/** The part of an aggregate that is none. */
const WHOLE = -1;

function nameOfAggregate(aggregate: BoundAggregate): Named {
  const { whole, part } = partOf(aggregate) ?? { whole: aggregate, part: WHOLE };
  const { name, argumentTypes, writtenTypes = [] } = whole;
  for (const types of [writtenTypes, argumentTypes]) {
    try {
      const again = resolveAggregate(name, types);
      if (
        sameTypes(again.argumentTypes, argumentTypes) && sameTypes([again.returnType], [whole.returnType])
      ) {
        return { $: "aggregate", name, types, part };
      }
    } catch {
      // These types do not find it again.
    }
  }
  throw new NoText(name);
}

/** The fragment of a text. */
export function fragmentOfText(
  text: string,
  catalog: Catalog,
): Pick<Fragment, "plan" | "columns" | "parameters"> {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("$" in value)) return value;
    return unpack(value as Named, catalog);
  }) as Pick<Fragment, "plan" | "columns" | "parameters">;
}

/** The text of a function, operator or cast. Raises {@link NoText}. */
export function callText(called: BoundFunction | BoundCast): string {
  return JSON.stringify(pack(called));
}

/** Whether it has a text. */
export function hasText(called: BoundFunction | BoundCast): boolean {
  try {
    return callText(called) !== "";
  } catch (error) {
    if (error instanceof NoText) return false;
    throw error;
  }
}

/** The function, operator or cast of a text. */
export function callOfText(text: string): BoundFunction | BoundCast {
  return unpack(JSON.parse(text) as Named, Catalog.initial()) as BoundFunction | BoundCast;
}

function unpack(value: Named, catalog: Catalog): unknown {
  switch (value.$) {
    case "table":
      return assertDefined(catalog.table(value.id), `table ${value.id}`);
    case "index":
      return assertDefined(
        catalog.table(value.table)?.indexes.find(({ id }) => id === value.id),
        `index ${value.id}`,
      );
    case "function":
    case "operator":
      return assertDefined(resolved(value), value.name);
    case "cast":
    case "compared": {
      const cast = assertDefined(findCast(value.from, value.to, value.as), "a cast");
      return value.$ === "cast" ? cast : comparedCast(cast);
    }
    case "aggregate": {
      const whole = resolveAggregate(value.name, value.types);
      if (value.part === WHOLE) return whole;
      return value.part === MERGING ? mergingAggregate(whole) : aggregateOfPart(whole, value.part);
    }
    case "number":
      return Number(value.text);
    case "bigint":
      return BigInt(value.text);
    case "value":
      return decodeValueBytes(value.type, Uint8Array.fromHex(value.hex));
  }
}
