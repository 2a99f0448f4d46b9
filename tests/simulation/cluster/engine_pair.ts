/**
 * Two engines as the members of a group, without a protocol: one orders entries, the other is fed what is in the log
 * of the first, in pieces and late, and now and then they change places, entries that only the primary has are lost, or
 * the state of one is built again.
 *
 * What is checked: at an equal op both have the same digest and the same state, and at the end their directories hold
 * the same files, byte for byte, whatever each of them was at which op.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { crc32c } from "../../../engine/base/checksum.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import { type MemoryDisk, memoryHost } from "../../../engine/host/memory_host.ts";
import { Engine } from "../../../engine/session/engine.ts";
import type { Session } from "../../../engine/session/session.ts";
import { RowBuffer } from "../../../engine/statements/row_buffer.ts";
import { Horizon } from "../../../engine/storage/commit_horizon.ts";
import { MEMBER_LOG_OPTIONS } from "../../../engine/storage/log_options.ts";
import { CopiedText } from "../../support/copied_text.ts";
import { type TestSeat, testSeat } from "../../support/lone_member.ts";

const CHECKPOINT_LOG_BYTES = 100_000;
const WRITERS = 3;

class Member {
  readonly horizon = new Horizon(0);
  readonly disk: MemoryDisk;
  readonly #seat: TestSeat;
  engine!: Engine;

  private constructor(disk: MemoryDisk) {
    this.disk = disk;
    this.#seat = testSeat(this.horizon, { viewNumber: 0 });
  }

  static async open(): Promise<Member> {
    const host = memoryHost();
    const member = new Member(host.disk);
    member.engine = await Engine.open({
      host,
      directory: "data",
      checkpointLogBytes: CHECKPOINT_LOG_BYTES,
      log: MEMBER_LOG_OPTIONS,
      member: member.#seat,
    });
    return member;
  }

  /** Builds the state again, up to an op that is committed. */
  async rebuild(replayTo: number): Promise<void> {
    this.#seat.replayTo = replayTo;
    await this.engine.abandon();
    await this.engine.reopen();
    strictEqual(this.engine.lastOp, Math.max(replayTo, this.engine.storage.checkpointOp));
  }

  /** Drives what is under way to its end. */
  async settle(): Promise<void> {
    const { storage } = this.engine;
    while (storage.isCheckpointing || storage.hasWork) await storage.finishFirst(2_000);
  }

  /** The files of the installed checkpoint. Others may be left over from what was made and not needed. */
  files(): Record<string, string> {
    const files: Record<string, string> = {};
    let manifest = "";
    for (const folder of ["data", "data/tables"]) {
      for (const name of this.disk.list(folder)) {
        if (name === "log" || name === "tables") continue;
        const file = this.disk.openFile(`${folder}/${name}`, { create: false, write: false });
        const bytes = new Uint8Array(file.size);
        file.readAt(0, bytes);
        if (name.startsWith("MANIFEST")) manifest = new TextDecoder().decode(bytes);
        else if (!manifest.includes(`"${name}"`)) continue;
        files[`${folder}/${name}`] = `${bytes.length} bytes, ${crc32c(bytes)}`;
      }
    }
    return files;
  }
}

/** What a run has seen, so that one that tests nothing does not pass. */
export interface PairCounts {
  ops: number;
  failures: number;
  checkpoints: number;
  rebuilds: number;
  changes: number;
  lost: number;
  large: number;
}

/** See the head of the file. */
export class EnginePair {
  readonly #random: SeededRandom;
  #primary: Member;
  #backup: Member;
  /** Up to here the backup has the primary's entries. */
  #fedOp = 0;
  #commit = 0;
  #sessions: Session[] = [];
  #readers: Session[] = [];
  #names = 0;
  #sequence = 0n;
  readonly counts: PairCounts = {
    ops: 0,
    failures: 0,
    checkpoints: 0,
    rebuilds: 0,
    changes: 0,
    lost: 0,
    large: 0,
  };

  private constructor(random: SeededRandom, primary: Member, backup: Member) {
    this.#random = random;
    this.#primary = primary;
    this.#backup = backup;
  }

  /** Runs a seed; answers what happened. */
  static async run(seed: number, rounds: number): Promise<PairCounts> {
    const pair = new EnginePair(new SeededRandom(seed), await Member.open(), await Member.open());
    pair.#primary.engine.startServing();
    pair.#openSessions();
    await pair.#statement(
      "CREATE TABLE t (id serial PRIMARY KEY, n numeric(12,2), s text, at timestamptz DEFAULT now(), k int UNIQUE);" +
        "CREATE INDEX t_s ON t (s, n); CREATE TABLE u (x int, y interval, z int[]); CREATE SEQUENCE q CYCLE MAXVALUE 40",
    );
    await pair.#feedAll();
    for (let round = 0; round < rounds; round++) await pair.#round(round);
    await pair.#compare();
    await pair.#primary.engine.close();
    await pair.#backup.engine.close();
    return pair.counts;
  }

  #openSessions(): void {
    this.#sessions = Array.from({ length: WRITERS }, () => this.#primary.engine.openSession());
  }

  async #round(round: number): Promise<void> {
    const random = this.#random;
    for (let left = random.between(1, 12); left > 0; left--) await this.#statement(this.#sql());
    // What is seldom comes in each run.
    const kinds: Readonly<Record<number, number>> = { 4: 1, 9: 5 };
    switch (kinds[round % 10] ?? random.below(12)) {
      case 0:
        return await this.#compare();
      case 1:
        await this.#feed();
        await this.#backup.rebuild(random.below(2) === 0 ? this.#commit : this.#backup.engine.lastOp);
        this.#readers = [];
        this.counts.rebuilds++;
        return await this.#apply();
      case 2:
        return await this.#changePlaces();
      case 3:
        return await this.#read();
      case 5:
        return await this.#loseEntries();
      case 4:
        // The backup is left behind.
        return;
      default:
        return await this.#feed();
    }
  }

  // ---------------------------------------------------------------- statements

  #sql(): string {
    const random = this.#random;
    const id = random.below(60);
    const padding = "p".repeat(random.below(300));
    switch (random.below(26)) {
      case 0:
        return "BEGIN";
      case 1:
        return "COMMIT";
      case 2:
        return "ROLLBACK";
      case 3:
        return `SAVEPOINT a; DELETE FROM t WHERE id < ${id}; ROLLBACK TO a`;
      case 4:
        return `CREATE TABLE v${++this.#names} AS SELECT id, s FROM t WHERE id > ${id}`;
      case 5:
        return `DROP TABLE IF EXISTS v${random.between(1, Math.max(1, this.#names))}`;
      case 6:
        return `ALTER TABLE u ADD COLUMN c${++this.#names} int DEFAULT ${id}`;
      case 7:
        return `CREATE INDEX i${++this.#names} ON u (x)`;
      case 8:
        return `DROP INDEX IF EXISTS i${random.between(1, Math.max(1, this.#names))}`;
      case 9:
        return `CREATE TEMP TABLE IF NOT EXISTS m (a int) ON COMMIT DELETE ROWS; INSERT INTO m VALUES (${id})`;
      case 10:
        return "SELECT nextval('q')";
      case 11:
        return `SELECT setval('q', ${random.between(1, 40)})`;
      case 12:
        return "TRUNCATE u";
      case 13:
        this.counts.large++;
        return `INSERT INTO u SELECT g, make_interval(days => g), ARRAY[g, ${id}] FROM generate_series(1, 1500) AS g`;
      case 14:
        this.counts.large++;
        return `UPDATE u SET y = NULL WHERE x > ${id * 10}`;
      case 15:
        return "COPY u (x) FROM STDIN";
      case 16:
        return `DELETE FROM t WHERE id % 7 = ${id % 7}`;
      case 17:
        return "CHECKPOINT";
      case 18:
        return "once";
      case 19:
        return `UPDATE t SET s = s || 'x', k = NULL WHERE id = ${id}`;
      default:
        return `INSERT INTO t (n, s, k) VALUES (${id}.5, 'row ${padding}', ${random.below(500)})`;
    }
  }

  /** Runs statements in one of the sessions; what loses against others does not matter. */
  async #statement(sql: string): Promise<void> {
    const session = this.#random.pick(this.#sessions);
    let isOver = false;
    const running = (async () => {
      try {
        if (sql === "once") await this.#once(session);
        else await session.simple(sql, this.#sink(sql), () => {});
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code === "XX000") throw error;
        this.counts.failures++;
      } finally {
        isOver = true;
      }
    })();
    for (let turns = 0; !isOver; turns++) {
      await this.#primary.engine.yieldToLoop();
      // A commit waits for the commit number, a statement for the lock of another session.
      if (turns % 8 === 7) await this.#feed();
      if (turns > 40) {
        const holder = this.#sessions.find((each) =>
          each !== session && each.block !== null && !each.isRunning
        );
        if (holder !== undefined) await holder.simple("ROLLBACK", new RowBuffer(), () => {});
      }
    }
    await running;
  }

  #sink(sql: string): RowBuffer {
    if (!sql.startsWith("COPY")) return new RowBuffer();
    const rows = this.#random.between(1, 6000);
    return new CopiedText(Array.from({ length: rows }, (_, row) => `${row}\n`).join(""));
  }

  async #once(session: Session): Promise<void> {
    if (session.block !== null) return;
    const sequence = ++this.#sequence;
    const bytes = new TextEncoder().encode(`reply ${sequence}`);
    await session.once(
      { clientId: "c".repeat(32), sequence, digest: bytes },
      async () => {
        await session.simple("INSERT INTO t (s) VALUES ('once')", new RowBuffer(), () => {});
        return bytes;
      },
      () => bytes,
    );
  }

  // ---------------------------------------------------------------- replication

  /** The backup stores what the primary has; part or all of it is committed, and applied. */
  async #feed(upTo = Infinity): Promise<void> {
    const from = this.#primary.engine.storage.log, to = this.#backup.engine.storage.log;
    for (const { op, payload } of from.entries(this.#fedOp)) {
      if (op > upTo) break;
      to.append(op, payload.slice());
      this.#fedOp = op;
    }
    await from.whenDurable(this.#fedOp);
    await to.whenDurable(this.#fedOp);
    this.#commit = this.#random.below(3) === 0
      ? this.#random.between(this.#commit, this.#fedOp)
      : this.#fedOp;
    this.#primary.horizon.advance(this.#commit);
    this.#backup.horizon.advance(this.#commit);
    await this.#apply();
  }

  async #apply(): Promise<void> {
    const { engine } = this.#backup;
    for (const { op, payload } of engine.storage.log.entries(engine.lastOp)) {
      if (op > this.#commit) return;
      await engine.applyEntry(op, payload.slice());
    }
  }

  async #feedAll(): Promise<void> {
    while (this.#commit < this.#primary.engine.lastOp) await this.#feed();
  }

  /** The backup becomes the primary. */
  async #changePlaces({ keeps }: { readonly keeps?: number } = {}): Promise<void> {
    this.counts.changes++;
    if (keeps === undefined) await this.#feedAll();
    const old = this.#primary;
    old.engine.stopServing();
    if (keeps === undefined) strictEqual(old.engine.lastOp, this.#fedOp);
    for (const session of this.#sessions) ok(session.isClosed);
    this.#primary = this.#backup;
    this.#backup = old;
    this.#readers = [];
    this.#primary.engine.startServing();
    this.#openSessions();
  }

  /** The primary is cut off: what it appends from then on is lost, with a checkpoint that began there. */
  async #loseEntries(): Promise<void> {
    await this.#feedAll();
    const old = this.#primary, { engine } = old, last = engine.lastOp;
    const padding = "l".repeat(this.#random.below(30_000));
    const [first, second, third] = this.#sessions as [Session, Session, Session];
    const texts = [
      [
        first,
        `ROLLBACK; INSERT INTO t (s) VALUES ('lost ${padding}'); INSERT INTO t (s) VALUES ('${padding}')`,
      ],
      [second, "ROLLBACK; ALTER TABLE t ADD COLUMN lost int DEFAULT 1; SELECT nextval('q')"],
      [third, "ROLLBACK; COPY u (x) FROM STDIN"],
    ] as const;
    const outcomes = texts.map(([session, text]) =>
      session.simple(text, this.#sink(text.slice(10)), () => {})?.catch((error) => {
        ok(error instanceof DatabaseError, String(error));
      })
    );
    for (let turns = this.#random.below(30); turns > 0; turns--) await engine.yieldToLoop();
    await this.#changePlaces({ keeps: last });
    await Promise.all(outcomes);
    this.counts.lost += engine.lastOp > last ? 1 : 0;
    engine.storage.log.truncateAfter(last);
    await old.rebuild(last);
  }

  /** A follower's transaction stays open while entries are applied. */
  async #read(): Promise<void> {
    const reader = this.#readers.pop();
    if (reader !== undefined && this.#random.below(2) === 0) return reader.close();
    const opened = this.#backup.engine.openSession({ readFrom: "follower" });
    await opened.simple("BEGIN; SELECT count(*) FROM t; SELECT count(*) FROM u", new RowBuffer(), () => {});
    this.#readers.push(opened);
  }

  async #compare(): Promise<void> {
    await this.#feedAll();
    const [a, b] = [this.#primary, this.#backup];
    strictEqual(b.engine.lastOp, a.engine.lastOp);
    strictEqual(b.engine.digest(), a.engine.digest());
    const decode = (member: Member) => new TextDecoder().decode(member.engine.machine.encodeState());
    strictEqual(decode(b), decode(a));
    await a.settle();
    await b.settle();
    strictEqual(b.engine.storage.checkpointOp, a.engine.storage.checkpointOp);
    deepStrictEqual(b.files(), a.files());
    this.counts.ops = a.engine.lastOp;
    this.counts.checkpoints = parseInt(
      /MANIFEST-([0-9a-f]+)/.exec(Object.keys(a.files()).join())?.[1] ?? "0",
      16,
    );
  }
}
