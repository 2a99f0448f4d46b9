/**
 * Entries that are too large for a message: the message only names them, and whoever lacks one asks for its bytes
 * piece by piece. Meanwhile heartbeats go on, and the message waits, one at a time; others that name such an entry are
 * as good as lost, and are sent again by the protocol.
 *
 * Limits: 8 pieces of 256 KiB on their way; a piece that does not come within half a second is asked for again, and the
 * message is given up after 5 s of silence.
 */
import type { ReplicatedEntry } from "./entry_header.ts";
import type { EntryPiece, PeerMessage, Prepare, RepairEntries, RequestEntry } from "./message.ts";

const PIECE_BYTES = 256 * 1024;
const PIECES_AT_ONCE = 8;
const REPEAT_MILLISECONDS = 500;
const SILENCE_MILLISECONDS = 5000;

/** A message that may name a large entry. */
export type EntriesMessage = Prepare | RepairEntries;

/** What this needs of its member. */
export interface LargeEntriesOwner {
  readonly index: number;
  viewOf(): number;
  /** Monotonic milliseconds. */
  now(): number;
  send(to: number, message: PeerMessage): void;
  /** Whether the entry is in the log. */
  hasEntry(op: number, digest: bigint): boolean;
  /** A piece of a large entry that is in the log; null if it is not. */
  readPiece(op: number, digest: bigint, offset: number, bytes: number): Uint8Array | null;
  /** A piece has come, in order. */
  onPiece(entry: ReplicatedEntry, piece: Uint8Array, offset: number): void;
  /** The message is whole. */
  deliver(message: EntriesMessage): void;
}

interface Fetching {
  message: EntriesMessage;
  readonly entry: ReplicatedEntry;
  readonly op: number;
  readonly digest: bigint;
  readonly payload: Uint8Array;
  /** All bytes up to here have come, and were handed on. */
  solidBytes: number;
  /** Offsets of pieces that came before others. */
  readonly early: Set<number>;
  /** Offsets that were asked for and have not come, with the time of asking. */
  readonly asked: Map<number, number>;
  nextOffset: number;
  missingBytes: number;
  heardAt: number;
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
  #fetching: Fetching | null = null;

  constructor(owner: LargeEntriesOwner) {
    this.#owner = owner;
  }

  /** Whether the message names an entry whose bytes must be fetched first. It is delivered then, or lost. */
  holds(message: EntriesMessage): boolean {
    const owner = this.#owner;
    const large = entriesOf(message).find(({ header, largeBytes }) =>
      largeBytes !== undefined && !owner.hasEntry(header.op, header.digest)
    );
    if (large?.largeBytes === undefined) return false;
    const { op, digest } = large.header;
    const fetching = this.#fetching;
    if (fetching !== null) {
      const isSame = fetching.op === op && fetching.digest === digest &&
        fetching.message.from === message.from;
      if (isSame) fetching.message = message;
      return true;
    }
    this.#fetching = {
      message,
      entry: large,
      solidBytes: 0,
      early: new Set(),
      op,
      digest,
      payload: new Uint8Array(large.largeBytes),
      asked: new Map(),
      nextOffset: 0,
      missingBytes: large.largeBytes,
      heardAt: owner.now(),
    };
    this.#goOn();
    return true;
  }

  onRequestEntry({ from, op, digest, offset }: RequestEntry): void {
    const { index } = this.#owner;
    const view = this.#owner.viewOf();
    const bytes = this.#owner.readPiece(op, digest, offset, PIECE_BYTES);
    if (bytes !== null) {
      this.#owner.send(from, { kind: "entry_piece", from: index, view, op, digest, offset, bytes });
    }
  }

  onEntryPiece({ from, op, digest, offset, bytes }: EntryPiece): void {
    const fetching = this.#fetching;
    if (fetching === null || fetching.op !== op || fetching.digest !== digest) return;
    if (fetching.message.from !== from || !fetching.asked.delete(offset)) return;
    fetching.heardAt = this.#owner.now();
    fetching.payload.set(bytes, offset);
    fetching.missingBytes -= bytes.length;
    fetching.early.add(offset);
    while (fetching.early.delete(fetching.solidBytes)) {
      const from = fetching.solidBytes;
      fetching.solidBytes = Math.min(from + PIECE_BYTES, fetching.payload.length);
      this.#owner.onPiece(fetching.entry, fetching.payload.subarray(from, fetching.solidBytes), from);
    }
    if (fetching.missingBytes > 0) return this.#goOn();
    this.#fetching = null;
    this.#owner.deliver(filled(fetching.message, op, fetching.payload));
  }

  /** Called now and then. */
  onTick(): void {
    const fetching = this.#fetching;
    if (fetching === null) return;
    const now = this.#owner.now();
    if (now - fetching.heardAt >= SILENCE_MILLISECONDS) {
      this.#fetching = null;
      return;
    }
    for (const [offset, at] of fetching.asked) {
      if (now - at >= REPEAT_MILLISECONDS) this.#ask(fetching, offset);
    }
  }

  #goOn(): void {
    const fetching = this.#fetching;
    if (fetching === null) return;
    while (fetching.asked.size < PIECES_AT_ONCE && fetching.nextOffset < fetching.payload.length) {
      this.#ask(fetching, fetching.nextOffset);
      fetching.nextOffset += PIECE_BYTES;
    }
  }

  #ask({ message, op, digest, asked }: Fetching, offset: number): void {
    const { index } = this.#owner;
    const view = this.#owner.viewOf();
    asked.set(offset, this.#owner.now());
    this.#owner.send(message.from, { kind: "request_entry", from: index, view, op, digest, offset });
  }
}
