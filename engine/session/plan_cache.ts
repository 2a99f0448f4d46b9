/**
 * Compiled plans by the shape of their statement, shared by all sessions.
 *
 * A plan is good for one version of the catalog and one search path, and while its tables have about the size that it
 * was made for. Literals have been lifted out of the key, so that `id = 17` and `id = 18` share a plan.
 */
import type { CompiledStatement } from "../execution/execution.ts";
import type { ParsedStatement } from "../sql/parser/ast.ts";
import type { ExtractedLiteral } from "../sql/parser/fingerprint.ts";
import type { PlanningEnvironment } from "../sql/binder/environment.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import { LIMITS } from "../base/limits.ts";

/** The variables that a statement of a PL/pgSQL block can name; they are its parameters. */
export interface PlanVariables {
  readonly types: readonly SqlType[];
  /** What the binder is told of them. */
  readonly binding: Pick<PlanningEnvironment, "variable" | "assignedTypes">;
}

/** What a plan is made from. */
export interface PlanOrigin {
  readonly text: string;
  readonly parsed: ParsedStatement;
  readonly declared: readonly (SqlType | undefined)[];
  readonly literals: readonly ExtractedLiteral[];
  readonly variables?: PlanVariables;
}

/** A plan with what it takes to use it. */
export interface CachedPlan {
  readonly planned: PlannedStatement;
  readonly compiled: CompiledStatement;
  readonly catalogVersion: number;
  readonly searchPath: string;
  /** A modification that touches few rows and runs in one piece. */
  readonly short: boolean;
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
}

/** See the file's head. The least recently used plan goes first. */
export class PlanCache {
  readonly #plans = new Map<string, CachedPlan>();
  hits = 0;
  misses = 0;

  get size(): number {
    return this.#plans.size;
  }

  get(key: string): CachedPlan | undefined {
    const plan = this.#plans.get(key);
    if (plan === undefined) this.misses++;
    else this.hits++;
    return plan;
  }

  put(key: string, plan: CachedPlan): void {
    this.#plans.delete(key);
    this.#plans.set(key, plan);
    if (this.#plans.size > LIMITS.maximumCachedPlans) {
      const oldest = this.#plans.keys().next();
      if (!oldest.done) this.#plans.delete(oldest.value);
    }
  }

  clear(): void {
    this.#plans.clear();
  }
}
