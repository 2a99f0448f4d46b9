/**
 * Log entries as bytes: the one encoding of write-ahead log, replication and binary protocol.
 *
 * An entry is: format version (1 byte, 1); flags (bit 0: a client request follows the head); LEB128 op number; zigzag
 * LEB128 timestamp; the client request (16 bytes id, u64 sequence, sized digest, sized reply); LEB128 effect count;
 * the effects. An effect is a kind byte (1 create, 2 update, 3 delete, 4 create_batch, 5 truncate, 6 ddl, 7 sequence,
 * 8 checkpoint, 9 slices, 10 delete_batch, 11 update_batch, 12 stage, 13 staged, 14 unstage) and its fields in the
 * order of their declaration; counts, table and sequence ids are LEB128, bytes are sized, a DDL change is canonical
 * JSON, slices are counted, their effects sized, ids are counted and in a form of `batch_codec.ts`.
 *
 * Invariants: equal entries have equal bytes; the decoder reads every byte or raises `dataCorrupted`, whatever the
 * input. Limits: `maximumEntryBytes`, `maximumEntryEffects`.
 */
import { assert, unreachable } from "../base/assert.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import { batchBytes, readBatch, readIds, writeBatch, writeIds } from "./batch_codec.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "./canonical_json.ts";
import {
  type ClientRequest,
  type Effect,
  type EffectSource,
  type Entry,
  opNumber,
  type Slice,
} from "./effect.ts";
import { corrupted, readBigInteger, readRow, readRowId, writeRow, writeRowId } from "./value_codec.ts";

/** The first byte of every entry. */
export const ENTRY_FORMAT_VERSION = 1;

const FLAG_CLIENT = 1;
const CLIENT_ID_PATTERN = /^[0-9a-f]{32}$/;

const KIND_CREATE = 1;
const KIND_UPDATE = 2;
const KIND_DELETE = 3;
const KIND_CREATE_BATCH = 4;
const KIND_TRUNCATE = 5;
const KIND_DDL = 6;
const KIND_SEQUENCE = 7;
const KIND_CHECKPOINT = 8;
const KIND_SLICES = 9;
const KIND_DELETE_BATCH = 10;
const KIND_UPDATE_BATCH = 11;
const KIND_STAGE = 12;
const KIND_STAGED = 13;
const KIND_UNSTAGE = 14;

/** What must be in a DDL change, by kind: the member that names the object and its type. */
const CHANGE_MEMBERS: Readonly<
  Record<CatalogChange["kind"], { readonly name: string; readonly type: string }>
> = {
  put_table: { name: "table", type: "object" },
  drop_table: { name: "tableId", type: "number" },
  put_sequence: { name: "sequence", type: "object" },
  drop_sequence: { name: "sequenceId", type: "number" },
  put_view: { name: "view", type: "object" },
  drop_view: { name: "viewId", type: "number" },
  put_schema: { name: "schema", type: "object" },
  drop_schema: { name: "schemaId", type: "number" },
  put_enum: { name: "enumeration", type: "object" },
  drop_enum: { name: "enumId", type: "number" },
  put_function: { name: "function", type: "object" },
  drop_function: { name: "functionId", type: "number" },
  set_comment: { name: "object", type: "string" },
  note_refresh: { name: "refresh", type: "object" },
  set_setting: { name: "name", type: "string" },
};

/** Buffers larger than this are not kept for the next entry. */
const KEPT_BUFFER_BYTES = 1 << 20;

let sharedWriter = new ByteWriter(4096);

/**
 * The bytes of an entry, as a view that is good until the next call; see {@link entryBytes} for a copy.
 * Raises 54000 when its effects exceed the limit of one entry.
 */
export function encodeEntry(entry: Entry): Uint8Array {
  const writer = sharedWriter;
  writer.reset();
  writeEntry(entry, writer);
  if (writer.length > KEPT_BUFFER_BYTES) sharedWriter = new ByteWriter(4096);
  return writer.view();
}

/** Appends an entry to a writer; raises 54000 when its effects exceed the limit of one entry. */
export function writeEntry(entry: Entry, writer: ByteWriter): void {
  const start = writer.length;
  const effects = entry.effects;
  writeEntryHead(entry, effects.length, writer);
  reserveBatches(effects, writer);
  for (let index = 0; index < effects.length; index++) {
    encodeEffect(effects[index] as Effect, writer);
    if (writer.length - start > LIMITS.maximumEntryBytes) throw entryTooLarge();
  }
}

/** Appends what comes before an entry's effects. */
export function writeEntryHead(
  entry: Omit<Entry, "effects">,
  effectCount: number,
  writer: ByteWriter,
): void {
  const { client } = entry;
  assert(Number.isSafeInteger(entry.timestamp), `timestamp ${entry.timestamp} is not a safe integer`);
  writer.writeU8(ENTRY_FORMAT_VERSION);
  writer.writeU8(client === null ? 0 : FLAG_CLIENT);
  writer.writeVarint(entry.op);
  writer.writeSignedVarint(entry.timestamp);
  if (client !== null) writeClient(writer, client);
  if (effectCount > LIMITS.maximumEntryEffects) throw entryTooLarge();
  writer.writeVarint(effectCount);
}

/** Makes room for bulk loads at once: a buffer that doubles as it grows would hold and copy them several times. */
function reserveBatches(effects: readonly Effect[], writer: ByteWriter): void {
  let bytes = 0;
  for (let index = 0; index < effects.length; index++) {
    const effect = effects[index] as Effect;
    if (effect.kind === "create_batch" || effect.kind === "update_batch") bytes += batchBytes(effect.batch);
  }
  if (bytes > KEPT_BUFFER_BYTES && bytes <= LIMITS.maximumEntryBytes) writer.reserve(bytes);
}

/** Encoded effects are handed on when there are so many bytes of them. */
const PIECE_BYTES = 256 * 1024;
/** A piece is handed on in parts of at most this, with a yield after each. */
const PART_BYTES = 1 << 20;
/** Effects of single rows between two yields. */
const STEP_EFFECTS = 64;

/** Encodes an entry in steps and hands its bytes on, piece by piece; a piece is good until the call returns. */
export function* encodeInSteps(
  entry: Omit<Entry, "effects"> & { readonly effects: EffectSource },
  write: (piece: Uint8Array) => void,
): Generator<void, void> {
  const writer = new ByteWriter(PIECE_BYTES + 4096);
  writeEntryHead(entry, entry.effects.count, writer);
  const count = yield* encodeEachInSteps(entry.effects.each(), write, writer);
  assert(count === entry.effects.count, `${entry.effects.count} effects were announced, ${count} came`);
}

/** The same for effects without an entry around them; answers how many there are. */
export function* encodeEachInSteps(
  effects: Iterable<Effect>,
  write: (piece: Uint8Array) => void,
  writer = new ByteWriter(PIECE_BYTES + 4096),
): Generator<void, number> {
  let count = 0;
  for (const effect of effects) {
    encodeEffect(effect, writer);
    count++;
    if (writer.length >= PIECE_BYTES) {
      yield* handOn(writer, write);
      writer.reset();
    } else if ((count & (STEP_EFFECTS - 1)) === 0) yield;
  }
  yield* handOn(writer, write);
  return count;
}

function* handOn(writer: ByteWriter, write: (piece: Uint8Array) => void): Generator<void, void> {
  const bytes = writer.view();
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    write(bytes.subarray(from, Math.min(bytes.length, from + PART_BYTES)));
    yield;
  }
}

/** The bytes of an entry in an array of their own. */
export function entryBytes(entry: Entry): Uint8Array {
  return encodeEntry(entry).slice();
}

function entryTooLarge(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "transaction is too large for one log entry", {
    hint: `A transaction may write at most ${LIMITS.maximumEntryBytes} bytes; split it.`,
  });
}

function writeClient(writer: ByteWriter, client: ClientRequest): void {
  assert(
    CLIENT_ID_PATTERN.test(client.clientId),
    `client id "${client.clientId}" is not 32 hexadecimal digits`,
  );
  writer.writeBytes(Uint8Array.fromHex(client.clientId));
  writer.writeU64(client.sequence);
  writer.writeSizedBytes(client.requestDigest);
  writer.writeSizedBytes(client.reply);
}

/** Appends one effect. */
export function encodeEffect(effect: Effect, writer: ByteWriter): void {
  switch (effect.kind) {
    case "create":
      writer.writeU8(KIND_CREATE);
      writer.writeVarint(effect.tableId);
      writeRowId(writer, effect.id);
      writeRow(writer, effect.values);
      return;
    case "update":
      writer.writeU8(KIND_UPDATE);
      writer.writeVarint(effect.tableId);
      writeRowId(writer, effect.id);
      writeRow(writer, effect.values);
      return;
    case "delete":
      writer.writeU8(KIND_DELETE);
      writer.writeVarint(effect.tableId);
      writeRowId(writer, effect.id);
      return;
    case "delete_batch":
      writer.writeU8(KIND_DELETE_BATCH);
      writer.writeVarint(effect.tableId);
      writeIds(writer, effect.ids);
      return;
    case "create_batch":
    case "update_batch":
      writer.writeU8(effect.kind === "create_batch" ? KIND_CREATE_BATCH : KIND_UPDATE_BATCH);
      writer.writeVarint(effect.tableId);
      writeBatch(writer, effect.batch);
      return;
    case "truncate":
      writer.writeU8(KIND_TRUNCATE);
      writer.writeVarint(effect.tableId);
      return;
    case "ddl":
      writer.writeU8(KIND_DDL);
      writer.writeText(encodeCanonicalJson(effect.change));
      return;
    case "sequence":
      writer.writeU8(KIND_SEQUENCE);
      writer.writeVarint(effect.sequenceId);
      writer.writeU8((effect.called ? 1 : 0) | (typeof effect.value === "bigint" ? 2 : 0));
      writer.writeSignedVarint(effect.value);
      return;
    case "checkpoint":
      writer.writeU8(KIND_CHECKPOINT);
      return;
    case "slices":
      writer.writeU8(KIND_SLICES);
      writer.writeVarint(effect.slices.length);
      for (const { shard, effects } of effect.slices) {
        writer.writeVarint(shard);
        writer.writeSizedBytes(effects);
      }
      return;
    case "stage":
      writer.writeU8(KIND_STAGE);
      writer.writeVarint(effect.at);
      writer.writeSizedBytes(effect.bytes);
      return;
    case "staged":
      writer.writeU8(KIND_STAGED);
      writer.writeVarint(effect.byteCount);
      return;
    case "unstage":
      writer.writeU8(KIND_UNSTAGE);
      return;
    default:
      unreachable(effect);
  }
}

/** The entry that the bytes are; raises `dataCorrupted` when they are none. */
export function decodeEntry(bytes: Uint8Array): Entry {
  const reader = new ByteReader(bytes);
  const { count, ...head } = readEntryHead(reader);
  const effects = new Array<Effect>(count);
  for (let index = 0; index < count; index++) effects[index] = decodeEffect(reader);
  reader.expectEnd();
  return { ...head, effects };
}

/** Whether an entry makes the effects of the stage its own. */
export function isStagedEntry(bytes: Uint8Array): boolean {
  const reader = new ByteReader(bytes);
  for (let { count } = readEntryHead(reader); count > 0; count--) {
    const { kind } = decodeEffect(reader);
    // Only changes of the catalog come before it.
    if (kind !== "ddl") return kind === "staged";
  }
  return false;
}

/** Whether an entry asks for a checkpoint and does nothing else. */
export function isCheckpointEntry(bytes: Uint8Array): boolean {
  return bytes.length < 32 && decodeEntry(bytes).effects[0]?.kind === "checkpoint";
}

/** An entry's bytes that are not in memory as a whole. */
export interface PayloadSource {
  readonly length: number;
  /** Fills the array with what is there; the offset is a multiple of {@link SOURCE_BYTES}. */
  readInto(offset: number, target: Uint8Array): void;
}

/** Bytes that are read of a {@link PayloadSource} at a time. */
export const SOURCE_BYTES = 256 * 1024;

/** The same with effects that are decoded, again, when they are asked for; they raise `dataCorrupted` then. */
export function decodeInSteps(
  source: Uint8Array | PayloadSource,
): Omit<Entry, "effects"> & { readonly effects: EffectSource } {
  const begin = () => new SourceWindow(source);
  const { count, ...head } = begin().take(readEntryHead);
  function* each(): Generator<Effect> {
    const window = begin();
    window.take(readEntryHead);
    for (let index = 0; index < count; index++) yield window.take(decodeEffect);
    window.expectEnd();
  }
  return { ...head, effects: { count, estimatedBytes: source.length, each } };
}

/** The effects that fill all of a source, decoded when they are asked for; raises `dataCorrupted` then. */
export function* decodeEach(source: PayloadSource): Generator<Effect> {
  const window = new SourceWindow(source);
  while (!window.isAtEnd) yield window.take(decodeEffect);
}

/** The part of an entry's bytes that is being decoded. */
class SourceWindow {
  readonly #source: PayloadSource | null;
  /** What parts of a source are read into, one after the other: nothing that was decoded refers to it. */
  #buffer = new Uint8Array(0);
  #bytes: Uint8Array;
  /** What was decoded of the window. */
  #at = 0;
  /** Offset in the source of what follows the window. */
  #next = 0;
  /** The longest part so far: the next may be as long. */
  #longest = SOURCE_BYTES;

  constructor(source: Uint8Array | PayloadSource) {
    const isWhole = source instanceof Uint8Array;
    this.#source = isWhole ? null : source;
    this.#bytes = isWhole ? source : new Uint8Array(0);
  }

  get #isLast(): boolean {
    return this.#source === null || this.#next >= this.#source.length;
  }

  /** Whether all was decoded. */
  get isAtEnd(): boolean {
    return this.#isLast && this.#at === this.#bytes.length;
  }

  /** Decodes the next part. What ends behind the window seems damaged at first, and is read again with more. */
  take<T>(decode: (reader: ByteReader) => T): T {
    if (this.#bytes.length - this.#at < this.#longest) this.#load(this.#longest);
    for (;;) {
      const reader = new ByteReader(this.#bytes, this.#at);
      try {
        const part = decode(reader);
        this.#longest = Math.max(this.#longest, reader.position - this.#at);
        this.#at = reader.position;
        return part;
      } catch (error) {
        if (this.#isLast) throw error;
        this.#load(2 * (this.#bytes.length - this.#at));
      }
    }
  }

  expectEnd(): void {
    if (!this.#isLast) throw corrupted("unexpected bytes at the end");
    new ByteReader(this.#bytes, this.#at).expectEnd();
  }

  /** Sees to it that so many bytes are here, and some more. */
  #load(least: number): void {
    const source = this.#source;
    if (source === null || this.#isLast) return;
    const rest = this.#bytes.subarray(this.#at);
    const wanted = Math.ceil((2 * least - rest.length) / SOURCE_BYTES) * SOURCE_BYTES;
    const length = rest.length + Math.min(wanted, source.length - this.#next);
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length);
    const bytes = this.#buffer.subarray(0, length);
    bytes.set(rest);
    for (let at = rest.length; at < bytes.length; at += SOURCE_BYTES) {
      const piece = bytes.subarray(at, at + SOURCE_BYTES);
      source.readInto(this.#next, piece);
      this.#next += piece.length;
    }
    this.#bytes = bytes;
    this.#at = 0;
  }
}

function readEntryHead(reader: ByteReader): Omit<Entry, "effects"> & { readonly count: number } {
  const version = reader.readU8();
  if (version !== ENTRY_FORMAT_VERSION) throw corrupted(`format version ${version}`);
  const flags = reader.readU8();
  if ((flags & ~FLAG_CLIENT) !== 0) throw corrupted(`flags ${flags}`);
  const op = reader.readVarint();
  const timestamp = reader.readSignedVarint();
  if (typeof timestamp !== "number") throw corrupted("a timestamp out of range");
  const client = flags & FLAG_CLIENT ? readClient(reader) : null;
  const count = reader.readVarint();
  // Each effect takes a byte at least, so a damaged count cannot ask for more memory than the input is worth.
  if (count > LIMITS.maximumEntryEffects || count > reader.remaining) throw corrupted(`${count} effects`);
  return { op: opNumber(op), timestamp, client, count };
}

function readClient(reader: ByteReader): ClientRequest {
  return {
    clientId: reader.readBytes(16).toHex(),
    sequence: reader.readU64(),
    requestDigest: reader.readSizedBytes().slice(),
    reply: reader.readSizedBytes().slice(),
  };
}

/** Reads what {@link encodeEffect} wrote. */
export function decodeEffect(reader: ByteReader): Effect {
  const kind = reader.readU8();
  switch (kind) {
    case KIND_CREATE:
      return { kind: "create", tableId: reader.readVarint(), id: readRowId(reader), values: readRow(reader) };
    case KIND_UPDATE:
      return { kind: "update", tableId: reader.readVarint(), id: readRowId(reader), values: readRow(reader) };
    case KIND_DELETE:
      return { kind: "delete", tableId: reader.readVarint(), id: readRowId(reader) };
    case KIND_CREATE_BATCH:
      return { kind: "create_batch", tableId: reader.readVarint(), batch: readBatch(reader) };
    case KIND_UPDATE_BATCH:
      return { kind: "update_batch", tableId: reader.readVarint(), batch: readBatch(reader) };
    case KIND_DELETE_BATCH:
      return { kind: "delete_batch", tableId: reader.readVarint(), ids: readIds(reader) };
    case KIND_TRUNCATE:
      return { kind: "truncate", tableId: reader.readVarint() };
    case KIND_DDL:
      return { kind: "ddl", change: readChange(reader.readText()) };
    case KIND_SEQUENCE: {
      const sequenceId = reader.readVarint();
      const flags = reader.readU8();
      if (flags > 3) throw corrupted(`sequence flags ${flags}`);
      const value = flags & 2 ? readBigInteger(reader) : reader.readSignedVarint();
      if (!(flags & 2) && typeof value !== "number") throw corrupted("a sequence value out of range");
      return { kind: "sequence", sequenceId, value, called: (flags & 1) === 1 };
    }
    case KIND_CHECKPOINT:
      return { kind: "checkpoint" };
    case KIND_SLICES:
      return { kind: "slices", slices: readSlices(reader) };
    case KIND_STAGE:
      return { kind: "stage", at: reader.readVarint(), bytes: reader.readSizedBytes().slice() };
    case KIND_STAGED:
      return { kind: "staged", byteCount: reader.readVarint() };
    case KIND_UNSTAGE:
      return { kind: "unstage" };
    default:
      throw corrupted(`unknown effect kind ${kind}`);
  }
}

function readSlices(reader: ByteReader): Slice[] {
  const count = reader.readVarint();
  if (count > reader.remaining) throw corrupted(`${count} slices`);
  return Array.from({ length: count }, () => ({
    shard: reader.readVarint(),
    effects: reader.readSizedBytes().slice(),
  }));
}

/** Effects without an entry around them, in an array of their own. Raises 54000 beyond the limit of one entry. */
export function encodeEffects(effects: readonly Effect[]): Uint8Array {
  const writer = new ByteWriter(1024);
  writer.writeVarint(effects.length);
  reserveBatches(effects, writer);
  for (const effect of effects) {
    encodeEffect(effect, writer);
    if (writer.length > LIMITS.maximumEntryBytes) throw entryTooLarge();
  }
  return writer.view().slice();
}

/** Reads what {@link encodeEffects} wrote; raises `dataCorrupted` when the bytes are something else. */
export function decodeEffects(bytes: Uint8Array): Effect[] {
  const reader = new ByteReader(bytes);
  const count = reader.readVarint();
  if (count > LIMITS.maximumEntryEffects || count > reader.remaining) throw corrupted(`${count} effects`);
  const effects = Array.from({ length: count }, () => decodeEffect(reader));
  reader.expectEnd();
  return effects;
}

function readChange(text: string): CatalogChange {
  const value = decodeCanonicalJson(text);
  if (value === null || typeof value !== "object" || Array.isArray(value) || value instanceof Uint8Array) {
    throw corrupted("a definition that is no object");
  }
  const members = value as { readonly [key: string]: unknown };
  const kind = members.kind;
  if (typeof kind !== "string" || !Object.hasOwn(CHANGE_MEMBERS, kind)) {
    throw corrupted(`definition ${String(kind)}`);
  }
  const expected = CHANGE_MEMBERS[kind as CatalogChange["kind"]];
  const member = members[expected.name];
  if (typeof member !== expected.type || member === null) throw corrupted(`${kind} without ${expected.name}`);
  if (kind === "note_refresh" && !Number.isSafeInteger(members.tableId)) {
    throw corrupted("note_refresh without tableId");
  }
  if (expected.type === "object" && kind !== "note_refresh") checkNamed(kind, member as object);
  if (kind === "set_comment" && typeof members.comment !== "string" && members.comment !== null) {
    throw corrupted("set_comment without comment");
  }
  if (kind === "set_setting" && typeof members.value !== "string" && members.value !== null) {
    throw corrupted("set_setting without value");
  }
  // The checks above and the checksum around the bytes stand for the rest of the shape.
  return value as unknown as CatalogChange;
}

function checkNamed(kind: string, definition: object): void {
  const named = "id" in definition && Number.isSafeInteger(definition.id) && "name" in definition &&
    typeof definition.name === "string";
  const isTable = kind !== "put_table" || ("columns" in definition && Array.isArray(definition.columns) &&
    "indexes" in definition && Array.isArray(definition.indexes) &&
    "constraints" in definition && Array.isArray(definition.constraints));
  if (!named || !isTable) throw corrupted(`${kind} with an incomplete definition`);
}
