/** What the members of a simulated cluster must agree on, all the time and in the end. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { RowBuffer } from "../../../engine/statements/row_buffer.ts";
import type { Engine } from "../../../engine/session/engine.ts";
import { Router } from "../../../engine/sharding/router.ts";
import { LogModel } from "../log_model.ts";
import type { ClusterWork } from "./cluster_work.ts";
import type { Machine } from "./machine.ts";

/** See the head of the file. */
export class ClusterChecks {
  readonly #machines: readonly Machine[];
  /** The digest after each op that some member has applied as a committed one. */
  readonly #digests = new Map<number, bigint>();
  /** The entries that members have applied as committed ones. */
  readonly #entries = new Map<number, Uint8Array>();
  /** By member: the process and the op that was looked at last. */
  readonly #seen: { process: object | null; op: number }[];

  constructor(machines: readonly Machine[]) {
    this.#machines = machines;
    this.#seen = machines.map(() => ({ process: null, op: 0 }));
  }

  get entries(): number {
    return this.#entries.size;
  }

  /**
   * A member applies an entry: all apply the same, and a backup none above what it knows to be committed. What a new
   * primary finds above that is not yet the group's: the next view may go without it.
   */
  applied(machine: Machine, op: number, payload: Uint8Array): void {
    const replica = machine.life?.member.replica;
    if (replica !== undefined && op > replica.commit) {
      ok(replica.isPrimary, `backup ${machine.index} applies op ${op} above ${replica.commit}`);
      return;
    }
    const known = this.#entries.get(op);
    if (known === undefined) this.#entries.set(op, payload.slice());
    else deepStrictEqual(payload, known, `member ${machine.index} applies another op ${op}`);
  }

  /** Compares the histories at what each member knows to be committed, where something has changed. */
  look(): void {
    for (const [index, { life, process }] of this.#machines.entries()) {
      if (life === null) continue;
      const { engine, replica } = life.member;
      const seen = this.#seen[index] as { process: object | null; op: number };
      const { appliedOp } = engine;
      if (seen.process === process && seen.op === appliedOp) continue;
      seen.process = process;
      seen.op = appliedOp;
      if (appliedOp === 0 || appliedOp > replica.commit) continue;
      const digest = engine.appliedDigest;
      const known = this.#digests.get(appliedOp);
      if (known === undefined) this.#digests.set(appliedOp, digest);
      else strictEqual(digest, known, `member ${index} has another history up to op ${appliedOp}`);
    }
  }

  /** Whether nothing of the member's log is damaged any more. */
  isWhole({ life }: Machine): boolean {
    if (life === null) return false;
    const { log } = life.member.engine.storage;
    return log.damaged.every(({ to }) => to <= log.checkpointOp);
  }

  /** Where each member is, for people. */
  state(): string {
    return this.#machines.map(({ index, life, process }) => {
      if (life === null) return `${index}: ${process === null ? "down" : "starting"}`;
      const { replica, engine, primaryIndex } = life.member;
      return `${index}: ${replica.status} view ${replica.view} primary ${primaryIndex} commit ${replica.commit} applied ${engine.appliedOp}`;
    }).join("; ");
  }

  /** All members are the same, as the clients know it and as the log says; answers how many have a checkpoint. */
  async checkEnd(work: ClusterWork): Promise<number> {
    const engines = this.#machines.map(({ member }) => member.engine);
    const [first] = engines;
    ok(first !== undefined);
    let checkpoints = 0;
    for (const [index, engine] of engines.entries()) {
      strictEqual(engine.lastOp, first.lastOp, `member ${index} is at another op: ${this.state()}`);
      strictEqual(engine.digest(), first.digest(), `member ${index} has another history`);
      deepStrictEqual(
        engine.machine.encodeState(),
        first.machine.encodeState(),
        `member ${index} has another state`,
      );
      checkpoints += engine.storage.checkpointOp > 0 ? 1 : 0;
      await checkRows(engine, index, work);
    }
    if (first.shards === null) await this.#compareWithModel(engines);
    else await compareShards(engines);
    return checkpoints;
  }

  /** What the entries make of an empty engine in memory is what each member has. */
  async #compareWithModel(engines: readonly Engine[]): Promise<void> {
    const model = new LogModel();
    const [first] = engines;
    const lastOp = first?.lastOp ?? 0;
    for (let op = 1; op <= lastOp; op++) {
      const payload = this.#entries.get(op);
      // An entry that no backup has applied: those that lack it were given a checkpoint.
      if (payload === undefined) return;
      model.note(op, payload);
    }
    for (const engine of engines) await model.check(engine);
  }
}

async function checkRows(engine: Engine, index: number, work: ClusterWork): Promise<void> {
  const session = engine.openSession({ readFrom: "follower" });
  const rowsOf = async (sql: string): Promise<number[][]> => {
    const sink = new RowBuffer();
    await session.simple(sql, sink, () => {});
    return sink.rows.map((row) => row.map(Number));
  };
  const present = new Set((await rowsOf("SELECT id FROM t")).map(([id]) => id ?? 0));
  for (const id of work.rows) ok(present.has(id), `member ${index} has lost row ${id}`);
  for (const id of present) {
    ok(
      work.rows.has(id) || work.unknownRows.has(id),
      `member ${index} has row ${id}, which must not be there`,
    );
  }
  for (const [id = 0, n = 0] of await rowsOf("SELECT id, n FROM counter ORDER BY id")) {
    const { acknowledged = 0, isOpen = false } = work.counters[id] ?? {};
    ok(
      n === acknowledged || (isOpen && n === acknowledged + 1),
      `member ${index}: counter ${id} is ${n}, and ${acknowledged} changes were acknowledged`,
    );
  }
  const [[sum] = []] = await rowsOf("SELECT sum(balance) FROM bank");
  strictEqual(sum, 100_000, `member ${index}: money came or went`);
  const [[count, distinct] = []] = await rowsOf("SELECT count(*), count(DISTINCT n) FROM numbered");
  strictEqual(distinct, count, `member ${index}: a value of a sequence came twice`);
  const loaded = new Map(
    (await rowsOf("SELECT batch, count(*) FROM loaded GROUP BY batch")).map((
      [batch = 0, n = 0],
    ) => [batch, n]),
  );
  for (const [batch, { isAcknowledged, rows }] of work.batches) {
    const found = loaded.get(batch) ?? 0;
    ok(
      found === rows || (!isAcknowledged && found === 0),
      `member ${index} has ${found} of ${rows} rows of batch ${batch}`,
    );
  }
  for (const heap of work.heaps.values()) {
    heap.check(await rowsOf(heap.contents), `member ${index}`, heap.acknowledged);
  }
  session.close();
}

/** Each shard of each member has applied the same. */
async function compareShards(engines: readonly Engine[]): Promise<void> {
  const digests = await Promise.all(engines.map(async ({ shards }) => {
    ok(shards instanceof Router);
    return (await Promise.all(shards.ports.map((port) => port.report()))).map(({ op, digest }) =>
      `${op} ${digest}`
    );
  }));
  for (const each of digests) deepStrictEqual(each, digests[0]);
}
