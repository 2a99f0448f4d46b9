/**
 * One connection to another member after its hello: messages in and out, in frames of at most 64 KiB.
 *
 * There are two lanes: entries with pieces of files, and everything else. Each keeps its order. The lane of everything
 * else goes first, so that a heartbeat waits for one write at most, not for the megabytes of a large entry. A message
 * longer than a frame travels in pieces: u32 length, u32 0 (the message has its own checksum), u8 128, u8 flags (1 last
 * piece, 2 lane of entries), and the bytes. An empty frame says that its sender lives.
 *
 * Limits: 8 MiB wait to be sent, one message of any size when nothing waits; beyond, messages are dropped, for the
 * protocol repeats them. What is sent while a write is under way leaves in one, of up to 320 KiB.
 */
import type { NetworkConnection } from "../../host/network.ts";
import { corruptedReplication } from "./header_codec.ts";
import type { PeerMessage } from "../protocol/message.ts";
import { decodeMessage, encodeMessage, FRAME_LENGTH_BYTES, MAX_MESSAGE_BYTES } from "./message_codec.ts";
import type { PeerInput } from "./peer_input.ts";

/** What waits for one peer beyond which messages are dropped. */
export const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const MAX_WHOLE_BYTES = 64 * 1024;
const MAX_WRITE_BYTES = 320 * 1024;
/** So much room is made for a message whose first piece has come. */
const MAX_EXPECTED_BYTES = 1024 * 1024;
const PIECE_TYPE = 128;
const PIECE_HEAD_BYTES = FRAME_LENGTH_BYTES + 6;
/** The type of a frame comes after its checksum. */
const TYPE_OFFSET = 4;
const FLAGS = { last: 1, entries: 2 } as const;
const KEEP_ALIVE = new Uint8Array(FRAME_LENGTH_BYTES);

/** The longest frame between members. */
const MAX_PEER_FRAME_BYTES = MAX_WHOLE_BYTES + PIECE_HEAD_BYTES;

type Lane = "entries" | "other";

/** What carries entries or pieces of files. */
const BULK: ReadonlySet<PeerMessage["kind"]> = new Set([
  "prepare",
  "repair_entries",
  "file_piece",
  "entry_piece",
]);

/** What a connection reports to its owner. */
export interface PeerConnectionListener {
  /** The other has said something, if only that it lives. */
  onHeard(): void;
  /** The bytes of a piece of a file are good until it returns; those of others stay. */
  onMessage(message: PeerMessage): void;
  /** Called once. `reason`: null when one of the two has closed it or ended. */
  onClose(reason: string | null): void;
}

/** See the head of the file. */
export class PeerConnection {
  readonly #connection: NetworkConnection;
  readonly #input: PeerInput;
  readonly #listener: PeerConnectionListener;
  readonly #peer: number;
  readonly #group: number;
  /** Frames that wait, several of them in an array. */
  readonly #lanes: Readonly<Record<Lane, Uint8Array[]>> = { entries: [], other: [] };
  readonly #joined: Readonly<Record<Lane, JoinedPieces>> = {
    entries: new JoinedPieces(),
    other: new JoinedPieces(),
  };
  #queuedBytes = 0;
  #isWriting = false;
  #isClosed = false;
  #hasSent = false;
  #silentTicks = 0;
  /** It has ended for a message that is none. */
  isUnreadable = false;
  /** Counters for statistics. */
  readonly counters = {
    sentMessages: 0,
    sentBytes: 0,
    receivedMessages: 0,
    receivedBytes: 0,
    droppedMessages: 0,
  };

  constructor(
    options: {
      readonly connection: NetworkConnection;
      readonly input: PeerInput;
      readonly peer: number;
      readonly group: number;
    },
    listener: PeerConnectionListener,
  ) {
    this.#connection = options.connection;
    this.#input = options.input;
    this.#input.maximumBytes = MAX_PEER_FRAME_BYTES;
    this.#peer = options.peer;
    this.#group = options.group;
    this.#listener = listener;
  }

  /** Bytes that wait to be sent. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Reads until the end. */
  async run(): Promise<void> {
    let reason: string | null = null;
    try {
      do {
        for (let frame = this.#input.takeView(); frame !== null; frame = this.#input.takeView()) {
          this.#read(frame);
          if (this.#isClosed) break;
        }
      } while (!this.#isClosed && await this.#input.fill());
    } catch (error) {
      reason = reasonOf(error);
    }
    this.close(reason);
  }

  /** Sends a message when there is room for it; `encode` gives its bytes. */
  send(message: PeerMessage, encode = () => wireOf(this.#group, message)): void {
    if (this.#isClosed) return;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) {
      this.counters.droppedMessages++;
      return;
    }
    this.counters.sentMessages++;
    const lane = laneOf(message);
    for (const frames of encode()) this.#queue(lane, frames);
  }

  /** To be called in equal times: says that this member lives; answers for how many calls the other was silent. */
  tick(): number {
    if (!this.#hasSent && this.#queuedBytes === 0) this.#queue("other", KEEP_ALIVE);
    this.#hasSent = false;
    return ++this.#silentTicks;
  }

  /** Closes the connection; what waits to be sent is lost. */
  close(reason: string | null = null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lanes.entries.length = this.#lanes.other.length = this.#queuedBytes = 0;
    this.#connection.close();
    this.#listener.onClose(reason);
  }

  #queue(lane: Lane, frames: Uint8Array): void {
    this.#lanes[lane].push(frames);
    this.#queuedBytes += frames.length;
    if (this.#isWriting) return;
    this.#isWriting = true;
    // At once: whoever sends has other work to do, and others wait for this. What comes meanwhile joins the next write.
    void this.#write();
  }

  async #write(): Promise<void> {
    try {
      for (let bytes = this.#nextWrite(); bytes !== null && !this.#isClosed; bytes = this.#nextWrite()) {
        await this.#connection.write(bytes);
        this.counters.sentBytes += bytes.length;
        this.#queuedBytes = Math.max(0, this.#queuedBytes - bytes.length);
        this.#hasSent = true;
      }
      this.#isWriting = false;
    } catch (error) {
      this.close(reasonOf(error));
    }
  }

  #nextWrite(): Uint8Array | null {
    const taken: Uint8Array[] = [];
    let length = 0;
    for (const lane of [this.#lanes.other, this.#lanes.entries]) {
      let count = 0;
      for (const frames of lane) {
        if (length > 0 && length + frames.length > MAX_WRITE_BYTES) break;
        length += frames.length;
        count++;
        taken.push(frames);
      }
      lane.splice(0, count);
    }
    return taken.length <= 1 ? taken[0] ?? null : joined(taken, length);
  }

  #read(frame: Uint8Array): void {
    try {
      this.#receive(frame);
    } catch (error) {
      this.isUnreadable = true;
      throw error;
    }
  }

  #receive(frame: Uint8Array): void {
    this.#silentTicks = 0;
    this.counters.receivedBytes += FRAME_LENGTH_BYTES + frame.length;
    this.#listener.onHeard();
    if (frame.length === 0) return;
    const whole = frame[TYPE_OFFSET] === PIECE_TYPE ? this.#join(frame) : frame.slice();
    if (whole === null) return;
    const { group, message } = decodeMessage(whole);
    if (message.from !== this.#peer || group !== this.#group) {
      throw corruptedReplication(`a message of member ${message.from} and group ${group}`);
    }
    this.counters.receivedMessages++;
    this.#listener.onMessage(message);
    // A gigabyte of these would be four thousand arrays of their own.
    if (message.kind === "file_piece") this.#joined.entries.reuse(whole);
  }

  /** Adds a piece; answers the whole frame with its last. */
  #join(frame: Uint8Array): Uint8Array<ArrayBuffer> | null {
    const flags = frame[TYPE_OFFSET + 1];
    if (flags === undefined || flags > 3) throw corruptedReplication("a piece of a message is damaged");
    const pieces = this.#joined[(flags & FLAGS.entries) !== 0 ? "entries" : "other"];
    pieces.add(frame.subarray(PIECE_HEAD_BYTES - FRAME_LENGTH_BYTES));
    return (flags & FLAGS.last) === 0 ? null : pieces.take();
  }
}

/** What a system calls it when the process at the other end has ended, or has closed what it had not read. */
const GONE: ReadonlySet<string> = new Set([
  "ConnectionReset",
  "ConnectionAborted",
  "BrokenPipe",
  "UnexpectedEof",
]);

/** Why a connection has failed, for people; null: the other end is gone. */
function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return String(error);
  return GONE.has(error.name) ? null : error.message;
}

function laneOf({ kind }: PeerMessage): Lane {
  return BULK.has(kind) ? "entries" : "other";
}

/** A message as it is sent: whole frames, as many in each array as may leave in one write. */
export function wireOf(group: number, message: PeerMessage): readonly Uint8Array[] {
  const bytes = encodeMessage(group, message);
  if (bytes.length <= MAX_WHOLE_BYTES) return [bytes];
  const frame = bytes.subarray(FRAME_LENGTH_BYTES);
  const pieces = Math.ceil(frame.length / MAX_WHOLE_BYTES);
  const wire = new Uint8Array(pieces * PIECE_HEAD_BYTES + frame.length);
  const view = new DataView(wire.buffer);
  const entriesFlag = laneOf(message) === "entries" ? FLAGS.entries : 0;
  for (let piece = 0; piece < pieces; piece++) {
    const part = frame.subarray(piece * MAX_WHOLE_BYTES, (piece + 1) * MAX_WHOLE_BYTES);
    const at = piece * MAX_PEER_FRAME_BYTES;
    view.setUint32(at, PIECE_HEAD_BYTES + part.length - FRAME_LENGTH_BYTES, true);
    wire[at + FRAME_LENGTH_BYTES + TYPE_OFFSET] = PIECE_TYPE;
    wire[at + FRAME_LENGTH_BYTES + TYPE_OFFSET + 1] = (piece === pieces - 1 ? FLAGS.last : 0) | entriesFlag;
    wire.set(part, at + PIECE_HEAD_BYTES);
  }
  const writes: Uint8Array[] = [];
  const most = Math.floor(MAX_WRITE_BYTES / MAX_PEER_FRAME_BYTES) * MAX_PEER_FRAME_BYTES;
  for (let at = 0; at < wire.length; at += most) writes.push(wire.subarray(at, at + most));
  return writes;
}

/** The pieces of a message, as far as they have come. */
class JoinedPieces {
  #bytes = new Uint8Array(0);
  #length = 0;
  /** The next message may be as long as the last one. */
  #expected = 0;

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > MAX_MESSAGE_BYTES) throw corruptedReplication("a message that is too long");
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#expected, 2 * length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  take(): Uint8Array<ArrayBuffer> {
    const whole = this.#bytes.subarray(0, this.#length);
    this.#expected = Math.min(this.#length, MAX_EXPECTED_BYTES);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return whole;
  }

  /** What was taken is no longer needed: the next message goes there, unless it has begun. */
  reuse({ buffer }: Uint8Array<ArrayBuffer>): void {
    if (this.#length === 0 && buffer.byteLength > this.#bytes.length) this.#bytes = new Uint8Array(buffer);
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
