/**
 * Makes a paused TLS socket stop reading. The handle below a `TLSSocket` stops handing out what it decrypts, but the
 * connection below that reads on and keeps everything in memory (seen in Deno 2.9.6), and the end of a stream that was
 * paused may never be reported: a client that sends without pause would take all memory.
 */
import type { TLSSocket } from "node:tls";
import { assert } from "../../engine/base/assert.ts";

/** Lets the connection below a TLS socket stop and start with it. */
export function stopConnectionWith(socket: TLSSocket): void {
  const handle = objectOf(Reflect.get(socket, "_handle"));
  const connection = objectOf(handle === null ? null : Reflect.get(handle, "_parent"));
  // The socket has been destroyed meanwhile.
  if (handle === null) return;
  assert(connection !== null, "a TLS socket has a connection below it");
  const prototype: object = Object.getPrototypeOf(handle);
  const both = (method: "readStart" | "readStop"): PropertyDescriptor => ({
    value: () => {
      call(connection, method);
      return Reflect.apply(Reflect.get(prototype, method), handle, []);
    },
    // Without it, nobody could shadow it.
    writable: true,
  });
  // Between the handle and its class, so that whoever shadows a method on the handle finds this one again.
  Object.setPrototypeOf(
    handle,
    Object.create(prototype, { readStart: both("readStart"), readStop: both("readStop") }),
  );
}

/**
 * Has writes of nothing end, which never do in Deno 2.9.6: `node:http` makes one behind a request with a body, and all
 * that is written later waits for it.
 */
export function endEmptyWrites(socket: TLSSocket): void {
  const write: unknown = Reflect.get(socket, "_write");
  assert(typeof write === "function", "a socket can be written to");
  Reflect.set(socket, "_write", (chunk: Uint8Array | string, encoding: string, done: () => void): void => {
    if (chunk.length === 0) queueMicrotask(done);
    else Reflect.apply(write, socket, [chunk, encoding, done]);
  });
}

function call(target: object, method: string): void {
  const found: unknown = Reflect.get(target, method);
  assert(typeof found === "function", "a connection can be stopped");
  Reflect.apply(found, target, []);
}

function objectOf(value: unknown): object | null {
  return typeof value === "object" ? value : null;
}
