/** Tests of messages as lines: what is no message, what is too long, who asks too much. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import * as sdk from "./sdk.ts";
import { LineTransport } from "./line_transport.ts";

interface Answer {
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: unknown;
}

/** A connection that answers every `ping` unless told not to, and what went over it. */
async function conversation(
  chunks: readonly string[],
  options: {
    /** "late": only when the input has ended. */
    readonly answers?: boolean | "late";
    readonly maximumBytes?: number;
    readonly maximumInFlight?: number;
  } = {},
) {
  const { answers = true, maximumBytes = 1_000, maximumInFlight = 4 } = options;
  const written: Uint8Array[] = [];
  const messages: JSONRPCMessage[] = [];
  const inputEnded = Promise.withResolvers<void>();
  const input = (function* () {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk);
    setTimeout(inputEnded.resolve);
  })();
  const transport = new LineTransport(sdk, {
    input: ReadableStream.from(input),
    write: (bytes) => {
      written.push(bytes);
      return Promise.resolve();
    },
    // Long enough for what is late.
    farewell: () => answers === "late" ? new Promise(() => {}) : Promise.resolve(),
  }, { maximumBytes, maximumInFlight });
  transport.onmessage = async (message) => {
    messages.push(message);
    if (answers === "late") await inputEnded.promise;
    if (answers !== false && "id" in message && "method" in message && message.id !== undefined) {
      transport.send({ jsonrpc: "2.0", id: message.id, result: {} }).catch(() => {});
    }
  };
  await transport.start();
  await transport.ended;
  const lines = (await new Blob(written.map((bytes) => bytes.slice())).text()).split("\n").filter((line) =>
    line !== ""
  );
  return { messages, answers: lines.map((line): Answer => JSON.parse(line)) };
}

function ping(id: number | string): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;
}

Deno.test("LineTransport takes messages however their bytes are cut, the last one also without an end", async () => {
  const text = `${ping(1)}\r\n   \n${ping("zwölf")}${ping(3).trimEnd()}`;
  const expected = [1, "zwölf", 3];
  deepStrictEqual((await conversation([text])).answers.map(({ id }) => id), expected);
  // Cut between characters here; ReadableStream.from gives each piece as a chunk of its own.
  deepStrictEqual((await conversation([...text])).answers.map(({ id }) => id), expected);
});

Deno.test("LineTransport answers what was asked before the input ended", async () => {
  const { answers } = await conversation([ping(1), ping(2)], { answers: "late" });
  deepStrictEqual(answers.map(({ id }) => id), [1, 2]);
});

Deno.test("LineTransport answers what is no message with an error, and goes on", async () => {
  const lines = [
    "{",
    "[]",
    "1",
    '"text"',
    "null",
    "{}",
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    "\u0000",
  ];
  const { answers } = await conversation([...lines.map((line) => `${line}\n`), ping(9)]);
  strictEqual(answers.length, lines.length + 1);
  for (const [index, { id, error }] of answers.slice(0, -1).entries()) {
    strictEqual(id, null, String(lines[index]));
    ok(error?.code === -32_700 || error?.code === -32_600, String(lines[index]));
    match(error.message, /^Cannot /);
  }
  strictEqual(answers.at(-1)?.id, 9);
});

Deno.test("LineTransport drops a line that is too long, holding no more than the limit, and goes on", async () => {
  const long = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"${"x".repeat(5_000)}"}}\n`;
  const { answers, messages } = await conversation([...(long + ping(2)).match(/.{1,700}\n?/gs) ?? []]);
  deepStrictEqual(answers.map(({ id, error }) => [id, error?.code]), [[null, -32_600], [2, undefined]]);
  strictEqual(messages.length, 1);
  const { answers: unended } = await conversation([long.trimEnd()]);
  deepStrictEqual(unended.map(({ id, error }) => [id, error?.code]), [[null, -32_600]]);
});

Deno.test("LineTransport holds nothing of a line that never ends", async () => {
  const mebibyte = 1024 * 1024;
  const before = Deno.memoryUsage().external;
  let highest = 0;
  const endless = async function* () {
    for (let count = 0; count < 600; count++) {
      highest = Math.max(highest, Deno.memoryUsage().external - before);
      yield new Uint8Array(mebibyte).fill(0x20);
    }
  };
  const transport = new LineTransport(sdk, {
    input: ReadableStream.from(endless()),
    write: () => Promise.resolve(),
    farewell: () => Promise.resolve(),
  });
  await transport.start();
  await transport.ended;
  ok(highest < 300 * mebibyte, `${Math.round(highest / mebibyte)} MiB were held`);
});

Deno.test("LineTransport refuses requests beyond those that may wait, and still takes cancellations", async () => {
  const cancel = `${
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
  }\n`;
  const { answers, messages } = await conversation(
    [ping(1), ping(2), ping(3), ping(4), ping(5), cancel, ping(6), ping(6)],
    { answers: false },
  );
  deepStrictEqual(answers.map(({ id, error }) => [id, error?.code]), [[5, -32_000], [6, -32_000]]);
  // 1 to 4, the cancellation, and 6 in the place of 1.
  strictEqual(messages.length, 6);
});

Deno.test("LineTransport refuses an id that is in use", async () => {
  const { answers } = await conversation([ping(1), ping(1)], { answers: false });
  deepStrictEqual(answers.map(({ id, error }) => [id, error?.code]), [[1, -32_600]]);
});

Deno.test("LineTransport closes when nobody can be written to any more", async () => {
  const transport = new LineTransport(sdk, {
    input: ReadableStream.from([new TextEncoder().encode("{\n")]),
    write: () => Promise.reject(new Error("broken pipe")),
    farewell: () => Promise.resolve(),
  });
  const errors: Error[] = [];
  transport.onerror = (error) => errors.push(error);
  await transport.start();
  await transport.ended;
  strictEqual(errors[0]?.message, "broken pipe");
});
