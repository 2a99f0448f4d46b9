/**
 * Several indexes for one table: each finds ids, OR unites and AND intersects them, and then each row that has one of
 * the ids is looked up once.
 */
import { LIMITS } from "../../base/limits.ts";
import { BLOCK_ROWS } from "../../storage/access/block.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { columnReference, conjunction, expressionKey, hasSubquery } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { columnsOf } from "../plan/traverse.ts";
import { COST } from "./cost.ts";
import type { Estimator } from "./estimate.ts";

/** A way into a table. */
export interface Candidate {
  readonly plan: Plan;
  readonly cost: number;
}

/** A plan that gives ids of rows. */
export interface IdSource extends Candidate {
  readonly rowId: ColumnRef;
}

/** Rows of a table that meet conditions. */
export interface WantedRows {
  readonly scan: Plan & { readonly kind: "table_scan" };
  readonly conditions: readonly Expression[];
  readonly tableRows: number;
  readonly rows: number;
}

/** Ids of the rows that satisfy some of the conditions. */
interface Found extends IdSource {
  readonly used: readonly Expression[];
  readonly rows: number;
}

/** Conditions with more branches are asked of each row. */
const MAX_BRANCHES = 16;
/** Indexes that are tried together, those that find least. */
const MAX_TRIED = 4;
/** What costs less is not worth the time to look for more. */
const MIN_COST = 100_000;

const I64: SqlType = { kind: "i64" };

/** See the file's head. */
export class CombinedIndexes {
  readonly #estimator: Estimator;
  readonly #newColumn: () => ColumnRef;
  readonly #idsOf: (scan: WantedRows["scan"], condition: Expression) => IdSource | null;

  /** `idsOf` answers the best way to the ids of the rows that satisfy a condition; null: an index does not help. */
  constructor(
    estimator: Estimator,
    newColumn: () => ColumnRef,
    idsOf: (scan: WantedRows["scan"], condition: Expression) => IdSource | null,
  ) {
    this.#estimator = estimator;
    this.#newColumn = newColumn;
    this.#idsOf = idsOf;
  }

  /** What finds ids by conditions joined by OR. */
  unions(wanted: WantedRows): Candidate[] {
    return this.#unionsOf(wanted).map((union): Candidate => ({
      plan: this.#lookup(wanted, union),
      cost: union.cost + union.rows * (COST.aggregateRow + COST.rowLookup),
    }));
  }

  #unionsOf(wanted: WantedRows): Found[] {
    return wanted.conditions.flatMap((each) => this.#union(wanted, each) ?? []);
  }

  /**
   * `a = 1 AND b = 2`, better than a single index or scan: ids of several cost more than a look at rows of one, as long
   * as those are in the block cache. Null: it is not.
   */
  intersection(wanted: WantedRows, single: Candidate): Plan | null {
    if (single.cost < MIN_COST || wanted.conditions.length < 2) return null;
    const missing = this.#missing(wanted);
    if (missing === 0) return null;
    const best = this.#intersection(wanted, [...this.#unionsOf(wanted), ...this.#singles(wanted)], missing);
    if (best === null) return null;
    return best.cost < single.cost + missing * COST.blockMiss * this.#blocksOf(wanted, single.plan)
      ? best.plan
      : null;
  }

  /** Blocks that an access reads to ask the rest of the conditions. */
  #blocksOf({ scan, tableRows }: WantedRows, plan: Plan): number {
    if (plan.kind !== "index_scan" && plan.kind !== "table_scan" || plan.filter === null) return 0;
    const own = new Set(scan.columns.map(({ output }) => output));
    const columns = [...columnsOf(plan.filter)].filter((column) => own.has(column)).length;
    const rows = plan.rows / Math.max(1e-9, this.#estimator.selectivity(plan.filter));
    return columns * Math.min(rows, tableRows / BLOCK_ROWS);
  }

  /** The share of the blocks of the table that the cache does not hold. */
  #missing({ scan, tableRows }: WantedRows): number {
    const bytes = this.#estimator.storedBytes({
      ...accessOf({ scan, tableRows, conditions: [], rows: 1 }, []),
      kind: "row_lookup",
      ids: [],
    });
    return Math.max(0, 1 - LIMITS.blockCacheBytes / bytes);
  }

  /** `a = 1 OR b = 2`: what each branch finds in an index of its own; null: one finds nothing so. */
  #union({ scan, tableRows }: WantedRows, condition: Expression): Found | null {
    if (condition.kind !== "or" || condition.args.length > MAX_BRANCHES || hasSubquery(condition)) {
      return null;
    }
    const found: IdSource[] = [];
    for (const branch of condition.args) {
      const ids = this.#idsOf(scan, branch);
      if (ids === null) return null;
      found.push(ids);
    }
    const rows = Math.min(tableRows, found.reduce((sum, { plan }) => sum + this.#estimator.rows(plan), 0));
    return this.#combined("union", found, {
      rows,
      cost: found.reduce((sum, { cost }) => sum + cost, 0),
      used: [condition],
    });
  }

  /** What each index finds by all conditions on its columns. */
  #singles({ scan, conditions }: WantedRows): Found[] {
    const result = new Map<string, Found>();
    for (const { columns } of scan.table.indexes) {
      const outputs = new Set(
        columns.flatMap(({ columnId }) =>
          scan.columns.find((column) => column.columnId === columnId)?.output ?? []
        ),
      );
      const own = new Set(scan.columns.map(({ output }) => output));
      const used = conditions.filter((each) => {
        const asked = [...columnsOf(each)].filter((column) => own.has(column));
        return each.kind !== "or" && asked.length > 0 && asked.every((column) => outputs.has(column)) &&
          !hasSubquery(each);
      });
      const condition = conjunction(used);
      const key = used.map(expressionKey).join();
      const ids = condition === null || result.has(key) ? null : this.#idsOf(scan, condition);
      if (ids === null) continue;
      const rows = this.#estimator.rows(ids.plan);
      result.set(key, { ...ids, rows, used });
    }
    return [...result.values()];
  }

  /** `a = 1 AND b = 2`: the ids that all find. */
  #intersection(wanted: WantedRows, all: readonly Found[], missing: number): Candidate | null {
    let best: Candidate | null = null;
    let chosen: Found[] = [];
    const sorted = [...all].sort((a, b) => a.rows - b.rows).slice(0, MAX_TRIED);
    for (const each of sorted) {
      const used = chosen.flatMap((other) => other.used);
      if (each.used.every((condition) => used.includes(condition))) continue;
      const next = [...chosen, each];
      const conditions = [...new Set([...used, ...each.used])];
      const rows = wanted.tableRows * this.#estimator.selectivity(conjunction(conditions));
      const cost = next.reduce((sum, one) => sum + one.cost + one.rows * COST.aggregateRow, 0) +
        rows * (COST.rowLookup + missing * COST.blockMiss);
      if (next.length > 1 && best !== null && cost >= best.cost) continue;
      if (next.length > 1) {
        const ids = this.#combined("intersect", next, { rows, cost, used: conditions });
        best = { plan: this.#lookup(wanted, ids), cost };
      }
      chosen = next;
    }
    return best;
  }

  #combined(
    operation: "union" | "intersect",
    sources: readonly IdSource[],
    facts: Pick<Found, "rows" | "cost" | "used">,
  ): Found {
    const rowId = this.#newColumn();
    const inputs = sources.map((each) => ({ plan: each.plan, columns: [each.rowId] }));
    const plan: Plan = {
      kind: "set_operation",
      operation,
      all: false,
      inputs,
      outputs: [rowId],
      types: [I64],
      rows: facts.rows,
    };
    return { ...facts, plan, rowId };
  }

  /** The rows of ids. */
  #lookup(wanted: WantedRows, { plan, rowId, used }: Found): Plan {
    return {
      kind: "nested_loop_join",
      join: "inner",
      left: plan,
      right: {
        ...accessOf(wanted, used),
        kind: "row_lookup",
        ids: [columnReference(rowId, I64, false)],
        rows: 1,
      },
      condition: null,
      correlated: true,
      rows: wanted.rows,
    };
  }
}

/** What all accesses have in common, with the conditions that are not used in the filter. */
export function accessOf({ scan, conditions, rows }: WantedRows, used: readonly Expression[]) {
  const keys = new Set(used.map(expressionKey));
  return {
    table: scan.table,
    columns: scan.columns,
    rowId: scan.rowId,
    filter: conjunction(conditions.filter((each) => !keys.has(expressionKey(each)))),
    rows,
  };
}
