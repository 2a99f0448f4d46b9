// Messages as bytes, and back.
import { deepStrictEqual, ok, throws } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { FRAME_BYTES, MessageDecoder, MessageEncoder } from "./message_codec.ts";

/** Both ends of a way. */
function ends(): (message: unknown) => unknown {
  const encoder = new MessageEncoder(), decoder = new MessageDecoder();
  return (message) => decoder.decode(encoder.encode(message).slice(FRAME_BYTES));
}

const EDGES: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  127,
  128,
  2 ** 31,
  -(2 ** 31),
  2 ** 52,
  -(2 ** 52),
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53,
  1e300,
  5e-324,
  0.1,
  NaN,
  Infinity,
  -Infinity,
  0n,
  -1n,
  7n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  10n ** 60n,
  "",
  "a",
  "ünï\u0000🦊",
  "x".repeat(47),
  "ü".repeat(48),
  "x".repeat(100_000),
  [],
  [[], [null, [undefined]]],
  {},
  { a: {} },
  { a: 1, b: { a: 2 } },
  JSON.parse('{"__proto__": 1, "constructor": 2}'),
  // Texts of which few differ, one too many, and something among them that is none.
  Array.from({ length: 1024 }, (_, index) => `t${index % 256}`),
  Array.from({ length: 1028 }, (_, index) => `t${index % 257}`),
  Array.from({ length: 64 }, (_, index) => index % 16 === 0 ? "" : "ü"),
  Array.from({ length: 63 }, () => "t"),
  Array.from({ length: 100 }, (_, index) => index === 99 ? null : "t"),
  new Map<unknown, unknown>([[1, 2n], ["k", new Map()]]),
  new Uint8Array(0),
  new Uint8Array([0, 255]),
  new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
  new Float64Array([NaN, -0, 1e308]),
  new Uint32Array([0, 2 ** 32 - 1]).subarray(1),
  new Int32Array([-1]),
  new Uint16Array([65535]),
  new Float32Array([0.5]),
];

Deno.test("MessageDecoder.decode() gives what was encoded, for the edges of every kind of value", () => {
  const send = ends();
  for (const each of EDGES) deepStrictEqual(send(each), each);
  deepStrictEqual(send(EDGES), EDGES);
  ok(Object.is(send(-0), -0));
});

Deno.test("MessageDecoder.decode() answers arrays of its own", () => {
  const encoder = new MessageEncoder(), decoder = new MessageDecoder();
  const bytes = encoder.encode([new Uint8Array([1, 2, 3]), "text"]).slice(FRAME_BYTES);
  const [own] = decoder.decode(bytes) as [Uint8Array];
  bytes.fill(9);
  deepStrictEqual(own, new Uint8Array([1, 2, 3]));
});

Deno.test("messages of random forms arrive as they were, also when more forms come than are remembered", () => {
  const random = new SeededRandom(7);
  const value = (depth: number): unknown => {
    const choice = random.below(depth > 3 ? 3 : 6);
    if (choice < 3) return EDGES[random.below(34)];
    const count = random.below(5);
    if (choice === 3) return Array.from({ length: count }, () => value(depth + 1));
    if (choice === 4) return new Map(Array.from({ length: count }, (_, index) => [index, value(depth + 1)]));
    return Object.fromEntries(
      Array.from({ length: count }, () => [`name${random.below(40)}`, value(depth + 1)]),
    );
  };
  const send = ends();
  for (let round = 0; round < 3_000; round++) {
    const message = value(0);
    deepStrictEqual(send(message), message);
  }
});

Deno.test("MessageEncoder.encode() sends the names of an object's fields once", () => {
  const encoder = new MessageEncoder();
  const first = encoder.encode({ timestamp: 1, effects: null }).length;
  ok(encoder.encode({ timestamp: 2, effects: null }).length < first - 10);
});

Deno.test("MessageEncoder.encode() refuses what does not travel", () => {
  const encoder = new MessageEncoder();
  throws(() => encoder.encode({ run: () => {} }), TypeError);
  throws(() => encoder.encode(Symbol("s")), TypeError);
  throws(() => encoder.encode(new DataView(new ArrayBuffer(1))), TypeError);
});
