/**
 * One connection for all clients that are passed on, from a backup to the primary or from a thread that has their
 * sockets to the one that has their sessions: their streams, each with a number.
 *
 * Frames are a u32 length of what follows, the u32 number of a stream, a u8 kind, and what the kind has:
 *
 * - 1 `open`, from the client's side: what `encodeRelayedStream` gives. 2 `opened`: a gateway has taken it.
 * - 3 `bytes`: the client's, or those for it. 4 `end`: this direction has no more.
 * - 5 `read`: u32, so many bytes more may come. 6 `close`: nothing that comes is looked at any more.
 *
 * Between threads only: 7 `words`, of stream 0: what the threads have to say to each other, in JSON.
 *
 * What several streams send in one turn of the event loop leaves in one write; of one stream alone at once. Limits:
 * those of `RelayStream`.
 */
import { ByteReader, decodeUtf8, encodeUtf8 } from "../../engine/base/bytes.ts";
import { DatabaseError } from "../../engine/base/errors.ts";
import type { NetworkConnection } from "../../engine/host/network.ts";
import { PeerInput } from "../../engine/replication/peers/peer_input.ts";
import type { ByteStream } from "../shared/byte_stream.ts";
import { decodeRelayedStream, encodeRelayedStream } from "../shared/relay_hello.ts";
import type { RelayedStream } from "../shared/relay_port.ts";
import { RelayStream, type StreamEnd, type StreamLink, WINDOW_BYTES } from "./relay_stream.ts";

const KIND = { open: 1, opened: 2, bytes: 3, end: 4, read: 5, close: 6, words: 7 } as const;
/** The length in front of a frame, and its own first bytes. */
const LENGTH_BYTES = 4, HEAD_BYTES = 5;
const FIRST_OUTPUT_BYTES = 16 * 1024, FIRST_INPUT_BYTES = 64 * 1024;
/** Memory that has grown beyond this is not kept. */
const KEPT_OUTPUT_BYTES = 1 << 20;
const NOTHING = new Uint8Array(0);

/** What a link reports to its owner. */
export interface LinkOwner {
  /** Resolves at the end of the turn of the event loop. */
  endOfTurn(): Promise<void>;
  /** What takes a stream that the other member opens; null: nothing does. */
  gatewayOf(stream: RelayedStream): ((connection: ByteStream) => void) | null;
  /** The window of each stream, the same at both ends; {@link WINDOW_BYTES} unless given. */
  readonly windowBytes?: number;
  /** The other thread says something; absent between members. */
  onWords?(words: unknown): void;
  /** The other end does not keep to the protocol. */
  onViolation(why: string): void;
}

/** See the head of the file. */
export class RelayLink implements StreamLink {
  readonly #connection: NetworkConnection;
  readonly #input: PeerInput;
  readonly #owner: LinkOwner;
  readonly #windowBytes: number;
  readonly #streams = new Map<number, StreamEnd>();
  /** Streams that no gateway has taken yet. */
  readonly #opening = new Map<number, PromiseWithResolvers<boolean>>();
  #lastNumber = 0;
  /** What is written is in the other one. */
  #spareOutput = new Uint8Array(FIRST_OUTPUT_BYTES);
  #output = new Uint8Array(FIRST_OUTPUT_BYTES);
  #outputView = new DataView(this.#output.buffer);
  #outputBytes = 0;
  /** Resolves when what is gathered has left. */
  #leaving: PromiseWithResolvers<void> | null = null;
  #isGathering = false;
  #isWriting = false;
  #isLeft = false;
  #isClosed = false;

  /** Over a connection whose hello is through; `received`: what was read behind it. */
  constructor(connection: NetworkConnection, received: Uint8Array, owner: LinkOwner) {
    this.#connection = connection;
    this.#windowBytes = owner.windowBytes ?? WINDOW_BYTES;
    this.#input = new PeerInput(connection, received, this.#windowBytes + HEAD_BYTES, FIRST_INPUT_BYTES);
    this.#owner = owner;
  }

  /** Reads until the end. */
  async run(): Promise<void> {
    const input = this.#input;
    try {
      do {
        for (let frame = input.takeView(); frame !== null && !this.#isClosed; frame = input.takeView()) {
          this.#receive(frame);
        }
      } while (!this.#isClosed && await input.fill());
    } catch (error) {
      // Whatever else is wrong with a connection ends it.
      if (error instanceof LinkViolation || error instanceof DatabaseError) {
        this.#owner.onViolation(error.message);
      }
    }
    this.close();
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Opens a stream, which may be used when the primary's gateway has taken it; else it is to be closed. */
  open(description: RelayedStream): { readonly stream: ByteStream; readonly isTaken: Promise<boolean> } {
    const opening = Promise.withResolvers<boolean>();
    const stream = this.openAs(description, (number) => {
      this.#opening.set(number, opening);
      return new RelayStream(this, number, this.#windowBytes);
    });
    if (this.#isClosed) opening.resolve(false);
    return { stream, isTaken: opening.promise };
  }

  /** Opens a stream that is used at once: it ends if nothing takes it. */
  openAs<End extends StreamEnd>(description: RelayedStream, make: (number: number) => End): End {
    const number = ++this.#lastNumber;
    const stream = make(number);
    if (this.#isClosed) stream.lost(linkLost());
    else {
      this.#streams.set(number, stream);
      void this.#send(number, KIND.open, encodeRelayedStream(description));
    }
    return stream;
  }

  /** Says something to the other thread. */
  say(words: unknown): void {
    void this.#send(0, KIND.words, encodeUtf8(JSON.stringify(words)));
  }

  /** Ends the link with its last stream; no other is opened. */
  leave(): void {
    this.#isLeft = true;
    if (this.#streams.size === 0) this.close();
  }

  /** Ends the link, and all streams with it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
    const streams = [...this.#streams.values()], openings = [...this.#opening.values()];
    this.#streams.clear();
    this.#opening.clear();
    this.#leaving?.resolve();
    this.#leaving = null;
    for (const opening of openings) opening.resolve(false);
    for (const stream of streams) stream.lost(linkLost());
  }

  // --- what streams send ---

  sendBytes(stream: number, bytes: Uint8Array): Promise<void> {
    return this.#send(stream, KIND.bytes, bytes);
  }

  sendEnd(stream: number): Promise<void> {
    return this.#send(stream, KIND.end, NOTHING);
  }

  sendRead(stream: number, count: number): void {
    const body = new Uint8Array(4);
    new DataView(body.buffer).setUint32(0, count, true);
    void this.#send(stream, KIND.read, body);
  }

  sendClose(stream: number): void {
    void this.#send(stream, KIND.close, NOTHING);
    this.#forget(stream);
  }

  #forget(stream: number): void {
    if (!this.#streams.delete(stream)) return;
    this.#opening.get(stream)?.resolve(false);
    this.#opening.delete(stream);
    if (this.#isLeft) this.leave();
  }

  #send(stream: number, kind: number, body: Uint8Array): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const at = this.#outputBytes;
    const end = at + LENGTH_BYTES + HEAD_BYTES + body.length;
    if (end > this.#output.length) this.#grow(end);
    this.#outputView.setUint32(at, HEAD_BYTES + body.length, true);
    this.#outputView.setUint32(at + LENGTH_BYTES, stream, true);
    this.#output[at + LENGTH_BYTES + HEAD_BYTES - 1] = kind;
    this.#output.set(body, end - body.length);
    this.#outputBytes = end;
    const leaving = this.#leaving ??= Promise.withResolvers();
    if (this.#isGathering || this.#isWriting) return leaving.promise;
    if (this.#streams.size <= 1) void this.#flush();
    else {
      this.#isGathering = true;
      void this.#owner.endOfTurn().then(() => {
        this.#isGathering = false;
        void this.#flush();
      });
    }
    return leaving.promise;
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(Math.max(bytes, 2 * this.#output.length));
    grown.set(this.#output.subarray(0, this.#outputBytes));
    this.#setOutput(grown);
  }

  #setOutput(output: Uint8Array<ArrayBuffer>): void {
    this.#output = output;
    this.#outputView = new DataView(output.buffer);
  }

  async #flush(): Promise<void> {
    this.#isWriting = true;
    try {
      for (let leaving = this.#leaving; leaving !== null && !this.#isClosed; leaving = this.#leaving) {
        this.#leaving = null;
        const written = this.#output;
        const bytes = written.subarray(0, this.#outputBytes);
        this.#setOutput(this.#spareOutput);
        this.#outputBytes = 0;
        // Whoever waits for it learns by the next write, or by the end of the stream, that it has failed.
        await this.#connection.write(bytes).finally(() => leaving.resolve());
        this.#spareOutput = written.length <= KEPT_OUTPUT_BYTES
          ? written
          : new Uint8Array(FIRST_OUTPUT_BYTES);
      }
    } catch {
      this.close();
    }
    this.#isWriting = false;
  }

  // --- what comes ---

  #receive(frame: Uint8Array): void {
    if (frame.length < HEAD_BYTES) throw new LinkViolation(`a frame of ${frame.length} bytes`);
    // Without a reader, for there is a frame for each statement.
    const byte = (at: number): number => frame[at] as number;
    const number = (byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24) >>> 0;
    this.#take(number, byte(HEAD_BYTES - 1), frame.subarray(HEAD_BYTES));
  }

  #take(number: number, kind: number, body: Uint8Array): void {
    if (kind === KIND.open) return this.#accept(number, decodeRelayedStream(body));
    if (kind === KIND.words && this.#owner.onWords !== undefined) {
      return this.#owner.onWords(JSON.parse(decodeUtf8(body)));
    }
    const stream = this.#streams.get(number);
    // One that this side is done with: the other did not know yet.
    if (stream === undefined) return;
    switch (kind) {
      case KIND.opened:
        this.#opening.get(number)?.resolve(true);
        this.#opening.delete(number);
        return;
      case KIND.bytes:
        if (!stream.received(body)) throw new LinkViolation("more bytes than were allowed");
        return;
      case KIND.end:
        return stream.ended();
      case KIND.read:
        return stream.allowed(new ByteReader(body).readU32());
      case KIND.close:
        this.#forget(number);
        return stream.closed();
      default:
        throw new LinkViolation(`a frame of kind ${kind}`);
    }
  }

  /** Numbers grow, so that a late frame is of no other stream. */
  #accept(number: number, description: RelayedStream): void {
    if (number <= this.#lastNumber) throw new LinkViolation(`stream ${number} after ${this.#lastNumber}`);
    this.#lastNumber = number;
    const take = this.#owner.gatewayOf(description);
    if (take === null) {
      void this.#send(number, KIND.close, NOTHING);
      return;
    }
    const stream = new RelayStream(this, number, this.#windowBytes);
    this.#streams.set(number, stream);
    void this.#send(number, KIND.opened, NOTHING);
    take(stream);
  }
}

function linkLost(): Error {
  return new Deno.errors.ConnectionReset("the link of the stream is lost");
}

/** The other end does not keep to the protocol. */
class LinkViolation extends Error {}
