/**
 * How a router fetches rows for a transaction: it gives the transaction a snapshot at the shards that can have them,
 * asks these together, and puts what comes into tables of the transaction.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { batchMemory } from "../transactions/batch_values.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { rowBytes } from "../transactions/write_set.ts";
import type { Asking } from "./asking.ts";
import type { Branch } from "./branch.ts";
import type { FetchedTable } from "./fetched_table.ts";
import type { MissedPoints } from "./missed_points.ts";
import { type Point, pointBytes, type PointKey, PointList } from "./points.ts";
import type { Routes } from "./routes.ts";
import type { BulkWanted, FetchedRows, Wanted } from "./shard_messages.ts";

/** Points that are asked of a shard in one message, and what they take. */
const POINTS_AT_ONCE = 4096;
const BYTES_AT_ONCE = 512 << 10;

/** What it needs of the router. */
export interface FetchingRouter {
  readonly routes: Routes;
  readonly asking: Asking;
  /** Resolves when all shards know the definitions that the router knows; null: they do. */
  defined(): Promise<void> | null;
  /** Gives the transaction a snapshot at these shards. */
  reach(transaction: Transaction, branch: Branch, shards: readonly number[]): Promise<void>;
  /** Whether the rows of a table have moved to other shards since the cut. */
  isMoved(branch: Branch, tableId: number): boolean;
}

/** What is asked of one shard. */
interface Asked {
  readonly shard: number;
  readonly table: FetchedTable;
  readonly wanted: Wanted;
}

/** Who wants something. */
export interface Fetching {
  readonly transaction: Transaction;
  readonly branch: Branch;
  readonly abort: AbortSignal;
}

/** See the file's head. */
export class Fetches {
  readonly #router: FetchingRouter;

  constructor(router: FetchingRouter) {
    this.#router = router;
  }

  /** Fetches many rows of a table. */
  async bulk(fetching: Fetching, table: FetchedTable, wanted: BulkWanted): Promise<void> {
    const { routes } = this.#router;
    const { branch } = fetching;
    const find = (): readonly number[] => routes.ofFetch(branch, table.definition.id, wanted);
    if (!await this.#reach(fetching, [table], find)) return;
    await this.#forgetting(branch, [table], async () => {
      await this.#ask(fetching, find().map((shard) => ({ shard, table, wanted })));
      table.complete(wanted);
    });
  }

  /** Fetches what an attempt has missed. Answers whether any of it is there. */
  async missed(fetching: Fetching, missed: MissedPoints): Promise<boolean> {
    const { branch } = fetching;
    const tables = [...missed.tables.keys()];
    const find = (): Set<number> => {
      const shards = new Set<number>();
      for (const [table, points] of missed.tables) {
        for (const point of points.values()) {
          for (const shard of this.#router.routes.ofPoint(branch, table.definition.id, point)) {
            shards.add(shard);
          }
        }
      }
      return shards;
    };
    if (!await this.#reach(fetching, tables, find)) return false;
    return await this.#forgetting(branch, tables, async () => {
      branch.bytes += missed.bytes;
      let isFound = false;
      for (const asked of this.#rounds(branch, missed)) {
        isFound = await this.#ask(fetching, asked) || isFound;
      }
      for (const [table, points] of missed.tables) table.know(points.keys());
      return isFound;
    });
  }

  /** What is asked in each turn. */
  #rounds(branch: Branch, missed: MissedPoints): Asked[][] {
    const byShard = new Map<number, Messages>();
    for (const [table, points] of missed.tables) {
      for (const [key, point] of points) {
        for (const shard of this.#router.routes.ofPoint(branch, table.definition.id, point)) {
          let messages = byShard.get(shard);
          if (messages === undefined) byShard.set(shard, messages = new Messages());
          messages.add(table, point, key);
        }
      }
    }
    const rounds: Asked[][] = [];
    for (const [shard, { list }] of [...byShard].toSorted(([a], [b]) => a - b)) {
      for (const [round, tables] of list.entries()) {
        const asked = rounds[round] ??= [];
        for (const [table, { points: wanted }] of tables) asked.push({ shard, table, wanted });
      }
    }
    return rounds;
  }

  /** false: nobody needs it any more, or what was fetched before had to be forgotten. */
  async #reach(
    { transaction, branch, abort }: Fetching,
    tables: readonly FetchedTable[],
    find: () => Iterable<number>,
  ): Promise<boolean> {
    const defined = this.#router.defined();
    if (defined !== null) await defined;
    abort.throwIfAborted();
    if (!transaction.isOpen) return false;
    await this.#router.reach(transaction, branch, [...find()]);
    if (tables.some(({ definition }) => this.#router.isMoved(branch, definition.id))) {
      if (transaction.seesAnew) return false;
      throw changedMeanwhile();
    }
    return tables.every((table) => branch.has(table));
  }

  /** What fails half-way leaves nothing that looks as if it were all. */
  async #forgetting<T>(branch: Branch, tables: readonly FetchedTable[], run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      for (const table of tables) branch.forget(table);
      throw error;
    }
  }

  /** Answers whether there were any rows. */
  async #ask({ branch, abort }: Fetching, asked: readonly Asked[]): Promise<boolean> {
    const parts: FetchedRows[][] = asked.map(() => []);
    let bytes = branch.bytes;
    await this.#router.asking.all(
      asked.map(({ shard, table: { definition: { id: tableId } }, wanted }) => ({
        shard,
        request: { kind: "fetch", branch: branch.number, tableId, wanted },
      })),
      (part, index) => {
        const rows = part as FetchedRows | null;
        if (rows === null) return;
        bytes += bytesOf(rows);
        if (bytes > LIMITS.fetchedBytes) throw tooMuch(asked[index]);
        parts[index]?.push(rows);
      },
      { abort, milliseconds: branch.milliseconds, leavesOut: false },
    );
    for (const [index, list] of parts.entries()) {
      const { table, wanted } = assertDefined(asked[index], `question ${index}`);
      for (const part of list) branch.bytes += table.add(part, wanted);
    }
    if (branch.bytes > LIMITS.fetchedBytes) throw tooMuch(asked[0]);
    return parts.some((list) => list.length > 0);
  }
}

/** What is asked of one shard, in messages of bounded size. */
class Messages {
  readonly list: Map<FetchedTable, PointList>[] = [];
  #count = 0;
  #bytes = 0;

  add(table: FetchedTable, point: Point, key: PointKey): void {
    if (this.list.length === 0 || this.#count >= POINTS_AT_ONCE || this.#bytes >= BYTES_AT_ONCE) {
      this.list.push(new Map());
      this.#count = this.#bytes = 0;
    }
    const tables = assertDefined(this.list.at(-1), "message");
    let points = tables.get(table);
    if (points === undefined) tables.set(table, points = new PointList());
    points.add(point);
    this.#count++;
    this.#bytes += pointBytes(point, key);
  }
}

function bytesOf(rows: FetchedRows): number {
  if (rows.kind === "count") return 0;
  return rows.kind === "batch"
    ? batchMemory(rows.batch)
    : rows.rows.reduce((sum, row) => sum + rowBytes(row), 0);
}

function tooMuch(asked: Asked | undefined): DatabaseError {
  const { definition } = assertDefined(asked, "what was asked for").table;
  return new DatabaseError(
    SQLSTATE.outOfMemory,
    "the rows that the statement needs of all shards are too many",
    {
      detail: `It was fetching rows of relation "${definition.name}".`,
      hint: "Narrow it by conditions on the columns of the table.",
    },
  );
}
