/**
 * The messages between the members of a replication group.
 *
 * Every message names its sender and the sender's view; `start_view_change` names the view that the sender wants.
 */
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
}

/** From a backup: all ops up to this one are durable at it, without a gap. */
export interface PrepareOk extends Sent {
  readonly kind: "prepare_ok";
  readonly op: number;
}

/** From the primary, when it has nothing else to say: how far its log reaches and is committed. */
export interface Commit extends Sent {
  readonly kind: "commit";
  readonly op: number;
  readonly digest: bigint;
  readonly commit: number;
}

/** "I hear nothing from the primary, and want this view." */
export interface StartViewChange extends Sent {
  readonly kind: "start_view_change";
  /** The view that the sender is in: a quorum has wanted it. */
  readonly reachedView: number;
}

/** A member's vote for the view: what its log holds above its commit number. */
export interface DoViewChange extends Sent {
  readonly kind: "do_view_change";
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
  /** The digest before the first of the headers. */
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

/** Any message. */
export type Message =
  | Prepare
  | PrepareOk
  | Commit
  | StartViewChange
  | DoViewChange
  | StartView
  | RequestStartView
  | RequestPrepare
  | RepairEntries;
