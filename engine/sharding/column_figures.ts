/**
 * What a router knows of the values in columns at its shards, for plans: each shard says what its storage knows, and it
 * is joined as what the parts of a table know is. It is asked for anew when the table has changed by a tenth.
 */
import type { ColumnStatistics } from "../storage/access/readable_table.ts";
import { DistinctSketch } from "../storage/table/distinct_sketch.ts";
import { joinStatistics, type PartStatistics } from "../storage/table/table_statistics.ts";
import type { ColumnReport } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";

interface KnownTable {
  readonly columns: ReadonlyMap<number, ColumnStatistics>;
  /** How many rows there were when it was asked for. */
  readonly rows: number;
}

/** A table that has changed by more is asked for again. */
const CHANGED_FRACTION = 0.1;
const CHANGED_ROWS = 64;
/** Plans are made anew when it has changed by so much since it was first told of. */
const REPLAN_FACTOR = 8;

/** See the file's head. */
export class ColumnFigures {
  readonly #ports: readonly ShardPort[];
  readonly #rowCount: (tableId: number) => number;
  readonly #known = new Map<number, KnownTable>();
  readonly #asking = new Map<number, Promise<void>>();
  /** By table: grows when plans had better be made anew, and the rows that there were then. */
  readonly #versions = new Map<number, { readonly version: number; readonly rows: number }>();

  constructor(ports: readonly ShardPort[], rowCount: (tableId: number) => number) {
    this.#ports = ports;
    this.#rowCount = rowCount;
  }

  /** What is known of a column. */
  of(tableId: number, columnId: number): ColumnStatistics | undefined {
    return this.#known.get(tableId)?.columns.get(columnId);
  }

  /** Tells apart what plans were made with. */
  version(tableId: number): number {
    return this.#versions.get(tableId)?.version ?? 0;
  }

  /** The number of rows of a table has changed. */
  changed(tableId: number): void {
    const rows = this.#rowCount(tableId);
    const known = this.#known.get(tableId)?.rows ?? 0;
    if (Math.abs(rows - known) <= CHANGED_ROWS + known * CHANGED_FRACTION) return;
    // A shard that fails ends the engine by itself.
    this.learn(tableId).catch(() => {});
  }

  /** Asks all shards what they know of a table. */
  learn(tableId: number): Promise<void> {
    const running = this.#asking.get(tableId);
    if (running !== undefined) return running;
    const asking = this.#learn(tableId).finally(() => this.#asking.delete(tableId));
    this.#asking.set(tableId, asking);
    return asking;
  }

  /** The table is gone. */
  forget(tableId: number): void {
    this.#known.delete(tableId);
    this.#versions.delete(tableId);
  }

  async #learn(tableId: number): Promise<void> {
    const rows = this.#rowCount(tableId);
    const answers = await Promise.all(
      this.#ports.map((port) => port.call({ kind: "columns", tableId }).done),
    ) as unknown as readonly (readonly ColumnReport[])[];
    const parts = new Map<number, ColumnReport[]>();
    for (const report of answers.flat()) {
      const list = parts.get(report.columnId);
      if (list === undefined) parts.set(report.columnId, [report]);
      else list.push(report);
    }
    const columns = new Map<number, ColumnStatistics>();
    for (const [columnId, reports] of parts) {
      const sketch = new DistinctSketch();
      for (const { registers } of reports) {
        if (registers !== null) sketch.merge(new DistinctSketch(registers));
      }
      const joined = joinStatistics(reports as PartStatistics[], sketch.estimate());
      if (joined !== undefined) columns.set(columnId, joined);
    }
    this.#known.set(tableId, { columns, rows });
    const before = this.#versions.get(tableId);
    const isFar = before === undefined || rows > before.rows * REPLAN_FACTOR ||
      before.rows > rows * REPLAN_FACTOR;
    if (isFar) this.#versions.set(tableId, { version: (before?.version ?? 0) + 1, rows });
  }
}
