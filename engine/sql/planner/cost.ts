/**
 * The cost of plans, in nanoseconds as measured roughly on this engine: rows of a scan are cheap, because they come
 * in vectors; a look-up by id or index is dear by comparison, and dearer still in a table that the block cache cannot
 * hold.
 */
import { LIMITS } from "../../base/limits.ts";
import type { Plan } from "../plan/plan.ts";
import { inputs, ownExpressions } from "../plan/traverse.ts";
import { hasSubquery } from "../plan/build.ts";
import { DEFAULT_BETWEEN, DEFAULT_RANGE, type Estimator } from "./estimate.ts";
import { type KeyRange, rangeInOrder } from "./key_range.ts";

/** Unit costs. */
export const COST = {
  scanStart: 3000,
  scanRow: 8,
  rowLookup: 800,
  rangeStart: 700,
  rangeRow: 60,
  indexStart: 1500,
  indexRow: 600,
  filterRow: 3,
  subqueryRow: 2000,
  hashStart: 2000,
  hashBuildRow: 40,
  hashProbeRow: 10,
  joinOutputRow: 15,
  nestedRow: 6,
  aggregateRow: 30,
  sortRow: 15,
  projectRow: 3,
  /** Reading, verifying and decoding a block that is not in the cache. */
  blockMiss: 30_000,
} as const;

/**
 * How many times the expected number of look-ups is counted. That number may be wrong by a factor of a hundred, and
 * look-ups take as much longer then, while a scan with a hash join takes what it takes: of two plans that seem to cost
 * the same it is the one whose cost is known.
 */
const LOOKUP_RISK = 3;

/**
 * The cost of sorting so many rows, of which the first `limit` are wanted: most rows are compared with the last of
 * those alone.
 */
export function sortCost(rows: number, limit = rows): number {
  const kept = Math.min(rows, limit);
  return (rows - kept + kept * Math.log2(kept + 2)) * COST.sortRow;
}

/** The cost of comparing so many rows with others, which are kept in the order of a range if there is one. */
export function nestedCost(left: number, right: number, range: KeyRange | null): number {
  if (range === null) return left * right * COST.nestedRow;
  const share = range.low === null || range.high === null ? DEFAULT_RANGE : DEFAULT_BETWEEN;
  return left * (Math.log2(right + 2) * COST.sortRow + right * share * COST.nestedRow);
}

/** Computes and remembers costs of plans. */
export class CostModel {
  readonly #estimator: Estimator;
  readonly #costs = new WeakMap<Plan, number>();

  constructor(estimator: Estimator) {
    this.#estimator = estimator;
  }

  /** The cost of running a plan once, to its end. */
  cost(plan: Plan): number {
    const known = this.#costs.get(plan);
    if (known !== undefined) return known;
    const cost = this.#compute(plan);
    this.#costs.set(plan, cost);
    return cost;
  }

  /** The cost of running a look-up once for each of about so many rows, which ask for keys in no order. */
  lookups(plan: Plan, count: number): number {
    return count * LOOKUP_RISK * (this.cost(plan) + this.#misses(plan));
  }

  /** What a look-up waits for blocks that the cache does not hold. */
  #misses(plan: Plan): number {
    if (plan.kind !== "row_lookup" && plan.kind !== "index_scan") return 0;
    const bytes = this.#estimator.storedBytes(plan);
    const missing = 1 - LIMITS.blockCacheBytes / bytes;
    if (missing <= 0) return 0;
    const rows = Math.max(1, this.#estimator.rows(plan));
    const blocks = (plan.kind === "index_scan" ? 1 : 0) + rows * plan.columns.length;
    return blocks * missing * COST.blockMiss;
  }

  #hashJoin(plan: Extract<Plan, { readonly kind: "hash_join" }>): number {
    const [kept, asking] = plan.keepsLeft === true ? [plan.left, plan.right] : [plan.right, plan.left];
    return this.#inputs(plan) + COST.hashStart + this.#estimator.rows(kept) * COST.hashBuildRow +
      this.#estimator.rows(asking) * COST.hashProbeRow;
  }

  #inputs(plan: Plan): number {
    return inputs(plan).reduce((sum, input) => sum + this.cost(input), 0);
  }

  #compute(plan: Plan): number {
    const rows = this.#estimator.rows(plan);
    const subqueries = ownExpressions(plan).some(hasSubquery) ? rows * COST.subqueryRow : 0;
    switch (plan.kind) {
      case "table_scan":
        return COST.scanStart + this.#estimator.tableRows(plan.table) * COST.scanRow + subqueries;
      case "row_lookup":
        return plan.ids.length * COST.rowLookup;
      case "row_range":
        return COST.rangeStart + rows * COST.rangeRow;
      case "index_scan":
        return COST.indexStart + rows * COST.indexRow;
      case "hash_join":
        return this.#hashJoin(plan) + rows * COST.joinOutputRow;
      case "nested_loop_join": {
        const left = this.#estimator.rows(plan.left);
        if (plan.correlated) {
          return this.cost(plan.left) + this.lookups(plan.right, left) + rows * COST.joinOutputRow;
        }
        return this.#inputs(plan) + nestedCost(left, this.#estimator.rows(plan.right), rangeInOrder(plan));
      }
      case "aggregate":
      case "distinct":
      case "window":
      case "set_operation":
        return this.#inputs(plan) + inputs(plan).reduce((sum, each) => sum + this.#estimator.rows(each), 0) *
            COST.aggregateRow;
      case "sort":
        return this.#inputs(plan) + sortCost(this.#estimator.rows(plan.input));
      case "filter":
        return this.#inputs(plan) + this.#estimator.rows(plan.input) * COST.filterRow + subqueries;
      default:
        return this.#inputs(plan) + rows * COST.projectRow + subqueries;
    }
  }
}
