/**
 * The end of a connection after its last message: the server has closed its direction and reads what the client
 * still sends, without looking at it. Closing at once would make the system answer that data with a reset, which
 * takes the last words away from a client that has not read them yet.
 *
 * The wait ends with the client's own end, when it has said nothing for a while, or when it has had its share of time
 * or bytes.
 */
import type { Duplex } from "node:stream";
import { GATEWAY_LIMITS } from "./limits.ts";

/** Limits of a farewell. */
export interface FarewellLimits {
  /** Without a byte from the client. */
  readonly silenceMilliseconds: number;
  /** With whatever it sends. */
  readonly totalMilliseconds: number;
  /** What it may go on to send. */
  readonly bytes: number;
}

/** Waits for the client to close; to be called once, after `end`. */
export function sayFarewell(socket: Duplex, limits: FarewellLimits = GATEWAY_LIMITS.farewell): void {
  if (socket.destroyed) return;
  let bytes = 0;
  const destroy = (): void => {
    socket.destroy();
  };
  const total = setTimeout(destroy, limits.totalMilliseconds);
  let silence = setTimeout(destroy, limits.silenceMilliseconds);
  socket.on("data", (data: Uint8Array) => {
    bytes += data.length;
    clearTimeout(silence);
    if (bytes > limits.bytes) destroy();
    else if (!socket.destroyed) silence = setTimeout(destroy, limits.silenceMilliseconds);
  });
  socket.once("close", () => {
    clearTimeout(total);
    clearTimeout(silence);
  });
  socket.resume();
}
