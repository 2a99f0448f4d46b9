/**
 * TABLESAMPLE: a condition on the rows of a table that holds for about the wanted share of them.
 *
 * A row is identified by its key, which is its id, or all values of a row of the system catalog. With REPEATABLE the
 * key and the seed decide, so that the same rows come as long as their ids stay. BERNOULLI without it asks chance for
 * each row; SYSTEM decides for runs of neighboring ids at once, with a seed that is drawn when a statement first
 * asks.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundFunction, EvaluationContext } from "../functions/definition.ts";
import type { TableSample } from "../parser/ast.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { bindExpression, callOf } from "./expression_binder.ts";
import type { QueryLevel } from "./scope.ts";

/** Ids that SYSTEM takes or leaves together; what a page of PostgreSQL holds of rows of a common size. */
const NEIGHBORS = 128;
const HASHES = 0x1_0000_0000;

/** The rows to choose from. */
interface Sampled {
  readonly input: Plan;
  readonly keys: readonly Expression[];
}

/** Restricts a plan to a sample of its rows. */
export function sample(binding: Binding, level: QueryLevel, rows: Sampled, ast: TableSample | null): Plan {
  const { input, keys } = rows;
  if (ast === null) return input;
  const method = ast.method.replace(/^pg_catalog\./, "");
  if (method !== "bernoulli" && method !== "system") {
    throw binding.error(
      SQLSTATE.undefinedObject,
      `tablesample method ${ast.method} does not exist`,
      ast.position,
    );
  }
  if (ast.args.length !== 1) {
    throw binding.error(
      SQLSTATE.invalidTablesampleArgument,
      `tablesample method ${method} requires 1 argument, not ${ast.args.length}`,
      ast.position,
    );
  }
  const [percentage, ...seed] = [...ast.args, ...(ast.repeatable === null ? [] : [ast.repeatable])].map((
    each,
  ) => bindExpression(binding, level, each));
  if (percentage === undefined) return input;
  const chosen = sampleFunction({ method, repeatable: seed.length > 0, keys: keys.map(({ type }) => type) });
  const condition = callOf(binding, chosen, [percentage, ...seed, ...keys], ast.position);
  return { kind: "filter", input, condition, rows: 0 };
}

function sampleFunction(
  options: {
    readonly method: "bernoulli" | "system";
    readonly repeatable: boolean;
    readonly keys: readonly SqlType[];
  },
): BoundFunction {
  const { method, repeatable, keys } = options;
  const unit = method === "system" && keys.length === 1 ? NEIGHBORS : 1;
  const evaluate = (context: EvaluationContext, percentage: SqlValue, ...rest: SqlValue[]): boolean => {
    const share = shareOf(percentage);
    if (repeatable) return hashRow(seedOf(rest[0] ?? null), rest.slice(1), unit) < share * HASHES;
    if (method === "bernoulli") return context.random() < share;
    return hashRow(statementSeed(context), rest, unit) < share * HASHES;
  };
  return {
    name: method,
    argumentTypes: [{ kind: "f32" }, ...(repeatable ? [{ kind: "f64" } as const] : []), ...keys],
    returnType: { kind: "bool" },
    volatility: repeatable ? "immutable" : "volatile",
    strict: false,
    mayReturnNull: false,
    evaluate,
  };
}

function shareOf(percentage: SqlValue): number {
  if (percentage === null) {
    throw new DatabaseError(SQLSTATE.invalidTablesampleArgument, "TABLESAMPLE parameter cannot be null");
  }
  const percent = Number(percentage);
  if (!(percent >= 0 && percent <= 100)) {
    throw new DatabaseError(
      SQLSTATE.invalidTablesampleArgument,
      "sample percentage must be between 0 and 100",
    );
  }
  return percent / 100;
}

const bits = new DataView(new ArrayBuffer(8));

function seedOf(value: SqlValue): number {
  if (value === null) {
    throw new DatabaseError(
      SQLSTATE.invalidTablesampleRepeat,
      "TABLESAMPLE REPEATABLE parameter cannot be null",
    );
  }
  bits.setFloat64(0, Number(value) + 0);
  return mix(mix(0x9e3779b9, bits.getUint32(0)), bits.getUint32(4));
}

const seeds = new WeakMap<EvaluationContext, { readonly timestamp: number; readonly seed: number }>();

/** The seed of the running statement. */
function statementSeed(context: EvaluationContext): number {
  const timestamp = context.statementTimestamp;
  const known = seeds.get(context);
  if (known !== undefined && known.timestamp === timestamp) return known.seed;
  const seed = Math.floor(context.random() * HASHES);
  seeds.set(context, { timestamp, seed });
  return seed;
}

/** One step of a hash of 32-bit words (MurmurHash3, with its final mixing after each word). */
function mix(state: number, word: number): number {
  let hash = Math.imul(word, 0xcc9e2d51);
  hash = Math.imul(hash << 15 | hash >>> 17, 0x1b873593) ^ state;
  hash = Math.imul(hash << 13 | hash >>> 19, 5) + 0xe6546b64 | 0;
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}

function hashRow(seed: number, keys: readonly SqlValue[], unit: number): number {
  let hash = seed;
  for (const key of keys) {
    if (typeof key === "number" || typeof key === "bigint") {
      const value = Math.floor(Number(key) / unit);
      hash = mix(mix(hash, value >>> 0), Math.floor(value / HASHES) >>> 0);
    } else if (typeof key === "string") {
      for (let index = 0; index < key.length; index++) hash = mix(hash, key.charCodeAt(index));
    } else hash = mix(hash, key === null ? 1 : key === true ? 2 : 3);
  }
  return hash;
}
