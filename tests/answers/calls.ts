/**
 * The calls whose answers are compared with PostgreSQL's: every operator, function and cast of the registry over the
 * edge values of its arguments, and the forms that have a syntax of their own.
 *
 * A signature takes each argument from a pool. Its calls are the whole product of the pools, or a sample of it that
 * depends on nothing but the pools. Patterns such as `anyelement` stand for several types, `numeric` for several
 * declared scales. What cannot be compared is in `excluded.ts`.
 */
import type { FunctionDefinition } from "../../engine/sql/functions/definition.ts";
import { allDefinitions } from "../../engine/sql/functions/registry.ts";
import { typeOfKey } from "../../engine/sql/functions/type_family.ts";
import { CAST_TYPES, hasPool, MODIFIED_TYPES, type Pool, poolOf } from "./edge_values.ts";
import { isExcluded } from "./excluded.ts";
import { argumentPools } from "./roles.ts";
import { specialForms } from "./special_forms.ts";

/** Something that is called with arguments of certain types. */
export interface Signature {
  /** What it is called in the table of answers. */
  readonly label: string;
  readonly pools: readonly Pool[];
  /** The call as an expression, for arguments that are literals or columns. */
  readonly call: (args: readonly string[]) => string;
}

/** The tables of answers. */
export const CALL_TABLES = ["operators", "functions", "casts", "forms"] as const;

/** One of the tables. */
export type CallTable = typeof CALL_TABLES[number];

/** Calls of one signature. */
const MAX_CALLS = 400;
/** Calls of a signature with three arguments or more. */
const MAX_SAMPLED_CALLS = 150;
/** Rows of a set-returning function. */
const MAX_ROWS = 10;

/** The signatures of a table, in order. */
export function signaturesOf(table: CallTable): Signature[] {
  switch (table) {
    case "operators":
      return unique(allDefinitions().operators.flatMap(operatorSignatures));
    case "functions":
      return unique(allDefinitions().functions.flatMap(functionSignatures));
    case "casts":
      return castSignatures();
    case "forms":
      return specialForms();
  }
}

/** The calls of pools: for each the positions of the arguments' values. */
export function callsOf(pools: readonly Pool[]): readonly (readonly number[])[] {
  const key = pools.map(({ name }) => name).join(", ");
  let calls = knownCalls.get(key);
  if (calls === undefined) {
    calls = sampleOf(
      pools.map(({ values }) => values.length),
      pools.length > 2 ? MAX_SAMPLED_CALLS : MAX_CALLS,
    );
    knownCalls.set(key, calls);
  }
  return calls;
}

const knownCalls = new Map<string, readonly (readonly number[])[]>();

/** All tuples below the sizes, in order, or as many of them as are wanted, which depend on nothing but the sizes. */
function sampleOf(sizes: readonly number[], most: number): number[][] {
  const total = sizes.reduce((product, size) => product * size, 1);
  const tupleAt = (position: number) => {
    const tuple: number[] = [];
    for (const size of sizes.toReversed()) {
      tuple.unshift(position % size);
      position = Math.floor(position / size);
    }
    return tuple;
  };
  if (total <= most) return Array.from({ length: total }, (_, position) => tupleAt(position));
  const chosen = new Set<number>();
  // A generator of the full period below a prime that is far above every product.
  for (let state = 1; chosen.size < most;) {
    state = (state * 48_271) % 2_147_483_647;
    chosen.add(state % total);
  }
  return [...chosen].sort((left, right) => left - right).map(tupleAt);
}

function unique(signatures: readonly Signature[]): Signature[] {
  return [...new Map(signatures.map((signature) => [signature.label, signature])).values()];
}

/** Whether a type is one that PostgreSQL does not have. */
function isOwnType(key: string): boolean {
  return /^[iu]8$|^u(16|32|64)$/.test(key);
}

function operatorSignatures(definition: FunctionDefinition): Signature[] {
  if (
    definition.signature.some(isOwnType) || isExcluded(`operator ${definition.name}`, definition.signature)
  ) return [];
  return argumentPools(definition).map((names) => ({
    label: names.length === 1
      ? `${definition.name} ${names[0]}`
      : `${names[0]} ${definition.name} ${names[1]}`,
    pools: names.map(poolOf),
    call: ([left, right]) =>
      right === undefined ? `${definition.name} ${left}` : `${left} ${definition.name} ${right}`,
  }));
}

function functionSignatures(definition: FunctionDefinition): Signature[] {
  if (definition.signature.some(isOwnType) || isExcluded(definition.name, definition.signature)) return [];
  const returnsRows = isSetReturning(definition);
  const plain = argumentPools(definition).map((names): Signature => ({
    label: `${definition.name}(${names.join(", ")})`,
    pools: names.map(poolOf),
    call: (args) => {
      const call = `"${definition.name}"(${args.join(", ")})`;
      if (!returnsRows) return call;
      return `array(select x::text from (select ${call} as x limit ${MAX_ROWS}) q)`;
    },
  }));
  return [...plain, ...spreadSignatures(definition)];
}

/** Calls of a variadic function with an array for the rest of its arguments. */
function spreadSignatures({ spread, name, category, returns }: FunctionDefinition): Signature[] {
  if (spread === undefined) return [];
  // `any` stands for an array here: the answer to anything else is the same error.
  const signature = spread.signature.map((key) => key === "any" ? "anyarray" : key);
  const form = { name, signature, category, returns, summary: "", bind: spread.bind };
  return argumentPools(form).map((names) => ({
    label: `${name}(${[...names.slice(0, -1), `variadic ${names.at(-1)}`].join(", ")})`,
    pools: names.map(poolOf),
    call: (args) => `"${name}"(${[...args.slice(0, -1), `variadic ${args.at(-1)}`].join(", ")})`,
  }));
}

function isSetReturning({ category, signature, bind }: FunctionDefinition): boolean {
  if (category === "set-returning") return true;
  const types = signature.map(typeOfKey).filter((type) => type !== undefined);
  return types.length === signature.length && bind(types)?.bound.rows !== undefined;
}

function castSignatures(): Signature[] {
  const targets = CAST_TYPES.map((name) => ({ name, type: poolOf(name).type }));
  const modified = MODIFIED_TYPES.map((type) => ({ name: type, type }));
  return [...targets, ...modified].flatMap(({ name, type }) => {
    const signature = (source: string): Signature => ({
      label: `${source} :: ${name}`,
      pools: [poolOf(source)],
      call: ([argument]) => `cast(${argument} as ${type})`,
    });
    const sources = CAST_TYPES.map(signature);
    return hasPool(`text/of ${name}`) ? [...sources, signature(`text/of ${name}`)] : sources;
  });
}
