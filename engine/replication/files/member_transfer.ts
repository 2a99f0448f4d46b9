/**
 * Moves checkpoints between members: gives this member's newest one to others, and puts another's in the place of this
 * member's state. The replica says when.
 *
 * Without being asked it takes the primary's checkpoint when that has another history than the own: one of the two has
 * left one out, for a full disk, and their files would differ for ever.
 *
 * Limits: a donor that does not answer the first request for 5 s is given up; a full disk, and another history, are
 * tried again after 10 s.
 */
import type { Host } from "../../host/host.ts";
import { assert } from "../../base/assert.ts";
import { isDiskFull } from "../../host/disk.ts";
import { digestOfState } from "../../operations/history_digest.ts";
import { DatabaseError } from "../../base/errors.ts";
import {
  type CheckpointProof,
  type Manifest,
  proofOfCheckpoint,
  readProven,
} from "../../storage/manifest.ts";
import type { HashedFile } from "../../storage/file_hashes.ts";
import { CheckpointComparison } from "./checkpoint_comparison.ts";
import { CheckpointDonor, type CheckpointOffer } from "./checkpoint_donor.ts";
import {
  CheckpointTransfer,
  installTransfer,
  removeTransfer,
  type TransferProgress,
} from "./checkpoint_transfer.ts";
import type { PeerMessage, TransferMessage } from "../protocol/message.ts";
import type { CheckpointName, StateTransfer } from "../protocol/ports.ts";

const OFFER_MILLISECONDS = 5000;
const REPEAT_MILLISECONDS = 1000;
/** On a full disk a transfer is not tried again at once: others would send everything for nothing. */
const FULL_DISK_MICROSECONDS = 10_000_000;
/** How often the primary's checkpoint is asked for in the place of one with another history. */
const OTHER_HISTORY_MILLISECONDS = 10_000;

/** What a transfer needs of its member. */
export interface TransferOwner {
  readonly index: number;
  readonly view: number;
  /** The manifest of the newest checkpoint. */
  readonly manifest: Manifest | null;
  /** Whether what the log has above the checkpoint continues it. */
  continuesLog(checkpoint: CheckpointName, state: Uint8Array): boolean;
  /** Whether the state has not come further by itself since, nor become a primary's. */
  wantsCheckpoint(checkpoint: CheckpointName): boolean;
  /** Whether a checkpoint of what the state has already may take its place: the log goes on from it. */
  mayGoBackTo(checkpoint: CheckpointName): boolean;
  /** Runs the function while nothing of the data directory is open, and opens the state anew. */
  replaceState(checkpoint: CheckpointName, replace: () => void): Promise<void>;
  /** The checkpoint is the state now. */
  onTransferred(checkpoint: CheckpointName): void;
  /** The disk has no space for the checkpoint, which is given up some time later. */
  onDiskFull(error: DatabaseError): void;
  onTransferFailed(): void;
  /** Another member has fetched a file of this one's checkpoint, and its hash was wrong. */
  onWrongFile(file: HashedFile): void;
  /** The transfer has failed where it must not; the state may be neither the old nor the new one. */
  onTransferBroken(error: unknown): void;
  /** Writes one line for people. */
  log(line: string): void;
}

interface Fetching {
  readonly from: number;
  readonly wanted: CheckpointName;
  /** It is to take the place of one with another history. */
  readonly isForHistory: boolean;
  transfer: CheckpointTransfer | null;
  readonly since: number;
  askedAt: number;
}

/** See the head of the file. */
export class MemberTransfer implements StateTransfer {
  readonly #host: Host;
  readonly #directory: string;
  readonly #send: (to: number, message: PeerMessage) => void;
  readonly #owner: TransferOwner;
  readonly #donor: CheckpointDonor;
  #fetching: Fetching | null = null;
  #named: CheckpointName | null = null;
  #proven: { readonly manifest: Manifest; readonly proof: CheckpointProof | null } | null = null;
  readonly #comparison = new CheckpointComparison();
  /** Whose checkpoints the own ones are compared with. */
  #comparedView = -1;
  #otherHistoryAt = -Infinity;

  constructor(
    host: Host,
    directory: string,
    send: (to: number, message: PeerMessage) => void,
    owner: TransferOwner,
  ) {
    this.#host = host;
    this.#directory = directory;
    this.#send = send;
    this.#owner = owner;
    this.#donor = new CheckpointDonor(host, directory);
  }

  get checkpoint(): CheckpointName | null {
    const { manifest } = this.#owner;
    if (manifest === null) return null;
    if (this.#named?.op !== manifest.op) {
      this.#named = nameOf(manifest.op, readProven(this.#host.disk, this.#directory, manifest.state));
    }
    return this.#named;
  }

  get proof(): CheckpointProof | null {
    const { manifest } = this.#owner;
    if (manifest === null) return null;
    if (this.#proven?.manifest !== manifest) {
      this.#proven = { manifest, proof: proofOfCheckpoint(manifest) };
      if (this.#proven.proof !== null) this.#comparison.made(this.#proven.proof);
    }
    return this.#proven.proof;
  }

  compare(proof: CheckpointProof, from: number): void {
    const { view } = this.#owner;
    if (view !== this.#comparedView) this.#comparison.primaryChanged();
    this.#comparedView = view;
    void this.proof;
    this.#comparison.heard(proof);
    if (!this.#comparison.areHistoriesOther || this.#fetching !== null) return;
    const now = this.#milliseconds();
    if (now - this.#otherHistoryAt < OTHER_HISTORY_MILLISECONDS) return;
    this.#otherHistoryAt = now;
    this.#owner.log(
      `the checkpoint of op ${proof.op} follows others than this member has made: the primary's takes its place`,
    );
    // Not an older one that the primary still gives to others: the log here may no longer reach down to that.
    this.#begin(from, { op: proof.op, digest: 0n }, true);
  }

  /** How far the transfer to this member has come; null: there is none. */
  get progress(): TransferProgress | null {
    const fetching = this.#fetching;
    return fetching === null
      ? null
      : fetching.transfer?.progress ?? { op: fetching.wanted.op, bytes: 0, totalBytes: 0 };
  }

  begin(from: number, checkpoint: CheckpointName): void {
    this.#begin(from, checkpoint, false);
  }

  #begin(from: number, wanted: CheckpointName, isForHistory: boolean): void {
    this.#fetching?.transfer?.abandon();
    const since = this.#milliseconds();
    this.#fetching = { from, wanted, isForHistory, transfer: null, since, askedAt: -Infinity };
    this.onTick();
  }

  /** Called now and then. */
  onTick(): void {
    const fetching = this.#fetching;
    if (fetching === null) return;
    if (fetching.transfer !== null) return fetching.transfer.onTick();
    const now = this.#milliseconds();
    if (now - fetching.since > OFFER_MILLISECONDS) return this.#failed();
    if (now - fetching.askedAt < REPEAT_MILLISECONDS) return;
    fetching.askedAt = now;
    this.#send(fetching.from, { kind: "request_checkpoint", ...this.#sent, op: fetching.wanted.op });
  }

  /** What another member has sent. */
  onMessage(message: TransferMessage): void {
    switch (message.kind) {
      case "request_checkpoint": {
        const offer = this.#given(() => this.#donor.offer(this.#owner.manifest, message.op));
        if (offer === null) return;
        return this.#send(message.from, { kind: "checkpoint_files", ...this.#sent, ...offer });
      }
      case "request_file": {
        const { from, name, hash, offset } = message;
        const own = this.#owner.manifest?.group?.files.find((each) =>
          each.name === name && each.hash === hash
        );
        // Nothing is there: it says that the file, which has all come, is another one.
        if (own?.size === offset) return this.#owner.onWrongFile(own);
        const bytes = this.#given(() => this.#donor.read({ name, hash }, offset, this.#owner.manifest)) ??
          new Uint8Array(0);
        return this.#send(from, { kind: "file_piece", ...this.#sent, name, hash, offset, bytes });
      }
      case "checkpoint_files":
        return this.#onFiles(message.from, message);
      case "file_piece": {
        const { name, hash, offset, bytes } = message;
        if (message.from !== this.#fetching?.from) return;
        this.#fetching.transfer?.onPiece(name, hash, offset, bytes);
      }
    }
  }

  /** Null where a file cannot be read: the other member asks another one. */
  #given<T>(give: () => T | null): T | null {
    try {
      return give();
    } catch (error) {
      if (error instanceof DatabaseError) return null;
      throw error;
    }
  }

  #onFiles(from: number, { op, manifest }: CheckpointOffer): void {
    const fetching = this.#fetching;
    if (fetching === null || fetching.from !== from || fetching.transfer !== null) return;
    const transfer = fetching.transfer = new CheckpointTransfer({
      host: this.#host,
      directory: this.#directory,
      offer: { op, manifest: manifest.slice() },
      request: ({ name, hash }, offset) =>
        this.#send(from, { kind: "request_file", ...this.#sent, name, hash, offset }),
    });
    this.#carryThrough(fetching, transfer).catch((error) => this.#owner.onTransferBroken(error));
  }

  async #carryThrough(fetching: Fetching, transfer: CheckpointTransfer): Promise<void> {
    let checkpoint: CheckpointName | null = null;
    const isComplete = await transfer.run((state) => {
      checkpoint = nameOf(transfer.op, state);
      return this.#owner.continuesLog(checkpoint, state);
    }).catch(async (error) => {
      if (!isDiskFull(error)) throw error;
      removeTransfer(this.#host.disk, this.#directory);
      this.#owner.onDiskFull(error);
      await new Promise<void>((resolve) => this.#host.timers.setTimer(FULL_DISK_MICROSECONDS, resolve));
      return false;
    });
    if (this.#fetching !== fetching) return;
    if (!isComplete || checkpoint === null) return this.#failed();
    const isWanted = fetching.isForHistory
      ? this.#owner.mayGoBackTo(checkpoint)
      : this.#owner.wantsCheckpoint(checkpoint);
    if (!isWanted) {
      removeTransfer(this.#host.disk, this.#directory);
      return this.#failed();
    }
    await this.#owner.replaceState(checkpoint, () => {
      assert(installTransfer(this.#host.disk, this.#directory), "the transfer is complete");
    });
    this.#fetching = null;
    this.#comparison.replaced();
    const { op, totalBytes } = transfer.progress;
    this.#owner.log(
      `the checkpoint of op ${op} was fetched from member ${fetching.from}: ${transfer.fetchedBytes} of ${totalBytes} bytes`,
    );
    this.#owner.onTransferred(checkpoint);
  }

  #failed(): void {
    this.#fetching = null;
    this.#owner.onTransferFailed();
  }

  /** Ends what is on its way here. */
  giveUp(): void {
    if (this.#fetching === null) return;
    this.#fetching.transfer?.abandon();
    this.#failed();
  }

  get #sent(): { readonly from: number; readonly view: number } {
    return { from: this.#owner.index, view: this.#owner.view };
  }

  #milliseconds(): number {
    return this.#host.clock.monotonic() / 1000;
  }

  /** Ends what is on its way, both ways. */
  close(): void {
    this.giveUp();
    this.#donor.close();
  }
}

/** The name of a checkpoint, by the state that it begins with. */
function nameOf(op: number, state: Uint8Array): CheckpointName {
  return { op, digest: digestOfState(state) };
}
