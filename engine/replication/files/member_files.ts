/**
 * Keeps the files of a member's checkpoint whole: what a reader, the scrubber or the opening of the state finds to be
 * damaged is fetched from other members (`file_repair.ts`), and the newest checkpoint of one of them where none has
 * that very file, or where the own manifest cannot be read.
 */
import { LIMITS } from "../../base/limits.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { DamagedFileError } from "../../storage/table/damaged_file.ts";
import { isDiskFull, joinPath } from "../../host/disk.ts";
import type { Host } from "../../host/host.ts";
import type { HashedFile } from "../../storage/file_hashes.ts";
import { factsOfState } from "../../operations/history_digest.ts";
import { Log } from "../../storage/log.ts";
import { MEMBER_LOG_OPTIONS, memberLogOptions } from "../../storage/log_options.ts";
import { type Manifest, readManifest, writeManifest } from "../../storage/manifest.ts";
import { LOG_DIRECTORY } from "../../storage/storage_engine.ts";
import { FileRepair, removeRepairs } from "./file_repair.ts";
import { FileScrubber } from "./file_scrubber.ts";
import { MemberTransfer } from "./member_transfer.ts";
import type { PeerMessage, TransferMessage } from "../protocol/message.ts";
import type { CheckpointName } from "../protocol/ports.ts";

/** No member has given its checkpoint: how long to wait before all are asked again. */
const PAUSE_MICROSECONDS = 1_000_000;
/** The disk has no space for what an opening writes: how long to wait before it is tried again. */
const SPACE_MICROSECONDS = 500_000;

/** What this needs of its member. */
export interface MemberFilesOwner {
  readonly index: number;
  readonly view: number;
  /** The other members, those first that can be reached. */
  readonly donors: readonly number[];
  /** That of the open state; null while none is open. */
  readonly manifest: Manifest | null;
  send(to: number, message: PeerMessage): void;
  /** A file of the open state that was damaged is whole. */
  onRepaired(): void;
  /** No other member has a file of the open state, which must be given up for another checkpoint. */
  onIrreparable(): void;
  onError(error: unknown): void;
  /** Writes one line for people. */
  log(line: string): void;
}

/** How to keep files whole. */
export interface MemberFilesOptions {
  readonly host: Host;
  readonly directory: string;
  /** 0: nothing is read before it is needed. */
  readonly scrubBytesPerSecond: number;
  readonly owner: MemberFilesOwner;
}

/** See the head of the file. */
export class MemberFiles {
  readonly #options: MemberFilesOptions;
  readonly #repair: FileRepair;
  readonly #scrubber: FileScrubber | null;
  /** The checkpoint that is to be opened. */
  #opening: Manifest | null = null;
  /** What is called when a file that opening needs is there, or cannot be had. */
  #settle: ((isRepaired: boolean) => void) | null = null;
  #transfer: MemberTransfer | null = null;
  #isClosed = false;

  constructor(options: MemberFilesOptions) {
    this.#options = options;
    const { host, directory, owner, scrubBytesPerSecond } = options;
    removeRepairs(host.disk, directory);
    const named = () => (owner.manifest ?? this.#opening)?.group?.files ?? [];
    this.#repair = new FileRepair(host, directory, {
      get donors() {
        return owner.donors;
      },
      request: (to, { name, hash }, offset) =>
        owner.send(to, { kind: "request_file", from: owner.index, view: owner.view, name, hash, offset }),
      isWanted: ({ name, hash }) => named().some((each) => each.name === name && each.hash === hash),
      onRepaired: (file, from) => this.#repaired(file, from),
      onMissing: (file) => this.#missing(file),
      onError: (error) => owner.onError(error),
    });
    this.#scrubber = scrubBytesPerSecond === 0
      ? null
      : new FileScrubber(host, directory, scrubBytesPerSecond, {
        get manifest() {
          return owner.manifest;
        },
        onDamage: (file) => this.onDamage(file),
        onManifestDamage: (manifest) => this.#rewrite(manifest),
      });
  }

  /** The file was found to be damaged. */
  onDamage(file: HashedFile): void {
    if (this.#isClosed || !this.#repair.add(file)) return;
    this.#options.owner.log(`file "${this.#pathOf(file)}" is damaged: it will be fetched from others`);
  }

  /** What another member has sent. */
  onMessage(message: TransferMessage): void {
    this.#transfer?.onMessage(message);
    if (message.kind === "file_piece") {
      this.#repair.onPiece(message.from, message, message.offset, message.bytes);
    }
  }

  /** Called now and then. */
  onTick(): void {
    this.#repair.onTick();
    this.#transfer?.onTick();
  }

  /** Nothing is repaired any more. */
  close(): void {
    this.#isClosed = true;
    this.#scrubber?.close();
    this.#repair.close();
    this.#transfer?.close();
    this.#settle?.(false);
  }

  /**
   * Opens the state: as long as that fails for a damaged file, the file is repaired first, or another checkpoint takes
   * its place, which `onCheckpoint` hears of. A disk that is full is waited for.
   */
  async openRepaired(
    open: () => Promise<void>,
    onCheckpoint: (checkpoint: CheckpointName) => void,
  ): Promise<void> {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        const { host: { timers }, owner } = this.#options;
        if (isDiskFull(error) && !this.#isClosed) {
          owner.onError(error);
          await new Promise<void>((resolve) => timers.setTimer(SPACE_MICROSECONDS, resolve));
          if (this.#isClosed) throw error;
          continue;
        }
        const { donors } = owner;
        if (!(error instanceof DamagedFileError) || this.#isClosed || donors.length === 0) throw error;
        owner.log(`${error.message}; it will be fetched from others`);
        if (!await this.#fix(error.path)) onCheckpoint(await this.fetchCheckpoint());
        if (this.#isClosed) throw error;
      }
    }
  }

  /** Repairs the file while nothing is open; false if no member has it. */
  async #fix(path: string): Promise<boolean> {
    const { host: { disk }, directory } = this.#options;
    try {
      this.#opening = readManifest(disk, directory).manifest;
    } catch (error) {
      if (error instanceof DamagedFileError) return false;
      throw error;
    }
    const file = this.#opening?.group?.files.find((each) => this.#pathOf(each) === path);
    if (file === undefined) return false;
    const isRepaired = new Promise<boolean>((resolve) => this.#settle = resolve);
    this.#repair.add(file);
    return await isRepaired.finally(() => this.#settle = this.#opening = null);
  }

  /** Puts another member's newest checkpoint in the place of the own, while nothing is open. */
  async fetchCheckpoint(): Promise<CheckpointName> {
    const { host: { timers }, owner } = this.#options;
    for (;;) {
      for (const from of owner.donors) {
        const checkpoint = this.#isClosed ? null : await this.#fetchFrom(from);
        if (checkpoint !== null) return checkpoint;
      }
      if (this.#isClosed) throw new Error("the member is closed");
      await new Promise<void>((resolve) => timers.setTimer(PAUSE_MICROSECONDS, resolve));
    }
  }

  /** Null when the member does not give it. */
  async #fetchFrom(from: number): Promise<CheckpointName | null> {
    const { host, directory, owner } = this.#options;
    const fetched = Promise.withResolvers<CheckpointName | null>();
    const transfer = this.#transfer = new MemberTransfer(
      host,
      directory,
      (to, message) => owner.send(to, message),
      {
        get index() {
          return owner.index;
        },
        get view() {
          return owner.view;
        },
        manifest: null,
        continuesLog: (checkpoint, state) => continuesLog(host, directory, { checkpoint, state }),
        wantsCheckpoint: () => true,
        mayGoBackTo: () => false,
        replaceState: (_, replace) => Promise.resolve(replace()),
        onTransferred: (checkpoint) => fetched.resolve(checkpoint),
        onDiskFull: (error) => owner.onError(error),
        onTransferFailed: () => fetched.resolve(null),
        onWrongFile: () => {},
        onTransferBroken: (error) => fetched.reject(error),
        log: (line) => owner.log(line),
      },
    );
    transfer.begin(from, { op: 0, digest: 0n });
    return await fetched.promise.finally(() => {
      transfer.close();
      this.#transfer = null;
    });
  }

  #repaired(file: HashedFile, from: number | null): void {
    const { owner } = this.#options;
    owner.log(
      from === null
        ? `file "${this.#pathOf(file)}" is whole`
        : `file "${this.#pathOf(file)}" was fetched from member ${from} and is whole again`,
    );
    if (this.#settle !== null) this.#settle(true);
    else owner.onRepaired();
  }

  #missing(file: HashedFile): void {
    const { owner } = this.#options;
    owner.log(
      `no other member has the file "${
        this.#pathOf(file)
      }": the newest checkpoint of one will take its place`,
    );
    if (this.#settle !== null) this.#settle(false);
    else owner.onIrreparable();
  }

  /** What it says is known here. */
  #rewrite(manifest: Manifest): void {
    const { host: { disk }, directory, owner } = this.#options;
    owner.log(`manifest ${manifest.number} in "${directory}" is damaged; it is written anew`);
    try {
      writeManifest(disk, directory, manifest);
    } catch (error) {
      owner.onError(error);
    }
  }

  #pathOf({ name }: HashedFile): string {
    return joinPath(this.#options.directory, name);
  }
}

/**
 * Whether what a directory's log has above a checkpoint continues it; the log is one that no state has open. A file
 * that it lacks is made, as the version that is active in the checkpoint's state has it.
 */
function continuesLog(
  host: Host,
  directory: string,
  { checkpoint, state }: { readonly checkpoint: CheckpointName; readonly state: Uint8Array },
): boolean {
  try {
    const { clusterVersion } = factsOfState(state);
    const options = memberLogOptions(MEMBER_LOG_OPTIONS, LIMITS.checkpointLogBytes, clusterVersion);
    const log = Log.open(host, joinPath(directory, LOG_DIRECTORY), checkpoint, options);
    void log.close();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SQLSTATE.dataCorrupted) return false;
    throw error;
  }
}
