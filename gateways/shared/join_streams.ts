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

/** What is known of what both say to each other; each gateway knows its own. */
export interface Conversation {
  /** How many of these bytes of the client's go on now; the others come again, with more behind them. */
  sent(bytes: Uint8Array): number;
  /** The same of the server's; `inPieces`: there is no room to wait for the end of the message. */
  received(bytes: Uint8Array, inPieces: boolean): number;
  /** What the client is to be sent when the server ends now; null: nothing, or the server has sent that itself. */
  lastWords(): Uint8Array | null;
}

/** What goes before the streams. */
export interface JoinOptions {
  /** What was read of the client before. */
  readonly first: Uint8Array;
  readonly conversation: Conversation;
}

/** One of which nothing is known but whether the server has said anything; `refusal`: what is sent if not. */
export function plainConversation(refusal: Uint8Array | null): Conversation {
  let isAnswered = false;
  return {
    sent: (bytes) => bytes.length,
    received: (bytes) => {
      isAnswered = true;
      return bytes.length;
    },
    lastWords: () => isAnswered ? null : refusal,
  };
}

/** Joins a client and the server that it is relayed to; both are closed in the end. Never rejects. */
export async function joinStreams(
  client: ByteStream,
  server: ByteStream,
  { first, conversation }: JoinOptions,
): Promise<void> {
  const there = passOn(client, server, { first, conversation }).then(() => server.closeWrite()).catch(() =>
    close(server)
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await passBack(server, client, conversation);
    const lastWords = conversation.lastWords();
    if (lastWords !== null) await writeAll(client, lastWords);
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

async function passOn(
  client: ByteStream,
  server: ByteStream,
  { first, conversation }: JoinOptions,
): Promise<void> {
  const buffer = new Uint8Array(Math.max(BUFFER_BYTES, 2 * first.length));
  buffer.set(first);
  for (let held = 0, count: number | null = first.length;;) {
    const end: number = held + count;
    const passed = conversation.sent(buffer.subarray(0, end));
    await writeAll(server, buffer.subarray(0, passed));
    buffer.copyWithin(0, passed, end);
    held = end - passed;
    count = await client.read(buffer.subarray(held));
    if (count !== null) continue;
    // The server says what is wrong with half of a message.
    await writeAll(server, buffer.subarray(0, held));
    return;
  }
}

async function passBack(server: ByteStream, client: ByteStream, conversation: Conversation): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (let held = 0;;) {
    // A connection that breaks ends as well.
    const count = await server.read(buffer.subarray(held)).catch(() => null);
    if (count === null) return;
    const end = held + count;
    const passed = conversation.received(buffer.subarray(0, end), end === buffer.length);
    await writeAll(client, buffer.subarray(0, passed));
    buffer.copyWithin(0, passed, end);
    held = end - passed;
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
