/**
 * Compiled plans by the shape of their statement, shared by all sessions.
 *
 * A plan is good for one version of the catalog and one search path, and while its tables have about the size that it
 * was made for. Literals have been lifted out of the key, so that `id = 17` and `id = 18` share a plan.
 */
import type { CompiledStatement } from "../execution/runtime/execution.ts";
import type { ExtractedLiteral } from "../sql/parser/fingerprint.ts";
import type { PlanningEnvironment } from "../sql/binder/environment.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { FragmentPoint, Plan, PlannedStatement } from "../sql/plan/plan.ts";
import type { LiteralReader } from "../sql/plan/peeked_literals.ts";
import { visitPlan } from "../sql/plan/traverse.ts";
import type { Expression } from "../sql/plan/expression.ts";
import { AssertionError } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { StatementTree } from "./statement_tree.ts";

/** The variables that a statement of a PL/pgSQL block can name; they are its parameters. */
export interface PlanVariables {
  readonly types: readonly SqlType[];
  /** What the binder asks about them. */
  readonly binding: Pick<PlanningEnvironment, "variable" | "assignedTypes">;
}

/** What a plan is made from. */
export interface PlanOrigin {
  readonly text: string;
  readonly tree: StatementTree;
  readonly declared: readonly (SqlType | undefined)[];
  readonly literals: readonly ExtractedLiteral[];
  readonly variables?: PlanVariables;
}

/** Plans of one shape that are for literals which select few or many rows. */
export interface PlanVariants {
  /** Tells apart for which of them literals are. */
  readonly of: (read: LiteralReader) => string;
  /** What this one is for, and what others are. */
  readonly own: string;
  readonly others: Set<string>;
}

/** A plan with what it takes to use it. */
export interface CachedPlan {
  readonly planned: PlannedStatement;
  /** Null: it is for any literals. */
  readonly variants: PlanVariants | null;
  readonly compiled: CompiledStatement;
  readonly catalogSerial: number;
  readonly searchPath: readonly string[];
  /** A modification that touches few rows and runs in one piece. */
  readonly short: boolean;
  /** Its text bounds its work, however long that takes. */
  readonly isBounded: boolean;
  /** The only row that it changes or locks, which can be fetched before it runs; null: it is not known beforehand. */
  readonly point: FragmentPoint | null;
  /** A query that finds few rows by id or key, and ends in its first piece. */
  readonly isPoint: boolean;
  /** It looks up one row by id, and nothing else. */
  readonly isSingleRow: boolean;
  /** Its constants may decide which indexes serve it: it must be planned with them. */
  readonly pinsLiterals: boolean;
  /** Parameters before the lifted literals. */
  readonly parameterCount: number;
  /** What it was made from, to make it anew. */
  readonly origin: PlanOrigin;
  /** Rows of each table when it was planned, in the order of `planned.tableIds`. */
  readonly tableRows: readonly number[];
  /** What was known of columns then, and after how many analyses it was still the same. */
  readonly statisticsVersion: number;
  analyses: number;
  /** What it holds in memory, roughly; see {@link planBytes}. */
  readonly bytes: number;
  /** The cache has taken its operators and code away: it must be made anew. */
  readonly isDropped: boolean;
}

/**
 * Plans from this size on share a part of the cache of their own, so that one does not push hundreds of small ones
 * out.
 */
const LARGE_PLAN_BYTES = LIMITS.cachedPlanBytes / 64;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** See the file's head. */
export class PlanCache {
  readonly #small = new Shelf(LIMITS.maximumCachedPlans);
  readonly #large = new Shelf(LIMITS.maximumCachedPlans);
  #aside = 0;
  hits = 0;
  misses = 0;

  get size(): number {
    return this.#small.plans.size + this.#large.plans.size;
  }

  /** What the plans hold in memory, roughly. */
  get bytes(): number {
    return this.#small.bytes + this.#large.bytes;
  }

  get(key: string): CachedPlan | undefined {
    const plan = this.#small.plans.get(key) ?? this.#large.plans.get(key);
    if (plan === undefined) this.misses++;
    else this.hits++;
    return plan;
  }

  put(key: string, plan: CachedPlan): void {
    for (const shelf of [this.#small, this.#large]) {
      shelf.remove(key);
      shelf.removeBefore(plan.catalogSerial);
    }
    (plan.bytes < LARGE_PLAN_BYTES ? this.#small : this.#large).put(key, plan);
  }

  /** Keeps a plan that no other statement may find, so that it is counted and dropped as others are. */
  putAside(plan: CachedPlan): void {
    if (plan.bytes >= LARGE_PLAN_BYTES) this.#large.put(`aside ${++this.#aside}`, plan);
  }

  clear(): void {
    this.#small.clear();
    this.#large.clear();
  }
}

/**
 * Plans of similar size. The oldest goes first, whoever holds it: what is still used is planned again and is young
 * then.
 */
class Shelf {
  readonly plans = new Map<string, Writable<CachedPlan>>();
  readonly #maximumPlans: number;
  bytes = 0;

  constructor(maximumPlans: number) {
    this.#maximumPlans = maximumPlans;
  }

  put(key: string, plan: CachedPlan): void {
    this.plans.set(key, plan);
    this.bytes += plan.bytes;
    for (const oldest of this.plans.keys()) {
      const isTooMany = this.plans.size > this.#maximumPlans;
      if (oldest === key || !isTooMany && this.bytes <= LIMITS.cachedPlanBytes) break;
      this.remove(oldest);
    }
  }

  remove(key: string): void {
    const plan = this.plans.get(key);
    if (plan === undefined) return;
    this.plans.delete(key);
    this.bytes -= plan.bytes;
    // A small plan may live on with the statement that was prepared with it; large ones live here alone.
    if (plan.bytes >= LARGE_PLAN_BYTES) drop(plan);
  }

  /** Removes plans of versions of the catalog that are over: nobody can use them again. */
  removeBefore(catalogSerial: number): void {
    for (const [key, plan] of this.plans) {
      // Plans are made for the newest version, but for those of transactions that changed the catalog themselves.
      if (plan.catalogSerial >= catalogSerial) return;
      this.remove(key);
    }
  }

  clear(): void {
    for (const key of [...this.plans.keys()]) this.remove(key);
  }
}

/** Takes from a plan what is large. An execution that has begun keeps what it needs. */
function drop(plan: Writable<CachedPlan>): void {
  const { parts: _parts, ...planned } = plan.planned;
  plan.isDropped = true;
  plan.planned = { ...planned, plan: { kind: "values", outputs: [], types: [], list: [], rows: 0 } };
  plan.compiled = DROPPED;
}

const DROPPED: CompiledStatement = {
  start: () => {
    throw new AssertionError("a plan that was dropped is made anew before it runs");
  },
  source: () => "",
};

/** Bytes that an operand takes with what is remembered of it; measured, with code that was generated for it. */
const LEAF_BYTES = 200;
const OPERATION_BYTES = 600;
const OPERATOR_BYTES = 2000;

/** What a plan will hold in memory, roughly, with its code. */
export function planBytes(planned: PlannedStatement, text: string): number {
  let bytes = 2 * text.length;
  const count = {
    plan: (plan: Plan) => {
      bytes += OPERATOR_BYTES;
      if (plan.kind !== "function_scan") return;
      for (const call of plan.functions) bytes += call.function.heldBytes ?? 0;
    },
    expression: (each: Expression) => {
      bytes += each.kind === "constant" || each.kind === "parameter" || each.kind === "column"
        ? LEAF_BYTES
        : OPERATION_BYTES;
      if (each.kind === "call") bytes += each.function.heldBytes ?? 0;
    },
  };
  visitPlan(planned.plan, count);
  for (const part of planned.parts ?? []) visitPlan(part.planned.plan, count);
  return bytes;
}
