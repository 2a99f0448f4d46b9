/**
 * Every message comes back from its bytes as it was; damaged bytes are refused with 08P01, or 22021 in a text, and
 * nothing else.
 */
import { deepStrictEqual as equal, ok, throws } from "node:assert/strict";
import { ByteReader, ByteWriter } from "../../../engine/base/bytes.ts";
import { DatabaseError } from "../../../engine/base/errors.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import type { Continuation, Operation, Parameter, Reply, Request } from "./operation.ts";
import { decodeRequest, encodeRequest } from "./operation_codec.ts";
import { parameterOf } from "./parameter_binding.ts";
import { decodeReply, writeReply } from "./reply_codec.ts";
import { readType, writeType } from "./type_codec.ts";

const table = { schema: "s", name: "Ünïcode" };
const values: Parameter[] = [
  { form: "untyped", value: null },
  { form: "untyped", value: -1.5 },
  { form: "untyped", value: 1n << 70n },
  { form: "structured", json: '{"a":[1]}' },
  { form: "typed", type: { kind: "numeric", precision: 10, scale: 2 }, value: 1250 },
  { form: "typed", type: { kind: "bytea" }, value: new Uint8Array([0, 255]) },
];
const columns = values.map((_, index) => `c${index}`);

const OPERATIONS: (Operation | Continuation)[] = [
  { kind: "sql", text: "SELECT 1", parameters: null },
  { kind: "sql", text: "", parameters: values },
  { kind: "create", table, id: null, columns, values },
  { kind: "create", table: { schema: null, name: "t" }, id: (1n << 63n) - 1n, columns: [], values: [] },
  { kind: "update", table, id: 0, columns, values },
  { kind: "delete", table, id: 7 },
  {
    kind: "txn",
    operations: [{ kind: "delete", table, id: 7 }, { kind: "create", table, id: 1, columns, values }],
  },
  { kind: "get", table, columns: ["a"], id: 3 },
  { kind: "find", table, columns: [], keys: ["a"], values: values.slice(0, 1) },
  {
    kind: "find_range",
    table,
    columns: [],
    key: "a",
    low: { inclusive: true, value: { form: "untyped", value: 1 } },
    high: { inclusive: false, value: { form: "untyped", value: "x" } },
    limit: 10,
  },
  { kind: "find_range", table, columns: [], key: "a", low: null, high: null, limit: 0 },
  { kind: "scan", table, columns: [], after: 5, limit: 100 },
  {
    kind: "select",
    table,
    columns: ["a", "b"],
    conditions: [{ column: "a", operator: "between", values: values.slice(1, 3) }, {
      column: "b",
      operator: "is null",
      values: [],
    }],
    order: [{ column: "a", descending: true }, { column: "b", descending: false }],
    limit: 1,
    offset: 2,
  },
  {
    kind: "aggregate",
    table,
    aggregates: [{ function: "count", column: null }, { function: "avg", column: "a" }],
    groupBy: ["b"],
    conditions: [],
  },
  { kind: "describe", table },
  { kind: "list_tables" },
  { kind: "ddl", text: "CREATE TABLE t ()" },
  { kind: "stats" },
  { kind: "snapshot", directory: "/x" },
  { kind: "copy_data", bytes: new Uint8Array([1, 2, 3]) },
  { kind: "copy_done" },
  { kind: "copy_fail", message: "no" },
  { kind: "cancel" },
  { kind: "ping" },
];

const REQUESTS: Request[] = OPERATIONS.map((operation, index) => ({
  number: index === 0 ? (1n << 64n) - 1n : BigInt(index),
  client: index % 2 === 0 ? null : { clientId: "00112233445566778899aabbccddeeff", sequence: 1n << 63n },
  ...(index % 3 === 0 ? {} : { minOp: 2 ** (index % 50) }),
  operation,
}));

const REPLIES: Reply[] = [
  {
    kind: "columns",
    number: 1n,
    columns: [{ name: "a", type: { kind: "i32" } }, { name: "", type: { kind: "text" } }],
  },
  { kind: "rows", number: 1n, rows: [[1, "x"], [null, new Uint8Array([1])]] },
  {
    kind: "outcome",
    number: 1n,
    outcome: {
      kind: "affected",
      tag: "INSERT 0 1",
      rowCount: 1,
      insertedId: (1n << 63n) - 1n,
      notices: [{ severity: "NOTICE", code: "42P07", message: "m", detail: "d", hint: "h" }, {
        severity: "WARNING",
        code: "01000",
        message: "w",
      }],
    },
  },
  { kind: "end", number: 1n, status: "block", op: 2 ** 40 },
  {
    kind: "error",
    number: 1n,
    status: "failed",
    failure: {
      code: "23505",
      message: "m",
      detail: "d",
      hint: "h",
      position: 3,
      where: "w",
      schema: "s",
      table: "t",
      column: "c",
      dataType: "int4",
      constraint: "k",
    },
  },
  { kind: "copy_in", number: 1n, binary: false, columnCount: 3 },
  { kind: "copy_out", number: 1n, binary: true, columnCount: 1 },
  { kind: "copy_data", number: 1n, bytes: new Uint8Array([9]) },
  { kind: "setting", number: 0n, name: "TimeZone", value: "UTC" },
];

function replyBytes(reply: Reply): Uint8Array {
  const writer = new ByteWriter();
  writeReply(writer, reply);
  return writer.finish();
}

/** Runs a decoder on damaged bytes; anything but an answer or a protocol violation is a failure. */
function expectRefusal(decode: () => unknown, bytes: Uint8Array): void {
  try {
    decode();
  } catch (error) {
    ok(error instanceof DatabaseError, `${error} for ${bytes.toHex()}`);
    ok(error.code === "08P01" || error.code === "22021", `${error.code} for ${bytes.toHex()}`);
  }
}

Deno.test("decodeRequest() reads what encodeRequest() wrote", () => {
  for (const request of REQUESTS) equal(decodeRequest(encodeRequest(request)), request);
});

Deno.test("decodeReply() reads what writeReply() wrote", () => {
  for (const reply of REPLIES) equal(decodeReply(replyBytes(reply), () => 2), reply);
});

Deno.test("readType() reads what writeType() wrote", () => {
  const types: SqlType[] = [
    { kind: "bool" },
    { kind: "u64" },
    { kind: "numeric" },
    { kind: "numeric", precision: 38, scale: 10 },
    { kind: "numeric", precision: 1000, declaredScale: 1000 },
    { kind: "numeric", precision: 2, declaredScale: -1000 },
    { kind: "varchar" },
    { kind: "varchar", length: 10 },
    { kind: "char", length: 3 },
    { kind: "bytes", length: 32 },
    { kind: "timestamptz" },
    { kind: "timestamptz", precision: 3 },
    { kind: "array", element: { kind: "numeric", precision: 3, scale: 0 } },
    { kind: "record", fields: [{ name: "f1", type: { kind: "interval" } }] },
  ];
  for (const type of types) {
    equal(readType(new ByteReader(typeBytes(type))), type);
  }
});

Deno.test("readType() refuses numeric types that there are not", () => {
  const numeric = typeBytes({ kind: "numeric" });
  for (const rest of [[4, 20], [5, 5, 0xd1, 0x0f], [7, 5, 2, 4]]) {
    throws(() => readType(new ByteReader(Uint8Array.of(...numeric.subarray(0, 1), ...rest))), {
      code: "08P01",
    });
  }
});

function typeBytes(type: SqlType): Uint8Array {
  const writer = new ByteWriter();
  writeType(writer, type);
  return writer.finish();
}

Deno.test("decodeRequest() refuses texts that are not UTF-8 with 22021", () => {
  const refused = (request: Request, sent: string, damage: readonly number[], shown: string) => {
    const bytes = encodeRequest(request);
    const at = bytes.toHex().indexOf(new TextEncoder().encode(sent).toHex()) / 2;
    bytes.set(damage, at);
    throws(() => decodeRequest(bytes), {
      code: "22021",
      message: `invalid byte sequence for encoding "UTF8": ${shown}`,
    });
  };
  const ask = (text: string, parameters: readonly Parameter[]): Request => ({
    number: 1n,
    client: null,
    operation: { kind: "sql", text, parameters },
  });
  const long = "ä".repeat(100);
  refused(ask("SELECT 'abc'", []), "abc", [0xff], "0xff");
  refused(ask("SELECT $1", [{ form: "untyped", value: "abc" }]), "abc", [0xc3, 0x28], "0xc3 0x28");
  refused(
    ask("SELECT $1", [{ form: "untyped", value: `${long}xyz` }]),
    "xyz",
    [0xed, 0xa0, 0x80],
    "0xed 0xa0 0x80",
  );
  refused(ask("SELECT $1", [{ form: "typed", type: { kind: "text" }, value: "abc" }]), "abc", [0x80], "0x80");
  refused(ask("SELECT $1", [{ form: "structured", json: '["abc"]' }]), "abc", [0xf5], "0xf5 0x62 0x63 0x22");
});

Deno.test("a client refuses half a surrogate pair instead of sending another character", () => {
  throws(() => parameterOf("a\ud800"), { code: "22021" });
  const request: Request = {
    number: 1n,
    client: null,
    operation: { kind: "sql", text: "SELECT '\udc00'", parameters: null },
  };
  throws(() => encodeRequest(request), { code: "22021" });
});

Deno.test("decodeRequest() refuses 10 000 damaged messages with 08P01, and never hangs or crashes", () => {
  const random = new SeededRandom(20);
  const originals = REQUESTS.map((request) => encodeRequest(request));
  for (let round = 0; round < 10_000; round++) {
    const bytes = damaged(random.pick(originals), random);
    expectRefusal(() => decodeRequest(bytes), bytes);
  }
});

Deno.test("decodeReply() refuses 10 000 damaged messages with 08P01, and never hangs or crashes", () => {
  const random = new SeededRandom(21);
  const originals = REPLIES.map(replyBytes);
  for (let round = 0; round < 10_000; round++) {
    const bytes = damaged(random.pick(originals), random);
    expectRefusal(() => decodeReply(bytes, () => 2), bytes);
  }
});

/** A copy with flipped bits, cut off, lengthened, or with a stretch overwritten. */
function damaged(original: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = original.slice();
  switch (random.below(4)) {
    case 0:
      for (let flips = random.between(1, 4); flips > 0; flips--) {
        const at = random.below(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      }
      return bytes;
    case 1:
      return bytes.subarray(0, random.below(bytes.length));
    case 2: {
      const longer = new Uint8Array(bytes.length + random.between(1, 20));
      random.fill(longer);
      longer.set(bytes);
      return longer;
    }
    default: {
      const start = random.below(bytes.length);
      random.fill(bytes.subarray(start, Math.min(bytes.length, start + random.between(1, 8))));
      return bytes;
    }
  }
}
