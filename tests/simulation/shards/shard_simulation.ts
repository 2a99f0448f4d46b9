/**
 * One seed of a database of shards in a simulated machine: shards whose messages take their time, clients with
 * transactions over them, checkpoints, and crashes at any moment. Everything follows from the seed.
 *
 * Checked are: transfers are there whole or not at all, exactly once, those that were acknowledged for certain and
 * those that were refused for certain not; every snapshot has the same sum, in one statement and in several; of
 * doctors whose rows are at several shards one is on duty; no number of a sequence is given twice; counters are as
 * often counted up as was acknowledged, and no less than somebody has been answered; rows of equal values come in one
 * order, whichever shard is the first to answer.
 */
// Loaded before virtual time begins, as a shard loads it when its first fragment comes.
import "../../../engine/sharding/fragment_runs.ts";
import { ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import type { Engine } from "../../../engine/session/engine.ts";
import type { Session } from "../../../engine/session/session.ts";
import { openSharded, type StartShard } from "../../../engine/sharding/open_sharded.ts";
import { Shard } from "../../../engine/sharding/shard.ts";
import { ISOLATION_LEVELS } from "../../../engine/transactions/isolation_level.ts";
import { ShardPort } from "../../../engine/sharding/shard_port.ts";
import { withRejections } from "../unhandled_rejections.ts";
import { runDurably } from "../../support/run_sql.ts";

const ACCOUNTS = 12;
const INITIAL = 100;
const COUNTERS = 5;
/** Rows of a table that nobody changes, of few values. */
const TIED = 40;
const FIRST = 25;
const CLIENTS = 4;
const LIVES = 3;
/** The longest that a message takes. */
const DELAY_MICROSECONDS = 2_000;
/** Of a disk whose syncs take longer than messages. */
const SLOWNESS = 1_000;

/** What one run did. */
export interface ShardResult {
  readonly committed: number;
  readonly crashes: number;
  /** Equal for two runs of a seed. */
  readonly trace: string;
}

interface Transfer {
  readonly mark: number;
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  outcome: "acknowledged" | "refused" | "unknown";
}

/** Runs a seed; throws what it finds, with the seed in front. */
export async function simulateShards(seed: number): Promise<ShardResult> {
  try {
    return await new ShardWorld(seed).run();
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

class ShardWorld {
  readonly #host: SimulatedHost;
  readonly #random: SeededRandom;
  readonly #shardCount: number;
  readonly #transfers: Transfer[] = [];
  #failure: unknown = null;
  /** By counter: how often it was certainly, and perhaps, counted up. */
  readonly #counted = new Map<number, { certain: number; perhaps: number }>();
  /** By counter: the highest value that a reader was answered. */
  readonly #seen = new Map<number, number>();
  /** Ids of the tied rows in the order in which they were first answered. */
  #tied: string | null = null;
  /** The highest number of the sequence that a client was given. */
  #number = 0;
  #committed = 0;
  #crashes = 0;
  /** Numbers the lives: what belongs to an earlier one is not looked at. */
  #life = 0;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed * 7 + 1);
    this.#host = new SimulatedHost(seed);
    this.#shardCount = this.#random.below(2) === 0 ? 2 : 4;
  }

  async run(): Promise<ShardResult> {
    await withRejections((reason) => this.#failure ??= reason, () => this.#runDurably());
    return { committed: this.#committed, crashes: this.#crashes, trace: this.#host.traceDigest };
  }

  async #runDurably(): Promise<void> {
    for (let life = 0; life < LIVES; life++) {
      this.#life++;
      this.#host.disk.slowness = this.#random.below(2) === 0 ? 1 : SLOWNESS;
      const engine = await this.#host.settle(this.#open());
      this.#watch(engine);
      if (life === 0) await this.#host.settle(this.#create(engine));
      await this.#host.settle(this.#checkAll(engine));
      const clients = Array.from({ length: CLIENTS }, () => this.#client(engine));
      const steps = 50 + this.#random.below(1_500);
      for (let step = 0; step < steps && await this.#host.step(); step++) this.#rethrow();
      for (const each of clients) each.catch(() => {});
      this.#crashes++;
      if (this.#random.below(2) === 0) this.#host.kill();
      else this.#host.crash();
      this.#life++;
    }
    const engine = await this.#host.settle(this.#open());
    await this.#host.settle(this.#checkAll(engine));
    await this.#host.settle(engine.close());
    this.#rethrow();
  }

  #rethrow(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** An engine that ends by itself while the machine runs is a failure. */
  #watch(engine: Engine): void {
    const life = this.#life;
    void engine.failed.then((error) => {
      if (life === this.#life) this.#failure ??= error;
    });
  }

  #open(): Promise<Engine> {
    const start: StartShard = async (options, index) => {
      const random = new SeededRandom(this.#random.below(1 << 30) + index);
      const send = this.#late(
        random,
        (replies: Parameters<ShardPort["receive"]>[0]) => port.receive(replies),
      );
      const shard = await Shard.open({ ...options, host: this.#host, send });
      const port = new ShardPort(this.#late(random, (requests) => shard.receive(requests)));
      return port;
    };
    return openSharded({
      host: this.#host,
      directory: "data",
      shardCount: this.#shardCount,
      checkpointLogBytes: 3_000,
      startShard: start,
    });
  }

  /** Messages that take some time, and keep their order. */
  #late<Message>(random: SeededRandom, deliver: (message: Message) => void): (message: Message) => void {
    const { clock, timers } = this.#host;
    let last = 0;
    return (message) => {
      last = Math.max(last, clock.monotonic() + random.below(DELAY_MICROSECONDS));
      const life = this.#life;
      timers.setTimer(last - clock.monotonic(), () => {
        try {
          if (life === this.#life) deliver(structuredClone(message));
        } catch (error) {
          this.#failure ??= error;
        }
      });
    };
  }

  async #create(engine: Engine): Promise<void> {
    const session = engine.openSession();
    await runDurably(
      session,
      `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
       CREATE SEQUENCE number;
       CREATE TABLE counter (id INT PRIMARY KEY, counted INT NOT NULL);
       INSERT INTO counter SELECT n, 0 FROM generate_series(1, ${COUNTERS}) AS n;
       CREATE TABLE done (id SERIAL PRIMARY KEY, mark INT NOT NULL, number INT NOT NULL UNIQUE);
       CREATE TABLE tied (id INT PRIMARY KEY, kind INT NOT NULL);
       INSERT INTO tied SELECT n, n % 3 FROM generate_series(1, ${TIED}) AS n;
       CREATE TABLE duty (id INT PRIMARY KEY, present INT NOT NULL);
       INSERT INTO account SELECT n, ${INITIAL} FROM generate_series(1, ${ACCOUNTS}) AS n;
       INSERT INTO duty VALUES (1, 1), (2, 1), (3, 1), (4, 1)`,
    );
    session.close();
  }

  async #client(engine: Engine): Promise<void> {
    const life = this.#life;
    const session = engine.openSession();
    try {
      while (life === this.#life) {
        switch (this.#random.below(9)) {
          case 0:
          case 1:
            await this.#transfer(session);
            break;
          case 2:
          case 3:
            await this.#leave(session);
            break;
          case 6:
            await this.#count(session);
            break;
          case 4: {
            const [row] = await runDurably(session, "SELECT nextval('number')");
            if (life === this.#life) this.#number = Math.max(this.#number, Number(row?.[0]));
            break;
          }
          case 5:
            await this.#look(session);
            break;
          case 8:
            await this.#lookAtTies(session);
            break;
          default:
            await this.#sum(session);
        }
      }
    } catch (error) {
      if (life === this.#life) this.#failure ??= error;
    }
  }

  async #transfer(session: Session): Promise<void> {
    const [from, to] = [1 + this.#random.below(ACCOUNTS), 1 + this.#random.below(ACCOUNTS)];
    if (from === to) return;
    const transfer: Transfer = {
      mark: this.#transfers.length,
      from,
      to,
      amount: 1 + this.#random.below(9),
      outcome: "unknown",
    };
    this.#transfers.push(transfer);
    const isDone = await this.#attempt(session, [
      `BEGIN ISOLATION LEVEL ${ISOLATION_LEVELS[transfer.mark % ISOLATION_LEVELS.length]}`,
      `UPDATE account SET balance = balance - ${transfer.amount} WHERE id = ${from}`,
      `UPDATE account SET balance = balance + ${transfer.amount} WHERE id = ${to}`,
      `INSERT INTO done (mark, number) VALUES (${transfer.mark}, nextval('number'))`,
      "COMMIT",
    ]);
    transfer.outcome = isDone ? "acknowledged" : "refused";
  }

  /** One of the doctors leaves if another one stays, or comes back. */
  async #leave(session: Session): Promise<void> {
    const doctor = 1 + this.#random.below(4);
    await this.#attempt(session, [
      "BEGIN",
      "SELECT sum(present) FROM duty",
      (rows) => {
        const present = Number(rows[0]?.[0]);
        ok(present >= 1, "nobody is on duty");
        return `UPDATE duty SET present = ${present > 1 ? 0 : 1} WHERE id = ${doctor}`;
      },
      "COMMIT",
    ]);
  }

  /** Counts one of the counters up, or all. */
  async #count(session: Session): Promise<void> {
    const counter = this.#random.below(COUNTERS + 1);
    const all = Array.from({ length: COUNTERS }, (_, index) => index + 1);
    const counted = (counter === 0 ? all : [counter]).map((each) => {
      const known = this.#counted.get(each) ?? { certain: 0, perhaps: 0 };
      this.#counted.set(each, known);
      return known;
    });
    for (const each of counted) each.perhaps++;
    const isDone = await this.#attempt(session, [
      `UPDATE counter SET counted = counted + 1${counter === 0 ? "" : ` WHERE id = ${counter}`}`,
    ]);
    for (const each of counted) {
      if (isDone) each.certain++;
      else each.perhaps--;
    }
  }

  /** What somebody has been answered stays. */
  async #look(session: Session): Promise<void> {
    const life = this.#life;
    for (const [id, counted] of await runDurably(session, "SELECT id, counted FROM counter")) {
      const counter = Number(id);
      if (life !== this.#life) return;
      this.#seen.set(counter, Math.max(this.#seen.get(counter) ?? 0, Number(counted)));
    }
  }

  /** Merged while they come, or kept before: the order is that of the shards. */
  async #lookAtTies(session: Session): Promise<void> {
    const query = "SELECT id FROM tied ORDER BY kind";
    const answers: unknown[][][] = [];
    const keep = (text: string) => (rows: unknown[][]): string => {
      answers.push(rows);
      return text;
    };
    const first = `${query} LIMIT ${FIRST}`;
    if (!await this.#attempt(session, ["BEGIN", query, keep(first), keep("COMMIT")])) return;
    const life = this.#life;
    for (const each of [query, first]) answers.push(await runDurably(session, each));
    if (life !== this.#life) return;
    for (const rows of answers) {
      const ids = rows.map(([id]) => Number(id)).join();
      this.#tied ??= ids;
      strictEqual(ids, this.#tied.split(",", rows.length).join(), "rows of equal values change their places");
    }
  }

  async #sum(session: Session): Promise<void> {
    const half = ACCOUNTS / 2;
    const sums: unknown[][][] = [];
    const keep = (text: string) => (rows: unknown[][]): string => {
      sums.push(rows);
      return text;
    };
    const isDone = await this.#attempt(session, [
      `BEGIN ISOLATION LEVEL ${this.#committed % 2 === 0 ? "SERIALIZABLE" : "REPEATABLE READ"}`,
      `SELECT sum(balance) FROM account WHERE id <= ${half}`,
      keep(`SELECT sum(balance) FROM account WHERE id > ${half}`),
      keep("COMMIT"),
    ]);
    const total = sums.reduce((sum, rows) => sum + Number(rows[0]?.[0]), 0);
    if (isDone) strictEqual(total, ACCOUNTS * INITIAL, "the sum of a snapshot, in two statements");
    const [row] = await runDurably(session, "SELECT sum(balance) FROM account");
    strictEqual(Number(row?.[0]), ACCOUNTS * INITIAL, "the sum of a snapshot");
  }

  /** Whether the transaction was committed; false: it was refused, and nothing of it holds. */
  async #attempt(
    session: Session,
    statements: readonly (string | ((rows: unknown[][]) => string))[],
  ): Promise<boolean> {
    try {
      let rows: unknown[][] = [];
      for (const each of statements) {
        rows = await runDurably(session, typeof each === "string" ? each : each(rows));
      }
      this.#committed++;
      return true;
    } catch (error) {
      const mayLose = statements[0] !== "BEGIN ISOLATION LEVEL read committed";
      const refusals = ["40P01", "25P02", ...(mayLose ? ["40001"] : [])];
      if (!(error instanceof DatabaseError) || !refusals.includes(error.code)) throw error;
      await runDurably(session, "ROLLBACK");
      return false;
    }
  }

  async #checkAll(engine: Engine): Promise<void> {
    const session = engine.openSession();
    const marks = (await runDurably(session, "SELECT mark FROM done ORDER BY id")).map(([mark]) =>
      Number(mark)
    );
    const found = new Set(marks);
    strictEqual(found.size, marks.length, "a transfer is there twice");
    const balances = new Map(Array.from({ length: ACCOUNTS }, (_, index) => [index + 1, INITIAL]));
    for (const { mark, from, to, amount, outcome } of this.#transfers) {
      if (outcome === "acknowledged") {
        ok(found.has(mark), `transfer ${mark} was acknowledged, and is not there`);
      }
      if (outcome === "refused") ok(!found.has(mark), `transfer ${mark} was refused, and is there`);
      if (!found.has(mark)) continue;
      balances.set(from, (balances.get(from) ?? 0) - amount);
      balances.set(to, (balances.get(to) ?? 0) + amount);
    }
    const rows = await runDurably(session, "SELECT id, balance FROM account ORDER BY id");
    strictEqual(
      JSON.stringify(rows.map(([id, balance]) => [Number(id), Number(balance)])),
      JSON.stringify([...balances]),
      "the balances are those of the transfers that are there",
    );
    for (const [id, value] of await runDurably(session, "SELECT id, counted FROM counter")) {
      const { certain, perhaps } = this.#counted.get(Number(id)) ?? { certain: 0, perhaps: 0 };
      const counted = Number(value);
      ok(counted >= certain && counted <= perhaps, `counter ${id}: ${counted}, not ${certain} to ${perhaps}`);
      const seen = this.#seen.get(Number(id)) ?? 0;
      ok(counted >= seen, `counter ${id}: ${counted}, and somebody has seen ${seen}`);
      this.#counted.set(Number(id), { certain: counted, perhaps: counted });
    }
    const [number] = await runDurably(session, "SELECT nextval('number')");
    ok(Number(number?.[0]) > this.#number, `number ${number?.[0]} comes twice`);
    const [present] = await runDurably(session, "SELECT sum(present), count(*) FROM duty");
    ok(Number(present?.[0]) >= 1, "nobody is on duty");
    strictEqual(Number(present?.[1]), 4);
    session.close();
  }
}
