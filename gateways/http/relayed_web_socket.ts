/**
 * What a member knows of a WebSocket that it passes on to the primary: where frames end (RFC 6455, 5.2), so that it can
 * close it with a reason when the primary is lost.
 */
import { encodeUtf8 } from "../../engine/base/bytes.ts";
import { outcomeUnknown } from "../../engine/session/interruption.ts";
import type { Conversation } from "../shared/join_streams.ts";
import { MessageCutter } from "../shared/message_cutter.ts";

/** Service restart: connect again. */
const CLOSE_CODE = 1012;
const CLOSE_FRAME = 0x88;
const UPGRADED = encodeUtf8("HTTP/1.1 101 ");
const HEAD_END = encodeUtf8("\r\n\r\n");

/** See the head of the file. */
export class RelayedWebSocket implements Conversation {
  readonly #refusal: Uint8Array;
  readonly #frames: MessageCutter;
  #state: "asked" | "open" | "ended" = "asked";

  /** `refusal`: what the client is sent when the primary does not answer. */
  constructor(refusal: Uint8Array) {
    this.#refusal = refusal;
    this.#frames = new MessageCutter({
      lengthOf: frameLength,
      onMessage: (bytes, at) => {
        if (bytes[at] === CLOSE_FRAME) this.#state = "ended";
      },
    });
  }

  sent(bytes: Uint8Array): number {
    return bytes.length;
  }

  received(bytes: Uint8Array, inPieces: boolean): number {
    if (this.#state !== "asked") return this.#frames.cut(bytes, inPieces);
    const end = headEnd(bytes);
    if (end === null && !inPieces) return 0;
    const isOpen = end !== null && UPGRADED.every((byte, at) => bytes[at] === byte);
    this.#state = isOpen ? "open" : "ended";
    return isOpen ? end + this.#frames.cut(bytes.subarray(end), inPieces) : bytes.length;
  }

  lastWords(): Uint8Array | null {
    if (this.#state === "asked") return this.#refusal;
    if (this.#state === "ended" || !this.#frames.isBetween) return null;
    const { code, message } = outcomeUnknown("primary_lost");
    const reason = encodeUtf8(`${code}: ${message}`);
    return new Uint8Array([CLOSE_FRAME, reason.length + 2, CLOSE_CODE >> 8, CLOSE_CODE & 255, ...reason]);
  }
}

/** The bytes of the head of the answer; null: it has not ended yet. */
function headEnd(bytes: Uint8Array): number | null {
  for (let at = 0; at + HEAD_END.length <= bytes.length; at++) {
    if (HEAD_END.every((byte, index) => bytes[at + index] === byte)) return at + HEAD_END.length;
  }
  return null;
}

/** A server's frames are not masked. */
function frameLength(bytes: Uint8Array, at: number): number | null {
  const short = bytes[at + 1];
  if (short === undefined) return null;
  const extended = (short & 127) === 127 ? 8 : (short & 127) === 126 ? 2 : 0;
  if (bytes.length < at + 2 + extended) return null;
  let length = extended === 0 ? short & 127 : 0;
  for (let index = 0; index < extended; index++) length = length * 256 + (bytes[at + 2 + index] ?? 0);
  return 2 + extended + length;
}
