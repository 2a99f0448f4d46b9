/**
 * What a router knows of its shards, for plans and for those who operate it: the rows of each table at each shard, how
 * far the shards are with the log, what they take, and how much they are asked.
 */
import { Rate } from "../base/rate.ts";
import type { Host } from "../host/host.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import { visitPlan } from "../sql/plan/traverse.ts";
import type { ShardStatus } from "../system_catalog/shard_status.ts";
import { ColumnFigures } from "./column_figures.ts";
import type { ShardPort } from "./shard_port.ts";

/** How long whoever looks waits for a shard to say how it is. */
const LOOK_MICROSECONDS = 100_000;

/** Whoever asks for sizes within this time gets the same ones. */
const FRESH_MICROSECONDS = 1_000_000;

interface Known {
  readonly port: ShardPort;
  readonly requests: Rate;
  /** By table. */
  rows: Map<number, number>;
  /** How they have changed since the shard was asked; null: it has answered. */
  changed: Map<number, number> | null;
  /** The report that is on its way. */
  asking: Promise<void> | null;
  bytes: Map<number, number>;
  /** The newest entry of the log that is known to be applied there, and how many are since the start. */
  op: number;
  entries: number;
  heardAt: number;
}

/** See the file's head. */
export class ShardFigures {
  readonly #known: readonly Known[];
  readonly #host: Pick<Host, "clock" | "timers">;
  readonly columns: ColumnFigures;
  readonly #shown = new WeakMap<PlannedStatement, boolean>();

  constructor(ports: readonly ShardPort[], host: Pick<Host, "clock" | "timers">) {
    this.#host = host;
    this.columns = new ColumnFigures(ports, (tableId) => this.rowCount(tableId));
    this.#known = ports.map((port) => {
      const requests = new Rate();
      port.onSend = (count) => requests.add(count, host.clock.monotonic());
      return {
        port,
        requests,
        rows: new Map(),
        changed: null,
        asking: null,
        bytes: new Map(),
        op: 0,
        entries: 0,
        heardAt: host.clock.monotonic(),
      };
    });
  }

  /** Whether a statement shows them. */
  areIn(planned: PlannedStatement): boolean {
    let shows = this.#shown.get(planned);
    if (shows !== undefined) return shows;
    shows = false;
    visitPlan(planned.plan, {
      plan: (each) => shows ||= each.kind === "virtual_scan" && each.relation.name === "db_shards",
    });
    this.#shown.set(planned, shows);
    return shows;
  }

  /** Asks all shards for what plans go by: of all tables, or of one. */
  async learnColumns(tableId?: number): Promise<void> {
    if (tableId !== undefined) return await this.columns.learn(tableId);
    const tables = new Set(
      this.#known.flatMap(({ rows }) => [...rows].flatMap(([id, count]) => count > 0 ? [id] : [])),
    );
    await Promise.all([...tables].map((id) => this.columns.learn(id)));
  }

  /** Asks all shards. */
  async learn(): Promise<void> {
    await Promise.all(this.#known.map((known) => known.asking ??= this.#learn(known)));
  }

  async #learn(known: Known): Promise<void> {
    const { port } = known;
    const changed = known.changed = new Map();
    try {
      const report = await port.report();
      const { op, entries, tables } = report;
      Object.assign(known, { op, entries, heardAt: this.#host.clock.monotonic() });
      known.bytes = new Map(tables.map(({ id, bytes }) => [id, bytes]));
      const counts = known.rows = new Map(tables.map(({ id, rows }) => [id, rows]));
      for (const [tableId, difference] of changed) {
        counts.set(tableId, (counts.get(tableId) ?? 0) + difference);
      }
    } finally {
      known.changed = known.asking = null;
    }
  }

  /** Waits for what the shards say now, but not long for one that says nothing. */
  look(done: () => void, failed: (error: unknown) => void): void {
    const timer = this.#host.timers.setTimer(LOOK_MICROSECONDS, done);
    this.learn().then(() => {
      this.#host.timers.clearTimer(timer);
      done();
    }, failed);
  }

  /** What is known of each. */
  statuses(role: ShardStatus["role"]): ShardStatus[] {
    const now = this.#host.clock.monotonic();
    return this.#known.map((
      { port: { sent, sentEntries }, requests, rows, bytes, op, entries, heardAt },
      shard,
    ) => ({
      shard,
      role,
      op,
      lagOperations: sentEntries - entries,
      lastContactSeconds: (now - heardAt) / 1e6,
      rows: sumOf(rows.values()),
      bytes: sumOf(bytes.values()),
      ...sent,
      requestsPerSecond: requests.at(now),
    }));
  }

  /** The rows of a table at all shards. */
  rowCount(tableId: number): number {
    return sumOf(this.#known.map(({ rows }) => rows.get(tableId) ?? 0));
  }

  /** The bytes of a table at all shards, as they last said; they are asked anew for the next one. */
  bytes(tableId: number): number {
    const now = this.#host.clock.monotonic();
    if (this.#known.some(({ heardAt }) => now - heardAt > FRESH_MICROSECONDS)) this.learn().catch(() => {});
    return sumOf(this.#known.map(({ bytes }) => bytes.get(tableId) ?? 0));
  }

  /** So many rows have come or gone. */
  count(shard: number, tableId: number, difference: number): void {
    const known = this.#known[shard];
    for (const counts of [known?.rows, known?.changed]) {
      counts?.set(tableId, (counts.get(tableId) ?? 0) + difference);
    }
    this.columns.changed(tableId);
  }

  /** All rows of a table have gone. */
  empty(shard: number, tableId: number): void {
    this.count(shard, tableId, -(this.#known[shard]?.rows.get(tableId) ?? 0));
  }

  /** A table is gone. */
  forget(shard: number, tableId: number): void {
    this.#known[shard]?.rows.delete(tableId);
    this.columns.forget(tableId);
  }
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
