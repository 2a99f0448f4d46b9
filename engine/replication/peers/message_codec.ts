/**
 * The bytes of messages between members. `docs/replication.md` shows one.
 *
 * A frame is u32 length of what follows, u32 CRC-32C of what follows it, u8 type, u8 flags (0), u16 group, u8 sender,
 * u64 view, and a body by type. Integers are little-endian; in bodies they are LEB128, digests u64. Invariant: damage
 * of any kind raises XX001, and a decoded message encodes to the same bytes. A piece of an entry comes last in its
 * frame, whose checksum is made of the piece's own, so that the piece is summed once on its way from log to log. That
 * of a piece of a file is not looked at: such a piece counts only where it was asked for, and its file has a hash.
 */
import { unreachable } from "../../base/assert.ts";
import { ByteReader, ByteWriter, decodeUtf8, encodeUtf8 } from "../../base/bytes.ts";
import { crc32c, shiftChecksum } from "../../base/checksum.ts";
import type { DatabaseError } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { isCheckpointFileName } from "../../storage/file_hashes.ts";
import type { CheckpointProof } from "../../storage/manifest.ts";
import { parseHex } from "../../types/scalar_text.ts";
import type { ReplicatedEntry, Slot } from "../protocol/entry_header.ts";
import {
  corruptedReplication,
  readHeader,
  readHeaders,
  readList,
  writeHeader,
  writeHeaders,
} from "./header_codec.ts";
import type { Commit, PeerMessage, RepairedEntry, SummedBytes, WantedEntry } from "../protocol/message.ts";

/** Bytes of the length before a frame. */
export const FRAME_LENGTH_BYTES = 4;
/** The longest message, its length not counted; what carries it cuts it into shorter frames. */
export const MAX_MESSAGE_BYTES = LIMITS.maximumEntryBytes + 1024 * 1024;

const CHECKSUM_BYTES = 4;
const HASH_BYTES = 32;
const HISTORY_BYTES = 8;
const HEAD_BYTES = CHECKSUM_BYTES + 13;

const KINDS: readonly PeerMessage["kind"][] = [
  "prepare",
  "prepare_ok",
  "commit",
  "start_view_change",
  "do_view_change",
  "start_view",
  "request_start_view",
  "request_prepare",
  "repair_entries",
  "hand_over",
  "request_vote",
  "checkpoint",
  "recovery",
  "recovery_response",
  "request_checkpoint",
  "checkpoint_files",
  "request_file",
  "file_piece",
  "request_entry",
  "entry_piece",
];

const SLOT_KINDS: readonly Slot["kind"][] = ["present", "missing", "unreadable", "absent"];

/** A message and the group that it belongs to. */
export interface GroupMessage {
  readonly group: number;
  readonly message: PeerMessage;
}

/** The frame of a message, its length in front. */
export function encodeMessage(group: number, message: PeerMessage): Uint8Array {
  const writer = new ByteWriter(256 + payloadBytesOf(message));
  writer.writeU32(0);
  writer.writeU32(0);
  writer.writeU8(KINDS.indexOf(message.kind) + 1);
  writer.writeU8(0);
  writer.writeU16(group);
  writer.writeU8(message.from);
  writer.writeU64(BigInt(message.view));
  writeBody(writer, message);
  // The writer is this call's own.
  const bytes = writer.view();
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - FRAME_LENGTH_BYTES, true);
  const summed = bytes.subarray(FRAME_LENGTH_BYTES + CHECKSUM_BYTES);
  const checksum = message.kind === "entry_piece" ? pieceChecksum(summed, message) : crc32c(summed);
  view.setUint32(FRAME_LENGTH_BYTES, checksum, true);
  return bytes;
}

/** The checksum of bytes that end with the piece. */
function pieceChecksum(summed: Uint8Array, { bytes, checksum }: SummedBytes): number {
  const before = crc32c(summed, 0, summed.length - bytes.length);
  return (checksum ^ shiftChecksum(before, bytes.length)) >>> 0;
}

/** About how many bytes a message has besides its fields: a large one is not to be copied as its buffer grows. */
function payloadBytesOf(message: PeerMessage): number {
  switch (message.kind) {
    case "prepare":
      return message.entries.reduce((sum, { payload }) => sum + payload.length + 64, 0);
    case "repair_entries":
      return message.entries.reduce((sum, { entry }) => sum + entry.payload.length + 64, 0);
    case "file_piece":
    case "entry_piece":
      return message.bytes.length;
    default:
      return 0;
  }
}

/** The message of a frame without its length; raises XX001. Payloads are views of the frame. */
export function decodeMessage(frame: Uint8Array): GroupMessage {
  if (frame.length < HEAD_BYTES || frame.length > MAX_MESSAGE_BYTES) {
    throw corruptedReplication(`a frame of ${frame.length} bytes`);
  }
  const reader = new ByteReader(frame);
  const checksum = reader.readU32();
  const summed = frame.subarray(CHECKSUM_BYTES);
  const type = KINDS[(summed[0] as number) - 1];
  const isPiece = type === "entry_piece" || type === "file_piece";
  if (!isPiece && checksum !== crc32c(summed)) throw differs();
  const kind = KINDS[reader.readU8() - 1];
  if (kind === undefined || reader.readU8() !== 0) throw corruptedReplication("a frame of an unknown type");
  const group = reader.readU16();
  const from = reader.readU8();
  const view = Number(reader.readU64());
  if (!Number.isSafeInteger(view)) throw corruptedReplication(`view ${view}`);
  const message = readBody(reader, kind, { from, view });
  reader.expectEnd();
  if (message.kind === "entry_piece" && checksum !== pieceChecksum(summed, message)) throw differs();
  return { group, message };
}

function differs(): DatabaseError {
  return corruptedReplication("a frame's checksum differs");
}

function writeBody(writer: ByteWriter, message: PeerMessage): void {
  switch (message.kind) {
    case "prepare":
      writer.writeVarint(message.previousOp);
      writer.writeU64(message.previousDigest);
      writeNews(writer, message);
      writer.writeVarint(message.entries.length);
      for (const entry of message.entries) writeEntry(writer, entry);
      return;
    case "prepare_ok":
      writer.writeVarint(message.op);
      return writer.writeVarint(message.stamp);
    case "commit":
      writer.writeVarint(message.op);
      writer.writeU64(message.digest);
      writeNews(writer, message);
      return writeProof(writer, message.checkpoint);
    case "start_view_change":
      return writer.writeVarint(message.reachedView);
    case "hand_over":
      return writer.writeVarint(message.releasedView);
    case "request_vote":
      return writer.writeVarint(message.round);
    case "do_view_change":
      writer.writeVarint(message.round);
      writer.writeVarint(message.logView);
      writer.writeVarint(message.commit);
      writeOptionalDigest(writer, message.commitDigest);
      writer.writeVarint(message.slots.length);
      for (const slot of message.slots) writeSlot(writer, slot);
      return;
    case "start_view":
      writer.writeVarint(message.commit);
      writer.writeVarint(message.previousOp);
      writer.writeU64(message.previousDigest);
      return writeHeaders(writer, message.headers);
    case "request_start_view":
      return writer.writeVarint(message.commit);
    case "request_prepare":
      writer.writeVarint(message.wanted.length);
      for (const { op, header } of message.wanted) {
        writer.writeVarint(op);
        writeHeaders(writer, header === null ? [] : [header]);
      }
      return;
    case "repair_entries":
      writer.writeVarint(message.entries.length);
      for (const { entry, isCommitted } of message.entries) {
        writer.writeU8(isCommitted ? 1 : 0);
        writeEntry(writer, entry);
      }
      return;
    case "checkpoint":
      writer.writeVarint(message.oldestOp);
      writer.writeVarint(message.op);
      return writer.writeU64(message.digest);
    case "recovery":
      return writer.writeVarint(message.nonce);
    case "recovery_response":
      writer.writeVarint(message.nonce);
      return writer.writeVarint(message.op === null ? 0 : message.op + 1);
    case "request_checkpoint":
      return writer.writeVarint(message.op);
    case "checkpoint_files":
      writer.writeVarint(message.op);
      return writer.writeSizedBytes(message.manifest);
    case "request_entry":
    case "entry_piece":
      writer.writeVarint(message.op);
      writer.writeU64(message.digest);
      writer.writeVarint(message.offset);
      if (message.kind === "entry_piece") writer.writeSizedBytes(message.bytes);
      return;
    case "request_file":
    case "file_piece":
      writer.writeSizedBytes(encodeUtf8(message.name));
      writer.writeBytes(parseHex(message.hash));
      writer.writeVarint(message.offset);
      if (message.kind === "file_piece") writer.writeSizedBytes(message.bytes);
      return;
    default:
      unreachable(message);
  }
}

function readBody(
  reader: ByteReader,
  kind: PeerMessage["kind"],
  sent: { from: number; view: number },
): PeerMessage {
  switch (kind) {
    case "prepare":
      return {
        kind,
        ...sent,
        previousOp: reader.readVarint(),
        previousDigest: reader.readU64(),
        ...readNews(reader),
        entries: readList(reader, () => readEntry(reader)),
      };
    case "prepare_ok":
      return { kind, ...sent, op: reader.readVarint(), stamp: reader.readVarint() };
    case "commit":
      return {
        kind,
        ...sent,
        op: reader.readVarint(),
        digest: reader.readU64(),
        ...readNews(reader),
        checkpoint: readProof(reader),
      };
    case "start_view_change":
      return { kind, ...sent, reachedView: reader.readVarint() };
    case "hand_over":
      return { kind, ...sent, releasedView: reader.readVarint() };
    case "request_vote":
      return { kind, ...sent, round: reader.readVarint() };
    case "do_view_change":
      return {
        kind,
        ...sent,
        round: reader.readVarint(),
        logView: reader.readVarint(),
        commit: reader.readVarint(),
        commitDigest: readOptionalDigest(reader),
        slots: readList(reader, () => readSlot(reader)),
      };
    case "start_view":
      return {
        kind,
        ...sent,
        commit: reader.readVarint(),
        previousOp: reader.readVarint(),
        previousDigest: reader.readU64(),
        headers: readHeaders(reader),
      };
    case "request_start_view":
      return { kind, ...sent, commit: reader.readVarint() };
    case "request_prepare":
      return { kind, ...sent, wanted: readList(reader, () => readWanted(reader)) };
    case "repair_entries":
      return { kind, ...sent, entries: readList(reader, () => readRepaired(reader)) };
    case "checkpoint":
      return {
        kind,
        ...sent,
        oldestOp: reader.readVarint(),
        op: reader.readVarint(),
        digest: reader.readU64(),
      };
    case "recovery":
      return { kind, ...sent, nonce: reader.readVarint() };
    case "recovery_response": {
      const nonce = reader.readVarint();
      const next = reader.readVarint();
      return { kind, ...sent, nonce, op: next === 0 ? null : next - 1 };
    }
    case "request_checkpoint":
      return { kind, ...sent, op: reader.readVarint() };
    case "checkpoint_files":
      return { kind, ...sent, op: reader.readVarint(), manifest: reader.readSizedBytes() };
    case "request_entry":
    case "entry_piece": {
      const piece = { op: reader.readVarint(), digest: reader.readU64(), offset: reader.readVarint() };
      if (kind === "request_entry") return { kind, ...sent, ...piece };
      const bytes = reader.readSizedBytes();
      return { kind, ...sent, ...piece, bytes, checksum: crc32c(bytes) };
    }
    case "request_file":
    case "file_piece": {
      const file = { name: readFileName(reader), hash: readHash(reader), offset: reader.readVarint() };
      if (kind === "request_file") return { kind, ...sent, ...file };
      return { kind, ...sent, ...file, bytes: reader.readSizedBytes() };
    }
    default:
      unreachable(kind);
  }
}

/** What a primary says with each of its messages. */
type News = Pick<Commit, "commit" | "stamp" | "clock">;

function writeNews(writer: ByteWriter, { commit, stamp, clock }: News): void {
  writer.writeVarint(commit);
  writer.writeVarint(stamp);
  writer.writeVarint(clock);
}

function readNews(reader: ByteReader): News {
  return { commit: reader.readVarint(), stamp: reader.readVarint(), clock: reader.readVarint() };
}

/** No payload is empty: without one the size of a large entry follows. */
function writeEntry(writer: ByteWriter, { header, payload, largeBytes }: ReplicatedEntry): void {
  writeHeader(writer, header);
  writer.writeSizedBytes(payload);
  if (payload.length === 0) writer.writeVarint(largeBytes ?? 0);
}

function readEntry(reader: ByteReader): ReplicatedEntry {
  const header = readHeader(reader);
  const payload = reader.readSizedBytes();
  if (payload.length > 0) return { header, payload };
  const largeBytes = reader.readVarint();
  if (largeBytes === 0 || largeBytes > LIMITS.maximumEntryBytes) {
    throw corruptedReplication(`an entry of ${largeBytes} bytes`);
  }
  return { header, payload, largeBytes };
}

function readWanted(reader: ByteReader): WantedEntry {
  const op = reader.readVarint();
  const headers = readHeaders(reader);
  if (headers.length > 1) throw corruptedReplication(`${headers.length} headers of one op`);
  return { op, header: headers[0] ?? null };
}

function readRepaired(reader: ByteReader): RepairedEntry {
  const isCommitted = readTruth(reader);
  return { entry: readEntry(reader), isCommitted };
}

function writeSlot(writer: ByteWriter, slot: Slot): void {
  writer.writeU8(SLOT_KINDS.indexOf(slot.kind));
  if (slot.kind === "present" || slot.kind === "missing") writeHeader(writer, slot.header);
  if (slot.kind === "missing") writer.writeU8(slot.isLost ? 1 : 0);
}

function readSlot(reader: ByteReader): Slot {
  const kind = SLOT_KINDS[reader.readU8()];
  switch (kind) {
    case "present":
      return { kind, header: readHeader(reader) };
    case "missing": {
      const header = readHeader(reader);
      return { kind, header, isLost: readTruth(reader) };
    }
    case "unreadable":
    case "absent":
      return { kind };
    case undefined:
      throw corruptedReplication("a slot of an unknown kind");
    default:
      unreachable(kind);
  }
}

function writeOptionalDigest(writer: ByteWriter, digest: bigint | null): void {
  writer.writeU8(digest === null ? 0 : 1);
  if (digest !== null) writer.writeU64(digest);
}

function readOptionalDigest(reader: ByteReader): bigint | null {
  return readTruth(reader) ? reader.readU64() : null;
}

/** The proof of a checkpoint, which is behind op 0; or nothing. */
function writeProof(writer: ByteWriter, proof: CheckpointProof | null): void {
  writer.writeVarint(proof?.op ?? 0);
  if (proof === null) return;
  writer.writeBytes(parseHex(proof.history));
  writer.writeBytes(parseHex(proof.id));
}

function readProof(reader: ByteReader): CheckpointProof | null {
  const op = reader.readVarint();
  if (op === 0) return null;
  return { op, history: reader.readBytes(HISTORY_BYTES).toHex(), id: readHash(reader) };
}

function readHash(reader: ByteReader): string {
  return reader.readBytes(HASH_BYTES).toHex();
}

function readTruth(reader: ByteReader): boolean {
  const byte = reader.readU8();
  if (byte > 1) throw corruptedReplication(`truth value ${byte}`);
  return byte === 1;
}

/** A name of a file in a data directory, which no other member may choose to lie elsewhere. */
function readFileName(reader: ByteReader): string {
  const name = decodeUtf8(reader.readSizedBytes());
  if (!isCheckpointFileName(name)) throw corruptedReplication(`a file called "${name}"`);
  return name;
}
