/**
 * A machine of the simulation: its disk, its clocks, and the process that runs on it, which is a whole member with its
 * gateways, as `cli/dbd` puts it together.
 */
import { assert } from "../../../engine/base/assert.ts";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import { SPOKEN_VERSIONS, type VersionRange } from "../../../engine/catalog/cluster_version.ts";
import { type Clock, type Host, repeatedTimer } from "../../../engine/host/host.ts";
import { NO_FAULTS, SimulatedCrash, SimulatedDisk } from "../../../engine/host/simulated_disk.ts";
import type { SimulatedHost } from "../../../engine/host/simulated_host.ts";
import { installTransfer } from "../../../engine/replication/files/checkpoint_transfer.ts";
import { Member } from "../../../engine/replication/member.ts";
import type { PeerMessage } from "../../../engine/replication/protocol/message.ts";
import { Superblock, SuperblockReports } from "../../../engine/replication/superblock.ts";
import { isStagedEntry } from "../../../engine/operations/entry_codec.ts";
import type { Engine } from "../../../engine/session/engine.ts";
// Loaded ahead: shards load it with their first fragment, for which virtual time does not wait.
import "../../../engine/sharding/fragment_runs.ts";
import { openSharded, shardInThisThread } from "../../../engine/sharding/open_sharded.ts";
import { MachineGateways } from "./machine_gateways.ts";
import type { StreamNetwork } from "./simulated_sockets.ts";
import type { VirtualTime } from "./virtual_time.ts";

export const DIRECTORY = "data";
const CLUSTER_ID = new Uint8Array(16).fill(7);
const CHECKPOINT_LOG_BYTES = 30_000;
/** The simulated disk takes so long at least for a sync that blocks, and less for reads and writes. */
const QUICKEST_SYNC_MICROSECONDS = 20;
/** Small enough that some entries travel in pieces, among them each load. */
const LARGE_ENTRIES = { leastBytes: 2048, pieceBytes: 1024 };
/** More than those have that stage a load. */
const LARGE_BESIDE_LOADS = { ...LARGE_ENTRIES, leastBytes: 5000 };

/** The release before this one. */
export const OLD_RELEASE: VersionRange = { oldest: 1, newest: 1 };

/** How a process ends. */
export type EndKind = "kill" | "power" | "lost";

/** What machines need of their world. */
export interface MachineWorld {
  readonly host: SimulatedHost;
  readonly time: VirtualTime;
  readonly streams: StreamNetwork;
  readonly machines: readonly Machine[];
  /** Of each member. */
  readonly shardCount: number;
  /** Some of its clients load what is staged. */
  readonly isLoaded: boolean;
  /** Microseconds that a look at the clock may take while a staged transaction is applied. */
  readonly applyPace: number;
  send(from: number, to: number, message: PeerMessage): void;
  /** The newest version that another member speaks; null: this one is not connected to it. */
  spokenVersion(machine: Machine, peer: number): number | null;
  /** A primary is going to make a version the active one. */
  raises(version: number): void;
  /** What this process says, and its log: the release must be able to read it. */
  starts(machine: Machine): void;
  /** Whether neither direction between two members is cut, and both speak a version that is allowed. */
  isConnected(a: number, b: number): boolean;
  /** A backup applies an entry. */
  applied(machine: Machine, op: number, payload: Uint8Array): void;
  /** A process ends by itself. */
  ended(machine: Machine, error: Error): void;
  fail(error: unknown): void;
}

/** One process of a member. */
export interface Life {
  readonly member: Member<Engine>;
  readonly gateways: MachineGateways;
}

/** See the head of the file. */
export class Machine {
  readonly index: number;
  readonly random: SeededRandom;
  disk: SimulatedDisk;
  /** The process, from when it serves. */
  life: Life | null = null;
  /** Names the process that runs; null: there is none. */
  process: object | null = null;
  hasDisk = true;
  /** What the processes speak that are started from now on. */
  release: VersionRange = SPOKEN_VERSIONS;
  /** What the process speaks and its cluster allows. */
  versions: VersionRange = SPOKEN_VERSIONS;
  /** How many times slower syncs are. */
  slowness = 1;
  /** Its disk has failed it: its process may end by itself. */
  hasFailingDisk = false;
  /** Microseconds by which its wall clock is ahead. */
  wallOffset = 0;
  /** Its seconds in one of the world's. */
  readonly pace: number;
  #isPaused = false;
  #held: (() => void)[] = [];
  /** Which syncs do not end. */
  #hang: "in the background" | "all" | null = null;
  #hanging: (() => void)[] = [];
  /** A staged transaction that is applied as another member's. */
  #applying: Promise<void> | null = null;
  #listener: ((message: PeerMessage) => void) | null = null;
  /** Of the newest process. */
  #superblock: Superblock | null = null;
  readonly #world: MachineWorld;

  constructor(index: number, world: MachineWorld, seed: number) {
    this.index = index;
    this.#world = world;
    this.random = new SeededRandom(seed);
    // Two members differ by 5 % at most.
    this.pace = this.random.below(2) === 0 ? 1 : 0.976 + this.random.float() * 0.048;
    this.disk = this.#newDisk();
  }

  #newDisk(): SimulatedDisk {
    const { host } = this.#world;
    return new SimulatedDisk({
      random: this.random,
      pass: (microseconds) => {
        // What blocks the process, and takes longer than a read or a write, is a sync.
        if (this.#hang === "all" && microseconds >= QUICKEST_SYNC_MICROSECONDS) this.pause();
      },
      later: (microseconds) =>
        new Promise((resolve) => {
          const end = () => void this.after(microseconds * this.slowness, resolve);
          if (this.#hang === null) end();
          else this.#hanging.push(end);
        }),
      trace: (event) => host.trace(`${this.index} ${event}`),
    }, NO_FAULTS);
  }

  get clock(): Clock {
    const { clock } = this.#world.host;
    const now = () => clock.now() + Math.round((this.pace - 1) * clock.monotonic()) + this.wallOffset;
    return {
      now,
      wall: () => Math.floor(now() / 1000),
      monotonic: () => {
        const { host, applyPace } = this.#world;
        // What takes steps is cut into slices, between which something else may happen.
        host.pace = this.load === null || this.load === "comes" ? 0 : applyPace;
        const microseconds = clock.monotonic();
        host.pace = 0;
        return Math.floor(microseconds * this.pace);
      },
    };
  }

  /** Sets the wall clock right: how old a follower's state is, it tells by its own clock and the primary's. */
  setClock(): void {
    this.wallOffset = -Math.round((this.pace - 1) * this.#world.host.clock.monotonic());
  }

  /** What becomes of a staged transaction here; null: there is none. */
  get load(): "comes" | "is committed" | "is applied" | null {
    const engine = this.life?.member.state.engineIfOpen ?? null;
    if (engine?.machine.stage.exists !== true) return null;
    if (this.#applying !== null) return "is applied";
    return engine.manager.isCommitting ? "is committed" : "comes";
  }

  /** Whether a process runs and has not met its end on the disk. */
  get isUp(): boolean {
    return this.process !== null && !this.disk.isCrashed;
  }

  /** Runs the function later, in this process. */
  after(microseconds: number, run: () => void): number {
    const { process } = this;
    return this.#world.host.timers.setTimer(
      Math.ceil(microseconds / this.pace),
      () => this.run(process, run),
    );
  }

  /** Runs the function when the machine is not held up; not at all when the process has ended. */
  run(process: object | null, run: () => void): void {
    if (this.process !== process || process === null || this.disk.isCrashed) return;
    if (this.#isPaused) this.#held.push(() => this.run(process, run));
    else {
      try {
        run();
      } catch (error) {
        // Its power has failed at an operation: it ends behind this event.
        if (!(error instanceof SimulatedCrash)) throw error;
      }
    }
  }

  /** Something has come from another member. */
  deliver(message: PeerMessage): void {
    this.after(0, () => this.#listener?.(message));
  }

  pause(): void {
    this.#isPaused = true;
  }

  /**
   * No sync ends any more, until {@link freeDisk} or the end of the process. One that blocks the process stops it; it
   * can see that those in the background do not end.
   */
  hangDisk(which: "in the background" | "all"): void {
    this.#hang = which;
  }

  freeDisk(): void {
    this.#hang = null;
    for (const end of this.#hanging.splice(0)) end();
    this.resume();
  }

  resume(): void {
    this.#isPaused = false;
    for (const run of this.#held.splice(0)) this.#world.host.timers.setTimer(0, run);
  }

  #host(): Host {
    const { host: { timers } } = this.#world;
    const turn = () => new Promise<void>((resolve) => this.after(0, resolve));
    const setTimer: Host["timers"]["setTimer"] = (delay, callback) => this.after(delay, callback);
    const clearTimer: Host["timers"]["clearTimer"] = (timer) => timers.clearTimer(timer);
    return {
      clock: this.clock,
      random: { fill: (target) => this.random.fill(target) },
      timers: {
        setTimer,
        clearTimer,
        repeat: (period, callback) => repeatedTimer({ setTimer, clearTimer }, period, callback),
        yieldToLoop: turn,
        endOfTurn: turn,
        close: () => Promise.resolve(),
      },
      disk: this.disk,
    };
  }

  /** Starts a process; one that cannot go on ends. */
  async start(): Promise<void> {
    if (this.process !== null) return;
    const process = this.process = {};
    try {
      await this.#begin(process);
    } catch (error) {
      // The power may fail in the middle of a checkpoint, which says so as an error of the log.
      if (this.process === process && !(error instanceof SimulatedCrash) && !this.disk.isCrashed) {
        this.#world.ended(this, error as Error);
      }
    }
  }

  async #begin(process: object): Promise<void> {
    const world = this.#world;
    const host = this.#host();
    this.versions = this.release;
    world.starts(this);
    const largeEntries = world.isLoaded ? LARGE_BESIDE_LOADS : LARGE_ENTRIES;
    const reports = new SuperblockReports();
    this.disk.createDirectory(DIRECTORY);
    const identity = {
      clusterId: CLUSTER_ID,
      index: this.index,
      memberCount: world.machines.length,
      configurationHash: 1n,
    };
    const superblock = Superblock.open(this.disk, DIRECTORY, reports) ??
      Superblock.create(this.disk, DIRECTORY, identity, reports, { isReplaced: !this.hasDisk });
    this.#superblock = superblock;
    this.hasDisk = true;
    installTransfer(this.disk, DIRECTORY);
    let gateways: MachineGateways | null = null;
    const member = await Member.start<Engine>({
      host,
      superblock,
      reports,
      directory: DIRECTORY,
      usesReadLease: true,
      largeEntries,
      peers: {
        send: (to: number, message: PeerMessage) => {
          if (this.process === process && this.isUp) world.send(this.index, to, message);
        },
        // A member may ask others for files before it has started.
        onMessage: (listener: (message: PeerMessage) => void) => this.#listener = listener,
        close: () => {},
        // What people are shown of connections is not simulated.
        statistics: () => [],
        versions: this.release,
        spokenVersion: (peer: number) => world.spokenVersion(this, peer),
        requireVersion: (version: number) => {
          if (this.process === process && version > this.versions.oldest) {
            this.versions = { ...this.versions, oldest: version };
          }
        },
      } as never,
      openEngine: async (seat) => {
        const engine = await openSharded({
          host,
          directory: DIRECTORY,
          checkpointLogBytes: CHECKPOINT_LOG_BYTES,
          member: seat,
          shardCount: world.shardCount,
          startShard: shardInThisThread(host),
        });
        const apply = engine.applyEntry.bind(engine);
        engine.applyEntry = (op, payload) => {
          const isWhole = payload instanceof Uint8Array;
          assert(!isWhole || payload.length < largeEntries.leastBytes, "large entries stay in their files");
          world.applied(this, op, isWhole ? payload : payload.read(0, payload.length));
          const applying = apply(op, payload);
          if (isWhole && isStagedEntry(payload)) {
            this.#applying = applying;
            const end = () => {
              if (this.#applying === applying) this.#applying = null;
            };
            applying?.then(end, end);
          }
          return applying;
        };
        const raise = engine.raiseClusterVersion.bind(engine);
        engine.raiseClusterVersion = (version) => {
          world.raises(version);
          raise(version);
        };
        return engine;
      },
      log: () => {},
      onPrimaryChanged: () => gateways?.relay.targetChanged(),
    });
    if (this.process !== process) return;
    void Promise.race([member.failed, member.engine.failed]).then((error) => {
      if (this.process === process && !this.disk.isCrashed) world.ended(this, error);
    });
    gateways = await MachineGateways.start(this, process, member, world);
    if (this.process !== process) return;
    this.life = { member, gateways };
  }

  /** Whether its superblock does not forbid it to vote. */
  get mayVote(): boolean {
    return this.#superblock?.read().voteBan === null;
  }

  /** Stops in order: hands over, and makes everything durable. */
  async stop(): Promise<void> {
    const { process, life } = this;
    if (life === null) return;
    // Whoever wants to stop it meanwhile finds nothing to stop.
    this.life = null;
    try {
      await life.gateways.close();
      await life.member.close();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
    if (this.process === process) this.end("kill");
  }

  /** Ends the process; with the power, the disk loses what was not synced. */
  end(kind: EndKind): void {
    const { process } = this;
    const world = this.#world;
    if (process !== null) {
      world.time.release(process);
      const noticedAfter = kind === "kill" ? 200 : this.random.between(1000, 3_000_000);
      world.streams.processEnded(this.index, process, noticedAfter);
    }
    this.process = null;
    this.life = null;
    this.#listener = null;
    this.#isPaused = false;
    this.#held = [];
    this.#hang = null;
    this.#hanging = [];
    this.#applying = null;
    if (kind === "kill" && !this.disk.isCrashed) this.disk.kill();
    else if (kind === "lost") {
      this.disk = this.#newDisk();
      this.hasDisk = false;
    } else this.disk.crash();
    this.disk.faults = NO_FAULTS;
  }

  /** The member; there must be one. */
  get member(): Member<Engine> {
    assert(this.life !== null, `member ${this.index} runs`);
    return this.life.member;
  }
}
