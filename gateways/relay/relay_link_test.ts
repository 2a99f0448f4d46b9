/** Streams on a link between two members: ends, windows, and what the other end may not do. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { until } from "../../tests/support/until.ts";
import { memberConnection } from "../binary/member_network.ts";
import type { ByteStream } from "../shared/byte_stream.ts";
import { writeAll } from "../shared/join_streams.ts";
import { encodeRelayedStream } from "../shared/relay_hello.ts";
import type { RelayedStream } from "../shared/relay_port.ts";
import { RelayLink } from "./relay_link.ts";
import { WINDOW_BYTES } from "./relay_stream.ts";

const CLIENT: RelayedStream = { protocol: "pg", encryption: null, endPoint: null };
const NOTHING = new Uint8Array(0);

interface Ends {
  readonly near: RelayLink;
  readonly far: RelayLink;
  /** The socket of the end that opens streams. */
  readonly socket: Socket;
  /** What the far end was asked to take, in order. */
  readonly taken: ByteStream[];
  readonly violations: string[];
  readonly ended: string[];
}

async function withLink(
  work: (ends: Ends) => Promise<void>,
  { takes = true }: { readonly takes?: boolean } = {},
): Promise<void> {
  const server = createServer({ noDelay: true, allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  ok(address !== null && typeof address === "object");
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const socket = connect({ host: "127.0.0.1", port: address.port, noDelay: true });
  const other = await accepted;
  const taken: ByteStream[] = [], violations: string[] = [], ended: string[] = [];
  const owner = {
    endOfTurn: () => new Promise<void>((resolve) => setTimeout(resolve, 0)),
    gatewayOf: () => takes ? (connection: ByteStream) => void taken.push(connection) : null,
    onViolation: (why: string) => void violations.push(why),
  };
  const [near, far] = [socket, other].map((each) =>
    new RelayLink(memberConnection(each, null), NOTHING, owner)
  );
  ok(near !== undefined && far !== undefined);
  for (const link of [near, far]) void link.run().then(() => ended.push("a link"));
  try {
    await work({ near, far, socket, taken, violations, ended });
  } finally {
    near.close();
    await until(() => ended.length === 2, "both ends of the link to end");
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

async function open(link: RelayLink): Promise<ByteStream> {
  const { stream, isTaken } = link.open(CLIENT);
  strictEqual(await isTaken, true);
  return stream;
}

async function readAll(stream: ByteStream, bytes: number, bufferBytes = 1000): Promise<Uint8Array> {
  const whole = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) {
    const count = await stream.read(whole.subarray(at, Math.min(at + bufferBytes, bytes)));
    ok(count !== null && count > 0, `${at} of ${bytes} bytes`);
    at += count;
  }
  return whole;
}

function pattern(bytes: number, seed: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + seed * 17 + (at >>> 8)) & 255);
}

Deno.test("RelayLink carries many streams both ways, each with its own bytes and its own ends", async () => {
  await withLink(async ({ near, far, taken }) => {
    const sizes = [0, 1, 999, 1000, 1001, WINDOW_BYTES - 1, WINDOW_BYTES, WINDOW_BYTES + 1, 500_000];
    const streams = await Promise.all(sizes.map(() => open(near)));
    strictEqual(taken.length, sizes.length);
    await Promise.all(streams.flatMap((stream, index) => {
      const there = taken[index];
      ok(there !== undefined);
      const size = sizes[index] ?? 0;
      const [question, answer] = [pattern(size, index), pattern(size, index + 100)];
      return [
        writeAll(stream, question).then(() => stream.closeWrite()),
        (async () => {
          deepStrictEqual(await readAll(there, size), question);
          strictEqual(await there.read(new Uint8Array(9)), null);
          // The other direction goes on after the end of the first.
          await writeAll(there, answer);
          await there.closeWrite();
          there.close();
        })(),
        (async () => {
          deepStrictEqual(await readAll(stream, size, 70_000), answer);
          strictEqual(await stream.read(new Uint8Array(9)), null);
          stream.close();
        })(),
      ];
    }));
    await until(() => near.streams === 0 && far.streams === 0, "the end of all streams");
  });
});

Deno.test("RelayLink: a stream that nobody reads is not written to beyond its window, and holds up no other", async () => {
  await withLink(async ({ near, taken }) => {
    const stuck = await open(near), quick = await open(near);
    const [stuckThere, quickThere] = taken;
    ok(stuckThere !== undefined && quickThere !== undefined);
    strictEqual(await stuck.write(pattern(WINDOW_BYTES * 3, 1)), WINDOW_BYTES);
    let isWritten = false;
    const more = stuck.write(pattern(10, 2)).then((count) => {
      isWritten = true;
      return count;
    });
    for (let round = 0; round < 50; round++) {
      await writeAll(quick, pattern(10_000, round));
      deepStrictEqual(await readAll(quickThere, 10_000), pattern(10_000, round));
    }
    strictEqual(isWritten, false);
    deepStrictEqual(
      await readAll(stuckThere, WINDOW_BYTES),
      pattern(WINDOW_BYTES * 3, 1).slice(0, WINDOW_BYTES),
    );
    strictEqual(await more, 10);
    deepStrictEqual(await readAll(stuckThere, 10), pattern(10, 2));
  });
});

Deno.test("RelayLink: a side that closes a stream ends the other's reading, and its writing fails", async () => {
  await withLink(async ({ near, far, taken }) => {
    const stream = await open(near);
    const [there] = taken;
    ok(there !== undefined);
    await writeAll(stream, pattern(WINDOW_BYTES, 1));
    const waiting = stream.write(new Uint8Array(1));
    there.close();
    await rejects(waiting, Deno.errors.BrokenPipe);
    await rejects(stream.read(new Uint8Array(1)), Deno.errors.BrokenPipe);
    await rejects(stream.write(new Uint8Array(1)), Deno.errors.BrokenPipe);
    // What was sent before it is still read; a close without an end is no end.
    const second = await open(near);
    const secondThere = taken[1];
    ok(secondThere !== undefined);
    await writeAll(second, pattern(100, 2));
    second.close();
    deepStrictEqual(await readAll(secondThere, 100), pattern(100, 2));
    await rejects(secondThere.read(new Uint8Array(1)), Deno.errors.BrokenPipe);
    const third = await open(near);
    await third.closeWrite();
    third.close();
    strictEqual(await taken[2]?.read(new Uint8Array(1)), null);
    taken[2]?.close();
    await until(() => near.streams === 0 && far.streams === 0, "the end of all streams");
  });
});

Deno.test("RelayLink: what no gateway takes is refused, and a link that is lost resets its streams", async () => {
  await withLink(async ({ near }) => {
    strictEqual(await near.open(CLIENT).isTaken, false);
    strictEqual(near.streams, 0);
  }, { takes: false });
  await withLink(async ({ near, far, taken, violations }) => {
    const stream = await open(near);
    const reading = stream.read(new Uint8Array(1));
    const [there] = taken;
    ok(there !== undefined);
    const readingThere = there.read(new Uint8Array(1));
    far.close();
    await rejects(readingThere, Deno.errors.ConnectionReset);
    await rejects(reading, Deno.errors.ConnectionReset);
    await rejects(stream.write(new Uint8Array(1)), Deno.errors.ConnectionReset);
    strictEqual(await near.open(CLIENT).isTaken, false);
    deepStrictEqual(violations, []);
  });
});

Deno.test("RelayLink.leave() lets the streams that are open go on, and ends with the last", async () => {
  await withLink(async ({ near, taken, ended }) => {
    const stream = await open(near);
    near.leave();
    await writeAll(stream, pattern(10, 1));
    const [there] = taken;
    ok(there !== undefined);
    deepStrictEqual(await readAll(there, 10), pattern(10, 1));
    deepStrictEqual(ended, []);
    stream.close();
    await until(() => ended.length === 2, "the end of the link");
  });
});

Deno.test("RelayLink ends when the other side does not keep to the protocol", async () => {
  const frame = (stream: number, kind: number, body: Uint8Array = NOTHING): Uint8Array => {
    const bytes = new Uint8Array(9 + body.length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 5 + body.length, true);
    view.setUint32(4, stream, true);
    bytes[8] = kind;
    bytes.set(body, 9);
    return bytes;
  };
  const opening = encodeRelayedStream(CLIENT);
  const cases: readonly (readonly [RegExp, readonly Uint8Array[]])[] = [
    [/a frame of 4 bytes/, [Uint8Array.of(4, 0, 0, 0, 1, 0, 0, 0, 3)]],
    [/a frame of 4294967295 bytes/, [new Uint8Array(9).fill(255)]],
    [/a frame of kind 9/, [frame(1, 1, opening), frame(1, 9)]],
    [/stream 1 after 1/, [frame(1, 1, opening), frame(1, 1, opening)]],
    [/stream 2 after 3/, [frame(3, 1, opening), frame(2, 1, opening)]],
    [/its protocol is unknown/, [frame(1, 1, Uint8Array.of(9, 0, 0, 0, 0, 0))]],
    [/bytes wanted/, [frame(1, 1, opening), frame(1, 5, Uint8Array.of(1, 2))]],
    [/more bytes than were allowed/, [
      frame(1, 1, opening),
      frame(1, 3, pattern(WINDOW_BYTES, 1)),
      frame(1, 3, pattern(1, 1)),
    ]],
  ];
  for (const [expected, frames] of cases) {
    await withLink(async ({ socket, violations, ended }) => {
      // Byte by byte where that is quick, for frames may come in any pieces.
      for (const bytes of frames) {
        if (bytes.length > 100) socket.write(bytes);
        else for (const byte of bytes) socket.write(Uint8Array.of(byte));
      }
      await until(() => ended.length === 2, `the end of the link: ${expected}`);
      strictEqual(violations.length, 1, String(expected));
      ok(expected.test(violations[0] ?? ""), `${violations[0]} is not ${expected}`);
    });
  }
  // What comes for a stream that is closed was on its way.
  await withLink(async ({ socket, near, violations, taken }) => {
    for (const kind of [2, 3, 4, 5, 6]) socket.write(frame(7, kind));
    await (await open(near)).closeWrite();
    strictEqual(taken.length, 1);
    deepStrictEqual(violations, []);
  });
});

Deno.test("RelayLink: a write that is under way when the link breaks ends, and so does the one behind it", async () => {
  let writes = 0;
  const connection = {
    remote: { hostname: "", port: 0 },
    read: () => new Promise<null>(() => {}),
    // The first one opens the stream.
    write: () => writes++ === 0 ? Promise.resolve() : Promise.reject(new Error("reset")),
    close: () => {},
  };
  const owner = { endOfTurn: () => Promise.resolve(), gatewayOf: () => null, onViolation: () => {} };
  const link = new RelayLink(connection, NOTHING, owner);
  const { stream, isTaken } = link.open(CLIENT);
  await new Promise((resolve) => setTimeout(resolve));
  await Promise.allSettled([stream.write(new Uint8Array(1)), stream.write(new Uint8Array(1))]);
  strictEqual(await isTaken, false);
  await rejects(stream.write(new Uint8Array(1)));
});
