/**
 * The shards of a database as its engine sees them. The engine runs statements as always; rows that it has not fetched
 * stop a statement until they have come, and what a transaction has written goes to the shards when it commits.
 *
 * *Cuts.* A transaction begins at all shards in one turn, so what it reads is one state of all of them: messages keep
 * their order, and what was acknowledged before was sent before. One that needs a single shard begins at that alone.
 *
 * *Commits.* What one shard can do alone goes there, and is answered when that shard has it on disk. Otherwise all
 * shards concerned show first that they can (in one turn, so that they see transactions in the same order), then the
 * engine's own log takes an entry with each shard's part, which decides, and then they carry it out. After a crash
 * what the log has decided and a shard has not done is done before anything else.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Effect, OpNumber, RowId } from "../operations/effect.ts";
import { encodeEffects } from "../operations/entry_codec.ts";
import type { ClientRecord, Shards } from "../session/commit_turns.ts";
import type { Engine } from "../session/engine.ts";
import type { ShardStatus } from "../system_catalog/shard_status.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { isRetrySignal, RemoteWait, StaleSnapshot } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { effectList } from "../transactions/transaction_effects.ts";
import { Branch } from "./branch.ts";
import { FetchedTable } from "./fetched_table.ts";
import { Decisions } from "./decisions.ts";
import { shardOf } from "./shard_map.ts";
import type { BranchCommit, FetchedRows, Wanted } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";
import { divide, type Divided, isAtShards } from "./slices.ts";

/** Changed rows that are remembered. */
const KEPT_CHANGES = 10_000;

/** See the file's head. */
export class Router implements Shards {
  readonly ports: readonly ShardPort[];
  readonly #engine: Engine;
  readonly #branches = new Map<Transaction, Branch>();
  readonly #decisions: Decisions;
  /** By shard, the rows of each table. */
  readonly #rowCounts: readonly Map<number, number>[];
  /** What each shard takes, as it last said. */
  readonly #bytes: number[];
  #isAsking = false;
  /** Highest row id of each table. */
  readonly #rowIds = new Map<number, RowId>();
  #nextBranch = 1;
  /** By row, the oldest first: the number of the last commit that has changed it. */
  readonly #changes = new Map<string, number>();
  #commits = 0;
  /** By table: the number of the commit that has last filled a new column. */
  readonly #fills = new Map<number, number>();
  /** The shards do not know yet of definitions that the engine knows; resolve when they do. */
  readonly #defining = new Set<Promise<void>>();

  private constructor(engine: Engine, ports: readonly ShardPort[]) {
    this.#engine = engine;
    this.ports = ports;
    this.#rowCounts = ports.map(() => new Map());
    this.#bytes = ports.map(() => 0);
    this.#decisions = new Decisions(engine, ports);
  }

  /** Brings the shards to where the engine's log says that they are, and sends the engine's sessions to them. */
  static async start(engine: Engine, ports: readonly ShardPort[]): Promise<Router> {
    const router = new Router(engine, ports);
    for (const port of ports) void port.failed.then((error) => engine.fail(error));
    await router.#decisions.redo();
    const reports = await Promise.all(ports.map((port) => port.report()));
    for (const [shard, report] of reports.entries()) {
      router.#bytes[shard] = report.bytes;
      for (const [tableId, count] of report.rows) router.#countRows(shard, tableId, count);
      for (const [tableId, id] of report.rowIds) router.#noteId(tableId, id);
    }
    engine.routeTo(router);
    return router;
  }

  get #catalog(): Catalog {
    return this.#engine.machine.catalog;
  }

  has(tableId: number): boolean {
    return isAtShards(this.#catalog, tableId);
  }

  rowCount(tableId: number): number {
    let sum = 0;
    for (const counts of this.#rowCounts) sum += counts.get(tableId) ?? 0;
    return sum;
  }

  get count(): number {
    return this.ports.length;
  }

  statuses(): readonly ShardStatus[] {
    // The next one to look sees what they take now.
    void this.#askForBytes();
    return this.ports.map(({ sent, newestOp }, shard) => {
      let rows = 0;
      for (const count of this.#rowCounts[shard]?.values() ?? []) rows += count;
      return { shard, op: newestOp, rows, bytes: this.#bytes[shard] ?? 0, ...sent };
    });
  }

  async #askForBytes(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (const [shard, port] of this.ports.entries()) this.#bytes[shard] = (await port.report()).bytes;
    } catch (error) {
      // A shard that fails ends the engine by itself.
      if (!(error instanceof DatabaseError)) throw error;
    } finally {
      this.#isAsking = false;
    }
  }

  isAboveAll(tableId: number, id: RowId): boolean {
    return id > 0 && id > (this.#rowIds.get(tableId) ?? 0);
  }

  changedSince(transaction: Transaction, tableId: number, id: RowId): boolean {
    const branch = this.#branches.get(transaction);
    return branch !== undefined && (this.#changes.get(`${tableId}:${id}`) ?? 0) > branch.cut;
  }

  /** Notes which rows a commit has changed, so that others need not find out at their own. */
  #noteChanges(effects: readonly Effect[], before: Catalog): void {
    const commit = ++this.#commits;
    for (const effect of effects) {
      if (effect.kind === "ddl" && effect.change.kind === "put_table") {
        const { id, columns } = effect.change.table;
        const known = before.table(id)?.nextColumnId ?? Infinity;
        if (columns.some((each) => each.id >= known && each.missingValue === null)) {
          this.#fills.set(id, commit);
        }
      }
      if (effect.kind !== "update" && effect.kind !== "delete") continue;
      const key = `${effect.tableId}:${effect.id}`;
      this.#changes.delete(key);
      this.#changes.set(key, commit);
    }
    for (const [key] of this.#changes) {
      if (this.#changes.size <= KEPT_CHANGES) break;
      this.#changes.delete(key);
    }
  }

  #countRows(shard: number, tableId: number, difference: number): void {
    const counts = this.#rowCounts[shard];
    counts?.set(tableId, (counts.get(tableId) ?? 0) + difference);
  }

  #noteId(tableId: number, id: RowId): void {
    if (id <= (this.#rowIds.get(tableId) ?? 0)) return;
    this.#rowIds.set(tableId, id);
    this.#engine.machine.noteRowId(tableId, id);
  }

  // ---------------------------------------------------------------- reading

  table(transaction: Transaction, tableId: number): ReadableTable {
    let branch = this.#branches.get(transaction);
    if (branch === undefined) this.#branches.set(transaction, branch = new Branch(this.#nextBranch++));
    const definition = assertDefined(this.#catalog.table(tableId), `table ${tableId}`);
    // Columns that were filled after its cut would be empty: the statement has to run at a newer one.
    if (branch.begun.size > 0 && (this.#fills.get(tableId) ?? 0) > branch.cut) {
      throw new StaleSnapshot(tableId, null);
    }
    const known = branch;
    const table: FetchedTable = known.table(definition, () => {
      const ask = (wanted: Wanted): never => {
        throw new RemoteWait((abort, done, failed) => {
          this.#fetch(transaction, known, table, wanted, abort).then(done, failed);
        });
      };
      return new FetchedTable(definition, this.rowCount(tableId), ask);
    });
    return table;
  }

  async #fetch(
    transaction: Transaction,
    branch: Branch,
    table: FetchedTable,
    wanted: Wanted,
    abort: AbortSignal,
  ): Promise<void> {
    await this.#defined();
    abort.throwIfAborted();
    if (!transaction.isOpen) return;
    const shards = this.#shardsWith(table.definition.id, wanted);
    await this.#reach(transaction, branch, shards);
    if (!branch.has(table)) return;
    const calls: { readonly shard: number; readonly call: number }[] = [];
    const parts: FetchedRows[][] = shards.map(() => []);
    const asked = shards.map((shard, index) => {
      const request = { kind: "fetch", branch: branch.number, tableId: table.definition.id, wanted } as const;
      const { call, done } = this.#port(shard).call(request, (part) => {
        const rows = part as FetchedRows;
        branch.bytes += rows.kind === "count" ? 0 : rows.kind === "rows" ? 64 : rows.batch.ids.byteLength;
        parts[index]?.push(rows);
      });
      calls.push({ shard, call });
      return done;
    });
    const stop = (): void => {
      for (const { shard, call } of calls) this.#port(shard).tell({ kind: "stop", call });
    };
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const onAbort = (): void => {
      stop();
      aborted.reject(abort.reason);
    };
    abort.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([Promise.all(asked), aborted.promise]);
      for (const part of parts.flat()) {
        branch.bytes += table.add(part);
        if (branch.bytes > LIMITS.statementMemoryBytes) throw tooMuch(table.definition.name);
      }
      table.complete(wanted);
    } catch (error) {
      branch.forget(table);
      await Promise.allSettled(asked);
      throw error;
    } finally {
      abort.removeEventListener("abort", onAbort);
    }
  }

  #port(shard: number): ShardPort {
    return assertDefined(this.ports[shard], `shard ${shard}`);
  }

  get #all(): number[] {
    return this.ports.map((_, shard) => shard);
  }

  #shardsWith(tableId: number, wanted: Wanted): number[] {
    return wanted.kind === "id" ? [shardOf(tableId, wanted.id, this.ports.length)] : this.#all;
  }

  /** Gives the transaction a snapshot at these shards. */
  async #reach(transaction: Transaction, branch: Branch, shards: readonly number[]): Promise<void> {
    if (shards.every((shard) => branch.begun.has(shard))) return;
    // A block is going to read more: its cut is taken at once. So is that of what one shard cannot answer.
    const isAlone = branch.begun.size === 0 && shards.length === 1 && transaction.isAlone;
    if (isAlone || branch.begun.size === 0) this.#begin(transaction, branch, isAlone ? shards : this.#all);
    else if (!await this.#renew(transaction, branch)) throw changedMeanwhile();
  }

  #begin(transaction: Transaction, branch: Branch, shards: readonly number[]): void {
    branch.cut = this.#commits;
    for (const shard of shards) {
      if (branch.begun.has(shard)) continue;
      branch.begun.add(shard);
      const { timestamp } = transaction;
      this.#port(shard).tell({ kind: "begin", branch: branch.number, timestamp });
    }
  }

  async advance(transaction: Transaction): Promise<boolean> {
    const branch = this.#branches.get(transaction);
    if (branch === undefined || branch.begun.size === 0) return true;
    // One that only reads has noted nothing.
    if (transaction.neverWrites && transaction.statements > 1) return false;
    await this.#defined();
    return await this.#renew(transaction, branch);
  }

  async #defined(): Promise<void> {
    while (this.#defining.size > 0) await Promise.all(this.#defining);
  }

  /** Moves the transaction to a new cut of all shards, if what it has read is the same there. */
  async #renew(transaction: Transaction, branch: Branch): Promise<boolean> {
    branch.forgetAll();
    const reads = this.#remoteReads(transaction);
    const moved = [...branch.begun].map((shard) => {
      const request = { kind: "advance", branch: branch.number, reads: this.#readsAt(reads, shard) } as const;
      return this.#port(shard).call(request).done;
    });
    this.#begin(transaction, branch, this.#all);
    return (await Promise.all(moved)).every((same) => same === true);
  }

  ended(transaction: Transaction): void {
    const branch = this.#branches.get(transaction);
    if (branch === undefined) return;
    this.#branches.delete(transaction);
    for (const shard of branch.begun) this.#port(shard).tell({ kind: "end", branch: branch.number });
  }

  #remoteReads(transaction: Transaction): ReadPredicate[] {
    return transaction.reads.filter((read) => this.has(read.tableId));
  }

  #readsAt(reads: readonly ReadPredicate[], shard: number): ReadPredicate[] {
    return reads.filter((read) =>
      read.kind !== "id" || shardOf(read.tableId, read.id, this.ports.length) === shard
    );
  }

  // ---------------------------------------------------------------- commits

  concerns(transaction: Transaction): boolean {
    if (!transaction.hasEffects) return false;
    if (transaction.hasDdl || (this.#branches.get(transaction)?.begun.size ?? 0) > 0) return true;
    for (const tableId of transaction.writtenTables) {
      if (isAtShards(transaction.catalog, tableId)) return true;
    }
    return false;
  }

  async commit(
    transaction: Transaction,
    client: ClientRecord,
    commitHere: (effects: readonly Effect[]) => Promise<OpNumber>,
  ): Promise<OpNumber> {
    // Others come in between from here on.
    transaction.becomeInterruptible();
    try {
      await this.#runChecks(transaction);
      return await this.#commitChecked(transaction, client, commitHere);
    } finally {
      this.#engine.manager.end(transaction);
    }
  }

  /** Checks that were put off to the commit may read what has not been fetched. */
  async #runChecks(transaction: Transaction): Promise<void> {
    for (;;) {
      try {
        return transaction.deferred.run();
      } catch (thrown) {
        if (!isRetrySignal(thrown) || thrown.kind !== "outside_wait") throw thrown;
        const never = new AbortController().signal;
        await new Promise<void>((resolve, reject) => thrown.begin(never, resolve, reject));
        requireOpen(transaction);
      }
    }
  }

  async #commitChecked(
    transaction: Transaction,
    client: ClientRecord,
    commitHere: (effects: readonly Effect[]) => Promise<OpNumber>,
  ): Promise<OpNumber> {
    const catalogs = { before: this.#catalog, after: transaction.catalog };
    const effects = effectList(transaction.done);
    const { here, byShard, defines } = divide(effects, catalogs, this.ports.length);
    const reads = this.#remoteReads(transaction);
    const concerned = this.#all.filter((shard) =>
      byShard.has(shard) || this.#readsAt(reads, shard).length > 0
    );
    const first = concerned[0];
    if (first === undefined) return await commitHere(here);
    const branch = this.#branches.get(transaction);
    const slices = [...byShard].map(([shard, list]) => ({ shard, effects: encodeEffects(list) }));
    const partOf = (shard: number): BranchCommit => ({
      branch: branch?.begun.has(shard) === true ? branch.number : null,
      timestamp: transaction.timestamp,
      reads: this.#readsAt(reads, shard),
      effects: slices.find((slice) => slice.shard === shard)?.effects ?? null,
    });
    const isAlone = concerned.length === 1 && here.length === 0 && client === null;
    const parts = concerned.map((shard) => ({ shard, part: partOf(shard) }));
    // A shard ends the branch itself with the commit.
    for (const shard of concerned) branch?.begun.delete(shard);
    if (isAlone) {
      await this.#port(first).call({ kind: "commit", commit: partOf(first) }).done;
      transaction.isCommitted = true;
      this.#committed(byShard);
      this.#noteChanges(effects, catalogs.before);
      return 0 as OpNumber;
    }
    const told = Promise.withResolvers<void>();
    const op = await this.#decisions.commit(parts, {
      requireOpen: () => requireOpen(transaction),
      decide: async (done) => {
        if (defines) this.#defining.add(told.promise);
        const own: Effect[] = [...here, ...done];
        if (slices.length > 0) own.push({ kind: "slices", slices });
        const op = await commitHere(own);
        this.#committed(byShard);
        return op;
      },
      told: () => {
        this.#defining.delete(told.promise);
        told.resolve();
      },
    });
    this.#noteChanges(effects, catalogs.before);
    return op;
  }

  /** Counts what a transaction has done, for plans and for new ids. */
  #committed(byShard: Divided["byShard"]): void {
    for (const [shard, effects] of byShard) {
      for (const effect of effects) {
        switch (effect.kind) {
          case "create":
            this.#countRows(shard, effect.tableId, 1);
            this.#noteId(effect.tableId, effect.id);
            break;
          case "delete":
            this.#countRows(shard, effect.tableId, -1);
            break;
          case "create_batch":
            this.#countRows(shard, effect.tableId, effect.batch.rowCount);
            for (const id of effect.batch.ids) this.#noteId(effect.tableId, id);
            break;
          case "truncate":
            this.#rowCounts[shard]?.set(effect.tableId, 0);
            break;
          case "ddl":
            if (effect.change.kind !== "drop_table") break;
            this.#rowCounts[shard]?.delete(effect.change.tableId);
            this.#rowIds.delete(effect.change.tableId);
            break;
          default:
            break;
        }
      }
    }
  }

  async checkpoint(): Promise<void> {
    await Promise.all(this.ports.map((port) => port.call({ kind: "checkpoint" }).done));
  }

  async close(): Promise<void> {
    if (!this.#engine.isFailed) await this.#decisions.settle();
    const closing = this.ports.map((port) => port.call({ kind: "close" }).done);
    for (const end of await Promise.allSettled(closing)) {
      if (end.status === "rejected" && !this.#engine.isFailed) throw end.reason;
    }
  }
}

function requireOpen(transaction: Transaction): void {
  if (transaction.isOpen) return;
  throw new DatabaseError(SQLSTATE.adminShutdown, "the session ended before its transaction was committed");
}

function changedMeanwhile(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.serializationFailure,
    "could not serialize access due to concurrent update",
    {
      hint: "Run the transaction again.",
    },
  );
}

function tooMuch(table: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.outOfMemory,
    "the rows that the statement needs of all shards are too many",
    {
      detail: `It was fetching rows of relation "${table}".`,
      hint: "Narrow it by conditions on the columns of the table.",
    },
  );
}
