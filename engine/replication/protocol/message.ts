/**
 * The messages between the members of a replication group.
 *
 * Every message names its sender and the sender's view; `start_view_change` names the view that the sender wants.
 */
import type { CheckpointProof } from "../../storage/manifest.ts";
import type { EntryHeader, ReplicatedEntry, Slot } from "./entry_header.ts";

interface Sent {
  readonly from: number;
  readonly view: number;
}

/** From the primary: entries that follow the op whose digest is given, and how far the log is committed. */
export interface Prepare extends Sent {
  readonly kind: "prepare";
  readonly previousOp: number;
  readonly previousDigest: bigint;
  readonly entries: readonly ReplicatedEntry[];
  readonly commit: number;
  readonly stamp: number;
  /** The primary's wall clock: how old a backup's state is. */
  readonly clock: number;
}

/**
 * From a backup: all ops up to this one are durable at it, without a gap. It echoes the newest stamp of the primary,
 * and promises to vote for no other view for a while (`VotePromise`).
 */
export interface PrepareOk extends Sent {
  readonly kind: "prepare_ok";
  readonly op: number;
  /** 0 when none has come in this view. */
  readonly stamp: number;
}

/** From the primary, when it has nothing else to say: how far its log reaches and is committed. */
export interface Commit extends Sent {
  readonly kind: "commit";
  readonly op: number;
  readonly digest: bigint;
  readonly commit: number;
  /** The primary's newest checkpoint. */
  readonly checkpoint: CheckpointProof | null;
  readonly stamp: number;
  readonly clock: number;
}

/** "I hear nothing from the primary, and want this view." */
export interface StartViewChange extends Sent {
  readonly kind: "start_view_change";
  /** The view that the sender is in: a quorum has wanted it. */
  readonly reachedView: number;
}

/** From a primary that stops: no lease of that view, or of one before, is used any more, and this view may begin. */
export interface HandOver extends Sent {
  readonly kind: "hand_over";
  readonly releasedView: number;
}

/**
 * From the primary of a view that is to begin: a quorum has entered it, and now their votes count. A vote of before may
 * be that of a disk which has been replaced since, and whose member knows nothing of the view.
 */
export interface RequestVote extends Sent {
  readonly kind: "request_vote";
  readonly round: number;
}

/** A member's vote for the view: what its log holds above its commit number. */
export interface DoViewChange extends Sent {
  readonly kind: "do_view_change";
  /** That of the `request_vote` which this answers; 0 without any. */
  readonly round: number;
  readonly logView: number;
  readonly commit: number;
  /** The digest of the log at `commit`, if it is known. */
  readonly commitDigest: bigint | null;
  /** Slots of the ops `commit + 1` and up. */
  readonly slots: readonly Slot[];
}

/** From a new primary: the log that the view begins with. */
export interface StartView extends Sent {
  readonly kind: "start_view";
  readonly commit: number;
  /** What the first of the headers follows. */
  readonly previousOp: number;
  readonly previousDigest: bigint;
  readonly headers: readonly EntryHeader[];
}

/** Asks the primary of the view for `start_view`, with headers from the sender's commit number on. */
export interface RequestStartView extends Sent {
  readonly kind: "request_start_view";
  readonly commit: number;
}

/** An op that is asked for: the entry with this header or, without a header, the committed one. */
export interface WantedEntry {
  readonly op: number;
  readonly header: EntryHeader | null;
}

/** Asks any member for entries, in order of op. */
export interface RequestPrepare extends Sent {
  readonly kind: "request_prepare";
  readonly wanted: readonly WantedEntry[];
}

/** An entry that was asked for. `isCommitted`: the sender knows that this is the committed entry of its op. */
export interface RepairedEntry {
  readonly entry: ReplicatedEntry;
  readonly isCommitted: boolean;
}

/** The answer to `request_prepare`: those that the sender has, in order of op. */
export interface RepairEntries extends Sent {
  readonly kind: "repair_entries";
  readonly entries: readonly RepairedEntry[];
}

/** What was asked for is not in the sender's log any more, but in this checkpoint of it. */
export interface OfferCheckpoint extends Sent {
  readonly kind: "checkpoint";
  /** The oldest op of the sender's log. */
  readonly oldestOp: number;
  readonly op: number;
  readonly digest: bigint;
}

/** From a replaced disk, to all: which view is it, and what had this member acknowledged? */
export interface Recovery extends Sent {
  readonly kind: "recovery";
  readonly nonce: number;
}

/** The answer to `recovery`. */
export interface RecoveryResponse extends Sent {
  readonly kind: "recovery_response";
  readonly nonce: number;
  /** The last op of the log of the view's primary; null from any other member. */
  readonly op: number | null;
}

/** Asks for the files of a checkpoint at the op or above. */
export interface RequestCheckpoint extends Sent {
  readonly kind: "request_checkpoint";
  readonly op: number;
}

/** The sender's checkpoint; its manifest names the files. */
export interface CheckpointFiles extends Sent {
  readonly kind: "checkpoint_files";
  readonly op: number;
  /** As a file of number 0. */
  readonly manifest: Uint8Array;
}

/** Asks for a piece of a file of a checkpoint. */
export interface RequestFile extends Sent {
  readonly kind: "request_file";
  readonly name: string;
  /** SHA-256 of the file, in hexadecimal. */
  readonly hash: string;
  readonly offset: number;
}

/** The answer; without bytes where the sender has no such file. */
export interface FilePiece extends Sent {
  readonly kind: "file_piece";
  readonly name: string;
  readonly hash: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Asks for a piece of a large entry. */
export interface RequestEntry extends Sent {
  readonly kind: "request_entry";
  readonly op: number;
  readonly digest: bigint;
  readonly offset: number;
}

/** Bytes with their CRC-32C, which need not be summed again. */
export interface SummedBytes {
  readonly bytes: Uint8Array;
  readonly checksum: number;
}

/** The answer. */
export interface EntryPiece extends Sent, SummedBytes {
  readonly kind: "entry_piece";
  readonly op: number;
  readonly digest: bigint;
  readonly offset: number;
}

/** What moves checkpoints; a replica takes no part in it. */
export type TransferMessage = RequestCheckpoint | CheckpointFiles | RequestFile | FilePiece;

/** Anything that members send each other. */
export type PeerMessage = Message | TransferMessage | RequestEntry | EntryPiece;

/** A message of the protocol. */
export type Message =
  | Prepare
  | PrepareOk
  | Commit
  | StartViewChange
  | HandOver
  | RequestVote
  | DoViewChange
  | StartView
  | RequestStartView
  | RequestPrepare
  | RepairEntries
  | OfferCheckpoint
  | Recovery
  | RecoveryResponse;
