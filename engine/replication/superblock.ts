/**
 * The superblock on a disk: what a member must never forget, in two files of which one is always whole.
 *
 * `SUPERBLOCK-A` and `SUPERBLOCK-B` are written in turn, each synced before the other is touched; the valid one with
 * the higher sequence number counts. A state is durable when one of them has it, and is then written to the other as
 * well. A file is the magic `dbd sup\0`, u32 format version, u32 length and u32 CRC-32C of
 * what follows, and that: u64 sequence number, 16 bytes cluster id, u8 index, u8 number of members, u64 configuration
 * hash, then view, log view, commit number, headers, u8 whether the member may not vote, and then view and op of that.
 * What follows means nothing. Both damaged: the disk counts as lost.
 *
 * The files have their space from the beginning, so that a member whose disk is full can still enter views. Where one
 * needs more, or where the system promises no space by that, a write that finds the disk full is repeated
 * ({@link Superblock.retry}), into the same file: the other one is whole.
 */
import { assert } from "../base/assert.ts";
import { ByteReader, ByteWriter, encodeUtf8, equalBytes } from "../base/bytes.ts";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { type Disk, type DiskFile, isDiskFull, joinPath, readWholeFile } from "../host/disk.ts";
import { corruptedReplication, readHeaders, writeHeaders } from "./peers/header_codec.ts";
import {
  type SuperblockState,
  type SuperblockStore,
  UNKNOWN_VOTE_BAN,
  type VoteBan,
} from "./protocol/ports.ts";

/** Its two copies. */
export const SUPERBLOCK_FILES = ["SUPERBLOCK-A", "SUPERBLOCK-B"] as const;
const MAGIC = encodeUtf8("dbd sup\0");
/** The next ones differ from it in more than one bit: 2, 4, 6. */
const FORMAT_VERSION = 1;
const HEAD_BYTES = MAGIC.length + 12;
/** Room for the headers of `MAX_START_HEADERS` entries. */
const RESERVED_BYTES = 256 * 1024;

/** Which member of which cluster a directory belongs to; it never changes. */
export interface MemberIdentity {
  /** 16 random bytes. */
  readonly clusterId: Uint8Array;
  readonly index: number;
  readonly memberCount: number;
  /** Hash of the settings that shape files, which all members share. */
  readonly configurationHash: bigint;
}

interface Copy {
  readonly sequence: bigint;
  readonly identity: MemberIdentity;
  readonly state: SuperblockState;
}

/** What a superblock reports to its owner. */
export interface SuperblockListener {
  /** The newest state written is durable. */
  onSuperblockDurable(): void;
  /** A write or a sync has failed: the member must stop. */
  onSuperblockFailed(error: unknown): void;
  /** There is no space for a state, which waits: as if its sync took long. */
  onSuperblockFull(error: DatabaseError): void;
}

/** Forwards what a superblock reports to a member that is made after it. */
export class SuperblockReports implements SuperblockListener {
  target: SuperblockListener | null = null;

  onSuperblockDurable(): void {
    this.target?.onSuperblockDurable();
  }

  onSuperblockFailed(error: unknown): void {
    this.target?.onSuperblockFailed(error);
  }

  onSuperblockFull(error: DatabaseError): void {
    this.target?.onSuperblockFull(error);
  }
}

/** See the head of the file. */
export class Superblock implements SuperblockStore {
  readonly identity: MemberIdentity;
  readonly #files: readonly DiskFile[];
  readonly #listener: SuperblockListener;
  #durable: SuperblockState;
  #sequence: bigint;
  #next: SuperblockState | null = null;
  #writing: Promise<void> | null = null;
  #isFailed = false;

  private constructor(
    disk: Disk,
    directory: string,
    { sequence, identity, state }: Copy,
    listener: SuperblockListener,
  ) {
    this.identity = identity;
    this.#files = SUPERBLOCK_FILES.map((name) =>
      disk.openFile(joinPath(directory, name), { create: true, write: true })
    );
    this.#durable = state;
    this.#sequence = sequence;
    this.#listener = listener;
    for (const file of this.#files) reserve(file);
  }

  /**
   * The superblock of a directory; null when it has none, or none that can be read. A copy that is damaged is written
   * anew from the other one, and `onDamage` is called with its path.
   */
  static open(
    disk: Disk,
    directory: string,
    listener: SuperblockListener,
    onDamage: (path: string) => void = () => {},
  ): Superblock | null {
    const copies = SUPERBLOCK_FILES.map((name) => readCopy(disk, joinPath(directory, name)));
    const newest = copies.filter((copy) => copy !== null).sort((a, b) => a.sequence < b.sequence ? 1 : -1)[0];
    if (newest === undefined) return null;
    const superblock = new Superblock(disk, directory, newest, listener);
    const damaged = SUPERBLOCK_FILES.find((_, index) => copies[index] === null);
    if (damaged === undefined) {
      // Its sync may have failed: then it can be read, and is not on the disk, and a sync alone would not write it.
      const file = superblock.#put(newest.sequence, newest.state);
      file.truncate(file.size);
      file.syncDataNow();
      return superblock;
    }
    onDamage(joinPath(directory, damaged));
    superblock.#writeCopy(newest.state).syncDataNow();
    return superblock;
  }

  /** Makes the superblock of a new member, both copies durable. A replaced disk has lost one that was here. */
  static create(
    disk: Disk,
    directory: string,
    identity: MemberIdentity,
    listener: SuperblockListener,
    options: { readonly isReplaced?: boolean } = {},
  ): Superblock {
    assert(identity.clusterId.length === 16, "a cluster id has 16 bytes");
    const voteBan = options.isReplaced === true ? UNKNOWN_VOTE_BAN : null;
    const state: SuperblockState = { view: 0, logView: 0, commit: 0, suffix: [], voteBan };
    const superblock = new Superblock(disk, directory, { sequence: 0n, identity, state }, listener);
    for (let copy = 0; copy < SUPERBLOCK_FILES.length; copy++) {
      superblock.#writeCopy(state).syncDataNow();
    }
    disk.syncDirectory(directory);
    return superblock;
  }

  /** Whether a directory has anything that was a superblock, readable or not. */
  static exists(disk: Disk, directory: string): boolean {
    return SUPERBLOCK_FILES.some((name) => disk.exists(joinPath(directory, name)));
  }

  /** Names the write that is under way; null: there is none. */
  get pendingWrite(): bigint | null {
    return this.#writing === null ? null : this.#sequence;
  }

  read(): SuperblockState {
    return this.#durable;
  }

  write(state: SuperblockState): void {
    assert(state.view >= state.logView, `log view ${state.logView} is beyond view ${state.view}`);
    this.#next = state;
    if (!this.#isFailed) this.#writing ??= this.#writeAll();
  }

  /** Tries again to write what found the disk full. */
  retry(): void {
    if (this.#next !== null && !this.#isFailed) this.#writing ??= this.#writeAll();
  }

  /** Closes the files when what is being written is durable. */
  async close(): Promise<void> {
    await this.#writing;
    for (const file of this.#files) file.close();
  }

  async #writeAll(): Promise<void> {
    for (let state = this.#next; state !== null && !this.#isFailed; state = this.#next) {
      this.#next = null;
      if (!await this.#writeDurably(state)) break;
      this.#durable = state;
      if (this.#next !== null) continue;
      this.#listener.onSuperblockDurable();
      // The other copy gets the same state: then neither is needed to know it, and either may rot.
      if (this.#next === null && !await this.#writeDurably(state)) break;
    }
    // At once: a state may come before a promise of this function's end could say that nobody writes.
    this.#writing = null;
  }

  /** Writes one copy; false where that has failed, or waits for space. */
  async #writeDurably(state: SuperblockState): Promise<boolean> {
    try {
      await this.#writeCopy(state).syncData();
      return true;
    } catch (error) {
      if (isDiskFull(error)) {
        this.#next ??= state;
        this.#listener.onSuperblockFull(error);
      } else {
        this.#isFailed = true;
        this.#listener.onSuperblockFailed(error);
      }
      return false;
    }
  }

  /** Writes the older copy anew; the caller syncs it. */
  #writeCopy(state: SuperblockState): DiskFile {
    const sequence = this.#sequence + 1n;
    const file = this.#put(sequence, state);
    // Not before: what is written in part is written again, and the other copy left alone.
    this.#sequence = sequence;
    return file;
  }

  /** Writes a state into the copy that has its sequence number. */
  #put(sequence: bigint, state: SuperblockState): DiskFile {
    const file = this.#files[Number(sequence % 2n)];
    assert(file !== undefined, "there are two copies");
    file.writeAt(0, encodeCopy({ sequence, identity: this.identity, state }));
    return file;
  }
}

/** Gives the file its space, where there is any: a disk that is full is met when more is needed than the file has. */
function reserve(file: DiskFile): void {
  const { size } = file;
  if (size >= RESERVED_BYTES) return;
  try {
    file.writeAt(size, new Uint8Array(RESERVED_BYTES - size));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

function encodeCopy({ sequence, identity, state }: Copy): Uint8Array {
  const writer = new ByteWriter();
  writer.writeBytes(MAGIC);
  writer.writeU32(FORMAT_VERSION);
  writer.writeU32(0);
  writer.writeU32(0);
  writer.writeU64(sequence);
  writer.writeBytes(identity.clusterId);
  writer.writeU8(identity.index);
  writer.writeU8(identity.memberCount);
  writer.writeU64(identity.configurationHash);
  writer.writeVarint(state.view);
  writer.writeVarint(state.logView);
  writer.writeVarint(state.commit);
  writeHeaders(writer, state.suffix);
  writeVoteBan(writer, state.voteBan);
  const bytes = writer.finish();
  const view = new DataView(bytes.buffer);
  view.setUint32(MAGIC.length + 4, bytes.length - HEAD_BYTES, true);
  view.setUint32(MAGIC.length + 8, crc32c(bytes, HEAD_BYTES), true);
  return bytes;
}

function writeVoteBan(writer: ByteWriter, ban: VoteBan | null): void {
  writer.writeU8(ban === null ? 0 : 1);
  if (ban === null) return;
  writer.writeVarint(ban.view);
  writer.writeVarint(ban.op);
}

function readVoteBan(reader: ByteReader): VoteBan | null {
  const flag = reader.readU8();
  if (flag > 1) throw corruptedReplication(`flag ${flag} of a superblock`);
  return flag === 0 ? null : { view: reader.readVarint(), op: reader.readVarint() };
}

/** A copy as read; null when it is missing or not whole. Raises XX001 for one of a later version. */
function readCopy(disk: Disk, path: string): Copy | null {
  if (!disk.exists(path)) return null;
  const bytes = readWholeFile(disk, path);
  if (bytes.length < HEAD_BYTES || !equalBytes(bytes.subarray(0, MAGIC.length), MAGIC)) return null;
  const reader = new ByteReader(bytes, MAGIC.length);
  const version = reader.readU32();
  const length = reader.readU32();
  const checksum = reader.readU32();
  const end = HEAD_BYTES + length;
  if (end > bytes.length || crc32c(bytes, HEAD_BYTES, end) !== checksum) return null;
  if (isOneBitOff(version)) return null;
  if (version !== FORMAT_VERSION) throw corruptedReplication(`superblock "${path}" has version ${version}`);
  try {
    return readBody(new ByteReader(bytes, HEAD_BYTES, end));
  } catch (error) {
    if (error instanceof DatabaseError) return null;
    throw error;
  }
}

/** The checksum does not cover the version: one that a flipped bit makes of this one is none of a later release. */
function isOneBitOff(version: number): boolean {
  const difference = version ^ FORMAT_VERSION;
  return difference !== 0 && (difference & (difference - 1)) === 0;
}

function readBody(reader: ByteReader): Copy {
  const sequence = reader.readU64();
  const clusterId = reader.readBytes(16).slice();
  const index = reader.readU8();
  const memberCount = reader.readU8();
  const configurationHash = reader.readU64();
  const view = reader.readVarint();
  const logView = reader.readVarint();
  const commit = reader.readVarint();
  const suffix = readHeaders(reader);
  const voteBan = readVoteBan(reader);
  reader.expectEnd();
  return {
    sequence,
    identity: { clusterId, index, memberCount, configurationHash },
    state: { view, logView, commit, suffix, voteBan },
  };
}
