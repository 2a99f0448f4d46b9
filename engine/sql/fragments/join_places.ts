/**
 * Where the rows of a plan are, and how two inputs of a join come to lie together: they already do, the smaller side
 * goes to all places, or both go to the places that the hash of their keys says.
 */
import { shardKey } from "../../catalog/placement.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { sameType } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs } from "../plan/rewrite.ts";
import { inputs } from "../plan/traverse.ts";

type HashJoin = Plan & { readonly kind: "hash_join" };
type Access = Plan & { readonly kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" };

/**
 * Tables whose stretches threads take as they come: a fragment reads one table, its rows come in the table's order, and
 * nothing is asked of it that another division of the rows could answer otherwise.
 */
export interface SharedTables {
  /** How many rows a table has; a fragment gives few of them. */
  rows(tableId: number): number;
  /** Whether a table is stored in the order of a column, nearly. */
  isInOrderOf(tableId: number, columnId: number): boolean;
}

/**
 * What places have memory for: what a plan would keep at them; parts of that, in passes; or nothing, so that all that
 * is kept is kept where the rows of all places come together, and files can be written.
 */
export type Room = "all" | "parts" | "none";

/** How the database is spread, as far as plans follow it. */
export interface Spread {
  /** How many places there are. */
  readonly count: number;
  /** A side of a join that is larger, roughly, does not go to all places. */
  readonly broadcastBytes: number;
  readonly room: Room;
  /** The places are threads that share tables out; absent: each has rows of its own. */
  readonly shared?: SharedTables;
}

/** Rows of one group of plans that have equal values in these columns are at one place. */
export interface Placement {
  /** Tells apart ways of placing rows. */
  readonly group: string;
  readonly columns: readonly ColumnRef[];
}

/** All rows are at each place. */
const COPIED: Placement = { group: "copies", columns: [] };

/** Whether all rows of a plan are at each place. */
export function isCopied(placements: readonly Placement[]): boolean {
  return placements.includes(COPIED);
}

/** Where the rows of an access are, by columns that it gives. */
export function placementsOf(plan: Access): readonly Placement[] {
  const { table, rowId } = plan;
  if (table.shardBy?.kind === "all") return [COPIED];
  const outputOf = (id: number | null | undefined) =>
    plan.columns.find(({ columnId }) => columnId === id)?.output;
  const given = (group: string, columns: readonly (ColumnRef | null | undefined)[]): Placement[] =>
    columns.flatMap((column) => typeof column === "number" ? [{ group, columns: [column] }] : []);
  const ids = [rowId, outputOf(table.rowIdColumn)];
  const key = shardKey(table);
  const isById = key !== null && key.columnId === table.rowIdColumn;
  return [
    // A row is where it is.
    ...given(`rows of ${table.id}`, ids),
    ...given(`${key?.family} beside ${key?.rootId}`, isById ? ids : [outputOf(key?.columnId)]),
  ];
}

/** Whether rows that a join makes pairs of are at one place already. */
export function areColocated(
  { join, nullAware, leftKeys, rightKeys }: Pick<HashJoin, "join" | "nullAware" | "leftKeys" | "rightKeys">,
  left: readonly Placement[],
  right: readonly Placement[],
): boolean {
  // The side whose rows are given out without a partner must not be in several places.
  if (isCopied(right)) return isCopied(left) || join !== "right" && join !== "full";
  if (isCopied(left)) return join === "inner" || join === "right";
  if (nullAware) return false;
  const isKey = (first: ColumnRef, second: ColumnRef | undefined): boolean =>
    leftKeys.some((key, index) => {
      const other = rightKeys[index];
      return key.kind === "column" && key.column === first && other?.kind === "column" &&
        other.column === second;
    });
  return left.some((one) =>
    right.some((other) =>
      one.group === other.group && one.columns.every((column, index) => isKey(column, other.columns[index]))
    )
  );
}

/** Where the rows of a join of inputs that lie together are. */
export function placementsAfter(
  join: HashJoin["join"],
  left: readonly Placement[],
  right: readonly Placement[],
): readonly Placement[] {
  if (isCopied(left)) return right;
  if (isCopied(right)) return left;
  switch (join) {
    case "inner":
      return [...left, ...right];
    case "left":
    case "semi":
    case "anti":
      return left;
    case "right":
      return right;
    case "full":
      return [];
  }
}

/** The group of rows that were placed by the hash of values of these types. */
export function hashGroup(keys: readonly { readonly type: SqlType; readonly other: SqlType }[]): string {
  return `hash ${
    JSON.stringify(keys.map(({ type, other }) => sameType(type, other) ? type : [type, other]))
  }`;
}

/** How the sides of a join come together. */
export type Way = "broadcast_left" | "broadcast_right" | "repartition";

/** The way on which the fewest bytes travel; null: there is none. */
export function wayOf(
  { join, nullAware }: Pick<HashJoin, "join" | "nullAware">,
  bytes: { readonly left: number; readonly right: number },
  { count, broadcastBytes, room }: Spread,
): { readonly way: Way; readonly bytes: number } | null {
  const ways: { readonly way: Way; readonly bytes: number }[] = [];
  const others = count - 1;
  const most = room === "all" ? broadcastBytes : -1;
  // The side whose rows are given out without a partner must not be in several places.
  if (bytes.right <= most && join !== "right" && join !== "full") {
    ways.push({ way: "broadcast_right", bytes: bytes.right * others });
  }
  if (bytes.left <= most && (join === "inner" || join === "right")) {
    ways.push({ way: "broadcast_left", bytes: bytes.left * others });
  }
  // NOT IN asks whether there is a NULL anywhere.
  if (!nullAware) {
    ways.push({ way: "repartition", bytes: (bytes.left + bytes.right) * others / count });
  }
  return ways.reduce<typeof ways[number] | null>(
    (best, each) => best === null || each.bytes < best.bytes ? each : best,
    null,
  );
}

/** Roughly what a value takes on its way. */
export function widthOf(type: SqlType): number {
  switch (type.kind) {
    case "text":
    case "bytea":
    case "json":
    case "jsonb":
    case "array":
    case "record":
      return 32;
    default:
      return 8;
  }
}

/** Roughly the bytes of a plan's rows with columns of these types. */
export function bytesOf(rows: number, columns: readonly { readonly type: SqlType }[]): number {
  return rows * columns.reduce((sum, { type }) => sum + widthOf(type), 8);
}

/** Roughly what a hash join takes for a row that it keeps, beside its columns: key, chain, bucket, filter. */
const KEPT_ROW_BYTES = 40;

/** Roughly what hash joins keep of exchanges in passes; null: there is no such exchange. */
export function exchangedBytes(plan: Plan): number | null {
  if (plan.kind === "exchange") return plan.inPasses ? 0 : null;
  const beneath = inputs(plan).map(exchangedBytes).filter((each) => each !== null);
  if (beneath.length === 0) return null;
  const sum = beneath.reduce((total, each) => total + each, 0);
  if (plan.kind !== "hash_join") return sum;
  const kept = plan.keepsLeft === true ? plan.left : plan.right;
  // Buffers grow by doubling.
  return sum +
    (kept.kind === "exchange" && kept.inPasses
      ? 2 * bytesOf(kept.rows, kept.columns) + kept.rows * KEPT_ROW_BYTES
      : 0);
}

/** The plan as the input of an exchange, all of whose rows are wanted in each pass. */
export function withoutPasses(plan: Plan): Plan {
  if (plan.kind === "exchange") return { ...plan, inPasses: false };
  return mapInputs(plan, withoutPasses);
}

/** The column that a key is, if it is one. */
export function columnOfKey(key: Expression): ColumnRef | null {
  return key.kind === "column" ? key.column : null;
}
