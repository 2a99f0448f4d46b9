/**
 * Joins that look for the rows of a table by an index or their ids, for each row of the left side: whether that is one,
 * and the same join by hashing, for places where the rows that are looked for are elsewhere.
 */
import { assertDefined } from "../../base/assert.ts";
import { columnReference, conjunction, conjuncts, sameType } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan, ScanColumn } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf, inputs } from "../plan/traverse.ts";
import { isSteady } from "./steady_expression.ts";
import { type Placement, placementsOf } from "./join_places.ts";

type NestedLoop = Plan & { readonly kind: "nested_loop_join" };
type HashJoin = Plan & { readonly kind: "hash_join" };
type Lookup = Plan & { readonly kind: "row_lookup" | "index_scan" };

/** Rows that are fetched one by one rather than by a plan for many. */
const FEW_ROWS = 8;

/** A join by look-ups. */
export interface LookupJoin {
  readonly plan: NestedLoop;
  readonly right: Lookup;
  /** Columns of the right side with the values that are looked for; none: they are not all of one column each. */
  readonly keys: readonly { readonly column: ColumnRef; readonly value: Expression }[];
  /** The right side with these columns, whether anything else reads them or not. */
  readonly keyed: Lookup;
}

/** null: it is another join. */
export function lookupJoin(plan: NestedLoop, newColumn: () => ColumnRef): LookupJoin | null {
  const { right, join } = plan;
  if (right.kind !== "row_lookup" && right.kind !== "index_scan") return null;
  if (join === "right" || join === "full") return null;
  const found = right.kind === "row_lookup" ? idKey(right, newColumn) : indexKeys(right, newColumn);
  return { plan, right, ...found };
}

function idKey(right: Lookup & { readonly kind: "row_lookup" }, newColumn: () => ColumnRef): Keyed {
  const [value, ...more] = right.ids;
  if (value === undefined || more.length > 0) return { keys: [], keyed: right };
  const column = right.rowId ?? newColumn();
  return { keys: [{ column, value }], keyed: { ...right, rowId: column } };
}

type Keyed = Pick<LookupJoin, "keys" | "keyed">;

function indexKeys(right: Lookup & { readonly kind: "index_scan" }, newColumn: () => ColumnRef): Keyed {
  const { index, prefix, bounds, table } = right;
  const columns: ScanColumn[] = [...right.columns];
  const keys = prefix.map((value, part) => {
    const columnId = index.columns[part]?.columnId;
    let column = columns.find((each) => each.columnId === columnId);
    const definition = table.columns.find(({ id }) => id === columnId);
    if (column === undefined && definition !== undefined) {
      column = { columnId: definition.id, output: newColumn(), type: definition.type, nullable: true };
      columns.push(column);
    }
    return { column: column?.output ?? 0, value };
  });
  const isWhole = index.predicateText === null && bounds.low === null && bounds.high === null;
  const areColumns = keys.every(({ column }) => column !== 0);
  return areColumns && isWhole ? { keys, keyed: { ...right, columns } } : { keys: [], keyed: right };
}

/** Where the rows that are looked for are. */
export function placementsOfLookup({ keyed }: LookupJoin): readonly Placement[] {
  return placementsOf(keyed);
}

/** The join by hashing; null: it cannot be. */
export function asHashJoin({ plan, keys, keyed, right }: LookupJoin): HashJoin | null {
  if (keys.length === 0) return null;
  const own = allDefinedColumns(keyed);
  const isOwn = (each: Expression): boolean => [...columnsOf(each)].every((column) => own.has(column));
  const all = conjuncts(right.filter);
  const rows = Math.max(plan.left.rows, 1) * Math.max(right.rows, 1);
  const scan: Plan = {
    kind: "table_scan",
    table: keyed.table,
    columns: keyed.columns,
    rowId: keyed.rowId,
    filter: conjunction(all.filter(isOwn)),
    prune: [],
    rows,
  };
  const types = keys.map(({ column }) => {
    const named = keyed.columns.find(({ output }) => output === column);
    return named ?? { type: { kind: "i64" as const }, nullable: false };
  });
  const isSame = keys.every(({ value }, index) => {
    const { type } = assertDefined(types[index], "a type for each key");
    return sameType(type, value.type) || INTEGERS.has(type.kind) && INTEGERS.has(value.type.kind);
  });
  // What does not depend on the left side is no key.
  const isKey = keys.some(({ value }) => columnsOf(value).size > 0);
  if (!isSame || !isKey) return null;
  return {
    kind: "hash_join",
    join: plan.join,
    left: plan.left,
    right: scan,
    leftKeys: keys.map(({ value }) => value),
    rightKeys: keys.map(({ column }, index) => {
      const { type, nullable } = assertDefined(types[index], "a type for each key");
      return columnReference(column, type, nullable);
    }),
    residual: conjunction([...conjuncts(plan.condition), ...all.filter((each) => !isOwn(each))]),
    nullAware: false,
    rows: plan.rows,
  };
}

const INTEGERS: ReadonlySet<string> = new Set(["i16", "i32", "i64"]);

/** Whether a plan is expected to give no more rows than are fetched one by one, or cannot give more. */
export function givesFew(plan: Plan): boolean {
  switch (plan.kind) {
    case "row_lookup":
      return plan.ids.length <= FEW_ROWS;
    case "index_scan":
      return plan.index.unique && plan.prefix.length === plan.index.columns.length;
    case "filter":
    case "project":
    case "sort":
    case "distinct":
      return givesFew(plan.input);
    case "gather":
      return givesFew(plan.fragment.plan);
    case "limit":
      return plan.limit?.kind === "constant" && typeof plan.limit.value === "number" &&
          plan.limit.value <= FEW_ROWS || givesFew(plan.input);
    case "aggregate":
      return plan.groups.length === 0 && plan.groupingSets === null;
    case "nested_loop_join":
      return givesFew(plan.left) && givesFew(plan.right);
    case "values":
      return plan.list.length <= FEW_ROWS;
    default:
      return false;
  }
}

/** Whether a plan gives the same rows at all places: it reads no table. */
export function isEverywhere(plan: Plan): boolean {
  const own = allDefinedColumns(plan);
  switch (plan.kind) {
    case "values":
      return plan.list.every((row) => row.every((each) => isSteady(each, own)));
    case "distinct":
      return plan.keys.every((each) => isSteady(each, own)) && inputs(plan).every(isEverywhere);
    case "function_scan":
      return plan.input === null &&
        plan.functions.every(({ function: called, args }) =>
          called.userFunctionId === undefined && called.volatility === "immutable" &&
          args.every((each) => isSteady(each, own))
        );
    default:
      return false;
  }
}
