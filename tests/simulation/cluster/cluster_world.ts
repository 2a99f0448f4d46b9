/**
 * The whole level of the cluster's simulation: real members with engines, SQL, logs, superblocks, checkpoints and
 * gateways in one virtual time, clients over three protocols, a network that loses, repeats and delays, and everything
 * that can happen to a process and its disk. One seed is one run.
 *
 * What clients are told must hold: see `cluster_work.ts` for what they do, `cluster_checks.ts` for what members must
 * agree on. When the faults end, every client goes on, and all members have the same history and state.
 */
import { ok, strictEqual } from "node:assert/strict";
import { assert, AssertionError } from "../../../engine/base/assert.ts";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import { SPOKEN_VERSIONS } from "../../../engine/catalog/cluster_version.ts";
import { joinPath } from "../../../engine/host/disk.ts";
import { NO_FAULTS, SimulatedCrash } from "../../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import type { PeerMessage } from "../../../engine/replication/protocol/message.ts";
import {
  decodeMessage,
  encodeMessage,
  FRAME_LENGTH_BYTES,
} from "../../../engine/replication/peers/message_codec.ts";
import { readLogHeader, UNMARKED_FORMAT } from "../../../engine/storage/log_file.ts";
import { listLogFiles } from "../../../engine/storage/log_files.ts";
import { LOG_DIRECTORY } from "../../../engine/storage/storage_engine.ts";
import { withRejections } from "../unhandled_rejections.ts";
import { ClusterChecks } from "./cluster_checks.ts";
import { PgConnection } from "./cluster_clients.ts";
import { CLIENT_KINDS, type ClientKind, ClusterWork, LOAD_KINDS } from "./cluster_work.ts";
import { damageDisk } from "./disk_damage.ts";
import { hasLoads, planFaults, type PlannedFault } from "./fault_plan.ts";
import { DIRECTORY, type EndKind, Machine, type MachineWorld, OLD_RELEASE } from "./machine.ts";
import { CLIENT_HOST, StreamNetwork } from "./simulated_sockets.ts";
import { VirtualTime } from "./virtual_time.ts";

const FAULT_MICROSECONDS = 18_000_000;
const HEALED_MICROSECONDS = 10_000_000;
/** What is under way when clients stop. */
const END_MICROSECONDS = 2_000_000;
const START_MICROSECONDS = 20_000_000;
const MAX_DAMAGED_FILES = 8;
/** What happens to members in the middle of loads, when, and how soon after that began. */
const IN_LOADS = ["kill", "power", "cut off", "pause", "stop in order", "full disk"] as const;
const LOAD_MOMENTS = ["comes", "is committed", "is applied"] as const;
const MAX_LOAD_MICROSECONDS = 60_000;
/** What a look at the clock takes while a staged transaction is applied. */
const APPLY_PACES = [100, 1_000, 5_000] as const;

/** What one run did. */
export interface ClusterResult {
  readonly faults: number;
  readonly acknowledged: number;
  readonly views: number;
  readonly checkpoints: number;
  readonly entries: number;
  /** Why processes have ended by themselves, and how many requests were acknowledged before. */
  readonly ends: readonly { readonly why: string; readonly acknowledged: number }[];
  /** Equal for two runs of a seed. */
  readonly trace: string;
}

/** What is left out of a seed's run. */
export interface ClusterOptions {
  /** Indexes of faults in the plan. */
  readonly withoutFaults?: ReadonlySet<number>;
  readonly clients?: readonly ClientKind[];
  /** How long faults and clients go on. */
  readonly microseconds?: number;
  /** Instead of those of the seed. */
  readonly faults?: readonly PlannedFault[];
  /** Shards of each member: one unless given. */
  readonly shardCount?: number;
}

/** One run. */
class ClusterWorld implements MachineWorld {
  readonly host: SimulatedHost;
  readonly time: VirtualTime;
  readonly streams: StreamNetwork;
  readonly machines: readonly Machine[];
  readonly shardCount: number;
  readonly isLoaded: boolean;
  applyPace = 0;
  readonly #network: SeededRandom;
  readonly #work: ClusterWork;
  readonly #checks: ClusterChecks;
  readonly #plan: readonly PlannedFault[];
  readonly #options: ClusterOptions;
  readonly #loss: number;
  readonly #duplication: number;
  readonly #maxDelay: number;
  /** Directions that are cut, by how many faults. */
  readonly #cuts = new Map<string, number>();
  readonly #clientProcess = {};
  readonly #kinds: readonly ClientKind[];
  /** Comes when there is a load in the middle of something. */
  #awaitsLoad: PlannedFault | null = null;
  #failure: unknown = null;
  #isHealed = true;
  #faults = 0;
  readonly #ends: { readonly why: string; readonly acknowledged: number }[] = [];
  /** The newest version that a primary has made the active one. */
  #raisedVersion = 1;
  /** The member that has lost or damaged something of its disk, and has not made up for it. */
  #injured: Machine | null = null;

  constructor(seed: number, options: ClusterOptions) {
    this.#options = options;
    this.shardCount = options.shardCount ?? 1;
    this.#kinds = options.clients ?? clientsOf(seed, this.shardCount);
    this.isLoaded = LOAD_KINDS.some((kind) => this.#kinds.includes(kind));
    if (this.isLoaded) this.applyPace = APPLY_PACES[seed % APPLY_PACES.length] ?? 0;
    this.host = new SimulatedHost(seed);
    const random = new SeededRandom(seed ^ 0x5eed);
    this.#network = new SeededRandom(seed ^ 0x7e11);
    this.#loss = random.below(3) === 0 ? 0 : random.float() * 0.1;
    this.#duplication = random.below(2) === 0 ? 0 : random.float() * 0.1;
    this.#maxDelay = random.below(4) === 0 ? 60_000 : random.between(500, 8000);
    const count = random.below(4) === 0 ? 5 : 3;
    this.time = new VirtualTime(this.host, random);
    this.streams = new StreamNetwork({
      after: (microseconds, run) => void this.host.timers.setTimer(microseconds, run),
      onHost: (host, process, run) => {
        if (host === CLIENT_HOST) run();
        else this.machines[host]?.run(process, run);
      },
      delay: () => this.#delay(),
      isCut: (from, to) => this.#isCut(from, to),
      process: (host) => {
        if (host === CLIENT_HOST) return this.#clientProcess;
        const machine = this.machines[host];
        return machine?.isUp === true ? machine.process : null;
      },
    });
    this.machines = Array.from(
      { length: count },
      (_, index) => new Machine(index, this, seed * 64 + index),
    );
    this.#plan = options.faults ?? faultsOf(seed);
    if (this.#plan.some(({ kind }) => kind === "another release")) {
      for (const machine of this.machines) machine.release = OLD_RELEASE;
    }
    this.#checks = new ClusterChecks(this.machines);
    this.#work = new ClusterWork(seed, {
      streams: this.streams,
      members: count,
      now: () => this.host.clock.monotonic(),
      fail: (error) => this.fail(error),
    });
  }

  async run(): Promise<ClusterResult> {
    const report = (reason: unknown): void => {
      // What a process that has ended still wanted of its disk was refused.
      if (!isOfTheDead(reason)) this.fail(reason);
    };
    return await withRejections(report, () => this.time.during(() => this.#run()));
  }

  async #run(): Promise<ClusterResult> {
    for (const machine of this.machines) void machine.start();
    await this.#until(this.#work.prepare(this.#kinds));
    const kinds = this.#kinds;
    this.#work.start(kinds);
    const length = this.#options.microseconds ?? FAULT_MICROSECONDS;
    this.#isHealed = false;
    for (const [index, fault] of this.#plan.entries()) {
      if (this.#options.withoutFaults?.has(index) === true || fault.at > length) continue;
      this.host.timers.setTimer(fault.at, () => this.#inject(fault));
    }
    await this.#pass(length);
    this.#heal();
    this.#work.isCalm = true;
    await this.#pass(HEALED_MICROSECONDS / 2);
    const before = new Map(this.#work.progress);
    await this.#pass(HEALED_MICROSECONDS / 2);
    for (const kind of kinds) {
      const [was = 0, is = 0] = [before.get(kind), this.#work.progress.get(kind)];
      ok(is > was, `client "${kind}" does not go on after the faults: ${this.#checks.state()}`);
    }
    this.#work.isOver = true;
    await this.#pass(END_MICROSECONDS);
    await this.#until(this.#repaired(() => this.#readLast()));
    await this.#pass(END_MICROSECONDS / 2);
    this.#checkVersions();
    let checkpoints = 0;
    await this.#until(
      this.#repaired(async () => void (checkpoints = await this.#checks.checkEnd(this.#work))),
    );
    return {
      faults: this.#faults,
      acknowledged: this.#work.acknowledged,
      views: Math.max(...this.machines.map(({ member }) => member.viewNumber)),
      checkpoints,
      entries: this.#checks.entries,
      ends: this.#ends,
      trace: this.host.traceDigest,
    };
  }

  async #readLast(): Promise<void> {
    const connection = await PgConnection.open(this.streams, 0);
    try {
      await this.#work.check(connection);
    } finally {
      await connection.close();
    }
  }

  /** When all members run, the newest version that all speak is the active one, unless a later one was before. */
  #checkVersions(): void {
    const newest = Math.min(...this.machines.map(({ versions }) => versions.newest));
    for (const { index, member } of this.machines) {
      strictEqual(member.engine.clusterVersion, newest, `the active version at member ${index}`);
    }
  }

  /** What reads everything may be the first to find a damaged file, which is fetched from another member then. */
  async #repaired(work: () => Promise<void>): Promise<void> {
    for (let tries = 0;; tries++) {
      try {
        return await work();
      } catch (error) {
        const isDamage = error instanceof Error && "code" in error && error.code === "XX001";
        if (!isDamage || tries === MAX_DAMAGED_FILES) throw error;
      }
      await new Promise<void>((resolve) => this.host.timers.setTimer(1_000_000, resolve));
    }
  }

  #afterEach = (): void => {
    for (const machine of this.machines) {
      if (machine.disk.isCrashed) this.#end(machine, "power", machine.random.between(10_000, 2_000_000));
    }
    this.#checks.look();
    if (this.#awaitsLoad !== null) this.#lookForLoad(this.#awaitsLoad);
    if (this.#failure !== null) throw this.#failure;
  };

  async #pass(microseconds: number): Promise<void> {
    await this.host.run(microseconds, this.#afterEach);
  }

  async #until(work: Promise<void>): Promise<void> {
    let isDone = false;
    work.then(() => isDone = true, (error) => this.fail(error));
    for (let passed = 0; !isDone; passed += 10_000) {
      ok(passed < START_MICROSECONDS, `the cluster does not answer: ${this.#checks.state()}`);
      await this.#pass(10_000);
    }
  }

  // --- what members report ---

  fail(error: unknown): void {
    this.#failure ??= error;
  }

  applied(machine: Machine, op: number, payload: Uint8Array): void {
    try {
      this.#checks.applied(machine, op, payload);
    } catch (error) {
      this.fail(error);
    }
  }

  ended(machine: Machine, error: Error): void {
    this.host.trace(`${machine.index} ended`);
    if (this.#isRefused(machine, error)) this.#refuse(machine);
    else if (machine.hasFailingDisk && isOfTheDisk(error) && !isBug(error)) {
      this.#ends.push({ why: error.message, acknowledged: this.#work.acknowledged });
      this.#end(machine, "kill", machine.random.between(100_000, 1_000_000));
    } else this.fail(new Error(`member ${machine.index} has failed: ${error.stack}`, { cause: error }));
  }

  // --- the network ---

  isConnected(a: number, b: number): boolean {
    return !this.#isCut(a, b) && !this.#isCut(b, a) && this.#fits(a, b);
  }

  // --- releases ---

  #fits(a: number, b: number): boolean {
    const [one, other] = [this.machines[a]?.versions, this.machines[b]?.versions];
    assert(one !== undefined && other !== undefined, "there are two members");
    return Math.min(one.newest, other.newest) >= Math.max(one.oldest, other.oldest);
  }

  spokenVersion({ index }: Machine, peer: number): number | null {
    const other = this.machines[peer];
    return other?.isUp === true && this.isConnected(index, peer) ? other.versions.newest : null;
  }

  raises(version: number): void {
    this.host.trace(`version ${version}`);
    this.#raisedVersion = Math.max(this.#raisedVersion, version);
    for (const { index, isUp, versions } of this.machines) {
      if (isUp && versions.newest >= version) continue;
      const what = isUp ? `speaks ${versions.newest}` : "does not run";
      this.fail(new Error(`version ${version} is made the active one while member ${index} ${what}`));
    }
  }

  /** Releases of version 1 read log files of format 2 at most. */
  starts(machine: Machine): void {
    if (machine.versions.newest > 1 || this.#raisedVersion > 1) return;
    for (const { path, firstOp } of listLogFiles(machine.disk, joinPath(DIRECTORY, LOG_DIRECTORY))) {
      const file = machine.disk.openFile(path, { create: false, write: false });
      const version = readLogHeader(file, firstOp)?.format.version ?? 0;
      file.close();
      if (version > UNMARKED_FORMAT.version) {
        this.fail(new Error(`member ${machine.index} of version 1 finds "${path}" of format ${version}`));
      }
    }
  }

  /** Whether a process has found that its data is for a later release. */
  #isRefused({ versions }: Machine, error: Error): boolean {
    return error instanceof DatabaseError && error.code === "0A000" && versions.newest < this.#raisedVersion;
  }

  /** A process that the others do not take ends; whoever looks after it starts the later release. */
  #refuse(machine: Machine): void {
    if (machine.process === null) return;
    this.host.trace(`${machine.index} refused`);
    if (machine.versions.newest >= this.#raisedVersion) {
      this.fail(new Error(`member ${machine.index} speaks ${machine.versions.newest} and is refused`));
    }
    machine.release = SPOKEN_VERSIONS;
    this.#end(machine, "kill", machine.random.between(100_000, 1_000_000));
  }

  #isCut(from: number, to: number): boolean {
    return (this.#cuts.get(`${from}>${to}`) ?? 0) > 0;
  }

  #delay(): number {
    return this.#network.between(100, this.#isHealed ? 1000 : this.#maxDelay);
  }

  send(from: number, to: number, message: PeerMessage): void {
    if (this.#isCut(from, to)) return;
    if (!this.#fits(from, to)) {
      const machines = [from, to].map((index) => this.machines[index] as Machine);
      const older = machines.find(({ versions }) => versions.newest < SPOKEN_VERSIONS.newest);
      if (older?.isUp === true) this.host.timers.setTimer(0, () => this.#refuse(older));
      return;
    }
    if (!this.#isHealed && this.#network.float() < this.#loss) return;
    const frame = encodeMessage(0, this.#misread(message)).slice(FRAME_LENGTH_BYTES);
    const copies = !this.#isHealed && this.#network.float() < this.#duplication ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const late = !this.#isHealed && this.#network.below(300) === 0 ? 1_500_000 : 0;
      this.host.timers.setTimer(this.#delay() + late, () => {
        const machine = this.machines[to];
        if (machine?.isUp === true) machine.deliver(decodeMessage(frame.slice()).message);
      });
    }
  }

  /** A donor's disk delivers a wrong bit at times, before there is a checksum of the message. */
  #misread(message: PeerMessage): PeerMessage {
    if (message.kind !== "file_piece" || this.#isHealed || message.bytes.length === 0) return message;
    if (this.#network.below(5) > 0) return message;
    this.#faults++;
    const bytes = message.bytes.slice();
    const at = this.#network.below(bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << this.#network.below(8));
    return { ...message, bytes };
  }

  // --- faults ---

  #inject(fault: PlannedFault): void {
    if (this.#isHealed) return;
    const { kind, duration, choice } = fault;
    const machine = this.machines[fault.member % this.machines.length] as Machine;
    const primary = this.#primary ?? machine;
    if (kind === "in a load") {
      this.#awaitsLoad = fault;
      return;
    }
    this.#faults++;
    this.host.trace(`fault ${kind} ${machine.index}`);
    switch (kind) {
      case "kill":
      case "power":
        return this.#end(machine, kind, duration);
      case "power at an operation":
        machine.disk.faults = {
          ...machine.disk.faults,
          crashAtOperation: machine.disk.operations + 1 + choice % 60,
        };
        return;
      case "primary ends":
        return this.#end(primary, choice % 2 === 0 ? "kill" : "power", duration);
      case "all lose power":
        for (const [index, one] of this.machines.entries()) this.#end(one, "power", duration * (1 + index));
        return;
      case "stop in order":
        return this.#stop(choice % 3 === 0 ? machine : primary, duration);
      case "cut off":
        return this.#cut(machine, this.machines, duration);
      case "primary cut off":
        return this.#cut(primary, this.machines, duration, choice % 4 === 0);
      case "one-way cut":
        return this.#cut(choice % 2 === 0 ? primary : machine, this.machines, duration, true);
      case "pair cut": {
        const other = this.machines[choice % this.machines.length] as Machine;
        return this.#cut(machine, [other], duration);
      }
      case "pause":
        machine.pause();
        this.host.timers.setTimer(duration, () => machine.resume());
        return;
      case "slow disk":
        machine.slowness = 10 ** (1 + choice % 3);
        this.host.timers.setTimer(duration, () => machine.slowness = 1);
        return;
      case "full disk": {
        machine.hasFailingDisk = true;
        const { disk } = machine;
        disk.faults = { ...disk.faults, capacityBytes: disk.usedBytes + choice % 40_000 };
        this.host.timers.setTimer(duration, () => {
          if (machine.disk === disk) disk.faults = { ...disk.faults, capacityBytes: Infinity };
        });
        return;
      }
      case "failed sync":
        machine.hasFailingDisk = true;
        machine.disk.failNext("sync", choice % 4 === 0 ? "SUPERBLOCK" : "log");
        return;
      case "hanging disk": {
        const one = choice % 2 === 0 ? primary : machine;
        one.hasFailingDisk = true;
        one.hangDisk(choice % 4 < 2 ? "in the background" : "all");
        const { process } = one;
        this.host.timers.setTimer(duration, () => {
          if (one.process === process) one.freeDisk();
        });
        return;
      }
      case "damage":
        // One disk at a time, and the next when the one before has all again.
        if (this.#injured !== null || machine.life === null) return;
        this.#injured = machine;
        this.#end(machine, choice % 2 === 0 ? "kill" : "power", duration);
        void this.#whenRecovered(machine, damageDisk(machine, choice));
        return;
      case "lost disk":
        if (this.#injured !== null || machine.life === null) return;
        this.#injured = machine;
        this.#end(machine, "lost", duration);
        void this.#whenRecovered(machine);
        return;
      case "another release": {
        machine.release = choice % 4 === 0 ? OLD_RELEASE : SPOKEN_VERSIONS;
        if (choice % 3 === 0) this.#end(machine, "kill", duration);
        else this.#stop(machine, duration);
        return;
      }
      case "clock jump":
        machine.wallOffset += choice % 7_200_000_000 - 3_600_000_000;
    }
  }

  get #primary(): Machine | undefined {
    return this.machines.find(({ life }) => life?.member.isServing === true);
  }

  /** Something happens to one of those where a load is as far as the fault wants it, soon. */
  #lookForLoad(fault: PlannedFault): void {
    const { choice } = fault;
    const moment = LOAD_MOMENTS[choice % LOAD_MOMENTS.length];
    const there = this.machines.filter(({ load }) => load === moment);
    const victim = there.find((machine) => choice % 2 === 0 && machine === this.#primary) ??
      there[fault.member % there.length];
    if (victim === undefined) return;
    this.#awaitsLoad = null;
    const kind = IN_LOADS[(choice >>> 8) % IN_LOADS.length] ?? "kill";
    this.host.timers.setTimer(
      (choice >>> 4) % MAX_LOAD_MICROSECONDS,
      () => this.#inject({ ...fault, kind, member: victim.index }),
    );
  }

  async #whenRecovered(machine: Machine, isDamaged = () => false): Promise<void> {
    const isInjured = (): boolean => {
      const { life } = machine;
      if (life === null || isDamaged()) return true;
      const { replica, engine } = life.member;
      return replica.status === "recovering" || !machine.mayVote || !this.#checks.isWhole(machine) ||
        engine.appliedOp < Math.max(...this.machines.map((one) => one.life?.member.replica.commit ?? 0)) - 20;
    };
    while (isInjured()) {
      await new Promise<void>((resolve) => this.host.timers.setTimer(100_000, resolve));
      if (this.#isHealed) return;
    }
    this.#injured = null;
  }

  #end(machine: Machine, kind: EndKind, restartAfter: number): void {
    if (machine.process === null) return;
    this.host.trace(`${machine.index} ${kind}`);
    machine.end(kind);
    this.host.timers.setTimer(restartAfter, () => void machine.start());
  }

  #stop(machine: Machine, restartAfter: number): void {
    if (machine.life === null) return;
    void machine.stop().then(
      () => this.host.timers.setTimer(restartAfter, () => void machine.start()),
      (error) => {
        if (!isOfTheDead(error)) this.fail(error);
      },
    );
  }

  #cut(alone: Machine, others: readonly Machine[], microseconds: number, isOneWay = false): void {
    const keys = others.filter((other) => other !== alone).flatMap(({ index }) =>
      isOneWay ? [`${alone.index}>${index}`] : [`${alone.index}>${index}`, `${index}>${alone.index}`]
    );
    for (const key of keys) this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
    this.host.timers.setTimer(microseconds, () => {
      for (const key of keys) this.#cuts.set(key, (this.#cuts.get(key) ?? 0) - 1);
    });
  }

  #heal(): void {
    this.#isHealed = true;
    this.applyPace = Math.min(this.applyPace, APPLY_PACES[0]);
    this.#cuts.clear();
    for (const machine of this.machines) {
      machine.freeDisk();
      machine.setClock();
      machine.slowness = 1;
      machine.disk.faults = NO_FAULTS;
      void machine.start();
    }
  }
}

/** Whether an error is what a process gets that has ended already. */
function isOfTheDead(error: unknown): boolean {
  return error instanceof SimulatedCrash || error instanceof Error && isOfTheDead(error.cause) ||
    error instanceof DatabaseError && isOfTheDisk(error);
}

/** Whether a log was stopped by something else than its disk. */
function isBug({ cause }: Error): boolean {
  return cause instanceof AssertionError || cause instanceof TypeError || cause instanceof RangeError;
}

function isOfTheDisk(error: Error): boolean {
  return error instanceof DatabaseError && ["58030", "53100"].includes(error.code);
}

/** Runs a seed; throws what it finds, with the seed in front. */
export async function simulateCluster(seed: number, options: ClusterOptions = {}): Promise<ClusterResult> {
  try {
    return await new ClusterWorld(seed, options).run();
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** The clients that a seed has. */
export function clientsOf(seed: number, shardCount = 1): readonly ClientKind[] {
  return hasLoads(seed) && shardCount === 1 ? [...LOAD_KINDS, "http", "mixed", "follower"] : CLIENT_KINDS;
}

/** The faults that a seed has. */
export function faultsOf(seed: number): readonly PlannedFault[] {
  return planFaults(seed, FAULT_MICROSECONDS);
}
