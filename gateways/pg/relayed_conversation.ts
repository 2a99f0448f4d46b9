/**
 * What a member knows of a client of PostgreSQL's protocol whose bytes it passes on to the primary: enough to tell it
 * what has become of its requests when the primary is lost.
 */
import type { DatabaseError } from "../../engine/base/errors.ts";
import { connectionEnded, outcomeUnknown, transactionLost } from "../../engine/session/interruption.ts";
import type { Conversation } from "../shared/join_streams.ts";
import { MessageCutter } from "../shared/message_cutter.ts";
import { noPrimary } from "../shared/relay_port.ts";
import { BACKEND, FRONTEND, STATUS } from "./protocol.ts";

/** Type and length. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
/** The first field of an error that ends a connection. */
const FATAL = new TextEncoder().encode("SFATAL\0");

/** See the head of the file. */
export class RelayedConversation implements Conversation {
  readonly #encode: (error: DatabaseError) => Uint8Array;
  readonly #fromClient: MessageCutter;
  readonly #fromServer: MessageCutter;
  #hasStarted = false;
  /** The answers that the server owes, by their last message; the first one is to the startup packet. */
  #owed = 1;
  /** Something was sent that a Sync will be answered for. */
  #isUnsynced = false;
  /** The statement that a COPY may belong to came as a Query: it is answered for without a Sync. */
  #isQuery = false;
  /** Of the last answer; 0 before the first one. */
  #status = 0;
  /** Either side has said that it ends. */
  #hasEnded = false;

  /** `encode` makes the message that ends a connection. */
  constructor(encode: (error: DatabaseError) => Uint8Array) {
    this.#encode = encode;
    this.#fromClient = new MessageCutter({
      lengthOf: (bytes, at) => this.#hasStarted ? typedLength(bytes, at) : untypedLength(bytes, at),
      onMessage: (bytes, at) => this.#sent(bytes[at] ?? 0),
    });
    this.#fromServer = new MessageCutter({
      lengthOf: typedLength,
      onMessage: (bytes, at) => this.#answered(bytes, at),
    });
  }

  sent(bytes: Uint8Array): number {
    return this.#fromClient.cut(bytes, true);
  }

  received(bytes: Uint8Array, inPieces: boolean): number {
    return this.#fromServer.cut(bytes, inPieces);
  }

  lastWords(): Uint8Array | null {
    if (this.#hasEnded || !this.#fromServer.isBetween) return null;
    return this.#encode(this.#outcome());
  }

  #outcome(): DatabaseError {
    if (this.#status === 0) return noPrimary();
    if (this.#owed > 0 || this.#isUnsynced) return outcomeUnknown("primary_lost");
    return this.#status === STATUS.idle ? connectionEnded("primary_lost") : transactionLost("primary_lost");
  }

  #sent(type: number): void {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      return;
    }
    switch (type) {
      case FRONTEND.query:
      case FRONTEND.functionCall:
      case FRONTEND.sync:
        this.#owed++;
        this.#isUnsynced = false;
        if (type !== FRONTEND.sync) this.#isQuery = true;
        return;
      case FRONTEND.copyDone:
      case FRONTEND.copyFail:
        // Each Sync that came before it was part of the COPY, and is not answered for.
        this.#owed = this.#isQuery ? 1 : 0;
        this.#isUnsynced = !this.#isQuery;
        return;
      case FRONTEND.terminate:
        this.#hasEnded = true;
        return;
      case FRONTEND.copyData:
      case FRONTEND.password:
        return;
      default:
        this.#isUnsynced = true;
        if (type === FRONTEND.execute) this.#isQuery = false;
    }
  }

  #answered(bytes: Uint8Array, at: number): void {
    if (bytes[at] === BACKEND.readyForQuery) {
      this.#owed = Math.max(0, this.#owed - 1);
      this.#status = bytes[at + HEAD_BYTES] ?? 0;
    } else if (bytes[at] === BACKEND.errorResponse) {
      this.#hasEnded ||= FATAL.every((byte, index) => bytes[at + HEAD_BYTES + index] === byte);
    }
  }
}

function typedLength(bytes: Uint8Array, at: number): number | null {
  const length = bytes.length < at + HEAD_BYTES ? null : untypedLength(bytes, at + 1);
  return length === null ? null : length + 1;
}

/** Nothing that is shorter than its own length is a message: the primary will say so. */
function untypedLength(bytes: Uint8Array, at: number): number | null {
  if (bytes.length < at + LENGTH_BYTES) return null;
  const high = ((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)) * 256;
  return Math.max(LENGTH_BYTES, (high + (bytes[at + 2] ?? 0)) * 256 + (bytes[at + 3] ?? 0));
}
