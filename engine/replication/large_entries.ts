/**
 * Entries that are too large for a message: the message only names them, and whoever lacks one asks for its bytes
 * piece by piece. Meanwhile heartbeats go on, and the message waits, one at a time; others that name another such entry
 * are as good as lost, and are sent again by the protocol.
 *
 * Neither side has such an entry in memory: pieces are read from the sender's log, and written to the receiver's in
 * order, where they are no part of the log until all have come and their digest is that of the entry's name. What has
 * come stays there when the sender is lost, or the view ends, and another member goes on. Only an entry that repairs a
 * damaged place of the log is collected in memory, as all that repairs it.
 *
 * Limits: 16 pieces of 256 KiB on their way; the last 16 that were read are kept for the next who asks. An answer tells
 * that what was asked for before it is lost; after half a second of silence the oldest piece is asked for again, and
 * after 5 s the message is given up.
 */
import type { EntryHeader, ReplicatedEntry } from "./protocol/entry_header.ts";
import type {
  EntryPiece,
  PeerMessage,
  Prepare,
  RepairEntries,
  RequestEntry,
  SummedBytes,
} from "./protocol/message.ts";

/** Which entries travel in pieces. */
export interface LargeEntrySizes {
  /** An entry of so many bytes is a large one. */
  readonly leastBytes: number;
  readonly pieceBytes: number;
}

/** See {@link LargeEntrySizes}. */
export const LARGE_ENTRY_SIZES: LargeEntrySizes = { leastBytes: 1024 * 1024, pieceBytes: 256 * 1024 };

const PIECES_AT_ONCE = 16;
const KEPT_PIECES = 16;
const REPEAT_MILLISECONDS = 500;
const SILENCE_MILLISECONDS = 5000;

/** A message that may name a large entry. */
export type EntriesMessage = Prepare | RepairEntries;

/** Where the pieces of an entry go: to the log, which has so many bytes already, or to memory. */
export type PiecesPlace = { readonly kind: "log"; readonly bytes: number } | { readonly kind: "memory" };

/** What this needs of its member. */
export interface LargeEntriesOwner {
  readonly index: number;
  viewOf(): number;
  /** Monotonic milliseconds. */
  now(): number;
  send(to: number, message: PeerMessage): void;
  /** Whether the entry is in the log, or in the checkpoint below it. */
  hasEntry(op: number, digest: bigint): boolean;
  /** Where its pieces are to go; null: it has no place here now. */
  placeOf(header: EntryHeader, bytes: number): PiecesPlace | null;
  /** The next piece for the log; false if what has come of the entry is gone. */
  addPiece(header: EntryHeader, piece: SummedBytes): boolean;
  /** A piece of a large entry that is in the log; null if it is not. */
  readPiece(op: number, digest: bigint, offset: number, bytes: number): SummedBytes | null;
  /** All pieces have come. */
  deliver(message: EntriesMessage): void;
}

interface Fetching {
  message: EntriesMessage;
  readonly header: EntryHeader;
  readonly bytes: number;
  /** Null: pieces go to the log. */
  readonly payload: Uint8Array | null;
  /** All bytes up to here have come, and were handed on. */
  solidBytes: number;
  /** Pieces that came before others, by offset. */
  readonly early: Map<number, SummedBytes>;
  /** Offsets that were asked for and have not come, with the number of the question. */
  readonly asked: Map<number, number>;
  nextOffset: number;
  heardAt: number;
  repeatedAt: number;
}

function entriesOf(message: EntriesMessage): readonly ReplicatedEntry[] {
  return message.kind === "prepare" ? message.entries : message.entries.map(({ entry }) => entry);
}

/** The message with the bytes of its large entry. */
function filled(message: EntriesMessage, op: number, payload: Uint8Array): EntriesMessage {
  const fill = (entry: ReplicatedEntry) => entry.header.op === op ? { header: entry.header, payload } : entry;
  if (message.kind === "prepare") return { ...message, entries: message.entries.map(fill) };
  return { ...message, entries: message.entries.map((each) => ({ ...each, entry: fill(each.entry) })) };
}

/** See the head of the file. */
export class LargeEntries {
  readonly #owner: LargeEntriesOwner;
  readonly #pieceBytes: number;
  #fetching: Fetching | null = null;
  #questions = 0;
  /** The pieces that were read last. */
  readonly #kept: EntryPiece[] = [];

  constructor(owner: LargeEntriesOwner, { pieceBytes }: LargeEntrySizes = LARGE_ENTRY_SIZES) {
    this.#owner = owner;
    this.#pieceBytes = pieceBytes;
  }

  /** Whether the message names an entry whose bytes must be fetched first. It is delivered then, or lost. */
  holds(message: EntriesMessage): boolean {
    const owner = this.#owner;
    const large = entriesOf(message).find(({ header, largeBytes }) =>
      largeBytes !== undefined && !owner.hasEntry(header.op, header.digest)
    );
    if (large?.largeBytes === undefined) return false;
    const { header, largeBytes } = large;
    const fetching = this.#fetching;
    if (fetching !== null && fetching.header.op === header.op && fetching.header.digest === header.digest) {
      this.#heldAgain(fetching, message);
      return true;
    }
    if (fetching !== null && !this.#isOver(fetching) && message.view <= fetching.message.view) return true;
    const place = owner.placeOf(header, largeBytes);
    if (place === null) return false;
    this.#begin(message, header, { bytes: largeBytes, place });
    return true;
  }

  #begin(
    message: EntriesMessage,
    header: EntryHeader,
    { bytes, place }: { readonly bytes: number; readonly place: PiecesPlace },
  ): void {
    const now = this.#owner.now();
    const solidBytes = place.kind === "log" ? place.bytes : 0;
    this.#fetching = {
      message,
      header,
      bytes,
      payload: place.kind === "log" ? null : new Uint8Array(bytes),
      solidBytes,
      early: new Map(),
      asked: new Map(),
      nextOffset: solidBytes,
      heardAt: now,
      repeatedAt: now,
    };
    this.#goOn(this.#fetching);
  }

  /** The newest message is the one that is delivered. Where its sender is another one, that goes on. */
  #heldAgain(fetching: Fetching, message: EntriesMessage): void {
    const { from } = fetching.message;
    const isSilent = this.#owner.now() - fetching.heardAt >= REPEAT_MILLISECONDS;
    if (message.from !== from && !isSilent && message.view <= fetching.message.view) return;
    fetching.message = message;
    if (message.from !== from) this.#askAgain(fetching, Infinity);
  }

  /** Whether the entry has come another way, or its sender is silent. */
  #isOver({ header, heardAt }: Fetching): boolean {
    return this.#owner.now() - heardAt >= SILENCE_MILLISECONDS ||
      this.#owner.hasEntry(header.op, header.digest);
  }

  onRequestEntry({ from, op, digest, offset }: RequestEntry): void {
    const owner = this.#owner;
    const view = owner.viewOf();
    const kept = this.#kept.find((piece) =>
      piece.op === op && piece.digest === digest && piece.offset === offset && piece.view === view
    );
    if (kept !== undefined) return owner.send(from, kept);
    const read = owner.readPiece(op, digest, offset, this.#pieceBytes);
    if (read === null) return;
    const piece: EntryPiece = { kind: "entry_piece", from: owner.index, view, op, digest, offset, ...read };
    this.#kept.push(piece);
    if (this.#kept.length > KEPT_PIECES) this.#kept.shift();
    owner.send(from, piece);
  }

  onEntryPiece({ from, op, digest, offset, bytes, checksum }: EntryPiece): void {
    const fetching = this.#fetching;
    if (fetching === null || fetching.header.op !== op || fetching.header.digest !== digest) return;
    const question = fetching.asked.get(offset);
    if (fetching.message.from !== from || question === undefined) return;
    if (bytes.length !== Math.min(this.#pieceBytes, fetching.bytes - offset)) return;
    fetching.asked.delete(offset);
    fetching.heardAt = this.#owner.now();
    fetching.early.set(offset, { bytes, checksum });
    if (!this.#handOn(fetching)) {
      this.#fetching = null;
      return;
    }
    // Answers come in the order of the questions.
    this.#askAgain(fetching, question);
    this.#goOn(fetching);
  }

  /** Hands on what has come in order; false if the pieces before it are gone. */
  #handOn(fetching: Fetching): boolean {
    const { early, payload, header } = fetching;
    for (;;) {
      const from = fetching.solidBytes;
      const piece = early.get(from);
      if (piece === undefined) return true;
      early.delete(from);
      if (payload !== null) payload.set(piece.bytes, from);
      else if (!this.#owner.addPiece(header, piece)) return false;
      fetching.solidBytes += piece.bytes.length;
    }
  }

  /** Called now and then. */
  onTick(): void {
    const fetching = this.#fetching;
    if (fetching === null) return;
    const now = this.#owner.now();
    if (this.#isOver(fetching)) {
      this.#fetching = null;
      return;
    }
    if (now - Math.max(fetching.heardAt, fetching.repeatedAt) < REPEAT_MILLISECONDS) return;
    fetching.repeatedAt = now;
    const [oldest] = fetching.asked.keys();
    if (oldest !== undefined) this.#ask(fetching, oldest);
  }

  #goOn(fetching: Fetching): void {
    const { asked, bytes } = fetching;
    while (asked.size + fetching.early.size < PIECES_AT_ONCE && fetching.nextOffset < bytes) {
      this.#ask(fetching, fetching.nextOffset);
      fetching.nextOffset += this.#pieceBytes;
    }
    if (fetching.solidBytes < bytes) return;
    this.#fetching = null;
    const { message, payload, header } = fetching;
    this.#owner.deliver(payload === null ? message : filled(message, header.op, payload));
  }

  /** Asks again for what was asked for before that question. */
  #askAgain(fetching: Fetching, before: number): void {
    for (const [offset, question] of [...fetching.asked]) if (question < before) this.#ask(fetching, offset);
  }

  #ask({ message, header: { op, digest }, asked }: Fetching, offset: number): void {
    const { index } = this.#owner;
    const view = this.#owner.viewOf();
    // As the newest of all.
    asked.delete(offset);
    asked.set(offset, ++this.#questions);
    this.#owner.send(message.from, { kind: "request_entry", from: index, view, op, digest, offset });
  }
}
