/**
 * The whole level of the cluster's simulation: real members with engines, SQL, logs, superblocks and checkpoints on
 * simulated disks, in one virtual time; a network that loses, repeats and delays, and everything that can happen to a
 * process and its disk. One seed is one run.
 *
 * Clients insert rows, raise counters, move money in blocks, load and define tables at whichever member serves, and
 * believe what is committed. At the end all members have the same history and the same state, byte for byte, and in it
 * all that was acknowledged, and nothing in part.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import type { Host } from "../../../engine/host/host.ts";
import { NO_FAULTS, SimulatedDisk } from "../../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import { installTransfer } from "../../../engine/replication/checkpoint_transfer.ts";
import { Member, SuperblockReports } from "../../../engine/replication/member.ts";
import type { PeerMessage } from "../../../engine/replication/message.ts";
import {
  decodeMessage,
  encodeMessage,
  FRAME_LENGTH_BYTES,
} from "../../../engine/replication/message_codec.ts";
import { Superblock } from "../../../engine/replication/superblock.ts";
import { Engine } from "../../../engine/session/engine.ts";
import type { Session } from "../../../engine/session/session.ts";
import { RowBuffer } from "../../../engine/statements/row_buffer.ts";

const DIRECTORY = "data";
const CLUSTER_ID = new Uint8Array(16).fill(7);
const FAULT_MICROSECONDS = 10_000_000;
const HEALED_MICROSECONDS = 8_000_000;
const CHECKPOINT_LOG_BYTES = 20_000;
const ACCOUNTS = 8;
const OPENING_BALANCE = 100;
const CLIENTS = 4;

/** What one run did. */
export interface ClusterResult {
  readonly faults: number;
  readonly acknowledged: number;
  readonly views: number;
  readonly checkpoints: number;
  /** Equal for two runs of a seed. */
  readonly trace: string;
}

/** One process of a member. */
interface Life {
  readonly member: Member<Engine>;
  /** Resolved when the process has ended. */
  readonly death: PromiseWithResolvers<void>;
  onMessage: ((message: PeerMessage) => void) | null;
}

/** A machine with its disk, and the process that runs on it now. */
class Machine {
  readonly index: number;
  disk: SimulatedDisk;
  life: Life | null = null;
  /** Counts the processes: what an earlier one has asked for does not come. */
  epoch = 0;
  pausedUntil = 0;
  hasDisk = true;
  isStarting = false;
  readonly #world: ClusterWorld;

  constructor(index: number, world: ClusterWorld) {
    this.index = index;
    this.#world = world;
    this.disk = this.#newDisk();
  }

  #newDisk(): SimulatedDisk {
    const { host, random } = this.#world;
    return new SimulatedDisk({
      random,
      pass: () => {},
      later: (microseconds) => new Promise((resolve) => this.#after(microseconds, resolve)),
      trace: (event) => host.trace(`${this.index} ${event}`),
    }, NO_FAULTS);
  }

  /** Runs the function later, in this process, and when it is not held up. */
  #after(microseconds: number, callback: () => void): number {
    const { epoch } = this;
    const { host } = this.#world;
    const run = (): void => {
      if (this.epoch !== epoch) return;
      const wait = this.pausedUntil - host.clock.monotonic();
      if (wait > 0) host.timers.setTimer(wait, run);
      else callback();
    };
    return host.timers.setTimer(microseconds, run);
  }

  async start(): Promise<void> {
    const world = this.#world;
    const { host: { clock, timers }, random } = world;
    const epoch = ++this.epoch;
    const host: Host = {
      clock,
      random: { fill: (target) => random.fill(target) },
      timers: {
        setTimer: (delay, callback) => this.#after(delay, callback),
        clearTimer: (timer) => timers.clearTimer(timer),
        yieldToLoop: () => new Promise((resolve) => this.#after(0, resolve)),
        endOfTurn: () => new Promise((resolve) => this.#after(0, resolve)),
        close: () => Promise.resolve(),
      },
      disk: this.disk,
    };
    const reports = new SuperblockReports();
    const identity = {
      clusterId: CLUSTER_ID,
      index: this.index,
      memberCount: world.machines.length,
      configurationHash: 1n,
    };
    this.disk.createDirectory(DIRECTORY);
    const superblock = Superblock.open(this.disk, DIRECTORY, reports) ??
      Superblock.create(this.disk, DIRECTORY, identity, reports, { isReplaced: !this.hasDisk });
    this.hasDisk = true;
    installTransfer(this.disk, DIRECTORY);
    let onMessage: Life["onMessage"] = null;
    const member = await Member.start<Engine>({
      host,
      superblock,
      reports,
      directory: DIRECTORY,
      usesReadLease: true,
      peers: {
        send: (to: number, message: PeerMessage) => {
          if (this.epoch === epoch) world.send(this.index, to, message);
        },
        onMessage: (listener: (message: PeerMessage) => void) => {
          onMessage = (message) => void this.#after(0, () => listener(message));
        },
        close: () => {},
        // What people are shown of connections is not simulated.
        statistics: () => [],
      } as never,
      openEngine: (seat) =>
        Engine.open({ host, directory: DIRECTORY, checkpointLogBytes: CHECKPOINT_LOG_BYTES, member: seat }),
      log: () => {},
      onPrimaryChanged: () => {},
    });
    if (this.epoch !== epoch) return;
    void member.failed.then((error) => {
      // What a dead process still wants of its disk is refused.
      if (this.epoch === epoch) world.fail(new Error(`member ${this.index} has failed: ${error.message}`));
    });
    this.life = { member, onMessage, death: Promise.withResolvers() };
  }

  /** Whether its superblock does not forbid it to vote. */
  get mayVote(): boolean {
    return Superblock.open(this.disk, DIRECTORY, new SuperblockReports())?.read().voteBan === null;
  }

  /** Ends the process; with the power, the disk loses what was not synced. */
  crash(kind: "kill" | "power" | "lost"): void {
    this.epoch++;
    this.life?.death.resolve();
    this.life = null;
    this.pausedUntil = 0;
    if (kind === "kill") this.disk.kill();
    else if (kind === "power") this.disk.crash();
    else {
      this.disk = this.#newDisk();
      this.hasDisk = false;
    }
  }
}

/** What clients were told. */
interface Account {
  readonly rows: Set<number>;
  readonly unknownRows: Set<number>;
  increments: number;
  unknownIncrements: number;
}

/** One run. */
class ClusterWorld {
  readonly host: SimulatedHost;
  readonly random: SeededRandom;
  readonly machines: Machine[];
  readonly #loss: number;
  readonly #duplication: number;
  readonly #maxDelay: number;
  readonly #cuts = new Set<number>();
  readonly #account: Account = {
    rows: new Set(),
    unknownRows: new Set(),
    increments: 0,
    unknownIncrements: 0,
  };
  #failure: Error | null = null;
  #isHealed = false;
  #isOver = false;
  #faults = 0;
  #nextId = 0;
  #lostDisk: Machine | null = null;

  constructor(seed: number) {
    this.host = new SimulatedHost(seed);
    const random = this.random = new SeededRandom(seed ^ 0x5eed);
    this.#loss = random.below(3) === 0 ? 0 : random.float() * 0.1;
    this.#duplication = random.below(2) === 0 ? 0 : random.float() * 0.1;
    this.#maxDelay = random.below(3) === 0 ? 60_000 : random.between(500, 8000);
    const count = random.below(4) === 0 ? 5 : 3;
    this.machines = Array.from({ length: count }, (_, index) => new Machine(index, this));
  }

  async run(): Promise<ClusterResult> {
    for (const machine of this.machines) await machine.start();
    const clients = Array.from({ length: CLIENTS }, (_, client) => this.#client(client));
    this.#faultAgain();
    await this.#runUntil(FAULT_MICROSECONDS);
    this.#heal();
    await this.#runUntil(FAULT_MICROSECONDS + HEALED_MICROSECONDS / 2);
    const before = this.#account.rows.size;
    await this.#runUntil(FAULT_MICROSECONDS + HEALED_MICROSECONDS);
    ok(this.#account.rows.size > before, `no progress after the faults have ended: ${this.#state()}`);
    this.#isOver = true;
    await this.#runUntil(FAULT_MICROSECONDS + HEALED_MICROSECONDS + 2_000_000);
    void clients;
    return await this.#check();
  }

  fail(error: Error): void {
    this.#failure ??= error;
  }

  send(from: number, to: number, message: PeerMessage): void {
    const { random } = this;
    if (this.#cuts.has(from * 8 + to)) return;
    if (!this.#isHealed && random.float() < this.#loss) return;
    const frame = encodeMessage(0, message).slice(FRAME_LENGTH_BYTES);
    const copies = !this.#isHealed && random.float() < this.#duplication ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const delay = random.between(100, this.#isHealed ? 1000 : this.#maxDelay);
      this.host.timers.setTimer(delay, () => {
        const life = this.machines[to]?.life;
        life?.onMessage?.(decodeMessage(frame.slice()).message);
      });
    }
  }

  async #runUntil(microseconds: number): Promise<void> {
    const start = this.host.clock.monotonic();
    let isDue = false;
    this.host.timers.setTimer(Math.max(0, microseconds - (start - this.#epoch)), () => isDue = true);
    while (!isDue) {
      await this.host.step();
      if (this.#failure !== null) throw this.#failure;
    }
  }

  get #epoch(): number {
    return this.#started ??= this.host.clock.monotonic();
  }

  #started: number | null = null;

  // --- clients ---

  async #client(client: number): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(this.random.between(5000, 250_000));
      const life = this.machines[this.random.below(this.machines.length)]?.life;
      if (life?.member.isServing !== true) continue;
      try {
        const session = life.member.engine.openSession();
        const working = this.#workSome(session, client);
        // What a dead process was asked for is never answered.
        working.catch(() => {});
        await Promise.race([working, life.death.promise]);
      } catch (error) {
        if (!(error instanceof DatabaseError)) this.fail(error as Error);
      }
    }
  }

  #pause(microseconds: number): Promise<void> {
    return new Promise((resolve) => this.host.timers.setTimer(microseconds, resolve));
  }

  async #workSome(session: Session, client: number): Promise<void> {
    try {
      for (let count = this.random.below(6); count >= 0; count--) await this.#work(session, client);
    } finally {
      session.close();
    }
  }

  async #work(session: Session, client: number): Promise<void> {
    const account = this.#account;
    switch (this.random.below(8)) {
      case 0: {
        await run(session, "CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, client int, v text)");
        await run(session, "CREATE TABLE IF NOT EXISTS counter (id int PRIMARY KEY, n int)");
        await run(session, "INSERT INTO counter VALUES (1, 0) ON CONFLICT DO NOTHING");
        await run(session, "CREATE TABLE IF NOT EXISTS balance (id int PRIMARY KEY, amount int)");
        await run(
          session,
          `INSERT INTO balance SELECT n, ${OPENING_BALANCE} FROM generate_series(1, ${ACCOUNTS}) n ON CONFLICT DO NOTHING`,
        );
        break;
      }
      case 1: {
        account.unknownIncrements++;
        // The row is made after its table.
        const rows = await run(session, "UPDATE counter SET n = n + 1 RETURNING n");
        account.unknownIncrements--;
        account.increments += rows;
        break;
      }
      case 2: {
        const [from, to] = [1 + this.random.below(ACCOUNTS), 1 + this.random.below(ACCOUNTS)];
        await run(session, "BEGIN");
        await run(session, `UPDATE balance SET amount = amount - 3 WHERE id = ${from}`);
        await this.#pause(this.random.below(20_000));
        await run(session, `UPDATE balance SET amount = amount + 3 WHERE id = ${to}`);
        await run(session, "COMMIT");
        break;
      }
      case 3:
        await this.#insert(session, client, this.random.below(8) === 0 ? 1500 : 20);
        break;
      case 4:
        await run(session, `CREATE TEMP TABLE own_${client} (a int)`);
        break;
      default:
        await this.#insert(session, client, 1);
    }
  }

  async #insert(session: Session, client: number, count: number): Promise<void> {
    const { rows, unknownRows } = this.#account;
    const first = this.#nextId + 1;
    this.#nextId += count;
    unknownRows.add(first);
    const text = "x".repeat(this.random.below(300));
    await run(
      session,
      `INSERT INTO t SELECT n, ${client}, '${text}' FROM generate_series(${first}, ${first + count - 1}) n`,
    );
    unknownRows.delete(first);
    for (let id = first; id < first + count; id++) rows.add(id);
  }

  // --- faults ---

  #faultAgain(): void {
    if (this.#isHealed) return;
    this.#faults++;
    const { random } = this;
    const machine = this.machines[random.below(this.machines.length)] as Machine;
    switch (random.below(9)) {
      case 0:
      case 1:
        this.#crash(machine, "kill");
        break;
      case 2:
        this.#crash(machine, "power");
        break;
      case 3: {
        const primary = this.machines.find(({ life }) => life?.member.isServing);
        if (primary !== undefined) this.#crash(primary, random.below(2) === 0 ? "kill" : "power");
        break;
      }
      case 4:
        if (random.below(3) === 0) { for (const one of this.machines) this.#crash(one, "power"); }
        break;
      case 5:
        this.#cut(machine.index, random.between(50_000, 3_000_000));
        break;
      case 6:
        machine.pausedUntil = this.host.clock.monotonic() + random.between(1000, 2_500_000);
        break;
      case 7:
        this.#cuts.clear();
        break;
      case 8:
        // One disk at a time, and the next when the one before has all again.
        if (this.#lostDisk === null && random.below(3) === 0 && machine.life !== null) {
          this.#lostDisk = machine;
          this.#crash(machine, "lost");
          void this.#whenRecovered(machine);
        }
        break;
    }
    this.host.timers.setTimer(random.between(50_000, 1_500_000), () => this.#faultAgain());
  }

  async #whenRecovered(machine: Machine): Promise<void> {
    while (machine.life === null || machine.life.member.replica.status === "recovering" || !machine.mayVote) {
      await this.#pause(100_000);
      if (this.#isOver) return;
    }
    this.#lostDisk = null;
  }

  #crash(machine: Machine, kind: "kill" | "power" | "lost"): void {
    if (machine.life === null) return;
    this.host.trace(`${machine.index} ${kind}`);
    machine.crash(kind);
    this.host.timers.setTimer(this.random.between(10_000, 2_000_000), () => this.#restart(machine));
  }

  #restart(machine: Machine): void {
    if (machine.life !== null || machine.isStarting) return;
    machine.isStarting = true;
    void machine.start().catch((error) => this.fail(error)).finally(() => machine.isStarting = false);
  }

  #cut(alone: number, microseconds: number): void {
    const isOneWay = this.random.below(3) === 0;
    for (const { index } of this.machines) {
      if (index === alone) continue;
      this.#cuts.add(alone * 8 + index);
      if (!isOneWay) this.#cuts.add(index * 8 + alone);
    }
    this.host.timers.setTimer(microseconds, () => this.#cuts.clear());
  }

  #heal(): void {
    this.#isHealed = true;
    this.#cuts.clear();
    for (const machine of this.machines) {
      machine.pausedUntil = 0;
      this.#restart(machine);
    }
  }

  // --- the end ---

  #state(): string {
    return this.machines.map(({ index, life }) => {
      const replica = life?.member.replica;
      return `${index}: ${replica?.status} view ${replica?.view} commit ${replica?.commit} applied ${life?.member.engine.lastOp}`;
    }).join("; ");
  }

  async #check(): Promise<ClusterResult> {
    const engines = this.machines.map(({ life }) => life?.member.engine as Engine);
    const [first] = engines;
    ok(first !== undefined);
    let checkpoints = 0;
    for (const [index, engine] of engines.entries()) {
      strictEqual(engine.lastOp, first.lastOp, `member ${index} is at another op: ${this.#state()}`);
      strictEqual(engine.digest(), first.digest(), `member ${index} has another history`);
      deepStrictEqual(
        engine.machine.encodeState(),
        first.machine.encodeState(),
        `member ${index} has another state`,
      );
      checkpoints += engine.storage.checkpointOp > 0 ? 1 : 0;
      await this.#checkRows(engine, index);
    }
    const views = Math.max(...this.machines.map(({ life }) => life?.member.viewNumber ?? 0));
    const { rows, increments } = this.#account;
    return {
      faults: this.#faults,
      acknowledged: rows.size + increments,
      views,
      checkpoints,
      trace: this.host.traceDigest,
    };
  }

  async #checkRows(engine: Engine, index: number): Promise<void> {
    const session = engine.openSession({ readFrom: "follower" });
    const numbers = async (sql: string): Promise<number[]> => {
      const sink = new RowBuffer();
      await session.simple(sql, sink, () => {});
      return sink.rows.map(([value]) => Number(value));
    };
    const { rows, unknownRows, increments, unknownIncrements } = this.#account;
    const present = new Set(await numbers("SELECT id FROM t"));
    for (const id of rows) ok(present.has(id), `member ${index} has lost row ${id}`);
    const [counter = 0] = await numbers("SELECT n FROM counter");
    ok(
      counter >= increments && counter <= increments + unknownIncrements,
      `member ${index}: the counter is ${counter}, ${increments} (and ${unknownIncrements}) increments`,
    );
    const [sum] = await numbers("SELECT sum(amount) FROM balance");
    strictEqual(sum, ACCOUNTS * OPENING_BALANCE, `member ${index}: money came or went`);
    const extra = [...present].filter((id) => !rows.has(id));
    const explained = [...unknownRows].filter((id) => present.has(id));
    ok(extra.length === 0 || explained.length > 0, `member ${index} has rows that nobody wrote`);
    session.close();
  }
}

/** Runs statements, and waits until what they did is committed; answers how many rows came. */
async function run(session: Session, sql: string): Promise<number> {
  let op = 0;
  const sink = new RowBuffer();
  await session.simple(sql, sink, (outcome) => op = Math.max(op, outcome.durableOp));
  await session.whenDurable(op);
  return sink.rows.length;
}

/** Runs a seed; throws what it finds, with the seed in front. */
export async function simulateCluster(seed: number): Promise<ClusterResult> {
  try {
    return await new ClusterWorld(seed).run();
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
