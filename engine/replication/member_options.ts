/** What a member of a group is made of: its engine, its peers, its disk. */
import type { Host } from "../host/host.ts";
import type { Log } from "../storage/log.ts";
import type { Manifest } from "../storage/manifest.ts";
import type { ReportedPeers } from "./cluster_report.ts";
import type { LargeEntrySizes } from "./large_entries.ts";
import type { MemberSeat, SeatedEngine } from "./member_seat.ts";
import type { PeerMessage } from "./protocol/message.ts";
import type { MessageBus } from "./protocol/ports.ts";
import type { Superblock, SuperblockReports } from "./superblock.ts";
import type { VersionedPeers } from "./version_watch.ts";

/** The engine of a member, with what it is closed by. */
export interface MemberEngine extends SeatedEngine {
  /** Another one after each `reopen`. */
  readonly storage: {
    readonly log: Log;
    readonly manifest: Manifest | null;
    /** What an entry that is applied in steps waits for: space on the disk. */
    readonly stepWait: Promise<void> | null;
  };
  close(): Promise<void>;
}

/** The other members. */
export interface Peers extends MessageBus, ReportedPeers, VersionedPeers {
  /** Takes what they send. */
  onMessage(listener: (message: PeerMessage) => void): void;
  send(to: number, message: PeerMessage): void;
  /** Ends all connections. */
  close(): void;
}

/** How to start a member. */
export interface MemberOptions<E extends MemberEngine> {
  readonly host: Host;
  readonly superblock: Superblock;
  readonly reports: SuperblockReports;
  readonly peers: Peers;
  readonly directory: string;
  /** Whether the primary may read under a lease. */
  readonly usesReadLease: boolean;
  /** How fast files are read to find damage; unless given they are not. */
  readonly scrubBytesPerSecond?: number;
  /** Which entries travel in pieces, and how long those are. */
  readonly largeEntries?: LargeEntrySizes;
  openEngine(seat: MemberSeat): Promise<E>;
  /** Writes one line for people. */
  log(line: string): void;
  /** Another member, or none, is the primary than before: see `Member.primaryIndex`. */
  onPrimaryChanged(): void;
}
