/**
 * A workload of random transactions over append-only lists that are kept in several ways, recorded for
 * `check_history.ts`.
 *
 * Keys are divided by how their lists are kept: a row with an array, a row with a text, and a row per append
 * with its position, which is computed from the rows that are there and which no unique index guards. At READ
 * COMMITTED blocks lock the table before they do so; at REPEATABLE READ, where they would see the rows of before
 * the lock, nobody does. A list without appends has no rows, so that first appends are phantoms. Reads are by
 * key, by range, by a column without an index, through RETURNING and FOR UPDATE. Transactions use savepoints,
 * give up, and are single statements at times.
 */
import type { IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { type Connection, failureKind } from "./connections.ts";
import type { History, TransactionRecorder } from "./history.ts";

/** The statements that make the tables. */
export const listAppendTables: readonly string[] = [
  "CREATE TABLE array_list (key int PRIMARY KEY, class int NOT NULL, list int[] NOT NULL)",
  "CREATE TABLE text_list (key int PRIMARY KEY, class int NOT NULL, list text NOT NULL)",
  "CREATE TABLE row_list (key int NOT NULL, class int NOT NULL, position int NOT NULL, value int NOT NULL)",
  "CREATE INDEX row_list_key ON row_list (key, position)",
];

/** How the transactions are. */
export interface ListAppendOptions {
  readonly seed: number;
  /** Lists per way of keeping them that are in use at a time. */
  readonly keys: number;
  /** After so many appends in all, the next keys are used: lists stay short. */
  readonly appendsPerKey: number;
  /** What all transactions ask for; SERIALIZABLE unless it is given. */
  readonly level?: IsolationLevel;
}

/** What a workload shares between its clients. */
export interface ListAppendFigures {
  committed: number;
  /** Transactions that lost against others. */
  lost: number;
  /** Transactions that were given up on purpose. */
  givenUp: number;
  unknown: number;
}

const classes = 3;
const ways = 3;

/** The values are unique over the whole workload. */
export class ListAppendWorkload {
  readonly figures: ListAppendFigures = { committed: 0, lost: 0, givenUp: 0, unknown: 0 };
  readonly #history: History;
  readonly #options: ListAppendOptions;
  #value = 0;

  constructor(history: History, options: ListAppendOptions) {
    this.#history = history;
    this.#options = options;
  }

  /** Transactions that have ended. */
  get count(): number {
    return this.#history.transactions.length;
  }

  /** Runs transactions on a connection until there are enough, or the connection is gone: false. */
  async run(connection: Connection, client: number, enough: () => boolean): Promise<boolean> {
    const random = seededRandom(this.#options.seed * 1009 + client * 7919 + this.#value);
    const { level } = this.#options;
    if (level !== undefined) await connection.query(`SET default_transaction_isolation = '${level}'`);
    while (!enough()) {
      if (!await this.#transaction(connection, random)) return false;
    }
    return true;
  }

  /** Reads all lists in one transaction at the end. */
  async readEverything(connection: Connection): Promise<void> {
    const recorder = this.#history.begin();
    const last = this.#firstKey() + this.#options.keys * ways;
    await connection.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
    const work = new Work(connection, recorder, "serializable");
    const everything = Array.from({ length: last + 1 }, (_, key) => key);
    for (let way = 0; way < ways; way++) {
      await work.scan(
        way,
        "key >= 0",
        everything.filter((key) => key % ways === way),
      );
    }
    await connection.query("COMMIT");
    recorder.finish("committed");
  }

  #firstKey(): number {
    const { keys, appendsPerKey } = this.#options;
    // Half of the keys go at a time.
    const steps = Math.floor(this.#value / (appendsPerKey * keys * ways / 2));
    return steps * Math.ceil(keys / 2) * ways;
  }

  /** False: the connection is gone. */
  async #transaction(connection: Connection, random: SeededRandom): Promise<boolean> {
    const recorder = this.#history.begin();
    const isSingle = !connection.hasBlocks || random.below(8) === 0;
    const work = new Work(connection, recorder, this.#guardOf(isSingle));
    let isCommitting = isSingle;
    try {
      if (isSingle) {
        await this.#step(work, random);
      } else {
        const { level } = this.#options;
        await connection.query(`BEGIN${random.pick(["", ` ISOLATION LEVEL ${level ?? "SERIALIZABLE"}`])}`);
        await this.#steps(work, random);
        if (random.below(20) === 0) {
          await connection.query("ROLLBACK");
          recorder.finish("aborted");
          this.figures.givenUp++;
          return true;
        }
        isCommitting = true;
        await connection.query("COMMIT");
      }
      recorder.finish("committed");
      this.figures.committed++;
      return true;
    } catch (error) {
      const kind = failureKind(error);
      const code = error instanceof Error && "code" in error ? `${error.code} ` : "";
      const told = `${code}${error instanceof Error ? error.message : error}${
        isCommitting ? " while it committed" : ""
      }`;
      if (kind === "other") throw error;
      if (kind === "disconnected" || kind === "ended") {
        const isUnknown = isCommitting && kind === "disconnected";
        recorder.finish(isUnknown ? "unknown" : "aborted", told);
        if (isUnknown) this.figures.unknown++;
        return false;
      }
      this.figures.lost++;
      recorder.finish("aborted", told);
      if (isSingle) throw new Error("a single statement lost", { cause: error });
      return await connection.query("ROLLBACK").then(() => true, (failure) => {
        if (failureKind(failure) !== "other") return false;
        throw failure;
      });
    }
  }

  async #steps(work: Work, random: SeededRandom): Promise<void> {
    const count = 1 + random.below(6);
    for (let index = 0; index < count; index++) {
      if (random.below(10) !== 0) {
        await this.#step(work, random);
        continue;
      }
      await work.savepoint();
      await this.#step(work, random);
      await this.#step(work, random);
      if (random.below(2) === 0) await work.rollbackToSavepoint();
      else await work.releaseSavepoint();
    }
  }

  /** What keeps positions of rows apart in a transaction. */
  #guardOf(isSingle: boolean): Guard {
    const level = this.#options.level ?? "serializable";
    if (level === "serializable") return level;
    return level === "read committed" && !isSingle ? "lock" : null;
  }

  async #step(work: Work, random: SeededRandom): Promise<void> {
    const { keys } = this.#options;
    const first = this.#firstKey();
    const any = first + random.below(keys * ways);
    const key = work.guard === null && any % ways === 2 ? any - 1 : any;
    const way = key % ways;
    const choice = random.below(20);
    if (choice < 6) return await work.read(way, key, random);
    if (choice < 8) {
      const to = first + random.below(keys * ways);
      const [low, high] = key < to ? [key, to] : [to, key];
      const condition = random.pick([
        `key BETWEEN ${low} AND ${high}`,
        `key >= ${low} AND key < ${high + 1}`,
      ]);
      const found = keysBetween(low, high).filter((each) => each % ways === way);
      return await work.scan(way, condition, found);
    }
    if (choice < 9) {
      const own = random.below(classes);
      const last = first + keys * ways - 1;
      const found = keysBetween(first, last).filter((each) => each % ways === way && classOf(each) === own);
      return await work.scan(way, `class = ${own} AND key >= ${first} AND key <= ${last}`, found);
    }
    await work.append(way, key, ++this.#value, random);
  }
}

/** Not a function of the way a list is kept. */
function classOf(key: number): number {
  return Math.floor(key / ways) % classes;
}

function keysBetween(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index);
}

function listOf(text: string | null | undefined): number[] {
  return text === null || text === undefined || text === "" ? [] : text.split(",").map(Number);
}

/** The list as a text, by way of keeping it. */
const texts = ["array_to_string(list, ',')", "list", ""];
const tables = ["array_list", "text_list", "row_list"];

/** null: a transaction may not rely on rows that it has read. */
type Guard = "serializable" | "lock" | null;

/** The statements of one transaction. */
class Work {
  readonly guard: Guard;
  readonly #connection: Connection;
  readonly #recorder: TransactionRecorder;
  #savepoint = 0;

  constructor(connection: Connection, recorder: TransactionRecorder, guard: Guard) {
    this.guard = guard;
    this.#connection = connection;
    this.#recorder = recorder;
  }

  async savepoint(): Promise<void> {
    await this.#connection.query("SAVEPOINT s");
    this.#savepoint = this.#recorder.operations.length;
  }

  async rollbackToSavepoint(): Promise<void> {
    await this.#connection.query("ROLLBACK TO SAVEPOINT s");
    this.#recorder.undo(this.#savepoint);
  }

  async releaseSavepoint(): Promise<void> {
    await this.#connection.query("RELEASE SAVEPOINT s");
  }

  /** Reads one list. */
  async read(way: number, key: number, random: SeededRandom): Promise<void> {
    if (way === 2) {
      const sql = random.pick([
        `SELECT value FROM row_list WHERE key = ${key} ORDER BY position, value`,
        `SELECT value FROM row_list WHERE key = ${key} AND position > 0 ORDER BY position, value`,
        `SELECT value FROM row_list WHERE key + 0 = ${key} ORDER BY position, value`,
      ]);
      const rows = await this.#connection.query(sql);
      this.#recorder.read(key, rows.map(([value]) => Number(value)), true);
      return;
    }
    const lock = random.below(5) === 0 ? " FOR UPDATE" : "";
    const [row] = await this.#connection.query(
      `SELECT ${texts[way]} FROM ${tables[way]} WHERE key = ${key}${lock}`,
    );
    this.#recorder.read(key, listOf(row?.[0]), row === undefined);
  }

  /** Reads the lists that a condition finds; the keys are all that it could find. */
  async scan(way: number, condition: string, keys: readonly number[]): Promise<void> {
    const rows = await this.#connection.query(
      way === 2
        ? `SELECT key, string_agg(value::text, ',' ORDER BY position, value) FROM row_list WHERE ${condition} GROUP BY key`
        : `SELECT key, ${texts[way]} FROM ${tables[way]} WHERE ${condition}`,
    );
    const found = new Map(rows.map(([key, text]) => [Number(key), listOf(text)]));
    for (const key of keys) this.#recorder.read(key, found.get(key) ?? [], true);
    for (const key of found.keys()) {
      if (!keys.includes(key)) throw new Error(`${condition} has found key ${key} in ${tables[way]}`);
    }
  }

  /**
   * Appends in one of several ways. An append is on record before it is sent: it may have happened without an answer.
   */
  async append(way: number, key: number, value: number, random: SeededRandom): Promise<void> {
    if (way === 2) {
      if (this.guard === "lock") {
        await this.#connection.query("LOCK TABLE row_list IN SHARE ROW EXCLUSIVE MODE");
      }
      this.#recorder.append(key, value);
      await this.#connection.query(
        `INSERT INTO row_list SELECT ${key}, ${classOf(key)}, coalesce(max(position), 0) + 1, ${value} ` +
          `FROM row_list WHERE key = ${key}`,
      );
      return;
    }
    if (random.below(2) === 0) return await this.#upsert(way, key, value);
    // Without an append when there is no row yet: it is recorded before, and taken back then.
    const at = this.#recorder.operations.length;
    this.#recorder.append(key, value);
    const rows = await this.#connection.query(
      `UPDATE ${tables[way]} SET list = ${appended(way, value)} WHERE key = ${key} RETURNING ${texts[way]}`,
    );
    if (rows.length === 0) {
      this.#recorder.undo(at);
      this.#recorder.read(key, [], true);
    } else this.#recorder.read(key, listOf(rows[0]?.[0]));
  }

  async #upsert(way: number, key: number, value: number): Promise<void> {
    this.#recorder.append(key, value);
    const first = way === 0 ? `ARRAY[${value}]` : `'${value}'`;
    const rows = await this.#connection.query(
      `INSERT INTO ${tables[way]} VALUES (${key}, ${classOf(key)}, ${first}) ` +
        `ON CONFLICT (key) DO UPDATE SET list = ${appended(way, value, `${tables[way]}.`)} RETURNING ${
          texts[way]
        }`
          .replaceAll("list, ','", `${tables[way]}.list, ','`),
    );
    this.#recorder.read(key, listOf(rows[0]?.[0]));
  }
}

function appended(way: number, value: number, prefix = ""): string {
  return way === 0 ? `${prefix}list || ${value}` : `${prefix}list || ',${value}'`;
}
