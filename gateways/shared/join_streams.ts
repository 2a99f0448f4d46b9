/**
 * Passes bytes between two streams, both ways, until both have ended: how a backup relays a client to the primary.
 *
 * A direction that ends is closed at the other side, and the other direction goes on. At most 64 KiB of a direction
 * are read and not written yet: who does not read is not read from.
 */
import type { ByteStream } from "./byte_stream.ts";

const BUFFER_BYTES = 64 * 1024;
/** How long a client may take to close its direction after the server has closed its own. */
const LINGER_MILLISECONDS = 2_000;

/** What goes before the streams. */
export interface JoinOptions {
  /** What was read of the client before. */
  readonly first: Uint8Array;
  /** What the client is sent when the server ends without a byte. */
  readonly refusal: Uint8Array | null;
}

/** Joins a client and the server that it is relayed to; both are closed in the end. Never rejects. */
export async function joinStreams(
  client: ByteStream,
  server: ByteStream,
  { first, refusal }: JoinOptions,
): Promise<void> {
  const there = passOn(client, server, first).then(() => server.closeWrite()).catch(() => close(server));
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const count = await passBack(server, client);
    if (count === 0 && refusal !== null) await writeAll(client, refusal);
    await client.closeWrite();
    const linger = new Promise<void>((resolve) => timer = setTimeout(resolve, LINGER_MILLISECONDS));
    await Promise.race([there, linger]);
  } catch {
    // The client is gone, and the server learns it by the end of its stream.
  } finally {
    clearTimeout(timer);
    close(client);
    close(server);
    await there;
  }
}

async function passOn(client: ByteStream, server: ByteStream, first: Uint8Array): Promise<void> {
  await writeAll(server, first);
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (;;) {
    const count = await client.read(buffer);
    if (count === null) return;
    await writeAll(server, buffer.subarray(0, count));
  }
}

/** Answers how many bytes the server had. */
async function passBack(server: ByteStream, client: ByteStream): Promise<number> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (let total = 0;;) {
    // A connection that breaks ends as well.
    const count = await server.read(buffer).catch(() => null);
    if (count === null) return total;
    total += count;
    await writeAll(client, buffer.subarray(0, count));
  }
}

/** Writes all of the bytes. */
export async function writeAll(stream: ByteStream, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await stream.write(bytes.subarray(at));
}

function close(stream: ByteStream): void {
  try {
    stream.close();
  } catch {
    // It is closed already, with its connection.
  }
}
