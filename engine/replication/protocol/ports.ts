/**
 * What a replica needs of the node around it: a log, a superblock, the state and a way to send messages.
 *
 * All ports are synchronous. What takes time (a sync of the log, of the superblock) is reported back by a call of the
 * replica, so that a simulation decides when, and in what order, things happen. Terms: B. Liskov, J. Cowling,
 * "Viewstamped Replication Revisited", MIT-CSAIL-TR-2012-021; R. Alagappan et al., "Protocol-Aware Recovery for
 * Consensus-Based Storage", FAST 2018.
 */
import type { EntryHeader, ReplicatedEntry, Slot } from "./entry_header.ts";
import type { CheckpointProof } from "../../storage/manifest.ts";
import type { Message } from "./message.ts";

/** The log of one member. Ops start at 1; op 0 is the empty log. */
export interface ReplicatedLog {
  /** The lowest op that the log may have; those below are in a checkpoint. It grows as checkpoints are made. */
  readonly oldestOp: number;
  /** The last op of the own checkpoint: entries from `oldestOp` up to here are kept for others. */
  readonly checkpointOp: number;
  /** The digest of the log before `oldestOp`. */
  readonly baseDigest: bigint;
  /** The highest op with any slot but `absent`; `oldestOp - 1` when there is none. */
  readonly lastOp: number;
  /** What is stored at the op, `oldestOp` or above; never `missing`, which only the superblock can tell. */
  slot(op: number): Slot;
  /** The entry of a `present` slot; null when it turns out to be unreadable, which its slot is from then on. */
  read(op: number): ReplicatedEntry | null;
  /**
   * Stores the entry at `lastOp + 1`, or at an unreadable slot. Durable some time later (`onDurable`). False: it is a
   * large one whose bytes have not come, or not rightly; it is to be sent again.
   */
  write(entry: ReplicatedEntry): boolean;
  /** Removes all slots above the op. */
  truncateAfter(op: number): void;
  /** Whether everything written to the slot so far is durable. */
  isDurable(op: number): boolean;
}

/**
 * Why a member does not vote: its disk was replaced, and with it what it had acknowledged. It votes again when it has
 * the log of the view up to the op, or that of a later view.
 */
export interface VoteBan {
  readonly view: number;
  readonly op: number;
}

/** The ban of a replaced disk that does not know what it had acknowledged. */
export const UNKNOWN_VOTE_BAN: VoteBan = { view: 0, op: Number.MAX_SAFE_INTEGER };

/** What a member must never forget. `logView` is the last view in which its status was normal. */
export interface SuperblockState {
  readonly view: number;
  readonly logView: number;
  /** A lower bound of the commit number; everything up to here is durable in the log, or was. */
  readonly commit: number;
  /** The headers above `commit` that `logView` began with, in order, except those that are not known. */
  readonly suffix: readonly EntryHeader[];
  /** Null: the member may vote. */
  readonly voteBan: VoteBan | null;
}

/** Where the superblock is kept. */
export interface SuperblockStore {
  /** The newest durable state. */
  read(): SuperblockState;
  /** Writes a new state. `onSuperblockDurable` follows when the newest of the states is durable, not an older one. */
  write(state: SuperblockState): void;
}

/** The state that committed entries are applied to. */
export interface ReplicatedState {
  /** A large entry is being applied, or the state built again; `Replica.onApplied` is called when that has ended. */
  readonly isBusy: boolean;
  /** The last op applied, or being applied; 0 while the state is built again. */
  readonly appliedOp: number;
  /** The digest of the log at `appliedOp`. */
  readonly appliedDigest: bigint;
  /** Applies the entry of `appliedOp + 1`. */
  apply(entry: ReplicatedEntry): void;
  /** The replica applies no more in this turn: it is busy until the next one. */
  rest(): void;
  /** Goes back to the state of its checkpoint, from which the log is applied again; also when it is busy. */
  rebuild(): void;
  /** This member has become the primary, or is the primary no more: sessions start or end. */
  roleChanged(isPrimary: boolean): void;
  /** The commit number has grown: answers that waited may leave. */
  committed(op: number): void;
}

/** A committed checkpoint: an op, and the digest of the log there. */
export interface CheckpointName {
  readonly op: number;
  readonly digest: bigint;
}

/** Moves checkpoints between members. */
export interface StateTransfer {
  /** The newest checkpoint that this member can hand out; null without any. */
  readonly checkpoint: CheckpointName | null;
  /** What proves it to others; null without any. */
  readonly proof: CheckpointProof | null;
  /**
   * The primary's proof: raises XX001 when the same history has led to another checkpoint here. Where histories differ
   * the primary's checkpoint is fetched, as by {@link begin}.
   */
  compare(proof: CheckpointProof, from: number): void;
  /**
   * Fetches a checkpoint at the op or above from the member and, if `Replica.wantsCheckpoint` still says so, puts it in
   * the place of the state; the log begins after it. Entries above it stay in the log, unless they follow another entry
   * than the checkpoint does. Then `Replica.onStateTransferred` is called, or `onStateTransferFailed`, with nothing
   * changed.
   */
  begin(from: number, checkpoint: CheckpointName): void;
}

/** Sends messages to other members; they may be lost, repeated or come in another order. */
export interface MessageBus {
  send(to: number, message: Message): void;
  /**
   * Bytes for a member that have not left yet, Infinity where a message would surely be lost now; unless it is known
   * there is no such function.
   */
  queuedBytes?(to: number): number;
}

/** Who a replica is. */
export interface ReplicaIdentity {
  readonly index: number;
  /** 1, 3 or 5. */
  readonly memberCount: number;
}

/** Everything around a replica. */
export interface ReplicaPorts {
  readonly identity: ReplicaIdentity;
  readonly log: ReplicatedLog;
  readonly superblock: SuperblockStore;
  readonly state: ReplicatedState;
  readonly bus: MessageBus;
  readonly transfer: StateTransfer;
  /** Whether a primary may answer reads under a lease, without a round for each. */
  readonly readLease: boolean;
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds of the wall clock, which may jump. */
  wallNow(): number;
  /** A random integer in [0, bound). */
  random(bound: number): number;
}
