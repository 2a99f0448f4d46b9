/**
 * The state of the model of epochs: a router with its sequencer, two shards, and up to three transactions.
 *
 * A shard's log holds `L<t>` (transaction t, which needs no other shard, has committed), `S<e>:<votes>` (the slices of
 * epoch e, with a vote for each of its transactions, `y` or `n`) and `D<e>:<outcomes>` (its decision). Entries after
 * `durable` are lost when the shard crashes. A transaction writes its own number; -1 is the value before all.
 */

/** Shards of the model. */
export const SHARDS = 2;

/** What a transaction does; keys are places in `keys` of the workload, which says in which shard each is. */
export interface Program {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** Whether it is a block, which reads at the cut of an epoch even when it stays in one shard. */
  readonly isBlock?: boolean;
}

/** The transactions of an exploration. */
export interface Workload {
  /** The shard of each key. */
  readonly keys: readonly number[];
  readonly programs: readonly Program[];
}

/** A transaction's part in one shard. */
export interface Branch {
  /** Entries of the shard's log that it sees. */
  at: number;
  /** Whether the shard still knows it: its locks and its snapshot. */
  isAlive: boolean;
}

/**
 * - `gathered`: its slices are with the router, `logged`: in an epoch of the sequencer.
 * - `unknown`: the router crashed before the client heard what became of it.
 */
export type Status = "idle" | "open" | "gathered" | "logged" | "unknown" | "committed" | "aborted";

/** One transaction. */
export interface ModelTransaction {
  status: Status;
  /** The epoch whose cut it reads at. */
  epoch: number;
  /** By shard. */
  branches: (Branch | null)[];
  /** By key: whose value it has read; null when it has not read it. */
  seen: (number | null)[];
  /** Transactions that clients knew to have committed when it began: a bit each. */
  before: number;
  /** Shards whose snapshot it has asked for and not got: a bit each. */
  pins: number;
}

/** One shard. */
export interface ModelShard {
  log: string[];
  durable: number;
}

/** Everything. */
export interface EpochState {
  /** The sequencer's log: the transactions of each epoch, in order. Epochs begin at 1. */
  epochs: string[];
  durableEpochs: number;
  /** What the router has gathered for the next epoch. */
  gathered: string;
  shards: ModelShard[];
  transactions: ModelTransaction[];
  crashes: number;
}

/** Nothing has happened yet. */
export function initialState(workload: Workload): EpochState {
  return {
    epochs: [],
    durableEpochs: 0,
    gathered: "",
    shards: Array.from({ length: SHARDS }, () => ({ log: [], durable: 0 })),
    transactions: workload.programs.map(() => ({
      status: "idle",
      epoch: 0,
      branches: Array.from({ length: SHARDS }, () => null),
      seen: workload.keys.map(() => null),
      before: 0,
      pins: 0,
    })),
    crashes: 0,
  };
}

/** A state of its own, equal to the given one. */
export function copyState(state: EpochState): EpochState {
  return {
    ...state,
    epochs: [...state.epochs],
    shards: state.shards.map((shard) => ({ ...shard, log: [...shard.log] })),
    transactions: state.transactions.map((one) => ({
      ...one,
      branches: one.branches.map((branch) => branch && { ...branch }),
      seen: [...one.seen],
    })),
  };
}

/** A text that two states share only if they are equal. */
export function keyOf(state: EpochState): string {
  let key = `${state.epochs.join()}/${state.durableEpochs}/${state.gathered}/${state.crashes}`;
  for (const shard of state.shards) key += `|${shard.log.join()};${shard.durable}`;
  for (const { status, epoch, branches, seen, before, pins } of state.transactions) {
    key += `|${status[0]}${status[2]}${epoch};${before};${pins};${seen.join()}`;
    for (const branch of branches) {
      key += branch === null ? ";" : `;${branch.at}${branch.isAlive ? "+" : "-"}`;
    }
  }
  return key;
}
